"""Which thread accessed which unit of shared memory since the last barrier: this reveals a missing barrier.

A stamp is time << 16 | thread; time counts the accesses of a batch. Each unit has the stamp of the last thread, and of
the last thread that differs from it. Two stamps are enough to know whether any other thread accessed the unit, except
between numbered barriers, where a third thread may be missed. While all blocks of a batch do the same, one row of
stamps represents all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpu_ops.devices.occupancy import BLOCK_BARRIERS
from gpu_ops.devices.sim.lanes import WARP, Array

THREAD = 0xFFFF
NEVER = -1
RIVALS = {
    "read": ("write", "atomic", "volatile write"),
    "write": ("write", "read", "atomic", "volatile write", "volatile read"),
    "atomic": ("write", "read"),
    "volatile read": ("write", "volatile write"),
    "volatile write": ("write", "read", "volatile write", "volatile read"),
}
"""The kinds of accesses, and for each those of other threads that a barrier must separate from it."""


class Order:
    """The order that numbered barriers create among the warps of a block, as vector clocks. `clocks[block, a, b]` is
    the time up to which all accesses of warp b come before the next access of warp a; `barrier_clocks` (blocks,
    BLOCK_BARRIERS, warps) collects the clocks of the warps that have arrived at a barrier."""

    def __init__(self, blocks: int, warps: int) -> None:
        self.clocks = np.zeros((blocks, warps, warps), np.int64)
        self.barrier_clocks = np.zeros((blocks, BLOCK_BARRIERS, warps), np.int64)

    @property
    def same_in_all_blocks(self) -> bool:
        """Whether all blocks have the same clocks."""
        return bool((self.clocks == self.clocks[:1]).all())

    @property
    def used(self) -> bool:
        """Whether any warp has used a numbered barrier."""
        return bool(self.clocks.any() or self.barrier_clocks.any())

    def arrive(self, rows: Array, warps: Array, barriers: Array, time: int) -> None:
        """These warps arrive at barriers, which merge their clocks."""
        np.maximum.at(self.barrier_clocks, (rows, barriers), self.clocks[rows, warps])
        self.barrier_clocks[rows, barriers, warps] = time

    def pass_barriers(self, rows: Array, warps: Array, barriers: Array) -> None:
        """These warps continue after barriers and merge the clocks of all arrived warps."""
        self.clocks[rows, warps] = np.maximum(self.clocks[rows, warps], self.barrier_clocks[rows, barriers])

    def forget(self, rows: Array, barriers: Array) -> None:
        """Reset the clocks of barriers that have opened."""
        self.barrier_clocks[rows, barriers] = 0


@dataclass(frozen=True)
class SharedAccess:
    """One access to shared memory: `threads` (n,) of blocks `rows` (n,) touch `units` (n,). `rows` is None if every
    block does the same. `places` are the lanes' indices in the flattened frame (of block 0 if `rows` is None)."""

    units: Array
    threads: Array
    rows: Array | None
    places: Array


class AccessLog:
    """Accesses of one kind. `note` only logs them; `settle` converts the log to stamps when `others` needs them."""

    def __init__(self, units: int, blocks: int) -> None:
        self.units, self.blocks = units, blocks
        self.last = np.full((1, units), NEVER, np.int64)
        self.other = np.full((1, units), NEVER, np.int64)
        self.newest = NEVER
        self._log: list[tuple[SharedAccess, int]] = []

    def note(self, touch: SharedAccess, time: int) -> None:
        """Log an access."""
        self._log.append((touch, time))
        self.newest = time

    def forget(self) -> None:
        """Drop the log, because every block has passed a barrier since."""
        self._log.clear()

    def _flat(self, touch: SharedAccess) -> Array:
        """Indices of a touch into the stamps. If blocks differ, it first creates a row of stamps for each block."""
        if touch.rows is None and self.last.shape[0] == 1:
            return touch.units
        if self.last.shape[0] == 1:
            self.last, self.other = (np.repeat(a, self.blocks, axis=0) for a in (self.last, self.other))
        if touch.rows is None:
            return (np.arange(self.blocks)[:, None] * self.units + touch.units).reshape(-1)
        return touch.rows * self.units + touch.units

    def settle(self) -> None:
        """Convert the log to stamps."""
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

    def others(
        self, touch: SharedAccess, block_start: Array, ordered_until: Callable[[Array, Array, Array], Array]
    ) -> tuple[Array, Array, Array]:
        """Conflicts of a touch: its indices (n,) that another thread has accessed since the block's barrier, the
        stamps of those accesses, and whether they are of the same warp. Accesses that a warp's or a numbered barrier
        orders before do not count: `ordered_until(rows, threads, others)` is the time up to which that holds."""
        self.settle()
        flat = self._flat(touch)
        if int(self.last.reshape(-1)[flat].max()) < int(block_start.min()) << 16:  # `other` is never later
            nothing = np.zeros(0, np.int64)
            return nothing, nothing, nothing.astype(np.bool_)
        me = touch.threads.astype(np.int64)
        rows = touch.rows if touch.rows is not None else np.zeros(len(me), np.int64)
        if len(flat) != len(me):
            me, rows = np.tile(me, self.blocks), np.repeat(np.arange(self.blocks), len(me))
        conflicts: list[Array] = []
        rivals: list[Array] = []
        for stamps in (self.last.reshape(-1)[flat], self.other.reshape(-1)[flat]):
            bad = np.flatnonzero((stamps >= (block_start[rows] << 16)) & ((stamps & THREAD) != me))
            if len(bad):
                thread = stamps[bad] & THREAD
                unordered = stamps[bad] >= (ordered_until(rows[bad], me[bad], thread) << 16)
                conflicts.append(bad[unordered])
                rivals.append(stamps[bad][unordered])
        if not conflicts:
            nothing = np.zeros(0, np.int64)
            return nothing, nothing, nothing.astype(np.bool_)
        places, first = np.unique(np.concatenate(conflicts), return_index=True)
        found = np.concatenate(rivals)[first]
        return places, found, (found & THREAD) // WARP == me[places] // WARP
