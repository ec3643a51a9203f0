"""Lanes that run together, their registers, and whose turn it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from gpu_ops.devices.sim.lanes import Array, Lanes


@dataclass(eq=False)
class Frame:
    """Registers of a group, for the whole batch or for packed lanes. For packed lanes `origin` has, by register number,
    the batch's array and the values taken from it: values that have not changed are not written back."""

    values: list[Array | None]
    index: Array | None = None
    origin: dict[int, tuple[Array, Array]] = field(default_factory=dict)


@dataclass(eq=False)
class Group:
    """Lanes that run together, and the frame of their registers."""

    lanes: Lanes
    frame: Frame


def fullest(group: Group) -> Group:
    """The group without its mask if it has all lanes of the batch."""
    lanes = group.lanes
    if lanes.mask is not None and lanes.count == lanes.mask.size:
        return Group(Lanes(lanes.layout), group.frame)
    return group


PATIENCE, TURN = 64, 16
"""The steps that lanes may spin while others wait, and the steps that the others then get."""


class Turns:
    """Chooses among the groups that are ready: the lowest (the highest if descending). Lanes in `spin_blocks` may wait
    for other threads."""

    def __init__(self, spin_blocks: frozenset[int], descending: bool) -> None:
        self.spin_blocks = spin_blocks
        self.usual, self.other = (max, min) if descending else (min, max)
        self.spin_steps = 0

    def next(self, ready: dict[int, Group], parked: dict[int, Group], release: Callable[[], object]) -> int:
        """The block to run. `release` makes parked lanes ready whose warp or barrier is complete."""
        block = self.usual(ready)
        if len(ready) + len(parked) < 2 or block not in self.spin_blocks:
            return block
        self.spin_steps += 1
        if self.spin_steps <= PATIENCE:
            return block
        if self.spin_steps > PATIENCE + TURN:
            self.spin_steps = 0
            return block
        if self.spin_blocks.issuperset(ready):
            release()
        working = [number for number in ready if number not in self.spin_blocks]
        return self.usual(working) if working else self.other(ready)
