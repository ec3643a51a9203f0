"""The box filter in one pass down the image: the lanes, warps and rows of its blocks, so that they fit in shared
memory, and the segments of an image.

kernels/box/box_ring_shape.cuh explains them. Every radius runs on every architecture: where no ring of rows fits in
shared memory, the kernel sums the rows that leave a second time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpu_ops.devices.occupancy import BLOCK_BARRIERS, is_known, occupancy
from gpu_ops.errors import KernelError
from gpu_ops.filters.box.limits import march_rows
from gpu_ops.filters.kit.planning import CTYPES, PlanContext
from gpu_ops.filters.kit.rules import MOST_BLOCKS
from gpu_ops.params import Value
from gpu_ops.plan import Launch, Limits, Plan
from gpu_ops.task import Task

WARP = 32
OUTPUTS = 12
"""Outputs of a lane in a row; the kernel says the same."""
TEAMS = 2
"""Teams of row warps, which take turns; the kernel says the same."""
BYTES_RADIUS = 127
"""Up to here the sums of a pixel's four bytes are kept in pairs of 16 bits, and squares have fewer than 2^16 pixels."""
MOST_SHARED = 227 << 10
"""Bytes of shared memory that a block has on the architectures that have most."""
WAVES = 8
"""The most rounds of blocks: more segments would only load more rows twice."""
FEWEST_ROWS = 8
MOST_LOADED = 32
"""Words of entering rows that a lane holds at once, and as many of leaving ones: half of the registers it can have."""
OVERLAP = 0.2
"""The part of one round that is lost where blocks share a multiprocessor: some still work while the next begin."""


@dataclass(frozen=True)
class Shape:
    """The shape of a block: `lanes` sum a row, the two teams have `row_warps` warps for that, and a lane of the other
    warps has `per` columns. `ring` says whether shared memory keeps the sums of a whole window of rows. A value takes
    `planes` words: 2 for a pixel of four bytes."""

    lanes: int
    row_warps: int
    per: int
    ring: bool = True
    planes: int = 1

    @property
    def columns(self) -> int:
        return self.lanes * OUTPUTS

    @property
    def tasks(self) -> int:
        """Rows that a team sums at once."""
        return self.row_warps // TEAMS * (WARP // self.lanes)

    @property
    def chunk(self) -> int:
        """Rows that a lane of the column warps loads before it uses the first, to hide shared memory's latency."""
        batch = self.tasks if self.ring else self.tasks // 2
        most = min(16, MOST_LOADED // (self.per * self.planes))
        return next(n for n in range(most, 0, -1) if batch % n == 0)

    @property
    def threads(self) -> int:
        return WARP * (self.row_warps + -(-self.columns // self.per // WARP))

    def shared_bytes(self, radius: int, sum_bytes: int) -> int:
        """Bytes of a block: the ring, rows of samples, and sums of `sum_bytes` of their parts, as in the kernel's
        struct Memory."""
        window, lead = 2 * radius + 1, -radius % 4
        ahead = 2 * TEAMS * self.tasks
        slots = -(-(window + ahead) // self.chunk) * self.chunk if self.ring else ahead
        length = -(-(self.columns + 2 * radius + lead) // 4) * 4
        rounds = -(-(self.lanes + (lead + window) // OUTPUTS) // self.lanes) | 1
        words = self.planes * slots * self.columns + (TEAMS * self.tasks + 1) * length
        parts = TEAMS * self.tasks * self.planes * rounds * self.lanes * sum_bytes
        return -(-(4 * words + parts) // 16) * 16


SINGLE = ((8, Shape(16, 6, 2)), (32, Shape(16, 10, 2)), (256, Shape(16, 14, 1)))
PIXELS = (
    (7, Shape(8, 4, 2, planes=2)),
    (16, Shape(16, 6, 2, planes=2)),
    (32, Shape(8, 4, 1, planes=2)),
    (BYTES_RADIUS, Shape(8, 8, 1, planes=2)),
)
"""The fastest shapes on an H200 up to a radius: for single values, and for the four bytes of a pixel together."""
SINGLE_REGISTERS, PIXEL_REGISTERS = 56, 72
"""Registers of a thread that spills next to nothing: they limit the blocks that share a multiprocessor."""
SMALLER = ((16, 12), (16, 8), (8, 8), (8, 6), (8, 4))
SMALLEST = ((8, 2),)
"""Lanes and row warps to fall back on, in this order; the last ones only without a ring, which they would not keep
busy."""


def candidates(radius: int, pixels: bool) -> Iterator[Shape]:
    """Shapes of blocks for a radius, the best first."""
    best = next(shape for up_to, shape in (PIXELS if pixels else SINGLE) if radius <= up_to)
    smaller = [
        replace(best, lanes=lanes, row_warps=warps, per=1)
        for lanes, warps in SMALLER
        if lanes * warps <= best.lanes * best.row_warps
    ]
    smallest = [replace(best, lanes=lanes, row_warps=warps, per=1) for lanes, warps in SMALLEST]
    with_ring = [best, *smaller]
    yield from with_ring
    yield from (replace(shape, ring=False) for shape in (*with_ring, *smallest))


def choose(radius: int, pixels: bool, sum_bytes: int, limits: Limits) -> Shape:
    """The best shape whose threads and shared memory a block of that device has. Raises KernelError if none has."""
    for shape in candidates(radius, pixels):
        fits = shape.shared_bytes(radius, sum_bytes) <= limits.shared_bytes
        if fits and shape.threads <= limits.threads_per_block:
            return shape
    raise KernelError(
        f"radius {radius}: no block fits into {limits.shared_bytes} bytes of shared memory; choose a smaller radius."
    )


def additions(task: Task) -> int:
    """Additions of a segment on a GPU with the most shared memory, by all lanes, those beyond the image included.

    In a row, a lane takes 11 for its own block and 11 for that in which its window ends, one for each block, 22 for
    sliding, and 11 more where windows cover blocks that are neither; without a ring, a second time. A column of floats
    takes 12, as two floats, and one multiplication.
    """
    meta, radius = task.meta, int(task.params["radius"])
    shapes = candidates(radius, pixels=False)
    shape = next(s for s in shapes if s.shared_bytes(radius, sum_bytes=4) <= MOST_SHARED)
    times = 1 if shape.ring else 2
    blocks = (-radius % 4 + 2 * radius + 1) // OUTPUTS
    between = (blocks - 1) // shape.lanes if blocks > shape.lanes else 0
    row = times * shape.lanes * (44 + blocks + 11 * between) + 13 * shape.columns
    return int(meta.channels * -(-meta.shape[1] // shape.columns) * (meta.shape[0] + 2 * radius) * row)


def segment_rows(height: int, strips: int, radius: int, places: int, shared: bool = False, longest: int = 0) -> int:
    """Rows of a segment, so that `strips` blocks a segment fill `places` on the multiprocessors in whole rounds, and
    the 2 · radius rows that each fetches before its first output are worth it. Where blocks have `shared` a
    multiprocessor, several rounds overlap. No segment has more rows than `longest`, if there is any such limit."""
    least = -(-height // longest) if longest else 1
    most = max(least, min(height // FEWEST_ROWS, -(-WAVES * places // strips), MOST_BLOCKS))
    best, rows = 0.0, -(-height // least)
    for count in range(least, most + 1):
        each = -(-height // count)
        rounds = strips * -(-height // each) / places
        busy = rounds / -(-rounds // 1) * (1 - OVERLAP / max(1, rounds) if shared else 1)
        if busy * each / (each + 2 * radius) > best:
            best, rows = busy * each / (each + 2 * radius), each
    return rows


def resident(shape: Shape, shared: int, pixels: bool, limits: Limits) -> int:
    """Blocks that a multiprocessor is to hold at once; 1 for an unknown architecture."""
    architecture = f"sm_{limits.capability[0]}{limits.capability[1]}"
    if not is_known(architecture):
        return 1
    registers = PIXEL_REGISTERS if pixels else SINGLE_REGISTERS
    # The kernel computes the numbers of its barriers, so the assembler reserves all barriers of a block.
    return max(1, occupancy(architecture, shape.threads, registers, shared, BLOCK_BARRIERS).blocks)


def plan(sums: str, ctx: PlanContext) -> Plan:
    """One launch; `sums` is the C type in which rows of floats are summed."""
    radius, limits = int(ctx.params["radius"]), ctx.device.limits
    pixels = ctx.dtype == np.uint8 and ctx.channels == 4 and radius <= BYTES_RADIUS
    stride = 1 if pixels else ctx.channels
    types = _types(ctx.dtype, pixels, sums)
    sum_bytes = 8 if types["SLIDE"] == "double" else 4
    shape = choose(radius, pixels, sum_bytes, limits)
    shared = shape.shared_bytes(radius, sum_bytes)
    blocks = resident(shape, shared, pixels, limits)
    defines: dict[str, Value] = {
        **({} if sums == "double" else types),  # the kernel that sums in double has its types in its file
        "BORDER": ctx.border,
        "RADIUS": radius,
        "STRIDE": stride,
        "ALIGNED": int(stride == 1 and ctx.width % 4 == 0),
        "LANES": shape.lanes,
        "ROW_WARPS": shape.row_warps,
        "PER": shape.per,
        "CHUNK": shape.chunk,
        "RING": int(shape.ring),
        "SHARED": shared,
        "BLOCKS": blocks,
    }
    strips = -(-ctx.width // shape.columns)
    longest = march_rows(radius) - 2 * radius if types["SLIDE"] == "float" else 0
    places = limits.multiprocessors * blocks
    rows = segment_rows(ctx.height, strips * stride, radius, places, blocks > 1, longest)
    grid, sizes = (strips, -(-ctx.height // rows), stride), (ctx.height, ctx.width, rows)
    args = (ctx.x, ctx.out, *(np.int32(n) for n in sizes))
    entering = shape.tasks if shape.ring else shape.tasks // 2
    batches = -(-(min(rows, ctx.height) + 2 * radius) // entering)
    loops = {"batches of rows": batches, "batches of a team": -(-batches // TEAMS)}
    block, name = (shape.threads, 1, 1), "rows and columns"
    return ctx.plan(Launch(ctx.kernel(**defines), grid, block, args, shared, name=name, loops=loops))


def _types(dtype: np.dtype[Any], pixels: bool, sums: str) -> dict[str, Value]:
    """The kernel's types. 513² values of 8 bits stay below 2^32, of 16 bits they do not."""
    if dtype.kind == "f":
        sample, compensated = CTYPES[dtype.name], int(sums == "float")
        types: dict[str, Value] = {"SAMPLE": sample, "WORD": "float", "SLIDE": sums, "TOTAL": "double"}
        return types | {"BYTES": 0, "COMPENSATED": compensated}
    whole = "unsigned int"
    total = whole if dtype.itemsize == 1 else "unsigned long long"
    sample = whole if pixels else CTYPES[dtype.name]
    return {"SAMPLE": sample, "WORD": whole, "SLIDE": whole, "TOTAL": total, "BYTES": int(pixels), "COMPENSATED": 0}
