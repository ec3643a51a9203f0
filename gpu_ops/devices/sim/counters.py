"""What hardware would do, counted by source line: sectors, wavefronts, instructions, divergence, collisions.

All counts follow from addresses and lanes alone; they are requests and sectors, never cycles. A request is one memory
instruction of one warp, a sector 32 aligned bytes, a wavefront one pass over the 32 banks of shared memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from gpu_ops.devices.sim.emit import BlockCode, Code
from gpu_ops.devices.sim.lanes import WARP, Array, Lanes, whole_mask
from gpu_ops.devices.sim.ptx import Place
from gpu_ops.devices.sim.sites import Site

SECTOR = 32
BANKS = 32
BANK_BYTES = 4
Counts = defaultdict[str, float]
GLOBAL_KINDS = {"reads": "load", "writes": "store", "changes": "atomic"}


class Counters:
    """Counts of one launch. `lines` maps a place to its counts by name; `weight` is what each batch stands for."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self.sites: dict[int, Counts] = {}
        self.runs: dict[int, Counts] = {}
        self.weight = 1.0

    # What blocks and branches report

    def ran(self, block: BlockCode, lanes: Lanes) -> None:
        """A basic block ran."""
        counts = self.runs.setdefault(block.block.number, _nothing())
        self._add(counts, "executions", lanes.warps)
        self._add(counts, "threads", lanes.count)

    def branched(self, block: BlockCode, lanes: Lanes, taken: Array) -> None:
        """The lanes of some warps went different ways."""
        rows = _warps(lanes, lanes.wide(taken), False)
        mask = _masks(lanes)
        split = (rows & mask).any(axis=1) & (~rows & mask).any(axis=1)
        divergent = int(np.count_nonzero(split))
        if divergent:
            counts = self.runs.setdefault(block.block.number, _nothing())
            self._add(counts, "divergent_branches", divergent)

    # What memory reports

    def global_access(self, lanes: Lanes, site: Site, address: Array) -> None:
        """Addresses of global memory, before the site's offset."""
        groups = _Groups(lanes, address)
        sectors = (groups.addresses + site.offset) >> 5
        kind = GLOBAL_KINDS.get(site.verb, "load")
        counts = self._site(site)
        self._add(counts, f"global_{kind}_requests", groups.warps * groups.times)
        self._add(counts, f"global_{kind}_sectors", groups.distinct(sectors).sum() * groups.times)
        touched = groups.distinct(groups.addresses) * site.nbytes
        self._add(counts, f"global_{kind}_ideal_sectors", (-(-touched // SECTOR)).sum() * groups.times)
        self._add(counts, f"global_{kind}_threads", lanes.count)
        if kind == "atomic":
            self._collisions(counts, groups, lanes)

    def shared_access(self, lanes: Lanes, site: Site, address: Array) -> None:
        """Offsets into shared memory, before the site's offset."""
        groups = _Groups(lanes, address)
        kind = GLOBAL_KINDS.get(site.verb, "load")
        counts = self._site(site)
        wavefronts, least = groups.wavefronts(site.offset, site.nbytes)
        self._add(counts, f"shared_{kind}_requests", groups.warps * groups.times)
        self._add(counts, "shared_wavefronts", wavefronts * groups.times)
        self._add(counts, "shared_ideal_wavefronts", least * groups.times)
        self._add(counts, f"shared_{kind}_threads", lanes.count)
        if kind == "atomic":
            self._collisions(counts, groups, lanes)

    def constant_access(self, lanes: Lanes, site: Site, address: Array) -> None:
        """Addresses of constant memory: each distinct word of a warp is fetched by itself."""
        groups = _Groups(lanes, address)
        counts = self._site(site)
        self._add(counts, "constant_requests", groups.warps * groups.times)
        words = groups.distinct((groups.addresses + site.offset) >> 2)
        self._add(counts, "constant_words", words.sum() * groups.times)

    def local_access(self, lanes: Lanes, site: Site) -> None:
        """Local memory lies so that lanes which use the same offset touch neighbouring words."""
        counts = self._site(site)
        self._add(counts, "local_requests", lanes.warps)
        self._add(counts, "local_bytes", lanes.count * site.nbytes)

    def _collisions(self, counts: Counts, groups: _Groups, lanes: Lanes) -> None:
        self._add(counts, "atomics", lanes.count)
        same = lanes.count - groups.distinct(groups.addresses).sum() * groups.times
        self._add(counts, "atomic_collisions", same)

    def _site(self, site: Site) -> Counts:
        return self.sites.setdefault(site.number, _nothing())

    def _add(self, counts: Counts, name: str, value: float) -> None:
        counts[name] += float(value) * self.weight

    # The result

    def by_place(self) -> Mapping[Place, Mapping[str, int]]:
        """All counts by the place in the source that they belong to."""
        found: dict[Place, Counts] = {}
        for number, counts in self.runs.items():
            block = self.code.blocks[number].block
            for line in block.lines:
                own = found.setdefault(line.place, _nothing())
                own["warp_instructions"] += counts["executions"]
                own["thread_instructions"] += counts["threads"]
            if block.end in ("branch", "choose", "exit") and block.place.line:
                own = found.setdefault(block.place, _nothing())
                own["warp_instructions"] += counts["executions"]
                own["thread_instructions"] += counts["threads"]
            if counts["divergent_branches"]:
                found.setdefault(block.place, _nothing())["divergent_branches"] += counts["divergent_branches"]
        for number, counts in self.sites.items():
            own = found.setdefault(self.code.sites[number].place, _nothing())
            for name, value in counts.items():
                own[name] += value
        return {place: {k: round(v) for k, v in counts.items() if v} for place, counts in found.items()}

    def totals(self) -> dict[str, int]:
        """The sums over all places."""
        return totals(self.by_place())


def totals(by_place: Mapping[Place, Mapping[str, int]]) -> dict[str, int]:
    """The sums over all places."""
    total: defaultdict[str, int] = defaultdict(int)
    for counts in by_place.values():
        for name, value in counts.items():
            total[name] += value
    return dict(total)


def _nothing() -> Counts:
    return defaultdict(float)


class _Groups:
    """Addresses of an access warp by warp: (warps, 32), with -1 where a lane does not run. Where all blocks do the
    same, those of one block stand for `times` blocks."""

    def __init__(self, lanes: Lanes, address: Array) -> None:
        self.times = 1
        if not lanes.packed and address.shape[0] == 1 and lanes.alike:
            self.times = lanes.shape[0]
            width = lanes.shape[1]
            mask = None if lanes.mask is None else lanes.mask[0].reshape(-1, WARP)
            rows = np.broadcast_to(address, (1, width)).reshape(-1, WARP)
        else:
            mask = _masks(lanes) if lanes.mask is not None or lanes.packed else None
            rows = _warps(lanes, lanes.wide(address), -1)
        if mask is not None:
            running = mask.any(axis=1)
            rows, mask = rows[running], mask[running]
            rows = np.where(mask, rows, -1)
        self.mask = mask
        self.addresses: Array = rows.astype(np.int64, copy=False)
        self.warps = len(rows)

    def distinct(self, values: Array) -> Array:
        """How many different values the running lanes of each warp hold."""
        return distinct(values, self.mask)

    def wavefronts(self, offset: int, nbytes: int) -> tuple[int, int]:
        """Passes over the banks that all accesses take, and the least they could."""
        words = max(1, nbytes // BANK_BYTES)
        lanes_each = WARP // words  # 64-bit accesses go by half-warps, 128-bit ones by quarters
        rows = self.addresses.reshape(-1, lanes_each)
        mask = None if self.mask is None else self.mask.reshape(-1, lanes_each)
        if mask is not None:
            running = mask.any(axis=1)
            rows, mask = rows[running], mask[running]
        first = (rows + offset) >> 2
        spread = first if words == 1 else (first[:, :, None] + np.arange(words)).reshape(len(first), -1)
        wide = mask if mask is None or words == 1 else np.repeat(mask, words, axis=1)
        return int(_bank_passes(spread, wide).sum()), len(rows)


def distinct(values: Array, mask: Array | None) -> Array:
    """Different values in each row, of the places where `mask` holds."""
    if mask is None:
        steps = np.diff(values, axis=1)
        if not (steps < 0).any():
            return np.count_nonzero(steps, axis=1) + 1
        values = np.sort(values, axis=1)
        return np.count_nonzero(np.diff(values, axis=1), axis=1) + 1
    values = np.sort(np.where(mask, values, np.iinfo(np.int64).min), axis=1)
    fresh = np.diff(values, axis=1) != 0
    return np.count_nonzero(fresh, axis=1) + (values[:, 0] != np.iinfo(np.int64).min)


def _bank_passes(words: Array, mask: Array | None) -> Array:
    """For each row: the most different words that fall into one bank."""
    if mask is None:
        steps = np.diff(words, axis=1)
        if (steps == 1).all() or (steps == 0).all():
            return np.ones(len(words), np.int64)
    low = np.iinfo(np.int64).min
    ordered = np.sort(words if mask is None else np.where(mask, words, low), axis=1)
    fresh = np.ones(ordered.shape, np.bool_)
    fresh[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    if mask is not None:
        fresh &= ordered != low
    place = np.arange(len(words))[:, None] * BANKS + (ordered & (BANKS - 1))
    counts = np.bincount(place[fresh], minlength=len(words) * BANKS).reshape(-1, BANKS)
    return counts.max(axis=1)


def _warps(lanes: Lanes, wide: Array, fill: Any) -> Array:
    """An array of the frame's full shape, warp by warp (warps, 32)."""
    if lanes.index is None:
        return wide.reshape(-1, WARP)
    warps, place = np.unique(lanes.index // WARP, return_inverse=True)
    rows = np.full((len(warps), WARP), fill, wide.dtype)
    rows[place, lanes.index % WARP] = wide[0]
    return rows


def _masks(lanes: Lanes) -> Array:
    """Which lanes run, warp by warp, in the order of `_warps`."""
    if lanes.index is None:
        return whole_mask(lanes).reshape(-1, WARP)
    warps, place = np.unique(lanes.index // WARP, return_inverse=True)
    rows = np.zeros((len(warps), WARP), np.bool_)
    rows[place, lanes.index % WARP] = True
    return rows
