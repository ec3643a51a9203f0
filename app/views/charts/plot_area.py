"""A chart of one result over an axis. A Plot draws the values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from math import log10
from typing import Any

from PySide6.QtCore import QPoint, QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPalette, QPen
from PySide6.QtWidgets import QWidget

from app.models.pictures.plane import Plane, Range
from app.models.ticks import powers, ticks
from app.views.charts.chart import Chart
from app.views.charts.frame import FAINT, Frame, Side, axis_side, short
from gpu_ops.output_kinds import Axis


class Plot(ABC):
    """Draws results of one kind: what is `drawn`, mostly a ViewData. `aspect` is the best ratio of width to height."""

    aspect = 1.7

    @abstractmethod
    def axis(self, drawn: Any) -> Axis:
        """The x axis."""

    @abstractmethod
    def extent(self, drawn: Any) -> tuple[float, float, float]:
        """The first and the last position, and the distance between neighbouring values."""

    def limits(self, drawn: Any, scale: str) -> tuple[float, float]:
        """The lowest and the highest value to draw."""
        return 0.0, 1.0

    def log(self, scale: str) -> bool:
        """Whether the limits are logarithms to the base of ten."""
        return False

    def value_title(self, drawn: Any) -> str:
        """The title of the y axis; empty where rows have names."""
        return ""

    def named(self, drawn: Any) -> bool:
        """Whether a legend of the channels takes a line above the plot."""
        return False

    def rows(self, drawn: Any) -> list[str]:
        """Names of rows, from the top; none where y is a value."""
        return []

    @abstractmethod
    def paint(self, painter: QPainter, frame: Frame, drawn: Any, scale: str) -> None:
        """Draw the result, clipped to the frame."""

    @abstractmethod
    def spot(self, drawn: Any, place: float, row: float) -> tuple[float, float] | None:
        """The start and end, along x, of the value that the cursor reads at a position."""

    @abstractmethod
    def text(self, drawn: Any, place: float, row: float) -> str:
        """The value at a position, in a row if there are rows; empty where there is none."""


class PlotArea(Chart):
    """Paints one result; the range and the cursor are those of its Plane, in which rows go from 1 down to 0."""

    def __init__(self, plot: Plot, plane: Plane, parent: QWidget | None = None) -> None:
        super().__init__(plane, parent, "plotArea")
        self.plot = plot
        self.drawn: Any = None
        self.on_scale = ""
        self.set_missing("")

    # What is shown

    def show_drawn(self, drawn: Any, scale: str, current: bool) -> None:
        """Paint this on a scale; `current` says whether it fits the present choice."""
        self.drawn, self.on_scale, self.current = drawn, scale, current
        self.set_missing(self.missing)
        self.refresh()

    def value_text(self) -> str:
        """The value at the group's cursor."""
        return self.plot.text(self.drawn, *self._spot()) if self.drawn and self.plane.cursor else ""

    def words_at(self, position: QPoint) -> str:
        return self.value_text()

    def _spot(self) -> tuple[float, float]:
        """The position of the cursor, and the row from the top, 0 without rows."""
        assert self.plane.cursor is not None
        x, y = self.plane.cursor
        rows = len(self.plot.rows(self.drawn)) if self.drawn is not None else 0
        return x, min(max(1 - y, 0.0), 1 - 1e-9) * rows

    # As a chart

    def frame(self) -> Frame:
        return replace(super().frame(), log=self.plot.log(self.on_scale))

    def margins(self) -> tuple[float, float]:
        top, right = super().margins()
        named = self.drawn is not None and self.plot.named(self.drawn)
        return 1.4 * self.fontMetrics().height() if named else top, right

    def left(self, frame: Frame) -> Side:
        if self.drawn is None:
            return Side(())
        if names := self.plot.rows(self.drawn):
            return Side([(1 - (row + 0.5) / len(names), name) for row, name in enumerate(names)])
        low, high = frame.upward
        places = powers(10**low, 10**high, frame.tall) if frame.log else ticks(low, high, frame.tall)
        marks = [(log10(place) if frame.log else place, short(place)) for place in places]
        return Side(marks, self.plot.value_title(self.drawn))

    def bottom(self, frame: Frame) -> Side:
        if self.drawn is None:
            return Side(())
        return axis_side(self.plot.axis(self.drawn), frame.across, frame.wide)

    def paint(self, painter: QPainter, frame: Frame) -> None:
        assert self.drawn is not None
        painter.setClipRect(frame.box)
        painter.setOpacity(1.0 if self.current else FAINT)
        self.plot.paint(painter, frame, self.drawn, self.on_scale)
        painter.setOpacity(1.0)
        self.paint_cursor(painter, frame, self.drawn)

    def paint_cursor(self, painter: QPainter, frame: Frame, drawn: Any) -> None:
        """Highlight the value that the cursor reads."""
        spot = self.plot.spot(drawn, *self._spot()) if self.plane.cursor else None
        if spot is None:
            return
        veil = QColor(self.palette().color(QPalette.ColorRole.Highlight))
        left, right = frame.x(spot[0]), frame.x(spot[1])
        painter.setPen(QPen(veil, 1))
        painter.drawLine(QPointF(left, frame.box.top()), QPointF(left, frame.box.bottom()))
        veil.setAlpha(60)
        painter.fillRect(QRectF(left, frame.box.top(), max(1.0, right - left), frame.box.height()), veil)


def ranges(plot: Plot, drawn: Sequence[Any], scale: str) -> tuple[Range, Range]:
    """The ranges of the axes across and upward that fit all of these results, and their steps."""
    lows, highs, steps = zip(*(plot.extent(one) for one in drawn), strict=True)
    bottoms, tops = zip(*(plot.limits(one, scale) for one in drawn), strict=True)
    rows = max(len(plot.rows(one)) for one in drawn)
    bottom, top = min(bottoms), max(tops)
    return (min(lows), max(highs), min(steps)), (bottom, top, (top - bottom) / max(1, rows))
