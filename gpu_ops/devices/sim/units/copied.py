"""What asynchronous copies from global to shared memory cost, as Nsight Compute counted 24 patterns of addresses on an
H200.

A copy that goes through L1 (`cp.async.ca`) moves words from bank to bank: lanes that read from one bank or write to one
take turns, also those that read the same word. One that does not (`cp.async.cg`) moves sectors as they come from L2.
"""

from __future__ import annotations

import numpy as np

from gpu_ops.devices.sim.lanes import WARP, Array

LINE, SECTOR, BYPASSED = 128, 32, 16
"""Bytes of a line and of a sector, and those that each lane copies past L1."""


def cached_wavefronts(source: Array, target: Array, on: Array, nbytes: int) -> Array:
    """The wavefronts of each row of lanes (rows, 32) that copy `nbytes` from their `source` to their `target`: those of
    64 bits go by half-warps, those of 128 bits by quarters."""
    together, places = WARP * 4 // max(4, nbytes), LINE // nbytes
    found = np.zeros(len(source), np.int64)
    for first in range(0, WARP, together):
        part = slice(first, first + together)
        reads, writes = source[:, part] // nbytes % places, target[:, part] // nbytes % places
        most = [_most(banks, on[:, part], places) for banks in (reads, writes)]
        turns = np.maximum(*most)
        both = np.flatnonzero(np.minimum(*most) > 1)
        turns[both] = _turns(reads[both], writes[both], on[both, part], places)
        found += turns
    return found


def _most(banks: Array, on: Array, places: int) -> Array:
    """How many lanes of each row have the bank that most have."""
    at = (np.arange(len(banks))[:, None] * places + banks)[on]
    return np.bincount(at, minlength=len(banks) * places).reshape(-1, places).max(axis=1, initial=0)


def _turns(reads: Array, writes: Array, on: Array, places: int) -> Array:
    """The turns of each row in which a lane waits for those before it that have one of its banks."""
    left, rows = on.copy(), np.arange(len(on))
    found = np.zeros(len(on), np.int64)
    while left.any():
        found += left.any(axis=1)
        taken = np.zeros((2, len(on), places), np.bool_)
        for lane in range(on.shape[1]):
            here, banks = left[:, lane].copy(), (reads[:, lane], writes[:, lane])
            free = here & ~taken[0, rows, banks[0]] & ~taken[1, rows, banks[1]]
            for used, bank in zip(taken, banks, strict=True):
                used[rows, bank] |= here
            left[:, lane] &= ~free
    return found


def bypassed(source: Array, target: Array, on: Array) -> tuple[Array, Array]:
    """The sectors and the wavefronts of each row of lanes (rows, 32) that copy 16 bytes past L1.

    A sector is moved once for each sector of shared memory that gets a part of it in the same halves. Sectors of a line
    that go to one line by the same distance, or all four of it in any order, take a wavefront together, if the same
    halves of them are moved.
    """
    row, lane = np.nonzero(on)
    reads, writes = (a[row, lane] // BYPASSED for a in (source, target))
    moved, sector_of = np.unique(
        np.stack((row, reads // 2, writes // 2, (reads ^ writes) & 1)), axis=1, return_inverse=True
    )
    halves = np.zeros(moved.shape[1], np.int64)
    np.bitwise_or.at(halves, sector_of.reshape(-1), 1 << (reads & 1))
    where, reads, writes, turned = moved
    key = np.stack((where, reads // 4, writes // 4, turned, halves))
    groups, group_of = np.unique(key, axis=1, return_inverse=True)
    group_of = group_of.reshape(-1)
    apart = _distinct(group_of, writes - reads, groups.shape[1])
    whole = np.minimum(*(_distinct(group_of, at, groups.shape[1]) for at in (reads, writes))) == LINE // SECTOR
    sectors = np.bincount(where, minlength=len(on))
    return sectors, np.bincount(groups[0], np.where(whole, 1, apart), len(on)).astype(np.int64)


def _distinct(group_of: Array, values: Array, count: int) -> Array:
    """How many different values each group has."""
    found: Array = np.bincount(np.unique(np.stack((group_of, values)), axis=1)[0], minlength=count)
    return found
