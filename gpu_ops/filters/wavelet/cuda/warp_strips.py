"""Images by independent warps, each of which streams down a strip of columns: three variants, by the treatment of the
details of the first two levels, and their launches."""

from __future__ import annotations

from enum import Enum
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.filters.kit.planning import CTYPES, PlanContext
from gpu_ops.filters.kit.rules import MOST_BLOCKS
from gpu_ops.filters.wavelet.cuda.lane import (
    FORWARD,
    INVERSE,
    JOIN,
    LONGEST,
    TWO_FORWARD,
    TWO_INVERSE,
    WARP,
    Lane,
    Part,
    shared_defines,
)
from gpu_ops.filters.wavelet.cuda.lane_filters import constants_of
from gpu_ops.filters.wavelet.cuda.recomputing import Denoising, Level
from gpu_ops.filters.wavelet.cuda.strips import Extents, Strips, extents_of
from gpu_ops.filters.wavelet.forms import BORDERS, THRESHOLDS
from gpu_ops.plan import DeviceArray, Launch, Step
from gpu_ops.task import Task

FOUR, MOST = 4, 1 << 31
"""Samples loaded at once, and the limit on an image's positions: bytes of a row are ints."""
LEAST_ROWS, WARPS, MOST_WARPS, SHORT, LATTICES = 8, 8, 12, 10, 28
"""The minimum rows of a segment, and the resident warps per multiprocessor if the launch is memory-bound, and if it is
compute-bound: two levels of filters with more than SHORT taps, and one of filters with more than LATTICES. Registers
suffice for so many: on an H200, 4096², coif5 took 193 µs (222 µs with 8 warps), db17 216 µs (243), db18 245 µs (273),
db19 258 µs (271), db20 291 µs (289), but db12 170 µs (152)."""


class Rung(Enum):
    """The variants, by their kernel files: details stored, those of the first level recomputed, and the same with
    shared launches of the first two levels."""

    STORED = "wavelet/11_warp_strips.cu"
    RECOMPUTED = "wavelet/12_warp_recomputed.cu"
    TWO_LEVELS = "wavelet/13_two_levels.cu"


def streams(task: Task, level: int) -> bool:
    """Whether a level has so many rows that no border goes on beyond the next edge."""
    rows, columns = extents_of(task)[level - 1]
    return rows >= 2 * Strips.of(task).taps and rows * columns * task.meta.channels < MOST


def in_fours(task: Task, level: int) -> bool:
    """Whether the samples of a level are rows of whole vectors of four: of one channel, or in planes."""
    columns = extents_of(task)[level - 1].columns
    return columns % FOUR == 0 and (level > 1 or task.meta.channels == 1)


def two_at_once(task: Task, rung: Rung) -> tuple[bool, bool]:
    """Whether the first two levels share the forward launch, and the inverse one. An estimated threshold is unknown
    until the details of the first level are computed, so only a given one lets them share the forward launch."""
    two = rung is Rung.TWO_LEVELS
    return two and task.params["rule"] == "manual", two


def stores(task: Task, level: int, rung: Rung) -> bool:
    """Whether a level stores its details. Those of a quarter of the samples or less stay in a cache, where they cost
    less than recomputation; those of the first level depend on the variant. The last level has its forward and its
    inverse transform in one launch, unless two levels share theirs."""
    if level > task.params["levels"] or not streams(task, level):
        return False
    if level == task.params["levels"]:
        return level == 2 and rung is Rung.TWO_LEVELS
    return level > 1 or rung is Rung.STORED


class Grid(NamedTuple):
    """The strips of a launch, its segments, and the rows of a segment: of coefficients forward, of samples inverse."""

    strips: int
    segments: int
    height: int


def grid_of(task: Task, level: int, part: Part) -> Grid:
    """As many segments as give every multiprocessor its resident warps. If two levels are one launch, `level` is the
    second one forward, the first one inverse: its rows are those that the launch writes."""
    lane, (rows, columns) = Lane.of(task), extents_of(task)[level if part.forward else level - 1]
    samples = columns * (4 if part.two else 2) if part.forward else columns
    strips = -(-samples // lane.width(part))
    bound = lane.taps > (SHORT if part.two else LATTICES)
    warps, channels = MOST_WARPS if bound else WARPS, task.meta.channels
    resident = (
        -(-warps // channels) * channels if level == 1 or part.two else warps
    )  # a block has a warp for each channel
    most = min(max(resident * task.limits.multiprocessors // (strips * channels), 1), MOST_BLOCKS)
    height = max(-(-rows // most), LEAST_ROWS // 2 if part.forward else LEAST_ROWS)
    height += 0 if part.forward else height % 2  # whole pairs
    return Grid(strips, -(-rows // height), height)


class Kernel(NamedTuple):
    """A kernel of a level: its file, and its work."""

    of: Rung
    part: Part

    @property
    def name(self) -> str:
        """Its name in the file."""
        variant = PurePosixPath(self.of.value).stem.partition("_")[2]
        return f"wavelet_{variant}_{'forward' if self.part.forward else 'inverse'}"


LOW, RECOMPUTE = Kernel(Rung.RECOMPUTED, FORWARD), Kernel(Rung.RECOMPUTED, INVERSE)
ALL, JOINED = Kernel(Rung.STORED, FORWARD), Kernel(Rung.STORED, JOIN)
BOTH, RECOMPUTE_BOTH = Kernel(Rung.TWO_LEVELS, TWO_FORWARD), Kernel(Rung.TWO_LEVELS, TWO_INVERSE)


class Streaming(Denoising):
    """A plan of a variant whose levels are processed by independent warps as far as possible; blocks process the
    others."""

    in_planes = True

    def __init__(self, ctx: PlanContext, rung: Rung) -> None:
        self.rung = rung
        super().__init__(ctx)
        storing = (level for level in self.levels if stores(ctx.task, level.number, rung))
        self.stored = {level.number: self._details(level) for level in storing}

    def _details(self, level: Level) -> tuple[DeviceArray, DeviceArray]:
        """The memory for a level's details: the mixed ones, and those that are high in both directions."""
        rows, columns = level.results
        finest = self.finest if self.noise and level.number == 1 else self._band(level.results)
        return self._band(Extents(2 * rows, columns)), finest

    def _given(self) -> list[Step]:
        """These levels have a given threshold from their launch."""
        return [] if all(streams(self.ctx.task, level.number) for level in self.levels) else super()._given()

    def _wanted(self, number: int) -> tuple[bool, bool]:
        (low, restored), (there, again) = super()._wanted(number), two_at_once(self.ctx.task, self.rung)
        if number == 1:
            return low and not there, restored and not again
        return low or (number == 2 and there), restored

    def _forward(self, level: Level, shift: int) -> list[Launch]:
        task = self.ctx.task
        if not streams(task, level.number):
            return super()._forward(level, shift)
        if level.number <= 2 and two_at_once(task, self.rung)[0]:
            low = self.levels[1].low
            return [self._launch_strips(BOTH, level, level.x, low, *self.stored[2])] if level.number == 1 else []
        if level.number in self.stored:
            return [self._launch_strips(ALL, level, level.x, level.low, *self.stored[level.number])]
        finest = self.finest if level.number == 1 else self.nothing
        return [self._launch_strips(LOW, level, level.x, level.low, finest, last=(np.int32(not level.alone),))]

    def _inverse(self, level: Level, shift: int) -> list[Launch]:
        if not streams(self.ctx.task, level.number):
            return super()._inverse(level, shift)
        ends = level.out, self.thresholds.figures.reshape(-1)[self.shape.channels :]
        if level.number <= 2 and two_at_once(self.ctx.task, self.rung)[1]:
            second = self.levels[1]
            restored = second.low if second.alone else second.restored
            return (
                [self._launch_strips(RECOMPUTE_BOTH, level, level.x, restored, *self.stored[2], *ends)]
                if level.number == 1
                else []
            )
        if level.number in self.stored:
            return [self._launch_strips(JOINED, level, level.restored, *self.stored[level.number], *ends)]
        return [self._launch_strips(RECOMPUTE, level, level.x, level.restored, *ends)]

    def _launch_strips(self, of: Kernel, level: Level, *arrays: DeviceArray, last: tuple[Any, ...] = ()) -> Launch:
        """A launch of a level, or of this one and the next."""
        forward, number = of.part.forward, level.number
        results = self.levels[number].results if of.part.two else level.results
        strips, segments, height = grid_of(self.ctx.task, number + (of.part is TWO_FORWARD), of.part)
        value = () if forward else (np.float64(self.ctx.params["value"]),)
        args = (*arrays, *map(np.int32, (*level.samples, *results, height)), *last, *value)
        # The first launch of a plan waits for all previous work, for example another run of the same plan; the one
        # after that of the thresholds loads these as read-only memory.
        waits = (number == 1 and forward) or (level.alone and not forward and (number == 1 or self.noise))
        levels = f"levels {number} and {number + 1}" if of.part.two else f"level {number}"
        return Launch(
            self._kernel_of(of, level),
            (strips, segments, 1 if number == 1 else self.shape.channels),
            (WARP, self.shape.channels if number == 1 else 1, 1),
            args,
            constants=self._constants(),
            name=levels if forward else f"{levels} inverse",
            early=not waits,
        )

    def _constants(self) -> dict[str, Any]:
        params = self.ctx.params
        return constants_of(params["wavelet"], params["border"], self.constants, self.kind)

    def _kernel_of(self, kernel: Kernel, level: Level) -> Any:
        task, first = self.ctx.task, level.number == 1
        dtype = self.ctx.dtype if first else self.kind
        defines = shared_defines(task, Lane.of(task)) | {
            "SAMPLE": CTYPES[dtype.name],
            "REAL": CTYPES[self.kind.name],
            "INTEGER": int(dtype.kind == "u"),
            "BORDER": BORDERS.index(task.params["border"]),
            "PAIRED": int(level.results.columns % 2 == 0),
            "IN_FOURS": int(in_fours(task, level.number)),
            "APART": self.shape.channels if first else 1,
            "IMAGE": 1,
            "SHIFTED": 0,
            "RESIDENT": WARPS if LONGEST < self.strips.taps <= LATTICES else MOST_WARPS,
            "NOISE": int(first and self.noise),
            "GIVEN": int(not self.noise),
            "ONLY_LEVEL": int(level.alone),
            "HOW": THRESHOLDS.index(task.params["threshold"]),
        }
        return self.ctx.device.kernel(kernel.of.value, kernel.name, defines)
