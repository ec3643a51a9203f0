"""The theoretical occupancy over the varied quantity, below the times and on the same axis."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QBrush, QPen
from PySide6.QtWidgets import QWidget

from app.base.numbers import count, percent
from app.models.pictures.plane import Plane
from app.models.timing.occupancy import limiter_name
from app.models.timing.sweep import Sweep
from app.views.charts.chart import Chart, Drawn
from app.views.charts.frame import Frame, Side
from app.views.sweep.plot import WIDEST_SHARE, SweepPlot, look
from app.views.sweep.text import value_text
from gpu_ops.devices.occupancy import LaunchOccupancy
from gpu_ops.report.sweeps import Line

SHARES = ((0.0, "0 %"), (0.5, "50 %"), (1.0, WIDEST_SHARE))
LOW, HIGH = -0.08, 1.12
"""The range of shares, with space for the symbols at both ends."""


class SweepOccupancy(Chart):
    """The share of a multiprocessor's resident warps, and below it the share of threads if that is less."""

    least = 24, 16

    def __init__(self, times: SweepPlot, parent: QWidget | None = None) -> None:
        """`times` is the plot above, which shares the axis."""
        title = self.tr("Theoretical occupancy over the varied quantity")
        super().__init__(Plane(upward=False, x=times.plane.x), parent, "sweepOccupancy", title)
        self.sweep: Sweep | None = None
        self.lines: tuple[Line, ...] = ()
        self._times = times
        self.plane.y.set_limits(LOW, HIGH, 0.01)

    def show_sweep(self, sweep: Sweep | None) -> None:
        """Show the known occupancies of this sweep."""
        self.sweep = sweep
        self.lines = sweep.occupied_lines() if sweep else ()
        self.refresh()

    def points(self) -> Iterator[tuple[Line, int, LaunchOccupancy]]:
        """All points: the variant, its value, and its occupancy."""
        for line in self.lines:
            assert self.sweep is not None
            for value, held in self.sweep.occupied.points(line.variant):
                yield line, value, held

    def draw(self, frame: Frame) -> None:
        for drawn, line in zip(self.pool(len(self.lines)), self.lines, strict=True):
            self._draw(drawn, line)

    def _draw(self, drawn: Drawn, line: Line) -> None:
        assert self.sweep is not None
        points, own = self.sweep.occupied.points(line.variant), look(self.sweep, line, self.palette())
        x = np.log10([value for value, _ in points])
        warps = np.array([held.occupancy.share for _, held in points])
        threads = np.array([held.share for _, held in points])
        size, less = 1.3 * self.fontMetrics().averageCharWidth(), threads < warps
        drawn.line.setData(x, warps, pen=own.pen())
        drawn.dots.setData(x, warps, symbol=own.symbol, size=size, pen=own.outline(), brush=QBrush(own.filling))
        drawn.rings.setData(x[less], threads[less], symbol="o", size=size, pen=own.outline(), brush=None)
        ends = np.column_stack([warps[less], threads[less]]).ravel()
        drawn.band.setData(np.repeat(x[less], 2), ends, connect="pairs", pen=_dotted(own.outline()))

    def left(self, frame: Frame) -> Side:
        return Side(SHARES, self.tr("occupancy"))

    def least_left(self) -> float:
        return self._times.least_left()

    def bottom(self, frame: Frame) -> Side:
        return self._times.bottom(frame)

    def words_at(self, position: QPoint) -> str:
        """The points near a position of the viewport, as text: variants often share one."""
        places = [
            (math.log10(value), share, self._words(line, value, held))
            for line, value, held in self.points()
            for share in {held.occupancy.share, held.share}
        ]
        return "\n".join(dict.fromkeys(self.near(position, places)))

    def _words(self, line: Line, value: int, held: LaunchOccupancy) -> str:
        assert self.sweep is not None
        o = held.occupancy
        text = self.tr(
            "{title}, {value}: {share} – {warps} of {most} warps, {threads} of {all} threads, limited by {limiter}"
        )
        figures = {"warps": o.warps, "most": o.most, "threads": held.resident, "all": held.most}
        numbers = {name: count(number) for name, number in figures.items()}
        words = {"title": self.sweep.title(line.variant), "value": value_text(self.sweep, value)}
        return str(text.format(share=percent(o.share), limiter=limiter_name(o.limiter), **words, **numbers))

    def sizeHint(self) -> QSize:  # noqa: N802
        unit = self.fontMetrics().height()
        return QSize(24 * unit, 9 * unit)


def _dotted(pen: QPen) -> QPen:
    pen.setStyle(Qt.PenStyle.DotLine)
    return pen
