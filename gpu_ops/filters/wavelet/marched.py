"""Images that keep no detail, by warps that march down a strip of columns each: which they are, and their launches."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpu_ops.filters.kit.planning import CTYPES
from gpu_ops.filters.kit.support import MOST_BLOCKS
from gpu_ops.filters.wavelet.forms import BORDERS, THRESHOLDS, work_type
from gpu_ops.filters.wavelet.lane import LONGEST, WARP, Lane, constants_of, shared_defines
from gpu_ops.filters.wavelet.strips import Strips, extents_of
from gpu_ops.filters.wavelet.twice import Denoising, Level
from gpu_ops.plan import Launch, Step
from gpu_ops.task import Task

FILE = "wavelet/marched.cu"
FOUR, MOST = 4, 1 << 31
"""Samples that move at once, and places that no image may have: bytes of a row are ints."""
LEAST_ROWS, SHORT = 8, 8
"""The fewest rows of a segment, and the most taps of filters that leave registers for two launches at a time."""


def suits(task: Task) -> bool:
    """Whether registers hold the state of columns, and the first level is marched."""
    meta, taps = task.meta, Strips.of(task).taps
    plain = meta.channels == 1 and task.params["shifts"] == 1 and work_type(task) == np.float32
    return meta.of_kind.rank == 2 and plain and taps <= LONGEST and marches(task, 1)


def marches(task: Task, level: int) -> bool:
    """Whether a level has rows of whole fours, and enough of them that no border goes on beyond the next edge."""
    rows, columns = extents_of(task)[level - 1]
    return columns % FOUR == 0 and rows >= 2 * Strips.of(task).taps and rows * columns < MOST


def warps_of(lane: Lane) -> int:
    """The warps of a multiprocessor. A launch begins while blocks of the one ahead still occupy registers; where those
    hold few blocks more, multiprocessors that are done first would take more than their share, unless it is all that
    fits."""
    return 12 if lane.taps <= SHORT else 16


class Grid(NamedTuple):
    """The strips of a launch, its segments, and the rows of a segment: of coefficients there, of samples back."""

    strips: int
    segments: int
    height: int


def grid_of(task: Task, level: int, there: bool) -> Grid:
    """As many segments as give every multiprocessor its warps, all at a time."""
    lane, (rows, columns) = Lane.of(task), extents_of(task)[level if there else level - 1]
    strips = -(-(2 * columns if there else columns) // lane.width(there))
    most = min(max(warps_of(lane) * task.limits.multiprocessors // strips, 1), MOST_BLOCKS)
    height = max(-(-rows // most), LEAST_ROWS // 2 if there else LEAST_ROWS)
    height += 0 if there else height % 2  # whole pairs
    return Grid(strips, -(-rows // height), height)


class Marching(Denoising):
    """A plan whose levels are marched, as far as that is possible."""

    def _given(self) -> list[Step]:
        """Marched levels have a given threshold from their launch."""
        return [] if all(marches(self.job.task, level.number) for level in self.levels) else super()._given()

    def _there(self, level: Level, shift: int) -> Launch:
        if not marches(self.job.task, level.number):
            return super()._there(level, shift)
        arrays = level.x, level.low, self.finest if level.number == 1 else self.nothing
        return self._march("low", level, arrays, np.int32(not level.alone), f"level {level.number}")

    def _back(self, level: Level, shift: int) -> Launch:
        if not marches(self.job.task, level.number):
            return super()._back(level, shift)
        arrays = level.x, level.back, level.out, self.thresholds.figures.reshape(-1)[1:]
        return self._march("back", level, arrays, np.float64(self.job.params["value"]), f"level {level.number} back")

    def _march(self, part: str, level: Level, arrays: tuple[Any, ...], last: Any, name: str) -> Launch:
        task = self.job.task
        strips, segments, height = grid_of(task, level.number, part == "low")
        args = (*arrays, *map(np.int32, (*level.samples, *level.results, height)), last)
        constants = constants_of(task, self.constants)
        kernel = self._marched(part, level)
        # The first launch of a plan begins when all before it has ended: another run of the same plan, for one.
        first = level.number == 1 and (part == "low" or (level.alone and not self.noise))
        grid, block = (strips, segments, 1), (WARP, 1, 1)
        return Launch(kernel, grid, block, args, constants=constants, name=name, early=not first)

    def _marched(self, part: str, level: Level) -> Any:
        task, first = self.job.task, level.number == 1
        dtype = self.job.dtype if first else self.kind
        defines = shared_defines(task, Lane.of(task)) | {
            "SAMPLE": CTYPES[dtype.name],
            "REAL": CTYPES[self.kind.name],
            "INTEGER": int(dtype.kind == "u"),
            "BORDER": BORDERS.index(task.params["border"]),
            "PAIRED": int(level.results.columns % 2 == 0),
            "IMAGE": 1,
            "SHIFTED": 0,
            "NOISE": int(first and self.noise),
            "GIVEN": int(not self.noise),
            "ALONE": int(level.alone),
            "HOW": THRESHOLDS.index(task.params["threshold"]),
        }
        return self.job.device.kernel(FILE, f"wavelet_marched_{part}", defines)
