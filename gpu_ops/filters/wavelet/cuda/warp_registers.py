"""Signals by independent warps, each of which has all levels of a tile in its registers: supported tasks, and
launches."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.filters.kit.planning import CTYPES
from gpu_ops.filters.wavelet.cuda.lane import INVERSE, WARP, Lane, shared_defines
from gpu_ops.filters.wavelet.cuda.lane_filters import constants_of
from gpu_ops.filters.wavelet.cuda.recomputing import Denoising, Level
from gpu_ops.filters.wavelet.cuda.strips import extents_of
from gpu_ops.filters.wavelet.forms import THRESHOLDS
from gpu_ops.plan import Launch, Plan
from gpu_ops.task import Task

FILE = "wavelet/10_warp_registers.cu"
SPARE = 4
"""Values between the samples of two lanes in shared memory; the same constant is in the kernel."""


def levels_of(task: Task) -> int:
    """The ratio between the neighbouring samples that all levels need and those that one level needs."""
    return (1 << int(task.params["levels"])) - 1


def has_even_levels(task: Task) -> bool:
    """Whether the samples are even in number at all levels."""
    return all(e.columns % 2 == 0 for e in extents_of(task)[:-1])


def fits(task: Task) -> bool:
    """Whether a lane's samples halve at all levels, and a warp has all levels of at least half of its samples."""
    lane = Lane.of(task)
    halves = lane.each % (1 << task.params["levels"]) == 0
    return halves and 2 * lane.width(INVERSE, levels_of(task)) >= WARP * lane.each


class Registers(Denoising):
    """A signal with all its levels in one launch, one tile per warp."""

    def plan(self) -> Plan:
        """One launch per shift."""
        return self.ctx.plan(*map(self._tiles, range(self.shifts)))

    def _levels(self) -> list[Level]:
        return []

    def _tiles(self, shift: int) -> Launch:
        task, lane, columns, channels = self.ctx.task, Lane.of(self.ctx.task), self.shape.columns, self.shape.channels
        grid = -(-columns // lane.width(INVERSE, levels_of(task))), channels, 1
        ends = np.int32(shift == 0), np.int32(shift == self.shifts - 1), np.float64(self.shifts)
        sizes = np.int64(columns), np.int32(channels), np.int64(shift % columns)
        args = (self.ctx.x, self.total, self.ctx.out, *sizes, *ends, np.float64(task.params["value"]))
        shared = WARP * (lane.each + SPARE) * self.kind.itemsize
        name = f"shift by {shift}" if self.shifts > 1 else "forward, thresholds, inverse"
        constants = constants_of(task.params["wavelet"], task.params["border"], self.constants, self.kind)
        return Launch(self._lanes(lane), grid, (WARP, 1, 1), args, shared, constants, name)

    def _lanes(self, lane: Lane) -> Any:
        task = self.ctx.task
        defines = shared_defines(task, lane) | {
            "SAMPLE": CTYPES[self.ctx.dtype.name],
            "REAL": CTYPES[self.kind.name],
            "INTEGER": int(self.ctx.dtype.kind == "u"),
            "BORDER": 0,
            "IMAGE": 0,
            "SHIFTED": int(self.shifts > 1),
            "LEVELS": int(task.params["levels"]),
            "HOW": THRESHOLDS.index(task.params["threshold"]),
        }
        return self.ctx.device.kernel(FILE, "wavelet_warp_registers", defines)
