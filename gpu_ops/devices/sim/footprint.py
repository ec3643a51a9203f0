"""What blocks touch of global memory: the distinct sectors, of which caches can save some, and whether blocks load what
others write.

A sector that a block loads again can come from L1, and one that another block of the same batch has loaded from L2. So
the sectors that are distinct within a block go to L2, and those that are distinct within a batch to DRAM.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from gpu_ops.devices.sim.lanes import Array, Lanes, whole_mask
from gpu_ops.devices.sim.ptx.sites import Site

SECTOR_BITS = 5
BLOCK_BITS = 42
"""Bits of a sector's number; those of the block in its batch are above them."""
MOST = 1 << 20
"""Notes of a batch that are kept before repeated ones are dropped."""


class Footprint:
    """Counts of one launch: `block_load_sectors` are distinct within each block, summed; `batch_load_sectors` within
    each batch; the same of stores and atomics."""

    def __init__(self) -> None:
        self._notes: defaultdict[str, list[Array]] = defaultdict(list)
        self._kept: defaultdict[str, int] = defaultdict(int)
        self._counts: defaultdict[str, float] = defaultdict(float)

    def note(self, kind: str, lanes: Lanes, site: Site, address: Array) -> None:
        """Note an access by the lanes; `address` does not include the site's offset."""
        keys = _keys(lanes, address, site.offset)
        self._notes[kind].append(keys)
        self._kept[kind] += len(keys)
        if self._kept[kind] > MOST:
            self._notes[kind] = [_distinct(np.concatenate(self._notes[kind]))]
            self._kept[kind] = 0

    def end_batch(self, weight: float) -> None:
        """Count the batch that has just run, which represents `weight` batches."""
        for kind, notes in self._notes.items():
            sectors = _distinct(np.concatenate(notes))
            self._counts[f"block_{kind}_sectors"] += weight * len(sectors)
            sectors &= (1 << BLOCK_BITS) - 1
            self._counts[f"batch_{kind}_sectors"] += weight * len(_distinct(sectors))
        self._notes.clear()
        self._kept.clear()

    def counts(self) -> dict[str, int]:
        """The counts of all batches."""
        return {name: round(value) for name, value in self._counts.items()}


class Crossings:
    """Whether a block loads an element that another block writes in the same launch. Elements are of `unit` bytes."""

    def __init__(self, unit: int) -> None:
        self._unit = unit
        self._notes: dict[bool, list[tuple[Array, Array, Array]]] = {True: [], False: []}
        self._kept = 0

    def note(self, writes: bool, lanes: Lanes, site: Site, address: Array) -> None:
        """Note an access by the lanes; `address` does not include the site's offset."""
        units = (lanes.active(address).astype(np.int64) + site.offset) // self._unit
        blocks = lanes.active(lanes.rows + lanes.layout.first)
        each = max(1, site.nbytes // self._unit)
        units, blocks = (units[:, None] + np.arange(each)).reshape(-1), np.repeat(blocks, each)
        self._notes[writes].append((units, blocks, blocks))
        self._kept += len(units)
        if self._kept > MOST:
            self._kept = -sum(len(self._elements(kind)[0]) for kind in (True, False))

    def found(self) -> bool:
        """Whether there is such an element."""
        if not self._notes[True] or not self._notes[False]:
            return False
        (loaded, *first), (written, *second) = self._elements(False), self._elements(True)
        _, mine, its = np.intersect1d(loaded, written, assume_unique=True, return_indices=True)
        least, most = (
            pick(a[mine], b[its]) for pick, a, b in zip((np.minimum, np.maximum), first, second, strict=True)
        )
        return bool((least != most).any())

    def _elements(self, writes: bool) -> tuple[Array, Array, Array]:
        """The noted elements, each once, with the lowest and the highest block."""
        notes = self._notes[writes]
        if not notes:
            return (np.empty(0, np.int64),) * 3
        units, least, most = (np.concatenate(each) for each in zip(*notes, strict=True))
        order = np.argsort(units, kind="stable")
        first = np.ones(len(units), np.bool_)
        first[1:] = np.diff(units[order]) != 0
        starts = np.flatnonzero(first)
        lowest, highest = np.minimum.reduceat(least[order], starts), np.maximum.reduceat(most[order], starts)
        self._notes[writes] = [(units[order][starts], lowest, highest)]
        return self._notes[writes][0]


def _distinct(keys: Array) -> Array:
    """The distinct ones in order: sorting is much faster than numpy.unique, which hashes."""
    return _fresh(np.sort(keys))


def _fresh(keys: Array) -> Array:
    """The keys that differ from the one before."""
    first = np.ones(len(keys), np.bool_)
    first[1:] = keys[1:] != keys[:-1]
    return keys[first]


def _keys(lanes: Lanes, address: Array, offset: int) -> Array:
    """The distinct (block, sector) of the running lanes, as one number each."""
    wide = lanes.wide(address.astype(np.int64, copy=False))
    if lanes.index is not None:
        block, sectors = lanes.index // lanes.layout.width, (wide[0] + offset) >> SECTOR_BITS
    else:
        mask = np.broadcast_to(whole_mask(lanes), (lanes.layout.blocks, lanes.layout.width))
        block = np.broadcast_to(np.arange(lanes.layout.blocks)[:, None], mask.shape)[mask]
        sectors = (np.broadcast_to(wide, mask.shape)[mask] + offset) >> SECTOR_BITS
    return _fresh(sectors + (block.astype(np.int64) << BLOCK_BITS))
