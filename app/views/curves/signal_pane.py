"""Signals as overlaid curves."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QLocale, QObject, QPointF, QRectF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.models.curves.curve import SAMPLES, Curve, Trace
from app.models.curves.lanes import Lanes
from app.models.pictures.layer import State
from app.views.curves.curve_paint import paint_curves
from app.views.curves.gap_marks import GapMarks
from app.views.curves.lane_names import LaneNames, lane_ticks
from app.views.curves.signal_legend import LegendEntry, LegendGrid
from app.views.curves.signal_plot import calm_plot, label, recolour
from app.views.curves.x_scale import XScale
from app.views.parts import ElidedLabel, is_dark, number
from app.views.results.findings_bar import FindingsBar
from app.views.results.reading import name_of, values_text, with_unit
from gpu_ops.input_kinds import time_axis
from gpu_ops.output_kinds import Axis

ZOOM, PAN = 1.25, 0.1
SIGNALS = tuple((axis.name, axis.unit) for axis in (time_axis(1.0), time_axis(None)))
"""The axes of signals that are sampled in time."""


class SignalPane(QWidget):
    """A legend, findings, one plot, and a line with the values under the cursor. The wheel zooms time, drag pans,
    double-click fits. Keys while the plot is focused: + − 0 (fit) 1 (a sample per pixel), arrows pan, Shift+arrows
    move the cursor.

    `fixed` is the y range (low, high), or None to follow the visible values.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("signalPane")
        self.curves: list[Curve] = []
        self.items: list[pg.PlotCurveItem] = []
        self.fixed: tuple[float, float] | None = None
        self.scale, self.lanes = XScale(), Lanes()
        self.cursor_x: float | None = None
        self._drawn: tuple[float, float, int] | None = None
        self._entries: list[LegendEntry] = []
        self.findings: dict[str, FindingsBar] = {}
        self._make_plot()
        self.status = ElidedLabel(parent=self)
        self.status.setObjectName("signalStatus")
        self._arrange()
        self.box.sigXRangeChanged.connect(self._follow)
        self.box.sigResized.connect(self._follow)
        self._recolor()

    def _make_plot(self) -> None:
        self.plot = calm_plot(self)
        self.item = self.plot.getPlotItem()
        self.box = self.item.getViewBox()
        self.line, self.heard = pg.InfiniteLine(angle=90), pg.InfiniteLine(angle=90)
        for line in (self.line, self.heard):
            line.hide()
            line.setZValue(1)  # above the curves
            self.item.addItem(line, ignoreBounds=True)
        self.gaps = GapMarks(self.plot)
        self.plot.installEventFilter(self)
        self.plot.viewport().installEventFilter(self)
        self.plot.viewport().setMouseTracking(True)
        self._dragged: QPointF | None = None
        area = lambda: QRectF(self.plot.mapFromScene(self.box.sceneBoundingRect()).boundingRect())  # noqa: E731
        self.lane_names = LaneNames(self.plot.viewport(), self.lanes, area)

    def _arrange(self) -> None:
        unit = self.fontMetrics().averageCharWidth()
        self._legend = LegendGrid(unit)
        self.foot = QHBoxLayout()
        self.foot.setContentsMargins(unit, 0, unit, 0)
        self.foot.addWidget(self.status)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, unit // 2, 0, unit // 2)
        layout.setSpacing(unit // 2)
        layout.addLayout(self._legend)
        self._bars = QVBoxLayout()
        self._bars.setSpacing(unit // 2)
        layout.addLayout(self._bars)
        layout.addWidget(self.plot, 1)
        layout.addLayout(self.foot)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    # What is shown

    def set_curves(self, curves: Sequence[Trace]) -> None:
        """Show these curves. The range of time stays, unless there was none or the unit of time changes."""
        before, had = self.axis(), any(c.pyramid is not None for c in self.curves)
        while len(self.curves) < len(curves):
            self._add_curve()
        for index, curve in enumerate(self.curves):
            if index < len(curves):
                curve.set_signal(*curves[index])
            else:
                curve.clear()
        self._lay_legend()
        axis = self.axis()
        self._label(axis)
        if not had or axis != before:
            self.fit()
        else:
            self.refresh()

    def set_state(self, key: str, state: State | None, text: str, current: bool) -> None:
        """Set the verdict on a result's curves and whether they fit the present choice; if not, they are faint."""
        shown = [curve for curve in self.curves if curve.visible and curve.key == key]
        if any([curve.set_state(state, text, current) for curve in shown]):
            self._lay_legend()
            self.refresh()

    def set_note(self, key: str, text: str) -> None:
        """Set a remark on a result or on the input; empty for none."""
        self._legend.notes[key] = text
        self._lay_legend()
        self._show_values()

    def bar(self, key: str) -> FindingsBar:
        """The bar for the findings of a result; created once and reused."""
        if key not in self.findings:
            self.findings[key] = FindingsBar(self)
            self._bars.addWidget(self.findings[key])
        return self.findings[key]

    def _add_curve(self) -> None:
        """Create a curve and its item; both are reused, because pyqtgraph never frees its items."""
        curve = Curve(self)
        curve.changed.connect(self.refresh)
        self.curves.append(curve)
        item = pg.PlotCurveItem()
        self.items.append(item)
        self.item.addItem(item, ignoreBounds=True)
        self._entries.append(LegendEntry(self))

    def _lay_legend(self) -> None:
        self._legend.show_curves(self.curves, self._entries, self.width(), bool(self.lanes))

    def axis(self) -> tuple[str, str]:
        """The name and unit of the x axis: samples where the curves do not agree."""
        axes = {(c.axis.name, c.axis.unit) for c in self.curves if c.pyramid is not None}
        return axes.pop() if len(axes) == 1 else (SAMPLES.name, SAMPLES.unit)

    def _label(self, axis: tuple[str, str]) -> None:
        units = {c.unit for c in self._shown()}
        label(self.item, Axis(*axis), units.pop() if len(units) == 1 else "", self.scale.log)

    def _shown(self) -> list[Curve]:
        return [curve for curve in self.curves if curve.visible and curve.pyramid is not None]

    @property
    def settled(self) -> bool:
        """Whether the plot has the points of the range and the width it shows."""
        return self._drawn == (*self._coordinates(), self._columns())

    def _columns(self) -> int:
        """The width of the plot in screen pixels."""
        return max(16, math.ceil(float(self.box.width()) * self.devicePixelRatioF()))

    def _follow(self) -> None:
        """The plot itself changed its range or size."""
        if not self.settled:
            self.refresh()

    def refresh(self) -> None:
        """Give the plot the points of the visible range again, and fit y to them."""
        self._draw(*self.view_range())

    def _draw(self, start: float, stop: float) -> None:
        """Give the plot the points of a range together with the range, so that it paints only once."""
        columns, height = self._columns(), float(self.box.height())
        ends = self.scale.coordinate(start), self.scale.coordinate(stop)
        size, dark = (columns, height), is_dark(self.palette())
        x_range, lanes, limits = (start, stop), self.lanes, self._limits
        low, high = paint_curves(self.curves, self.items, x_range, self.scale, lanes, limits, size, dark)
        self.gaps.draw(self._shown(), (start, stop), self.scale, (low, high), size, lanes)
        self._drawn = (*ends, columns)
        self.item.getAxis("bottom").setTicks(self.scale.marks(start, stop, self._most_ticks()))
        self.item.getAxis("left").setTicks(lane_ticks(lanes, height, self.fontMetrics()))
        self.lane_names.update()
        self.box.setRange(xRange=ends, yRange=(low, high), padding=0)
        self.plot.scene().prepareForPaint()  # else the first paint moves the curves, which causes a second one
        self._show_values()

    def _limits(self, low: float, high: float) -> tuple[float, float]:
        """The y range for curves between `low` and `high`; these are infinite where nothing is finite."""
        if self.fixed is not None:
            return self.fixed
        if not np.isfinite(low):
            return 0.0, 1.0
        margin = (high - low) * 0.05 or max(abs(low) * 0.05, 0.5)
        return low - margin, high + margin

    def fix_y(self, limits: tuple[float, float] | None) -> None:
        """Fix y to (low, high); None follows the visible values."""
        self.fixed = limits
        self.refresh()

    # Range of time

    def _coordinates(self) -> tuple[float, float]:
        """The plot's own range of x."""
        start, stop = self.box.viewRange()[0]
        return float(start), float(stop)

    def view_range(self) -> tuple[float, float]:
        """First and last visible x, in seconds, samples or hertz."""
        start, stop = self._coordinates()
        return self.scale.place(start), self.scale.place(stop)

    def set_range(self, start: float, stop: float) -> None:
        self._draw(max(start, self.scale.least), stop) if self.scale.log else self._draw(start, stop)

    def set_log(self, log: bool) -> None:
        """Give equal widths to equal ratios of x, or to equal distances; both show all of x at first."""
        if log != self.scale.log:
            self.scale.log = log
            self._label(self.axis())
            self.fit()

    def _most_ticks(self) -> int:
        return int(self.box.width() / (self.fontMetrics().averageCharWidth() * 9))

    def start_over(self) -> None:
        """Start over for another input: show all of its time, let y follow the values, remove the cursor."""
        self.fixed = None
        self.set_cursor(None)
        self.fit()

    def fit(self) -> None:
        """Show all of time."""
        curves = [c for c in self.curves if c.pyramid is not None]
        first, last = min((min(0.0, c.begin) for c in curves), default=0.0), max((c.end for c in curves), default=0.0)
        if self.scale.log:
            self.scale.least = first = min((c.least for c in curves), default=1.0)
        step = min((c.step for c in curves), default=1.0)
        self.set_range(first if last > first else first - step, last if last > first else first + step)

    def zoom_at(self, factor: float, x: float) -> None:
        """Magnify time by `factor`; x stays where it is on the screen."""
        start, stop = self.view_range()
        step = min((c.step for c in self.curves if c.pyramid is not None), default=1.0)
        factor = min(factor, (stop - start) / (2 * step))
        if factor > 0:
            middle, ends = self.scale.coordinate(x), self._coordinates()
            self.set_range(*(self.scale.place(middle + (end - middle) / factor) for end in ends))

    def pan(self, dx: float) -> None:
        """Move by x units, or by decades of a logarithmic axis."""
        self.set_range(*(self.scale.place(end + dx) for end in self._coordinates()))

    def one_to_one(self) -> None:
        """Show one sample per screen pixel around the present middle."""
        start, stop = self.view_range()
        step = min((c.step for c in self.curves if c.pyramid is not None), default=1.0)
        half = self.box.width() * step / 2
        self.set_range((start + stop) / 2 - half, (start + stop) / 2 + half)

    def x_at(self, point: QPointF) -> float:
        """x under a point of the plot's viewport."""
        return self.scale.place(self._coordinate_at(point))

    def _coordinate_at(self, point: QPointF) -> float:
        return float(self.box.mapSceneToView(self.plot.mapToScene(point.toPoint())).x())

    # Cursor

    def set_cursor(self, x: float | None) -> None:
        """Move the cursor to the sample nearest to x; None removes it."""
        x = self.cursor_x = None if x is None else self.sample_at(x)
        self.line.setVisible(x is not None)
        if x is not None:
            self.line.setValue(self.scale.coordinate(x))
        self._show_values()

    def sample_at(self, x: float) -> float:
        """The place of the sample nearest to x."""
        shown = self._shown()
        step = min((c.step for c in shown), default=0.0)
        if not step:
            return x
        first, last = min(c.begin for c in shown), max(c.end for c in shown)
        first = max(first, self.scale.least) if self.scale.log else first
        return round((min(max(x, first), last) - first) / step) * step + first

    def set_heard(self, x: float | None) -> None:
        """Mark the playing position; None for no mark."""
        self.heard.setVisible(x is not None)
        if x is not None:
            self.heard.setValue(self.scale.coordinate(x))

    def _show_values(self) -> None:
        if self.cursor_x is None:
            sizes = [len(c.pyramid.array) for c in self._shown() if c.pyramid]
            text = self.tr("{count} samples") if self.axis() in SIGNALS else self.tr("{count} values")
            text = text.format(count=number(max(sizes))) if sizes else ""
            self.status.setText("   ".join(t for t in (text, self._legend.remarks(self._shown())) if t))
            return
        parts = [self.place_text(self.cursor_x)]
        for curve in self._shown():
            value = curve.value(self.cursor_x)
            if value is not None:
                told = curve.told(round(curve.axis.index(self.cursor_x))) if curve.told else ""
                text = told or values_text(value, curve.unit)
                parts.append(self.tr("{name} {value}").format(name=curve.name, value=text))
        self.status.setText("   ".join(parts))

    def place_text(self, x: float) -> str:
        """A place along x: "time 0.25 s", "sample 12"."""
        name, unit = self.axis()
        value = self._digits(x) if unit else number(x)
        return self.tr("{name} {value}").format(name=name_of(Axis(name)), value=with_unit(value, unit))

    def _digits(self, x: float) -> str:
        """A place with enough digits to distinguish neighbouring samples, at least seven."""
        step = min((c.step for c in self._shown()), default=1.0)
        return QLocale().toString(x, "g", max(7, math.ceil(math.log10(max(abs(x) / step, 1))) + 2))

    # Events

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and watched is self.plot and event.type() == QEvent.Type.KeyPress:
            return self._on_key(event)
        if watched is self.plot.viewport():
            if isinstance(event, QWheelEvent):
                self.zoom_at(ZOOM ** (event.angleDelta().y() / 120), self.x_at(event.position()))
                return True
            if isinstance(event, QMouseEvent):
                return self._on_mouse(event)
            if event.type() == QEvent.Type.Leave:
                self.set_cursor(None)
        return False

    def _on_mouse(self, event: QMouseEvent) -> bool:
        kind, point = event.type(), event.position()
        if kind == QEvent.Type.MouseButtonDblClick:
            self.fit()
        elif kind == QEvent.Type.MouseButtonPress:
            self.plot.setFocus(Qt.FocusReason.MouseFocusReason)
            self._dragged = point
        elif kind == QEvent.Type.MouseButtonRelease:
            self._dragged = None
        elif kind == QEvent.Type.MouseMove:
            if self._dragged is not None:
                moved, self._dragged = self._coordinate_at(point) - self._coordinate_at(self._dragged), point
                self.pan(-moved)
            self.set_cursor(self.x_at(point))
        return True

    def _on_key(self, event: QKeyEvent) -> bool:
        start, stop = self._coordinates()
        key, middle = event.key(), self.scale.place((start + stop) / 2)
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            way = 1 if key == Qt.Key.Key_Right else -1
            if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                step = min((c.step for c in self._shown()), default=1.0)
                self.set_cursor((middle if self.cursor_x is None else self.cursor_x) + way * step)
            else:
                self.pan(way * PAN * (stop - start))
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom_at(ZOOM, middle)
        elif key == Qt.Key.Key_Minus:
            self.zoom_at(1 / ZOOM, middle)
        elif key == Qt.Key.Key_0:
            self.fit()
        elif key == Qt.Key.Key_1:
            self.one_to_one()
        else:
            return False
        return True

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "line"):
            self._recolor()
            self.refresh()

    def _recolor(self) -> None:
        recolour(self.plot, ((self.line, 1), (self.heard, 3)), self.palette())

    def resizeEvent(self, event: QEvent) -> None:
        self._lay_legend()
