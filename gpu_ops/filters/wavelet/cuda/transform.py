"""The steps of the wavelet transform on a GPU: for each level along the rows, then along the columns; the inverse in
reverse order. Details are stored in the pyramid, approximations between levels in separate memory."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.filters.kit.planning import PlanContext
from gpu_ops.filters.wavelet.bases import taps_of
from gpu_ops.filters.wavelet.cuda.launches import Lines, Plane, int64, plane
from gpu_ops.filters.wavelet.forms import BORDERS, bands_of, sizes
from gpu_ops.output_kinds import Band
from gpu_ops.plan import DeviceArray, Fill, Launch, Step

MOST_TAPS = 64
"""Maximum taps of a filter in constant memory; the same constant is in its kernel."""
ROWS, COLUMNS = "rows", "columns"


class Way(NamedTuple):
    """The method of a kernel file: its taps are in constant memory, or in global memory; in the inverse a thread
    gathers the coefficients of its sample, or scatters the contributions of its coefficients, onto zeros. In tiles of
    shared memory a whole level is one launch; fused, it thresholds the details that the inverse loads. Grouped, several
    levels are one launch; lifted, a level is computed by lifting. Both are fused."""

    in_constant: bool = True
    scatters: bool = False
    in_tiles: bool = False
    fused: bool = False
    grouped: bool = False
    lifted: bool = False

    @property
    def shrinks(self) -> bool:
        """Whether the inverse applies the thresholds."""
        return self.fused or self.grouped or self.lifted


class Transform:
    """The launches of one plan, and the memory between them."""

    def __init__(self, ctx: PlanContext, lines: Lines, pyramid: DeviceArray, way: Way) -> None:
        self.ctx, self.lines, self.way = ctx, lines, way
        self.bands = bands_of(ctx.task)
        shapes = sizes(ctx.task)
        self.sizes = shapes if lines.shape.rank == 2 else tuple((1, columns) for (columns,) in shapes)
        """Rows and columns of the approximation at level 0, 1, …"""
        self.taps = len(taps_of(ctx.params["wavelet"]).dec_lo)
        self.planes = {(b.level, b.orientation): band_plane(b, pyramid, lines) for b in self.bands}
        self.between: dict[int, DeviceArray] = {}
        self.bank = self._bank()

    def forward(self, x: DeviceArray) -> list[Step]:
        """From the samples to the pyramid."""
        steps: list[Step] = []
        for level in range(1, len(self.sizes)):
            steps += self._analyse(level, self._approximation(level - 1, x), self._approximation(level, x))
        return steps

    def inverse(self, out: DeviceArray) -> list[Step]:
        """From the pyramid to the samples."""
        steps: list[Step] = []
        for level in reversed(range(1, len(self.sizes))):
            steps += self._synthesise(level, self._approximation(level, out), self._approximation(level - 1, out))
        return steps

    def _analyse(self, level: int, x: Plane, low: Plane) -> list[Step]:
        """From the approximation of the previous level to that of this one, and its details."""
        (rows, n), (half_rows, half) = self.sizes[level - 1], self.sizes[level]
        if self.lines.shape.rank == 1:
            return [self._forward(ROWS, level, x, low, self.planes[level, "detail"], n, half, rows)]
        left, right = self._halves(rows, half)
        vertical = self.planes[level, "vertical"]
        steps: list[Step] = [self._forward(ROWS, level, x, left, right, n, half, rows)]
        for which, to, detail in ((left, low, "horizontal"), (right, vertical, "diagonal")):
            steps.append(self._forward(COLUMNS, level, which, to, self.planes[level, detail], rows, half_rows, half))
        return steps

    def _synthesise(self, level: int, low: Plane, x: Plane) -> list[Step]:
        """In reverse order."""
        (rows, n), (half_rows, half) = self.sizes[level - 1], self.sizes[level]
        if self.lines.shape.rank == 1:
            return self._inverse(ROWS, level, low, self.planes[level, "detail"], x, n, half, rows)
        left, right = self._halves(rows, half)
        vertical = self.planes[level, "vertical"]
        steps: list[Step] = []
        for of, detail, which in ((low, "horizontal", left), (vertical, "diagonal", right)):
            steps += self._inverse(COLUMNS, level, of, self.planes[level, detail], which, rows, half_rows, half)
        return [*steps, *self._inverse(ROWS, level, left, right, x, n, half, rows)]

    def _halves(self, rows: int, half: int) -> list[Plane]:
        """The low and the high half of the rows."""
        return [plane(memory, rows, half * self.lines.shape.channels) for memory in self._halves_memory]

    def _approximation(self, level: int, samples: DeviceArray) -> Plane:
        """The position of the approximation of a level: level 0 are the samples, the last one is in the pyramid."""
        rows, columns = self.sizes[level]
        if level == len(self.sizes) - 1:
            return self.planes[level, "approximation"]
        if level and level not in self.between:
            self.between[level] = self._empty(rows, columns)
        return plane(self.between[level] if level else samples, rows, columns * self.lines.shape.channels)

    def _forward(
        self, along: str, level: int, x: Plane, low: Plane, high: Plane, n: int, half: int, others: int
    ) -> Launch:
        """Pairs of coefficients along an axis of n samples, for `others` lines along the other axis."""
        channels = self.lines.shape.channels
        kernel = self._kernel(f"_forward_{along}")
        lines, width = (others, half * channels) if along == ROWS else (half, others * channels)
        sizes = self._sizes(along, n, half, others)
        args = (x.values, low.values, high.values, *self._taps(), *sizes, *int64(x.pitch, low.pitch, high.pitch))
        return self.lines.over(kernel, lines, width, args, f"level {level}: {along}", constants=self._constants())

    def _inverse(
        self, along: str, level: int, low: Plane, high: Plane, x: Plane, n: int, half: int, others: int
    ) -> list[Step]:
        """Samples along an axis of n, for `others` lines along the other axis."""
        channels = self.lines.shape.channels
        kernel = self._kernel(f"_inverse_{along}")
        threads = half if self.way.scatters else n
        lines, width = (others, threads * channels) if along == ROWS else (threads, others * channels)
        sizes = self._sizes(along, n, half, others)
        args = (low.values, high.values, x.values, *self._taps(), *sizes, *int64(low.pitch, high.pitch, x.pitch))
        name = f"level {level}: {along} back"
        step = self.lines.over(kernel, lines, width, args, name, constants=self._constants())
        return [Fill(x.values, 0, f"level {level}: clear"), step] if self.way.scatters else [step]

    def _sizes(self, along: str, n: int, half: int, others: int) -> tuple[Any, ...]:
        channels = self.lines.shape.channels
        if along == ROWS:
            return (*int64(others, n, half), np.int32(channels))
        return int64(n, half, others * channels)

    def _kernel(self, part: str) -> Any:
        return self.ctx.kernel(part, REAL=self.lines.real, BORDER=BORDERS.index(self.ctx.params["border"]))

    def _bank(self) -> Any:
        """Low and high of the forward transform, reversed, then low and high of the inverse; in constant memory each
        has MOST_TAPS elements."""
        filters = taps_of(self.ctx.params["wavelet"])
        bank = np.zeros((4, MOST_TAPS if self.way.in_constant else self.taps), self.lines.kind)
        bank[:, : self.taps] = (filters.dec_lo[::-1], filters.dec_hi[::-1], filters.rec_lo, filters.rec_hi)
        return bank if self.way.in_constant else self.ctx.device.upload(bank)

    def _taps(self) -> tuple[Any, ...]:
        return (np.int32(self.taps),) if self.way.in_constant else (self.bank, np.int32(self.taps))

    def _constants(self) -> dict[str, Any]:
        return {"bank": self.bank} if self.way.in_constant else {}

    @cached_property
    def _halves_memory(self) -> list[DeviceArray]:
        """Enough for the halves of the largest level: a short axis grows with the symmetric border."""
        pairs = zip(self.sizes, self.sizes[1:], strict=False)
        most = max(rows * half for (rows, _), (_, half) in pairs)
        return [self._empty(1, most) for _ in range(2)]

    def _empty(self, rows: int, columns: int) -> DeviceArray:
        return self.ctx.device.empty((rows, columns * self.lines.shape.channels), self.lines.kind)


def band_plane(band: Band, pyramid: DeviceArray, lines: Lines) -> Plane:
    """The position of a band of the pyramid."""
    channels, rank = lines.shape.channels, lines.shape.rank
    pitch = pyramid.shape[rank - 1] * channels
    rows, columns = band.shape if rank == 2 else (1, band.shape[0])
    top, left = band.start if rank == 2 else (0, band.start[0])
    return plane(pyramid, rows, columns * channels, pitch, top * pitch + left * channels)
