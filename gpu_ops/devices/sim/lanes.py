"""Which threads of a batch run together. A batch is `blocks` × `width` lanes; `width` is a multiple of a warp.

Everything that a kernel computes is a two-dimensional array that broadcasts to a frame's shape: (1, 1) where all
lanes agree, (1, width) where all blocks do, (blocks, 1) where all threads of a block do. So agreement costs nothing.
A frame is the whole batch, or a few lanes of it packed side by side as (1, n) while they go a way of their own.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
WARP = 32


class Launched:
    """What all lanes of a batch know: grid, block, and which blocks these are."""

    def __init__(self, grid: tuple[int, int, int], block: tuple[int, int, int], first: int, blocks: int) -> None:
        self.grid, self.block, self.first, self.blocks = grid, block, first, blocks
        self.threads = block[0] * block[1] * block[2]
        self.width = -(-self.threads // WARP) * WARP
        self.warps = self.width // WARP

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
        """Which lanes are threads, (blocks, width): a block that is no multiple of a warp has lanes left over."""
        there = self.lane_numbers < self.threads
        return np.repeat(there, self.blocks, axis=0)

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
            "%laneid": lambda: t % WARP,
            "%warpid": lambda: t // WARP,
            "%smid": lambda: b * 0,
        }
        fixed = {
            **{f"%ntid.{axis}": n for axis, n in zip("xyz", self.block, strict=True)},
            **{f"%nctaid.{axis}": n for axis, n in zip("xyz", self.grid, strict=True)},
            "%nwarpid": self.warps,
            "%nsmid": 1,
            "%gridid": 0,
        }
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
    """The lanes that run a piece of code now. Of the whole batch: all of it (`mask` None), or those in `mask`
    (blocks, width). Packed: those at `index` into the flattened batch, in order; then `mask` is None as well."""

    def __init__(self, launched: Launched, mask: Array | None = None, index: Array | None = None) -> None:
        self.launched, self.mask, self.index = launched, mask, index
        self.packed = index is not None
        self.shape = (1, len(index)) if index is not None else (launched.blocks, launched.width)
        self._special: dict[str, Array] = {}

    @cached_property
    def count(self) -> int:
        """Threads that run."""
        return int(np.count_nonzero(self.mask)) if self.mask is not None else self.shape[0] * self.shape[1]

    @cached_property
    def flat(self) -> Array:
        """Where the running lanes lie in the flattened batch, in order."""
        if self.index is not None:
            return self.index
        if self.mask is None:
            return np.arange(self.shape[0] * self.shape[1])
        return np.flatnonzero(self.mask)

    @cached_property
    def places(self) -> Array:
        """Where the running lanes lie in this frame, flattened."""
        return np.arange(self.shape[1]) if self.packed else self.flat

    @cached_property
    def rows(self) -> Array:
        """The block of each lane within the batch: (blocks, 1), or (1, n) when packed."""
        if self.index is not None:
            return (self.index // self.launched.width)[None, :]
        return np.arange(self.launched.blocks)[:, None]

    @cached_property
    def threads(self) -> Array:
        """The thread number of each lane in its block: (1, width), or (1, n) when packed."""
        if self.index is not None:
            return (self.index % self.launched.width).astype(np.int32)[None, :]
        return self.launched.lane_numbers

    @cached_property
    def warps(self) -> int:
        """Warps in which at least one lane runs."""
        if self.index is not None:
            warps = self.index // WARP
            return int(np.count_nonzero(np.diff(warps))) + 1
        if self.mask is None:
            return self.launched.blocks * self.launched.warps
        return int(np.count_nonzero(self.mask.reshape(-1, WARP).any(axis=1)))

    @cached_property
    def alike(self) -> bool:
        """Whether the same threads run in every block."""
        return not self.packed and (self.mask is None or bool((self.mask == self.mask[:1]).all()))

    @cached_property
    def in_a_block(self) -> tuple[Array, Array]:
        """Where the running lanes lie in a block, and their thread numbers, when the same run in every block."""
        places = np.arange(self.shape[1]) if self.mask is None else np.flatnonzero(self.mask[0])
        return places, self.threads[0][places]

    def special(self, name: str) -> Array:
        """A special register, in this frame."""
        if name not in self._special:
            self._special[name] = self.gather(self.launched.special(name))
        return self._special[name]

    def gather(self, array: Array) -> Array:
        """Values of the whole batch, in this frame."""
        return array if self.index is None else pick(array, self.index, self.launched.width)

    @cached_property
    def first(self) -> tuple[int, int]:
        """Where the first running lane lies in this frame."""
        place = int(self.places[0])
        return place // self.shape[1], place % self.shape[1]

    def wide(self, array: Array) -> Array:
        """The array in the full shape of this frame."""
        return array if array.shape == self.shape else np.broadcast_to(array, self.shape)

    def active(self, array: Array) -> Array:
        """The values (n,) of the running lanes, of an array in this frame."""
        wide = self.wide(array)
        return wide.reshape(-1) if self.mask is None else wide[self.mask]

    def calm(self, array: Array) -> Array:
        """The array with what lanes that do not run hold replaced by what one that runs holds."""
        if self.mask is None or array.size == 1:
            return array
        row, column = self.first
        mask = self.mask[:1] if array.shape[0] == 1 and self.alike else self.mask
        return np.where(mask, array, array[row if array.shape[0] > 1 else 0, column if array.shape[1] > 1 else 0])

    def subset(self, chosen: Array) -> Lanes | None:
        """The running lanes for which `chosen`, in this frame, holds; None when there are none."""
        if self.index is not None:
            index = self.index[np.broadcast_to(chosen, self.shape)[0]]
            return Lanes(self.launched, index=index) if len(index) else None
        mask = np.broadcast_to(chosen, self.shape) if self.mask is None else self.mask & chosen
        return Lanes(self.launched, mask=mask) if mask.any() else None

    def cut(self, array: Array, chosen: Array) -> Array:
        """An array of this frame in that of `subset(chosen)`: packed lanes become fewer."""
        return self.wide(array)[:, self.wide(chosen)[0]] if self.packed else array

    def spread(self, values: Array, fill: Any) -> Array:
        """(n,) values of the running lanes as an array in this frame."""
        if self.mask is None:
            return values.reshape(self.shape)
        result = np.full(self.shape, fill, values.dtype)
        result[self.mask] = values
        return result


def pick(array: Array, index: Array, width: int) -> Array:
    """Values (1, n) at flattened places of the batch, of an array that broadcasts to it."""
    if array.size == 1:
        return array
    if array.shape[0] == 1:
        return array[:, index % width]
    if array.shape[1] == 1:
        return array[index // width].reshape(1, -1)
    return array.reshape(-1)[index][None, :]


def whole_mask(lanes: Lanes) -> Array:
    """The running lanes as a mask (blocks, width) of the batch."""
    launched = lanes.launched
    if lanes.index is None:
        full = np.ones((launched.blocks, launched.width), np.bool_)
        return full if lanes.mask is None else lanes.mask
    mask = np.zeros(launched.blocks * launched.width, np.bool_)
    mask[lanes.index] = True
    return mask.reshape(launched.blocks, launched.width)


def whole_size(lanes: Lanes) -> int:
    """Lanes of the whole batch."""
    return lanes.launched.blocks * lanes.launched.width


def union(a: Lanes, b: Lanes) -> Lanes:
    """The lanes of either, of the whole batch."""
    mask = whole_mask(a) | whole_mask(b)
    return Lanes(a.launched, mask=None if mask.all() else mask)
