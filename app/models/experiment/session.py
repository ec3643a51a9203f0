"""The user's choices: input, filter, parameters, picks – with undo. No widgets, no engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.models.experiment.board import Board
from app.models.experiment.change import Change, State
from app.models.experiment.differences import MOST_DIFFERENCES, DifferenceOf
from app.models.experiment.history import Choice, History, default_choice, meta_of
from app.models.experiment.launch_fields import LaunchFields
from app.models.experiment.noise import Noise
from app.models.experiment.pin import Pin, with_pin
from app.models.experiment.shown import Shown
from app.models.experiment.steps import Steps, kept_steps, noise_of, with_noise
from app.models.xray.gpu_choice import GpuChoice
from gpu_ops import FILTERS, KernelscopeError, ParamError, active_steps, check_step
from gpu_ops.device_names import is_simulated
from gpu_ops.engine.shared import SharedInput
from gpu_ops.params import holds
from gpu_ops.task import Task
from gpu_ops.types import REFERENCE, Filter, Output


class Session(QObject):
    """The model of one window. Nothing here runs anything.

    `original` is the input as it was opened, and `input` what runs: the original after its steps. `steps` are the
    requested ones, some of them perhaps switched off, and `input_steps` those that `input` went through; they differ
    until the engine has applied them. `inherited` says that steps of the previous input are still to be applied to this
    one. A result can replace the input; undo and `go_back` restore the replaced one, so the session keeps the
    `originals` that they can restore. `changed(change)` is emitted once per change, see Change.
    """

    changed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.input: SharedInput | None = None
        self.original: SharedInput | None = None
        self.input_steps: Steps = ()
        self._frame_waits = self.inherited = False
        self.inputs = self._opened = 0
        self._before: State | None = None
        self.baseline = "serial"
        self.device = ""
        self.devices: tuple[str, ...] = ()
        self._choice = default_choice(FILTERS[0], False)
        self._history = History()
        self._originals: dict[int, SharedInput] = {}
        self._first: Choice | None = None
        self._last_output: dict[str, str] = {}
        self.shown = Shown(self)

    def _state(self) -> State:
        undo = self.can_undo, self.can_redo
        given = self.input, self.original, self.originals, self._opened, self.inputs
        return State(self._choice, self.input_steps, *given, self.device, self.baseline, self.output.id, undo)

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Changes inside the block are reported by one `changed` at its end."""
        if self._before is not None:
            yield
            return
        before = self._before = self._state()
        try:
            yield
        finally:
            self._before = None
        if change := Change(before, self._state()):
            self.changed.emit(change)

    @property
    def choice(self) -> Choice:
        return self._choice

    @property
    def filter(self) -> Filter:
        return FILTERS.find(self._choice.filter)

    @property
    def params(self) -> dict[str, Any]:
        """The value of every parameter of the filter."""
        return {p.name: self._choice.params.get(p.name, p.default) for p in self.filter.params}

    @property
    def given(self) -> tuple[Output, ...]:
        """The outputs that the present parameters ask for."""
        return self.filter.given(self.params)

    @property
    def task(self) -> Task | None:
        """The task of the present choice; None without an input, or with one that the filter does not take."""
        if (meta := meta_of(self.input, self.filter)) is not None and meta.dtype in self.filter.dtypes:
            task = Task.of(meta, self.params)
            with suppress(KernelscopeError):
                self.filter.check(task)
                return task
        return None

    @property
    def output(self) -> Output:
        """The visible output: of those that the parameters ask for the one shown most recently, else the first."""
        outputs = self.given
        return next((o for o in outputs if o.id == self._last_output.get(self._choice.filter)), outputs[0])

    def set_output(self, id: str) -> None:
        """Show another of the filter's outputs, and ask for it where the parameters do not."""
        if id == self.output.id:
            return
        output = next(o for o in self.filter.outputs if o.id == id)
        with self._changing():
            self._last_output[self._choice.filter] = id
            if not holds(output.when, self.params):
                self.set_params({**self._choice.params, **{name: allowed[0] for name, allowed in output.when.items()}})

    def set_input(self, shared: SharedInput) -> None:
        """Take a new input, with the previous steps that suit it; another filter of the family where it needs one."""
        kept, number = kept_steps(self.steps, shared.kind), self.inputs + 1
        untouched = self._choice.picks == self._default(self.filter).picks
        with self._changing():
            self._originals, self._first = {number: shared}, None
            self._begin(shared, kept)
            self._put_steps(kept, number, shared.kind)
            if (choice := self._fitting(shared)) != self._choice:
                self._set(choice, undoable=False)
            elif untouched:  # the set of variants that can run changes
                self._choice = replace(self._choice, picks=self._default(self.filter).picks)

    def _begin(self, shared: SharedInput, steps: Steps) -> None:
        """Set a new original, to which no step has been applied yet."""
        self.input = self.original = shared
        self.input_steps, self.inherited = (), bool(active_steps(steps))
        self._frame_waits = False
        self.inputs += 1
        self._opened += 1

    def _fitting(self, shared: SharedInput) -> Choice:
        """The present choice if its filter can use the input, else the choice of a filter that can."""
        fitting = [f for f in FILTERS if f.accepts == shared.kind]
        same_family = [f for f in fitting if f.family == self.filter.family]
        if self.filter.accepts == shared.kind or not fitting:
            return self._choice
        return self._default((same_family or fitting)[0])

    def replace_input(self, shared: SharedInput) -> None:
        """Use a result, without steps, as the input."""
        number = self.inputs + 1
        with self._changing():
            self._originals[number] = shared
            if not self.derived:
                self._first = self._choice
            self._set(replace(self._fitting(shared), steps=(), input=number))

    @property
    def derived(self) -> bool:
        """Whether the input is a result that replaced another input."""
        return self._first is not None and self._choice.input != self._first.input

    def go_back(self) -> None:
        """Restore the input that a result replaced, with its steps."""
        if self._first is None or not self.derived:
            return
        first, kind = self._first, self._originals[self._first.input].kind
        choice = replace(self._choice, steps=first.steps, input=first.input)
        self._set(choice if self.filter.accepts == kind else first)

    @property
    def originals(self) -> tuple[SharedInput, ...]:
        """The present original, and those that undo, redo and `go_back` can restore."""
        return tuple(self._originals.values())

    def _forget(self) -> None:
        """Release the originals that undo, redo and `go_back` can no longer reach."""
        needed = {self._choice.input} | self._history.inputs | ({self._first.input} if self._first else set())
        self._originals = {number: shared for number, shared in self._originals.items() if number in needed}

    def restore(self, shared: SharedInput, choice: Choice, device: str, baseline: str, output: str) -> None:
        """Replace everything by an input as it was opened and its choice; the undo history starts anew. The steps of
        the choice are still to be applied. "" leaves the device or the baseline unchanged."""
        with self._changing():
            self._begin(shared, ())
            self._originals, self._first = {self.inputs: shared}, None
            self._last_output[choice.filter] = output
            self.device, self.baseline = device or self.device, baseline or self.baseline
            self._set(replace(choice, input=self.inputs), undoable=False)

    def set_frame(self, shared: SharedInput) -> None:
        """Take another frame of the same stack. Everything else stays; with steps, the input stays the previous frame
        until they have been applied to this one."""
        with self._changing():
            self.original, self._frame_waits = shared, True
            self._originals[self._choice.input] = shared
            if not active_steps(self.steps):
                self.set_stepped(shared, ())

    @property
    def steps(self) -> Steps:
        """The requested steps, each checked."""
        return self._choice.steps

    def set_steps(self, steps: Iterable[Mapping[str, Any]], same_step: bool = False) -> None:
        """Request these steps instead of the present ones; `same_step` is that of set_params. Raises ParamError."""
        assert self.original is not None
        checked = tuple(check_step(step, self.original.kind) for step in steps)
        if checked != self.steps:
            self.inherited = False
            self._set(replace(self._choice, steps=checked), same_step=same_step)

    def add_step(self, step: Mapping[str, Any]) -> int:
        """Request one more step after the others, but before the noise at their end. Returns its index."""
        place = len(with_noise(self.steps, None))
        self.set_steps((*self.steps[:place], step, *self.steps[place:]))
        return place

    def set_stepped(self, shared: SharedInput, steps: Steps) -> None:
        """Set the input to the original after these steps."""
        with self._changing():
            self.input, self.input_steps, self.inherited = shared, active_steps(steps), False
            self._frame_waits = False
            self.inputs += 1

    @property
    def lacks_steps(self) -> bool:
        """Whether the input does not have the requested steps yet, or is another frame."""
        return self._frame_waits or active_steps(self.steps) != self.input_steps

    def take_back_steps(self) -> None:
        """Return to the steps of the present input: the requested ones cannot be applied. Undo skips the request."""
        if not self.lacks_steps:
            return
        with self._changing():
            self.inherited = False
            self._choice = replace(self._choice, steps=self.input_steps)
            self._history.forget(self._choice)
            if self._frame_waits and self.original is not None:
                self._choice = replace(self._choice, steps=())
                self.set_stepped(self.original, ())

    def _put_steps(self, steps: Steps, input: int, kind: str) -> None:
        """Put these steps into every choice that undo and redo can restore."""
        self._choice = replace(self._choice, steps=steps, input=input)
        self._history.rewrite(steps, input, kind, self._choice)

    @property
    def noise(self) -> Noise | None:
        """The normal noise at the end of the requested steps."""
        return noise_of(self.steps)

    @property
    def input_noise(self) -> Noise | None:
        """The normal noise at the end of the steps that the input went through."""
        return noise_of(self.input_steps)

    def set_noise(self, noise: Noise | None, same_step: bool = False) -> None:
        """Request noise at the end of the steps, or none."""
        self.set_steps(with_noise(self.steps, noise), same_step)

    def set_filter(self, id: str, values: Mapping[str, Any] | None = None) -> None:
        """Choose a filter with its defaults, and with these values where some are given."""
        if id != self._choice.filter:
            choice = self._default(FILTERS.find(id))
            self._set(replace(choice, params={**choice.params, **(values or {})}))
        elif values:
            self.set_params({**self._choice.params, **values})

    def _default(self, filter: Filter, cuda: bool | None = None) -> Choice:
        """A filter's defaults for the present input."""
        cuda, now = bool(self.device) if cuda is None else cuda, self._choice
        choice = default_choice(filter, cuda, self.steps, meta_of(self.input, filter))
        return replace(choice, input=now.input, board=now.board.of_any_filter, own=now.own, gpu=now.gpu)

    def set_params(self, params: Mapping[str, Any], same_step: bool = False) -> None:
        """Set these values. `same_step`: they continue the last change, as a drag does; one undo reverts both."""
        self._set(replace(self._choice, params=dict(params)), same_step=same_step)

    def set_param(self, name: str, value: Any, same_step: bool = False) -> None:
        """Set a value of one parameter, and set the parameters that it depends on to their first allowed values."""
        param = next(p for p in self.filter.params if p.name == name)
        needed = {} if param.matters(self.params) else {other: allowed[0] for other, allowed in param.when.items()}
        self.set_params({**self._choice.params, **needed, name: param.check(value)}, same_step)

    def set_picks(self, picks: tuple[str, ...]) -> None:
        self._set(replace(self._choice, picks=picks))

    def add_reference(self) -> None:
        """Tick the reference too."""
        self.set_picks(tuple(dict.fromkeys((*self._choice.picks, REFERENCE))))

    def set_knobs(self, variant: str, values: Mapping[str, Any]) -> None:
        self._set(replace(self._choice, knobs={**self._choice.knobs, variant: dict(values)}))

    def pin(self, id: str) -> str:
        """Pin a result of the present choice, and return its new id. Raises ParamError, see `with_pin`."""
        return self.show_pin(self.shown.pin_of(id))

    def show_pin(self, pin: Pin) -> str:
        """Show a pinned result, in place of one with its id. Returns its id. Raises ParamError as `pin` does."""
        if pin not in self._choice.pins:
            self._set(replace(self._choice, pins=with_pin(self._choice.pins, pin)))
        return pin.id

    def unpin(self, *ids: str) -> None:
        """Unpin these results and drop their differences."""
        pins = tuple(pin for pin in self._choice.pins if pin.id not in ids)
        left = tuple(kept for kept in self._choice.differences if not kept.sides & set(ids))
        self._set(replace(self._choice, pins=pins, differences=left))

    def keep_difference(self, difference: DifferenceOf) -> None:
        """Show a difference next to the results; hidden ones make room. Raises ParamError for one too many."""
        kept = self._choice.differences
        if difference not in kept:
            kept = kept if len(kept) < MOST_DIFFERENCES else self.shown.differences
            if len(kept) >= MOST_DIFFERENCES:
                raise ParamError(f"{MOST_DIFFERENCES} differences are kept, the maximum; remove one of them first.")
            self._set(replace(self._choice, differences=(*kept, difference)))

    def drop_difference(self, difference: DifferenceOf) -> None:
        """Show a difference no longer."""
        self._set(replace(self._choice, differences=tuple(d for d in self._choice.differences if d != difference)))

    def set_board(self, board: Board, same_step: bool = False) -> None:
        """Arrange results and compare them like this; `same_step` is that of set_params."""
        self._set(replace(self._choice, board=board), same_step=same_step)

    def set_own(self, own: LaunchFields) -> None:
        self._set(replace(self._choice, own=own))

    def set_gpu(self, gpu: GpuChoice, same_step: bool = False) -> None:
        """Predict times for this GPU; `same_step` is that of set_params."""
        self._set(replace(self._choice, gpu=gpu), same_step=same_step)

    def set_baseline(self, variant: str) -> None:
        with self._changing():
            self.baseline = variant

    def set_device(self, name: str) -> None:
        with self._changing():
            self.device = name

    @property
    def simulated(self) -> bool:
        """Whether kernels run on a simulated GPU."""
        return is_simulated(self.device)

    def set_devices(self, names: tuple[str, ...]) -> None:
        """Set the devices that run kernels, the best first. The best is selected if the present one is gone, and its
        variants are added to a choice that the user has not changed."""
        self.devices = names
        still_there = self.device in names or self.device.partition(":")[0] in names  # sim:sm_90 has the sort of sim
        if names and not still_there:
            with self._changing():
                if self._choice == self._default(self.filter):
                    self._set(self._default(self.filter, True), undoable=False)
                self.device = names[0]

    @property
    def can_undo(self) -> bool:
        return bool(self._history.past)

    @property
    def can_redo(self) -> bool:
        return bool(self._history.future)

    def undo(self) -> None:
        self._travel(True)

    def redo(self) -> None:
        self._travel(False)

    def _travel(self, back: bool) -> None:
        if (choice := self._history.move(self._choice, back)) is not None:
            self._take(choice)

    def _set(self, choice: Choice, undoable: bool = True, same_step: bool = False) -> None:
        if undoable and choice == self._choice:
            return
        with self._changing():
            if not undoable:
                self._history.past = []
            elif not (same_step and self.can_undo):
                self._history.leave(self._choice)
            self._history.future = []
            self._take(choice)

    def _take(self, choice: Choice) -> None:
        """Apply this choice, with its input. If it has no steps, the input becomes the original at once."""
        with self._changing():
            other, self._choice = choice.input != self._choice.input, choice
            if other:
                self._begin(self._originals[choice.input], choice.steps)
            elif self.lacks_steps and not active_steps(self.steps) and self.original is not None:
                self.set_stepped(self.original, ())
            self._forget()
