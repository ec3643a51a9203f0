"""Means of squares of integers in one pass down the image, columns before rows: the shape of a block, and its segments.

kernels/include/columns_first.cuh explains them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpu_ops.filters.kit.marching import NARROW_RADIUS, PAIRS_RADIUS, segment_rows
from gpu_ops.filters.kit.planning import CTYPES, PlanContext
from gpu_ops.filters.kit.rules import beyond, not_of
from gpu_ops.plan import Launch, Limits, Plan
from gpu_ops.task import Task
from gpu_ops.types import Rule

ROWS, PART = 16, 8
"""Rows of a tile, and bytes of the samples whose sums are 16 bytes of it; the same constants are in the kernels."""
RUN = {1: 96, 2: 48}
"""Outputs of a thread in a row by the bytes of a sample; the tile then takes about as many bytes."""
MOST_RUNS, MOST_CHANNELS = 16, 4
RESERVED = 1 << 10
"""Bytes of shared memory that the driver takes of each block."""
MOST_THREADS = 640
"""Threads of the blocks that share a multiprocessor, whose registers suffice without spills."""


@dataclass(frozen=True)
class Tile:
    """The sums of a block: `runs` of a row, windows of 2 `radius` + 1 pixels of `group` channels, in samples of
    `itemsize` bytes."""

    runs: int
    radius: int
    group: int
    itemsize: int = 1

    @property
    def columns(self) -> int:
        """Values of a row that a block computes."""
        return self.runs * RUN[self.itemsize]

    @property
    def threads(self) -> int:
        return self.runs * ROWS

    @property
    def shared_bytes(self) -> int:
        """Bytes of the sums with their padding, and of the means, as in the kernel's struct Memory."""
        reach, span = self.radius * self.group, (2 * self.radius + 1) * self.group
        per = PART // self.itemsize
        parts = (self.columns + -reach % per + span) // per + 1
        pitch = (parts + 6) // 8 * 8 + 1
        return ROWS * (2 * PART * pitch + self.columns * self.itemsize + PART)

    def blocks(self, limits: Limits) -> int:
        """Blocks that share a multiprocessor."""
        fit = (limits.shared_bytes + RESERVED) // (self.shared_bytes + RESERVED)
        return max(1, min(fit, MOST_THREADS // self.threads))


def tile_of(columns: int, radius: int, group: int, itemsize: int, limits: Limits) -> Tile:
    """The tile for rows of so many values: two blocks share a multiprocessor where they fit, and the strips of an image
    are about equal."""

    def widest(least: int) -> int:
        tiles = (Tile(runs, radius, group, itemsize) for runs in range(MOST_RUNS, 0, -2))
        return next((t.runs for t in tiles if t.shared_bytes <= limits.shared_bytes and t.blocks(limits) >= least), 0)

    most = widest(2) or widest(1) or 2
    runs = -(-columns // RUN[itemsize])
    strips = -(-runs // most)
    return Tile(-(-runs // strips // 2) * 2, radius, group, itemsize)


def plan(ctx: PlanContext, radius: int) -> Plan:
    """One launch, for windows with a side of 2 radius + 1 pixels."""
    limits, size = ctx.device.limits, ctx.dtype.itemsize
    tile = tile_of(ctx.columns, radius, ctx.channels, size, limits)
    blocks, strips = tile.blocks(limits), -(-ctx.columns // tile.columns)
    rows = segment_rows(ctx.height, strips, radius, limits.multiprocessors * blocks, blocks > 1)
    rows = -(-rows // ROWS) * ROWS
    kernel = ctx.kernel(
        SAMPLE=CTYPES[ctx.dtype.name],
        PACKED=int(size == 1),
        TOTAL="unsigned int" if radius <= NARROW_RADIUS else "unsigned long long",
        BORDER=ctx.border,
        RADIUS=radius,
        GROUP=ctx.channels,
        ALIGNED=int(ctx.columns * size % PART == 0),
        RUN=RUN[size],
        RUNS=tile.runs,
        SHARED=tile.shared_bytes,
        BLOCKS=blocks,
    )
    args = (ctx.x, ctx.out, *(np.int32(n) for n in (ctx.height, ctx.width, rows)))
    grid, block = (strips, -(-ctx.height // rows), 1), (tile.threads, 1, 1)
    loops = {"tiles of a segment": -(-min(rows, ctx.height) // ROWS), "rows before the first": -(-2 * radius // ROWS)}
    return ctx.plan(Launch(kernel, grid, block, args, tile.shared_bytes, name="columns and rows", loops=loops))


def rules(radius: Callable[[Task], int], floats: tuple[str, ...], advice: str) -> tuple[Rule, ...]:
    """What the kernels do not support, such as the filter's types of `floats`; `advice` names the variant that does."""

    def too_large(task: Task) -> int:
        tile = Tile(2, radius(task), task.meta.channels, min(task.meta.itemsize, 2))
        return beyond(tile.shared_bytes, task.limits.shared_bytes)

    return (
        not_of(*floats, words=f"it adds integers, not {{meta.dtype}}; {advice}"),
        Rule(
            lambda task: task.meta.channels > MOST_CHANNELS,
            f"it takes up to {MOST_CHANNELS} channels, not {{meta.channels}}; {advice}",
        ),
        Rule(
            lambda task: task.meta.dtype == "uint8" and beyond(radius(task), PAIRS_RADIUS),
            f"sums of more than {2 * PAIRS_RADIUS + 1} bytes do not fit 16 bits; {advice}",
        ),
        Rule(
            too_large, f"its tile takes {{found}} bytes, a block has {{limits.shared_bytes}} of shared memory; {advice}"
        ),
    )
