"""Results as curves in one plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import log10
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from app.models.curves.curve import Trace
from app.models.curves.lanes import choice_of
from app.models.curves.result_lanes import Laid, ResultLanes
from app.models.curves.stroke import Stroke, input_stroke, variant_stroke
from app.models.experiment.differences import MINUS
from app.models.pictures.display import Display
from app.models.pictures.layer import State
from app.models.results.entry import Entry
from app.models.results.marks import Mark, Marked
from app.models.results.origin import Origin
from app.models.results.view_data import DECIBEL, INPUT, Array, ViewData
from app.views.boxes import in_column
from app.views.curves.channel_bar import ChannelBar
from app.views.curves.results_bar import ResultsBar
from app.views.curves.signal_pane import SignalPane
from app.views.parts import mark_texts
from app.views.results.reading import channel_names, drawn_text, quantity, reading_text
from gpu_ops.types import Filter

if TYPE_CHECKING:
    from app.views.pictures.panes import PaneGrid
    from app.views.results.pager import Pager

MARKED, MARKED_KEY = Stroke(3, 0), "marked"


class CurveView:
    """A SignalPane as a ResultView: a curve for each channel of each result, those of one result in one hue."""

    grid: PaneGrid | None = None
    pager: Pager | None = None
    display: Display | None = None

    def __init__(self, parent: QWidget | None = None) -> None:
        self.widget = QWidget(parent)
        self.pane = SignalPane(self.widget)
        self.choice = choice_of(parent or self.widget)
        self.channels = ChannelBar(self.choice, self.pane.plot, self.widget)
        self.results = ResultLanes(self.pane)
        self.ways = ResultsBar(self.results, self.widget)
        in_column(self.ways, self.channels, (self.pane, 1), on=self.widget, gap=0)
        for choice in (self.choice, self.results):
            choice.changed.connect(self._draw_channels)
        self.results.changed.connect(self._place_marks)
        self.pane.plane.changed.connect(self._place_marks)
        self._states: dict[str, tuple[State | None, str, bool]] = {}
        self._keys: tuple[str, ...] = ()
        self._alone = ""
        self._rows: dict[str, int] = {}
        self._titles: Mapping[str, str] = {}
        self._filter: Filter | None = None
        self._drawn: dict[str, tuple[ViewData, Origin]] = {}
        self._chosen: tuple[str, Array] | None = None
        self._marked: Mapping[str, Marked] = {}

    @property
    def sheet(self) -> QWidget:
        return self.pane

    def arrange(self, keys: Sequence[str], titles: Mapping[str, str], filter: Filter) -> None:
        self._keys, self._titles, self._filter = tuple(keys), titles, filter
        self._alone = self._alone if self._alone in keys else ""
        self.choice.set_curves(self, len(keys))
        self._drawn = {key: drawn for key, drawn in self._drawn.items() if key in keys}
        self._states = {key: state for key, state in self._states.items() if key in keys}
        for key, bar in self.pane.findings.items():
            if key not in self._drawn:
                bar.show_findings((), ())
        self._draw()
        self._place_marks()

    def set_scale(self, scale: str) -> None:
        """Nothing to do: curves have only one scale."""

    def put(self, key: str, drawn: ViewData, origin: Origin) -> None:
        self._drawn[key] = drawn, origin
        if key == INPUT:
            self._chosen = None  # they were samples of the previous input
            self.choice.set_names(channel_names(drawn))
        self._draw()

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the input and the results, in their order."""
        return self._keys

    def drawn(self, key: str) -> ViewData | None:
        """The drawn data of a result, or of the input."""
        return self._drawn[key][0] if key in self._drawn else None

    def mark(self, meaning: str, samples: Array | None) -> None:
        """Draw some samples of the input, (N, C) with NaN elsewhere, over its curves; None removes them."""
        self._chosen = None if samples is None else (meaning, samples)
        self._draw()

    def start_over(self, drawn: ViewData | None) -> None:
        self.pane.start_over()

    def level(self, drawn: ViewData) -> None:
        self.pane.fix_y(None)

    def follow(self, drawn: ViewData) -> None:
        """Nothing to do: the limits follow the values."""

    def forget(self, key: str) -> None:
        self._drawn.pop(key, None)
        self._states.pop(key, None)
        if key in self.pane.findings:
            self.pane.bar(key).show_findings((), ())
        self._draw()

    @property
    def walk(self) -> Sequence[str]:
        return ["", *self._keys]  # all of them come first

    @property
    def alone(self) -> str:
        return self._alone

    def show_alone(self, key: str) -> None:
        if key != self._alone:
            self._alone = key
            self._draw_channels()

    def _draw(self) -> None:
        keys = [key for key in self._drawn_keys if self._alone in ("", key)]
        laid = self._laid
        drawn = self._subtracted(keys) if laid == "difference" else {key: self._drawn[key] for key in keys}
        self._lay(list(drawn), laid == "stacked")
        traces = [trace for key, (data, origin) in drawn.items() for trace in self._traces(key, data, origin)]
        self.pane.set_curves([*traces, *(self._marked_traces() if laid == "overlaid" else [])])
        missing = len(keys) - 1 - len(drawn) if laid == "difference" else 0
        words = QCoreApplication.translate("CurveView", "{count} of another length, rate or unit are left out")
        offered = {key: self._title(key) for key in self._drawn_keys}
        self.ways.offer(offered, words.format(count=missing) if missing else "")

    @property
    def _laid(self) -> Laid:
        """The current arrangement: a single result is neither stacked nor a difference."""
        return self.results.laid if len(self._drawn) > 1 and not self._alone else "overlaid"

    @property
    def _drawn_keys(self) -> list[str]:
        return [key for key in self._keys if key in self._drawn]

    def _title(self, key: str) -> str:
        """The name of a result, or of the input: its own where it is alone, in a caption."""
        if key == INPUT and not (self._alone == INPUT and INPUT in self._titles):
            return QCoreApplication.translate("CurveView", "input")
        return self._titles[key]

    @property
    def _minus(self) -> str:
        """The key of the result that differences are from."""
        return self.results.minus if self.results.minus in self._drawn else next(iter(self._drawn_keys), "")

    def _subtracted(self, keys: Sequence[str]) -> dict[str, tuple[ViewData, Origin]]:
        """Every result minus the chosen one, or the first, where both have samples in the same places."""
        found, minus = {}, self._minus
        for key in keys:
            (data, origin), (other, _) = self._drawn[key], self._drawn[minus]
            if key != minus and (difference := self.results.difference(key, data, other)) is not None:
                found[key] = difference, origin
        return found

    def _draw_channels(self) -> None:
        """Draw other channels, whose curves keep their verdicts."""
        self._draw()
        for key, state in self._states.items():
            self.pane.set_state(key, *state)

    def _lay(self, keys: Sequence[str], by_result: bool) -> None:
        """Give each visible channel a lane, or each result, or none."""
        self._rows = {key: place for place, key in enumerate(keys)} if by_result and len(keys) > 1 else {}
        names = max((channel_names(self._drawn[key][0]) for key in keys), key=len, default=[])
        order = self.choice.visible(len(names)) if self.choice.stacked else []
        titles = [names[channel] for channel in order]
        if self._rows:
            order, titles = list(self._rows.values()), [self._title(key) for key in self._rows]
        self.pane.lanes.set_order(order, titles)
        self.channels.set_offered(len(names) > 1)

    def _marked_traces(self) -> list[Trace]:
        if self._chosen is None or INPUT not in self._drawn or self._alone not in ("", INPUT):
            return []
        (name, samples), drawn = self._chosen, self._drawn[INPUT][0]
        columns, axis = np.ascontiguousarray(samples.T), drawn.form.axes[0]
        return [
            Trace(name, columns[k], axis, True, "", MARKED, MARKED_KEY, drawn.unit, None, 3, k, name)
            for k in self.choice.visible(len(columns))
        ]

    def _traces(self, key: str, drawn: ViewData, origin: Origin) -> list[Trace]:
        assert self._filter is not None
        translate = QCoreApplication.translate
        columns, mark = drawn.array.reshape(len(drawn.array), -1), mark_texts(origin, drawn.array.shape)[1]
        traces, axis, channels = [], drawn.form.axes[0], channel_names(drawn)
        title = name = self._title(key)
        if self._laid == "difference":
            title = name = f"{title}{MINUS}{self._title(self._minus)}"
        visible = self.choice.visible(columns.shape[1])
        for channel in visible:
            if columns.shape[1] > 1:
                name = translate("CurveView", "{name}, {channel}").format(name=title, channel=channels[channel])
            dash = 0 if self.pane.lanes or len(visible) == 1 else channel
            stroke = input_stroke(dash) if key == INPUT else variant_stroke(self._filter, key, dash)
            text_of, lane = partial(_value_text, drawn, channel), self._rows.get(key, channel)
            samples, unit = columns[:, channel], drawn.unit
            traces.append(Trace(name, samples, axis, True, mark, stroke, key, unit, text_of, 1, lane, title))
        return traces

    def set_marks(self, marked: Mapping[str, Marked]) -> None:
        """Mark the curves of the first result that has marks."""
        self._marked = marked
        self._place_marks()

    def _place_marks(self) -> None:
        key, marked = next(iter(self._marked.items()), ("", Marked((), "")))
        drawn = self.drawn(key)
        plain = drawn is not None and self._laid == "overlaid"
        visible = self.choice.visible(len(channel_names(drawn))) if drawn is not None and plain else []
        ranked = sorted((mark for mark in marked.marks if mark.channel in visible), key=lambda mark: -mark.y)
        self.pane.plot.show_tags([self._placed(drawn, m, marked.unit) for m in ranked if drawn is not None])

    def _placed(self, drawn: ViewData, mark: Mark, unit: str) -> tuple[float, float, str]:
        """A mark in the plot's coordinates, with its label."""
        height = drawn.decade * log10(max(mark.y, 1e-300)) if drawn.unit == DECIBEL else mark.y
        height = self.pane.lanes.place(mark.channel, height)
        return self.pane.scale.coordinate(mark.x), height, quantity(float(f"{mark.label:.5g}"), unit)

    def set_state(self, key: str, state: State | None, text: str, current: bool) -> None:
        self._states[key] = state, text, current
        self.pane.set_state(key, state, text, current)

    def set_note(self, key: str, text: str) -> None:
        self.pane.set_note(key, text)

    def state(self, key: str) -> State | None:
        return next((c.state for c in self.pane.curves if c.visible and c.key == key), None)

    def show_findings(self, key: str, entry: Entry) -> None:
        bar = self.pane.bar(key)
        bar.show_findings(entry.findings, entry.printed, entry.name)
        bar.setEnabled(entry.current)

    def fit(self) -> None:
        self.pane.fit()

    def zoom(self, factor: float) -> None:
        self.pane.plane.zoom(factor)

    def one_to_one(self) -> None:
        self.pane.plane.one_to_one()

    def value_text(self, key: str) -> str:
        x = self.pane.cursor_x
        if x is None or key not in self._drawn:
            return ""
        drawn = self._drawn[key][0]
        index = round(drawn.form.axes[0].index(x))
        if not 0 <= index < len(drawn.values):
            return ""
        return reading_text(self.pane.place_text(x), drawn_text(drawn, drawn.values[index]))

    def picture(self) -> QImage | None:
        return self.pane.grab().toImage() if self._drawn else None


def _value_text(drawn: ViewData, channel: int, index: int) -> str:
    """The value of a channel, as the cursor reads it."""
    return drawn_text(drawn, drawn.values.reshape(len(drawn.values), -1)[index, channel])
