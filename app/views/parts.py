"""Small widgets and drawing shared by the panes."""

from __future__ import annotations

from PySide6.QtCore import QLocale, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from app.models.layer import State


def number(value: float) -> str:
    """A value as the user's locale writes it: integers in full, others with seven digits."""
    if float(value).is_integer() and abs(value) < 1e15:
        return QLocale().toString(int(value))
    return QLocale().toString(float(value), "g", 7)


def mixed(one: QColor, other: QColor, share: float) -> QColor:
    """`share` of `one`, the rest of `other`."""
    pairs = (one.red(), other.red()), (one.green(), other.green()), (one.blue(), other.blue())
    return QColor(*(round(a * share + b * (1 - share)) for a, b in pairs))


def is_dark(palette: QPalette) -> bool:
    window, text = palette.color(QPalette.ColorRole.Window), palette.color(QPalette.ColorRole.WindowText)
    return window.lightness() < text.lightness()


class ElidedLabel(QLabel):
    """A line that ends in … where it does not fit, and then shows all of itself as its tooltip."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)

    def sizeHint(self) -> QSize:
        hint, widest = super().sizeHint(), self.fontMetrics().averageCharWidth() * 24
        return QSize(min(hint.width(), widest), hint.height())

    def minimumSizeHint(self) -> QSize:
        hint, least = super().sizeHint(), self.fontMetrics().averageCharWidth() * 8
        return QSize(min(hint.width(), least), hint.height())

    def shown_text(self) -> str:
        """What fits."""
        return self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, self.contentsRect().width())

    def paintEvent(self, event: QPaintEvent) -> None:
        shown = self.shown_text()
        tip = self.text() if shown != self.text() else ""
        if tip != self.toolTip():
            self.setToolTip(tip)
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(self.contentsRect(), int(self.alignment()) | int(Qt.TextFlag.TextSingleLine), shown)
        painter.end()


class StateChip(QWidget):
    """A verdict: a symbol, a word and, where there is room, the rest. Colour only supports it."""

    _HUES: dict[State, QColor] = {
        "fresh": QColor(40, 160, 80),
        "stale": QColor(130, 130, 130),
        "unverified": QColor(60, 120, 220),
        "wrong": QColor(220, 50, 50),
        "failed": QColor(225, 130, 0),
    }

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("stateChip")
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.state: State | None = None
        self._short = self.text = ""
        self.hide()

    def _words(self) -> dict[State, str]:
        return {
            "fresh": self.tr("✓ verified"),
            "stale": self.tr("↻ stale"),
            "unverified": self.tr("? unverified"),
            "wrong": self.tr("✗ wrong"),
            "failed": self.tr("⚠ failed"),
        }

    def show_state(self, state: State | None, text: str) -> None:
        self.state = state
        self._short = self._words()[state] if state else ""
        self.text = self.tr("{state} · {text}").format(state=self._short, text=text) if text else self._short
        self.setToolTip(self.text)
        self.setAccessibleName(self.text)
        self.setVisible(state is not None)
        self.updateGeometry()
        self.update()

    def _pad(self) -> int:
        return self.fontMetrics().averageCharWidth()

    def _size(self, text: str) -> QSize:
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(text) + 2 * self._pad() + 2, metrics.height() + metrics.descent())

    def sizeHint(self) -> QSize:
        return self._size(self.text)

    def minimumSizeHint(self) -> QSize:
        return self._size(self._short)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.state is None:
            return
        hue, palette = self._HUES[self.state], self.palette()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(hue)
        painter.setBrush(mixed(hue, palette.color(QPalette.ColorRole.Window), 0.25))
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(box, box.height() / 3, box.height() / 3)
        painter.setPen(palette.color(QPalette.ColorRole.WindowText))
        inner = self.rect().adjusted(self._pad(), 0, -self._pad(), 0)
        text = self.fontMetrics().elidedText(self.text, Qt.TextElideMode.ElideRight, inner.width() + 1)
        painter.drawText(inner, int(Qt.AlignmentFlag.AlignVCenter), text)
        painter.end()


def draw_tag(painter: QPainter, corner: QPointF, text: str, widest: float, right: bool = False) -> None:
    """White text on a dark veil, readable on every picture; its upper left (or right) corner lies at `corner`."""
    metrics = painter.fontMetrics()
    pad = metrics.averageCharWidth()
    text = metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, int(max(0, widest - 2 * pad)))
    width = metrics.horizontalAdvance(text) + 2 * pad
    box = QRectF(corner.x() - (width if right else 0), corner.y(), width, metrics.height() + pad / 2)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(0, 0, 0, 170))
    painter.drawRoundedRect(box, pad / 2, pad / 2)
    painter.setPen(QColor(255, 255, 255))
    painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), text)
    painter.restore()
