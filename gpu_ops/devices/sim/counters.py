"""Counts of hardware events by source line: sectors, wavefronts, instructions, divergence, collisions.

All counts follow from addresses and lanes alone; they are requests and sectors, never cycles. A request is one memory
instruction of one warp, a sector 32 aligned bytes, a wavefront one pass over the 32 banks of shared memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from gpu_ops.devices.coalescing import Rule, transactions
from gpu_ops.devices.sass.listing import SassLine
from gpu_ops.devices.sass.widths import Pieces
from gpu_ops.devices.sim.footprint import Crossings, Footprint
from gpu_ops.devices.sim.lanes import WARP, Array, Lanes
from gpu_ops.devices.sim.paths import Paths
from gpu_ops.devices.sim.ptx.decided import Raced
from gpu_ops.devices.sim.ptx.emit import BlockCode, Code
from gpu_ops.devices.sim.ptx.program import Place
from gpu_ops.devices.sim.ptx.sites import Site
from gpu_ops.devices.sim.requests import Requests, by_block, by_warp, distinct, filled, split_warps, turns
from gpu_ops.devices.sim.traces import VERBS, Recorder, block_numbers
from gpu_ops.devices.sim.traffic.observer import Observer
from gpu_ops.plan import Space

Counts = defaultdict[str, float]
REQUESTS = [f"{space}_{kind}_requests" for space in ("global", "shared") for kind in ("load", "store", "atomic")]


class Counters:
    """Counts of one launch of a `grid` of blocks. `weight` is the number of batches that the current batch represents;
    `rule` adds the transactions that an older GPU would have made; a `recorder` gets every access to trace. `pieces`
    are the requests of accesses that the machine code makes in another way than the PTX, by the PTX's line; a
    `footprint` gets the sectors of global memory that each touches; then `sass`, the machine code, says what the lines
    of the PTX cost. An `observer` receives all events. The requests of the PTX's lines in `unsettled` depend on which
    thread comes first, and are counted as such as well; those in `retried` are atomic operations that the machine code
    tries again where another thread was faster, and those of `raced` depend on it where blocks load elements, of
    `unit` bytes, that others write."""

    def __init__(
        self,
        code: Code,
        grid: tuple[int, int, int],
        rule: Rule = "today",
        recorder: Recorder | None = None,
        pieces: Mapping[int, Pieces] | None = None,
        footprint: Footprint | None = None,
        sass: Sequence[SassLine] = (),
        observer: Observer | None = None,
        unsettled: frozenset[int] = frozenset(),
        retried: frozenset[int] = frozenset(),
        raced: Raced | None = None,
        unit: int = 1,
    ) -> None:
        self.observer, self.watched = observer, observer is not None and observer.wants_values
        self.pieces, self.footprint, self.unsettled, self.retried = pieces or {}, footprint, unsettled, retried
        self.raced, self.crossings = raced, Crossings(unit)
        self.paths = None if footprint is None else Paths([b.block for b in code.blocks], sass, code.spin_blocks)
        self.code, self.grid, self.rule, self.recorder = code, grid, rule, recorder
        self.sites: dict[int, Counts] = {}
        self.runs: dict[int, Counts] = {}
        self.weight = 1.0
        self.loads: dict[int, Array] = {}
        """Global loads by threads of each block of a batch, (blocks,), by the batch's first block."""

    # Reported by blocks and branches

    def count_block(self, block: BlockCode, lanes: Lanes) -> None:
        """Count a run of a basic block."""
        counts = self.runs.setdefault(block.block.number, _nothing())
        self._add(counts, "executions", lanes.warps)
        self._add(counts, "threads", lanes.count)
        if self.paths is not None:
            self.paths.note(block.block.number, lanes)
        if self.observer is not None:
            self.observer.ran(block, lanes)

    def count_branch(self, block: BlockCode, lanes: Lanes, choice: Array) -> None:
        """Count a branch: lanes go where `choice`, in their frame, sends them (a truth value or a number)."""
        divergent = split_warps(lanes, choice)
        if divergent:
            counts = self.runs.setdefault(block.block.number, _nothing())
            self._add(counts, "divergent_branches", divergent)

    # Reported by memory

    def global_access(self, lanes: Lanes, site: Site, address: Array, to: Array | None = None) -> None:
        """Count an access to global memory; `address` does not include the site's offset. Copies past L1 go `to`
        addresses of shared memory."""
        requests = Requests(lanes, address, site.offset, site.nbytes)
        counts, kind = self._site(site), VERBS[site.verb]
        if site.row in self.retried:
            self._add(counts, "unsettled_requests", requests.warps)
        for made in self._made(requests, site):
            self._add(counts, f"global_{kind}_requests", made.warps)
            sectors = (made.sectors(), made.ideal_sectors()) if to is None else made.bypassed_sectors(to)
            self._add(counts, f"global_{kind}_sectors", sectors[0])
            self._add(counts, f"global_{kind}_ideal_sectors", sectors[1])
            if self.footprint is not None:
                self._add(counts, f"global_{kind}_lines", made.lines())
            if self.observer is not None:
                self.observer.requested(made, site, self.weight)
        self._add(counts, f"global_{kind}_threads", requests.threads)
        if kind == "atomic":
            self._collisions(counts, requests)
        elif self.rule != "today":
            self._older(counts, kind, lanes, site, address)
        if kind == "load":
            first, loads = lanes.layout.first, by_block(lanes)
            self.loads[first] = self.loads[first] + loads if first in self.loads else loads
        self._tell("global", lanes, site, address)
        if self.raced is not None and (site.row in self.raced.loads or site.row in self.raced.writes):
            self.crossings.note(site.row in self.raced.writes, lanes, site, address)
        if self.footprint is not None:
            self.footprint.note(kind, lanes, site, address)

    def end_batch(self) -> None:
        """Count what follows from all accesses of the batch that has just run."""
        if self.footprint is not None and self.paths is not None:
            self.footprint.end_batch(self.weight)
            self.paths.end_batch(self.weight)
        if self.observer is not None:
            self.observer.end_batch()

    def end_launch(self) -> None:
        """Count as such what depends on which block comes first, now that all batches have run."""
        if self.raced is None or not self.crossings.found():
            return
        for number, counts in self.sites.items():
            if self.code.sites[number].row in self.raced.accesses:
                counts["unsettled_requests"] = sum(counts[name] for name in REQUESTS)

    def _made(self, requests: Requests, site: Site) -> Sequence[Requests]:
        """The requests that the machine code makes of an access."""
        if site.row in self.unsettled:
            self._add(self._site(site), "unsettled_requests", requests.warps)
        pieces = self.pieces.get(site.row)
        if pieces is None:
            return (requests,)
        return [made for piece in pieces if (made := requests.piece(*piece)) is not None]

    def _older(self, counts: Counts, kind: str, lanes: Lanes, site: Site, address: Array) -> None:
        rows, mask = by_warp(lanes, address.astype(np.int64, copy=False))
        number, traffic = transactions(rows + site.offset, mask, site.nbytes, self.rule)
        self._add(counts, f"global_{kind}_transactions", number)
        self._add(counts, f"global_{kind}_transaction_bytes", traffic)

    def shared_access(
        self, lanes: Lanes, site: Site, address: Array, source: Array | None = None, bypass: bool = False
    ) -> None:
        """Count an access to shared memory; `address` does not include the site's offset. Asynchronous copies have a
        `source`, their addresses in global memory, and may `bypass` L1."""
        requests = Requests(lanes, address, site.offset, site.nbytes)
        counts, kind = self._site(site), VERBS[site.verb]
        if site.row in self.retried:
            self._try(counts, lanes, site, address)
        else:
            for made in self._made(requests, site):
                found = made.wavefronts(kind == "load") if source is None else made.copied_wavefronts(source, bypass)
                self._pass(counts, kind, made, found)
        if kind == "atomic":
            self._collisions(counts, requests)
        self._tell("shared", lanes, site, address)

    def _pass(self, counts: Counts, kind: str, made: Requests, found: tuple[int, int], passes: int = 1) -> bool:
        """Count requests to shared memory, each of whose wavefronts passes so many times; `found` are all of them and
        the fewest possible. Returns whether each request has one."""
        wavefronts, least = found
        self._add(counts, f"shared_{kind}_requests", made.warps)
        self._add(counts, f"shared_{kind}_threads", made.threads)
        self._add(counts, "shared_wavefronts", wavefronts * passes)
        self._add(counts, "shared_ideal_wavefronts", least * passes)
        return wavefronts == made.warps

    def _try(self, counts: Counts, lanes: Lanes, site: Site, address: Array) -> None:
        """Count an atomic operation of shared memory that is a loop in the machine code: lanes load the old value, and
        swap it for the new one if no other thread was faster. A swap passes twice, as an H200 counts. Other warps of
        the block may be faster, and swaps with bank conflicts are not measured: those depend on turns."""
        settled, swaps = lanes.layout.width == WARP, 0
        for some, at in turns(lanes, address):
            made = Requests(some, at, site.offset, site.nbytes)
            self._pass(counts, "load", made, made.wavefronts(True))
            settled &= self._pass(counts, "atomic", made, made.wavefronts(False), passes=2)
            swaps += made.warps
        if not settled:
            self._add(counts, "unsettled_requests", swaps)

    def constant_access(self, lanes: Lanes, site: Site, address: Array) -> None:
        """Count an access to constant memory, where each distinct word of a warp is a separate fetch."""
        requests = Requests(lanes, address, site.offset, site.nbytes)
        counts = self._site(site)
        self._add(counts, "constant_requests", requests.warps)
        self._add(counts, "constant_words", requests.words())
        self._add(counts, "constant_threads", requests.threads)
        self._tell("constant", lanes, site, address)

    def local_access(self, lanes: Lanes, site: Site, address: Array) -> None:
        """Count an access to local memory; `address` does not include the site's offset. The 32 lanes' words at one
        offset are contiguous in memory, so lanes that use the same offset touch whole sectors."""
        counts = self._site(site)
        self._add(counts, "local_requests", lanes.warps)
        self._add(counts, "local_bytes", lanes.count * site.nbytes)
        rows, mask = by_warp(lanes, address.astype(np.int64, copy=False))
        sectors = ((rows + site.offset) >> 2) * 4 + (np.arange(WARP) >> 3)
        if mask is not None:
            running = mask.any(axis=1)
            sectors = filled(sectors[running], mask[running])
        words = max(1, site.nbytes // 4)
        self._add(counts, "local_sectors", int(distinct(sectors).sum()) * words)
        if self.observer is not None:
            self.observer.accessed("local", lanes, site, address)

    def texture_access(self, lanes: Lanes, site: Site) -> None:
        """Count fetches but no sectors, because the layout of textures in memory is not published."""
        counts = self._site(site)
        self._add(counts, "texture_requests", lanes.warps)
        self._add(counts, "texture_threads", lanes.count)

    def _tell(self, space: Space, lanes: Lanes, site: Site, address: Array) -> None:
        """Tell whoever looks at single accesses."""
        if self.recorder is not None:
            self.recorder.note(space, lanes, site, address)
        if self.observer is not None:
            self.observer.accessed(space, lanes, site, address)

    def _collisions(self, counts: Counts, requests: Requests) -> None:
        self._add(counts, "atomics", requests.threads)
        self._add(counts, "atomic_collisions", requests.threads - requests.distinct())

    def _site(self, site: Site) -> Counts:
        return self.sites.setdefault(site.number, _nothing())

    def _add(self, counts: Counts, name: str, value: float) -> None:
        counts[name] += float(value) * self.weight

    # Results

    def by_place(self) -> Mapping[Place, Mapping[str, int]]:
        """All counts by position in the source."""
        by_place: dict[Place, Counts] = {}
        for number, counts in self.runs.items():
            block = self.code.blocks[number].block
            for line in block.lines:
                own = by_place.setdefault(line.place, _nothing())
                own["warp_instructions"] += counts["executions"]
                own["thread_instructions"] += counts["threads"]
            if block.end in ("branch", "choose", "exit") and block.place.line:
                own = by_place.setdefault(block.place, _nothing())
                own["warp_instructions"] += counts["executions"]
                own["thread_instructions"] += counts["threads"]
            if counts["divergent_branches"]:
                by_place.setdefault(block.place, _nothing())["divergent_branches"] += counts["divergent_branches"]
        for number, counts in self.sites.items():
            own = by_place.setdefault(self.code.sites[number].place, _nothing())
            for name, value in counts.items():
                own[name] += value
        return {place: {k: round(v) for k, v in counts.items() if v} for place, counts in by_place.items()}

    def totals(self) -> dict[str, int]:
        """The sums over all positions."""
        return totals(self.by_place())

    def costs(self) -> dict[str, int]:
        """What the time of a launch depends on: see `Footprint` and `Paths`."""
        if self.footprint is None or self.paths is None:
            return {}
        executions = {number: counts["executions"] for number, counts in self.runs.items()}
        return {**self.footprint.counts(), **self.paths.counts(executions)}

    def block_loads(self) -> dict[str, int]:
        """Global loads by the threads of the grid's first block, of its middle block, and of its last. The middle one
        is missing if no counted batch contains it."""
        result = {}
        for name, number in block_numbers(self.grid).items():
            for first, loads in self.loads.items():
                if first <= number < first + len(loads):
                    result[f"block_loads_{name}"] = int(loads[number - first])
        return result


def totals(by_place: Mapping[Place, Mapping[str, int]]) -> dict[str, int]:
    """The sums over all positions."""
    total: defaultdict[str, int] = defaultdict(int)
    for counts in by_place.values():
        for name, value in counts.items():
            total[name] += value
    return dict(total)


def _nothing() -> Counts:
    return defaultdict(float)
