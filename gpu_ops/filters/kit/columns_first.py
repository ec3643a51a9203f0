"""Means of squares of integers in one pass down the image, columns before rows: the shape of a block, and its segments.

kernels/box/columns_first.cuh explains them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpu_ops.filters.kit.planning import CTYPES, PlanContext
from gpu_ops.filters.kit.rules import beyond, not_of
from gpu_ops.plan import Launch, Limits, Plan
from gpu_ops.task import Meta, Task
from gpu_ops.types import Counts, Rule

WARP, VECTOR = 32, 16
MOST_CHANNELS = 4
MOST_RADIUS = 128
"""Up to this radius the sum of a column of bytes fits 16 bits, that of a square of 16-bit values a word and a bit."""
FEWEST_ROWS = 8
MANY_PIXELS = 8192**2
FASTER_FROM = {("uint8", 1): 64, ("uint8", 3): 32, ("uint8", 4): 96, ("uint16", 1): 32}
"""The smallest radius measured, by samples and channels, at which it was faster than a ring buffer. On an H200, 8192²:
RGB radius 32 209 µs (ring buffer 223), 64 225 (309), 128 294 (718); RGBA radius 96 318 (389), 120 338 (478); gray
radius 64 104 (131); 16 bits radius 32 132 (139), 64 139 (190), 128 183 (297)."""
UNITS = (5, 192), (9, 64, 3), (7, 64, 4), (1, 64), (13, 96)
"""Shapes of images that the contract tests in addition: their rows are whole units."""
RAGGED = ((1, 1), (1, 7), (7, 1), (17, 33), (33, 257), (61, 127), (130, 70), (19, 23, 3), (16, 31, 4))
"""The contract's other shapes, whose rows are not."""


@dataclass(frozen=True)
class Shape:
    """A block of so many `warps`; `blocks` of them share a multiprocessor, and `stages` rows are loaded ahead. A thread
    has so many `values` if given."""

    warps: int
    blocks: int
    stages: int = 4
    values: int = 0


@dataclass(frozen=True)
class Strip:
    """The columns of a block: `values` per thread, windows of 2 `radius` + 1 pixels of `group` channels, in samples of
    `itemsize` bytes."""

    shape: Shape
    values: int
    radius: int
    group: int
    itemsize: int

    @property
    def threads(self) -> int:
        return WARP * self.shape.warps

    @property
    def chunk(self) -> int:
        """Bytes of a thread's values."""
        return self.values * self.itemsize

    @property
    def together(self) -> int:
        """Chunks of a unit, whose bytes are whole vectors."""
        return 2 if self.chunk % VECTOR else 1

    @property
    def outputs(self) -> int:
        """Chunks of outputs: without those that windows only reach over."""
        reach, span = self.radius * self.group, (2 * self.radius + 1) * self.group
        halo = span // self.values + 1
        before = halo + (reach // self.values - halo) % self.together
        return (self.threads - before - (reach % self.values > 0)) // self.together * self.together

    @property
    def shared_bytes(self) -> int:
        """As in the kernel's struct Memory."""
        words = self.values // 2 if self.itemsize == 1 else self.values
        pitch = words + (4 if words % 8 == 0 else 0)
        base = 4 * self.group if self.group < 3 else 16
        rows = self.shape.stages * 2 * self.threads * self.chunk
        sums = 2 * (self.threads * pitch * 4 + base * (self.threads + self.shape.warps))
        means = 2 * (-(-self.chunk // VECTOR) * VECTOR + self.threads * self.chunk + VECTOR)
        return rows + -(-sums // VECTOR) * VECTOR + means


def values_of(meta: Meta) -> int:
    """Values of a thread: whole pixels and words."""
    return 24 if meta.channels == 3 else 32 // meta.itemsize


def strip_of(meta: Meta, radius: int, shape: Shape) -> Strip:
    return Strip(shape, shape.values or values_of(meta), radius, meta.channels, meta.itemsize)


FASTEST = {
    ("uint8", 1): ((MOST_RADIUS, Shape(3, 4)),),
    ("uint8", 3): ((48, Shape(4, 4)), (96, Shape(6, 2)), (MOST_RADIUS, Shape(4, 4))),
    ("uint16", 1): ((48, Shape(4, 3)), (96, Shape(6, 3, values=8)), (MOST_RADIUS, Shape(4, 4, values=8))),
}
"""The fastest blocks up to a radius on an H200 at 8192², by samples and channels; measured at radius 32, 64 and 128."""
SMALLER = (Shape(2, 4, 2), Shape(4, 1, 2), Shape(8, 1, 2))
"""Blocks for less shared memory, and for wide windows in that."""


def best(meta: Meta, radius: int, limits: Limits) -> Strip | None:
    """The strip of the fastest block that fits; None if there is none."""
    known = FASTEST.get((meta.dtype, meta.channels), ())
    shapes = next((shape for up_to, shape in known if radius <= up_to), Shape(4, 3)), *SMALLER
    strips = (strip_of(meta, radius, shape) for shape in shapes)
    return next((s for s in strips if s.outputs > 0 and s.shared_bytes <= limits.shared_bytes), None)


def segment_rows(height: int, strips: int, places: int) -> int:
    """Rows of a segment, such that `strips` blocks per segment fill the `places` on the multiprocessors once: more
    segments would only sum more first windows."""
    return -(-height // max(1, min(places // strips, height // FEWEST_ROWS)))


def plan(ctx: PlanContext, radius: int, strip: Strip | None = None, rows: int = 0) -> Plan:
    """One launch, for windows with a side of 2 radius + 1 pixels."""
    limits = ctx.device.limits
    strip = strip or best(ctx.task.meta, radius, limits)
    assert strip is not None
    blocks, row = strip.shape.blocks, ctx.columns * ctx.dtype.itemsize
    strips = -(-row // (strip.outputs * strip.chunk))
    rows = rows or segment_rows(ctx.height, strips, limits.multiprocessors * blocks)
    kernel = ctx.kernel(
        SAMPLE=CTYPES[ctx.dtype.name],
        PACKED=int(ctx.dtype.itemsize == 1),
        BORDER=ctx.border,
        RADIUS=radius,
        GROUP=ctx.channels,
        VALUES=strip.values,
        THREADS=strip.threads,
        STAGES=strip.shape.stages,
        SHARED=strip.shared_bytes,
        BLOCKS=blocks,
    )
    args = (ctx.x, ctx.out, *(np.int32(n) for n in (ctx.height, ctx.width, rows)))
    grid, block = (strips, -(-ctx.height // rows), 1), (strip.threads, 1, 1)
    loops = {"rows of a segment": min(rows, ctx.height), "rows of the first window": 2 * radius + 1}
    return ctx.plan(Launch(kernel, grid, block, args, strip.shared_bytes, name="columns and rows", loops=loops))


def counts(radius: Callable[[Task], int]) -> Counts:
    """What is known before a run: the additions of all threads, without those for the first window of a segment."""

    def operations(task: Task) -> int:
        strip = best(task.meta, radius(task), task.limits) or strip_of(task.meta, radius(task), Shape(4, 1))
        row = task.meta.shape[1] * task.meta.channels * task.meta.itemsize
        strips = -(-row // (max(strip.outputs, 1) * strip.chunk))
        thread = strip.chunk + 4 * strip.values + 10 * task.meta.channels  # 4 of a word of samples; 5 shuffles
        return int(task.meta.shape[0] * strips * strip.threads * thread)

    return Counts(
        uncounted="the number of segments depends on the GPU, and each loads the rows of its first window again",
        operations=operations,
    )


def suits(radius: Callable[[Task], int]) -> Callable[[Task], bool]:
    """The tasks for which it was faster than a ring buffer, on an H200: large images, from a radius on that depends on
    the samples. At 4096² RGB and radius 31 it took 75 µs (ring buffer 67 µs)."""

    def faster(task: Task) -> bool:
        meta = task.meta
        least = FASTER_FROM.get((meta.dtype, meta.channels))
        return least is not None and radius(task) >= least and meta.shape[0] * meta.shape[1] >= MANY_PIXELS

    return faster


def rules(radius: Callable[[Task], int], floats: tuple[str, ...], advice: str) -> tuple[Rule, ...]:
    """What the kernels do not support, such as the filter's types of `floats`; `advice` names the variant that does."""

    def ragged(task: Task) -> int:
        strip = strip_of(task.meta, radius(task), Shape(4, 1))
        return int(task.meta.shape[1] * task.meta.channels * task.meta.itemsize % (strip.chunk * strip.together))

    return (
        not_of(*floats, words=f"it adds integers, not {{meta.dtype}}; {advice}"),
        Rule(
            lambda task: task.meta.channels > MOST_CHANNELS,
            f"it takes up to {MOST_CHANNELS} channels, not {{meta.channels}}; {advice}",
        ),
        Rule(
            lambda task: beyond(radius(task), MOST_RADIUS),
            f"its sums of radius {{found}} do not fit; {advice}",
            {"param radius": (256,)},
        ),
        Rule(ragged, f"its rows are whole units of chunks, {{found}} bytes are left; {advice}", {"shape": RAGGED}),
    )
