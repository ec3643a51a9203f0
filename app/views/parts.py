"""Small widgets and drawing shared by the panes."""

from __future__ import annotations

import math
from collections.abc import Iterable

from PySide6.QtCore import QCoreApplication, QEvent, QLocale, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QLabel,
    QSizePolicy,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QWidget,
)

from app.base.nesting import bounded
from app.base.numbers import MINUS, shown
from app.base.theme import TINT, boxes, colours_of, mix
from app.base.tips import set_tip, tip_text
from app.models.pictures.layer import State
from app.models.pictures.nonfinite import value_word
from app.models.results.origin import Origin
from app.views.eliding import elided_sides, elided_text, shortest_needed
from app.views.wheel import FocusWheel
from gpu_ops.input_kinds import centred

BETWEEN = " · "
"""The separator of a title and its verdict."""


def number(value: float) -> str:
    """A value in the user's locale: integers in full, others with seven digits, "NaN" and "∞"."""
    if not math.isfinite(value):
        return value_word(value)
    if isinstance(value, int) or (float(value).is_integer() and abs(value) < 1e15):
        return _whole(int(value))
    return shown(float(value), "g", 7)


def _whole(value: int) -> str:
    """An integer of any size; Qt supports only 63 bits."""
    if -(1 << 63) <= value < 1 << 63:
        return shown(value)
    locale = QLocale()
    grouped = not locale.numberOptions() & QLocale.NumberOption.OmitGroupSeparator
    return f"{value:,}".replace(",", locale.groupSeparator() if grouped else "").replace("-", MINUS)


def mixed(one: QColor, other: QColor, share: float) -> QColor:
    """`share` of `one`, the rest of `other`."""
    pairs = (one.red(), other.red()), (one.green(), other.green()), (one.blue(), other.blue())
    return QColor(*(round(a * share + b * (1 - share)) for a, b in pairs))


def is_dark(palette: QPalette) -> bool:
    window, text = palette.color(QPalette.ColorRole.Window), palette.color(QPalette.ColorRole.WindowText)
    return window.lightness() < text.lightness()


def mark_texts(origin: Origin, shape: tuple[int, ...] | None) -> tuple[str, str]:
    """The marks of a result from a simulated GPU, and of one whose values are still on another machine, short and in
    full; empty for others."""
    translate = QCoreApplication.translate
    if origin.step:
        short = f"1:{number(origin.step)}"
        return short, translate("Parts", "{scale} · values to come").format(scale=short)
    if not origin.simulated:
        return "", ""
    short = translate("Parts", "simulated")
    if origin.part and not origin.start:
        size = _by(stop - start for start, stop in origin.part)
        text = translate("Parts", "of the middle {size}").format(size=size)
        if not centred(origin.part, origin.extent):
            text = translate("Parts", "of a part of {size}").format(size=size)
        return text, translate("Parts", "simulated · {text}").format(text=text)
    if not origin.start or shape is None:
        return short, short
    rank = len(origin.start)
    is_middle = centred([(a, a + n) for a, n in zip(origin.start, shape[:rank], strict=True)], origin.whole)
    if is_middle and rank == 1:
        text = translate("Parts", "simulated · centre {size} samples")
    elif is_middle:
        text = translate("Parts", "simulated · centre {size}")
    else:
        text = translate("Parts", "simulated · {size} of {whole}")
    text = text.format(size=_by(shape[:rank]), whole=_by(origin.whole))
    if not origin.exact:
        text = translate("Parts", "{part} on its own").format(part=text)
    return short, text


def _by(extents: Iterable[int]) -> str:
    """Extents as people say them: width first."""
    return " × ".join(map(number, reversed([*extents])))  # noqa: RUF001 - the sign of times


class TickBox(QCheckBox):
    """A tick box that grows with the font."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setStyle(boxes())


class Combo(FocusWheel, QComboBox):
    """A drop-down whose current entry is cut with … where it does not fit; Fusion cuts within a letter."""

    def set_letters(self, count: int) -> None:
        """Reserve at least the width of so many letters, whatever the entries are."""
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(count)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        field = self.style().subControlRect(
            QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, self
        )
        room = field.width() - 2 - (0 if option.currentIcon.isNull() else option.iconSize.width() + 4)
        option.currentText = elided_text(option.currentText, self.fontMetrics(), room)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()


class ElidedLabel(QLabel):
    """A line that is cut with … where it does not fit, with the whole text as its tooltip. The part after the last
    `keep` stays whole where it fits; the parts on both sides of `between` are cut equally. Texts that are `shorter` in
    words, the next one ever shorter, come before any cut."""

    def __init__(self, text: str = "", parent: QWidget | None = None, keep: str = "", between: str = "") -> None:
        super().__init__(parent)
        self._keep, self._between, self._shorter = keep, between, tuple[str, ...]()
        self.letters = 24
        """The largest width that it asks for; it takes more where available."""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)

    def setText(self, text: str) -> None:  # noqa: N802
        self._shorter = ()
        super().setText(text)

    def sizeHint(self) -> QSize:
        hint, widest = super().sizeHint(), self.fontMetrics().averageCharWidth() * self.letters
        return QSize(min(hint.width(), widest), hint.height())

    def minimumSizeHint(self) -> QSize:
        hint, least = super().sizeHint(), self.fontMetrics().averageCharWidth() * 8
        return QSize(min(hint.width(), least), hint.height())

    def set_texts(self, text: str, *shorter: str) -> None:
        """Set the text, and those that say less where it does not fit."""
        self.setText(text)
        self._shorter = shorter
        self.update()

    def shown_text(self) -> str:
        """As much of the text as fits."""
        metrics, width = self.fontMetrics(), self.contentsRect().width()
        if self._between:
            return elided_sides(self.text(), metrics, width, self._between)
        if self._shorter:
            return shortest_needed((self.text(), *self._shorter), metrics, width)
        return elided_text(self.text(), metrics, width, self._keep)

    def paintEvent(self, event: QPaintEvent) -> None:
        shown = self.shown_text()
        tip = self.text() if shown != self.text() else ""
        if tip_text(tip) != self.toolTip():
            set_tip(self, tip)
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(self.contentsRect(), int(self.alignment()) | int(Qt.TextFlag.TextSingleLine), shown)
        painter.end()


def state_words(state: State | None) -> str:
    """A verdict's symbol and word; empty without one."""
    translate = QCoreApplication.translate
    words: dict[State, str] = {
        "fresh": translate("Parts", "✓ right"),
        "stale": translate("Parts", "↻ stale"),
        "unverified": translate("Parts", "? unverified"),
        "wrong": translate("Parts", "✗ wrong"),
        "failed": translate("Parts", "⚠ failed"),
    }
    return words[state] if state else ""


class StateChip(QWidget):
    """A verdict: a symbol, a word and, where it fits, the rest. Colour only supports it."""

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

    def show_state(self, state: State | None, text: str) -> None:
        self.state = state
        self._short = state_words(state)
        self.text = self.tr("{state} · {text}").format(state=self._short, text=text) if text else self._short
        set_tip(self, self.text)
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
        return self._size(self._symbol)

    @property
    def _symbol(self) -> str:
        return self._short.partition(" ")[0]

    def least_width(self, word: bool = True) -> int:
        """The width of the symbol, and of the `word`; 0 without a verdict."""
        return self._size(self._short if word else self._symbol).width() if self.state else 0

    def shown_text(self, room: float) -> str:
        """The whole text, else the verdict's word with as much of the rest as is worth it, else its symbol."""
        metrics = self.fontMetrics()
        if metrics.horizontalAdvance(self._short) > room:
            return self._symbol
        worth = room - metrics.horizontalAdvance(self._short) > 5 * self._pad()
        return elided_text(self.text, metrics, room) if worth or self.text == self._short else self._short

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
        text = self.shown_text(inner.width() + 1)
        painter.drawText(inner, int(Qt.AlignmentFlag.AlignVCenter), text)
        painter.end()


class MarkChip(QWidget):
    """Marks something as simulated, with its own symbol and colour. It cannot be closed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("markChip")
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.text = self._short = ""
        self._room = math.inf
        self.hide()

    def fit(self, room: float) -> None:
        """Take at most so many pixels: for the full text, for the short one, or for the symbol alone."""
        if room != self._room:
            self._room = room
            self.updateGeometry()
            self.update()

    def shown_text(self) -> str:
        return next((t for t in (self.text, self._short) if mark_size(self, t).width() <= self._room), "")

    def show_texts(self, short: str, text: str, tip: str = "") -> None:
        """Set both texts; empty ones hide the mark."""
        self._short, self.text = short, text
        set_tip(self, tip or text)
        self.setAccessibleName(text)
        self.setAccessibleDescription(tip)
        self.setVisible(bool(text))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return mark_size(self, self.shown_text())

    def minimumSizeHint(self) -> QSize:
        return mark_size(self, "")

    @bounded
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange):
            self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        draw_mark(painter, QRectF(self.rect()), self.shown_text(), self.palette())
        painter.end()


def mark_size(widget: QWidget, text: str) -> QSize:
    """The size of a mark with this text, its symbol included."""
    metrics, symbol = widget.fontMetrics(), colours_of(widget.palette()).simulated.symbol
    width = metrics.horizontalAdvance(f"{symbol} {text}") + 2 * metrics.averageCharWidth()
    return QSize(width + 2, metrics.height() + metrics.descent())


def draw_mark(painter: QPainter, box: QRectF, text: str, palette: QPalette) -> None:
    """Draw a mark of simulated results, on an opaque background that is readable on every picture."""
    role, base = colours_of(palette).simulated, palette.color(QPalette.ColorRole.Base)
    pad = painter.fontMetrics().averageCharWidth()
    inner = box.adjusted(pad, 0, -pad, 0)
    text = elided_text(f"{role.symbol} {text}", painter.fontMetrics(), int(inner.width()) + 1)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(role.colour)
    painter.setBrush(mix(base, role.colour, TINT))
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), box.height() / 3, box.height() / 3)
    painter.drawText(inner, int(Qt.AlignmentFlag.AlignVCenter), text)
    painter.restore()


def draw_tag(
    painter: QPainter, corner: QPointF, text: str, widest: float, right: bool = False, between: str = ""
) -> None:
    """Draw white text on a dark veil, readable on every picture; its upper left (or right) corner is at `corner`. A
    verdict after a title is not cut. Two names with `between` in the middle are cut equally."""
    metrics = painter.fontMetrics()
    pad = metrics.averageCharWidth()
    room = max(0, widest - 2 * pad)
    if between and between in text:
        text = elided_sides(text, metrics, room, between)
    else:
        text = elided_text(text, metrics, room, BETWEEN)
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
