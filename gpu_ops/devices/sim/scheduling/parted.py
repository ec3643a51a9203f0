"""Runs a batch as machine code does: lanes that have parted where it does not let them meet run on by themselves."""

from __future__ import annotations

import numpy as np

from gpu_ops.devices.sass.parted import Parted
from gpu_ops.devices.sim.batch import Batch
from gpu_ops.devices.sim.lanes import WARP, Array, Lanes, whole_mask
from gpu_ops.devices.sim.ptx.emit import BlockCode, Code
from gpu_ops.devices.sim.scheduling.groups import Group
from gpu_ops.devices.sim.scheduling.meter import Meter
from gpu_ops.devices.sim.scheduling.schedule import Scheduler


class PartedScheduler(Scheduler):
    """Lanes on a way where those that have parted stay apart go on at once, while the others wait. `apart` are such
    lanes by their next block; the last ones to part run first."""

    def __init__(self, code: Code, batch: Batch, meter: Meter, descending: bool, parted: Parted) -> None:
        super().__init__(code, batch, meter, descending)
        self.parted = parted
        self.apart: list[dict[int, Group]] = []
        self.aside: dict[int, Group] = {}
        self._source: int | None = None
        """The block that lanes are leaving."""
        self._near: dict[int, Group] | None = None
        """The lanes that the running ones may still meet, where these run apart."""

    def _waiting_places(self) -> tuple[dict[int, Group], ...]:
        return self.ready, self.parked, self.aside, *self.apart

    def _turn(self) -> bool:
        while self.apart and not self.apart[-1]:
            self.apart.pop()
        self._near = None
        if not self.apart:
            return super()._turn()
        number = min(self.apart[-1])
        if number in self.ready:
            self.aside[number] = self.ready.pop(number)
        self.ready[number] = self.apart[-1].pop(number)
        self._near = self.apart[-1]
        self._step(number)
        if number in self.aside:
            super()._arrive(number, self.aside.pop(number))
        return True

    def _continue_after(self, code: BlockCode, group: Group, chooser: Array | None) -> None:
        self._source = code.block.number
        super()._continue_after(code, group, chooser)
        self._source = None

    def _arrive(self, block: int, group: Group) -> None:
        way, near = (self._source, block), self._near
        if way in self.parted.ways and self._is_torn(group.lanes):
            self.apart.append({block: group})
        elif self._source in self.parted.together and (near is not None or self._is_torn(group.lanes)):
            if near is None:
                near = self._near = {}
                self.apart.append(near)
            self._join(near, block, group)
        elif near is not None and way in self.parted.within:
            self._join(near, block, group)
        else:
            super()._arrive(block, group)

    def _is_torn(self, lanes: Lanes) -> bool:
        """Whether other lanes of these lanes' warps run too."""
        if lanes.count >= np.count_nonzero(self.batch.alive):
            return False
        alive = self.batch.alive.reshape(-1, WARP)
        here = whole_mask(lanes).reshape(-1, WARP)
        return bool((here.any(axis=1) & (here != alive).any(axis=1)).any())
