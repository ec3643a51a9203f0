"""Runs a batch in an adversarial order: what other blocks wait for happens as late as possible, and last in the first
blocks, whatever the order of their numbers."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np

from gpu_ops.devices.sim.batch import Batch
from gpu_ops.devices.sim.lanes import WARP, Array, Lanes, whole_mask
from gpu_ops.devices.sim.ptx.emit import Code
from gpu_ops.devices.sim.scheduling.groups import Group, fullest
from gpu_ops.devices.sim.scheduling.meter import Meter
from gpu_ops.devices.sim.scheduling.schedule import Scheduler

IDLE = 12
"""The steps that lanes may spin before another lane publishes."""
IN_TURN = 0.75
"""The share of turns of the first instruction: others must have some, because lanes may try one again and again."""
MOST = 32
"""Times that lanes are held at one instruction."""


class LateScheduler(Scheduler):
    """Holds lanes before and after each instruction that other blocks may wait for, until no other lane can continue.
    Then half of those at one such place continue: with an odd `seed` mostly those of the later blocks at the first
    instruction, with an even one warps and an instruction at random. Equal seeds give equal orders on every machine."""

    def __init__(self, code: Code, batch: Batch, meter: Meter, seed: int) -> None:
        super().__init__(code, batch, meter, False)
        self.random, self.by_number = random.Random(seed), seed % 2 == 1
        self.held: dict[int, Group] = {}
        self.idle = 0
        self.releases: Counter[int] = Counter()

    def _waiting_places(self) -> tuple[dict[int, Group], ...]:
        return self.ready, self.parked, self.held

    def _arrive(self, block: int, group: Group) -> None:
        if block in self.code.publishers and (block in self.held or self.releases[block] < MOST):
            self._wait_in(self.held, block, group)
        else:
            super()._arrive(block, group)

    def _turn(self) -> bool:
        self.idle = self.idle + 1 if self.code.spin_blocks.issuperset(self.ready) else 0
        if self.held and (not self.ready or self.idle > IDLE):
            if self.idle > IDLE or not self._release_complete():
                self.idle = 0
                self._let_go()
            return True
        return super()._turn()

    def _let_go(self) -> None:
        """Let half of the held lanes of one instruction continue."""
        sites = sorted(self.held)
        number = sites[0] if self.by_number and self.random.random() < IN_TURN else self.random.choice(sites)
        self.releases[number] += 1
        mask = whole_mask(self.held.pop(number).lanes)
        go = self._half(mask)
        if (mask & ~go).any():
            self.held[number] = Group(Lanes(self.batch.layout, mask=mask & ~go), self.main)
        super()._arrive(number, fullest(Group(Lanes(self.batch.layout, mask=go), self.main)))

    def _half(self, mask: Array) -> Array:
        if self.by_number:
            rows = np.flatnonzero(mask.any(axis=1))
            selected = np.zeros((len(mask), 1), np.bool_)
            selected[rows[len(rows) // 2 :]] = True
            return mask & selected
        warps = np.flatnonzero(mask.reshape(-1, WARP).any(axis=1))
        part = np.zeros((mask.size // WARP, 1), np.bool_)
        part[self.random.sample(list(warps), -(-len(warps) // 2))] = True
        return np.asarray((mask.reshape(-1, WARP) & part).reshape(mask.shape))
