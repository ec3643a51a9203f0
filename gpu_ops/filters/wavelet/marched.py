"""Images that keep no detail, by warps that march down a strip of columns each: which they are, and their launches."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpu_ops.filters.kit.planning import CTYPES, Job
from gpu_ops.filters.kit.support import MOST_BLOCKS
from gpu_ops.filters.wavelet.forms import BORDERS, THRESHOLDS, work_type
from gpu_ops.filters.wavelet.lane import BACK, JOIN, LONGEST, THERE, WARP, Lane, Part, shared_defines
from gpu_ops.filters.wavelet.lane_filters import constants_of
from gpu_ops.filters.wavelet.strips import Extents, Strips, extents_of
from gpu_ops.filters.wavelet.twice import Denoising, Level
from gpu_ops.params import Param
from gpu_ops.plan import DeviceArray, Launch, Step
from gpu_ops.task import Task

FILE, KEEPS, TWO = "wavelet/marched.cu", "wavelet/marched_kept.cu", "wavelet/marched_two.cu"
FOUR, MOST = 4, 1 << 31
"""Samples that move at once, and places that no image may have: bytes of a row are ints."""
LEAST_ROWS, WARPS = 8, 8
"""The fewest rows of a segment, and the warps of a multiprocessor, all at a time. Registers suffice for twice as many:
a launch begins while the one ahead still has its own."""
TWICE, KEPT = "twice", "kept"
DETAILS = Param(
    "details",
    TWICE,
    choices=(TWICE, KEPT),
    help="those of the first level of an image by lone warps: made twice, or stored and read again",
)


def suits(task: Task) -> bool:
    """Whether registers hold the state of columns, and the first level is marched."""
    meta, taps = task.meta, Strips.of(task).taps
    plain = meta.channels == 1 and task.params["shifts"] == 1 and work_type(task) == np.float32
    return meta.of_kind.rank == 2 and plain and taps <= LONGEST and marches(task, 1)


def marches(task: Task, level: int) -> bool:
    """Whether a level has rows of whole fours, and enough of them that no border goes on beyond the next edge."""
    rows, columns = extents_of(task)[level - 1]
    return columns % FOUR == 0 and rows >= 2 * Strips.of(task).taps and rows * columns < MOST


def keeps(task: Task, level: int) -> bool:
    """Whether a level keeps its details. A quarter of the samples and less stay in a cache, where they cost less than
    details made twice; of the first level the user decides. The last level has there and back in one launch."""
    if level == task.params["levels"] or not marches(task, level):
        return False
    return level > 1 or task.knobs["details"] == KEPT


def two_at_once(task: Task) -> bool:
    """Whether the first two levels are one launch on the way there: a threshold is given, the second level alone keeps
    its details, and its samples go on beyond the edges as those of the first do."""
    rows, columns = extents_of(task)[0]
    whole = Strips.of(task).periodic and rows % FOUR == 0 and columns % FOUR == 0
    return whole and task.params["rule"] == "manual" and keeps(task, 2) and not keeps(task, 1)


class Grid(NamedTuple):
    """The strips of a launch, its segments, and the rows of a segment: of coefficients there, of samples back."""

    strips: int
    segments: int
    height: int


def grid_of(task: Task, level: int, part: Part, two: bool = False) -> Grid:
    """As many segments as give every multiprocessor its warps, all at a time; `two` levels there may be one launch."""
    lane, (rows, columns) = Lane.of(task), extents_of(task)[level if part is THERE else level - 1]
    samples = columns * (4 if two else 2) if part is THERE else columns
    strips = -(-samples // lane.width(part, 3 if two else 1))
    most = min(max(WARPS * task.limits.multiprocessors // strips, 1), MOST_BLOCKS)
    height = max(-(-rows // most), LEAST_ROWS // 2 if part is THERE else LEAST_ROWS)
    height += 0 if part is THERE else height % 2  # whole pairs
    return Grid(strips, -(-rows // height), height)


class Kernel(NamedTuple):
    """A kernel of a level, and what it does."""

    file: str
    name: str
    part: Part


LOW, ALL = Kernel(FILE, "low", THERE), Kernel(KEEPS, "all", THERE)
AGAIN, JOINED = Kernel(FILE, "back", BACK), Kernel(KEEPS, "join", JOIN)


class Marching(Denoising):
    """A plan whose levels are marched, as far as that is possible."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        kept = (level for level in self.levels if keeps(job.task, level.number))
        self.kept = {level.number: self._details(level) for level in kept}

    def _details(self, level: Level) -> tuple[DeviceArray, DeviceArray]:
        """Where a level keeps its details: the mixed ones, and those that are high both ways."""
        rows, columns = level.results
        finest = self.finest if self.noise and level.number == 1 else self._band(level.results)
        return self._band(Extents(2 * rows, columns)), finest

    def _given(self) -> list[Step]:
        """Marched levels have a given threshold from their launch."""
        return [] if all(marches(self.job.task, level.number) for level in self.levels) else super()._given()

    def _wanted(self, number: int) -> tuple[bool, bool]:
        low, back = super()._wanted(number)
        return low and not (number == 1 and two_at_once(self.job.task)), back

    def _there(self, level: Level, shift: int) -> list[Launch]:
        task = self.job.task
        if not marches(task, level.number):
            return super()._there(level, shift)
        if two_at_once(task) and level.number <= 2:
            return [self._both()] if level.number == 1 else []
        if level.number in self.kept:
            return [self._march(ALL, level, level.x, level.low, *self.kept[level.number])]
        finest = self.finest if level.number == 1 else self.nothing
        return [self._march(LOW, level, level.x, level.low, finest, last=(np.int32(not level.alone),))]

    def _both(self) -> Launch:
        """The first two levels."""
        first, second = self.levels[:2]
        strips, segments, height = grid_of(self.job.task, 2, THERE, two=True)
        args = (first.x, second.low, *self.kept[2], *map(np.int32, (*first.samples, *second.results, height)))
        grid, block = (strips, segments, 1), (WARP, 1, 1)
        return Launch(
            self._kernel_of(TWO, "two", first), grid, block, args, constants=self._constants(), name="levels 1 and 2"
        )

    def _back(self, level: Level, shift: int) -> Launch:
        if not marches(self.job.task, level.number):
            return super()._back(level, shift)
        threshold, value = self.thresholds.figures.reshape(-1)[1:], (np.float64(self.job.params["value"]),)
        if level.number in self.kept:
            kept = self.kept[level.number]
            return self._march(JOINED, level, level.back, *kept, level.out, threshold, last=value)
        return self._march(AGAIN, level, level.x, level.back, level.out, threshold, last=value)

    def _march(self, of: Kernel, level: Level, *arrays: DeviceArray, last: tuple[Any, ...] = ()) -> Launch:
        there = of.part is THERE
        strips, segments, height = grid_of(self.job.task, level.number, of.part)
        args = (*arrays, *map(np.int32, (*level.samples, *level.results, height)), *last)
        # The first launch of a plan begins when all before it has ended: another run of the same plan, for one.
        first = level.number == 1 and (there or (level.alone and not self.noise))
        return Launch(
            self._kernel_of(of.file, of.name, level),
            (strips, segments, 1),
            (WARP, 1, 1),
            args,
            constants=self._constants(),
            name=f"level {level.number}" if there else f"level {level.number} back",
            early=not first,
        )

    def _constants(self) -> dict[str, Any]:
        return constants_of(self.job.params["wavelet"], self.constants, self.kind)

    def _kernel_of(self, file: str, kernel: str, level: Level) -> Any:
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
            "RESIDENT": 2 * WARPS,
            "NOISE": int(first and self.noise),
            "GIVEN": int(not self.noise),
            "ALONE": int(level.alone),
            "HOW": THRESHOLDS.index(task.params["threshold"]),
        }
        return self.job.device.kernel(file, f"wavelet_marched_{kernel}", defines)
