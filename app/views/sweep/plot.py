"""Times over the varied quantity, on logarithmic axes, with quartiles and marks where lines cross."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPalette, QPen
from PySide6.QtWidgets import QWidget

from app.base.numbers import seconds, short_count
from app.models.curves.stroke import Stroke, variant_stroke
from app.models.pictures.plane import Plane
from app.models.ticks import log_ticks
from app.models.timing.sweep import Sweep
from app.views.charts.chart import Chart, Drawn, padded
from app.views.charts.frame import Frame, Side
from app.views.parts import is_dark
from app.views.strokes import colour, pen
from app.views.sweep.text import Mark, axis_title, line_title, marks, shown_title, value_text
from gpu_ops.report.sweeps import Line

SYMBOLS = ("o", "s", "t", "d", "t1", "p", "star", "h", "+", "x", "t2", "t3")
BEAM = 0.008
WIDEST_SHARE = "100 %"
TURNS = [k * math.pi / 8 for k in (0, 8, 4, 12, 2, 14, 6, 10, 1, 15, 3, 13, 5, 11, 7, 9)]
"""The directions of a letter from its ring, the preferred ones first: above, below, then to the sides."""
SHARES = [k / 12 for k in range(1, 12)]
"""Where between two points of a line a letter keeps away from it."""
CENTRE = int(Qt.AlignmentFlag.AlignCenter)


@dataclass(frozen=True)
class LineStyle:
    """The style of a line: stroke and symbol of its variant; the symbol is hollow for the CPU. `joined` points are
    connected; a `ghost`, which was recorded on another machine, is faint and hollow."""

    stroke: Stroke
    symbol: str
    filling: QColor
    dark: bool
    joined: bool = True
    ghost: bool = False

    def pen(self, width: float = 2) -> QPen:
        return pen(self.stroke, self.dark, width, ghost=self.ghost)

    def outline(self) -> QPen:
        return pen(self.stroke, self.dark, 1.5, dashed=False, ghost=self.ghost)


def look(sweep: Sweep, line: Line, palette: QPalette) -> LineStyle:
    """A variant has the same style in every sweep of its filter."""
    stroke, dark = variant_stroke(sweep.filter, line.variant), is_dark(palette)
    hollow = line.cpu or bool(line.machine)
    filling = palette.color(QPalette.ColorRole.Base) if hollow else colour(stroke, dark)
    return LineStyle(stroke, SYMBOLS[sweep.place(line) % len(SYMBOLS)], filling, dark, ghost=bool(line.machine))


class SweepPlot(Chart):
    """Shows a Sweep. The cursor describes the nearest point."""

    least = 24, 16

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Plane(), parent, "sweepPlot", self.tr("Kernel time over the varied quantity"))
        self.sweep: Sweep | None = None
        self.lines: tuple[Line, ...] = ()
        self.marks: tuple[Mark, ...] = ()
        self.values: list[int] = []
        self._rings = pg.ScatterPlotItem(useCache=False)
        self._rings.setZValue(4)
        self.item.addItem(self._rings, ignoreBounds=True)

    def show_sweep(self, sweep: Sweep | None) -> None:
        """Show these rows; existing points stay while the range grows."""
        self.sweep = sweep
        self.lines = sweep.lines() if sweep else ()
        self.marks = marks(sweep) if sweep else ()
        times = [math.log10(t) for line in self.lines for p in line.points for t in (p.q1, p.q3, p.seconds) if t > 0]
        values = {p.value for line in self.lines for p in line.points} | {*(sweep.occupied.values() if sweep else ())}
        self.values = sorted(values)
        self.plane.set_limits(padded([math.log10(value) for value in self.values]), padded(times))
        self.refresh()

    def draw(self, frame: Frame) -> None:
        for drawn, line in zip(self.pool(len(self.lines)), self.lines, strict=True):
            self._draw(drawn, line, BEAM * (frame.across[1] - frame.across[0]))
        places = [(math.log10(c.value), math.log10(c.seconds)) for mark in self.marks for c in mark.crossings]
        ring = QPen(self.palette().color(QPalette.ColorRole.Text), 1.5)
        ring.setCosmetic(True)
        size = 2.5 * self.fontMetrics().averageCharWidth()
        self._rings.setData(pos=np.array(places).reshape(-1, 2), symbol="o", size=size, pen=ring, brush=None)

    def _draw(self, drawn: Drawn, line: Line, beam: float) -> None:
        assert self.sweep is not None
        own, size = look(self.sweep, line, self.palette()), 1.3 * self.fontMetrics().averageCharWidth()
        x = np.log10([p.value for p in line.points])
        y = np.log10([p.seconds for p in line.points])
        low, high = np.log10([p.q1 for p in line.points]), np.log10([p.q3 for p in line.points])
        across = np.column_stack([x, x, x - beam, x + beam, x - beam, x + beam])
        along = np.column_stack([low, high, low, low, high, high])
        drawn.line.setData(x, y, pen=own.pen())
        drawn.band.setData(across.ravel(), along.ravel(), connect="pairs", pen=own.outline())
        drawn.dots.setData(x, y, symbol=own.symbol, size=size, pen=own.outline(), brush=QBrush(own.filling))

    def paint(self, painter: QPainter, frame: Frame) -> None:
        """Paint the letter of its sentence next to each ring."""
        painter.setPen(self.palette().color(QPalette.ColorRole.Text))
        high = self.fontMetrics().height()
        for mark, at in zip(self.marks, self.letters(frame), strict=True):
            painter.drawText(QRectF(at.x() - high, at.y() - high, 2 * high, 2 * high), CENTRE, mark.letter)

    def letters(self, frame: Frame) -> list[QPointF]:
        """Where the letters of the marks stand: around their rings, as far as possible from lines, rings and other
        letters."""
        away, places = 1.3 * self.fontMetrics().height(), list[QPointF]()
        taken = self._covered(frame) if self.marks else []
        for mark in self.marks:
            first = mark.crossings[0]
            ring = frame.point(math.log10(first.value), math.log10(first.seconds))
            around = [ring + away * QPointF(math.sin(turn), -math.cos(turn)) for turn in TURNS]
            free = [at for at in around if frame.box.contains(at)] or around
            others = np.array(taken)
            places.append(max(free, key=lambda at: np.hypot(*(others - (at.x(), at.y())).T).min()))  # noqa: B023
            taken.append(places[-1].toTuple())
        return places

    def _covered(self, frame: Frame) -> list[tuple[float, float]]:
        """Points of the screen that the lines cover, close to each other, and the rings."""
        found = [(c.value, c.seconds) for mark in self.marks for c in mark.crossings]
        for line in self.lines:
            found += [(p.value, p.seconds) for p in line.points]
            for a, b in pairwise(line.points):
                found += [(a.value ** (1 - s) * b.value**s, a.seconds ** (1 - s) * b.seconds**s) for s in SHARES]
        return [frame.point(math.log10(value), math.log10(time)).toTuple() for value, time in found if time > 0]

    def left(self, frame: Frame) -> Side:
        """As many round times as fit."""
        times = log_ticks(10 ** frame.upward[0], 10 ** frame.upward[1], frame.tall) if self.lines else []
        return Side([(math.log10(time), self._text(time)) for time in times], self._title())

    def _title(self) -> str:
        if self.sweep is None or (self.sweep.shown == "kernel" and not self.sweep.filter.end_to_end):
            return str(self.tr("kernel time"))
        title = shown_title(self.sweep.filter, self.sweep.shown)
        return title if self.sweep.counts else str(self.tr("time, {what}")).format(what=title)

    def _text(self, value: float) -> str:
        """A time, or a count."""
        return short_count(value) if self.sweep is not None and self.sweep.counts else seconds(value)

    def least_left(self) -> float:
        """The occupancy plot below has the same width."""
        metrics = self.fontMetrics()
        texts = (WIDEST_SHARE, *(text for _, text in self.left(self.frame()).marks))
        widest = max(metrics.horizontalAdvance(text) for text in texts)
        return float(1.2 * metrics.height() + 2 * metrics.averageCharWidth() + widest)

    def bottom(self, frame: Frame) -> Side:
        """Ticks at the values themselves, as many as fit."""
        if self.sweep is None:
            return Side(())
        places = [(math.log10(v), value_text(self.sweep, v, with_unit=False)) for v in self.values]
        return Side(self.spaced(places, frame), axis_title(self.sweep))

    def words_at(self, position: QPoint) -> str:
        """The point or the mark near a position of the viewport, as text."""
        return next(iter(self.near(position, self._places())), "")

    def _places(self) -> Iterator[tuple[float, float, str]]:
        """All points and marks as text."""
        for mark in self.marks:
            yield from ((math.log10(c.value), math.log10(c.seconds), mark.text) for c in mark.crossings)
        for line in self.lines:
            assert self.sweep is not None
            for p in line.points:
                counts = self.tr("{title}\n{value}: {time}")
                times = self.tr("{title}\n{value}: {time} (quartiles {low} to {high})")
                text = (counts if self.sweep.counts else times).format(
                    title=line_title(self.sweep, line),
                    value=value_text(self.sweep, p.value),
                    time=self._text(p.seconds),
                    low=self._text(p.q1),
                    high=self._text(p.q3),
                )
                yield math.log10(p.value), math.log10(p.seconds), text
