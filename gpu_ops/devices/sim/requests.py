"""The addresses of one memory instruction, warp by warp, and what hardware makes of them.

A lane that rests is given the address of one of its warp that runs: so it adds nothing, and everything is counted on
whole rows. Addresses that rise evenly, as those of plain code do, are counted without looking at each.
"""

from __future__ import annotations

from functools import cached_property
from math import gcd

import numpy as np

from gpu_ops.devices.sim.lanes import WARP, Array, Lanes, whole_mask

SECTOR = 32
BANKS = 32
BANK_BYTES = 4


class Requests:
    """One instruction of `nbytes` a lane by all running lanes of a frame. `address` lacks the instruction's `offset`.

    Where every block of a batch does the same, the requests of one stand for `times` blocks; all counts of the whole
    class are for all of them.
    """

    def __init__(self, lanes: Lanes, address: Array, offset: int, nbytes: int) -> None:
        self.lanes, self.address, self.offset, self.nbytes = lanes, address, offset, nbytes
        self.even = address.size == 1 or (address.shape[1] == 1 and not lanes.packed)
        """Whether all lanes of a warp use one address."""
        alike = not lanes.packed and lanes.alike and address.shape[0] == 1
        self.times = lanes.shape[0] if alike else 1

    @property
    def threads(self) -> int:
        """Lanes that take part."""
        return self.lanes.count

    @property
    def warps(self) -> int:
        """Requests: warps of which at least one lane takes part."""
        return self.lanes.warps

    @cached_property
    def rows(self) -> Array:
        """Addresses (warps, 32) with the offset, lanes that rest filled in; one block's where all do the same."""
        raw, mask = self._raw
        return raw if mask is None else filled(raw, mask)

    @cached_property
    def _raw(self) -> tuple[Array, Array | None]:
        """Addresses (warps, 32) and which lanes run (None: all), of warps in which any does."""
        lanes = self.lanes
        address = self.address.astype(np.int64, copy=False)
        if self.times > 1:
            rows = np.broadcast_to(address, (1, lanes.shape[1])).reshape(-1, WARP)
            mask = None if lanes.mask is None else lanes.mask[0].reshape(-1, WARP)
        else:
            rows, mask = by_warp(lanes, address)
        if mask is not None:
            running = mask.any(axis=1)
            if not running.all():
                rows, mask = rows[running], mask[running]
        return (rows + self.offset if self.offset else rows), mask

    @cached_property
    def _steps(self) -> Array:
        """From each lane's address to the next one's, (warps, 31)."""
        rows = self.rows
        steps: Array = rows[:, 1:] - rows[:, :-1]
        return steps

    @cached_property
    def _rough(self) -> Array:
        """Numbers of the rows in which addresses fall, or rise by more than a sector. In others, the smooth ones, no
        sector between the first and the last is left out."""
        jumps = self._steps.view(np.uint64) > SECTOR  # those that fall are huge without a sign
        return np.unique(np.flatnonzero(jumps) // (WARP - 1))

    @cached_property
    def _distinct(self) -> Array | int:
        """Different addresses of each row; one number where it is the same for all."""
        if np.count_nonzero(self._steps) == self._steps.size:
            if not len(self._rough):
                return WARP
            counts = np.full(len(self.rows), WARP)
        else:
            counts = np.count_nonzero(self._steps, axis=1) + 1
        counts[self._rough] = distinct(self.rows[self._rough])
        return counts

    def distinct(self) -> int:
        """Different addresses within each warp, summed."""
        if self.even:
            return self.warps
        counts = self._distinct
        return (counts * len(self.rows) if isinstance(counts, int) else int(counts.sum())) * self.times

    def sectors(self) -> int:
        """Aligned pieces of 32 bytes that each warp touches, summed."""
        if self.even:
            return self.warps
        counts = (self.rows[:, -1] >> 5) - (self.rows[:, 0] >> 5) + 1
        if len(self._rough):
            counts[self._rough] = distinct(self.rows[self._rough] >> 5)
        return int(counts.sum()) * self.times

    def ideal_sectors(self) -> int:
        """The sectors that the bytes each warp touches would fill, side by side."""
        if self.even:
            return self.warps
        counts = self._distinct
        if isinstance(counts, int):
            return -(-counts * self.nbytes // SECTOR) * len(self.rows) * self.times
        return int((-(-counts * self.nbytes // SECTOR)).sum()) * self.times

    def words(self) -> int:
        """Different words of 4 bytes at which accesses of each warp begin, summed."""
        return self.warps if self.even else int(distinct(self.rows >> 2).sum()) * self.times

    def wavefronts(self) -> tuple[int, int]:
        """Passes over the banks of shared memory, and the least there could be. 64-bit accesses go by half-warps,
        128-bit ones by quarters; lanes that use the same word share it."""
        words = max(1, self.nbytes // BANK_BYTES)
        if words == 1 and self.even:
            return self.warps, self.warps
        raw, mask = self._raw
        rows = raw.reshape(-1, WARP // words)
        if mask is not None:
            parts = mask.reshape(-1, WARP // words)
            running = parts.any(axis=1)
            rows = filled(rows[running], parts[running])
        first = rows >> 2
        spread = first if words == 1 else (first[:, :, None] + np.arange(words)).reshape(len(first), -1)
        return int(bank_passes(spread).sum()) * self.times, len(rows) * self.times


def by_warp(lanes: Lanes, array: Array) -> tuple[Array, Array | None]:
    """An array of the lanes' frame as (warps, 32), and which of them run (None: all)."""
    if lanes.index is None:
        mask = None if lanes.mask is None else lanes.mask.reshape(-1, WARP)
        return lanes.wide(array).reshape(-1, WARP), mask
    warps, place = np.unique(lanes.index // WARP, return_inverse=True)
    rows = np.zeros((len(warps), WARP), array.dtype)
    mask = np.zeros((len(warps), WARP), np.bool_)
    rows[place, lanes.index % WARP] = lanes.wide(array)[0]
    mask[place, lanes.index % WARP] = True
    return rows, mask


def filled(rows: Array, mask: Array) -> Array:
    """The rows with every place outside `mask` replaced by the nearest one inside before it, else the first inside.
    Each row must have one."""
    if mask.all():
        return rows
    width = mask.shape[1]
    source = np.where(mask, np.arange(width), mask.argmax(axis=1)[:, None])
    leading = np.maximum.accumulate(np.where(mask, np.arange(width), -1), axis=1)
    return np.take_along_axis(rows, np.where(leading < 0, source, leading), axis=1)


def distinct(rows: Array) -> Array:
    """Different values in each row."""
    steps = np.diff(rows, axis=1)
    if (steps < 0).any():
        steps = np.diff(np.sort(rows, axis=1), axis=1)
    return np.count_nonzero(steps, axis=1) + 1


def bank_passes(words: Array) -> Array:
    """For each row of 32 word numbers: the most different ones that fall into one bank."""
    steps = np.diff(words, axis=1)
    least, most = int(steps.min()), int(steps.max())
    if least == most:  # a constant stride meets BANKS / gcd banks, equally often
        return np.full(len(words), gcd(most, BANKS) if most else 1, np.int64)
    ordered = words if least >= 0 else np.sort(words, axis=1)
    fresh = np.ones(ordered.shape, np.bool_)
    fresh[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    place = np.arange(len(words))[:, None] * BANKS + (ordered & (BANKS - 1))
    counts = np.bincount(place[fresh], minlength=len(words) * BANKS).reshape(-1, BANKS)
    return counts.max(axis=1)


def split_warps(lanes: Lanes, choice: Array) -> int:
    """Warps whose running lanes hold different values."""
    if choice.size == 1 or (choice.shape[1] == 1 and not lanes.packed):
        return 0
    rows, mask = by_warp(lanes, choice)
    if mask is not None:
        running = mask.any(axis=1)
        rows = filled(rows[running], mask[running])
    return int(np.count_nonzero((rows[:, 1:] != rows[:, :-1]).any(axis=1)))


def by_block(lanes: Lanes) -> Array:
    """Running lanes of each block of the batch, (blocks,)."""
    if lanes.index is not None:
        return np.bincount(lanes.index // lanes.launched.width, minlength=lanes.launched.blocks)
    return np.count_nonzero(whole_mask(lanes), axis=1)
