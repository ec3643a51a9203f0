"""What orders the accesses of the threads of a block: barriers of the block, of a warp or a part of it, numbered ones,
and flags after fences. Time counts the accesses of a batch."""

from __future__ import annotations

import numpy as np

from gpu_ops.devices.sim.hazards import Order
from gpu_ops.devices.sim.lanes import WARP, Array, BatchLayout, Lanes


class BlockOrder:
    """The times of barriers and flags in the blocks of a batch."""

    def __init__(self, layout: BatchLayout, checks: bool) -> None:
        self.blocks = layout.blocks
        self.checks = checks
        self.time = 0
        self.block_start = np.zeros(self.blocks, np.int64)
        self.start = 0  # the earliest of these
        self.warp_start = np.zeros((self.blocks, layout.warps), np.int64)
        self.lane_clocks: Array | None = None  # (blocks, warps, 32, 32), from the first barrier of a part of a warp on
        self.order = Order(self.blocks, layout.warps)
        self.uneven = False
        self.signals: Array | None = None  # (3, blocks, warps): see `signal`

    def warp_barrier(self, lanes: Lanes, mask: Array, alive: Array) -> None:
        """These lanes have met those that their `mask` names. One that names all living lanes of its warp orders the
        whole warp."""
        self.time += 1
        wide = (np.broadcast_to(a, lanes.shape) for a in (lanes.rows, lanes.threads, mask))
        rows, threads, names = map(lanes.active, wide)
        warps, named = threads // WARP, (names[:, None] >> np.arange(WARP) & 1).astype(np.bool_)
        whole = (named | ~alive.reshape(self.blocks, -1, WARP)[rows, warps]).all(axis=1)
        self.warp_start[rows[whole], warps[whole]] = self.time
        if not whole.all():
            part = ~whole
            self._merge_clocks(rows[part], warps[part], threads[part] % WARP, named[part])

    def _merge_clocks(self, rows: Array, warps: Array, lanes: Array, named: Array) -> None:
        """Each of the lanes (n,) knows from now on what those that it names (n, 32) know: of each other lane of the
        warp, the time up to which its accesses are ordered before."""
        if self.lane_clocks is None:
            self.lane_clocks = np.zeros((*self.warp_start.shape, WARP, WARP), np.int64)
        known = np.where(named, self.time, 0)
        for other in range(WARP):
            theirs = self.lane_clocks[rows, warps, other]
            known = np.where(named[:, other, None], np.maximum(known, theirs), known)
        self.lane_clocks[rows, warps, lanes] = known

    def _ordered_until(self, rows: Array, threads: Array, others: Array) -> Array:
        """Up to which time the accesses of other threads precede what these threads do now: those of the same warp by
        its barriers, those of another one by numbered barriers."""
        mine, its = threads // WARP, others // WARP
        within = self.warp_start[rows, mine]
        if self.lane_clocks is not None:
            within = np.maximum(within, self.lane_clocks[rows, mine, threads % WARP, others % WARP])
        until = np.where(mine == its, within, self.order.clocks[rows, mine, its])
        if self.signals is not None:
            _, released, learned = self.signals
            until = np.maximum(until, np.minimum(released[rows, its], learned[rows, mine]))
        return np.asarray(until)

    def fence(self, lanes: Lanes) -> None:
        """The warps of these lanes order what they access before and after, for the other warps of their blocks."""
        if self.checks:
            if self.signals is None:
                self.signals = np.full((3, *self.warp_start.shape), -1, np.int64)
            self.time += 1
            self.signals[0][self._warps(lanes)] = self.time

    def signal(self, lanes: Lanes, released: bool, learned: bool) -> None:
        """These lanes set a flag or saw one. `signals` has the times of each warp's last fence, of the last one before
        it set a flag, and of the last flag that it saw."""
        if self.signals is not None:
            warps = self._warps(lanes)
            if released:
                self.signals[1][warps] = self.signals[0][warps]
            if learned:
                self.signals[2][warps] = self.time

    def _warps(self, lanes: Lanes) -> tuple[Array, Array]:
        rows, threads = (lanes.active(np.broadcast_to(a, lanes.shape)) for a in (lanes.rows, lanes.threads))
        return rows, threads // WARP
