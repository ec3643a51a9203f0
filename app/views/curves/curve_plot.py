"""The chart of a signal pane: curves overlaid or in lanes, and lines for the cursor and the playing position."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFontMetrics, QMouseEvent, QPainter, QPalette, QPen
from PySide6.QtWidgets import QWidget

from app.models.curves.curve import SAMPLES, Curve
from app.models.curves.lanes import Lanes
from app.models.pictures.plane import Plane
from app.models.ticks import ticks
from app.views.charts.chart import Chart
from app.views.charts.frame import Frame, Side, axis_side, short
from app.views.curves.curve_paint import paint_curves
from app.views.curves.gap_marks import GapMarks
from app.views.curves.reading_box import Reading, paint_readings
from app.views.curves.x_scale import XScale
from app.views.eliding import elided_text
from app.views.parts import is_dark
from app.views.strokes import line_ink
from gpu_ops.output_kinds import Axis

LONGEST = 14
"""The most letters of a name next to the y axis."""
VEIL = 200
"""The opacity of the background of a name."""


class CurvePlot(Chart):
    """Draws the visible ones of `curves`; y follows their values, or is `fixed` to (low, high). `mark_asked`: the user
    wants a second cursor where the first is."""

    mark_asked = Signal()
    least = 16, 12

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Plane(upward=False), parent, "signalPlot", self.tr("Curves"))
        self.curves: list[Curve] = []
        self.curve_items: list[pg.PlotCurveItem] = []
        self.fixed: tuple[float, float] | None = None
        self.x_scale, self.lanes = XScale(), Lanes()
        self._drawn: tuple[float, float, int] | None = None
        self.line, self.heard, self.measured = (pg.InfiniteLine(angle=90) for _ in range(3))
        for line in (self.line, self.heard, self.measured):
            line.hide()
            line.setZValue(1)  # above the curves
            self.item.addItem(line, ignoreBounds=True)
        self.gaps = GapMarks(self)
        self.readings: Sequence[Reading] = ()

    def bring_forward(self, key: str) -> None:
        """Draw the curves of a result over all others."""
        for curve, item in zip(self.curves, self.curve_items, strict=True):
            item.setZValue(0.5 if key and curve.key == key else 0.0)

    def add_curve(self, curve: Curve) -> None:
        """Draw one more curve; its item is reused, because pyqtgraph never frees its items."""
        self.curves.append(curve)
        item = pg.PlotCurveItem()
        self.curve_items.append(item)
        self.item.addItem(item, ignoreBounds=True)

    @property
    def shown(self) -> list[Curve]:
        """The curves that are drawn."""
        return [curve for curve in self.curves if curve.drawn]

    @property
    def axis(self) -> tuple[str, str]:
        """The name and unit of the x axis: samples where the curves differ."""
        axes = {(c.axis.name, c.axis.unit) for c in self.curves if c.pyramid is not None}
        return axes.pop() if len(axes) == 1 else (SAMPLES.name, SAMPLES.unit)

    @property
    def columns(self) -> int:
        """The width of the plot in screen pixels."""
        return max(16, math.ceil(float(self.box.width() * self.devicePixelRatioF())))

    @property
    def settled(self) -> bool:
        """Whether the plot has the points of the range and the width it shows."""
        start, stop = self.box.viewRange()[0]
        return self._drawn == (start, stop, self.columns)

    def limit(self) -> None:
        """Extend the x axis to all curves, keeping the visible part where possible."""
        curves = [c for c in self.curves if c.pyramid is not None]
        first, last = min((min(0.0, c.begin) for c in curves), default=0.0), max((c.end for c in curves), default=0.0)
        step = min((c.step for c in curves), default=1.0)
        if self.x_scale.log:
            self.x_scale.least = first = min((c.least for c in curves), default=1.0)
        if last <= first:
            first, last = first - step, first + step
        low, high = self.x_scale.coordinate(first), self.x_scale.coordinate(last)
        with QSignalBlocker(self.plane):
            self.plane.x.set_limits(
                low, high, high - self.x_scale.coordinate(last - step) if self.x_scale.log else step
            )

    def view_range(self) -> tuple[float, float]:
        """First and last visible x, in seconds, samples or hertz."""
        return self.x_scale.place(self.plane.x.start), self.x_scale.place(self.plane.x.stop)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """With Ctrl the second cursor goes to the mouse."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier and event.button() == Qt.MouseButton.LeftButton:
            self.mark_asked.emit()
            return
        super().mousePressEvent(event)

    # As a chart

    def draw(self, frame: Frame) -> None:
        hidden = any(curve.visible and curve.hidden for curve in self.curves)
        none = self.tr("All curves are hidden; click one in the legend") if hidden else self.tr("No result yet")
        self.set_hint("" if self.shown else none)
        start, stop = self.view_range()
        size, dark = (self.columns, frame.box.height()), is_dark(self.palette())
        low, high = paint_curves(
            self.curves, self.curve_items, (start, stop), self.x_scale, self.lanes, self._limits, size, dark
        )
        self.gaps.draw(self.shown, (start, stop), self.x_scale, (low, high), size, self.lanes)
        with QSignalBlocker(self.plane):
            self.plane.y.set_limits(low, high, high - low)
        self._drawn = (*frame.across, size[0])
        for line, width in ((self.line, 1), (self.heard, 3), (self.measured, 1)):
            ink = QPen(line_ink(self.palette()), width)
            ink.setStyle(Qt.PenStyle.DashLine if line is self.measured else Qt.PenStyle.SolidLine)
            ink.setCosmetic(True)
            line.setPen(ink)

    def _limits(self, low: float, high: float) -> tuple[float, float]:
        """The y range for curves between `low` and `high`; these are infinite where nothing is finite."""
        if self.fixed is not None:
            return self.fixed
        if not np.isfinite(low):
            return 0.0, 1.0
        margin = (high - low) * 0.05 or max(abs(low) * 0.05, 0.5)
        return low - margin, high + margin

    def left(self, frame: Frame) -> Side:
        units, height = {c.unit for c in self.shown}, frame.box.height()
        title = units.pop() if len(units) == 1 else ""
        if self.lanes:
            return Side(lane_ticks(self.lanes, height, self.fontMetrics()), title)
        return Side([(value, short(value)) for value in ticks(*frame.upward, frame.tall)], title)

    def bottom(self, frame: Frame) -> Side:
        side = self.x_scale.side if self.x_scale.log else axis_side
        return side(Axis(*self.axis), self.view_range(), frame.wide)

    def paint(self, painter: QPainter, frame: Frame) -> None:
        paint_lanes(painter, frame, self.lanes)
        if self.readings and self.cursor_x is not None:
            paint_readings(painter, frame, self.readings, frame.x(self.x_scale.coordinate(self.cursor_x)))

    def lane_names(self) -> list[tuple[str, QRectF]]:
        """The names of lanes and their boxes."""
        return lane_names(self.lanes, self.frame())

    # Samples

    @property
    def cursor_x(self) -> float | None:
        """x of the sample that the cursor reads."""
        return None if self.plane.cursor is None else self.sample_at(self.x_scale.place(self.plane.cursor[0]))

    def sample_at(self, x: float) -> float:
        """x of the sample nearest to x."""
        shown = self.shown
        step = min((c.step for c in shown), default=0.0)
        if not step:
            return x
        first, last = min(c.begin for c in shown), max(c.end for c in shown)
        first = max(first, self.x_scale.least) if self.x_scale.log else first
        return round((min(max(x, first), last) - first) / step) * step + first

    def next(self, axis: int, place: float, steps: int) -> float:
        step = min((c.step for c in self.shown), default=1.0)
        return self.x_scale.coordinate(self.sample_at(self.x_scale.place(place)) + steps * step) if axis == 0 else place


def lane_ticks(lanes: Lanes, height: float, letters: QFontMetrics) -> list[tuple[float, str]]:
    """The ticks of the y axis of a plot `height` tall: numbers next to each lane, or names of the lanes where numbers
    do not fit."""
    line = letters.height()
    if lanes.room(height, line):
        return [(y, short(value)) for y, value in lanes.marks(height, line)]
    most = LONGEST * letters.averageCharWidth()
    return [(y, elided_text(name, letters, most, " ")) for y, name in lanes.names_at(height, line)]


def lane_names(lanes: Lanes, frame: Frame) -> list[tuple[str, QRectF]]:
    """The names and their boxes, where lanes are tall enough; else the axis has the names in place of numbers."""
    area, letters = frame.box, frame.letters
    if not lanes.room(area.height(), letters.height()):
        return []
    tall, gap, found = area.height() / len(lanes.order), letters.averageCharWidth(), []
    for place, name in enumerate(lanes.names):
        text = elided_text(name, letters, round(area.width() / 3), " ")
        top = min(area.top() + place * tall + 1, area.bottom() - letters.height())
        box = QRectF(area.left() + gap / 2, top, letters.horizontalAdvance(text) + gap, letters.height())
        found.append((text, box))
    return found


def paint_lanes(painter: QPainter, frame: Frame, lanes: Lanes) -> None:
    """Paint the lines between the lanes, and their names."""
    area, count = frame.box, len(lanes.order)
    painter.setPen(QPen(frame.colours.grid, 1))
    if count and area.height() / count > 4:  # closer lines would look like a gray area
        for place in range(1, count):
            y = round(area.top() + place * area.height() / count) + 0.5
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
    ground = frame.palette.color(QPalette.ColorRole.Base)
    ground.setAlpha(VEIL)
    for text, box in lane_names(lanes, frame):
        painter.fillRect(box, ground)
        painter.setPen(frame.palette.color(QPalette.ColorRole.Text))
        painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), text)
