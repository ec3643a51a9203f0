"""The user's present choice, and those that undo and redo restore. No widgets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from app.models.experiment.board import Board
from app.models.experiment.differences import DifferenceOf
from app.models.experiment.launch_fields import LaunchFields
from app.models.experiment.pin import Pin
from app.models.experiment.steps import Steps
from app.models.xray.gpu_choice import GpuChoice
from gpu_ops import FILTERS
from gpu_ops.engine.shared import SharedInput
from gpu_ops.task import Meta, Task
from gpu_ops.types import Filter, Variant

MOST = 200
"""The most choices that undo can restore."""
MOST_INPUTS = 8
"""The most inputs among them: each takes memory."""


@dataclass(frozen=True)
class Choice:
    """One state of everything that undo restores. `input` is the number of the original that the choice belongs to: a
    result that replaces the input has its own number. `pins` are results that keep their settings. `differences` are
    shown next to the results; a difference of an unticked variant is hidden until the variant is ticked again. `board`
    is how results are laid out and compared, `own` is the launch of a kernel from elsewhere, `gpu` is for predicted
    times."""

    filter: str
    params: Mapping[str, Any] = field(default_factory=dict)
    picks: tuple[str, ...] = ()
    knobs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    steps: Steps = ()
    input: int = 0
    pins: tuple[Pin, ...] = ()
    differences: tuple[DifferenceOf, ...] = ()
    board: Board = Board()
    own: LaunchFields = LaunchFields()
    gpu: GpuChoice = GpuChoice()


def default_choice(filter: Filter, cuda: bool, steps: Steps = (), meta: Meta | None = None) -> Choice:
    """The defaults and the variants ticked at first: those of the CPU, and kernels where a device can run them.
    Variants that refuse an input of that `meta` with the default parameters are left out."""
    params = {p.name: p.default for p in filter.params}
    first = filter.picked or tuple(v.id for v in filter.variants if not v.library)
    usable = [v for v in filter.variants if v.id in first and (cuda or v.device == "cpu")]
    if meta is not None:
        usable = [v for v in usable if not _refusal(v, meta, params)]
    return Choice(filter.id, params, tuple(v.id for v in usable), steps=steps)


def meta_of(input: SharedInput | None, filter: Filter) -> Meta | None:
    """The description of the input that a filter would run on; None where it takes no such input."""
    if input is None or input.kind != filter.accepts:
        return None
    return Meta(input.kind, input.array.shape, input.array.dtype, input.finite, rate=input.rate)


def _refusal(variant: Variant, meta: Meta, params: Mapping[str, Any]) -> str | None:
    knobs = {knob.name: knob.default for knob in variant.knobs}
    return variant.refusal(Task.of(meta, params, knobs))


class History:
    """The choices before the present one, and those that were undone; the most recent are last."""

    def __init__(self) -> None:
        self.past: list[Choice] = []
        self.future: list[Choice] = []

    @property
    def inputs(self) -> set[int]:
        """The inputs that undo and redo can go to."""
        return {choice.input for choice in (*self.past, *self.future)}

    def leave(self, choice: Choice) -> None:
        """Store this choice, which a newer one replaces."""
        self.past = [*self.past, choice][-MOST:]
        while len({choice.input for choice in self.past}) > MOST_INPUTS:
            del self.past[0]

    def move(self, present: Choice, back: bool) -> Choice | None:
        """The choice that undo (`back`) or redo restores from the present one; None without one."""
        origin, other = (self.past, self.future) if back else (self.future, self.past)
        if not origin:
            return None
        other.append(present)
        return origin.pop()

    def rewrite(self, steps: Steps, input: int, kind: str, present: Choice) -> None:
        """Put these steps into every choice, because the previous ones were meant for another input; choices of filters
        for other kinds of input are removed."""

        def rewritten(choices: list[Choice]) -> list[Choice]:
            fitting = [c for c in choices if FILTERS.find(c.filter).accepts == kind]
            other = [replace(choice, steps=steps, input=input) for choice in fitting]
            return [c for place, c in enumerate(other) if place == 0 or c != other[place - 1]]

        self.past, self.future = rewritten(self.past), rewritten(self.future)
        for choices in (self.past, self.future):
            _drop(choices, lambda choice: choice == present)

    def forget(self, choice: Choice) -> None:
        """Remove this choice, which is the present one, from those of undo."""
        _drop(self.past, lambda other: other == choice)


def _drop(choices: list[Choice], unwanted: Callable[[Choice], bool]) -> None:
    while choices and unwanted(choices[-1]):
        choices.pop()
