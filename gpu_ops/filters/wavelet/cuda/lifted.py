"""The steps of the wavelet transform by lifting, in place in tiles of shared memory: one launch per level each way."""

from __future__ import annotations

import math

import numpy as np

from gpu_ops.filters.kit.rules import MOST_BLOCKS, beyond
from gpu_ops.filters.wavelet.bases import gain_of, taps_of
from gpu_ops.filters.wavelet.cuda.launches import Plane, int64, lines_of
from gpu_ops.filters.wavelet.cuda.lifting import (
    NAMES,
    constants_of,
    deviation_of,
    lifting_of,
    reach_forward,
    reach_inverse,
)
from gpu_ops.filters.wavelet.cuda.tiles import Fused, Tile
from gpu_ops.filters.wavelet.forms import BORDERS, floats_tolerance, sizes, work_type
from gpu_ops.plan import Launch
from gpu_ops.task import Task
from gpu_ops.types import Exactness, Rule


def pairs_of(task: Task) -> Tile:
    """Rows and columns of pairs of samples, or of coefficients, per block; a signal has one row."""
    if task.meta.of_kind.rank == 1:
        return 1, max(1, int(task.knobs["block"]) // task.meta.channels)
    side = int(task.knobs["side"]) // 2
    return side, max(1, side // task.meta.channels)


def shared_values(task: Task) -> tuple[int, int]:
    """Values in shared memory, forward and inverse: a tile of pairs, those of a piece and its halo."""
    lifting, (rows, columns) = lifting_of(task.params["wavelet"]), pairs_of(task)
    image = task.meta.of_kind.rank == 2
    found = []
    for reach, more in (
        (reach_forward(lifting), 0),
        (reach_inverse(lifting), 1),
    ):  # in the inverse a piece may begin within a pair
        around = reach.after - reach.before + more
        lines = 2 * (rows + around) if image else 1
        found.append(lines * 2 * (columns + around) * task.meta.channels)
    return found[0], found[1]


def shared_bytes(task: Task) -> int:
    """Bytes of shared memory of the larger of both kernels."""
    return max(shared_values(task)) * work_type(task).itemsize


HAS_STEPS = Rule(
    lambda task: task.params["wavelet"] not in NAMES,
    f"{{wavelet}} has no lifting steps here; choose from {', '.join(NAMES)}",
    {"param wavelet": ("db16",)},
)
TILE_FITS = Rule(
    lambda task: beyond(shared_bytes(task), task.limits.shared_bytes),
    "its tile takes {found} bytes of shared memory, a block has {limits.shared_bytes}; choose a smaller side",
)
"""For images; lines have at most 44 KiB, with the most channels and the longest wavelet that has lifting steps."""


def growth(task: Task) -> float:
    """The maximum intermediate gain relative to that of a level of the filters, forward and inverse."""
    wavelet = task.params["wavelet"]
    taps, (forward, inverse) = taps_of(wavelet), lifting_of(wavelet).peaks
    of_filters = float(np.abs(taps.rec_lo).sum() + np.abs(taps.rec_hi).sum())
    return max(1.0, forward / gain_of(wavelet), inverse / of_filters) ** int(task.meta.of_kind.rank)


def _tolerance(task: Task) -> float:
    """Wider by the difference between the lifting steps' filters and the listed ones, at each level and axis."""
    steps: int = task.params["levels"] * task.meta.of_kind.rank
    return floats_tolerance(task) + 8 * steps * deviation_of(task.params["wavelet"])


EXACTNESS = Exactness(
    _tolerance, "Some published filters have few digits, so that no lifting steps reproduce both of them exactly."
)


def operations(task: Task) -> int:
    """A multiplication and an addition per weight and pair of samples, and two gains, forward and inverse."""
    steps = 2 * lifting_of(task.params["wavelet"]).multiplications - 2
    samples = sum(math.prod(size) for size in sizes(task)[:-1]) * task.meta.channels * task.meta.of_kind.rank
    return int(task.params["shifts"]) * steps * samples


class Lifted(Fused):
    """The launches of one plan; thresholding is fused into the loads of the inverse."""

    def _level(self, way: str, level: int, results: tuple[int, ...], x: Plane, low: Plane) -> Launch:
        """A forward or an inverse level, a block for each piece of the coefficients, or of the samples."""
        task, forward, image = self.ctx.task, way == "forward", self.lines.shape.rank == 2
        bands, detail_pitch = self._bands(level, low)
        planes = (x.values, *bands) if forward else (*bands, x.values)
        many = pairs_of(task) if image else pairs_of(task)[1:]
        extents = (
            (*self.sizes[level - 1], *self.sizes[level]) if image else (self.sizes[level - 1][1], self.sizes[level][1])
        )
        pitches = int64(x.pitch, low.pitch, detail_pitch) if image else ()
        sizes = (*int64(*extents), np.int32(self.lines.shape.channels), *pitches, *map(np.int32, many))
        each = 1 if forward else 2
        grid = [-(-n // (each * pairs)) for n, pairs in zip(results, pairs_of(task), strict=True)]
        lifting = lifting_of(self.ctx.params["wavelet"])
        kernel = self.ctx.kernel(
            f"_{way}_{'tile' if image else 'line'}",
            REAL=self.lines.real,
            BORDER=BORDERS.index(self.ctx.params["border"]),
        )
        return Launch(
            kernel,
            (grid[1], min(grid[0], MOST_BLOCKS) if image else 1, 1),
            (*self.lines.threads, 1),
            (
                *planes,
                *(() if forward else self._limits(level)),
                np.int32(self.taps),
                np.int32(len(lifting.steps)),
                *sizes,
            ),
            shared_values(task)[0 if forward else 1] * self.lines.kind.itemsize,
            constants=constants_of(lifting, self.lines.kind),
            name=f"level {level}" if forward else f"level {level} inverse",
            loops=lines_of(kernel, results[0], each * pairs_of(task)[0], self.lines.shape),
        )
