"""What the person has chosen: input, filter, parameters, picks – with undo. No widgets, no engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.models.subject import Subject
from gpu_ops import FILTERS, find_filter
from gpu_ops.device_names import is_simulated
from gpu_ops.engine.messages import SharedInput
from gpu_ops.run_key import RunKey
from gpu_ops.types import Filter, Output, Pick

MOST_STEPS = 200


@dataclass(frozen=True)
class Choice:
    """One state of everything that undo brings back."""

    filter: str
    params: Mapping[str, Any] = field(default_factory=dict)
    picks: tuple[str, ...] = ()
    knobs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


class Session(QObject):
    """The model of one window. Every change emits; nothing here runs anything.

    `choice_changed(choice, what)` says what changed: "filter", "params", "picks" or "knobs"; `output_changed` that
    another of the filter's outputs is looked at.
    """

    input_changed = Signal(object)
    choice_changed = Signal(object, str)
    baseline_changed = Signal(str)
    device_changed = Signal(str)
    output_changed = Signal()
    undo_changed = Signal(bool, bool)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.input: SharedInput | None = None
        self.inputs = 0
        self.baseline = "serial"
        self.device = ""
        self.devices: tuple[str, ...] = ()
        self._choice = _default_choice(FILTERS[0], False)
        self._past: list[Choice] = []
        self._future: list[Choice] = []
        self._looked: dict[str, str] = {}

    @property
    def choice(self) -> Choice:
        return self._choice

    @property
    def filter(self) -> Filter:
        return find_filter(self._choice.filter)

    @property
    def output(self) -> Output:
        """The output that is looked at: of every filter the one that was looked at last, else its first."""
        outputs = self.filter.outputs
        return next((o for o in outputs if o.id == self._looked.get(self._choice.filter)), outputs[0])

    def set_output(self, id: str) -> None:
        """Look at another of the filter's outputs."""
        if id != self.output.id:
            self._looked[self._choice.filter] = id
            self.output_changed.emit()

    def set_input(self, shared: SharedInput) -> None:
        """A new input; a filter that does not take it gives way to one of its family that does."""
        self.input = shared
        self.inputs += 1
        if self.filter.accepts != shared.kind:
            fitting = [f for f in FILTERS if f.accepts == shared.kind]
            same_family = [f for f in fitting if f.family == self.filter.family]
            if fitting:
                self._set(_default_choice((same_family or fitting)[0], bool(self.device)), "filter", undoable=False)
        self.input_changed.emit(shared)

    def set_filter(self, id: str) -> None:
        if id != self._choice.filter:
            self._set(_default_choice(find_filter(id), bool(self.device)), "filter")

    def set_params(self, params: Mapping[str, Any]) -> None:
        if dict(params) != dict(self._choice.params):
            self._set(replace(self._choice, params=dict(params)), "params")

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
        """The devices that run kernels, the best first. It is taken, and its variants join an untouched choice."""
        self.devices = names
        kept = self.device in names or (self.simulated and "sim" in names)  # sim:sm_90 is another sort of sim
        if names and not kept:
            if self._choice == _default_choice(self.filter, self.device != ""):
                self._set(_default_choice(self.filter, True), "picks", undoable=False)
            self.set_device(names[0])

    def device_of(self, variant: str) -> str:
        """Where a variant of the filter runs as things are chosen now."""
        return "cpu" if self.filter.variant(variant).device == "cpu" else self.device

    def pick(self, variant: str) -> Pick:
        """A variant where and how it runs as things are chosen now."""
        return Pick(variant, self.device_of(variant), self._choice.knobs.get(variant, {}))

    def key(self, variant: str) -> RunKey:
        """That of a run of this variant as things are chosen now; what nobody set has its default, as in the run."""
        pick, choice = self.pick(variant), self._choice
        params = {p.name: choice.params.get(p.name, p.default) for p in self.filter.params}
        knobs = {k.name: pick.knobs.get(k.name, k.default) for k in self.filter.variant(variant).knobs}
        return RunKey.of(choice.filter, variant, pick.device, params, knobs, pick.edits)

    def subject(self, variant: str) -> Subject:
        """What a result of this variant would be of now."""
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
        before = self._choice
        other.append(before)
        self._choice = origin.pop()
        self.choice_changed.emit(self._choice, _difference(before, self._choice))
        self.undo_changed.emit(bool(self._past), bool(self._future))

    def _set(self, choice: Choice, what: str, undoable: bool = True) -> None:
        if undoable:
            self._past = [*self._past, self._choice][-MOST_STEPS:]
        else:
            self._past = []
        self._future = []
        self._choice = choice
        self.choice_changed.emit(choice, what)
        self.undo_changed.emit(bool(self._past), False)


def _default_choice(filter: Filter, cuda: bool) -> Choice:
    """Defaults, and what the filter shows first: the CPU's variants, and the kernels where a device can run them."""
    params = {p.name: p.default for p in filter.params}
    first = filter.picked or tuple(v.id for v in filter.variants if not v.library)
    picks = tuple(v.id for v in filter.variants if v.id in first and (cuda or v.device == "cpu"))
    return Choice(filter.id, params, picks)


def _difference(a: Choice, b: Choice) -> str:
    for what in ("filter", "params", "picks"):
        if getattr(a, what) != getattr(b, what):
            return what
    return "knobs"
