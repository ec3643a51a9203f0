"""Connections between the visible results, the picture next to them, and parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from PySide6.QtCore import QObject, Slot

from app.models.experiment.session import Session
from app.models.results.marks import Marked, marks_of
from app.models.results.results import Results
from app.models.results.verdict import verdict
from app.models.results.view_data import INPUT, OutputData, unchanged_view
from app.views.charts.range_link import RangeLink
from app.views.pictures.handle_link import HandleLink
from app.views.pictures.wave_link import WaveLink
from app.views.results.output_panes import OutputPanes
from app.views.results.pictures import Pictures
from gpu_ops.input_kinds import INPUT_KINDS, Spans
from gpu_ops.output_kinds import CHANNEL
from gpu_ops.types import Output


class Links:
    """Each listens to the signals of Pictures and works independently."""

    def __init__(self, pictures: Pictures, session: Session, results: Results) -> None:
        self.waves, self.ranges = WaveLink(pictures, session), RangeLink(pictures)
        self.handles = HandleLink(pictures, session)
        self.marks = MarkLink(pictures, session)
        self.companion = Companion(pictures, session, results)
        self.outputs = OutputPanes(pictures, session, results)
        self._pictures, self._session = pictures, session

    def in_view(self) -> Spans:
        """What is visible of the input, where results are on its grid: rows and columns, or samples; () for all."""
        input, view = self._session.input, self._pictures.view_with(INPUT)
        if input is None or not self._pictures.placed:
            return ()
        if view.display is not None:
            return view.display.in_view
        if INPUT_KINDS[input.kind].rank > 1:
            return ()
        start, stop = (x * (input.rate or 1.0) for x in self._pictures.signal_pane.view_range())
        span = max(0, int(start)), min(input.array.shape[0], math.ceil(stop))
        return (span,) if span[0] < span[1] else ()

    def pixels(self) -> int:
        """How many pixels of the screen a picture of the input has; 0 for other views."""
        display = self._pictures.view_with(INPUT).display
        return 0 if display is None else display.pixels


class Companion(QObject):
    """If a filter gives a result of the input's kind together with the visible one of another kind, such as an image
    and its spectrum, the first variant's image is shown next to the input. `key` is that variant, "" without one."""

    def __init__(self, pictures: Pictures, session: Session, results: Results) -> None:
        super().__init__(pictures)
        self._pictures, self._session, self._results = pictures, session, results
        self.key = ""
        self._put: OutputData | None = None
        pictures.view_changed.connect(self._start_over)
        for signal in (pictures.drawn_changed, pictures.arranged, results.row_changed):
            signal.connect(self._show)

    @Slot()
    def _start_over(self) -> None:
        """The view next to the results may have changed, or be empty."""
        self._put = None
        self._show()

    @Slot()
    def _show(self) -> None:
        pictures, session = self._pictures, self._session
        view = pictures.view_with(INPUT)
        self.key = ""
        if view is pictures.view or not pictures.input_name:
            return
        name, titles = self._output(), pictures.titles()
        found = [(v, shown) for v in session.shown.ids if (shown := pictures.shown(v, name)) is not None]
        keys = (INPUT, *(variant for variant, _ in found[:1]))
        self._put = self._put if found else None
        view.arrange(keys, {INPUT: pictures.input_name, **titles}, session.filter)
        for variant, shown in found[:1]:
            self.key = variant
            subject, present = shown.origin.subject, session.shown.subject(variant)
            if shown is not self._put:
                view.put(variant, unchanged_view(shown), shown.origin)
                self._put = shown
            judged = verdict(self._results, session.shown.slot(variant), subject, present)
            view.set_state(variant, *judged, subject == present)

    def _output(self) -> str:
        """The first output with the current settings that the input's own view can show; "" without one."""
        pictures, task = self._pictures, self._session.task
        forms = [(output, output.form(task)) for output in self._session.given] if task is not None else []
        own = pictures.input_spec()
        return next((output.id for output, form in forms if pictures.spec_of(output, form) is own), "")


@runtime_checkable
class MarkView(Protocol):
    """A view that can mark positions over its results."""

    def set_marks(self, marked: Mapping[str, Marked]) -> None: ...


class MarkLink(QObject):
    """Draws the rows of a table as marks over the visible output, for every variant that computed both in one run with
    the current settings."""

    def __init__(self, pictures: Pictures, session: Session) -> None:
        super().__init__(pictures)
        self._pictures, self._session = pictures, session
        for signal in (pictures.view_changed, pictures.arranged, pictures.drawn_changed, session.changed):
            signal.connect(self._show)

    @Slot()
    def _show(self) -> None:
        view, session = self._pictures.view, self._session
        if not isinstance(view, MarkView):
            return
        table = next((o for o in session.given if o.marks is not None and session.output.id in o.marks.over), None)
        found = {variant: self._of(variant, table) for variant in session.shown.ids} if table is not None else {}
        view.set_marks({variant: marked for variant, marked in found.items() if marked is not None})

    def _of(self, variant: str, table: Output) -> Marked | None:
        """The marks over the visible output of a variant; None if it has none with the current settings."""
        over, rows = (self._pictures.shown(variant, name) for name in (self._session.output.id, table.id))
        if over is None or rows is None or table.marks is None or not table.marks.columns(rows.result.form):
            return None
        if {over.origin.subject, rows.origin.subject} != {self._session.shown.subject(variant)}:
            return None
        axes = [axis for axis in over.result.form.axes if axis.name != CHANNEL]
        units = {table.marks.x: axes[-1].unit} | ({table.marks.y: axes[0].unit} if len(axes) > 1 else {})
        return Marked(marks_of(rows, table.marks), units.get(table.marks.label or table.marks.x, rows.result.unit))
