"""The accesses of the warps of one element as data, and as JSON. Nothing here runs anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from gpu_ops.explaining.traffic.content import Extents

Verb = Literal["load", "store", "atomic"]
Memory = Literal["input", "output", "buffer", "shared", "texture"]


@dataclass(frozen=True)
class WarpAccess:
    """One memory instruction of the warp at a line of a kernel: each of `lanes` accesses the element of the same place
    in `elements`, by its flat index in the input, in a result, in another buffer, in a texture, or in the block's
    shared memory, in units of `itemsize` bytes. The memory has `extent` elements, and is called `name` in the
    kernel, a result by the filter, "" where it has no name. `sectors` are those of 32 bytes that it touches in global
    memory."""

    file: str
    line: int
    verb: Verb
    memory: Memory
    name: str
    itemsize: int
    extent: int
    lanes: tuple[int, ...]
    elements: tuple[int, ...]
    sectors: int

    @property
    def step(self) -> int | None:
        """The elements from each lane's to the next one's, where all are equal, as for a single lane (0)."""
        steps = set(np.diff(self.elements).tolist()) or {0}
        return steps.pop() if len(steps) == 1 else None

    @property
    def most_at_one(self) -> int:
        """The most lanes that access one element: atomics of these wait for one another."""
        return max(Counter(self.elements).values())


@dataclass(frozen=True)
class WarpAccesses:
    """The first accesses of a warp, in the order of execution, of `count` in all. `lane` is the lane that wrote the
    element of the result, or read that of the input (`reads`). `shuffles` is the number of its instructions that
    exchange values of registers between lanes."""

    kernel: str
    block: Extents
    warp: int
    lane: int
    reads: bool
    count: int
    accesses: tuple[WarpAccess, ...]
    shuffles: int = 0


# JSON


def warps_json(found: tuple[WarpAccesses, ...]) -> list[dict[str, Any]]:
    """The accesses of warps as JSON."""
    return [asdict(one) for one in found]


def warps_of(content: Sequence[Mapping[str, Any]]) -> tuple[WarpAccesses, ...]:
    """The accesses of warps from JSON."""
    return tuple(
        WarpAccesses(**{**one, "block": tuple(one["block"]), "accesses": tuple(map(_access_of, one["accesses"]))})
        for one in content
    )


def _access_of(content: Mapping[str, Any]) -> WarpAccess:
    return WarpAccess(**{**content, "lanes": tuple(content["lanes"]), "elements": tuple(content["elements"])})
