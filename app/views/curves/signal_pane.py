"""Signals as overlaid curves."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QEvent, QPointF, Qt, Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from app.base.nesting import bounded
from app.base.numbers import shown
from app.models.curves.curve import Curve, Trace, is_faint
from app.models.pictures.layer import State
from app.views.boxes import in_column, in_row
from app.views.curves.curve_plot import CurvePlot
from app.views.curves.reading_box import Reading
from app.views.curves.signal_legend import LegendEntry, LegendGrid
from app.views.labels import named
from app.views.parts import ElidedLabel, is_dark, number
from app.views.results.findings_bar import FindingsBar
from app.views.results.reading import name_of, values_text, with_unit
from app.views.strokes import pen
from gpu_ops.input_kinds import time_axis
from gpu_ops.output_kinds import Axis

SIGNALS = tuple((axis.name, axis.unit) for axis in (time_axis(1.0), time_axis(None)))
"""The axes of signals that are sampled in time."""


class SignalPane(QWidget):
    """A legend, findings, one plot, and a line with the values under the cursor."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("signalPane")
        self.plot = CurvePlot(self)
        self.plane, self.scale, self.lanes = self.plot.plane, self.plot.x_scale, self.plot.lanes
        self.curves, self.items = self.plot.curves, self.plot.curve_items
        self._entries: list[LegendEntry] = []
        self.findings: dict[str, FindingsBar] = {}
        self.status = named(ElidedLabel(parent=self), "signalStatus")
        self.hidden: set[str] = set()
        self.front = ""
        self.mark_x: float | None = None
        self._arrange()
        self.plot.mark_asked.connect(self.set_mark)
        key = QShortcut(QKeySequence(Qt.Key.Key_M), self.plot)
        for pressed in (key.activated, key.activatedAmbiguously):  # two visible plots may both take the key
            pressed.connect(self.set_mark)
        self.plane.changed.connect(self._show_values)
        self.plane.cursor_moved.connect(self._show_values)

    def _arrange(self) -> None:
        unit = self.fontMetrics().averageCharWidth()
        self._legend = LegendGrid(unit)
        self.foot = in_row(self.status, margins=(unit, 0, unit, 0))
        layout = in_column(self._legend, on=self, margins=(0, unit // 2, 0, unit // 2), gap=unit // 2)
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
                curve.hidden = curve.key in self.hidden
            else:
                curve.clear()
        self._lay_legend()
        self.plot.bring_forward(self.front)
        self.plot.limit()
        if not had or self.axis() != before:
            self.fit()
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
        """The bar for the findings of a result; it is created once."""
        if key not in self.findings:
            self.findings[key] = FindingsBar(self)
            self._bars.addWidget(self.findings[key])
        return self.findings[key]

    def _add_curve(self) -> None:
        """Create a curve, which will be reused."""
        curve = Curve(self)
        curve.changed.connect(self.refresh)
        self.plot.add_curve(curve)
        entry = LegendEntry(self)
        entry.hide_asked.connect(self.hide_or_show)
        entry.front_asked.connect(self.bring_forward)
        self._entries.append(entry)

    # Legend

    @Slot(str)
    def hide_or_show(self, key: str) -> None:
        """Draw the curves of a result no more, or again."""
        self.hidden ^= {key}
        for curve in self.curves:
            curve.hidden = curve.key in self.hidden
        self._lay_legend()
        self.refresh()

    @Slot(str)
    def bring_forward(self, key: str) -> None:
        """Draw the curves of a result over all others, also where they were hidden."""
        self.front = key
        self.plot.bring_forward(key)
        if key in self.hidden:
            self.hide_or_show(key)

    def _lay_legend(self) -> None:
        self._legend.show_curves(self.curves, self._entries, self.width(), bool(self.lanes))

    def axis(self) -> tuple[str, str]:
        """The name and unit of the x axis."""
        return self.plot.axis

    def refresh(self) -> None:
        """Give the plot the points of the visible range again, and fit y to them."""
        self.plot.refresh()
        self._show_values()

    def fix_y(self, limits: tuple[float, float] | None) -> None:
        """Fix y to (low, high); None follows the visible values."""
        self.plot.fixed = limits
        self.refresh()

    # Range of time

    def view_range(self) -> tuple[float, float]:
        """First and last visible x, in seconds, samples or hertz."""
        return self.plot.view_range()

    def set_range(self, start: float, stop: float) -> None:
        self.plane.x.show(self.scale.coordinate(start), self.scale.coordinate(stop))

    def set_log(self, log: bool) -> None:
        """Give equal widths to equal ratios of x, or to equal distances; both show all of x at first."""
        if log != self.scale.log:
            cursor, self.scale.log = self.cursor_x, log
            self.plot.limit()
            self.fit()
            self.set_cursor(cursor)

    def start_over(self) -> None:
        """Start over for another input: show all of its time, let y follow the values, remove the cursor."""
        self.plot.fixed = self.mark_x = None
        self.hidden, self.front = set(), ""
        for curve in self.curves:
            curve.hidden = False
        self.set_cursor(None)
        self.fit()

    def fit(self) -> None:
        """Show the whole range."""
        self.plane.fit()

    def x_at(self, point: QPointF) -> float:
        """x under a point of the plot's viewport."""
        return self.scale.place(self.plot.frame().place(point)[0])

    # Cursor

    @property
    def cursor_x(self) -> float | None:
        """x of the sample that the cursor reads."""
        return self.plot.cursor_x

    def set_cursor(self, x: float | None) -> None:
        """Move the cursor to the sample nearest to x; None removes it."""
        self.plane.set_cursor(None if x is None else (self.scale.coordinate(x), 0.0))

    @Slot()
    def set_mark(self) -> None:
        """Put the second cursor where the first is, from where distances are measured then; without a first one, or at
        the same place once more, remove it."""
        x = self.cursor_x
        self.mark_x = None if x == self.mark_x else x
        self._show_values()

    def set_heard(self, x: float | None) -> None:
        """Mark the playing position; None for no mark."""
        self.plot.heard.setVisible(x is not None)
        if x is not None:
            self.plot.heard.setValue(self.scale.coordinate(x))

    @Slot()
    def _show_values(self) -> None:
        x, shown = self.cursor_x, self.plot.shown
        self.plot.line.setVisible(x is not None)
        self.plot.measured.setVisible(self.mark_x is not None)
        if self.mark_x is not None:
            self.plot.measured.setValue(self.scale.coordinate(self.mark_x))
        if x is None:
            sizes = [len(c.pyramid.array) for c in shown if c.pyramid]
            text = self.tr("{count} samples") if self.axis() in SIGNALS else self.tr("{count} values")
            text = text.format(count=number(max(sizes))) if sizes else ""
            self.status.setText("   ".join(t for t in (text, self._legend.remarks(shown)) if t))
            self.plot.readings = ()
            return
        self.plot.line.setValue(self.scale.coordinate(x))
        away = "" if self.mark_x is None else distance_text(x - self.mark_x, self.axis())
        found = [(curve, text) for curve in shown if (text := self._reading(curve, x))]
        place = "   ".join(filter(None, (self.place_text(x), away)))
        self.status.set_texts("   ".join([place, *(f"{curve.name} {text}" for curve, text in found)]), place)
        self.plot.readings = () if self.status.shown_text() == self.status.text() else self._rows(found)
        self.plot.viewport().update()

    def _rows(self, found: Sequence[tuple[Curve, str]]) -> list[Reading]:
        """Values that are too many for the line below the plot."""
        dark = is_dark(self.palette())
        return [
            Reading(pen(curve.stroke, dark, 2, faint=is_faint(curve, self.curves)), curve.name, text)
            for curve, text in found
        ]

    def _reading(self, curve: Curve, x: float) -> str:
        """The value of a curve, and how far it is from that at the second cursor; "" outside the curve."""
        value, before = curve.value(x), curve.value(self.mark_x) if self.mark_x is not None else None
        if value is None:
            return ""
        text_of = curve.text_of(round(curve.axis.index(x))) if curve.text_of else ""
        text = text_of or values_text(value, curve.unit)
        if before is None:
            return text
        step = with_unit(number(float(f"{value - before:.6g}")), curve.unit)
        return self.tr("{text} (Δy {step})").format(text=text, step=step)

    def place_text(self, x: float) -> str:
        """A position along x: "time 0.25 s", "sample 12"."""
        name, unit = self.axis()
        value = self._digits(x) if unit else number(x)
        return self.tr("{name} {value}").format(name=name_of(Axis(name)), value=with_unit(value, unit))

    def _digits(self, x: float) -> str:
        """A position with enough digits to distinguish neighbouring samples, at least seven."""
        step = min((c.step for c in self.plot.shown), default=1.0)
        return shown(x, "g", max(7, math.ceil(math.log10(max(abs(x) / step, 1))) + 2))

    @bounded
    def resizeEvent(self, event: QEvent) -> None:
        self._lay_legend()
        self._show_values()


def distance_text(distance: float, axis: tuple[str, str]) -> str:
    """The distance of two cursors: "Δt 0.25 s (4 Hz)" of times, "Δf 50 Hz" of frequencies, else "Δ 12 samples"."""
    name, unit = axis
    size = number(float(f"{distance:.7g}"))
    if unit == "s":
        text = _tr("Δt {size} s ({rate} Hz)") if distance else _tr("Δt {size} s")
        return text.format(size=size, rate=number(float(f"{1 / abs(distance):.6g}")) if distance else "")
    if unit == "Hz":
        return _tr("Δf {size} Hz").format(size=size)
    return _tr("Δ {size}").format(size=with_unit(size, unit or name_of(Axis(name))))


def _tr(text: str) -> str:
    return QCoreApplication.translate("SignalPane", text)
