"""Asynchronous copies from global to shared memory (cp.async). On hardware a value may be written at any time until its
thread has waited for it; here it is written when the thread waits, so that a kernel that does not wait reads the old
value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpu_ops.devices.sim.lanes import Array, BatchLayout, Lanes, whole_mask
from gpu_ops.devices.sim.ptx.sites import Site
from gpu_ops.devices.sim.shared import SharedMemory


@dataclass(frozen=True)
class _Copy:
    """The copies of the lanes at `flat` (n,) of the flattened batch to `address` (n,), each with its group (n,)."""

    site: Site
    flat: Array
    group: Array
    address: Array
    dtype: Any
    values: tuple[Array, ...]

    def part(self, selection: Array) -> _Copy:
        """The copies of some of the lanes."""
        flat, group, address = (a[selection] for a in (self.flat, self.group, self.address))
        return replace(
            self, flat=flat, group=group, address=address, values=tuple(value[selection] for value in self.values)
        )


class Copies:
    """The copies of a batch that are in flight. A thread's copies since its last commit are a group."""

    def __init__(self, layout: BatchLayout, shared: SharedMemory) -> None:
        self.layout, self.shared = layout, shared
        self.groups = np.zeros(layout.blocks * layout.width, np.int64)
        self.open: list[_Copy] = []

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
                *(site, flat, self.groups[flat], right.active(address), dtype),
                tuple(right.active(value) for value in values),
            )
        )

    def commit(self, lanes: Lanes) -> None:
        """Commit the copies of these lanes since their last commit as one group."""
        self.groups[lanes.flat] += 1

    def wait(self, lanes: Lanes, most: int | None) -> None:
        """Complete the copies of these lanes, except those of the last `most` groups; with None all of them."""
        waiting = whole_mask(lanes).reshape(-1)
        left = []
        for copy in self.open:
            lands = waiting[copy.flat]
            if most is not None:
                lands = lands & (copy.group < self.groups[copy.flat] - most)
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
