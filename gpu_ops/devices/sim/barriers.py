"""Where threads of a block meet. At a barrier with a number only some of them do: those who arrive go on, those who
wait stay until as many have come as the barrier is for."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gpu_ops.devices.occupancy import BLOCK_BARRIERS
from gpu_ops.devices.sim.findings import Findings, say
from gpu_ops.devices.sim.lanes import WARP, Array, Lanes, Launched
from gpu_ops.devices.sim.ptx import Place
from gpu_ops.devices.sim.shared import SharedMemory
from gpu_ops.errors import KernelError


@dataclass(frozen=True)
class Waiting:
    """Lanes that wait at one place: `mask` (blocks, width), and where the barrier has a number of its own, that and its
    count of threads (arrays that broadcast to the mask)."""

    place: Place
    lanes: Lanes
    mask: Array
    number: Array = field(default_factory=lambda: np.zeros((1, 1), np.int32))
    threads: Array = field(default_factory=lambda: np.zeros((1, 1), np.int32))

    def at(self, what: Array, where: Array | None = None) -> Array:
        """What the lanes that wait have of it, or those of `where`."""
        found: Array = np.broadcast_to(what, self.mask.shape)[self.mask if where is None else where]
        return found


class Meetings:
    """Who has come to which barrier of which block."""

    def __init__(self, launched: Launched, shared: SharedMemory) -> None:
        self.shared = shared
        self.came = np.zeros((launched.blocks, BLOCK_BARRIERS), np.int64)

    def arrive(self, lanes: Lanes, place: Place, number: Array, threads: Array) -> None:
        """These lanes come and go on. Raises KernelError for a barrier that no block has."""
        wide = (np.broadcast_to(a, lanes.shape) for a in (lanes.rows, lanes.threads, number, threads))
        rows, thread, numbers, needed = (lanes.active(a) for a in wide)
        self._count(self.came, rows, numbers, place)
        self.shared.time += 1
        self.shared.order.leave(*self._warps(rows, thread, numbers), self.shared.time)
        over = self.came[rows, numbers] >= needed  # opens though nobody waits
        self._close(rows[over], numbers[over])

    def open(self, waiting: list[Waiting]) -> list[Array]:
        """Which lanes of each go on: those at a barrier to which all have come. Raises as `arrive` does."""
        here = self._here(waiting)
        opened = [one.mask & (self._at(here, one) >= one.threads) for one in waiting]
        order = self.shared.order
        gone = []
        for one, go in zip(waiting, opened, strict=True):
            rows, thread = np.nonzero(go)
            gone.append(self._warps(rows, thread, one.at(one.number, go)))
        self.shared.time += 1
        for who in gone:
            order.leave(*who, self.shared.time)
        for who in gone:
            order.take(*who)
        for rows, _, numbers in gone:
            self._close(rows, numbers)
        self.shared.uneven |= not order.alike
        return opened

    def report(self, waiting: list[Waiting], findings: Findings) -> None:
        """These wait in vain."""
        here = self._here(waiting)
        for one in waiting:
            came, threads, number = (one.at(a)[0] for a in (self._at(here, one), one.threads, one.number))
            text = f"waits for {threads} threads at barrier {number}, to which {came} have come, and no more will come"
            findings.add("barrier that never opens", one.place, one.lanes, np.flatnonzero(one.mask), say(text))
        self.came[:] = 0

    def _close(self, rows: Array, numbers: Array) -> None:
        """These barriers have opened, and begin anew."""
        self.came[rows, numbers] = 0
        self.shared.order.forget(rows, numbers)

    def _here(self, waiting: list[Waiting]) -> Array:
        """Threads that have come, those who wait among them."""
        here = self.came.copy()
        for one in waiting:
            self._count(here, np.nonzero(one.mask)[0], one.at(one.number), one.place)
        return here

    @staticmethod
    def _count(counts: Array, rows: Array, numbers: Array, place: Place) -> None:
        wrong = numbers[(numbers < 0) | (numbers >= BLOCK_BARRIERS)]
        if len(wrong):
            there = f"a block has barriers 0 to {BLOCK_BARRIERS - 1}, not {int(wrong[0])}"
            raise KernelError(f"{place.file}:{place.line}: {there}; use one of those.")
        np.add.at(counts, (rows, numbers), 1)

    @staticmethod
    def _at(counts: Array, one: Waiting) -> Array:
        """The count of each lane's barrier; of lanes that do not wait it says nothing."""
        found: Array = counts[np.arange(counts.shape[0])[:, None], np.where(one.mask, one.number, 0)]
        return found

    def _warps(self, rows: Array, thread: Array, numbers: Array) -> tuple[Array, Array, Array]:
        """Blocks, warps and barriers, each once."""
        warps = self.shared.order.known.shape[1]
        each = np.unique((rows.astype(np.int64) * warps + thread // WARP) * BLOCK_BARRIERS + numbers)
        return each // BLOCK_BARRIERS // warps, each // BLOCK_BARRIERS % warps, each % BLOCK_BARRIERS


def report_divergence(waiting: list[Waiting], findings: Findings) -> None:
    """Threads of one block that wait for the whole block at different barriers."""
    if len(waiting) < 2:
        return
    at = sum(one.mask.any(axis=1).astype(np.int64) for one in waiting)
    split = np.asarray(at > 1)[:, None]
    for one in waiting:
        others = ", ".join(f"line {o.place.line}" for o in waiting if o is not one)
        text = f"threads of one block wait here while others wait at {others}"
        findings.add("barrier in divergent code", one.place, one.lanes, np.flatnonzero(one.mask & split), say(text))
