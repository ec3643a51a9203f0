"""The addresses of one memory instruction, warp by warp, and the sectors and wavefronts that they cause.

An inactive lane gets the address of an active lane of its warp. So it does not change the counts, which all work on
whole rows of 32 lanes. Monotonic addresses, as in most code, are counted without examining each."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import gcd

import numpy as np

from gpu_ops.devices.sim.lanes import WARP, Array, Lanes, whole_mask
from gpu_ops.devices.sim.units.copied import bypassed, cached_wavefronts

SECTOR = 32
SECTOR_BITS, LINE_BITS = 5, 7
BANKS = 32
BANK_BYTES = 4
LOADED_BYTES = 256
"""Bytes that the lanes of a warp get from one wavefront."""


class Requests:
    """One instruction of `nbytes` per lane by all running lanes of a frame. `address` does not include the
    instruction's `offset`.

    If every block of a batch does the same, the requests of one block represent `times` blocks; all counts are those of
    all blocks.
    """

    def __init__(self, lanes: Lanes, address: Array, offset: int, nbytes: int) -> None:
        self.lanes, self.address, self.offset, self.nbytes = lanes, address, offset, nbytes
        self.even = address.size == 1 or (address.shape[1] == 1 and not lanes.packed)
        """Whether all lanes of a warp use one address."""
        same_in_all_blocks = not lanes.packed and lanes.same_in_all_blocks and address.shape[0] == 1
        self.times = lanes.shape[0] if same_in_all_blocks else 1

    def piece(self, by: int, nbytes: int, within: int = 0) -> Requests | None:
        """The requests of `nbytes` per lane at `by` bytes from these; wider ones begin at the multiple of their bytes
        at or before each address, and with `within` only lanes make them that are less than so many bytes after it."""
        if nbytes <= self.nbytes:
            return Requests(self.lanes, self.address, self.offset + by, nbytes)
        first = (self.address + self.offset) // nbytes * nbytes
        if not within:
            return Requests(self.lanes, first, 0, nbytes)
        chosen = np.broadcast_to(self.address + self.offset - first < within, self.lanes.shape)
        lanes = self.lanes.subset(chosen)
        return None if lanes is None else Requests(lanes, self.lanes.cut(first, chosen), 0, nbytes)

    @property
    def threads(self) -> int:
        """The number of active lanes."""
        return self.lanes.count

    @property
    def warps(self) -> int:
        """The number of requests: warps with at least one active lane."""
        return self.lanes.warps

    @cached_property
    def rows(self) -> Array:
        """Addresses (warps, 32) with the offset, also for inactive lanes; those of one block if all do the same."""
        raw, mask = self._raw
        return raw if mask is None else filled(raw, mask)

    @cached_property
    def _raw(self) -> tuple[Array, Array | None]:
        """Addresses (warps, 32) and which lanes are active (None: all), for warps with active lanes."""
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
        """The distance from each lane's address to the next lane's, (warps, 31)."""
        rows = self.rows
        steps: Array = rows[:, 1:] - rows[:, :-1]
        return steps

    @cached_property
    def _rough(self) -> Array:
        """Numbers of the rows in which addresses decrease, or increase by more than a sector. The other rows touch
        every sector between the first and the last."""
        jumps = self._steps.view(np.uint64) > SECTOR  # negative steps are huge as unsigned numbers
        return np.unique(np.flatnonzero(jumps) // (WARP - 1))

    @cached_property
    def _distinct(self) -> Array | int:
        """The number of different addresses in each row; a single number if it is the same for all rows."""
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
        """The 32-byte sectors that each warp touches, summed."""
        return self.warps if self.even else int(self._sectors.sum()) * self.times

    @cached_property
    def _sectors(self) -> Array:
        """The sectors of each row."""
        return self._touched(SECTOR_BITS)

    def lines(self) -> int:
        """The lines of L1, of 128 bytes, that each warp touches, summed."""
        return self.warps if self.even else int(self._touched(LINE_BITS).sum()) * self.times

    def _touched(self, bits: int) -> Array:
        """The aligned units of 1 << `bits` bytes that each row touches."""
        counts: Array = (self.rows[:, -1] >> bits) - (self.rows[:, 0] >> bits) + 1
        if len(self._rough):
            counts[self._rough] = distinct(self.rows[self._rough] >> bits)
        return counts

    def ideal_sectors(self) -> int:
        """The sectors that each warp would touch if its active lanes accessed contiguous bytes, but no more than it
        touches, summed: as in Nsight Compute, where lanes that share an address count each."""
        if self.even:
            return self.warps
        _, mask = self._raw
        lanes = WARP if mask is None else np.count_nonzero(mask, axis=1)
        return int(np.minimum(-(-lanes * self.nbytes // SECTOR), self._sectors).sum()) * self.times

    def words(self) -> int:
        """Different words of 4 bytes at which accesses of each warp begin, summed."""
        return self.warps if self.even else int(distinct(self.rows >> 2).sum()) * self.times

    def wavefronts(self, loads: bool) -> tuple[int, int]:
        """The wavefronts of shared memory, and the fewest possible. 64-bit accesses are served by half-warps, 128-bit
        ones by quarter-warps; lanes that use the same word share it. Two neighbouring parts of a load are served
        together if that takes one wavefront, and if in both all lanes i and i ^ 1, or all i and i ^ 2, have one address
        or are not both active (NVIDIA's forum, topic 77228); one address of a whole warp is served to as many lanes as
        a wavefront has bytes for, as an H200 counts. The fewest are those of contiguous bytes, as in Nsight Compute,
        but no more than there are."""
        words = max(1, self.nbytes // BANK_BYTES)
        if self.even and (words == 1 or (loads and WARP * self.nbytes <= LOADED_BYTES)):
            return self.warps, self.warps
        passes = self._passes(words, loads)
        _, mask = self._raw
        lanes = WARP if mask is None else np.count_nonzero(mask, axis=1)
        least = np.minimum(-(-lanes * self.nbytes // (BANKS * BANK_BYTES)), passes)
        return int(passes.sum()) * self.times, int(least.sum()) * self.times

    def copied_wavefronts(self, source: Array, bypass: bool) -> tuple[int, int]:
        """The wavefronts of asynchronous copies to shared memory from addresses in global memory, past L1 with
        `bypass`, and the fewest possible."""
        (at, mask), (rows, _) = (by_warp(self.lanes, a) for a in (source, self.address + self.offset))
        on = np.ones(rows.shape, np.bool_) if mask is None else mask
        passes = bypassed(at, rows, on)[1] if bypass else cached_wavefronts(at, rows, on, self.nbytes)
        least = -(-np.count_nonzero(on, axis=1) * self.nbytes // (BANKS * BANK_BYTES))
        return int(passes.sum()), int(np.minimum(least, passes).sum())

    def bypassed_sectors(self, to: Array) -> tuple[int, int]:
        """The sectors of asynchronous copies past L1 to addresses in shared memory, and the fewest possible."""
        (rows, mask), (target, _) = (by_warp(self.lanes, a) for a in (self.address + self.offset, to))
        on = np.ones(rows.shape, np.bool_) if mask is None else mask
        least = -(-np.count_nonzero(on, axis=1) * self.nbytes // SECTOR)
        return int(bypassed(rows, target, on)[0].sum()), int(least.sum())

    def _passes(self, words: int, loads: bool) -> Array:
        """The wavefronts of each row, part by part."""
        raw, mask = self._raw
        if words == 1:
            return bank_passes(raw >> 2) if mask is None else _part_passes(raw, mask, 1)
        on = np.ones(raw.shape, np.bool_) if mask is None else mask
        part, pair = (-1, WARP // words), (-1, 2 * WARP // words)
        rows, active = raw.reshape(pair), on.reshape(pair)
        passes, apart = np.zeros(len(rows), np.int64), np.ones(len(rows), np.bool_)
        if loads and len(joined := np.flatnonzero(in_pairs(rows, active))):
            passes[joined] = _part_passes(rows[joined], active[joined], words)
            apart[joined] = passes[joined] > 1
        if apart.any():
            each = _part_passes(rows[apart].reshape(part), active[apart].reshape(part), words)
            passes[apart] = each.reshape(-1, 2).sum(axis=1)
        passes = passes.reshape(len(raw), -1).sum(axis=1)
        if not loads:
            return passes
        first = np.take_along_axis(raw, on.argmax(axis=1)[:, None], axis=1)
        alike = ~(on & (raw != first)).any(axis=1)
        passes[alike] = -(-np.count_nonzero(on[alike], axis=1) * self.nbytes // LOADED_BYTES)
        return passes


def _part_passes(rows: Array, on: Array, words: int) -> Array:
    """The wavefronts of rows of lanes that are served together; 0 where no lane is active."""
    passes, running = np.zeros(len(rows), np.int64), on.any(axis=1)
    if running.any():
        first = filled(rows[running], on[running]) >> 2
        spread = first if words == 1 else (first[:, :, None] + np.arange(words)).reshape(len(first), -1)
        passes[running] = bank_passes(spread)
    return passes


def in_pairs(rows: Array, on: Array) -> Array:
    """The rows in which all active lanes i and i ^ 1 have one address, or all i and i ^ 2."""
    found = np.zeros(len(rows), np.bool_)
    for by in (1, 2):
        other = np.arange(rows.shape[1]) ^ by
        found |= ~(on & on[:, other] & (rows != rows[:, other])).any(axis=1)
    return found


def turns(lanes: Lanes, address: Array) -> Iterator[tuple[Lanes, Array]]:
    """The lanes that are left, and their addresses, where of each warp one lane of each address is done in a turn."""
    warp, where = lanes.flat // WARP, lanes.active(address)
    order = np.lexsort((where, warp))
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = (np.diff(warp[order]) != 0) | (np.diff(where[order]) != 0)
    place, turn = np.arange(len(order)), np.empty(len(order), np.int64)
    turn[order] = place - np.maximum.accumulate(np.where(fresh, place, 0))
    last = lanes.spread(turn, -1)
    for number in range(int(turn.max()) + 1):
        left = last >= number
        some = lanes.subset(left)
        assert some is not None
        yield some, lanes.cut(address, left)


def by_warp(lanes: Lanes, array: Array) -> tuple[Array, Array | None]:
    """An array of the lanes' frame as (warps, 32), and which lanes are active (None: all)."""
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
    """The rows with every element outside `mask` replaced by the nearest preceding element inside, or else by the first
    inside. Each row must have an element inside."""
    if mask.all():
        return rows
    width = mask.shape[1]
    source = np.where(mask, np.arange(width), mask.argmax(axis=1)[:, None])
    leading = np.maximum.accumulate(np.where(mask, np.arange(width), -1), axis=1)
    return np.take_along_axis(rows, np.where(leading < 0, source, leading), axis=1)


def distinct(rows: Array) -> Array:
    """The number of different values in each row."""
    steps = np.diff(rows, axis=1)
    if (steps < 0).any():
        steps = np.diff(np.sort(rows, axis=1), axis=1)
    return np.count_nonzero(steps, axis=1) + 1


def bank_passes(words: Array) -> Array:
    """The wavefronts of each row of 32 word numbers: the maximum number of distinct words in one bank."""
    steps = np.diff(words, axis=1)
    least, most = int(steps.min()), int(steps.max())
    if least == most:  # a constant stride uses BANKS / gcd banks, equally often
        return np.full(len(words), gcd(most, BANKS) if most else 1, np.int64)
    ordered = words if least >= 0 else np.sort(words, axis=1)
    fresh = np.ones(ordered.shape, np.bool_)
    fresh[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    place = np.arange(len(words))[:, None] * BANKS + (ordered & (BANKS - 1))
    counts = np.bincount(place[fresh], minlength=len(words) * BANKS).reshape(-1, BANKS)
    return counts.max(axis=1)


def split_warps(lanes: Lanes, choice: Array) -> int:
    """The number of warps whose running lanes have different values."""
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
        return np.bincount(lanes.index // lanes.layout.width, minlength=lanes.layout.blocks)
    return np.count_nonzero(whole_mask(lanes), axis=1)
