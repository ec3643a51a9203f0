"""Who touched which unit of shared memory since the last barrier, so that a missing barrier is found out.

A stamp is time << 16 | thread; time counts the accesses of a batch. For each unit the last thread and the last one
that differs from it are kept, which is enough to know whether anybody else was there; among barriers that only some
warps meet at, a third one may be overlooked. While all blocks of a batch do the same, one row of stamps stands for all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpu_ops.devices.occupancy import BLOCK_BARRIERS
from gpu_ops.devices.sim.lanes import WARP, Array

THREAD = 0xFFFF
NEVER = -1


class Order:
    """What lies before what by barriers that only some of a block's warps meet at. `known` (blocks, warps, warps) says
    up to which time a warp knows what another did; `left` (blocks, BLOCK_BARRIERS, warps) what those who have come to a
    barrier bring along."""

    def __init__(self, blocks: int, warps: int) -> None:
        self.known = np.zeros((blocks, warps, warps), np.int64)
        self.left = np.zeros((blocks, BLOCK_BARRIERS, warps), np.int64)

    @property
    def alike(self) -> bool:
        """Whether all blocks are at the same point."""
        return bool((self.known == self.known[:1]).all())

    @property
    def used(self) -> bool:
        """Whether any such barrier has been met at."""
        return bool(self.known.any() or self.left.any())

    def leave(self, rows: Array, warps: Array, barriers: Array, time: int) -> None:
        """These warps have come, and leave all that they know and did."""
        np.maximum.at(self.left, (rows, barriers), self.known[rows, warps])
        self.left[rows, barriers, warps] = time

    def take(self, rows: Array, warps: Array, barriers: Array) -> None:
        """These warps go on with what others have left."""
        self.known[rows, warps] = np.maximum(self.known[rows, warps], self.left[rows, barriers])

    def forget(self, rows: Array, barriers: Array) -> None:
        """All who came to a barrier have gone on."""
        self.left[rows, barriers] = 0


@dataclass(frozen=True)
class Touch:
    """One access: `units` (n,) of shared memory, touched by `threads` (n,) of blocks `rows` (n,); `rows` is None
    where every block does the same. `places` are the lanes in the flattened frame (of block 0 when rows is None)."""

    units: Array
    threads: Array
    rows: Array | None
    places: Array


class Trail:
    """Accesses of one kind. They are only written down; stamps are made when somebody asks."""

    def __init__(self, units: int, blocks: int) -> None:
        self.units, self.blocks = units, blocks
        self.last = np.full((1, units), NEVER, np.int64)
        self.other = np.full((1, units), NEVER, np.int64)
        self.newest = NEVER
        self._log: list[tuple[Touch, int]] = []

    def note(self, touch: Touch, time: int) -> None:
        """Somebody was there."""
        self._log.append((touch, time))
        self.newest = time

    def forget(self) -> None:
        """All that is in the log lies before a barrier of every block."""
        self._log.clear()

    def _flat(self, touch: Touch) -> Array:
        """Places of a touch in the stamps; makes a row for each block where blocks differ."""
        if touch.rows is None and self.last.shape[0] == 1:
            return touch.units
        if self.last.shape[0] == 1:
            self.last, self.other = (np.repeat(a, self.blocks, axis=0) for a in (self.last, self.other))
        if touch.rows is None:
            return (np.arange(self.blocks)[:, None] * self.units + touch.units).reshape(-1)
        return touch.rows * self.units + touch.units

    def settle(self) -> None:
        """Make stamps of the log."""
        for touch, time in self._log:
            flat = self._flat(touch)
            stamps = np.int64(time << 16) | touch.threads.astype(np.int64)
            if len(flat) != len(stamps):
                stamps = np.tile(stamps, self.blocks)
            last, other = self.last.reshape(-1), self.other.reshape(-1)
            before = last[flat]
            differs = (before >= 0) & ((before & THREAD) != (stamps & THREAD))
            other[flat[differs]] = before[differs]
            last[flat] = stamps
            second = last[flat] != stamps
            other[flat[second]] = stamps[second]
        self._log.clear()

    def others(self, touch: Touch, block_start: Array, warp_start: Array, known: Array) -> tuple[Array, Array, Array]:
        """Where somebody else was since the block's barrier: places (n,) in the touch, the other threads, and
        whether they are of the same warp (then since the last __syncwarp as well; of another, since what this warp
        knows of it)."""
        self.settle()
        flat = self._flat(touch)
        if int(self.last.reshape(-1)[flat].max()) < int(block_start.min()) << 16:  # `other` is never later
            nothing = np.zeros(0, np.int64)
            return nothing, nothing, nothing.astype(np.bool_)
        me = touch.threads.astype(np.int64)
        rows = touch.rows if touch.rows is not None else np.zeros(len(me), np.int64)
        if len(flat) != len(me):
            me, rows = np.tile(me, self.blocks), np.repeat(np.arange(self.blocks), len(me))
        found: list[Array] = []
        who: list[Array] = []
        for stamps in (self.last.reshape(-1)[flat], self.other.reshape(-1)[flat]):
            bad = np.flatnonzero((stamps >= (block_start[rows] << 16)) & ((stamps & THREAD) != me))
            if len(bad):
                thread = stamps[bad] & THREAD
                mine, its = me[bad] // WARP, thread // WARP
                since = np.where(mine == its, warp_start[rows[bad], mine], known[rows[bad], mine, its])
                kept = stamps[bad] >= (since << 16)
                found.append(bad[kept])
                who.append(thread[kept])
        if not found:
            nothing = np.zeros(0, np.int64)
            return nothing, nothing, nothing.astype(np.bool_)
        places, first = np.unique(np.concatenate(found), return_index=True)
        threads = np.concatenate(who)[first]
        return places, threads, threads // WARP == me[places] // WARP
