"""How many values of an input are no finite numbers, each with the colour in which pictures show it."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.models.nonfinite import INFINITE_COLOR, NAN_COLOR, count_words, drawn_words
from app.tips import set_tip


class NonFiniteLegend(QWidget):
    """One line: a square of each colour and the number of values that have it. Hidden where all values are finite."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("nonFiniteLegend")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.texts: tuple[str, str] = ("", "")
        self.hide()

    def show_counts(self, nan: int, infinite: int) -> None:
        """Show how many values are NaN and how many are infinite."""
        self.texts = count_words(nan, infinite)
        self.setAccessibleName(", ".join(filter(None, self.texts)))
        set_tip(self, drawn_words())
        self.setVisible(any(self.texts))
        self.updateGeometry()
        self.update()

    def _side(self) -> int:
        return self.fontMetrics().ascent()

    def sizeHint(self) -> QSize:  # noqa: N802
        metrics = self.fontMetrics()
        wide = sum(metrics.horizontalAdvance(text) + self._side() * 5 // 2 for text in self.texts if text)
        return QSize(wide, metrics.height() * 5 // 4)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(0, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        painter, metrics, side = QPainter(self), self.fontMetrics(), self._side()
        ink, x, top = self.palette().color(QPalette.ColorRole.WindowText), 0.5, (self.height() - side) // 2 + 0.5
        for text, color in zip(self.texts, (NAN_COLOR, INFINITE_COLOR), strict=True):
            if not text:
                continue
            painter.setPen(QPen(ink, 1))
            painter.setBrush(QColor(*color))
            painter.drawRect(QRectF(x, top, side - 1, side - 1))
            x += side * 3 / 2
            painter.drawText(QRectF(x, 0, self.width() - x, self.height()), int(Qt.AlignmentFlag.AlignVCenter), text)
            x += metrics.horizontalAdvance(text) + side
        painter.end()
