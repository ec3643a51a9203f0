"""Runs a batch as machine code does that has unrolled loops: lanes of a warp with many passes left do not run with
those that have few."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gpu_ops.devices.sass.parted import Parted
from gpu_ops.devices.sass.unrolled import PARTS, UnrolledLoop
from gpu_ops.devices.sim.batch import Batch
from gpu_ops.devices.sim.lanes import Array
from gpu_ops.devices.sim.ptx.emit import Code
from gpu_ops.devices.sim.ptx.program import Reg
from gpu_ops.devices.sim.scheduling.groups import Group
from gpu_ops.devices.sim.scheduling.meter import Meter
from gpu_ops.devices.sim.scheduling.parted import PartedScheduler


class UnrolledScheduler(PartedScheduler):
    """Lanes that may run several passes of an unrolled loop do so first, while the others wait."""

    def __init__(
        self,
        code: Code,
        batch: Batch,
        meter: Meter,
        descending: bool,
        parted: Parted,
        loops: Mapping[int, UnrolledLoop],
    ) -> None:
        again = {(number, number) for number in loops}
        super().__init__(code, batch, meter, descending, Parted(parted.ways - again, parted.within - again))
        self.loops = loops
        self.held: dict[int, Group] = {}

    def _waiting_places(self) -> tuple[dict[int, Group], ...]:
        return *super()._waiting_places(), self.held

    def _step(self, number: int) -> None:
        loop = self.loops.get(number)
        if loop is not None:
            left = self._left(loop, self.ready[number])
            for most, passes in PARTS:
                more = self.ready[number].lanes.fill_inactive(left > most * abs(loop.step))
                if more.any():
                    self._run_apart(number, more, passes)
                    return
        super()._step(number)

    def _left(self, loop: UnrolledLoop, group: Group) -> Array:
        """How far the lanes' counters are from the bound."""
        counter = self._value(group.frame.values, self.code.numbers[loop.counter]).view(loop.type)
        if isinstance(loop.bound, Reg):
            bound = self._value(group.frame.values, self.code.numbers[loop.bound.name]).view(loop.type)
        else:
            bound = np.array([[loop.bound.value]]).astype(loop.type)
        return bound - counter if loop.step > 0 else counter - bound

    def _run_apart(self, number: int, more: Array, passes: int) -> None:
        """Run some passes of a loop for the lanes in `more` alone."""
        group = self.ready.pop(number)
        self._send(number, group, ~more)
        if number in self.ready:
            self.held[number] = self.ready.pop(number)
        self._send(number, group, more)
        for _ in range(passes):
            super()._step(number)
        if number in self.held:
            self._arrive(number, self.held.pop(number))
