"""Clusters of blocks: their barrier, and accesses to the shared memory of another block of the cluster.

An address in shared memory has the number of a block of the cluster, plus one, in its bits from 24 on; 0 is the own
block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from gpu_ops.devices.sim.counters import Counters
from gpu_ops.devices.sim.findings import Findings, say
from gpu_ops.devices.sim.hazards import RIVALS, THREAD, AccessLog, SharedAccess
from gpu_ops.devices.sim.lanes import Array, BatchLayout, Lanes
from gpu_ops.devices.sim.ptx.emit_memory import CLUSTER_SHIFT
from gpu_ops.devices.sim.ptx.sites import Site

OFFSET = (1 << CLUSTER_SHIFT) - 1


class Memory(Protocol):
    """What the check of an access reads of shared memory."""

    time: int
    unit: int
    findings: Findings

    def name(self, byte: int) -> str: ...


class Clusters:
    """The barriers of a batch's clusters, and who accessed which unit of shared memory since. `arrivals` (blocks,
    width) counts how often a thread arrived, `opened` (blocks,) how often the barrier of its cluster opened."""

    def __init__(self, layout: BatchLayout, units: int) -> None:
        self.layout = layout
        self.arrivals = np.zeros((layout.blocks, layout.width), np.int64)
        self.opened = np.zeros(layout.blocks, np.int64)
        self.start = np.zeros(layout.blocks, np.int64)
        self.logs = {kind: AccessLog(units, layout.blocks) for kind in ("read", "write", "atomic")}
        self.visits: dict[int, tuple[int, Site, int]] = {}

    def arrive(self, lanes: Lanes) -> None:
        self.arrivals.reshape(-1)[lanes.flat] += 1

    def complete(self, alive: Array) -> Array:
        """The rows of clusters of which all living threads have arrived once more: their barrier opens."""
        least = np.where(alive, self.arrivals, np.iinfo(np.int64).max).min(axis=1)
        whole = least[self.layout.neighbours].min(axis=1)
        rows = np.flatnonzero((whole > self.opened) & alive.any(axis=1))
        self.opened[rows] += 1
        return rows

    def passes(self, mask: Array) -> Array:
        """Those of the waiting lanes whose barrier has opened."""
        return mask & (self.arrivals <= self.opened[:, None])

    def check(self, lanes: Lanes, site: Site, touch: SharedAccess, kind: str, shared: Memory) -> None:
        """Check an access for conflicts with other blocks of the cluster since its last barrier, and record it."""
        rows, units, places = touch.rows, touch.units, touch.places
        if rows is None:  # all blocks do the same
            each = np.arange(self.layout.blocks)
            rows, units = np.repeat(each, len(units)), np.tile(units, len(each))
            places = (each[:, None] * lanes.shape[1] + places).reshape(-1)
        ranks = self.layout.ranks[rows, 0]
        if lanes.visitors is not None:
            visitors = lanes.visitors[places]
            ranks = self.layout.ranks[visitors // self.layout.width, 0]
            away = visitors // self.layout.width != rows
            for row, who in zip(rows[away], visitors[away], strict=True):
                self.visits[int(row)] = shared.time, site, int(who)
        mine = SharedAccess(units, ranks.astype(np.int64), rows, places)
        for rival in RIVALS[kind]:
            if rival in self.logs and self.logs[rival].newest >= int(self.start.min()):
                bad, who, _ = self.logs[rival].others(mine, self.start, _never)
                if len(bad):
                    did = {"read": "read", "write": "wrote", "atomic": "changed"}[rival]
                    what = shared.name(int(units[bad[0]]) * shared.unit)
                    text = (
                        f"{site.verb} {what}, which block {int(who[0]) & THREAD} of the cluster {did} with "
                        "no barrier of the cluster in between"
                    )
                    title = f"{kind}-after-{rival} hazard in a cluster"
                    shared.findings.add(title, site.place, lanes, np.unique(places[bad]), say(text))
        self.logs[kind].note(mine, shared.time)

    def report_ended(self, findings: Findings) -> None:
        """Report accesses to the memory of a block that no barrier of the cluster keeps from ending before."""
        for row, (time, site, visitor) in self.visits.items():
            if time >= self.start[row]:
                rank = int(self.layout.ranks[row, 0])
                text = (
                    f"{site.verb} shared memory of block {rank} of the cluster, which may have ended: "
                    "no barrier of the cluster follows"
                )
                lanes = Lanes(self.layout, index=np.array([visitor]))
                findings.add("block may have ended", site.place, lanes, lanes.places, say(text))


def _never(rows: Array, threads: Array, others: Array) -> Array:
    """Only the barrier of a cluster orders what its blocks do."""
    return np.zeros(len(rows), np.int64)


class ClusterOperations:
    """The part of a batch that accesses the shared memory of a cluster."""

    if TYPE_CHECKING:
        layout: BatchLayout
        counters: Counters | None
        findings: Findings
        shared: Any
        memory: Any
        alive: Array

        def load_shared(self, lanes: Lanes, site: Site, address: Array, dtype: Any, count: int) -> list[Array]: ...
        def store_shared(self, lanes: Lanes, site: Site, address: Array, dtype: Any, values: list[Array]) -> None: ...
        def atomic_shared(self, *given: Any) -> Array | None: ...

    def load_cluster(self, lanes: Lanes, site: Site, address: Array, dtype: Any, count: int) -> list[Array]:
        there = self._there(lanes, site, address)
        if there is None:
            return self.load_shared(lanes, site, address, dtype, count)
        far, offset = there
        loaded = self.load_shared(far, site, offset, dtype, count)
        return [lanes.spread(np.broadcast_to(one, far.shape).reshape(-1), 0) for one in loaded]

    def store_cluster(self, lanes: Lanes, site: Site, address: Array, dtype: Any, values: list[Array]) -> None:
        there = self._there(lanes, site, address)
        if there is None:
            self.store_shared(lanes, site, address, dtype, values)
        else:
            far, offset = there
            self.store_shared(far, site, offset, dtype, [lanes.active(v)[None] for v in values])

    def atomic_cluster(
        self, lanes: Lanes, site: Site, address: Array, dtype: Any, name: str, values: list[Array], needs_result: bool
    ) -> Array | None:
        there = self._there(lanes, site, address)
        if there is None:
            return self.atomic_shared(lanes, site, address, dtype, name, values, needs_result)
        far, offset = there
        old = self.atomic_shared(far, site, offset, dtype, name, [lanes.active(v)[None] for v in values], needs_result)
        return None if old is None else lanes.spread(np.broadcast_to(old, far.shape).reshape(-1), 0)

    def _there(self, lanes: Lanes, site: Site, address: Array) -> tuple[Lanes, Array] | None:
        """The lanes as those of the blocks that they access, and their addresses there; None if all are their own."""
        whole = lanes.active(address).astype(np.int64) + site.offset
        number = whole >> CLUSTER_SHIFT
        if not number.any():
            return None
        rows = lanes.active(np.broadcast_to(lanes.rows, lanes.shape))
        neighbours = self.layout.neighbours
        wrong = (number < 0) | (number > neighbours.shape[1])
        if wrong.any():
            text = (
                f"{site.verb} shared memory of a block that the cluster of {neighbours.shape[1]} blocks does not have"
            )
            self.findings.add("out of bounds", site.place, lanes, lanes.places[wrong], say(text))
        other = (number > 0) & ~wrong
        target = np.where(other, neighbours[rows, np.where(other, number - 1, 0)], rows)
        ended = ~np.asarray(self.alive.any(axis=1))[target]
        if ended.any():
            text = f"{site.verb} shared memory of a block of the cluster that has ended"
            self.findings.add("block may have ended", site.place, lanes, lanes.places[ended], say(text))
        width = self.layout.width
        threads = lanes.active(np.broadcast_to(lanes.threads, lanes.shape))
        visitors = lanes.flat if (target != rows).any() else None
        far = Lanes(self.layout, index=target * width + threads, visitors=visitors)
        return far, ((whole & OFFSET) - site.offset)[None].astype(address.dtype)

    def map_rank(self, address: Array, rank: Array) -> Array:
        """mapa: the address of the same variable in the block of that number."""
        kind = address.dtype.type
        return (address & ~kind(0x7F << CLUSTER_SHIFT)) | ((rank.astype(kind) + kind(1)) << kind(CLUSTER_SHIFT))

    def rank_of(self, lanes: Lanes, address: Array) -> Array:
        """getctarank: the number of the block that an address is in."""
        number = (address.astype(np.int64) >> CLUSTER_SHIFT) & 0x7F
        own = lanes.special("%cluster_ctarank")
        return np.where(number == 0, own, number - 1).astype(np.int32)

    def arrive_cluster(self, lanes: Lanes) -> None:
        """These lanes arrive at the barrier of their cluster."""
        self.shared.clusters.arrive(lanes)
        if self.memory.races is not None:
            self.memory.races.fence(lanes)
            self.memory.races.signal(lanes, reads=False, writes=True)

    def left_cluster(self, lanes: Lanes) -> None:
        """These lanes go on after the barrier of their cluster."""
        if self.memory.races is not None:
            self.memory.races.signal(lanes, reads=True, writes=False)
