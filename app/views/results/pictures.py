"""The middle of the window: the input and the results of one output, each looked at as its kind asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from PySide6.QtCore import QCoreApplication, QSize, Qt, Signal, Slot
from PySide6.QtGui import QImage, QResizeEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QVBoxLayout, QWidget

from app.models.display import Display
from app.models.drawing import Drawing
from app.models.origin import WHOLE
from app.models.results import Results
from app.models.session import Session
from app.models.shown import INPUT as INPUT
from app.models.shown import Drawn, Shown, as_it_is
from app.models.slot import RowSlot
from app.models.subject import Subject
from app.models.verdict import verdict
from app.views.results.output_bar import Choice, OutputBar
from app.views.results.result_view import ResultView
from app.views.results.view_table import CURVES, PICTURES, Scale, ViewSpec, draw, scales_of, view_of
from app.views.scrolled import Squeezed
from gpu_ops.input_kinds import INPUT_KINDS

if TYPE_CHECKING:
    from app.views.results.curve_view import CurveView
    from app.views.results.panes import Mode, PaneGrid
    from app.views.results.signal_pane import SignalPane

WIDE = 1.3
"""Width over height from which on the input stands at the left of results of another kind, not above them."""


class Pictures(Squeezed):
    """Shows what it is given, in the order of the choice; what is known of a result stands on it. Results of the
    input's own kind stand with it in one view; results of another kind have a view of their own, and the input another
    beside it.

    `arranged`: there may be other panes now. `looked_changed`: another view is in sight, or another output, scale,
    colour map or way to compare. `failed(sentence)`: something cannot be drawn.
    """

    arranged = Signal()
    looked_changed = Signal()
    failed = Signal(str)

    def __init__(self, display: Display, session: Session, results: Results, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Input and results"))
        self._display, self._session, self._results = display, session, results
        self._views: dict[tuple[str, bool], ResultView] = {}
        self._input: Shown | None = None
        self._shared: Any = None
        self._shown: dict[tuple[str, str], Shown] = {}
        self._subjects: dict[str, Subject | None] = {}
        self._drawings: dict[str, Drawing] = {}
        self._scales: dict[str, str] = {}
        self._keys: tuple[str, ...] = ()
        self._spec, self._alike = PICTURES, True
        self._fresh = self._other_scale = False
        self._lay_out()
        self.view = self._home(PICTURES)
        session.choice_changed.connect(self._choice_changed)
        session.output_changed.connect(self._look_anew)
        session.device_changed.connect(self._judge_all)
        results.row_changed.connect(self._row_changed)

    def _lay_out(self) -> None:
        self.bar = OutputBar(self._session.set_output, self.set_scale, self)
        self._main, self._beside = QStackedWidget(self), QStackedWidget(self)
        self._split = QSplitter(Qt.Orientation.Horizontal, self)
        self._split.addWidget(self._beside)
        self._split.addWidget(self._main)
        self._beside.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.bar)
        layout.addWidget(self._split, 1)

    def sizeHint(self) -> QSize:
        return self.view.widget.sizeHint()

    def resizeEvent(self, event: QResizeEvent) -> None:
        across = self.width() > WIDE * self.height()
        way = Qt.Orientation.Horizontal if across else Qt.Orientation.Vertical
        if way != self._split.orientation():
            self._split.setOrientation(way)
            self._share()

    def _share(self) -> None:
        """Room for the input and for results of another kind."""
        self._split.setSizes([round(10_000 * (1 - self._spec.room)), round(10_000 * self._spec.room)])

    # Views

    def _home(self, spec: ViewSpec, beside: bool = False) -> ResultView:
        """The view of a spec, for results or for an input beside them; made when it is first needed."""
        if (spec.id, beside) not in self._views:
            display = self._display if spec is PICTURES else Display(self)
            made = self._views[spec.id, beside] = spec.make(display, self)
            (self._beside if beside else self._main).addWidget(made.widget)
            display.colormap_changed.connect(self.looked_changed)
            if made.grid is not None:
                made.grid.mode_changed.connect(self.looked_changed)
                made.grid.set_choosing(not beside)
        return self._views[spec.id, beside]

    @property
    def panes(self) -> PaneGrid:
        """Where pictures of the input's own kind are."""
        grid = self._home(PICTURES).grid
        assert grid is not None
        return grid

    @property
    def signal_pane(self) -> SignalPane:
        """Where curves of the input's own kind are."""
        return cast("CurveView", self._home(CURVES)).pane

    @property
    def display(self) -> Display | None:
        """Levels and colours of what is looked at, else of the input beside it; None where neither has any."""
        return self.view.display or (None if self._alike else self._input_view().display)

    def _input_spec(self) -> ViewSpec:
        if self._input is None:
            return PICTURES
        return view_of(self._input.result.kind, self._input.result.form.rank)

    def _input_view(self) -> ResultView:
        return self.view if self._alike else self._home(self._input_spec(), beside=True)

    def view_with(self, key: str) -> ResultView:
        """The view that shows the input or a variant."""
        return self._input_view() if key == INPUT else self.view

    def titles(self) -> dict[str, str]:
        """Variants by id, as they are called."""
        return {v.id: v.title for v in self._session.filter.variants}

    def show_page(self, page: QWidget) -> None:
        """Have a view's widget in sight before anything is shown in it."""
        self._main.setCurrentWidget(page)

    # What is shown

    @Slot(object, str)
    def _choice_changed(self, _choice: object, what: str) -> None:
        if what == "filter":
            self._forget_results()
            self._fresh = True
        if self._session.input is not self._shared:
            return  # the input that this choice is for comes next
        if what == "filter":
            self._settle()
            self.looked_changed.emit()
        elif what == "picks":
            self.arrange()
        self._judge_all()

    def _forget_results(self) -> None:
        """Another input, another filter or another output: nothing of the one before stays in sight."""
        self._subjects = {}
        self._shown.clear()
        self._clear_results()

    def _clear_results(self) -> None:
        for drawing in self._drawings.values():
            drawing.cancel()
        for key in self._keys:
            if key != INPUT:
                self.view.forget(key)

    @Slot()
    def _look_anew(self) -> None:
        """Another output of the same results."""
        self._subjects = {}
        self._clear_results()
        self._fresh = True
        self._settle()
        for variant in self._session.choice.picks:
            self._draw(variant)
        self._show_rows()
        self.looked_changed.emit()

    def _found(self) -> Shown | None:
        """A result of the output that is looked at."""
        name = self._session.output.id
        return next((shown for (_, output), shown in self._shown.items() if output == name), None)

    def _settle(self, with_input: bool = True) -> None:
        """Have the view in sight that suits what is looked at, with the input in it or beside it."""
        found, output = self._found(), self._session.output
        spec = own = self._input_spec()
        if found is not None:
            spec = view_of(found.result.kind, found.result.form.rank)
        elif self._shared is not None:
            spec = view_of(output.kind, INPUT_KINDS[self._shared.kind].rank)
        alike = spec is own
        if (spec, alike) != (self._spec, self._alike) or self.view is not self._home(spec):
            for view in {id(view): view for view in self._views.values()}.values():
                view.arrange((), {}, self._session.filter)
            self._spec, self._alike, self._keys = spec, alike, ()
            self.view = self._home(spec)
            self._main.setCurrentWidget(self.view.widget)
            self._beside.setVisible(not alike)
            self._share()
            if with_input:
                self._put_input()
            self.looked_changed.emit()
        self.arrange()
        self._offer(found)

    def _put_input(self) -> None:
        """The input where it belongs now."""
        if self._input is None:
            return
        view = self._input_view()
        if not self._alike:
            self._beside.setCurrentWidget(view.widget)
            view.arrange((INPUT,), self._all_titles(), self._session.filter)
        else:
            self.arrange()
        view.put(INPUT, as_it_is(self._input), WHOLE)

    def _all_titles(self) -> Mapping[str, str]:
        name = self._shared.name if self._shared is not None else ""
        return {INPUT: name, **self.titles()}

    def arrange(self) -> None:
        """Room for each picked variant, and for the input where it is of the same kind."""
        picks = self._session.choice.picks
        self._keys = (INPUT, *picks) if self._alike else tuple(picks)
        self._subjects = {k: v for k, v in self._subjects.items() if k in picks}
        self._shown = {k: v for k, v in self._shown.items() if k[0] in picks}
        self.view.arrange(self._keys, self._all_titles(), self._session.filter)
        self.arranged.emit()

    def show_input(self, array: np.ndarray, shared: Any) -> None:
        """Another input, with levels, zoom and range of its own; what it is beside of starts anew as well."""
        self._forget_results()
        self._input, self._shared = Shown(shared.result, array), shared
        self._fresh = True
        self._settle(with_input=False)
        view = self._input_view()
        view.arrange((INPUT,) if view is not self.view else self._keys, self._all_titles(), self._session.filter)
        view.forget(INPUT)
        view.anew(as_it_is(self._input))
        self._put_input()
        self._judge_all()
        self.looked_changed.emit()

    @Slot(str, str, object)
    def show_output(self, variant: str, name: str, shown: Shown) -> None:
        """A result: the output of that name of a variant."""
        if variant not in self._session.choice.picks:
            return
        known = self._found() is not None
        self._shown[variant, name] = shown
        if name == self._session.output.id:
            if not known:
                self._settle()
            self._draw(variant)

    def _draw(self, variant: str) -> None:
        """Have what is looked at of a variant drawn, where there is any."""
        shown = self._shown.get((variant, self._session.output.id))
        if shown is None:
            return
        if variant not in self._drawings:
            made = self._drawings[variant] = Drawing(variant, self)
            made.done.connect(self._put)
            made.failed.connect(self.failed)
        scale = self.scale(shown)
        self._drawings[variant].start(shown, lambda shown: draw(scale, shown), at_once=scale.draw is None)

    @Slot(str, object, object)
    def _put(self, variant: str, shown: Shown, drawn: Drawn) -> None:
        if self._shown.get((variant, self._session.output.id)) is not shown:
            return
        if self._fresh and not self._alike:
            self.view.anew(drawn)
        elif self._other_scale:
            self.view.level(drawn)
        self._fresh = self._other_scale = False
        self._subjects[variant] = shown.origin.subject
        self.view.set_scale(self.scale(shown).id)
        self.view.put(variant, drawn, shown.origin if self._alike else shown.origin.loose)
        self._judge_all()

    def picture(self) -> QImage | None:
        """What is copied: of what is looked at, else of the input beside it."""
        return self.view.picture() or (None if self._alike else self._input_view().picture())

    def compare(self, mode: Mode) -> None:
        """Show results side by side, or two of them in one place."""
        if self.view.grid is not None:
            self.view.grid.set_mode(mode)

    def swap(self) -> None:
        """Exchange the two that are compared."""
        if self.view.grid is not None:
            self.view.grid.swap_pair()

    def turn(self, pages: int) -> None:
        """Turn to other results, where not all of them are in sight."""
        if self.view.pager is not None:
            self.view.pager.turn(pages)

    def set_colormap(self, name: str) -> None:
        if self.display is not None:
            self.display.set_colormap(name)

    def auto_levels(self) -> None:
        if self.display is not None:
            self.display.auto_levels("auto")

    # Outputs and scales

    def scale(self, shown: Shown | None = None) -> Scale:
        """How values are drawn now."""
        offered = scales_of(self._spec, shown.result.form.dtype if shown is not None else "")
        chosen = self._scales.get(self._spec.id)
        return next((scale for scale in offered if scale.id == chosen), offered[0])

    def set_scale(self, id: str) -> None:
        """Draw values in another of the scales that are offered."""
        self._scales[self._spec.id] = id
        self._other_scale = True
        self._offer(self._found())
        for variant in self._session.choice.picks:
            self._draw(variant)
        self.looked_changed.emit()

    def _offer(self, found: Shown | None) -> None:
        translate = QCoreApplication.translate
        outputs = [Choice(o.id, _title(o.id)) for o in self._session.filter.outputs] if self._shared else []
        scales = scales_of(self._spec, found.result.form.dtype if found is not None else "")
        offered = [Choice(s.id, translate("Scales", s.title), translate("Scales", s.tip)) for s in scales]
        self.bar.offer(outputs, self._session.output.id, offered, self.scale(found).id)

    @Slot(object)
    def set_heard(self, x: float | None) -> None:
        """Mark the place that is heard; None nowhere."""
        for beside in (False, True):
            if (CURVES.id, beside) in self._views:
                cast("CurveView", self._views[CURVES.id, beside]).pane.set_heard(x)

    # Verdicts

    @Slot(object)
    def _row_changed(self, slot: RowSlot) -> None:
        if not slot.follows or slot.variant not in self._keys:  # the panes of a choice are made when it is heard of
            return
        self.view.show_findings(slot.variant, self._results.entry(slot))
        self._judge(slot.variant)

    def _show_rows(self) -> None:
        """What is known of all results, in a view that did not hear of it."""
        for variant in self._session.choice.picks:
            slot = RowSlot(variant, self._session.device_of(variant))
            if slot in self._results and variant in self._keys:
                self.view.show_findings(variant, self._results.entry(slot))
        self._judge_all()

    @Slot()
    def _judge_all(self) -> None:
        for variant in self._keys:
            if variant != INPUT:
                self._judge(variant)

    def _judge(self, variant: str) -> None:
        """Say of a result what is known of it, and of nothing else: a verdict stands only where it, the result and
        what is chosen now are of the same. What is of an earlier choice says so, and is drawn faintly."""
        if variant not in self.titles():
            return  # of a filter that is no longer chosen
        present = self._session.subject(variant)
        state, text = verdict(self._results, self._subjects.get(variant), present)
        current = self._subjects.get(variant, present) == present
        self.view.set_state(variant, state, text, current)


def _title(output: str) -> str:
    """What an output is called."""
    text = QCoreApplication.translate("Outputs", output).replace("_", " ")
    return text[:1].upper() + text[1:]
