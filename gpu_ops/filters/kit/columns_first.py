"""Means of squares of bytes in one pass down the image, columns before rows: the shape of a block, and its segments.

kernels/include/columns_first.cuh explains them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpu_ops.filters.kit.marching import PAIRS_RADIUS, segment_rows
from gpu_ops.filters.kit.planning import PlanContext
from gpu_ops.filters.kit.rules import beyond, not_of
from gpu_ops.plan import Launch, Limits, Plan
from gpu_ops.task import Task
from gpu_ops.types import Rule

ROWS, RUN, GROUPS, OCTET = 16, 96, 24, 8
"""Rows of a tile, outputs of a thread in a row, values that begin and end with whole pixels, and sums of 16 bytes; the
same constants are in the kernels."""
MOST_RUNS, MOST_CHANNELS = 16, 4
RESERVED = 1 << 10
"""Bytes of shared memory that the driver takes of each block."""
MOST_THREADS = 640
"""Threads of the blocks that share a multiprocessor, whose registers suffice without spills."""


@dataclass(frozen=True)
class Tile:
    """The sums of a block: `runs` of a row, windows of 2 `radius` + 1 pixels of `group` channels."""

    runs: int
    radius: int
    group: int

    @property
    def columns(self) -> int:
        """Values of a row that a block computes."""
        return self.runs * RUN

    @property
    def threads(self) -> int:
        return self.runs * ROWS

    @property
    def shared_bytes(self) -> int:
        """Bytes of the sums with their padding, and of the means, as in the kernel's struct Memory."""
        reach, span = self.radius * self.group, (2 * self.radius + 1) * self.group
        octets = (self.columns + -reach % OCTET + span) // OCTET + 1
        pitch = (octets + 6) // 8 * 8 + 1
        return ROWS * (2 * OCTET * pitch + self.columns + OCTET)

    def blocks(self, limits: Limits) -> int:
        """Blocks that share a multiprocessor."""
        fit = (limits.shared_bytes + RESERVED) // (self.shared_bytes + RESERVED)
        return max(1, min(fit, MOST_THREADS // self.threads))


def tile_of(columns: int, radius: int, group: int, limits: Limits) -> Tile:
    """The tile for rows of so many values: two blocks share a multiprocessor where they fit, and the strips of an image
    are about equal."""

    def widest(least: int) -> int:
        tiles = (Tile(runs, radius, group) for runs in range(MOST_RUNS, 0, -2))
        return next((t.runs for t in tiles if t.shared_bytes <= limits.shared_bytes and t.blocks(limits) >= least), 0)

    most = widest(2) or widest(1) or 2
    runs = -(-columns // RUN)
    strips = -(-runs // most)
    return Tile(-(-runs // strips // 2) * 2, radius, group)


def plan(ctx: PlanContext, radius: int) -> Plan:
    """One launch, for windows with a side of 2 radius + 1 pixels."""
    limits = ctx.device.limits
    tile = tile_of(ctx.columns, radius, ctx.channels, limits)
    blocks, strips = tile.blocks(limits), -(-ctx.columns // tile.columns)
    rows = segment_rows(ctx.height, strips, radius, limits.multiprocessors * blocks, blocks > 1)
    rows = -(-rows // ROWS) * ROWS
    kernel = ctx.kernel(
        BORDER=ctx.border,
        RADIUS=radius,
        GROUP=ctx.channels,
        ALIGNED=int(ctx.columns % OCTET == 0),
        RUNS=tile.runs,
        SHARED=tile.shared_bytes,
        BLOCKS=blocks,
    )
    args = (ctx.x, ctx.out, *(np.int32(n) for n in (ctx.height, ctx.width, rows)))
    grid, block = (strips, -(-ctx.height // rows), 1), (tile.threads, 1, 1)
    loops = {"tiles of a segment": -(-min(rows, ctx.height) // ROWS), "rows before the first": -(-2 * radius // ROWS)}
    return ctx.plan(Launch(kernel, grid, block, args, tile.shared_bytes, name="columns and rows", loops=loops))


def rules(radius: Callable[[Task], int], advice: str) -> tuple[Rule, ...]:
    """What the kernels do not support; `advice` names the variant that does."""

    def too_large(task: Task) -> int:
        tile = Tile(2, radius(task), task.meta.channels)
        return beyond(tile.shared_bytes, task.limits.shared_bytes)

    return (
        not_of("uint16", "float32", "float64", words=f"it adds bytes in pairs, not {{meta.dtype}}; {advice}"),
        Rule(
            lambda task: task.meta.channels > MOST_CHANNELS,
            f"it takes up to {MOST_CHANNELS} channels, not {{meta.channels}}; {advice}",
        ),
        Rule(
            lambda task: beyond(radius(task), PAIRS_RADIUS),
            f"sums of more than {2 * PAIRS_RADIUS + 1} bytes do not fit 16 bits; {advice}",
            {"param radius": (256,)},
        ),
        Rule(
            too_large, f"its tile takes {{found}} bytes, a block has {{limits.shared_bytes}} of shared memory; {advice}"
        ),
    )
