"""Images that keep no detail, by warps that march down a strip of columns each: their sizes, which the kernels compute
as well, and their launches."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpu_ops.filters.kit.planning import CTYPES
from gpu_ops.filters.wavelet.forms import BORDERS, THRESHOLDS, work_type
from gpu_ops.filters.wavelet.strips import Strips, extents_of
from gpu_ops.filters.wavelet.twice import Denoising, Level
from gpu_ops.plan import Launch
from gpu_ops.task import Task

FILE = "wavelet/marched.cu"
MOST_TAPS, WARP = 16, 32
"""The longest filters whose sums of a column lie in registers."""
LEAST_ROWS = 16


class March(NamedTuple):
    """What lanes of `each` samples make of a row of an image; the kernels compute the same."""

    taps: int
    reach: int
    each: int

    @classmethod
    def of(cls, task: Task) -> March:
        strips = Strips.of(task)
        return cls(strips.taps, strips.reach, int(task.knobs["each"]))

    @property
    def ahead(self) -> int:
        """How far a lane's first coefficient is from that of the same number."""
        return (self.reach - self.taps // 2 + 3) // 4 * 2

    @property
    def around(self) -> tuple[int, int]:
        """The samples before and after its own that a lane needs for coefficients."""
        before = self.reach - 2 * self.ahead
        return before, self.taps - 2 - before

    @property
    def wanted(self) -> tuple[int, int]:
        """The coefficients before and after its own that a lane needs for samples."""
        return self.taps // 2 - 1 + self.ahead - self.reach // 2, (self.reach + 1) // 2 - self.ahead

    def lost(self, there: bool) -> tuple[int, int]:
        """The lanes at both ends of a warp that lack what lies beyond."""
        twice = (0, 0) if there else self.wanted
        before, after = (-(-(own + 2 * more) // self.each) for own, more in zip(self.around, twice, strict=True))
        return before, after

    def width(self, there: bool) -> int:
        """The samples of a row that a warp makes, or whose coefficients it makes."""
        return (WARP - sum(self.lost(there))) * self.each


def suits(task: Task) -> bool:
    """Whether the registers of a warp hold the sums of its columns."""
    return task.meta.of_kind.rank == 2 and work_type(task) == np.float32 and Strips.of(task).taps <= MOST_TAPS


class Grid(NamedTuple):
    """The strips of a launch, its segments, and the rows of a segment: of coefficients there, of samples back."""

    strips: int
    segments: int
    height: int


def grid_of(task: Task, level: int, there: bool) -> Grid:
    march, (rows, columns) = March.of(task), extents_of(task)[level if there else level - 1]
    strips = -(-(2 * columns if there else columns) // march.width(there))
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
            self.constants,
            f"{name}, shift by {shift}" if shift and first else name,
        )

    def _marched(self, part: str, level: Level) -> Any:
        first = level.number == 1
        dtype = self.job.dtype if first else self.kind
        there = part != "back"
        defines = dict(
            SAMPLE=CTYPES[dtype.name],
            REAL=CTYPES[self.kind.name],
            INTEGER=int(dtype.kind == "u"),
            BORDER=BORDERS.index(self.job.params["border"]),
            TAPS=self.strips.taps,
            THREADS=self.strips.threads,
            EACH=March.of(self.job.task).each,
            IMAGE=1,
            SHIFTED=int(first and self.shifts > 1),
            NOISE=int(first and self.noise),
            ALONE=int(level.alone),
            HOW=THRESHOLDS.index(self.job.params["threshold"]),
            RESIDENT=int(self.job.knobs["resident"]),
        )
        return self.job.device.kernel(FILE, f"wavelet_marched_{'low' if there else 'back'}", defines)
