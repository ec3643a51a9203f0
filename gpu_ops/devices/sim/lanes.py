"""The threads of a batch that run together. A batch is `blocks` × `width` lanes; `width` is a multiple of a warp.

Every value of a kernel is a two-dimensional array that broadcasts to a frame's shape: (1, 1) if all lanes agree, (1,
width) if all blocks agree, (blocks, 1) if all threads of a block agree. So equal values are stored once. A frame is the
whole batch, or a few lanes of it, packed as (1, n) while they diverge from the others.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
WARP = 32


class BatchLayout:
    """The grid, the block, and which blocks of the grid a batch contains: `blocks` of them, from number `first` on.
    `cluster` has the extents of a cluster in blocks."""

    def __init__(
        self,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        first: int,
        blocks: int,
        cluster: tuple[int, int, int] = (1, 1, 1),
    ) -> None:
        self.grid, self.block, self.first, self.blocks, self.cluster = grid, block, first, blocks, cluster
        self.threads = block[0] * block[1] * block[2]
        self.width = -(-self.threads // WARP) * WARP
        self.warps = self.width // WARP
        self.thread_bits = (self.width - 1).bit_length()

    @cached_property
    def numbers(self) -> Array:
        """The linear number of each block, (blocks, 1)."""
        return np.arange(self.first, self.first + self.blocks, dtype=np.int64)[:, None]

    @cached_property
    def lane_numbers(self) -> Array:
        """The linear number of each thread in its block, (1, width)."""
        return np.arange(self.width, dtype=np.int32)[None, :]

    @cached_property
    def exist(self) -> Array:
        """Which lanes are threads, (blocks, width): if a block is no multiple of a warp, its last warp has unused
        lanes."""
        return np.repeat(self.lane_numbers < self.threads, self.blocks, axis=0)

    @cached_property
    def ranks(self) -> Array:
        """The number of each block in its cluster, (blocks, 1)."""
        x, y, z = (self.special(f"%cluster_ctaid.{axis}") for axis in "xyz")
        return np.asarray((z * self.cluster[1] + y) * self.cluster[0] + x)

    @cached_property
    def neighbours(self) -> Array:
        """The row in the batch of each block of a block's cluster, by its number there: (blocks, blocks of a
        cluster)."""
        x, y, z = self.cluster
        gx, gy, _ = self.grid
        rank = np.arange(x * y * z)
        base = [self.special(f"%ctaid.{a}") - self.special(f"%cluster_ctaid.{a}") for a in "xyz"]
        at = [b.astype(np.int64) + r for b, r in zip(base, (rank % x, rank // x % y, rank // (x * y)), strict=True)]
        return np.asarray((at[2] * gy + at[1]) * gx + at[0] - self.first)

    def special(self, name: str) -> Array:
        """A special register over the whole batch. Raises KeyError for one that is not simulated."""
        x, y, z = self.block
        t, b = self.lane_numbers, self.numbers
        gx, gy, gz = self.grid
        values: dict[str, Any] = {
            "%tid.x": lambda: t % x,
            "%tid.y": lambda: t // x % y,
            "%tid.z": lambda: t // (x * y),
            "%ctaid.x": lambda: b % gx,
            "%ctaid.y": lambda: b // gx % gy,
            "%ctaid.z": lambda: b // (gx * gy),
            "%cluster_ctarank": lambda: self.ranks,
            "%laneid": lambda: t % WARP,
            "%warpid": lambda: t // WARP,
            "%smid": lambda: b * 0,
        }
        fixed = {
            **{f"%ntid.{axis}": n for axis, n in zip("xyz", self.block, strict=True)},
            **{f"%nctaid.{axis}": n for axis, n in zip("xyz", self.grid, strict=True)},
            "%nwarpid": self.warps,
            **{f"%cluster_nctaid.{axis}": n for axis, n in zip("xyz", self.cluster, strict=True)},
            **{f"%nclusterid.{a}": n // c for a, n, c in zip("xyz", self.grid, self.cluster, strict=True)},
            "%cluster_nctarank": self.cluster[0] * self.cluster[1] * self.cluster[2],
            "%is_explicit_cluster": self.cluster != (1, 1, 1),
            "%nsmid": 1,
            "%gridid": 0,
        }
        for axis, extent in zip("xyz", self.cluster, strict=True):
            values[f"%clusterid.{axis}"] = lambda at=f"%ctaid.{axis}", n=extent: values[at]() // n
            values[f"%cluster_ctaid.{axis}"] = lambda at=f"%ctaid.{axis}", n=extent: values[at]() % n
        if name in fixed:
            return np.full((1, 1), fixed[name], np.int32)
        if name.startswith("%lanemask_"):
            return _lane_mask(name[10:], t % WARP)
        return np.asarray(values[name]()).astype(np.int32)


def _lane_mask(kind: str, lane: Array) -> Array:
    lane = lane.astype(np.uint64)
    one = np.uint64(1) << lane
    below = one - np.uint64(1)
    mask = {"eq": one, "lt": below, "le": below | one, "gt": ~(below | one), "ge": ~below}[kind]
    return mask.astype(np.uint32).view(np.int32)


class Lanes:
    """The lanes that run a piece of code now. In the frame of the whole batch: all lanes (`mask` None), or those in
    `mask` (blocks, width). Packed: those at `index` into the flattened batch, in order; then `mask` is None as well.
    With `visitors` they access the memory of other blocks: `index` are lanes of those, `visitors` those that run."""

    def __init__(
        self,
        layout: BatchLayout,
        mask: Array | None = None,
        index: Array | None = None,
        visitors: Array | None = None,
    ) -> None:
        self.layout, self.mask, self.index, self.visitors = layout, mask, index, visitors
        self.packed = index is not None
        self.shape = (1, len(index)) if index is not None else (layout.blocks, layout.width)
        self._special: dict[str, Array] = {}

    @cached_property
    def count(self) -> int:
        """The number of running threads."""
        return int(np.count_nonzero(self.mask)) if self.mask is not None else self.shape[0] * self.shape[1]

    @cached_property
    def flat(self) -> Array:
        """The indices of the running lanes in the flattened batch, in order."""
        if self.index is not None:
            return self.index
        if self.mask is None:
            return np.arange(self.shape[0] * self.shape[1])
        return np.flatnonzero(self.mask)

    @cached_property
    def places(self) -> Array:
        """The indices of the running lanes in this frame, flattened."""
        return np.arange(self.shape[1]) if self.packed else self.flat

    @cached_property
    def rows(self) -> Array:
        """The block of each lane within the batch: (blocks, 1), or (1, n) when packed."""
        if self.index is not None:
            return (self.index // self.layout.width)[None, :]
        return np.arange(self.layout.blocks)[:, None]

    @cached_property
    def threads(self) -> Array:
        """The thread number of each lane in its block: (1, width), or (1, n) when packed."""
        if self.index is not None:
            return (self.index % self.layout.width).astype(np.int32)[None, :]
        return self.layout.lane_numbers

    @cached_property
    def warps(self) -> int:
        """The number of warps in which at least one lane runs."""
        if self.index is not None:
            warps = self.index // WARP
            return int(np.count_nonzero(np.diff(warps))) + 1
        if self.mask is None:
            return self.layout.blocks * self.layout.warps
        return int(np.count_nonzero(self.mask.reshape(-1, WARP).any(axis=1)))

    @cached_property
    def running_warps(self) -> Array:
        """Whether at least one lane of each warp of the batch runs, (blocks, warps)."""
        shape = self.layout.blocks, self.layout.warps
        if self.index is not None:
            running = np.zeros(shape, np.bool_)
            running.reshape(-1)[self.index // WARP] = True
            return running
        if self.mask is None:
            return np.ones(shape, np.bool_)
        return np.asarray(self.mask.reshape(*shape, WARP).any(axis=2))

    @cached_property
    def same_in_all_blocks(self) -> bool:
        """Whether the same threads run in every block."""
        return not self.packed and (self.mask is None or bool((self.mask == self.mask[:1]).all()))

    @cached_property
    def in_a_block(self) -> tuple[Array, Array]:
        """The indices of the running lanes in a block, and their thread numbers, if the same lanes run in every
        block."""
        places = np.arange(self.shape[1]) if self.mask is None else np.flatnonzero(self.mask[0])
        return places, self.threads[0][places]

    def special(self, name: str) -> Array:
        """A special register, in this frame."""
        if name not in self._special:
            self._special[name] = self.gather(self.layout.special(name))
        return self._special[name]

    def gather(self, array: Array) -> Array:
        """Values of the whole batch, in this frame."""
        return array if self.index is None else pick(array, self.index, self.layout.width)

    @cached_property
    def first(self) -> tuple[int, int]:
        """The row and column of the first running lane in this frame."""
        place = int(self.places[0])
        return place // self.shape[1], place % self.shape[1]

    def wide(self, array: Array) -> Array:
        """The array in the full shape of this frame."""
        return array if array.shape == self.shape else np.broadcast_to(array, self.shape)

    def active(self, array: Array) -> Array:
        """The values (n,) of an array in this frame at the running lanes."""
        wide = self.wide(array)
        return wide.reshape(-1) if self.mask is None else wide[self.mask]

    def fill_inactive(self, array: Array) -> Array:
        """The array with the value of a running lane in place of all values of inactive lanes, so that those cannot
        cause faults."""
        if self.mask is None or array.size == 1:
            return array
        row, column = self.first
        mask = self.mask[:1] if array.shape[0] == 1 and self.same_in_all_blocks else self.mask
        return np.where(mask, array, array[row if array.shape[0] > 1 else 0, column if array.shape[1] > 1 else 0])

    def subset(self, selection: Array) -> Lanes | None:
        """The running lanes in `selection`, a mask in this frame; None if there are none."""
        if self.index is not None:
            where = np.broadcast_to(selection, self.shape)[0]
            visitors = None if self.visitors is None else self.visitors[where]
            return Lanes(self.layout, index=self.index[where], visitors=visitors) if where.any() else None
        mask = np.broadcast_to(selection, self.shape) if self.mask is None else self.mask & selection
        return Lanes(self.layout, mask=mask) if np.count_nonzero(mask) else None

    def cut(self, array: Array, selection: Array) -> Array:
        """An array of this frame in the frame of `subset(selection)`: packed lanes become fewer."""
        return self.wide(array)[:, self.wide(selection)[0]] if self.packed else array

    def spread(self, values: Array, fill: Any) -> Array:
        """Values (n,) of the running lanes as an array in this frame; other lanes get `fill`."""
        if self.mask is None:
            return values.reshape(self.shape)
        result = np.full(self.shape, fill, values.dtype)
        result[self.mask] = values
        return result


def pick(array: Array, index: Array, width: int) -> Array:
    """Values (1, n) of an array, which broadcasts to the batch, at indices of the flattened batch."""
    if array.size == 1:
        return array
    if array.shape[0] == 1:
        return array[:, index % width]
    if array.shape[1] == 1:
        return array[index // width].reshape(1, -1)
    return array.reshape(-1)[index][None, :]


def whole_mask(lanes: Lanes) -> Array:
    """The running lanes as a mask (blocks, width) of the batch."""
    layout = lanes.layout
    if lanes.index is None:
        full = np.ones((layout.blocks, layout.width), np.bool_)
        return full if lanes.mask is None else lanes.mask
    mask = np.zeros(layout.blocks * layout.width, np.bool_)
    mask[lanes.index] = True
    return mask.reshape(layout.blocks, layout.width)


def whole_size(lanes: Lanes) -> int:
    """Lanes of the whole batch."""
    return lanes.layout.blocks * lanes.layout.width


def union(a: Lanes, b: Lanes) -> Lanes:
    """The lanes of both, in the frame of the whole batch."""
    mask = whole_mask(a) | whole_mask(b)
    return Lanes(a.layout, mask=None if np.count_nonzero(mask) == mask.size else mask)


def bits(a: Array) -> Array:
    """An array as unsigned integers of the same bits."""
    return np.ascontiguousarray(a).view(f"u{a.dtype.itemsize}")
