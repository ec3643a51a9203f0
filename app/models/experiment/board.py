"""How results are laid out and compared, as far as undo restores it. No widgets."""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.models.pictures.difference_style import DifferenceLook

PANES = (0, 1, 2, 4, 6, 9)
"""The panes at once that can be chosen; 0 is as many as are large enough."""
MOST_OUTPUT_PANES = 4
"""The most panes of other outputs at once."""


@dataclass(frozen=True)
class OutputOf:
    """The output of a result, by its id, that has a pane of its own next to the present output of all results."""

    id: str
    output: str


@dataclass(frozen=True)
class Board:
    """`panes` at once, one of PANES; the `look` of all differences; the `levels` of kept differences that are set by
    hand: at which value, by the difference's key, the colour is full. `outputs` have panes of their own."""

    panes: int = 0
    look: DifferenceLook = DifferenceLook()
    levels: tuple[tuple[str, float], ...] = ()
    outputs: tuple[OutputOf, ...] = ()

    def level(self, key: str) -> float | None:
        """The level of a difference set by hand; None where it follows the look."""
        return dict(self.levels).get(key)

    def with_level(self, key: str, level: float | None) -> Board:
        """The same with another level of one difference, None for that of the look."""
        kept = {**dict(self.levels), key: level}
        return replace(self, levels=tuple((k, v) for k, v in kept.items() if v is not None))

    def with_look(self, look: DifferenceLook) -> Board:
        """The same with another look, from which all levels follow again."""
        return self if look == self.look else replace(self, look=look, levels=())

    def with_output(self, pane: OutputOf) -> Board:
        """The same with a pane of another output; the oldest makes room for it."""
        others = tuple(other for other in self.outputs if other != pane)
        return replace(self, outputs=(*others, pane)[-MOST_OUTPUT_PANES:])

    def with_output_for(self, pane: OutputOf, other: OutputOf) -> Board:
        """The same with another output in the place of one."""
        panes = dict.fromkeys(other if each == pane else each for each in self.outputs)
        return replace(self, outputs=tuple(panes))

    def without_output(self, pane: OutputOf) -> Board:
        return replace(self, outputs=tuple(other for other in self.outputs if other != pane))

    @property
    def of_any_filter(self) -> Board:
        """The part that suits every filter: what names no result of one."""
        return replace(self, levels=(), outputs=())
