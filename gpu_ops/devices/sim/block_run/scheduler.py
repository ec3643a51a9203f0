"""Runs one block warp by warp, one line of the source at a time."""

from __future__ import annotations

import random

import numpy as np

from gpu_ops.devices.sim.batch import Batch
from gpu_ops.devices.sim.block_run.recorder import StepRecorder
from gpu_ops.devices.sim.lanes import WARP, Array, Lanes, whole_mask
from gpu_ops.devices.sim.ptx.emit import BlockCode, Code
from gpu_ops.devices.sim.scheduling.groups import Group, Turns, fullest
from gpu_ops.devices.sim.scheduling.meter import Meter
from gpu_ops.devices.sim.scheduling.schedule import Scheduler

ORDERS = 8
"""The number of orders other than the usual one."""
AWAY = 1 / 8
"""The share of turns in which a warp that spins gives way to another."""


class BlockScheduler(Scheduler):
    """In `order` 0 warps take turns, so that all go through the kernel together. In order 1 the last warp goes on as
    far as it can, then the one before it; in order 2 the first; in others, seeds, each turn is that of a random warp.
    Equal orders are equal on every machine. The block has fewer lanes than a group that would be packed."""

    def __init__(self, code: Code, batch: Batch, meter: Meter, recorder: StepRecorder, order: int) -> None:
        super().__init__(code, batch, meter, False)
        self.recorder, self.order, self.random = recorder, order, random.Random(order)
        self.steps_of = [0] * batch.layout.warps
        self.turns_of = [Turns(code.spin_blocks, False) for _ in self.steps_of]
        self.aside: dict[int, Group] = {}

    def _waiting_places(self) -> tuple[dict[int, Group], ...]:
        return self.ready, self.parked, self.aside

    def _turn(self) -> bool:
        """Let one warp take a step; if none can, let those that wait continue. Returns whether there were any."""
        if not self.ready:
            return super()._turn()
        masks = {number: whole_mask(group.lanes) for number, group in self.ready.items()}
        warp = self._warp_of(masks)
        lanes = np.zeros((1, self.batch.layout.width), np.bool_)
        lanes[0, warp * WARP : (warp + 1) * WARP] = True
        mine = {number: self._part(mask & lanes) for number, mask in masks.items() if (mask & lanes).any()}
        number = self.turns_of[warp].next(mine, {}, lambda: None)
        self.steps_of[warp] += 1
        self.ready[number] = mine[number]
        if (rest := masks[number] & ~lanes).any():
            self.aside[number] = self._part(rest)
        self._step(number)
        while self.aside:
            self._arrive(*self.aside.popitem())
        return True

    def _part(self, mask: Array) -> Group:
        """These lanes (1, width) as a group."""
        return fullest(Group(Lanes(self.batch.layout, mask=mask), self.main))

    def _warp_of(self, masks: dict[int, Array]) -> int:
        """The warp whose turn it is, of those with lanes that can continue."""
        by_warp = {n: mask[0].reshape(-1, WARP).any(axis=1) for n, mask in masks.items()}
        able = np.flatnonzero(np.logical_or.reduce(list(by_warp.values()))).tolist()
        if self.order == 0:
            return min(able, key=lambda w: (self.steps_of[w], w))
        first = {1: able[-1], 2: able[0]}.get(self.order)
        spins = first is not None and any(n in self.code.spin_blocks for n, warps in by_warp.items() if warps[first])
        if first is None or (spins and self.random.random() < AWAY):
            return int(self.random.choice(able))
        return int(first)

    # What is recorded

    def _run(self, code: BlockCode, group: Group) -> None:
        self.recorder.begin()
        super()._run(code, group)
        self.recorder.note_registers(code, group)
        self._end_step(code, group.lanes, False)

    def _wait_in(self, waiting: dict[int, Group], number: int, group: Group) -> None:
        self.recorder.begin()
        super()._wait_in(waiting, number, group)
        self._end_step(self.code.blocks[number], group.lanes, True)

    def _end_step(self, code: BlockCode, lanes: Lanes, waits: bool) -> None:
        places: dict[int, Array] = {}
        for parked, groups in ((0, self.ready), (0, self.aside), (1, self.parked)):
            for number, group in groups.items():
                mask = whole_mask(group.lanes)
                place = 2 * number + parked
                places[place] = mask | places[place] if place in places else mask
        self.recorder.end(code, lanes, waits, places, self.batch.alive)
