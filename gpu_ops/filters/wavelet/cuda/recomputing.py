"""Plans that store no detail on a GPU: the forward transform of a level writes only its approximation; the inverse one
recomputes its details from its samples, thresholds them and combines them with the approximation of the next coarser
level."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.filters.kit.planning import CTYPES, PlanContext
from gpu_ops.filters.wavelet.bases import taps_of
from gpu_ops.filters.wavelet.cuda.launches import Lines, Shape, int64
from gpu_ops.filters.wavelet.cuda.noise import Details, Thresholds
from gpu_ops.filters.wavelet.cuda.strips import Extents, Strips, Windows, extents_of, grid_of
from gpu_ops.filters.wavelet.cuda.transform import MOST_TAPS
from gpu_ops.filters.wavelet.finest import finest_of
from gpu_ops.filters.wavelet.forms import BORDERS, THRESHOLDS, bands_of, work_type
from gpu_ops.plan import DeviceArray, Launch, Plan, Step

FILE = "wavelet/9_recomputed_blocks.cu"


class Level(NamedTuple):
    """A level of the transform: its input, the approximation that the forward transform writes, and its replacement
    from the inverse transform of the next level; the last level has none. `samples` and `results` are rows and columns
    of the input and of a band."""

    number: int
    x: DeviceArray
    out: DeviceArray
    low: DeviceArray
    restored: DeviceArray
    samples: Extents
    results: Extents
    alone: bool


class Finest(Thresholds):
    """The estimates of a plan whose noise comes from an array with only the finest details: the noise, and one
    threshold for all bands."""

    def __init__(self, ctx: PlanContext, lines: Lines, finest: DeviceArray, in_planes: bool) -> None:
        self.ctx, self.lines, self.channels, self.rule = ctx, lines, lines.shape.channels, ctx.params["rule"]
        count = finest.size // self.channels
        step, next_channel = (1, count) if in_planes else (self.channels, 1)
        self.details = [Details(finest, count, count, count, step, next_channel)]
        part, columns = finest_of(ctx.task).shape, bands_of(ctx.task)[-1].shape[-1]
        self.finest = Details(finest, math.prod(part), part[-1], columns * step, step, next_channel)
        self.figures = ctx.device.empty((2, self.channels), np.float64)
        self.noise = self._row(0)


class Denoising:
    """The memory and the steps of one plan. Of several channels coefficients are interleaved, or `in_planes`."""

    in_planes = False

    def __init__(self, ctx: PlanContext) -> None:
        self.ctx, task = ctx, ctx.task
        self.kind, self.shape, self.strips = work_type(task), Shape.of(task.meta), Strips.of(task)
        self.image, self.noise = self.strips.image, ctx.params["rule"] != "manual"
        self.shifts = int(ctx.params["shifts"])
        self.nothing = ctx.device.empty((1,), self.kind)
        self.levels = self._levels()
        self.finest = self._band(self.levels[0].results) if self.noise else self.nothing
        self.total = ctx.empty(self.kind) if self.shifts > 1 else self.nothing
        lines = Lines(ctx.device, self.kind, self.shape, self.strips.threads)
        self.thresholds = Finest(ctx, lines, self.finest if self.noise else self._band(Extents(1, 1)), self.in_planes)
        self.constants = {"bank": self._bank()}

    def plan(self) -> Plan:
        """For each shift forward, if an approximation or the noise is needed; then inverse."""
        steps: list[Step] = [] if self.noise else self._given()
        for shift in range(self.shifts):
            for level in self.levels:
                of_noise = self.noise and level.number == 1
                steps += [] if level.alone and not of_noise else self._forward(level, shift)
                steps += self.thresholds.find(wanted=False) if of_noise else []
            for level in reversed(self.levels):
                steps += self._inverse(level, shift)
        return self.ctx.plan(*steps)

    def _given(self) -> list[Step]:
        """Stores a given threshold where kernels read it."""
        return self.thresholds.find(wanted=False)

    def _levels(self) -> list[Level]:
        extents = extents_of(self.ctx.task)
        levels, x, out = [], self.ctx.x, self.ctx.out
        for number, (samples, results) in enumerate(zip(extents, extents[1:], strict=False), start=1):
            alone = number == len(extents) - 1
            low, restored = (self._band(results) if wanted else self.nothing for wanted in self._wanted(number))
            levels.append(Level(number, x, out, low, restored, samples, results, alone))
            x, out = low, restored
        return levels

    def _wanted(self, number: int) -> tuple[bool, bool]:
        """Whether a level writes its approximation, and whether the next level's inverse replaces it: not for the
        last."""
        more = number < self.ctx.params["levels"]
        return more, more

    def _band(self, extents: Extents) -> DeviceArray:
        return self.ctx.device.empty((extents.rows, extents.columns * self.shape.channels), self.kind)

    def _forward(self, level: Level, shift: int) -> list[Launch]:
        """The approximation of a level, for the first one also the finest details if needed."""
        arrays = (level.x, level.low, self.finest if level.number == 1 else self.nothing)
        keeps = (np.int32(not level.alone),)
        return [self._launch("low_", level, shift, arrays, keeps, f"level {level.number}")]

    def _inverse(self, level: Level, shift: int) -> list[Launch]:
        """The inverse transform of a level, which recomputes its details."""
        thresholds = self.thresholds.figures.reshape(-1)[self.shape.channels :]
        arrays = (level.x, level.restored, self.total, level.out, thresholds)
        first, last = level.number > 1 or shift == 0, level.number > 1 or shift == self.shifts - 1
        how = np.int32(THRESHOLDS.index(self.ctx.params["threshold"]))
        ends = (np.int32(first), np.int32(last), np.float64(self.shifts), how, np.int32(level.alone))
        return [self._launch("", level, shift, arrays, ends, f"level {level.number} inverse")]

    def _extents(self, level: Level, height: int) -> tuple[Any, ...]:
        (rows, columns), (half_rows, half), channels = level.samples, level.results, self.shape.channels
        if not self.image:
            return (*int64(columns, half), np.int32(channels))
        return tuple(map(np.int32, (rows, columns, half_rows, half, channels, height)))

    def _moved(self, level: Level, shift: int) -> tuple[Any, ...]:
        rows, columns = level.samples
        return tuple(map(np.int32, (shift % rows, shift % columns))) if self.image else int64(shift % columns)

    def _launch(
        self, part: str, level: Level, shift: int, arrays: tuple[Any, ...], more: tuple[Any, ...], name: str
    ) -> Launch:
        """A forward or an inverse launch; only level 1 shifts samples."""
        forward, first = bool(part), level.number == 1
        across, segments, height = grid_of(self.ctx.task, level.number, forward)
        args = (*arrays, *self._extents(level, height), *self._moved(level, shift if first else 0), *more)
        return Launch(
            self._kernel(f"_{part}{'image' if self.image else 'signal'}", first),
            (across, segments, 1),
            (self.strips.threads, 1, 1),
            args,
            self.strips.shared(self.kind.itemsize, self.noise and first)[0 if forward else 1],
            self.constants,
            f"{name}, shift by {shift}" if shift and first else name,
        )

    def _kernel(self, part: str, first: bool) -> Any:
        """A kernel for the first level, or for the others, whose samples are approximations."""
        dtype = self.ctx.dtype if first else self.kind
        defines: dict[str, Any] = {
            "SAMPLE": CTYPES[dtype.name],
            "REAL": CTYPES[self.kind.name],
            "INTEGER": int(dtype.kind == "u"),
            "BORDER": BORDERS.index(self.ctx.params["border"]),
            "TAPS": self.strips.taps,
            "THREADS": self.strips.threads,
            "BATCH": self.strips.batch(self.kind.itemsize),
            "IMAGE": int(self.image),
            "SHIFTED": int(first and self.shifts > 1),
            "NOISE": int(first and self.noise),
        }
        return self.ctx.device.kernel(FILE, f"wavelet_recomputed_blocks{part}", defines)

    def _bank(self) -> Any:
        """Low and high of the forward transform, reversed, then those of the inverse one."""
        filters = taps_of(self.ctx.params["wavelet"])
        bank = np.zeros((4, MOST_TAPS), self.kind)
        bank[:, : self.strips.taps] = (filters.dec_lo[::-1], filters.dec_hi[::-1], filters.rec_lo, filters.rec_hi)
        return bank


class Whole(Denoising):
    """A signal with all its levels in one launch."""

    def __init__(self, ctx: PlanContext, windows: Windows) -> None:
        super().__init__(ctx)
        self.windows = windows
        self.constants["indices"] = np.array(windows.places, np.int32)

    def plan(self) -> Plan:
        """One launch per shift."""
        return self.ctx.plan(*self.thresholds.find(wanted=False), *map(self._whole, range(self.shifts)))

    def _levels(self) -> list[Level]:
        return []

    def _whole(self, shift: int) -> Launch:
        columns, channels, windows = self.shape.columns, self.shape.channels, self.windows
        thresholds = self.thresholds.figures.reshape(-1)[channels:]
        ends = np.int32(shift == 0), np.int32(shift == self.shifts - 1), np.float64(self.shifts)
        how = np.int32(THRESHOLDS.index(self.ctx.params["threshold"]))
        sizes = np.int64(columns), np.int32(channels), np.int64(shift % columns)
        numbers = (*ends, how, np.int32(self.ctx.params["levels"]), np.int32(windows.length))
        grid = -(-columns // windows.length) * channels, 1, 1
        args = (self.ctx.x, self.total, self.ctx.out, thresholds, *sizes, *numbers)
        name = f"shift by {shift}" if self.shifts > 1 else "forward, thresholds, inverse"
        shared = windows.size * self.kind.itemsize
        block = (self.strips.threads, 1, 1)
        return Launch(self._kernel("_whole", True), grid, block, args, shared, self.constants, name)
