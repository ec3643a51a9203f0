"""The steps of the wavelet transform with several levels per launch, which a block computes on a tile of shared memory.

In the forward transform a block computes a piece of the last level's coefficients, and the details of the previous
levels at the same position. In the inverse it computes a piece of samples. What it needs of the previous, or next,
level is a span of each axis; the boundary extension makes no span longer than the positions that its taps access.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpu_ops.filters.kit.planning import PlanContext
from gpu_ops.filters.kit.rules import MOST_BLOCKS
from gpu_ops.filters.wavelet.bases import LENGTHS
from gpu_ops.filters.wavelet.cuda.launches import Lines, int64, lines_of
from gpu_ops.filters.wavelet.cuda.transform import Transform, Way
from gpu_ops.filters.wavelet.forms import BORDERS, THRESHOLDS, sizes, work_type
from gpu_ops.params import Param
from gpu_ops.plan import DeviceArray, Launch, Step
from gpu_ops.task import Task
from gpu_ops.types import Rule

MOST_TOGETHER = 3
TOGETHER = Param("together", 2, choices=(1, 2, MOST_TOGETHER), unit="levels", help="levels per launch")
TILES = 16, 32, 64, 128
TILE = Param("side", 32, choices=TILES, unit="pixels", help="rows and columns of a block's tile", tries=(16, 32, 64))


AXES_BYTES = 2 * (MOST_TOGETHER + 1) * 32
"""What the kernel stores of two axes at each level, in addition to its tiles."""


class Group(NamedTuple):
    """The levels of a launch: those after `first`, up to `last`."""

    first: int
    last: int

    @property
    def together(self) -> int:
        return self.last - self.first


class Buffers(NamedTuple):
    """Values in shared memory: `first`, the offset of the second tile, and the total."""

    first: int
    whole: int


def groups_of(levels: int, together: int) -> tuple[Group, ...]:
    """The launches of the forward transform; the inverse has them in reverse order."""
    return tuple(Group(first, min(first + together, levels)) for first in range(0, levels, together))


def spans_forward(many: int, extents: tuple[int, ...], taps: int) -> list[int]:
    """The maximum number of positions of an axis in a block at each level of a group, for `many` coefficients of the
    last."""
    found = [min(many, extents[-1])]
    for n in reversed(extents[:-1]):
        found.append(min(2 * found[-1] - 2 + taps, n))
    return found[::-1]


def spans_inverse(many: int, extents: tuple[int, ...], taps: int) -> list[int]:
    """The same for `many` samples. A span that wraps around an odd axis includes the position of its repeated
    sample."""
    found = [min(many, extents[0])]
    for n in extents[1:]:
        found.append(min((found[-1] + 1) // 2 + taps // 2, n))
    return found


def pieces(task: Task, together: int) -> tuple[int, int]:
    """Rows and columns of the tile of samples of a block; a signal has one row. They are whole coefficients of the last
    level, at least one."""
    side = int(task.knobs["side"]) if task.meta.of_kind.rank == 2 else 2 * int(task.knobs["block"])
    columns = max(1, side // task.meta.channels >> together) << together
    return (max(1, side >> together) << together if task.meta.of_kind.rank == 2 else 1), columns


def buffers(task: Task, group: Group) -> tuple[Buffers, Buffers]:
    """Shared memory of a group's launches, forward and inverse."""
    taps, channels, rank = LENGTHS[task.params["wavelet"]], task.meta.channels, task.meta.of_kind.rank
    levels = sizes(task)[group.first : group.last + 1]
    rows, columns = pieces(task, group.together)
    across = tuple(size[-1] for size in levels)
    forward = spans_forward(columns >> group.together, across, taps)
    inverse = spans_inverse(columns, across, taps)
    if rank == 1:
        return _alternating(forward[:-1], channels), _alternating([0, *inverse[1:]], 2 * channels, swapped=True)
    along = tuple(size[0] for size in levels)
    high, deep = spans_forward(rows >> group.together, along, taps), spans_inverse(rows, along, taps)
    after = range(1, group.together + 1)
    tile = max(high[level - 1] * forward[level - 1] for level in after) * channels
    bands = max(4 * deep[level] * inverse[level] for level in after) * channels
    between = max(2 * high[level - 1] * forward[level] for level in after) * channels
    between_inverse = max(2 * deep[level - 1] * inverse[level] for level in after) * channels
    return Buffers(tile, tile + between), Buffers(bands, bands + between_inverse)


def _alternating(spans: list[int], each: int, swapped: bool = False) -> Buffers:
    """Two tiles of a line, which levels use alternately: the second one first if they are swapped."""
    even, odd = (each * max(spans[turn::2], default=0) for turn in (0, 1))
    first, second = (odd, even) if swapped else (even, odd)
    return Buffers(first, first + second)


def shared_bytes(task: Task) -> int:
    """Bytes of shared memory of the largest launch."""
    groups = groups_of(task.params["levels"], task.knobs["together"])
    return (
        AXES_BYTES + max(buffer.whole for group in groups for buffer in buffers(task, group)) * work_type(task).itemsize
    )


def _advice(task: Task) -> str:
    """The maximum number of levels together, then the largest tile, that fit."""
    name, choices = ("side", TILES) if task.meta.of_kind.rank == 2 else ("block", (1024, 512, 256, 128, 64, 32, 16))
    for together in range(task.knobs["together"], 0, -1):
        for size in sorted((c for c in choices if c <= task.knobs[name]), reverse=True):
            knobs = {**task.knobs, "together": together, name: size}
            if shared_bytes(Task.of(task.meta, task.params, knobs, task.limits)) <= task.limits.shared_bytes:
                return f"take together {together} and {name} {size}"
    return "no choice of its knobs fits; take the variant constant, a shorter wavelet or fewer channels"


def _too_large(task: Task) -> tuple[int, str] | None:
    needed = shared_bytes(task)
    return (needed, _advice(task)) if needed > task.limits.shared_bytes else None


FITS = Rule(
    _too_large, "its tiles take {found[0]} bytes of shared memory, a block has {limits.shared_bytes}; {found[1]}"
)


class Levels(Transform):
    """The launches of one plan, one per group of levels and direction; the inverse thresholds the details that it loads
    by `figures`, whose row k has the thresholds of the k-th band of details."""

    def __init__(self, ctx: PlanContext, lines: Lines, pyramid: DeviceArray, way: Way, figures: DeviceArray) -> None:
        super().__init__(ctx, lines, pyramid, way)
        self.pyramid, self.figures = pyramid, figures
        self.groups = groups_of(len(self.sizes) - 1, int(ctx.knobs["together"]))

    def forward(self, x: DeviceArray) -> list[Step]:
        return [self._forward_of(group, x) for group in self.groups]

    def inverse(self, out: DeviceArray) -> list[Step]:
        return [self._inverse_of(group, out) for group in reversed(self.groups)]

    def _forward_of(self, group: Group, samples: DeviceArray) -> Launch:
        x, low = (self._approximation(level, samples) for level in group)
        rows, columns = (max(1, side >> group.together) for side in pieces(self.ctx.task, group.together))
        args = (x.values, low.values, self.pyramid, np.int32(self.taps), np.int32(group.together))
        return self._launch("forward", group, args, (x.pitch, low.pitch), (rows, columns), group.last)

    def _inverse_of(self, group: Group, samples: DeviceArray) -> Launch:
        x, low = (self._approximation(level, samples) for level in group)
        how = np.int32(THRESHOLDS.index(self.ctx.params["threshold"]))
        args = (
            low.values,
            self.pyramid,
            x.values,
            self._limits(group),
            how,
            np.int32(self.taps),
            np.int32(group.together),
        )
        return self._launch(
            "inverse", group, args, (x.pitch, low.pitch), pieces(self.ctx.task, group.together), group.first
        )

    def _launch(
        self, way: str, group: Group, args: tuple[Any, ...], pitches: tuple[int, int], many: tuple[int, int], of: int
    ) -> Launch:
        """A launch over pieces of the approximation of level `of`."""
        image, channels, forward = self.lines.shape.rank == 2, self.lines.shape.channels, way == "forward"
        (rows, columns), (down, right) = self.sizes[group.first], self._details(group.last)
        buffer = buffers(self.ctx.task, group)[0 if forward else 1]
        if image:
            places = (*pitches, self.pyramid.shape[1] * channels, down, right)
            args = (*args, *int64(rows, columns), np.int32(channels), *int64(*places), *map(np.int32, many))
        else:
            args = (*args, *int64(columns), np.int32(channels), *int64(right), np.int32(many[1]))
        grid = tuple(-(-n // each) for n, each in zip(self.sizes[of], many, strict=True))
        kernel = self.ctx.kernel(
            f"_{way}_{'tile' if image else 'line'}",
            REAL=self.lines.real,
            BORDER=BORDERS.index(self.ctx.params["border"]),
        )
        name = f"levels {group.first + 1} to {group.last}" if group.together > 1 else f"level {group.last}"
        return Launch(
            kernel,
            (grid[1], min(grid[0], MOST_BLOCKS), 1),
            (*self.lines.threads, 1),
            (*args, np.int32(buffer.first)),
            buffer.whole * self.lines.kind.itemsize,
            constants=self._constants(),
            name=name if forward else f"{name} inverse",
            loops=lines_of(kernel, self.sizes[of][0], many[0], self.lines.shape),
        )

    def _details(self, level: int) -> tuple[int, int]:
        """The row, and the position in a row, at which the details of a level begin."""
        below, beside = ("horizontal", "vertical") if self.lines.shape.rank == 2 else ("detail", "detail")
        start = {(b.level, b.orientation): b.start for b in self.bands}
        return start[level, below][0], start[level, beside][-1] * self.lines.shape.channels

    def _limits(self, group: Group) -> DeviceArray:
        """The thresholds of a group's bands, the last level first."""
        each = (1 if self.lines.shape.rank == 1 else 3) * self.lines.shape.channels
        before = self.lines.shape.channels + (len(self.sizes) - 1 - group.last) * each
        return self.figures.reshape(-1)[before : before + group.together * each]
