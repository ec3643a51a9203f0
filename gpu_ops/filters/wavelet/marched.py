"""Images that keep no detail, by warps that march down a strip of columns each: their sizes, which the kernels compute
as well, and their launches."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpu_ops.filters.kit.planning import CTYPES
from gpu_ops.filters.wavelet.forms import BORDERS, THRESHOLDS, work_type
from gpu_ops.filters.wavelet.lane import WARP, Lane, constants_of
from gpu_ops.filters.wavelet.strips import Strips, extents_of
from gpu_ops.filters.wavelet.twice import Denoising, Level
from gpu_ops.plan import Launch, Step
from gpu_ops.task import Task

FILE = "wavelet/marched.cu"
MOST_TAPS, FOUR = 16, 4
"""The longest filters whose sums of a column lie in registers."""
LEAST_ROWS = 16


MOST = 1 << 31
"""Places in an image are ints."""


def suits(task: Task) -> bool:
    """Whether the registers of a warp hold the sums of its columns, and its first level is marched."""
    meta, taps = task.meta, Strips.of(task).taps
    whole = meta.channels == 1 and task.params["shifts"] == 1 and work_type(task) == np.float32
    return meta.of_kind.rank == 2 and whole and taps <= MOST_TAPS and marches(task, 1)


def marches(task: Task, level: int) -> bool:
    """Whether a level has rows of whole fours, and enough of them that no border goes on beyond the next edge."""
    rows, columns = extents_of(task)[level - 1]
    return columns % FOUR == 0 and rows >= 2 * Strips.of(task).taps and rows * columns < MOST


class Grid(NamedTuple):
    """The strips of a launch, its segments, and the rows of a segment: of coefficients there, of samples back."""

    strips: int
    segments: int
    height: int


def grid_of(task: Task, level: int, there: bool) -> Grid:
    """Segments are shorter where an image would occupy too few warps."""
    lane, (rows, columns) = Lane.of(task), extents_of(task)[level if there else level - 1]
    strips = -(-(2 * columns if there else columns) // lane.width(there))
    height = int(task.knobs["rows"]) // (2 if there else 1)
    wanted = int(task.knobs["low_warps" if there else "warps"]) * task.limits.multiprocessors
    least = int(task.knobs["least"])
    while height > least // (2 if there else 1) and strips * -(-rows // height) < wanted:
        height //= 2
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
        return self._march("low", level, arrays, (np.int32(not level.alone),), f"level {level.number}")

    def _back(self, level: Level, shift: int) -> Launch:
        if not marches(self.job.task, level.number):
            return super()._back(level, shift)
        arrays = level.x, level.back, level.out, self.thresholds.figures.reshape(-1)[1:]
        return self._march("back", level, arrays, (np.float64(self.job.params["value"]),), f"level {level.number} back")

    def _march(
        self, part: str, level: Level, arrays: tuple[Any, ...], more: tuple[Any, ...], name: str
    ) -> Launch:
        task, there = self.job.task, part == "low"
        strips, segments, height = grid_of(task, level.number, there)
        args = (*arrays, *map(np.int32, (*level.samples, *level.results, height)), *more)
        kernel = self._marched(part, level)
        return Launch(
            kernel, (strips, segments, 1), (WARP, 1, 1), args, constants=constants_of(task, self.constants), name=name
        )

    def _marched(self, part: str, level: Level) -> Any:
        first, lane = level.number == 1, Lane.of(self.job.task)
        dtype = self.job.dtype if first else self.kind
        defines = dict(
            SAMPLE=CTYPES[dtype.name],
            REAL=CTYPES[self.kind.name],
            INTEGER=int(dtype.kind == "u"),
            BORDER=BORDERS.index(self.job.params["border"]),
            TAPS=self.strips.taps,
            THREADS=WARP,
            EACH=lane.each,
            LATTICE=int(lane.lattice),
            PAIRED=int(level.results.columns % 2 == 0),
            IMAGE=1,
            SHIFTED=0,
            NOISE=int(first and self.noise),
            ALONE=int(level.alone),
            HOW=THRESHOLDS.index(self.job.params["threshold"]),
            DEPTH=int(self.job.knobs["depth" if part == "back" else "low_depth"]),
            GIVEN=int(not self.noise),
            RESIDENT=int(self.job.knobs["resident"]),
        )
        return self.job.device.kernel(FILE, f"wavelet_marched_{part}", defines)
