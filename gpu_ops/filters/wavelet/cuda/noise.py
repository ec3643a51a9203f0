"""The steps from details to thresholds on a GPU, and the kernel that applies them. Nothing waits for a result: the
values stay on the device."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.devices.launches import grid1d
from gpu_ops.filters.kit.planning import NO_LOOPS, PlanContext
from gpu_ops.filters.wavelet.cuda.launches import Lines, Plane, int64
from gpu_ops.filters.wavelet.cuda.transform import band_plane
from gpu_ops.filters.wavelet.finest import finest_of
from gpu_ops.filters.wavelet.forms import THRESHOLDS, bands_of, figures_form
from gpu_ops.output_kinds import Band
from gpu_ops.plan import DeviceArray, Fill, Launch, Step

THREADS = 256
"""Threads per block of these kernels; the same constants are in the kernels."""
TILE = 2 * THREADS
"""Magnitudes that a block sorts."""
EACH, MOST_BLOCKS = 8, 1024
"""The minimum coefficients per thread, if there are more than these blocks have threads."""
DIGITS = 256


class Details(NamedTuple):
    """The coefficients of a band: `many` per channel; e is in row e // columns, with a stride of `step`. The next
    channel begins `channel_step` later."""

    values: DeviceArray
    many: int
    columns: int
    pitch: int
    step: int
    channel_step: int

    @property
    def args(self) -> tuple[Any, ...]:
        """As kernel arguments after the pointers."""
        return int64(*self[1:])


class Thresholds:
    """A plan's estimates, a column per channel: row 0 is the noise, row k the threshold of the k-th band of details."""

    def __init__(self, ctx: PlanContext, lines: Lines, pyramid: DeviceArray) -> None:
        self.ctx, self.lines, self.channels = ctx, lines, lines.shape.channels
        self.rule = ctx.params["rule"]
        self.bands = bands_of(ctx.task)[1:]
        self.planes = [band_plane(band, pyramid, lines) for band in self.bands]
        self.details = [self._details(*pair) for pair in zip(self.bands, self.planes, strict=True)]
        finest = finest_of(ctx.task)
        self.finest = self._details(finest, band_plane(finest, pyramid, lines))
        self.figures = ctx.device.empty(figures_form(ctx.task).shape, np.float64)
        self.noise = self._row(0)

    def find(self, wanted: bool) -> list[Step]:
        """The noise and the thresholds; a given threshold needs no noise, unless it is `wanted` as an output."""
        return [*([] if self.rule == "manual" and not wanted else self._estimate), *self._decide]

    @cached_property
    def _estimate(self) -> list[Step]:
        """The noise, from the finest details; the same steps and memory for each shift."""
        return self._median(self.finest)

    @cached_property
    def _decide(self) -> list[Step]:
        """The thresholds; the same steps and memory for each shift."""
        if self.rule in ("manual", "universal"):
            return [self._same()]
        rule = self._bayes if self.rule == "BayesShrink" else self._sure
        return [step for k, details in enumerate(self.details, start=1) for step in rule(details, self._row(k))]

    def shrink(self) -> list[Launch]:
        """Threshold all details in place."""
        return [self._shrink(band, at, self._row(k)) for k, (band, at) in enumerate(self._pairs(), start=1)]

    def _pairs(self) -> list[tuple[Band, Plane]]:
        return list(zip(self.bands, self.planes, strict=True))

    def _row(self, k: int) -> DeviceArray:
        return self.figures.reshape(-1)[k * self.channels : (k + 1) * self.channels]

    def _details(self, band: Band, at: Plane) -> Details:
        return Details(at.values, math.prod(band.shape), band.shape[-1], at.pitch, self.channels, 1)

    def _shrink(self, band: Band, at: Plane, thresholds: DeviceArray) -> Launch:
        rows, width = math.prod(band.shape[:-1]), band.shape[-1] * self.channels
        how = np.int32(THRESHOLDS.index(self.ctx.params["threshold"]))
        args = (at.values, thresholds, *int64(rows, width, at.pitch), np.int32(self.channels), how)
        name = f"shrink level {band.level} {band.orientation}"
        return self.lines.over(self.lines.kernel("shrink"), rows, width, args, name)

    def _median(self, details: Details) -> list[Step]:
        """The noise estimate, by radix selection."""
        empty, width = self.ctx.device.empty, self.lines.kind.itemsize
        counts = empty((self.channels, 2, DIGITS), np.uint32)
        found, left = empty((self.channels, 2), np.uint64), empty((self.channels, 2), np.int64)
        count, pick = (self.lines.kernel("median", part, WIDTH=width) for part in ("count", "pick"))
        steps: list[Step] = [Fill(counts, 0, "clear the counts")]
        for k in map(np.int32, range(width)):
            args = (details.values, counts, found, *details.args, k)
            blocks = self._blocks(details.many)
            loops = {"coefficients to count": -(-details.many // (blocks * THREADS))}
            steps.append(self._launch(count, blocks, args, f"count digit {k}", loops))
            one = (counts, found, left, self.noise, np.int64(details.many), k)
            steps.append(Launch(pick, (self.channels, 1, 1), (DIGITS, 1, 1), one, name=f"pick digit {k}"))
        return steps

    def _same(self) -> Launch:
        """The given threshold or the universal one, the same for all bands."""
        of_noise, thresholds = self.rule == "universal", self.figures.reshape(-1)[self.channels :]
        samples = self.lines.shape.rows * self.lines.shape.columns
        value = math.sqrt(2 * math.log(samples)) if of_noise else self.ctx.params["value"]
        args = (self.noise, thresholds, np.float64(value), np.int32(of_noise), np.int64(thresholds.size))
        kernel = self.lines.kernel("thresholds", "same")
        grid = grid1d(thresholds.size, THREADS)
        return Launch(kernel, grid, (THREADS, 1, 1), (*args, np.int32(self.channels)), name="thresholds")

    def _bayes(self, details: Details, threshold: DeviceArray) -> list[Launch]:
        squares, sums, sizes, blocks = self._squares(details)
        args = (sums, sizes, self.noise, threshold, np.int64(details.many), np.int32(blocks))
        return [squares, self._per_channel("thresholds", "bayes", args, blocks)]

    def _squares(self, details: Details) -> tuple[Launch, DeviceArray, DeviceArray, int]:
        """Sums of squares and maximum magnitudes, stored as (channels, blocks), and the number of blocks."""
        blocks, part = self._parts(details.many)
        sums, sizes = (self.ctx.device.empty((self.channels, blocks), np.float64) for _ in range(2))
        args = (details.values, self.noise, sums, sizes, *details.args, np.int64(part))
        kernel, loops = self.lines.kernel("thresholds", "squares"), {"squares of a part": -(-part // THREADS)}
        return self._launch(kernel, blocks, args, "squares", loops), sums, sizes, blocks

    def _sure(self, details: Details, threshold: DeviceArray) -> list[Launch]:
        steps, ordered = self._sort(details)
        count = details.many
        squares, sums, _, blocks = self._squares(Details(ordered, count, count, count, 1, count))
        risks, places = (self.ctx.device.empty((self.channels, blocks), np.float64) for _ in range(2))
        most = np.float64(math.sqrt(2 * math.log(count)))
        part = self._parts(count)[1]
        args = (ordered, sums, self.noise, risks, places, np.int64(count), np.int64(part), most)
        loops = {"parts before": -(-(blocks - 1) // THREADS), "risks of a part": -(-part // THREADS)}
        least = self._launch(self.lines.kernel("risk", "least"), blocks, args, "risks", loops)
        last = (risks, places, self.noise, threshold, np.int64(count), np.int32(blocks))
        return [*steps, squares, least, self._per_channel("risk", "pick", last, blocks)]

    def _sort(self, details: Details) -> tuple[list[Launch], DeviceArray]:
        """The magnitudes of each channel, sorted: tiles, then runs that double in length with each merge."""
        count = details.many
        source, target = (memory[: self.channels * count] for memory in self._magnitudes)
        sort, merge = (self.lines.kernel("risk", part) for part in ("sort", "merge"))
        tiles = -(-count // TILE)
        steps = [self._launch(sort, tiles, (details.values, source, *details.args), "sort")]
        run = TILE
        while run < count:
            args = (source, target, *int64(count, run))
            steps.append(self._launch(merge, -(-count // THREADS), args, f"merge runs of {run}"))
            source, target, run = target, source, 2 * run
        return steps, source

    @cached_property
    def _magnitudes(self) -> tuple[DeviceArray, DeviceArray]:
        """Twice the memory for the largest band, which all bands share."""
        most = self.channels * max(details.many for details in self.details)
        return self.ctx.device.empty((most,), self.lines.kind), self.ctx.device.empty((most,), self.lines.kind)

    def _launch(
        self, kernel: Any, blocks: int, args: tuple[Any, ...], name: str, loops: Mapping[str, int] = NO_LOOPS
    ) -> Launch:
        return Launch(kernel, (blocks, self.channels, 1), (THREADS, 1, 1), args, name=name, loops=loops)

    def _per_channel(self, file: str, part: str, args: tuple[Any, ...], blocks: int) -> Launch:
        """One block per channel, for the results of this number of blocks."""
        kernel, loops = self.lines.kernel(file, part), {f"parts of {part}": -(-blocks // THREADS)}
        name = f"threshold by {self.rule}"
        return Launch(kernel, (self.channels, 1, 1), (THREADS, 1, 1), args, name=name, loops=loops)

    def _blocks(self, count: int) -> int:
        return min(-(-count // (THREADS * EACH)), MOST_BLOCKS)

    def _parts(self, count: int) -> tuple[int, int]:
        """The number of blocks, and of coefficients per block."""
        part = -(-count // self._blocks(count))
        return -(-count // part), part
