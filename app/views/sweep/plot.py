"""Times over what varies, on logarithmic axes, with quartiles and the marks where lines cross."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPoint, QPointF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QHelpEvent, QPalette, QPen, QResizeEvent
from PySide6.QtWidgets import QWidget

from app.base.numbers import seconds
from app.base.tips import show_tip
from app.models.curves.stroke import Stroke, variant_stroke
from app.models.ticks import log_ticks, with_room
from app.models.timing.sweep import Sweep
from app.views.parts import is_dark
from app.views.strokes import colour, pen
from app.views.sweep.text import Mark, axis_title, line_title, marks, value_text
from gpu_ops.report.sweeps import Line

SYMBOLS = ("o", "s", "t", "d", "t1", "p", "star", "h", "+", "x", "t2", "t3")
MARGIN = 0.06
"""The least margin at both ends of an axis, as a share of its range."""
BEAM = 0.008
NEAR = 1.5
"""The largest distance, in letters, between the cursor and the point that it describes."""


WIDEST_SHARE = "100 %"


@dataclass(frozen=True)
class Axis:
    """What plots of one sweep share: the range of log10 of what varies, its ticks, and the width of the left axis."""

    span: tuple[float, float]
    ticks: list[tuple[float, str]]
    left: float


@dataclass(frozen=True)
class LineStyle:
    """The look of a line: stroke and symbol of its variant; the symbol is hollow for the CPU. `joined` points have a
    line between them."""

    stroke: Stroke
    symbol: str
    filling: QColor
    dark: bool
    joined: bool = True

    def pen(self, width: float = 2) -> QPen:
        return pen(self.stroke, self.dark, width)

    def outline(self) -> QPen:
        return pen(self.stroke, self.dark, 1.5, dashed=False)


def look(sweep: Sweep, line: Line, palette: QPalette) -> LineStyle:
    """A variant looks the same in every sweep of its filter."""
    stroke, dark = variant_stroke(sweep.filter, line.variant), is_dark(palette)
    filling = palette.color(QPalette.ColorRole.Base) if line.cpu else colour(stroke, dark)
    return LineStyle(stroke, SYMBOLS[sweep.place(line) % len(SYMBOLS)], filling, dark)


class _Drawn:
    """The items of one line, created once and reused, because pyqtgraph never frees its items."""

    def __init__(self, plot: pg.PlotItem) -> None:
        self.curve = pg.PlotCurveItem()
        self.bars = pg.PlotCurveItem(connect="pairs")
        self.dots = pg.ScatterPlotItem(useCache=False)  # cached symbols would be pixels in an SVG
        for item in (self.bars, self.curve, self.dots):
            plot.addItem(item, ignoreBounds=True)

    def show_line(self, line: Line | None, look: LineStyle | None, beam: float, size: float) -> None:
        """Draw this line, or none."""
        for item in (self.curve, self.bars, self.dots):
            item.setVisible(line is not None)
        if line is None or look is None:
            return
        x = np.log10([p.value for p in line.points])
        y = np.log10([p.seconds for p in line.points])
        low, high = np.log10([p.q1 for p in line.points]), np.log10([p.q3 for p in line.points])
        across = np.column_stack([x, x, x - beam, x + beam, x - beam, x + beam])
        along = np.column_stack([low, high, low, low, high, high])
        self.curve.setData(x, y, pen=look.pen())
        self.bars.setData(across.ravel(), along.ravel(), connect="pairs", pen=look.outline())
        self.dots.setData(x, y, symbol=look.symbol, size=size, pen=look.outline(), brush=QBrush(look.filling))


class SweepPlot(pg.PlotWidget):  # type: ignore[misc]  # pyqtgraph has no types
    """Shows a Sweep. The cursor describes the nearest point; there is no zoom, because everything is always visible."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sweepPlot")
        self.setAccessibleName(self.tr("Kernel time over the varied quantity"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the table of rows has the same content for the keyboard
        self.item = self.getPlotItem()
        self.item.setMenuEnabled(False)
        self.item.hideButtons()
        self.item.showGrid(x=True, y=True, alpha=0.2)
        self.setCacheMode(
            pg.QtWidgets.QGraphicsView.CacheModeFlag.CacheNone
        )  # a cached background would be pixels in an SVG
        box = self.item.getViewBox()
        box.setMouseEnabled(x=False, y=False)
        box.disableAutoRange()
        box.setDefaultPadding(0)
        self.sweep: Sweep | None = None
        self.lines: tuple[Line, ...] = ()
        self.marks: tuple[Mark, ...] = ()
        self._drawn: list[_Drawn] = []
        self._rings = pg.ScatterPlotItem(useCache=False)
        self._rings.setZValue(2)
        self.item.addItem(self._rings, ignoreBounds=True)
        self._letters: list[pg.TextItem] = []
        self.viewport().setMouseTracking(True)

    def show_sweep(self, sweep: Sweep | None) -> None:
        """Show these rows; existing points stay while the range grows."""
        self.sweep = sweep
        self.lines = sweep.lines() if sweep else ()
        self.marks = marks(sweep) if sweep else ()
        self.refresh()

    def ranges(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The decimal logarithms of the ranges of both axes."""
        times = [t for line in self.lines for p in line.points for t in (p.q1, p.q3, p.seconds) if t > 0]
        return self._span(self._room(self.width())), _padded(times, MARGIN)

    def _span(self, room: float) -> tuple[float, float]:
        """The range of what varies where the plot area is so wide."""
        values = self._values()
        return _padded(values, max(MARGIN, self._half_label(values) / room))

    def _values(self) -> list[int]:
        """The values that have a time or an occupancy."""
        if self.sweep is None:
            return []
        return sorted({*(p.value for line in self.lines for p in line.points), *self.sweep.occupied.values()})

    def _half_label(self, values: Sequence[int]) -> float:
        """How far the labels at both ends reach beyond their values; labels that do not fit are not drawn."""
        texts = [value_text(self.sweep, v, with_unit=False) for v in values] if self.sweep else []
        return max((self.fontMetrics().horizontalAdvance(text) for text in texts), default=0) / 2

    def _room(self, width: int) -> float:
        """The approximate width of the plot area of a widget."""
        return float(max(width - 12 * self.fontMetrics().averageCharWidth(), 1))

    def axis(self, width: int) -> Axis:
        """What a plot of this width below has in common with this one, which may be hidden."""
        room = self._room(width)
        span = self._span(room)
        return Axis(span, self._value_ticks(span, room), self._left_width(self.ranges()[1]))

    def refresh(self) -> None:
        """Draw again."""
        x, y = self.ranges()
        self.item.getViewBox().setRange(xRange=x, yRange=y, padding=0)
        unit = self.fontMetrics().averageCharWidth()
        while len(self._drawn) < len(self.lines):
            self._drawn.append(_Drawn(self.item))
        for place, drawn in enumerate(self._drawn):
            line = self.lines[place] if place < len(self.lines) else None
            result = look(self.sweep, line, self.palette()) if self.sweep and line else None
            drawn.show_line(line, result, BEAM * (x[1] - x[0]), 1.3 * unit)
        self._mark(unit)
        self._dress(x, y)

    def _mark(self, unit: float) -> None:
        """Draw a ring where one line overtakes another, with the letter of its sentence."""
        text = self.palette().color(QPalette.ColorRole.Text)
        places = [(math.log10(c.value), math.log10(c.seconds)) for mark in self.marks for c in mark.crossings]
        ring = QPen(text, 1.5)
        ring.setCosmetic(True)
        self._rings.setData(pos=np.array(places).reshape(-1, 2), symbol="o", size=2.5 * unit, pen=ring, brush=None)
        while len(self._letters) < len(self.marks):
            above = len(self._letters) % 2 == 0  # neighbours stand clear of each other
            letter = pg.TextItem(anchor=(0.5, 1.5 if above else -0.5))
            self._letters.append(letter)
            self.item.addItem(letter, ignoreBounds=True)
        for place, letter in enumerate(self._letters):
            letter.setVisible(place < len(self.marks))
            if place < len(self.marks):
                first = self.marks[place].crossings[0]
                letter.setText(self.marks[place].letter, color=text)
                letter.setFont(self.font())
                letter.setPos(math.log10(first.value), math.log10(first.seconds))

    def _dress(self, x: tuple[float, float], y: tuple[float, float]) -> None:
        """Set ticks and titles in the present font and colours."""
        self.setBackground(self.palette().color(QPalette.ColorRole.Base))
        text, metrics = self.palette().color(QPalette.ColorRole.Text), self.fontMetrics()
        family = f"{self.font().pointSizeF():g}pt"
        titles = {"left": self.tr("kernel time"), "bottom": axis_title(self.sweep) if self.sweep else ""}
        for side, ticks in (("left", self._time_ticks(y)), ("bottom", self._value_ticks(x, self._room(self.width())))):
            axis = self.item.getAxis(side)
            axis.setPen(text)
            axis.setTextPen(text)
            axis.setStyle(tickFont=self.font(), hideOverlappingLabels=False)
            axis.enableAutoSIPrefix(False)  # places are logarithms, of which the label would name a factor
            axis.setTicks([ticks])
            axis.setLabel(titles[side], **{"font-size": family})
        self.item.getAxis("left").setWidth(self._left_width(y))
        self.item.getAxis("bottom").setHeight(2.6 * metrics.height())

    def _left_width(self, span: tuple[float, float]) -> float:
        """The width of the axis of times, at least that of shares."""
        texts = (WIDEST_SHARE, *(text for _, text in self._time_ticks(span)))
        return float(2.2 * self.fontMetrics().height() + max(map(self.fontMetrics().horizontalAdvance, texts)))

    def _value_ticks(self, span: tuple[float, float], width: float) -> list[tuple[float, str]]:
        """Ticks at the values themselves, as many as fit."""
        if self.sweep is None:
            return []
        marks = [(math.log10(v), value_text(self.sweep, v, with_unit=False)) for v in self._values()]
        return with_room(marks, span, width, self.fontMetrics().horizontalAdvance)

    def _time_ticks(self, span: tuple[float, float]) -> list[tuple[float, str]]:
        """Round times, as many as fit."""
        room = max(2, int(self.height() / (2.5 * self.fontMetrics().height())))
        times = log_ticks(10 ** span[0], 10 ** span[1], room) if self.lines else []
        return [(math.log10(time), seconds(time)) for time in times]

    def words_at(self, position: QPoint) -> str:
        """The point or the mark near a place of the viewport, in words."""
        box = self.item.getViewBox()
        reach = NEAR * self.fontMetrics().averageCharWidth()

        def far(value: float, time: float) -> float:
            place = box.mapViewToScene(QPointF(math.log10(value), math.log10(time)))
            apart = place - self.mapToScene(position)
            return math.hypot(apart.x(), apart.y())

        assert self.sweep is not None
        candidates = [(far(c.value, c.seconds), mark.text) for mark in self.marks for c in mark.crossings]
        for line in self.lines:
            for p in line.points:
                text = self.tr("{title}\n{value}: {time} (quartiles {low} to {high})").format(
                    title=line_title(self.sweep, line),
                    value=value_text(self.sweep, p.value),
                    time=seconds(p.seconds),
                    low=seconds(p.q1),
                    high=seconds(p.q3),
                )
                candidates.append((far(p.value, p.seconds), text))
        nearest = min(candidates, default=(math.inf, ""))
        return nearest[1] if nearest[0] <= reach else ""

    # Events

    def viewportEvent(self, event: QEvent) -> bool:  # noqa: N802
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and self.sweep is not None:
            show_tip(event.globalPos(), self.words_at(event.pos()), self)
            return True
        return bool(super().viewportEvent(event))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        if hasattr(self, "_letters"):
            self.refresh()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "_letters"):
            self.refresh()

    def sizeHint(self) -> QSize:  # noqa: N802
        unit = self.fontMetrics().height()
        return QSize(24 * unit, 14 * unit)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        unit = self.fontMetrics().height()
        return QSize(12 * unit, 8 * unit)


def _padded(numbers: Sequence[float], share: float) -> tuple[float, float]:
    """The range of the logarithms with that share of it added at both ends; a decade around a single number."""
    if not numbers:
        return 0.0, 1.0
    low, high = math.log10(min(numbers)), math.log10(max(numbers))
    margin = share * (high - low) if high > low else 0.5
    return low - margin, high + margin
