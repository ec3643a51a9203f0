"""The steps of the wavelet transform in tiles of shared memory: one launch per level, for both axes of an image."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.filters.kit.planning import PlanContext, block_shape
from gpu_ops.filters.wavelet.bases import LENGTHS
from gpu_ops.filters.wavelet.cuda.launches import Lines, Plane, int64
from gpu_ops.filters.wavelet.cuda.transform import Transform, Way
from gpu_ops.filters.wavelet.forms import BORDERS, THRESHOLDS, work_type
from gpu_ops.params import Value
from gpu_ops.plan import DeviceArray, Launch, Step
from gpu_ops.task import Task

SHARED_FILE = "wavelet/4_shared.cu"
"""The kernels of the forward transform, for variants whose file has only the inverse."""
Tile = tuple[int, int]
"""Rows, and values of a row."""


def positions(width: int, channels: int) -> int:
    """The maximum number of positions that `width` consecutive values access."""
    return (width - 1) // channels + 1 + (width % channels > 0)


def sample_tile(block: Tile, taps: int, channels: int) -> Tile:
    """The samples around the coefficients of a block of (rows, values)."""
    rows, width = block
    return 2 * (rows - 1) + taps, (2 * (positions(width, channels) - 1) + taps) * channels


def coefficient_tile(block: Tile, taps: int, channels: int) -> Tile:
    """The coefficients around the samples of a block of (rows, values)."""
    rows, width = block
    return rows // 2 + taps // 2, (positions(width, channels) // 2 + taps // 2) * channels


def block_of(task: Task) -> Tile:
    """Rows and values of a block: signals have one row."""
    x, y = (int(task.knobs["block"]), 1) if task.meta.of_kind.rank == 1 else block_shape(task.knobs["block"])
    return y, x


def shared_values(task: Task) -> tuple[int, int]:
    """Values in shared memory, forward and inverse: tiles, and intermediate results between the passes of an image."""
    block, taps, channels = block_of(task), LENGTHS[task.params["wavelet"]], task.meta.channels
    (rows, width), (inverse_rows, inverse_width) = (
        tile(block, taps, channels) for tile in (sample_tile, coefficient_tile)
    )
    if task.meta.of_kind.rank == 1:
        return width, 2 * inverse_width
    return rows * (width + 2 * block[1]), (4 * inverse_rows + 2 * block[0]) * inverse_width


def shared_bytes(task: Task) -> int:
    """Bytes of shared memory of the larger of both kernels."""
    return max(shared_values(task)) * work_type(task).itemsize


class Tiles(Transform):
    """The launches of one plan, one per level and direction."""

    def _analyse(self, level: int, x: Plane, low: Plane) -> list[Step]:
        return [self._level("forward", level, self.sizes[level], x, low)]

    def _synthesise(self, level: int, low: Plane, x: Plane) -> list[Step]:
        return [self._level("inverse", level, self.sizes[level - 1], x, low)]

    def _level(self, way: str, level: int, results: tuple[int, ...], x: Plane, low: Plane) -> Launch:
        """A forward or an inverse level, one thread per each of the `results`, rows and columns."""
        task, channels, forward = self.ctx.task, self.lines.shape.channels, way == "forward"
        bands, detail_pitch = self._bands(level, low)
        planes = (x.values, *bands) if forward else (*bands, x.values)
        (rows, columns), (half_rows, half) = self.sizes[level - 1], self.sizes[level]
        tile = (sample_tile if forward else coefficient_tile)(block_of(task), self.taps, channels)
        sizes: tuple[Any, ...] = (*int64(columns, half), np.int32(channels), np.int32(tile[1]))
        if self.lines.shape.rank == 2:
            extents = (*int64(rows, columns, half_rows, half), np.int32(channels))
            sizes = (*extents, *int64(x.pitch, low.pitch, detail_pitch), *map(np.int32, tile))
        name = f"level {level}" if forward else f"level {level} inverse"
        kernel = self._step(f"_{way}_{'line' if self.lines.shape.rank == 1 else 'level'}")
        shared = shared_values(task)[0 if forward else 1] * self.lines.kind.itemsize
        args = (*planes, *(() if forward else self._limits(level)), np.int32(self.taps), *sizes)
        return self.lines.over(kernel, results[0], results[1] * channels, args, name, shared, self._constants())

    def _step(self, part: str) -> Any:
        """The kernel of a level in one direction."""
        return self._kernel(part)

    def _limits(self, level: int) -> tuple[Any, ...]:
        """The inverse's threshold arguments: none, because they were applied before."""
        return ()

    def _bands(self, level: int, low: Plane) -> tuple[tuple[Any, ...], int]:
        """The memory of the level's bands, and the pitch of its details."""
        names = ("detail",) if self.lines.shape.rank == 1 else ("horizontal", "vertical", "diagonal")
        details = [self.planes[level, name] for name in names]
        return (low.values, *(d.values for d in details)), details[0].pitch


class Fused(Tiles):
    """The forward transform of the tiles; the inverse thresholds the details that it loads by `figures`, whose row k
    has the thresholds of the k-th band of details."""

    def __init__(self, ctx: PlanContext, lines: Lines, pyramid: DeviceArray, way: Way, figures: DeviceArray) -> None:
        super().__init__(ctx, lines, pyramid, way)
        self.figures = figures

    def _step(self, part: str) -> Any:
        if part.startswith("_inverse"):
            return self._kernel(part)
        defines: dict[str, Value] = {"REAL": self.lines.real, "BORDER": BORDERS.index(self.ctx.params["border"])}
        return self.ctx.device.kernel(SHARED_FILE, f"wavelet_shared{part}", defines)

    def _limits(self, level: int) -> tuple[Any, ...]:
        each, channels = (1 if self.lines.shape.rank == 1 else 3), self.lines.shape.channels
        first = (1 + (len(self.sizes) - 1 - level) * each) * channels
        thresholds = self.figures.reshape(-1)[first : first + each * channels]
        return thresholds, np.int32(THRESHOLDS.index(self.ctx.params["threshold"]))
