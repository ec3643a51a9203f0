"""The centre of the window: the input and the results of one output, in views that suit their kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from PySide6.QtCore import QSize, Signal, Slot
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from app.models.experiment.change import Change
from app.models.experiment.session import Session
from app.models.experiment.slot import RowSlot
from app.models.experiment.steps import title_with_steps
from app.models.experiment.subject import Subject
from app.models.pictures.comparing import Mode
from app.models.pictures.display import Display
from app.models.results.drawing import Drawing
from app.models.results.origin import WHOLE
from app.models.results.results import Results
from app.models.results.verdict import of_now, verdict
from app.models.results.view_data import INPUT as INPUT
from app.models.results.view_data import OutputData, ViewData, named, unchanged_view
from app.views.boxes import in_column
from app.views.results.looked_at import LookedAt
from app.views.results.output_bar import OutputBar
from app.views.results.result_view import ResultView
from app.views.results.sides import Sides
from app.views.results.view_table import CURVES, PICTURES, Scale, ViewSpec, draw, own_of, scales_of, view_of
from app.views.scrolled import Squeezed
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.output_kinds import Form
from gpu_ops.types import Output

if TYPE_CHECKING:
    from app.views.curves.curve_view import CurveView
    from app.views.curves.signal_pane import SignalPane
    from app.views.pictures.panes import PaneGrid


class Pictures(Squeezed):
    """Shows the input and the results, in the order of the picks, with the verdict on each. Results of the input's own
    kind share a view with it; results of another kind have their own view, next to a view of the input.

    `arranged`: the panes or their titles changed. `view_changed`: the visible view, output, scale, colour map or mode
    of comparison changed. `drawn_changed`: another result is drawn, or none. `failed(sentence)`: it has no drawing.
    """

    arranged = Signal()
    view_changed = Signal()
    drawn_changed = Signal()
    failed = Signal(str)

    def __init__(self, display: Display, session: Session, results: Results, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Input and results"))
        self._display, self._session, self._results = display, session, results
        self._views: dict[tuple[str, bool], ResultView] = {}
        self._input: OutputData | None = None
        self._shared: Any = None
        self._shown: dict[tuple[str, str], OutputData] = {}
        self._subjects: dict[str, Subject | None] = {}
        self._drawings: dict[str, Drawing] = {}
        self._scales: dict[str, str] = {}
        self._keys: tuple[str, ...] = ()
        self._about: tuple[object, ...] = ()
        self._spec, self._alike = PICTURES, True
        self._fresh = self._other_scale = False
        self._lay_out()
        self.view = self._home(PICTURES)
        self.looked_at = LookedAt(lambda: self.view, self)
        session.changed.connect(self._changed)
        results.row_changed.connect(self._row_changed)

    def _lay_out(self) -> None:
        self.bar = OutputBar(self._session.set_output, self.set_scale, self)
        self.sides = Sides(self)
        in_column(self.bar, (self.sides, 1), on=self, gap=0)

    def fit(self, room: QSize) -> None:
        """Arrange everything for the available size."""
        self.sides.fit(room)

    def sizeHint(self) -> QSize:
        return self.view.widget.sizeHint()

    def _home(self, spec: ViewSpec, beside: bool = False) -> ResultView:
        """The view of a spec, for results or for an input next to them; created on first use."""
        if (spec.id, beside) not in self._views:
            display = self._display if spec is PICTURES else Display(self)
            view = self._views[spec.id, beside] = spec.make(display, self)
            (self.sides.beside if beside else self.sides.main).addWidget(view.widget)
            display.colormap_changed.connect(self.view_changed)
            if view.pager is not None:
                view.pager.reference_wanted.connect(self._session.add_reference)
            if view.grid is not None:
                view.grid.mode_changed.connect(self.view_changed)
                view.grid.set_choosing(not beside)
        return self._views[spec.id, beside]

    @property
    def panes(self) -> PaneGrid:
        """The panes for pictures of the input's own kind."""
        grid = self._home(PICTURES).grid
        assert grid is not None
        return grid

    @property
    def signal_pane(self) -> SignalPane:
        """The pane for curves of the input's own kind."""
        return cast("CurveView", self._home(CURVES)).pane

    @property
    def display(self) -> Display | None:
        """Levels and colours of the main view, else of the input next to it; None if neither has any."""
        return self.view.display or (None if self._alike else self._input_view().display)

    def input_spec(self) -> ViewSpec:
        """The view of the input."""
        if self._input is None:
            return PICTURES
        return view_of(self._input.result.kind, self._input.result.form.rank)

    def spec_of(self, output: Output, form: Form) -> ViewSpec:
        """The view of a result of an output."""
        like = self._input.result.form.axes if self._input is not None else ()
        return view_of(output.kind, form.rank, form.axes, like, own_of(output, form.dtype), output.unit)

    def _input_view(self) -> ResultView:
        return self.view if self._alike else self._home(self.input_spec(), beside=True)

    @property
    def placed(self) -> bool:
        """Whether results have the input's pixel grid, as pictures of it do and spectra do not."""
        return self._alike or self._spec in self.input_spec().owns

    def view_with(self, key: str) -> ResultView:
        """The view that shows the input or a variant."""
        return self._input_view() if key == INPUT else self.view

    def titles(self) -> dict[str, str]:
        """The titles of variants and of pinned results by id."""
        return self._session.shown.titles()

    @property
    def input_name(self) -> str:
        return title_with_steps(self._shared) if self._shared is not None else ""

    # What is shown

    @Slot(object)
    def _changed(self, change: Change) -> None:
        if change.opened:
            return  # the whole range is shown again
        if change.filter:
            self._forget_results()
            self._fresh = True
            self._settle()
            self.view_changed.emit()
        elif self._session.choice.pins or set(self._session.shown.ids) != set(self._keys) - {INPUT}:
            self.arrange()  # the name of a pinned result says what differs from the current settings
        self._judge_all()
        if change.output:
            self._show_output_again()

    def _forget_results(self) -> None:
        """Remove all results: they belong to another input, filter or output."""
        self._subjects = {}
        self.looked_at.forget()
        self._shown.clear()
        self._clear_results()

    def _clear_results(self) -> None:
        for drawing in self._drawings.values():
            drawing.cancel()
        for key in set(self._keys) - {INPUT}:
            self.view.forget(key)
        self.drawn_changed.emit()

    def _show_output_again(self) -> None:
        """Show another output of the same results."""
        self._subjects = {}
        self._clear_results()
        self._fresh = True
        self._settle()
        for variant in self._session.shown.ids:
            self._draw(variant)
        self._show_rows()
        self.view_changed.emit()

    def _any_result(self) -> OutputData | None:
        """Some result of the current output, or None."""
        return next((shown for (_, name), shown in self._shown.items() if name == self._session.output.id), None)

    def _settle(self, with_input: bool = True) -> None:
        """Show the view that suits the current output, with the input in it or next to it."""
        result, output = self._any_result(), self._session.output
        spec = own = self.input_spec()
        if result is not None:
            spec = self.spec_of(output, result.result.form)
        elif (task := self._session.task) is not None:
            spec = self.spec_of(output, output.form(task))
        elif self._shared is not None:
            spec = view_of(output.kind, INPUT_KINDS[self._shared.kind].rank)
        alike = spec is own
        if (spec, alike) != (self._spec, self._alike) or self.view is not self._home(spec):
            for view in {id(view): view for view in self._views.values()}.values():
                view.arrange((), {}, self._session.filter)
            self._spec, self._alike, self._keys = spec, alike, ()
            self.view = self._home(spec)
            self.sides.main.setCurrentWidget(self.view.widget)
            self.sides.beside.setVisible(not alike)
            self.sides.share(spec.room)
            if with_input:
                self._put_input()
            self.view_changed.emit()
        self.arrange()
        self._offer(result)

    def _put_input(self) -> None:
        """Show the input in its view."""
        if self._input is None:
            return
        view = self._input_view()
        if not self._alike:
            self.sides.beside.setCurrentWidget(view.widget)
            view.arrange((INPUT,), self._all_titles(), self._session.filter)
        else:
            self.arrange()
        view.put(INPUT, unchanged_view(self._input), WHOLE)

    def _all_titles(self) -> Mapping[str, str]:
        return {INPUT: self.input_name, **self.titles()}

    def arrange(self) -> None:
        """Create panes for each picked variant and pinned result, and for the input if it is of the same kind."""
        picks = self._session.shown.ids
        self._keys = (INPUT, *picks) if self._alike else tuple(picks)
        self._subjects = {k: v for k, v in self._subjects.items() if k in picks}
        self._shown = {k: v for k, v in self._shown.items() if k[0] in picks}
        about = self.view, self._keys, self._all_titles(), self._session.filter
        self.view.arrange(*about[1:])
        if about != self._about:
            self._about = about
            self.arranged.emit()

    def show_input(self, array: np.ndarray, shared: Any) -> None:
        """Show another input, with its own levels, zoom and range; the view of results starts over as well."""
        self._forget_results()
        self._input, self._shared = OutputData(shared.result, array), shared
        self._fresh = True
        self._settle(with_input=False)
        view = self._input_view()
        view.arrange((INPUT,) if view is not self.view else self._keys, self._all_titles(), self._session.filter)
        view.forget(INPUT)
        view.start_over(unchanged_view(self._input))
        self._put_input()
        self._judge_all()
        self.view_changed.emit()

    def show_stepped(self, array: np.ndarray, shared: Any) -> None:
        """Show the same input after other steps: zoom, range, results and manual levels stay, unless its shape, type or
        rate changed."""
        if self._shared is None or self._shared.result.form != shared.result.form:
            self.show_input(array, shared)
            return
        self._input, self._shared = OutputData(shared.result, array), shared
        self._put_input()
        self._input_view().follow(unchanged_view(self._input))
        self._judge_all()

    @Slot(str, str, object)
    def show_output(self, variant: str, name: str, shown: OutputData) -> None:
        """Show a result: the output `name` of a variant."""
        if variant not in self._session.shown.ids:
            return
        if variant not in self._keys:  # it has just been pinned
            self.arrange()
        had_result = self._any_result() is not None
        shown = self._shown[variant, name] = named(shown, self._shared)
        if name == self._session.output.id:
            if not had_result:
                self._settle()
            self._draw(variant)
        else:
            self.drawn_changed.emit()

    def shown(self, variant: str, name: str) -> OutputData | None:
        """The last result of a variant for an output; None if there is none yet."""
        return self._shown.get((variant, name))

    def _draw(self, variant: str) -> None:
        """Draw the current output of a variant, if there is one."""
        shown = self._shown.get((variant, self._session.output.id))
        if shown is None:
            return
        if variant not in self._drawings:
            drawing = self._drawings[variant] = Drawing(variant, self)
            drawing.done.connect(self._put)
            drawing.failed.connect(self.failed)
        scale = self.scale(shown)
        self._drawings[variant].start(shown, lambda shown: draw(scale, shown), at_once=scale.draw is None)

    @Slot(str, object, object)
    def _put(self, variant: str, shown: OutputData, drawn: ViewData) -> None:
        if self._shown.get((variant, self._session.output.id)) is not shown:
            return
        if self._fresh and not self._alike:
            self.view.start_over(drawn)
        elif self._other_scale:
            self.view.level(drawn)
        self._fresh = self._other_scale = False
        self._subjects[variant] = shown.origin.subject
        self.view.set_scale(self.scale(shown).id)
        self.view.put(variant, drawn, shown.origin if self.placed else shown.origin.loose)
        self._judge_all()
        self.drawn_changed.emit()

    def picture(self) -> QImage | None:
        """The picture to copy: from the main view, else of the input next to it."""
        return self.view.picture() or (None if self._alike else self._input_view().picture())

    def compare(self, mode: Mode) -> None:
        """Show results side by side, or two of them in one pane."""
        if self.view.grid is not None:
            self.view.grid.set_mode(mode)

    def swap(self) -> None:
        """Swap the two compared results."""
        if self.view.grid is not None:
            self.view.grid.swap_pair()

    def turn(self, pages: int) -> None:
        """Turn this number of pages of results."""
        if self.view.pager is not None:
            self.view.pager.turn(pages)

    # Outputs and scales

    def scale(self, shown: OutputData | None = None) -> Scale:
        """The current scale of values."""
        offered = scales_of(self._spec, shown.result.form.dtype if shown is not None else "")
        chosen = self._scales.get(self._spec.id)
        return next((scale for scale in offered if scale.id == chosen), offered[0])

    def set_scale(self, id: str) -> None:
        """Draw values on another of the offered scales."""
        self._scales[self._spec.id] = id
        self._other_scale = True
        self._offer(self._any_result())
        for variant in self._session.shown.ids:
            self._draw(variant)
        self.view_changed.emit()

    def _offer(self, result: OutputData | None) -> None:
        # The output of transfers depends on the kernel, which a parameter chooses.
        offered = self._session.given if self._session.filter.end_to_end else self._session.filter.outputs
        outputs = [output.id for output in offered] if self._shared else []
        scales = scales_of(self._spec, result.result.form.dtype if result is not None else "")
        self.bar.offer(outputs, self._session.output.id, scales, self.scale(result).id)

    @Slot(object)
    def set_heard(self, x: float | None) -> None:
        """Mark the playback position; None for no mark."""
        for beside in (False, True):
            if (CURVES.id, beside) in self._views:
                cast("CurveView", self._views[CURVES.id, beside]).pane.set_heard(x)

    # Verdicts

    @Slot(object)
    def _row_changed(self, slot: RowSlot) -> None:
        if (id := self._session.shown.id_of(slot)) not in self._keys:  # panes of new picks are created later
            return
        self.view.show_findings(id, self._results.entry(slot))
        self._judge(id)

    def _show_rows(self) -> None:
        """Show findings and verdicts of all results in a view that has just become visible."""
        for slot in map(self._session.shown.slot, self._session.shown.ids):
            if slot in self._results:
                self._row_changed(slot)
        self._judge_all()

    @Slot()
    def _judge_all(self) -> None:
        for variant in self._keys:
            self._judge(variant)

    def _judge(self, variant: str) -> None:
        """Show the verdict on a result. It is valid only if verdict, result and current settings have the same subject;
        a result of an earlier setting is marked and dimmed."""
        shown, drawn = self._session.shown, self._subjects.get(variant)
        if variant not in shown:
            return  # the input, or a variant of an earlier filter
        present = of_now(self._results, drawn, shown.subject(variant))
        judged = verdict(self._results, shown.slot(variant), drawn, present)
        self.view.set_state(variant, *judged, drawn in (None, present))
