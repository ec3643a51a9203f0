"""Races in global memory: accesses of one element by several threads that no barrier, fence or signal orders.

A stamp is time << 32 | thread of the grid. A thread signals by an atomic, or by a store that is volatile or has a
memory order, and learns of a signal by reading so. It is taken to learn of all signals before: so no correct kernel is
reported, and some races are missed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from gpu_ops.devices.sim.findings import Findings, say
from gpu_ops.devices.sim.lanes import Array, BatchLayout, Lanes
from gpu_ops.devices.sim.memory import NEVER, THREAD, Region, Track
from gpu_ops.devices.sim.ptx.sites import Site
from gpu_ops.devices.sim.shared import SharedMemory

GLOBAL = " in global memory"
BETWEEN = " between blocks"
UNFENCED = ", missing __threadfence()"
PLAIN, SIGNAL, COUNT, SUM = range(4)
"""Kinds of writes: stores, stores that are volatile or have a memory order, atomics without a result, and of these the
ones that add. A plain read of a sum must come after all of them; other results may be looked at before."""


class Signals:
    """For each block of the grid the times of its last fence, of its last signal, of the last fence and of the last
    barrier before that, and of its last read of a signal; the first two also for each thread."""

    def __init__(self, blocks: int, width: int, used: bool) -> None:
        times = np.full((5, blocks if used else 0), -1, np.int64)
        self.fenced, self.signalled, self.released, self.announced, self.learned = times
        self.thread_fenced, self.thread_signalled = np.full((2, blocks * width if used else 0), -1, np.int64)
        self.used = used


@dataclass(frozen=True)
class _Touch:
    """An access: `units` (n,), the thread of the grid and the running lane of each, and the time."""

    lanes: Lanes
    site: Site
    region: Region
    track: Track
    units: Array
    threads: Array
    each: int
    time: int


@dataclass(eq=False)
class Races:
    """Checks the accesses of a batch; the signals are those of the launch."""

    layout: BatchLayout
    shared: SharedMemory
    findings: Findings
    signals: Signals
    lines: Callable[[int], int]
    _threads: dict[int, Array] = field(default_factory=dict)

    def fence(self, lanes: Lanes) -> None:
        """These lanes order their accesses for other blocks."""
        if self.signals.used:
            self.shared.time += 1
            threads = self._of(lanes)
            self.signals.thread_fenced[threads] = self.shared.time
            self.signals.fenced[np.unique(threads // self.layout.width)] = self.shared.time

    def signal(self, lanes: Lanes, reads: bool, writes: bool) -> None:
        """These lanes do an atomic or an ordered access."""
        signals = self.signals
        if not signals.used:
            return
        self.shared.time += 1
        threads = self._of(lanes)
        blocks = np.unique(threads // self.layout.width)
        if writes:
            signals.thread_signalled[threads] = signals.signalled[blocks] = self.shared.time
            signals.released[blocks] = signals.fenced[blocks]
            signals.announced[blocks] = self.shared.block_start[blocks - self.layout.first]
        if reads:
            signals.learned[blocks] = self.shared.time

    def load(self, lanes: Lanes, site: Site, region: Region, start: Array) -> None:
        """Check and note a load from these bytes of a region."""
        if site.waits:
            return
        touch = self._touch(lanes, site, region, start)
        track = touch.track
        self._against(touch, track.writes, "write", not site.is_ordered, SIGNAL if site.is_ordered else SUM)
        stamps = touch.time << 32 | touch.threads
        before = track.reads[touch.units]
        differs = (before >= 0) & ((before & THREAD) != touch.threads)
        track.others[touch.units[differs]] = before[differs]
        track.reads[touch.units] = stamps
        second = track.reads[touch.units] != stamps
        track.others[touch.units[second]] = stamps[second]

    def store(self, lanes: Lanes, site: Site, region: Region, start: Array) -> None:
        """Check and note a store."""
        touch = self._touch(lanes, site, region, start)
        track = touch.track
        if not site.is_ordered:
            self._against(touch, track.writes, "write")
            known = self._against(touch, track.reads, "read")
            self._against(touch, track.others, "read", but=known)
        self._note_write(touch, SIGNAL if site.is_ordered else PLAIN)

    def atomic(self, lanes: Lanes, site: Site, region: Region, start: Array, counts: bool, adds: bool) -> None:
        """Check and note an atomic; `counts`: without a result, `adds`: to the element."""
        touch = self._touch(lanes, site, region, start)
        self._against(touch, touch.track.writes, "write")
        if counts:
            self._note_write(touch, SUM if adds else COUNT)
        else:
            touch.track.writes[touch.units] = NEVER

    def _note_write(self, touch: _Touch, kind: int) -> None:
        touch.track.writes[touch.units] = touch.time << 32 | touch.threads
        touch.track.kinds[touch.units] = kind
        touch.track.sites[touch.units] = touch.site.number

    def _of(self, lanes: Lanes) -> Array:
        """The threads of the grid, by their running lanes."""
        wide = np.broadcast_to(lanes.threads + (lanes.rows + self.layout.first) * self.layout.width, lanes.shape)
        return np.asarray(lanes.active(wide)).astype(np.int64)

    def _touch(self, lanes: Lanes, site: Site, region: Region, start: Array) -> _Touch:
        assert region.track is not None
        self.shared.time += 1
        unit = region.track.unit
        units, threads, each = start // unit, self._of(lanes), max(1, site.nbytes // unit)
        if each > 1:
            units = (units[:, None] + np.arange(each)).reshape(-1)
            threads = np.repeat(threads, each)
        return _Touch(lanes, site, region, region.track, units, threads, each, self.shared.time)

    # Conflicts

    def _against(
        self,
        touch: _Touch,
        stamps: Array,
        rival: str,
        within: bool = True,
        most: int = PLAIN,
        but: Array | None = None,
    ) -> Array:
        """Report the units of a touch that another thread accessed before with nothing that orders the two; `within`:
        also in one block; `most`: the highest kind of write that counts; `but`: not these.
        Returns the indices of those that it reported."""
        before = stamps[touch.units]
        bad = np.flatnonzero((before >= 0) & ((before & THREAD) != touch.threads))
        kinds = touch.track.kinds[touch.units[bad]] if rival == "write" else np.zeros(len(bad), np.int8)
        counting = kinds <= most if but is None else (kinds <= most) & ~np.isin(bad, but)
        bad, kinds = bad[counting], kinds[counting]
        if not len(bad):
            return bad
        width = self.layout.width
        who, time, me = before[bad] & THREAD, before[bad] >> 32, touch.threads[bad]
        mine, its = me // width, who // width
        ordered = kinds > PLAIN
        same = mine == its
        here = same & ~ordered & self._unordered(me, who, time)
        if rival == "read" and here.any():
            here &= ~self._spare(touch, touch.units[bad], who)
        apart = ~same & (~ordered | (kinds == SUM)) & ~self._signalled(mine, its, time, rival)
        unfenced = apart & self._late(its, time) if rival == "write" else np.zeros(len(bad), np.bool_)
        if ordered.any():
            unfenced = unfenced | (~same & ordered & self._unfenced(mine, its, who, time))
        here &= within
        self._report(touch, rival, bad[here], who[here], GLOBAL)
        self._report(touch, rival, bad[unfenced], who[unfenced], UNFENCED)
        self._report(touch, rival, bad[apart & ~unfenced], who[apart & ~unfenced], BETWEEN)
        return np.asarray(bad[here | unfenced | apart])

    def _unordered(self, me: Array, who: Array, time: Array) -> Array:
        """Whether no barrier of their block orders two threads."""
        width, shared = self.layout.width, self.shared
        rows = me // width - self.layout.first
        start = shared.block_start[rows]
        loose = time >= start
        if loose.any():
            loose &= time >= shared._ordered_until(rows, me % width, who % width)
        if self.signals.used and loose.any():
            blocks = me // width
            loose &= ~((self.signals.released[blocks] > time) & (self.signals.learned[blocks] > time))
        return np.asarray(loose)

    def _spare(self, touch: _Touch, units: Array, who: Array) -> Array:
        """Whether a read was probably that of a lane beyond an edge, which loads the last element of its warp and drops
        it: several lanes read the element at once, and this one does not take part in a store of others."""
        at_once = touch.track.reads[units] >> 32 == touch.track.others[units] >> 32
        blocks = len(np.unique(touch.threads // self.layout.width))
        alone = len(touch.threads) // touch.each <= blocks
        return np.asarray(at_once & ~np.isin(who, touch.threads) & (not alone))

    def _signalled(self, mine: Array, its: Array, time: Array, rival: str) -> Array:
        """Whether the other block has signalled since, after a fence if it wrote, and this one has learned of it."""
        signals = self.signals
        if not signals.used:
            return np.zeros(len(mine), np.bool_)
        done = signals.released[its] > time if rival == "write" else signals.signalled[its] > time
        return np.asarray(done & (signals.learned[mine] > time))

    def _late(self, its: Array, time: Array) -> Array:
        """Whether a block signalled after its write with no fence in between."""
        if not self.signals.used:
            return np.zeros(len(its), np.bool_)
        return np.asarray((self.signals.signalled[its] > time) & (self.signals.released[its] <= time))

    def _unfenced(self, mine: Array, its: Array, who: Array, time: Array) -> Array:
        """Whether a thread wrote, and it or another of its block after a barrier then signalled elsewhere with no fence
        in between, of which this block knows."""
        signals = self.signals
        if not signals.used:
            return np.zeros(len(who), np.bool_)
        later = signals.thread_signalled[who]
        alone = (later > time) & (signals.thread_fenced[who] < time) & (signals.learned[mine] > later)
        known = signals.learned[mine] > signals.signalled[its]
        return np.asarray(alone | ((signals.announced[its] > time) & (signals.fenced[its] < time) & known))

    def _report(self, touch: _Touch, rival: str, bad: Array, who: Array, kind: str) -> None:
        if not len(bad):
            return
        first, width, site = int(bad[0]), self.layout.width, touch.site
        at = int(touch.units[first]) * touch.track.unit + touch.region.base
        what = f"{site.verb} {touch.region.elements(at, min(site.nbytes, touch.region.itemsize))}"
        verb = {"reads": "read", "writes": "write", "changes": "atomic"}[site.verb]
        did = "wrote" if rival == "write" else "read"
        block, thread = divmod(int(who[0]), width)
        line = self.lines(int(touch.track.sites[touch.units[first]]))
        title = f"{verb}-after-{rival} hazard{kind}"
        if kind == GLOBAL:
            text = f"{what}, which thread {thread} {did} with no __syncthreads() in between"
        elif kind == UNFENCED:
            text = f"{what}, which block {block} wrote in line {line} and signalled with no __threadfence() between"
        elif site.verb == "writes" and rival == "write":
            title = "two blocks write one element"
            text = f"{what}, which block {block} writes as well; the final value depends on timing"
        else:
            when = f" in line {line}" if rival == "write" else ""
            text = f"{what}, which block {block} {did}{when}; nothing orders the two blocks"
        places = np.unique(touch.lanes.places[bad // touch.each])
        self.findings.add(title, site.place, touch.lanes, places, say(text))
