"""The state of a window's session, and what changed between two states. No widgets."""

from __future__ import annotations

from dataclasses import dataclass

from app.models.experiment.history import Choice
from app.models.experiment.steps import Steps
from gpu_ops.engine.shared import SharedInput


@dataclass(frozen=True, eq=False)
class State:
    """A session at one moment. `opened` counts the inputs that were opened or that replaced another, `inputs` also
    those that resulted from steps; `undo` says whether there is something to undo and to redo."""

    choice: Choice
    steps: Steps
    input: SharedInput | None
    original: SharedInput | None
    originals: tuple[SharedInput, ...]
    opened: int
    inputs: int
    device: str
    baseline: str
    output: str
    undo: tuple[bool, bool]


@dataclass(frozen=True, eq=False)
class Change:
    """The session before and after a change; the properties compare the two."""

    before: State
    after: State

    def __bool__(self) -> bool:
        parts = self.input, self.experiment, self.steps, self.device, self.baseline, self.output, self.undo
        return any(parts) or self.originals or self.differences or self.board or self.own or self.gpu

    @property
    def opened(self) -> bool:
        """There is another input."""
        return self.before.opened != self.after.opened

    @property
    def stepped(self) -> bool:
        """The same input went through other steps, or is another frame."""
        return self.before.inputs != self.after.inputs and not self.opened

    @property
    def input(self) -> bool:
        """There is another input, or the same one went through other steps."""
        return self.before.inputs != self.after.inputs

    @property
    def filter(self) -> bool:
        return self.before.choice.filter != self.after.choice.filter

    @property
    def experiment(self) -> bool:
        """Another filter, or other parameters, picks, knobs or pinned results of it."""
        return self.filter or self.picks_or_settings or self.pins

    @property
    def picks_or_settings(self) -> bool:
        """Other parameters, picks or knobs, also those of another filter."""
        before, after = self.before.choice, self.after.choice
        return (before.params, before.picks, before.knobs) != (after.params, after.picks, after.knobs)

    @property
    def pins(self) -> bool:
        return self.before.choice.pins != self.after.choice.pins

    @property
    def differences(self) -> bool:
        """There are other differences next to the results."""
        return self.before.choice.differences != self.after.choice.differences

    @property
    def board(self) -> bool:
        """Results are laid out or compared in another way."""
        return self.before.choice.board != self.after.choice.board

    @property
    def own(self) -> bool:
        """The launch of a kernel from elsewhere is described in another way."""
        return self.before.choice.own != self.after.choice.own

    @property
    def gpu(self) -> bool:
        """Times are predicted for another GPU."""
        return self.before.choice.gpu != self.after.choice.gpu

    @property
    def steps(self) -> bool:
        """Other steps are requested."""
        return self.before.choice.steps != self.after.choice.steps

    @property
    def device(self) -> bool:
        return self.before.device != self.after.device

    @property
    def baseline(self) -> bool:
        return self.before.baseline != self.after.baseline

    @property
    def output(self) -> bool:
        """The window shows another output of the same filter."""
        return self.before.output != self.after.output and not self.filter

    @property
    def originals(self) -> bool:
        """The session holds other inputs as they were opened."""
        return [*map(id, self.before.originals)] != [*map(id, self.after.originals)]

    @property
    def undo(self) -> bool:
        return self.before.undo != self.after.undo
