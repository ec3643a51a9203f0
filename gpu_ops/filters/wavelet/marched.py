"""Images by warps that march down a strip of columns each: which they are, what they keep, and their launches."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpu_ops.filters.kit.planning import CTYPES, Job
from gpu_ops.filters.kit.support import MOST_BLOCKS
from gpu_ops.filters.wavelet.forms import BORDERS, THRESHOLDS, work_type
from gpu_ops.filters.wavelet.lane import (
    BACK,
    JOIN,
    LONGEST,
    THERE,
    TWO_BACK,
    TWO_THERE,
    WARP,
    Lane,
    Part,
    shared_defines,
)
from gpu_ops.filters.wavelet.lane_filters import constants_of
from gpu_ops.filters.wavelet.strips import Extents, Strips, extents_of
from gpu_ops.filters.wavelet.twice import Denoising, Level
from gpu_ops.params import Param
from gpu_ops.plan import DeviceArray, Launch, Step
from gpu_ops.task import Task

FILE, KEEPS = "wavelet/marched.cu", "wavelet/marched_kept.cu"
TWO, TWO_AGAIN = "wavelet/marched_two.cu", "wavelet/marched_two_back.cu"
FILES = FILE, KEEPS, TWO, TWO_AGAIN
FOUR, MOST = 4, 1 << 31
"""Samples that move at once, and places that no image may have: bytes of a row are ints."""
LEAST_ROWS, WARPS, MOST_WARPS, SHORT = 8, 8, 12, 10
"""The fewest rows of a segment; the warps of a multiprocessor, all at a time, where memory is what takes the time, and
where two levels of filters of more taps than that have much to compute: registers suffice for so many."""
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


def two_at_once(task: Task) -> tuple[bool, bool]:
    """Whether the first two levels are one launch there, and one back: the first one makes its details twice, and the
    samples of the second one go on beyond the edges as its own do. On the way there a threshold is given as well."""
    params, (rows, columns) = task.params, extents_of(task)[0]
    whole = Strips.of(task).periodic and rows % FOUR == 0 and columns % FOUR == 0
    back = whole and task.knobs["details"] == TWICE and params["levels"] > 1 and marches(task, 2)
    there = back and params["rule"] == "manual"
    return there, back and (there or params["levels"] > 2)


def keeps(task: Task, level: int) -> bool:
    """Whether a level keeps its details. A quarter of the samples and less stay in a cache, where they cost less than
    details made twice; of the first level the user decides. The last level has there and back in one launch, unless it
    is one of two at once."""
    if level > task.params["levels"] or not marches(task, level):
        return False
    if level == task.params["levels"]:
        return level == 2 and two_at_once(task)[1]
    return level > 1 or task.knobs["details"] == KEPT


class Grid(NamedTuple):
    """The strips of a launch, its segments, and the rows of a segment: of coefficients there, of samples back."""

    strips: int
    segments: int
    height: int


def grid_of(task: Task, level: int, part: Part) -> Grid:
    """As many segments as give every multiprocessor its warps, all at a time. Of two levels that are one launch `level`
    is the second one there, the first one back: its rows are those that the launch writes."""
    lane, (rows, columns) = Lane.of(task), extents_of(task)[level if part.there else level - 1]
    samples = columns * (4 if part.two else 2) if part.there else columns
    strips = -(-samples // lane.width(part))
    warps = MOST_WARPS if part.two and lane.taps > SHORT else WARPS
    most = min(max(warps * task.limits.multiprocessors // strips, 1), MOST_BLOCKS)
    height = max(-(-rows // most), LEAST_ROWS // 2 if part.there else LEAST_ROWS)
    height += 0 if part.there else height % 2  # whole pairs
    return Grid(strips, -(-rows // height), height)


class Kernel(NamedTuple):
    """A kernel of a level, and what it does."""

    file: str
    name: str
    part: Part


LOW, ALL = Kernel(FILE, "low", THERE), Kernel(KEEPS, "all", THERE)
AGAIN, JOINED = Kernel(FILE, "back", BACK), Kernel(KEEPS, "join", JOIN)
BOTH, BOTH_AGAIN = Kernel(TWO, "two", TWO_THERE), Kernel(TWO_AGAIN, "two_back", TWO_BACK)


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
        (low, back), (there, again) = super()._wanted(number), two_at_once(self.job.task)
        if number == 1:
            return low and not there, back and not again
        return low or (number == 2 and there), back

    def _there(self, level: Level, shift: int) -> list[Launch]:
        task = self.job.task
        if not marches(task, level.number):
            return super()._there(level, shift)
        if level.number <= 2 and two_at_once(task)[0]:
            low = self.levels[1].low
            return [self._march(BOTH, level, level.x, low, *self.kept[2])] if level.number == 1 else []
        if level.number in self.kept:
            return [self._march(ALL, level, level.x, level.low, *self.kept[level.number])]
        finest = self.finest if level.number == 1 else self.nothing
        return [self._march(LOW, level, level.x, level.low, finest, last=(np.int32(not level.alone),))]

    def _back(self, level: Level, shift: int) -> list[Launch]:
        if not marches(self.job.task, level.number):
            return super()._back(level, shift)
        ends = level.out, self.thresholds.figures.reshape(-1)[1:]
        if level.number <= 2 and two_at_once(self.job.task)[1]:
            second = self.levels[1]
            back = second.low if second.alone else second.back
            return [self._march(BOTH_AGAIN, level, level.x, back, *self.kept[2], *ends)] if level.number == 1 else []
        if level.number in self.kept:
            return [self._march(JOINED, level, level.back, *self.kept[level.number], *ends)]
        return [self._march(AGAIN, level, level.x, level.back, *ends)]

    def _march(self, of: Kernel, level: Level, *arrays: DeviceArray, last: tuple[Any, ...] = ()) -> Launch:
        """A launch of a level, or of this one and the next."""
        there, number = of.part.there, level.number
        results = self.levels[number].results if of.part.two else level.results
        strips, segments, height = grid_of(self.job.task, number + (of.part is TWO_THERE), of.part)
        value = () if there else (np.float64(self.job.params["value"]),)
        args = (*arrays, *map(np.int32, (*level.samples, *results, height)), *last, *value)
        # The first launch of a plan begins when all before it has ended: another run of the same plan, for one.
        first = number == 1 and (there or (level.alone and not self.noise))
        levels = f"levels {number} and {number + 1}" if of.part.two else f"level {number}"
        return Launch(
            self._kernel_of(of.file, of.name, level),
            (strips, segments, 1),
            (WARP, 1, 1),
            args,
            constants=self._constants(),
            name=levels if there else f"{levels} back",
            early=not first,
        )

    def _constants(self) -> dict[str, Any]:
        params = self.job.params
        return constants_of(params["wavelet"], params["border"], self.constants, self.kind)

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
            "RESIDENT": MOST_WARPS,
            "NOISE": int(first and self.noise),
            "GIVEN": int(not self.noise),
            "ALONE": int(level.alone),
            "HOW": THRESHOLDS.index(task.params["threshold"]),
        }
        return self.job.device.kernel(file, f"wavelet_marched_{kernel}", defines)
