"""Values over streams and chunks: a cell for each pair, in colour and as a number."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPalette, QPen
from PySide6.QtWidgets import QWidget

from app.base.numbers import number, seconds, shown
from app.base.theme import contrast
from app.models.pictures.display import colors
from app.models.pictures.plane import Plane
from app.views.charts.chart import Chart
from app.views.charts.frame import FAINT, Frame, Side
from app.views.parts import draw_tag
from app.views.results.reading import with_unit
from gpu_ops.explaining.transfers.figures import Grid

COLOURS = "viridis"
SCALES = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))


class GridPlot(Chart):
    """Shows a Grid. Brighter is better: a shorter time, more overlap. The best cell has a frame."""

    least = 20, 14
    drawn: Grid | None

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Plane(), parent, "gridPlot", "")
        self.setAccessibleName(self.tr("Streams and chunks"))
        self.item.showGrid(x=False, y=False)
        self.drawn = None
        self.set_missing("")

    def show_grid(self, grid: Grid | None, current: bool = True) -> None:
        """Show this grid, in full if its streams or chunks changed."""
        before, self.drawn, self.current = self.drawn, grid, current
        if grid is not None and (before is None or (before.streams, before.chunks) != (grid.streams, grid.chunks)):
            self.plane.set_limits((0.0, float(len(grid.chunks)), 1.0), (0.0, float(len(grid.streams)), 1.0))
            self.plane.fit()
        self.set_missing(self.missing)
        self.setAccessibleDescription(self.summary())
        self.refresh()

    def summary(self) -> str:
        """The best cell as text; "" without a grid."""
        grid = self.drawn
        if grid is None:
            return ""
        text = self.tr("Shortest: {words}.") if grid.unit else self.tr("Most overlap: {words}.")
        return str(text.format(words=self._words(*grid.best)))

    def _words(self, row: int, column: int) -> str:
        """A cell as text."""
        assert self.drawn is not None
        grid = self.drawn
        value = grid.values[row][column]
        if value is None:
            return ""
        text = self.tr("{amount} with {streams} and {chunks}")
        streams, chunks = number(grid.streams[row]), number(grid.chunks[column])
        words = {
            "amount": self._value(value),
            "streams": self.tr("1 stream") if grid.streams[row] == 1 else self.tr("{n} streams").format(n=streams),
            "chunks": self.tr("1 chunk") if grid.chunks[column] == 1 else self.tr("{n} chunks").format(n=chunks),
        }
        return str(text.format(**words))

    def _short(self, row: int, column: int) -> str:
        """A cell in short form: its streams × chunks, and its value."""
        assert self.drawn is not None
        grid = self.drawn
        value = grid.values[row][column]
        return "" if value is None else f"{grid.streams[row]} × {grid.chunks[column]}: {self._value(value)}"

    def _value(self, value: float) -> str:
        assert self.drawn is not None
        if self.drawn.unit == "s":
            return seconds(value, 4)
        text = shown(value, "f", 2)
        return with_unit(text, self.drawn.unit) if self.drawn.unit else text

    # As a chart

    def left(self, frame: Frame) -> Side:
        streams = self.drawn.streams if self.drawn else ()
        return Side([(place + 0.5, number(count)) for place, count in enumerate(streams)], self.tr("streams"))

    def bottom(self, frame: Frame) -> Side:
        chunks = self.drawn.chunks if self.drawn else ()
        marks = [(place + 0.5, number(count)) for place, count in enumerate(chunks)]
        return Side(self.spaced(marks, frame), self.tr("chunks"))

    def margins(self) -> tuple[float, float]:
        top, right = super().margins()
        return 1.3 * self.fontMetrics().height(), right

    def paint(self, painter: QPainter, frame: Frame) -> None:
        grid = self.drawn
        assert grid is not None
        scale, unit = self._scale(grid)
        painter.drawText(QPointF(frame.box.left(), self.fontMetrics().ascent() + 1), self._heading(unit))
        painter.setClipRect(frame.box)
        painter.setOpacity(1.0 if self.current else FAINT)
        known = [value for row in grid.values for value in row if value is not None]
        low, high = min(known), max(known)
        table, ink = colors(COLOURS), self.palette().color(QPalette.ColorRole.Base)
        for row, values in enumerate(grid.values):
            for column, value in enumerate(values):
                box = QRectF(frame.point(column, row + 1), frame.point(column + 1, row)).adjusted(0.5, 0.5, -0.5, -0.5)
                if value is not None:
                    colour = QColor(*map(int, table[round(255 * _share(value, low, high, bool(grid.unit)))]))
                    painter.fillRect(box, colour)
                    self._write(painter, box, colour, value / scale)
        painter.setPen(QPen(self.palette().color(QPalette.ColorRole.Text), 3))
        row, column = grid.best
        painter.drawRect(QRectF(frame.point(column, row + 1), frame.point(column + 1, row)).adjusted(1, 1, -2, -2))
        painter.setOpacity(1.0)
        place = self._at_cursor()
        if place is not None:
            painter.setPen(QPen(ink, 1))
            box = QRectF(frame.point(place[1], place[0] + 1), frame.point(place[1] + 1, place[0]))
            painter.drawRect(box.adjusted(2, 2, -3, -3))
            self._name(painter, frame, box, self._short(*place))

    def _name(self, painter: QPainter, frame: Frame, box: QRectF, text: str) -> None:
        """Write the value of a cell above it, or below it if there is no space."""
        letters = self.fontMetrics()
        pad, high = letters.averageCharWidth(), 1.6 * letters.height()
        wide = letters.horizontalAdvance(text) + 2 * pad
        above = box.top() - pad - high
        y = above if above >= frame.box.top() else box.bottom() + pad
        x = max(frame.box.left(), min(box.left(), frame.box.right() - wide))
        draw_tag(painter, QPointF(x, y), text, frame.box.width())

    def _heading(self, unit: str) -> str:
        return str(self.tr("Time in {unit}").format(unit=unit) if unit else self.tr("Overlap"))

    def _scale(self, grid: Grid) -> tuple[float, str]:
        """The factor and the unit of the numbers in the cells: those of the shortest time."""
        if grid.unit != "s":
            return 1.0, grid.unit
        least = min(value for row in grid.values for value in row if value is not None)
        unit, scale = next((pair for pair in SCALES if least >= pair[1]), SCALES[-1])
        return scale, unit

    def _write(self, painter: QPainter, box: QRectF, colour: QColor, value: float) -> None:
        """Write the number if it fits."""
        digits = 2 if value < 10 else 1 if value < 100 else 0
        text = shown(value, "f", digits)
        letters = self.fontMetrics()
        if letters.horizontalAdvance(text) + 2 <= box.width() and letters.height() <= box.height() + 2:
            inks = QColor(Qt.GlobalColor.black), QColor(Qt.GlobalColor.white)
            painter.setPen(max(inks, key=lambda ink: contrast(ink, colour)))
            painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), text)

    # The cursor

    def _cell(self, x: float, y: float) -> tuple[int, int] | None:
        """The row and the column at a position of the plot."""
        grid = self.drawn
        if grid is None or not (0 <= x < len(grid.chunks) and 0 <= y < len(grid.streams)):
            return None
        place = math.floor(y), math.floor(x)
        return place if grid.values[place[0]][place[1]] is not None else None

    def _at_cursor(self) -> tuple[int, int] | None:
        return self._cell(*self.plane.cursor) if self.plane.cursor is not None else None

    def value_text(self) -> str:
        """The cell at the cursor as text."""
        place = self._at_cursor()
        return "" if place is None else self._words(*place)

    def words_at(self, position: QPoint) -> str:
        place = self._cell(*self.frame().place(QPointF(position)))
        return "" if place is None else self._words(*place)

    def next(self, axis: int, place: float, steps: int) -> float:
        """The centre of a neighbouring cell."""
        grid = self.drawn
        count = (len(grid.chunks), len(grid.streams))[axis] if grid is not None else 1
        return min(max(math.floor(place) + steps, 0), count - 1) + 0.5


def _share(value: float, low: float, high: float, shorter: bool) -> float:
    """The quality of a value, from 0 to 1: for times by their logarithm; the shortest is best."""
    if high <= low:
        return 1.0
    if shorter:
        return float(np.log(high / value) / np.log(high / low))
    return (value - low) / (high - low)
