"""Plans of the histogram's kernels: the steps of each variant, and the memory that they allocate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gpu_ops.devices.launches import grid1d
from gpu_ops.filters.histogram.bins import Bins, bins_of, counts_form, histograms_of, outside_form
from gpu_ops.filters.histogram.plans import Outputs
from gpu_ops.filters.kit.planning import CTYPES, PlanContext
from gpu_ops.filters.kit.rules import not_of
from gpu_ops.params import Value
from gpu_ops.plan import Fill, Launch, Plan, Step
from gpu_ops.task import Task

THREADS = 256
"""Threads per block of the kernels that process counts."""
SLOTS = 64
"""One-byte counts per thread."""
FULL = 255
"""The number of pixels after which a thread of 3_private.cu adds its counts to those of the block."""
LEVELS = 256
"""Levels of a byte."""
OWN_BYTES = 2 * LEVELS
"""Shared memory of 6_lanes.cu in addition to bounds and counts: the slots of the levels of bytes."""
WARP = 32


class Kernels:
    """The common part of the kernels' plans: outputs, bounds on the device, arguments, and the steps after counting."""

    def __init__(self, ctx: PlanContext, **defines: Value) -> None:
        self.ctx, self.bins, self.defines = ctx, bins_of(ctx.task), defines
        self.out = Outputs.on(ctx.device, ctx.task)
        self.bounds = ctx.device.upload(self.bins.bounds)
        self.real: Any = np.float64 if ctx.dtype == np.float64 else np.float32
        self.search = np.int32(self.bins.count), self.real(self.bins.low), self.real(self.bins.scale)
        self.pixels = ctx.x.size // self.bins.step

    @property
    def sizes(self) -> tuple[Any, ...]:
        """Pixels, values per pixel, counted ones, and whether as their luminance."""
        bins = self.bins
        return np.int64(self.pixels), np.int32(bins.step), np.int32(bins.colours), np.int32(bins.grey)

    def kernel(self, name: str = "") -> Any:
        """A kernel of the variant's file, or one of the shared ones that process counts."""
        name, dtype = name or f"histogram_{self.ctx.variant}", self.ctx.dtype
        defines: Mapping[str, Any] = {
            "SAMPLE": CTYPES[dtype.name],
            "INTEGER": int(dtype.kind == "u"),
            "REAL": "double" if dtype == np.float64 else "float",
            **self.defines,
        }
        return self.ctx.device.kernel(self.ctx.file, name, defines)

    def plan(self, count: Launch) -> Plan:
        """Counting into zeroed counts, and the other requested outputs."""
        return self.plan_once(Fill(self.out.counts, 0, "zero counts"), Fill(self.out.outside, 0, "zero outside"), count)

    def plan_once(self, *steps: Step) -> Plan:
        """Steps that compute the counts, and the other requested outputs."""
        after = self._after() if self.out.statistics is not None else []
        return self.out.plan(*steps, *after)

    def _after(self) -> list[Step]:
        ctx, bins, out = self.ctx, self.bins, self.out
        counts, block = np.int32(bins.count), (THREADS, 1, 1)
        each, sums = (bins.histograms, 1, 1), ctx.device.empty((bins.histograms, bins.count), np.uint32)
        first = ctx.device.empty((bins.histograms,), np.uint32)
        middles = ctx.device.upload(bins.middles)
        prefix = Launch(
            self.kernel("histogram_prefix"), each, block, (out.counts, sums, first, counts), name="running counts"
        )
        args = (out.counts, sums, middles, out.statistics, counts, np.float64(bins.size))
        steps: list[Step] = [prefix, Launch(self.kernel("histogram_statistics"), each, block, args, name="statistics")]
        if out.equalised is None:
            return steps
        new = ctx.device.empty((bins.histograms, bins.count), ctx.dtype)
        low, top = (np.float64(end) for end in bins.ends)
        grid = grid1d(bins.histograms * bins.count, THREADS)
        table = Launch(
            self.kernel("histogram_table"),
            grid,
            block,
            (sums, first, new, np.int32(bins.histograms), counts, low, top),
            name="table",
        )
        most = np.int32(np.iinfo(ctx.dtype).max if ctx.dtype.kind == "u" else 0)
        lookup = Launch(
            self.kernel("histogram_equalise"),
            grid1d(self.pixels, THREADS),
            block,
            (ctx.x, out.equalised, new, sums, first, self.bounds, *self.sizes, *self.search, most),
            name="equalise",
        )
        return [*steps, table, lookup]


def atomics(ctx: PlanContext) -> Plan:
    """One thread per pixel, which adds to the counts in global memory."""
    made, block = Kernels(ctx), ctx.knobs["block"]
    args = (ctx.x, made.out.counts, made.out.outside, made.bounds, *made.sizes, *made.search)
    return made.plan(Launch(made.kernel(), grid1d(made.pixels, block), (block, 1, 1), args, name="count"))


def own_counts(ctx: PlanContext) -> Plan:
    """A block counts in shared memory and adds its counts to those in global memory."""
    return _in_blocks(ctx, shared_bytes(ctx.task))


def warp_counts(ctx: PlanContext) -> Plan:
    """Each warp of a block counts in shared memory; the block adds its warps' counts to those in global memory."""
    return _in_blocks(ctx, warps_bytes(ctx.task))


def thread_counts(ctx: PlanContext) -> Plan:
    """Each thread counts up to 64 bins in bytes of shared memory, in as many passes as the bins need."""
    return _in_blocks(ctx, bytes_of_threads(ctx.task), passes(ctx.task))


def _in_blocks(ctx: PlanContext, shared: int, passes: int = 1) -> Plan:
    made, block, each = Kernels(ctx), ctx.knobs["block"], ctx.knobs["pixels"]
    args = (ctx.x, made.out.counts, made.out.outside, made.bounds, *made.sizes, np.int32(each), *made.search)
    grid, pixels = (grid1d(made.pixels, block * each)[0], passes, 1), min(each, -(-made.pixels // block))
    loops = {"pixels": pixels, **({"sums of bytes": -(-pixels // FULL)} if ctx.variant == "private" else {})}
    return made.plan(Launch(made.kernel(), grid, (block, 1, 1), args, shared, name="count", loops=loops))


def in_lanes(ctx: PlanContext) -> Plan:
    """One launch of persistent blocks, each with copies of its counts, which it adds to the outputs at the end."""
    knobs, copies = ctx.knobs, copies_of(ctx.task)
    block, step, grey = knobs["block"], ctx.task.meta.channels, bins_of(ctx.task).grey
    line = bin_line(bins_of(ctx.task)) if ctx.dtype == np.uint16 else None
    made = Kernels(ctx, STEP=step, COPIES=copies, LOADS=knobs["loads"], BLOCK=block, LINE=int(line is not None))
    each = 1 if grey else 16 // ctx.dtype.itemsize
    grid = _blocks_that_stay(ctx, made.pixels * (1 if grey else step), block * each)
    reads = -(-(ctx.x.size // each) // (grid[0] * WARP)) * WARP
    turns = ctx.device.upload(np.zeros(3, np.uint32))
    sizes = np.int64(made.pixels), np.int64(reads), np.int32(made.bins.colours), np.int32(grey)
    slope, offset = line or (0, 0)
    limits = *made.search, made.real(_margin(made.bins, made.real)), np.uint32(slope), np.int64(offset)
    args = (ctx.x, made.out.counts, made.out.outside, made.bounds, turns, *sizes, *limits)
    shared = _lanes_bytes(ctx.task, copies) - OWN_BYTES
    loops = {"reads": -(-reads // (block * knobs["loads"]))}
    return made.plan_once(Launch(made.kernel(), grid, (block, 1, 1), args, shared, name="count", loops=loops))


def in_bytes(ctx: PlanContext) -> Plan:
    """One launch of small persistent blocks, whose threads count in their own bytes."""
    made = Kernels(ctx, LOADS=ctx.knobs["loads"])
    sums, ticket = (ctx.device.upload(np.zeros(n, np.uint32)) for n in (LEVELS, 1))
    args = (ctx.x, made.out.counts, made.out.outside, made.bounds, sums, ticket, np.int64(made.pixels))
    grid = _blocks_that_stay(ctx, made.pixels, SLOTS * 16)
    samples = -(-(made.pixels // 16) // (grid[0] * SLOTS)) * 16
    loops = {"reads": -(-samples // (16 * ctx.knobs["loads"])), "full bytes": 1 + samples // LEVELS}
    everything = *args, np.int32(made.bins.count)
    return made.plan_once(Launch(made.kernel(), grid, (SLOTS, 1, 1), everything, name="count", loops=loops))


def _blocks_that_stay(ctx: PlanContext, values: int, of_a_block: int) -> tuple[int, int, int]:
    """The knob's number of blocks per multiprocessor, but no more than have work."""
    return min(-(-values // of_a_block), ctx.knobs["blocks"] * ctx.task.limits.multiprocessors), 1, 1


def _margin(bins: Bins, real: Any) -> float:
    """How far from an edge, in bins, the product (v - low) * scale must be to be certain: the difference, the scale and
    the product are rounded, and so are the edges themselves. 1, which is never reached, if the scale is clamped."""
    kind = np.finfo(real)
    low, high = float(bins.edges[0]), float(bins.edges[-1])
    if bins.scale * (high - low) < 0.99 * bins.count:
        return 1.0
    edges = max(max(abs(low), abs(high)) * float(kind.eps), float(kind.smallest_subnormal))
    return min(4 * bins.count * float(kind.eps) + 2 * edges * bins.scale, 1.0)


def bin_line(bins: Bins) -> tuple[int, int] | None:
    """(slope, offset) with which (slope * v + offset) >> 32 is the bin of every level v of 16 bits, negative below the
    range, and the number of bins or more above; None where no offset makes it so.

    The line must be at k * 2^32 or above at bounds[k], and below it one level before; it rises, so all other levels are
    right as well. Levels beyond the type's do not occur and set no limit.
    """
    slope = round(bins.scale * 2.0**32)
    if not 0 < slope < 2**32:
        return None
    bounds, reached = bins.bounds.astype(np.int64), np.arange(bins.count + 1, dtype=np.int64) << 32
    starts, ends = bounds < 1 << 16, bounds > 0
    least = int((reached - bounds * slope)[starts].max(initial=-(1 << 62)))
    most = int((reached - (bounds - 1) * slope)[ends].min(initial=1 << 62)) - 1
    return (slope, (least + most) // 2) if least <= most else None


# Bytes of shared memory.


def shared_bytes(task: Task) -> int:
    """Bytes of a block's bounds and counts."""
    return -(-_bound_bytes(task) // 8) * 8 + 4 * slots_of(task)


def warps_bytes(task: Task) -> int:
    """Bytes of a block's bounds and of the counts of each of its warps."""
    return _bounds_bytes(task) + 4 * slots_of(task) * (int(task.knobs["block"]) // 32)


def bytes_of_threads(task: Task) -> int:
    """Bytes of a block's bounds and of its threads' counts."""
    return _bounds_bytes(task) + SLOTS * int(task.knobs["block"])


def lanes_bytes(task: Task) -> int:
    """Bytes of a block's bounds and of one copy of its counts, the minimum for 6_lanes.cu."""
    return _lanes_bytes(task, 1)


def _lanes_bytes(task: Task, copies: int) -> int:
    return _bounds_bytes(task) + 4 * copies * sums_of(task) + OWN_BYTES


def copies_of(task: Task) -> int:
    """Copies of a block's counts: the knob's number, halved until they fit."""
    copies = int(task.knobs["copies"])
    while copies > 1 and _lanes_bytes(task, copies) > task.limits.shared_bytes:
        copies //= 2
    return copies


def passes(task: Task) -> int:
    """How often the samples are read if a pass counts 64 bins."""
    return -(-slots_of(task) // SLOTS)


def slots_of(task: Task) -> int:
    """The bins of all histograms, with the three counts of samples outside for each."""
    return int(np.prod(counts_form(task).shape)) + int(np.prod(outside_form(task).shape))


def sums_of(task: Task) -> int:
    """What 6_lanes.cu counts: the levels of bytes, or the bins of other samples."""
    of_bytes = task.meta.dtype == "uint8"
    return histograms_of(task) * LEVELS if of_bytes else slots_of(task)


def _bound_bytes(task: Task) -> int:
    return int(task.params["bins"] + 1) * (8 if task.meta.dtype == "float64" else 4)


def _bounds_bytes(task: Task) -> int:
    return -(-_bound_bytes(task) // 16) * 16


BYTES = not_of(*("uint16", "float32", "float64"), words="it counts the 256 levels of uint8, not {meta.dtype}")
