"""How long the warps of a launch work: the instructions that they issue, and the longest path through each block."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from gpu_ops.devices.sass.costs import costs
from gpu_ops.devices.sass.listing import SassLine
from gpu_ops.devices.sim.lanes import Array, Lanes
from gpu_ops.devices.sim.ptx.chains import chains
from gpu_ops.devices.sim.ptx.flow import Block

LOAD = 500.0
"""Cycles of a load of global memory, to find the warp of a block that works longest."""


class Paths:
    """Counts of one launch of a kernel with these basic `blocks`, and with its machine code or none. Those that wait
    for other threads do not count: how often they run says when the others come."""

    def __init__(self, blocks: Sequence[Block], sass: Sequence[SassLine], waiting: frozenset[int]) -> None:
        self._waiting = waiting
        self._chains = chains(blocks)
        self._costs = costs(sass, [[line.row for line in block.lines] for block in blocks]) if sass else []
        self._runs: dict[int, Array] = {}
        """How often each warp of the batch, (blocks, warps), ran a basic block, by its number."""
        self._found: defaultdict[str, float] = defaultdict(float)

    def note(self, number: int, lanes: Lanes) -> None:
        """Note that lanes run a basic block."""
        if number in self._waiting:
            return
        running = lanes.running_warps
        self._runs[number] = self._runs[number] + running if number in self._runs else running.astype(np.int64)

    def end_batch(self, weight: float) -> None:
        """Count the batch that has just run, which represents `weight` batches."""
        loads, cycles = np.zeros(()), np.zeros(())
        for numbers, chain in self._chains:
            times = [self._runs[n] for n in numbers if n in self._runs]
            if times:
                most = np.maximum.reduce(times)
                loads, cycles = loads + chain.loads * most, cycles + chain.cycles * most
        for number, runs in self._runs.items():
            if self._costs:
                cycles = cycles + self._costs[number]["cycles"] * runs
        if loads.ndim:
            longest = (LOAD * loads + cycles).argmax(axis=1)[:, None]
            self._found["path_loads"] += weight * float(np.take_along_axis(loads, longest, axis=1).sum())
            self._found["path_cycles"] += weight * float(np.take_along_axis(cycles, longest, axis=1).sum())
        self._runs.clear()

    def counts(self, executions: Mapping[int, float]) -> dict[str, int]:
        """The counts of all batches, in which warps ran each basic block as often as `executions` says by its number:
        `path_loads` and `path_cycles` of the longest warp of each block, summed over all blocks; and with the machine
        code the instructions that warps issue, by their units (see `costs`)."""
        found = self._found.copy()
        for number, times in executions.items() if self._costs else ():
            for name, each in self._costs[number].items():
                if name != "cycles" and number not in self._waiting:
                    found[name] += each * times
        return {name: round(value) for name, value in found.items()}
