"""Barriers of a block. At a numbered barrier only some threads synchronise: a thread that only arrives (bar.arrive)
continues, and a thread that waits (bar.sync) stays until the barrier's count of threads has arrived."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from gpu_ops.devices.occupancy import BLOCK_BARRIERS
from gpu_ops.devices.sim.findings import Findings, say
from gpu_ops.devices.sim.lanes import WARP, Array, BatchLayout, Lanes, whole_mask
from gpu_ops.devices.sim.ptx.program import Place
from gpu_ops.devices.sim.shared import SharedMemory
from gpu_ops.errors import KernelError, counted

DIVERGENT = "barrier in divergent code"


@dataclass(frozen=True)
class WaitingLanes:
    """Lanes that wait at one instruction: `mask` (blocks, width). For a numbered barrier also its `number` and its
    count of `threads` (arrays that broadcast to the mask)."""

    place: Place
    lanes: Lanes
    mask: Array
    number: Array = field(default_factory=lambda: np.zeros((1, 1), np.int32))
    threads: Array = field(default_factory=lambda: np.zeros((1, 1), np.int32))

    def at(self, what: Array, where: Array | None = None) -> Array:
        """The values of the waiting lanes, or of the lanes in `where`."""
        values: Array = np.broadcast_to(what, self.mask.shape)[self.mask if where is None else where]
        return values


class NamedBarriers:
    """The state of all numbered barriers: `arrivals` (blocks, BLOCK_BARRIERS) counts the arrived threads."""

    def __init__(self, layout: BatchLayout, shared: SharedMemory) -> None:
        self.shared = shared
        self.arrivals = np.zeros((layout.blocks, BLOCK_BARRIERS), np.int64)

    def arrive(self, lanes: Lanes, place: Place, number: Array, threads: Array) -> None:
        """These lanes arrive and continue. Raises KernelError for an invalid barrier number."""
        wide = (np.broadcast_to(a, lanes.shape) for a in (lanes.rows, lanes.threads, number, threads))
        rows, thread, numbers, count = (lanes.active(a) for a in wide)
        self._count(self.arrivals, rows, numbers, place)
        self.shared.time += 1
        self.shared.order.arrive(*self._warps(rows, thread, numbers), self.shared.time)
        over = self.arrivals[rows, numbers] >= count  # it may open although no lane waits
        self._close(rows[over], numbers[over])

    def open(self, waiting: list[WaitingLanes]) -> list[Array]:
        """The lanes of each that may continue: those at a complete barrier. Raises as `arrive` does."""
        arrivals = self._all_arrivals(waiting)
        opened = [one.mask & (self._at(arrivals, one) >= one.threads) for one in waiting]
        order = self.shared.order
        departures = []
        for one, go in zip(waiting, opened, strict=True):
            rows, thread = np.nonzero(go)
            departures.append(self._warps(rows, thread, one.at(one.number, go)))
        self.shared.time += 1
        for who in departures:
            order.arrive(*who, self.shared.time)
        for who in departures:
            order.pass_barriers(*who)
        for rows, _, numbers in departures:
            self._close(rows, numbers)
        self.shared.uneven |= not order.same_in_all_blocks
        return opened

    def report(self, waiting: list[WaitingLanes], findings: Findings) -> None:
        """Report lanes that wait for threads that will never arrive."""
        arrivals = self._all_arrivals(waiting)
        for one in waiting:
            come, threads, number = (one.at(a)[0] for a in (self._at(arrivals, one), one.threads, one.number))
            text = f"waits for {threads:,} threads at barrier {number}, where only {come:,} arrive"
            findings.add("barrier deadlock", one.place, one.lanes, np.flatnonzero(one.mask), say(text))
        self.arrivals[:] = 0

    def _close(self, rows: Array, numbers: Array) -> None:
        """Reset barriers that have opened."""
        self.arrivals[rows, numbers] = 0
        self.shared.order.forget(rows, numbers)

    def _all_arrivals(self, waiting: list[WaitingLanes]) -> Array:
        """The arrived threads, including those that wait, for each barrier."""
        arrivals = self.arrivals.copy()
        for one in waiting:
            self._count(arrivals, np.nonzero(one.mask)[0], one.at(one.number), one.place)
        return arrivals

    @staticmethod
    def _count(counts: Array, rows: Array, numbers: Array, place: Place) -> None:
        wrong = numbers[(numbers < 0) | (numbers >= BLOCK_BARRIERS)]
        if len(wrong):
            allowed = f"a block has barriers 0 to {BLOCK_BARRIERS - 1}, not {int(wrong[0])}"
            raise KernelError(f"{place.file}:{place.line}: {allowed}; use one of those.")
        np.add.at(counts, (rows, numbers), 1)

    @staticmethod
    def _at(counts: Array, one: WaitingLanes) -> Array:
        """The count of each lane's barrier; undefined for lanes that do not wait."""
        values: Array = counts[np.arange(counts.shape[0])[:, None], np.where(one.mask, one.number, 0)]
        return values

    def _warps(self, rows: Array, thread: Array, numbers: Array) -> tuple[Array, Array, Array]:
        """The distinct triples of block, warp and barrier."""
        warps = self.shared.order.clocks.shape[1]
        each = np.unique((rows.astype(np.int64) * warps + thread // WARP) * BLOCK_BARRIERS + numbers)
        return each // BLOCK_BARRIERS // warps, each // BLOCK_BARRIERS % warps, each % BLOCK_BARRIERS


class Around:
    """Lanes that went around barriers where other lanes of their block did not: see `barriers_around`."""

    def __init__(self, around: Mapping[int, Sequence[tuple[int, bool]]]) -> None:
        self.around = around
        self.gone: dict[int, Array] = {}

    def note(self, branch: int, lanes: Lanes, condition: Array) -> None:
        """These lanes part at a branch."""
        for barrier, way in self.around.get(branch, ()):
            going, coming = lanes.subset(condition == way), lanes.subset(condition != way)
            if going is not None and coming is not None:
                gone = whole_mask(going) & whole_mask(coming).any(axis=1, keepdims=True)
                self.gone[barrier] = self.gone.get(barrier, False) | gone

    def report(self, waiting: Mapping[int, WaitingLanes], opens: Array, alive: Array, findings: Findings) -> None:
        """Report barriers that open of the lanes `opens` without lanes that went around and ended."""
        for barrier, one in waiting.items():
            if barrier in self.gone:
                lost = (self.gone[barrier] & ~alive).sum(axis=1, keepdims=True)
                where = np.flatnonzero(one.mask & opens & (lost > 0))
                findings.add(DIVERGENT, one.place, one.lanes, where, partial(_around, lost, alive.shape[1]), "warning")


def _around(lost: Array, width: int, place: int) -> str:
    went = counted(int(lost[place // width, 0]), "thread")
    return f"waits without {went} of its block that went around and ended; all threads should reach a barrier"


def report_divergence(waiting: list[WaitingLanes], findings: Findings) -> None:
    """Report threads of one block that wait for the whole block at different barriers."""
    if len(waiting) < 2:
        return
    at = sum(one.mask.any(axis=1).astype(np.int64) for one in waiting)
    split = np.asarray(at > 1)[:, None]
    for one in waiting:
        others = ", ".join(f"line {o.place.line}" for o in waiting if o is not one)
        text = f"threads of one block wait here while others wait at {others}"
        findings.add(DIVERGENT, one.place, one.lanes, np.flatnonzero(one.mask & split), say(text))


def report_alone(waiting: list[WaitingLanes], findings: Findings) -> None:
    """Report lanes that wait at a barrier of their cluster for threads that never arrive."""
    for one in waiting:
        text = "waits at the barrier of its cluster, where not all threads of the cluster arrive"
        findings.add("barrier deadlock", one.place, one.lanes, np.flatnonzero(one.mask), say(text))
