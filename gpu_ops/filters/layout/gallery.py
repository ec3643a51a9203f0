"""Pictures of one warp in each layout, from the formulas that predict the counts: nothing is run for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpu_ops.devices.coalescing import Rule
from gpu_ops.filters.layout import LAYOUT, instructions
from gpu_ops.filters.layout.addresses import WARP, MemoryInstruction, Threads, cost
from gpu_ops.filters.layout.claims import Passes
from gpu_ops.plan import Access, Space
from gpu_ops.task import Meta, Task

BLOCK = 256
SIGNAL = Meta("signal", (1 << 16,), "float32")
SHOWN: tuple[tuple[str, Passes, Space, tuple[Mapping[str, Any], ...]], ...] = (
    ("order", instructions.order, "global", ({},)),
    ("shifted", instructions.shifted, "global", ({"shift": 1},)),
    ("swapped", instructions.swapped, "global", ({},)),
    ("gaps", instructions.gaps, "global", ({"rounds": 4},)),
    ("stride", instructions.stride, "global", ({"stride": 2}, {"stride": 8}, {"stride": 32})),
    ("packed", instructions.packed, "global", ({},)),
    ("aligned", instructions.aligned, "global", ({},)),
    ("arrays", instructions.arrays, "global", ({},)),
    ("vectors", instructions.vectors, "global", ({"values": 3}, {"values": 4}, {"values": 8})),
    ("split", instructions.split, "global", ({},)),
    ("shared_stride", instructions.shared_stride, "shared", ({"stride": 2}, {"stride": 3}, {"stride": 32})),
    ("bytes", instructions.single_bytes, "shared", ({"bytes": "adjacent"}, {"bytes": "spread"})),
    ("broadcast", instructions.broadcast, "shared", ({"lane_stride": 0}, {"lane_stride": 1}, {"lane_stride": 32})),
    ("tiles", instructions.tiles, "shared", tuple({"side": 16, "padding": k} for k in (0, 1, 2))),
    ("tiles", instructions.tiles, "shared", tuple({"side": 32, "padding": k} for k in (0, 1))),
)
"""Variant, its launches, the memory it is about, and the knobs of its pictures."""


@dataclass(frozen=True)
class LayoutPicture:
    """One warp in a layout. `access` is the first of its `loads` of values, which together cost `cost` sectors or
    transactions of global memory, or wavefronts of shared memory, for `values` values of the signal."""

    variant: str
    title: str
    idea: str
    knobs: Mapping[str, Any]
    access: Access
    loads: int
    cost: int
    values: int

    @property
    def of_a_warp(self) -> float:
        """The cost per 32 values."""
        return self.cost * WARP / self.values


def layout_pictures(rule: Rule) -> tuple[LayoutPicture, ...]:
    """All pictures, those of global memory first, each kind in the order of its cost by the coalescing rule "today",
    "1.2" or "1.0"."""
    made = [
        _picture(variant, passes, space, knobs, rule) for variant, passes, space, choices in SHOWN for knobs in choices
    ]
    return tuple(sorted(made, key=lambda one: (one.access.space, one.of_a_warp)))


def _picture(variant: str, passes: Passes, space: Space, knobs: Mapping[str, Any], rule: Rule) -> LayoutPicture:
    launches = passes(Task.of(SIGNAL, {}, {"block": BLOCK, **knobs}))
    launch = launches[1 if len(launches) > 1 else 0]
    warp = launch.threads(1, 2)
    loads = [t for t in launch.instructions if (t.space, t.verb) == (space, "load") and len(t.rows(warp))]
    # The stores give the number of values per warp: with structures it also loads a gain and an offset for each.
    stores = [t for t in launch.instructions if (t.space, t.verb) == ("global", "store")]
    values = sum(int((t.rows(warp) >= 0).sum()) * t.nbytes // instructions.WORD for t in stores)
    own = LAYOUT.variant(variant)
    total = sum(cost(t, warp, rule) for t in loads)
    return LayoutPicture(own.id, own.title, own.idea, knobs, _access(loads[0], warp), len(loads), total, values)


def _access(touch: MemoryInstruction, warp: Threads) -> Access:
    (row,) = touch.rows(warp)
    lanes = tuple(int(lane) for lane in (row >= 0).nonzero()[0])
    offsets = tuple(int(row[lane]) for lane in lanes)
    return Access(touch.space, touch.verb, touch.nbytes, touch.buffer, touch.nbytes, 0, lanes, offsets)
