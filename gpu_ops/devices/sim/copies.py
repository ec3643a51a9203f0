"""Asynchronous copies from global to shared memory (cp.async). On hardware a value may be written at any time until its
thread has waited for it; here it is written when the thread waits, so that a kernel that does not wait reads the old
value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpu_ops.devices.sim.lanes import Array, BatchLayout, Lanes, whole_mask
from gpu_ops.devices.sim.ptx.sites import Site
from gpu_ops.devices.sim.shared import SharedMemory


@dataclass(frozen=True)
class _Copy:
    """The copies of the lanes at `flat` (n,) of the flattened batch to `address` (n,), each with its group (n,), and
    how often its lane had let a barrier in shared memory wait for copies before (n,)."""

    site: Site
    flat: Array
    group: Array
    bound: Array
    address: Array
    dtype: Any
    values: tuple[Array, ...]

    def part(self, selection: Array) -> _Copy:
        """The copies of some of the lanes."""
        flat, group, bound, address = (a[selection] for a in (self.flat, self.group, self.bound, self.address))
        values = tuple(value[selection] for value in self.values)
        return replace(self, flat=flat, group=group, bound=bound, address=address, values=values)


@dataclass(frozen=True)
class _Binding:
    """Lanes at `flat` (n,) let a phase (n,) of the barrier at a word (n,) of shared memory wait for their copies, of
    which `bound` (n,) is the number."""

    flat: Array
    word: Array
    phase: Array
    bound: Array


class Copies:
    """The copies of a batch that are in flight. A thread's copies since its last commit are a group. Those that a
    barrier in shared memory waits for are complete when a thread has waited for that phase of the barrier."""

    def __init__(self, layout: BatchLayout, shared: SharedMemory) -> None:
        self.layout, self.shared = layout, shared
        self.groups = np.zeros(layout.blocks * layout.width, np.int64)
        self.bound = np.zeros(layout.blocks * layout.width, np.int64)
        self.open: list[_Copy] = []
        self.bindings: list[_Binding] = []

    def begin(self, lanes: Lanes, site: Site, address: Array, dtype: Any, values: list[Array]) -> None:
        """Start copies of values to byte addresses of shared memory. Hazards are checked now, because the value may be
        written at any time from now on."""
        announced = self.shared.announce(lanes, site, address, np.dtype(dtype).itemsize * len(values))
        if announced is None:
            return
        right, selection = announced
        if selection is not None:
            address, values = lanes.cut(address, selection), [lanes.cut(v, selection) for v in values]
        flat = right.flat
        self.open.append(
            _Copy(
                *(site, flat, self.groups[flat], self.bound[flat], right.active(address), dtype),
                tuple(right.active(value) for value in values),
            )
        )

    def commit(self, lanes: Lanes) -> None:
        """Commit the copies of these lanes since their last commit as one group."""
        self.groups[lanes.flat] += 1

    def wait(self, lanes: Lanes, most: int | None) -> None:
        """Complete the copies of these lanes, except those of the last `most` groups; with None all of them."""
        waiting = whole_mask(lanes).reshape(-1)
        none = np.iinfo(np.int64).max
        self._complete(lambda c: waiting[c.flat] & (c.group < (none if most is None else self.groups[c.flat] - most)))

    def bind(self, lanes: Lanes, words: Array, phases: Array) -> None:
        """The barriers at these words (n,) of shared memory wait, in this phase (n,), for the copies of these lanes."""
        flat = lanes.flat
        self.bindings.append(_Binding(flat, words, phases, self.bound[flat]))
        self.bound[flat] += 1

    def passed(self, words: Array, phases: Array) -> None:
        """Threads have waited for the barriers at these words (n,), whose phase is now this one (n,)."""
        if not self.bindings:
            return
        now = dict(zip(words.tolist(), phases.tolist(), strict=True))
        until = np.full(len(self.bound), -1)
        left = []
        for binding in self.bindings:
            over = np.array([now.get(w, p) > p for w, p in zip(binding.word, binding.phase, strict=True)], np.bool_)
            np.maximum.at(until, binding.flat[over], binding.bound[over])
            if not over.all():
                rest = ~over
                left.append(_Binding(binding.flat[rest], binding.word[rest], binding.phase[rest], binding.bound[rest]))
        self.bindings = left
        self._complete(lambda copy: copy.bound <= until[copy.flat])
        writers = np.flatnonzero(until >= 0)
        if len(writers):  # the phase of the barrier announces what they copied
            lanes = Lanes(self.layout, index=writers)
            self.shared.fence(lanes)
            self.shared.signal(lanes, released=True, learned=False)

    def _complete(self, which: Callable[[_Copy], Array]) -> None:
        """Complete those of the copies that are in flight."""
        left = []
        for copy in self.open:
            lands = which(copy)
            if not lands.any():
                left.append(copy)
                continue
            self._complete_copy(copy.part(lands))
            if not lands.all():
                left.append(copy.part(~lands))
        self.open = left

    def _complete_copy(self, copy: _Copy) -> None:
        lanes = Lanes(self.layout, index=copy.flat)
        self.shared.complete_copy(
            lanes, copy.site, copy.address[None], copy.dtype, [value[None] for value in copy.values]
        )
