"""Signals whose tiles have all levels in the registers of a warp: their sizes, which the kernel computes as well, and
their launches."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.filters.kit.planning import CTYPES
from gpu_ops.filters.wavelet.forms import THRESHOLDS, work_type
from gpu_ops.filters.wavelet.lane import WARP, Lane, constants_of
from gpu_ops.filters.wavelet.strips import Strips, extents_of
from gpu_ops.filters.wavelet.twice import Denoising, Level
from gpu_ops.plan import Launch, Plan
from gpu_ops.task import Task

FILE = "wavelet/lanes.cu"
MOST_TAPS, SPARE = 16, 4


def width_of(task: Task) -> int:
    """Samples of all levels that a warp makes."""
    lane, levels = Lane.of(task), (1 << task.params["levels"]) - 1
    return (WARP - sum(lane.lost(False, levels))) * lane.each


def suits(task: Task) -> bool:
    """Whether a warp has all levels of most of its samples: a periodic signal whose samples are even in number at all
    levels, a given threshold, float, and no more around a tile than half of it."""
    params, strips = task.params, Strips.of(task)
    if strips.image or not strips.periodic or params["rule"] != "manual" or work_type(task) != np.float32:
        return False
    if strips.taps > MOST_TAPS or int(task.knobs["each"]) % (1 << params["levels"]):
        return False
    return all(e.columns % 2 == 0 for e in extents_of(task)[:-1]) and 2 * width_of(task) >= WARP * int(task.knobs["each"])


class Lanes(Denoising):
    """A signal with all its levels in one launch, a tile a warp."""

    def plan(self) -> Plan:
        """A launch a shift."""
        return self.job.plan(*map(self._tiles, range(self.shifts)))

    def _levels(self) -> list[Level]:
        return []

    def _tiles(self, shift: int) -> Launch:
        lane, columns, channels = Lane.of(self.job.task), self.shape.columns, self.shape.channels
        ends = np.int32(shift == 0), np.int32(shift == self.shifts - 1), np.float64(self.shifts)
        sizes = np.int64(columns), np.int32(channels), np.int64(shift % columns)
        grid = -(-columns // width_of(self.job.task)), channels, 1
        shared = WARP * (lane.each + SPARE) * self.kind.itemsize
        args = (self.job.x, self.total, self.job.out, *sizes, *ends, np.float64(self.job.params["value"]))
        name = f"shift by {shift}" if self.shifts > 1 else "there, thresholds, back"
        constants = constants_of(self.job.task, self.constants)
        return Launch(self._lanes(lane), grid, (WARP, 1, 1), args, shared, constants, name)

    def _lanes(self, lane: Lane) -> Any:
        defines = dict(
            SAMPLE=CTYPES[self.job.dtype.name],
            REAL=CTYPES[self.kind.name],
            INTEGER=int(self.job.dtype.kind == "u"),
            BORDER=0,
            TAPS=self.strips.taps,
            THREADS=WARP,
            EACH=lane.each,
            LATTICE=int(lane.lattice),
            IMAGE=0,
            SHIFTED=int(self.shifts > 1),
            LEVELS=int(self.job.params["levels"]),
            HOW=THRESHOLDS.index(self.job.params["threshold"]),
            RESIDENT=int(self.job.knobs["resident"]),
        )
        return self.job.device.kernel(FILE, "wavelet_lanes_signal", defines)
