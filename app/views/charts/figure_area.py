"""One number, large."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.models.pictures.plane import Plane
from app.models.results.view_data import ViewData
from app.views.charts.frame import FAINT
from app.views.results.reading import values_text, with_unit

SHARE = 0.45, 0.8
"""The largest shares of height and width that the number takes when fitted."""
LARGEST = 6.0
"""The largest size of a fitted number, as a factor of the window's letters."""
UNIT = 0.5
"""The height of the unit relative to the number."""


class FigureArea(QWidget):
    """A number as large as fits, or of its Plane's size, followed by a smaller unit."""

    def __init__(self, plane: Plane, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("figureArea")
        self.plane = plane
        self.drawn: ViewData | None = None
        self.current, self.missing = True, ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        plane.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        unit = self.fontMetrics().averageCharWidth()
        return QSize(unit * 30, unit * 16)

    def minimumSizeHint(self) -> QSize:
        unit = self.fontMetrics().averageCharWidth()
        return QSize(unit * 12, unit * 5)

    def show_drawn(self, drawn: ViewData | None, scale: str, current: bool) -> None:
        """Show this number; `current` says whether it fits the present choice."""
        self.drawn, self.current = drawn, current
        self.update()

    def set_missing(self, text: str) -> None:
        self.missing = text
        self.update()

    def value_text(self) -> str:
        """The number with its unit."""
        return "" if self.drawn is None else values_text(self.drawn.values, self.drawn.unit)

    def _texts(self) -> tuple[str, str]:
        """The number and its unit."""
        assert self.drawn is not None
        return values_text(self.drawn.values, ""), with_unit("", self.drawn.unit).strip()

    def letters(self) -> tuple[QFont, QFont]:
        """The fonts of the number and of the unit."""
        figure, unit = QFont(self.font()), QFont(self.font())
        figure.setBold(True)
        own = figure.pointSizeF()
        times = self.plane.x.letters
        if not times and self.drawn is not None:
            text, beside = self._texts()
            metrics = QFontMetricsF(figure)
            wide = metrics.horizontalAdvance(text) + UNIT * metrics.horizontalAdvance(f" {beside}")
            times = min(SHARE[0] * self.height() / metrics.height(), SHARE[1] * self.width() / max(1.0, wide), LARGEST)
        figure.setPointSizeF(own * max(times, 0.5))
        unit.setPointSizeF(own * max(times * UNIT, 0.5))
        return figure, unit

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, palette = QPainter(self), self.palette()
        painter.fillRect(self.rect(), palette.color(QPalette.ColorRole.Base))
        if self.drawn is None:
            painter.setPen(palette.color(QPalette.ColorRole.PlaceholderText))
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(self.rect(), int(flags), self.missing or self.tr("No result yet"))
        else:
            painter.setOpacity(1.0 if self.current else FAINT)
            self._paint_figure(painter)
        painter.end()

    def _paint_figure(self, painter: QPainter) -> None:
        (figure, unit), (text, beside) = self.letters(), self._texts()
        large, small = QFontMetricsF(figure), QFontMetricsF(unit)
        wide = large.horizontalAdvance(text), small.horizontalAdvance(beside)
        gap = small.averageCharWidth() if beside else 0.0
        left = (self.width() - wide[0] - gap - wide[1]) / 2
        base = self.height() / 2 + large.capHeight() / 2
        painter.setPen(self.palette().color(QPalette.ColorRole.Text))
        painter.setFont(figure)
        painter.drawText(QPointF(left, base), text)
        painter.setFont(unit)
        painter.setPen(self.palette().color(QPalette.ColorRole.PlaceholderText))
        painter.drawText(QPointF(left + wide[0] + gap, base), beside)
