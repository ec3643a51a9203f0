"""The user's choices: input, filter, parameters, picks – with undo. No widgets, no engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.models.noise import Noise
from app.models.subject import Subject
from gpu_ops import FILTERS, KernelscopeError, find_filter
from gpu_ops.device_names import is_simulated
from gpu_ops.engine.shared import SharedInput
from gpu_ops.params import holds
from gpu_ops.run_key import RunKey
from gpu_ops.task import Meta, Task
from gpu_ops.types import Filter, Output, Pick

MOST_STEPS = 200


@dataclass(frozen=True)
class Choice:
    """One state of everything that undo restores."""

    filter: str
    params: Mapping[str, Any] = field(default_factory=dict)
    picks: tuple[str, ...] = ()
    knobs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


class Session(QObject):
    """The model of one window. Every change emits a signal; nothing here runs anything.

    `original` is the input as it was opened, and `input` what runs: the original, or the same with noise. `noise` is
    the noise that the user wants, and `input_noise` that of the input; they differ until the engine has added it.
    `input_changed(shared)` brings another input, `noise_changed(noise)` another wish, `noisy_changed(shared)` the same
    input with other noise or without any, or another frame of it.
    `choice_changed(choice, what)` says what changed: "filter", "params", "picks" or "knobs"; `output_changed` that
    the window shows another of the filter's outputs.
    """

    input_changed = Signal(object)
    noise_changed = Signal(object)
    noisy_changed = Signal(object)
    choice_changed = Signal(object, str)
    baseline_changed = Signal(str)
    device_changed = Signal(str)
    output_changed = Signal()
    undo_changed = Signal(bool, bool)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.input: SharedInput | None = None
        self.original: SharedInput | None = None
        self.noise: Noise | None = None
        self.input_noise: Noise | None = None
        self.inputs = 0
        self.baseline = "serial"
        self.device = ""
        self.devices: tuple[str, ...] = ()
        self._choice = _default_choice(FILTERS[0], False)
        self._past: list[Choice] = []
        self._future: list[Choice] = []
        self._last_output: dict[str, str] = {}

    @property
    def choice(self) -> Choice:
        return self._choice

    @property
    def filter(self) -> Filter:
        return find_filter(self._choice.filter)

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
        """The task of the present choice; None where there is no input, or one that the filter does not take."""
        input, filter = self.input, self.filter
        if input is None or input.kind != filter.accepts:
            return None
        meta = Meta(input.kind, input.array.shape, input.array.dtype, input.finite, rate=input.rate)
        task = Task.of(meta, self.params)
        try:
            filter.check(task)
        except KernelscopeError:
            return None
        return task

    @property
    def output(self) -> Output:
        """The output that the window shows: the last one to be shown of those that the parameters ask for, else the
        first."""
        outputs = self.given
        return next((o for o in outputs if o.id == self._last_output.get(self._choice.filter)), outputs[0])

    def set_output(self, id: str) -> None:
        """Show another of the filter's outputs, and ask for it where the parameters do not."""
        if id == self.output.id:
            return
        self._last_output[self._choice.filter] = id
        output = next(o for o in self.filter.outputs if o.id == id)
        if holds(output.when, self.params):
            self.output_changed.emit()
        else:
            self.set_params({**self._choice.params, **{name: allowed[0] for name, allowed in output.when.items()}})

    def set_input(self, shared: SharedInput) -> None:
        """Take a new input, without noise; a filter that cannot use it is replaced by one of its family that can."""
        self.input = self.original = shared
        self.input_noise = None
        self.inputs += 1
        self.set_noise(None)
        if self.filter.accepts != shared.kind:
            fitting = [f for f in FILTERS if f.accepts == shared.kind]
            same_family = [f for f in fitting if f.family == self.filter.family]
            if fitting:
                self._set(_default_choice((same_family or fitting)[0], bool(self.device)), "filter", undoable=False)
        self.input_changed.emit(shared)

    def set_frame(self, shared: SharedInput) -> None:
        """Take another frame of the same stack; everything else stays, the wish for noise as well."""
        self.original = shared
        self.set_noisy(shared, None)

    def set_noise(self, noise: Noise | None) -> None:
        """Wish for noise on the input, or for none."""
        if noise != self.noise:
            self.noise = noise
            self.noise_changed.emit(noise)

    def set_noisy(self, shared: SharedInput, noise: Noise | None) -> None:
        """Take the original with this noise in the place of the input."""
        self.input, self.input_noise = shared, noise
        self.inputs += 1
        self.noisy_changed.emit(shared)

    @property
    def lacks_noise(self) -> bool:
        """Whether the input has other noise than the user wants."""
        return self.noise != self.input_noise

    def set_filter(self, id: str) -> None:
        if id != self._choice.filter:
            self._set(_default_choice(find_filter(id), bool(self.device)), "filter")

    def set_params(self, params: Mapping[str, Any], same_step: bool = False) -> None:
        """Take these values. `same_step` says that they go on with the last change, as a drag does: undo goes back to
        before both."""
        if dict(params) != dict(self._choice.params):
            self._set(replace(self._choice, params=dict(params)), "params", same_step=same_step)

    def set_param(self, name: str, value: Any, same_step: bool = False) -> None:
        """Take a value of one parameter, and of those with which it matters the first allowed value."""
        param = next(p for p in self.filter.params if p.name == name)
        needed = {} if param.matters(self.params) else {other: allowed[0] for other, allowed in param.when.items()}
        self.set_params({**self._choice.params, **needed, name: param.check(value)}, same_step)

    def set_picks(self, picks: tuple[str, ...]) -> None:
        if picks != self._choice.picks:
            self._set(replace(self._choice, picks=picks), "picks")

    def set_knobs(self, variant: str, values: Mapping[str, Any]) -> None:
        knobs = {**self._choice.knobs, variant: dict(values)}
        if knobs != dict(self._choice.knobs):
            self._set(replace(self._choice, knobs=knobs), "knobs")

    def set_baseline(self, variant: str) -> None:
        if variant != self.baseline:
            self.baseline = variant
            self.baseline_changed.emit(variant)

    def set_device(self, name: str) -> None:
        if name != self.device:
            self.device = name
            self.device_changed.emit(name)

    @property
    def simulated(self) -> bool:
        """Whether kernels run on a simulated GPU."""
        return is_simulated(self.device)

    def set_devices(self, names: tuple[str, ...]) -> None:
        """Set the devices that run kernels, the best first. The best is selected if the present one is gone, and its
        variants join an untouched choice."""
        self.devices = names
        still_there = self.device in names or (self.simulated and "sim" in names)  # sim:sm_90 is another sort of sim
        if names and not still_there:
            if self._choice == _default_choice(self.filter, self.device != ""):
                self._set(_default_choice(self.filter, True), "picks", undoable=False)
            self.set_device(names[0])

    def device_of(self, variant: str) -> str:
        """The device that runs a variant of the filter under the present choice."""
        return "cpu" if self.filter.variant(variant).device == "cpu" else self.device

    def pick(self, variant: str) -> Pick:
        """A variant with its device and knobs under the present choice."""
        return Pick(variant, self.device_of(variant), self._choice.knobs.get(variant, {}))

    def key(self, variant: str) -> RunKey:
        """The key of a run of this variant under the present choice; unset values have their defaults, as in the
        run."""
        pick, choice, params = self.pick(variant), self._choice, self.params
        knobs = {k.name: pick.knobs.get(k.name, k.default) for k in self.filter.variant(variant).knobs}
        return RunKey.of(choice.filter, variant, pick.device, params, knobs, pick.edits)

    def subject(self, variant: str) -> Subject:
        """The subject of a result of this variant under the present choice."""
        return Subject(self.inputs, self.key(variant))

    def reset_params(self) -> None:
        self.set_params({p.name: p.default for p in self.filter.params})

    @property
    def can_undo(self) -> bool:
        return bool(self._past)

    @property
    def can_redo(self) -> bool:
        return bool(self._future)

    def undo(self) -> None:
        self._travel(self._past, self._future)

    def redo(self) -> None:
        self._travel(self._future, self._past)

    def _travel(self, origin: list[Choice], other: list[Choice]) -> None:
        if not origin:
            return
        before, shown = self._choice, self.output
        other.append(before)
        self._choice = origin.pop()
        what = _difference(before, self._choice)
        self.choice_changed.emit(self._choice, what)
        self.undo_changed.emit(bool(self._past), bool(self._future))
        self._tell_output(shown, what)

    def _set(self, choice: Choice, what: str, undoable: bool = True, same_step: bool = False) -> None:
        shown = self.output
        if not undoable:
            self._past = []
        elif not (same_step and self._past):
            self._past = [*self._past, self._choice][-MOST_STEPS:]
        self._future = []
        self._choice = choice
        self.choice_changed.emit(choice, what)
        self.undo_changed.emit(bool(self._past), False)
        self._tell_output(shown, what)

    def _tell_output(self, before: Output, what: str) -> None:
        """Other parameters may ask for other outputs; another filter has its own in any case."""
        if what == "params" and self.output is not before:
            self.output_changed.emit()


def _default_choice(filter: Filter, cuda: bool) -> Choice:
    """The defaults and the variants ticked at first: the CPU's, and kernels where a device can run them."""
    params = {p.name: p.default for p in filter.params}
    first = filter.picked or tuple(v.id for v in filter.variants if not v.library)
    picks = tuple(v.id for v in filter.variants if v.id in first and (cuda or v.device == "cpu"))
    return Choice(filter.id, params, picks)


def _difference(a: Choice, b: Choice) -> str:
    for what in ("filter", "params", "picks"):
        if getattr(a, what) != getattr(b, what):
            return what
    return "knobs"
