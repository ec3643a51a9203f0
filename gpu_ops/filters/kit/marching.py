"""Means of squares in one pass down the image: the values, lanes, warps and rows of blocks, chosen to fit in shared
memory, and the segments of an image.

kernels/include/ring_shape.cuh explains them. Every radius runs on every architecture: if no ring of rows fits in shared
memory, the kernel sums the leaving rows a second time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from gpu_ops.devices.occupancy import BLOCK_BARRIERS, is_known, occupancy
from gpu_ops.errors import KernelError
from gpu_ops.filters.kit.march_limits import OUTPUTS, groups_of, march_rows
from gpu_ops.filters.kit.planning import CTYPES, PlanContext
from gpu_ops.filters.kit.rules import MOST_BLOCKS
from gpu_ops.params import Value
from gpu_ops.plan import Launch, Limits, Plan
from gpu_ops.task import Meta

WARP = 32
TEAMS = 2
"""Teams of row warps, which alternate; the same constant is in the kernel."""
BYTES_RADIUS, PAIRS_RADIUS = 127, 128
"""Up to this radius squares have fewer than 2^16 pixels, as four-byte pixels need; and the sum of a row of bytes fits
in 16 bits, as pairs of rows need."""
NARROW_RADIUS = 127
"""Up to this radius sums of squares of 16-bit values fit in a word."""
MOST_SHARED, MOST_THREADS = 227 << 10, 1024
"""Shared memory and threads per block on the architectures that have most."""
WAVES = 8
"""The maximum number of waves of blocks: more segments would only load more rows twice."""
FEWEST_ROWS = 8
MOST_LOADED = 32
"""Words of entering rows that a lane keeps at once, and the same number of leaving ones: half of its maximum
registers."""
OVERLAP = 0.2
"""The part of one wave that is lost if blocks share a multiprocessor: some still run while the next wave begins."""


@dataclass(frozen=True)
class Values:
    """The words of a block: `group` interleaved channels, in words of `word` bytes and sums of `part` bytes. A value
    takes `planes` words: 2 for a four-byte pixel. A word has the values of `pack` rows: 2 for bytes."""

    group: int = 1
    word: int = 4
    part: int = 4
    planes: int = 1
    pack: int = 1

    @property
    def sample(self) -> int:
        """Bytes of a sample in shared memory."""
        return self.word // self.pack


PIXEL = Values(planes=2)
Form = Literal["values", "pixels", "double"]
"""Kinds of kernel: sums of rows in the samples' own type; the same with four-byte pixels; sums in double."""


@dataclass(frozen=True)
class Shape:
    """The shape of a block: `lanes` sum a row, the two teams have `row_warps` warps for that, and a lane of the other
    warps has `per` columns. `ring` tells whether shared memory keeps the sums of a whole window of rows, and `ahead`
    the number of additional batches of rows."""

    lanes: int
    row_warps: int
    per: int
    ring: bool = True
    ahead: int = 2 * TEAMS

    @property
    def columns(self) -> int:
        return self.lanes * OUTPUTS

    @property
    def tasks(self) -> int:
        """Rows that a team sums at once."""
        return self.row_warps // TEAMS * (WARP // self.lanes)

    @property
    def threads(self) -> int:
        return WARP * (self.row_warps + -(-self.columns // self.per // WARP))

    def chunk(self, planes: int) -> int:
        """Rows that a lane of the column warps loads before it uses the first, to hide shared memory's latency."""
        batch = self.tasks if self.ring else self.tasks // 2
        most = min(16, MOST_LOADED // (self.per * planes))
        return next(n for n in range(most, 0, -1) if batch % n == 0)

    def shared_bytes(self, radius: int, values: Values) -> int:
        """Bytes of a block: the ring, rows of samples, their positions, and sums of their parts, as in the kernel's
        struct Memory."""
        group, lag = values.group, radius if values.pack > 1 else 2 * radius + 1
        reach, span, ahead = radius * group, (2 * radius + 1) * group, self.ahead * self.tasks
        lead, chunk = -reach % 4, self.chunk(values.planes)
        whole = (lead + span) // OUTPUTS
        slots = -(-(lag + ahead) // chunk) * chunk if self.ring else ahead
        length = max(-(-(self.columns + 2 * reach + lead) // 4) * 4, (self.lanes + whole) * OUTPUTS)
        rounds = -(-(self.lanes + whole) // self.lanes) | 1
        ring = values.planes * slots * self.columns * values.word
        rows = TEAMS * self.tasks * length * values.sample + 4 * length
        parts = TEAMS * self.tasks * group * values.planes * rounds * self.lanes * values.part
        return -(-(ring + rows + parts) // 16) * 16


SINGLE = (
    (8, Shape(16, 6, 2)),
    (22, Shape(16, 10, 2)),
    (28, Shape(8, 12, 1, ahead=2)),
    (32, Shape(8, 10, 1, ahead=2)),
    (96, Shape(16, 14, 1)),
    (160, Shape(8, 12, 1)),
    (256, Shape(32, 16, 2, ahead=2)),
)
PIXELS = (
    (7, Shape(8, 4, 2)),
    (16, Shape(16, 6, 2)),
    (32, Shape(8, 4, 1)),
    (96, Shape(8, 8, 1)),
    (BYTES_RADIUS, Shape(32, 16, 2, ring=False)),
)
PAIRS = ((8, Shape(16, 8, 4)), (64, Shape(32, 8, 4)), (PAIRS_RADIUS, Shape(32, 6, 4, ahead=2)))
COLOURS = (*PAIRS[:1], (20, Shape(32, 12, 4)), (32, Shape(16, 12, 2)), (64, Shape(32, 20, 2, ahead=2)), *PAIRS[2:])
"""The fastest shapes up to a radius: for single values, for the four bytes of a pixel together, for bytes of two rows,
and for those of three interleaved channels. On an H100, 4096², large blocks took 87 µs for RGB and radius 64 (124 µs
before); more row warps 54 µs at radius 15 (59 µs before) and 67 µs at radius 31 (81 µs before). At 8192² RGBA and
radius 120 without a ring takes 478 µs (690 µs before), float32 and radius 31 198 µs (215 µs before). On an H200,
8192² float32, radius 256 takes 616 µs by wide blocks (760 µs before), and as long as before at 4096²."""
SINGLE_REGISTERS, PIXEL_REGISTERS = 56, 72
"""Registers of a thread with almost no spills: they limit the blocks that share a multiprocessor."""
SMALLER = ((16, 12), (16, 8), (8, 8), (8, 6), (8, 4))
SMALLEST = ((8, 2),)
"""Fallback lanes and row warps, in this order; the last ones only without a ring, which they would not keep busy."""


def values_of(meta: Meta, radius: int, form: Form) -> Iterator[Values]:
    """The possible words of a block, the best first."""
    groups, size = groups_of(meta, radius), max(4, meta.itemsize)
    if form == "pixels" and meta.dtype == "uint8" and meta.channels == 4 and radius <= BYTES_RADIUS:
        yield PIXEL
    # Pairs are slower for RGBA: 1996 against 1016 µs on an H100, 8192², radius 120.
    if meta.dtype == "uint8" and radius <= PAIRS_RADIUS and meta.channels != 4:
        yield from (Values(group, pack=2) for group in groups)
    else:
        yield from (Values(group, size, 8 if form == "double" else size) for group in groups)


def shapes_of(radius: int, values: Values, ring: bool) -> Iterator[Shape]:
    """Shapes of blocks for a radius, the best first."""
    pairs = COLOURS if values.group == 3 else PAIRS
    table = PIXELS if values.planes > 1 else pairs if values.pack > 1 else SINGLE
    best = next(shape for up_to, shape in table if radius <= up_to)
    fallback = SMALLER if ring else (*SMALLER, *SMALLEST)
    yield replace(best, ring=ring and best.ring)
    for lanes, warps in fallback:
        if lanes * warps <= best.lanes * best.row_warps:
            yield replace(best, lanes=lanes, row_warps=warps, per=1, ring=ring)


def choose(meta: Meta, radius: int, form: Form, shared_bytes: int, threads: int = MOST_THREADS) -> tuple[Values, Shape]:
    """The best block of so many bytes of shared memory and so many threads at most: with a ring, if there is one and
    the fastest block has one. Raises KernelError if there is none."""
    for ring in (True, False):
        for values in values_of(meta, radius, form):
            for shape in shapes_of(radius, values, ring):
                if shape.shared_bytes(radius, values) <= shared_bytes and shape.threads <= threads:
                    return values, shape
    raise KernelError(
        f"radius {radius}: no block fits into {shared_bytes:,} bytes of shared memory; choose a smaller radius."
    )


def additions(meta: Meta, radius: int) -> int:
    """Additions of a segment on a GPU with the most shared memory, by all lanes, including those outside the image.

    In a row of one channel, a lane needs 11 for its own block and 11 for that in which its window ends, one for each
    block, 22 for sliding, and 11 more if windows cover further blocks; without a ring, twice that. A column of floats
    needs 12, as two floats, and one multiplication.
    """
    values, shape = choose(meta, radius, "pixels", MOST_SHARED)
    group, times = values.group, 1 if shape.ring else 2
    blocks = (-radius * group % 4 + (2 * radius + 1) * group) // OUTPUTS
    between = (blocks - 1) // shape.lanes if blocks > shape.lanes else 0
    row = times * shape.lanes * ((OUTPUTS - group) * (4 + between) + group * blocks) // values.pack + 13 * shape.columns
    inside = 4 if values.planes > 1 else group
    strips = -(-meta.shape[1] * values.group // shape.columns)
    return int(meta.channels // inside * strips * (meta.shape[0] + 2 * radius) * row)


def segment_rows(height: int, strips: int, radius: int, places: int, shared: bool = False, longest: int = 0) -> int:
    """Rows of a segment, such that `strips` blocks per segment fill `places` on the multiprocessors in whole waves, and
    the 2 · radius rows that each loads before its first output pay. If blocks have `shared` a multiprocessor, several
    waves overlap. No segment has more rows than `longest`, if given."""
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


def resident(shape: Shape, shared: int, values: Values, limits: Limits) -> int:
    """The target number of resident blocks per multiprocessor; 1 for an unknown architecture."""
    architecture = f"sm_{limits.capability[0]}{limits.capability[1]}"
    if not is_known(architecture):
        return 1
    registers = PIXEL_REGISTERS if values.planes > 1 or values.word > 4 else SINGLE_REGISTERS
    # The kernel computes its barrier numbers at run time, so the assembler reserves all barriers of a block.
    return max(1, occupancy(architecture, shape.threads, registers, shared, BLOCK_BARRIERS).blocks)


def plan(form: Form, ctx: PlanContext, radius: int) -> Plan:
    """One launch, for windows with a side of 2 radius + 1 pixels."""
    limits = ctx.device.limits
    values, shape = choose(ctx.task.meta, radius, form, limits.shared_bytes, limits.threads_per_block)
    stride = 1 if values.planes > 1 else ctx.channels // values.group
    shared = shape.shared_bytes(radius, values)
    blocks = resident(shape, shared, values, limits)
    columns = ctx.width * values.group
    defines: dict[str, Value] = {
        # The kernel that sums in double has its types in its file.
        **({} if form == "double" else _types(ctx.dtype, values, radius)),
        "BORDER": ctx.border,
        "RADIUS": radius,
        "GROUP": values.group,
        "STRIDE": stride,
        "ALIGNED": int(stride == 1 and columns % 4 == 0),
        "LANES": shape.lanes,
        "ROW_WARPS": shape.row_warps,
        "PER": shape.per,
        "CHUNK": shape.chunk(values.planes),
        "RING": int(shape.ring),
        "AHEAD": shape.ahead,
        "PAIRS": int(values.pack > 1),
        "SHARED": shared,
        "BLOCKS": blocks,
    }
    strips = -(-columns // shape.columns)
    longest = march_rows(radius, values.group) - 2 * radius if ctx.dtype.kind == "f" and form != "double" else 0
    places = limits.multiprocessors * blocks
    rows = segment_rows(ctx.height, strips * stride, radius, places, blocks > 1, longest)
    grid, sizes = (strips, -(-ctx.height // rows), stride), (ctx.height, ctx.width, rows)
    args = (ctx.x, ctx.out, *(np.int32(n) for n in sizes))
    entering = (shape.tasks if shape.ring else shape.tasks // 2) * values.pack
    batches = -(-(min(rows, ctx.height) + 2 * radius) // entering)
    loops = {"batches of rows": batches, "batches of a team": -(-batches // TEAMS)}
    block, name = (shape.threads, 1, 1), "rows and columns"
    return ctx.plan(Launch(ctx.kernel(**defines), grid, block, args, shared, name=name, loops=loops))


def _types(dtype: np.dtype[Any], values: Values, radius: int) -> dict[str, Value]:
    """The kernel's types. Sums of 513² 8-bit values stay below 2^32, those of 16-bit values do not."""
    ctype, pixels = CTYPES[dtype.name], int(values.planes > 1)
    if dtype.kind == "f":
        return {"SAMPLE": ctype, "WORD": ctype, "SLIDE": ctype, "TOTAL": ctype, "PIXELS": 0, "INTEGER": 0}
    whole = "unsigned int"
    total = whole if dtype.itemsize == 1 or radius <= NARROW_RADIUS else "double"
    sample = whole if pixels else ctype
    return {"SAMPLE": sample, "WORD": whole, "SLIDE": whole, "TOTAL": total, "PIXELS": pixels, "INTEGER": 1}
