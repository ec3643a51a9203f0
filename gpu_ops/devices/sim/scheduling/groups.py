"""Lanes that run together, and their registers."""

from __future__ import annotations

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
