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
from gpu_ops.plan import Launch
from gpu_ops.task import Task

FILE = "wavelet/marched.cu"
MOST_TAPS = 16
"""The longest filters whose sums of a column lie in registers."""
LEAST_ROWS = 16


def suits(task: Task) -> bool:
    """Whether the registers of a warp hold the sums of its columns."""
    return task.meta.of_kind.rank == 2 and work_type(task) == np.float32 and Strips.of(task).taps <= MOST_TAPS


class Grid(NamedTuple):
    """The strips of a launch, its segments, and the rows of a segment: of coefficients there, of samples back."""

    strips: int
    segments: int
    height: int


def grid_of(task: Task, level: int, there: bool) -> Grid:
    lane, (rows, columns) = Lane.of(task), extents_of(task)[level if there else level - 1]
    strips = -(-(2 * columns if there else columns) // lane.width(there))
    height = int(task.knobs["rows"]) // (2 if there else 1)
    wanted = int(task.knobs["warps"]) * task.limits.multiprocessors
    while height > LEAST_ROWS // (2 if there else 1) and strips * task.meta.channels * -(-rows // height) < wanted:
        height //= 2
    return Grid(strips, -(-rows // height), height)


class Marching(Denoising):
    """A plan whose levels are marched."""

    def _launch(
        self, part: str, level: Level, shift: int, arrays: tuple[Any, ...], more: tuple[Any, ...], name: str
    ) -> Launch:
        there, first = bool(part), level.number == 1
        strips, segments, height = grid_of(self.job.task, level.number, there)
        places = (np.int32(strips), *(() if there else (np.int32(segments),)))
        ends = more if there else more[:-2]
        args = (*arrays, *self._extents(level, height), *self._moved(level, shift if first else 0), *places, *ends)
        threads, channels = self.strips.threads, self.shape.channels
        return Launch(
            self._marched(part or "back", level),
            (-(-strips * segments * channels * WARP // threads), 1, 1),
            (threads, 1, 1),
            args,
            0,
            constants_of(self.job.task, self.constants),
            f"{name}, shift by {shift}" if shift and first else name,
        )

    def _marched(self, part: str, level: Level) -> Any:
        first = level.number == 1
        dtype = self.job.dtype if first else self.kind
        there, lane = part != "back", Lane.of(self.job.task)
        defines = dict(
            SAMPLE=CTYPES[dtype.name],
            REAL=CTYPES[self.kind.name],
            INTEGER=int(dtype.kind == "u"),
            BORDER=BORDERS.index(self.job.params["border"]),
            TAPS=self.strips.taps,
            THREADS=self.strips.threads,
            EACH=lane.each,
            LATTICE=int(lane.lattice),
            IMAGE=1,
            SHIFTED=int(first and self.shifts > 1),
            NOISE=int(first and self.noise),
            ALONE=int(level.alone),
            HOW=THRESHOLDS.index(self.job.params["threshold"]),
            RESIDENT=int(self.job.knobs["resident"]),
        )
        return self.job.device.kernel(FILE, f"wavelet_marched_{'low' if there else 'back'}", defines)
