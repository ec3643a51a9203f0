"""Plans of the mean kernels that load 16-byte vectors, and which tasks they support.

The signal's `vector` and the image's `rows` and `packed` compute in registers, in which a short window fits; the
signal's `scan` takes differences of prefix sums, and the image's `ring` uses running sums along both axes: these have
no maximum window.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.devices.launches import grid1d, grid2d
from gpu_ops.filters.kit import marching
from gpu_ops.filters.kit.march_limits import march_exactness, march_largest, segments_fit
from gpu_ops.filters.kit.planning import PlanContext, block_shape
from gpu_ops.filters.kit.ranges import top
from gpu_ops.filters.kit.registers import (
    PAIR_BYTES,
    VECTOR_BYTES,
    exchanges,
    halo_fits,
    in_pairs,
    launch_bound,
    row_step,
    rows_aligned,
    rows_of,
    rows_of_bytes,
    values_across,
    vector_of,
)
from gpu_ops.filters.kit.rules import blocks_fit, finite_only, not_of, shared_fits
from gpu_ops.filters.mean.plans import defines, window_of
from gpu_ops.params import Param
from gpu_ops.plan import Launch, Limits, Plan
from gpu_ops.task import Task
from gpu_ops.types import Exactness, Rule, Trial

VECTORS = Param("vectors", 2, choices=(1, 2, 4), help="16-byte vectors per thread")
SCAN_BLOCK = Param("block", 256, choices=(128, 256, 512, 1024), unit="threads", help="threads per block")
VECTOR_HALO = 64
"""Bytes next to a vector of a signal that fit into registers."""
ROWS_HALO = 48
"""The same for images, where a thread keeps several rows."""
ROWS_WINDOWS = (3, 5, 7)
STEPS = (1, 2, 4, 8, 16)
"""Vectors per thread of the scan: the minimum that leaves half of a tile for outputs, and at least LOADS vectors of 16
bytes."""
LOADS = 4
SCAN_CHANNELS = 4


def vector(ctx: PlanContext) -> Plan:
    """A signal by vectors in registers, compiled for one window."""
    block, vectors, window = ctx.knobs["block"], ctx.knobs["vectors"], ctx.params["window"]
    kernel = ctx.kernel(**defines(ctx), WINDOW=window, VECTORS=vectors, THREADS=launch_bound(block))
    grid = grid1d(ctx.x.size, block * vectors * vector_of(ctx.dtype.itemsize))
    return ctx.plan(Launch(kernel, grid, (block, 1, 1), (ctx.x, ctx.out, np.int64(ctx.length)), name="vector"))


VECTOR_FITS = halo_fits(window_of, VECTOR_HALO, never={"param window": (4095,)})


def image(ctx: PlanContext) -> Plan:
    """An image by rows of vectors in registers, whether bytes are packed or not."""
    threads, block, row = ctx.knobs["block"], block_shape(ctx.knobs["block"]), (ctx.columns, ctx.dtype.itemsize)
    paired = ctx.variant == "packed" and in_pairs(*row, ctx.channels)
    rows = rows_of(ctx.knobs["rows"], paired)
    how = {"WINDOW": ctx.params["window"], "ROWS": rows, "THREADS": launch_bound(threads)}
    how |= {"ALIGNED": rows_aligned(*row), "ROW_STEP": row_step(*row)}
    how |= {"EXCHANGE": 0 if paired else exchanges(*row, block[0])}
    kernel = ctx.kernel(**defines(ctx), **how)
    across = block[0] * VECTOR_BYTES if paired else values_across(*row, block[0])
    grid = grid2d(ctx.height, ctx.columns + PAIR_BYTES * paired, (across, block[1] * rows))
    args = (ctx.x, ctx.out, np.int32(ctx.height), np.int32(ctx.width))
    return ctx.plan(Launch(kernel, grid, (*block, 1), args, name=ctx.variant))


_LARGER = "a larger block or more rows per thread"
ROWS_RULES = (
    Rule(
        lambda task: window_of(task) not in ROWS_WINDOWS,
        f"its windows are {', '.join(map(str, ROWS_WINDOWS))}; larger ones do not fit into registers; use the "
        "variant ring",
        {"param window": (13, 63)},
    ),
    halo_fits(window_of, ROWS_HALO),
    blocks_fit(lambda task: block_shape(task.knobs["block"])[1] * task.knobs["rows"], _LARGER),
)
PACKED_RULES = (
    not_of("uint16", "float32", "float64", words="it adds bytes, not {meta.dtype}"),
    Rule(lambda task: window_of(task) != 3, "it is made for window 3, not {window}", {"param window": (13, 63)}),
    blocks_fit(lambda task: block_shape(task.knobs["block"])[1] * rows_of_bytes(task), _LARGER),
)


def ring(ctx: PlanContext) -> Plan:
    """An image by running sums, with a ring buffer of row sums."""
    return marching.plan("values", ctx, ctx.params["window"] // 2)


RING_EXACTNESS = march_exactness(window_of)
ring_largest = march_largest(window_of)
RING_RULES = (
    finite_only("its running sums propagate NaN and infinity to the end of a segment"),
    segments_fit(window_of, "choose a larger window"),
)


def scan(ctx: PlanContext) -> Plan:
    """A signal by prefix sums of tiles."""
    window, block, n = ctx.params["window"], ctx.knobs["block"], ctx.length
    vector, steps = vector_of(ctx.dtype.itemsize), scan_steps(ctx.task)
    macros = defines(ctx)
    macros |= {"PARTIAL": macros["ACCUMULATOR"], "BLOCK": block, "STEPS": steps, "PHASE": window // 2 % vector}
    macros["ACCUMULATOR"] = _prefix_type(ctx.dtype)
    outputs = (block * steps - 1 - _reach(vector, window)) * vector
    args = (ctx.x, ctx.out, np.int64(n), np.int32(window))
    grid, shared, loops = grid1d(n, outputs), scan_bytes(ctx.task), {"vectors of a thread": steps}
    return ctx.plan(Launch(ctx.kernel(**macros), grid, (block, 1, 1), args, shared, name="scan", loops=loops))


def _prefix_type(dtype: np.dtype[Any]) -> str:
    return "double" if dtype.kind == "f" else "unsigned int"


def _reach(vector: int, window: int) -> int:
    """Vectors from that of an output to that in which its windows end."""
    return int((-(window // 2) % vector + window) // vector)


def scan_steps(task: Task) -> int:
    """Vectors per thread: the minimum of STEPS for which a window covers at most half of a tile, and which is enough
    loads in flight, unless the signal is so short that a tile of them would leave multiprocessors idle; else 0. On an
    H100, 1e5 samples and window 63 took 4.8 µs (10.2 µs before)."""
    vector, block, channels = vector_of(task.meta.itemsize), task.knobs["block"], task.meta.channels
    reach, samples = _reach(vector, task.params["window"]), task.meta.shape[0]
    few = samples < task.limits.multiprocessors * block * vector * (LOADS // channels)
    fit = (s for s in STEPS if 2 * reach <= block * s and (few or s * channels >= LOADS))
    return next(fit, 0)


def scan_trials(limits: Limits) -> tuple[Trial, ...]:
    """Signals of full tiles: all others of the contract are too short for them."""

    def longer(dtype: str) -> int:
        return limits.multiprocessors * 128 * vector_of(np.dtype(dtype).itemsize) * LOADS + 1

    return tuple(
        Trial((longer(dtype),), dtype, "random", {"window": 63}, {"block": 128}) for dtype in ("uint8", "float32")
    )


def scan_bytes(task: Task) -> int:
    """Shared bytes of a tile, its prefixes with an element of padding every 128 bytes, and the warps' sums, for each
    channel; for several channels also a vector per thread to rearrange results."""
    block, channels, prefix_bytes = task.knobs["block"], task.meta.channels, 8 if task.dtype.kind == "f" else 4
    tile = block * scan_steps(task)
    prefixes = tile + tile // (128 // prefix_bytes) + 1 + block // 32
    arranged = block if channels > 1 else 0
    return int(channels * ((tile + arranged) * VECTOR_BYTES + prefixes * prefix_bytes))


def scan_work(task: Task) -> int:
    """Additions of the scan: some for each value of a tile, independent of the window."""
    return 8 * task.meta.size


SCAN_RULES = (
    Rule(
        lambda task: task.meta.channels > SCAN_CHANNELS,
        f"it takes up to {SCAN_CHANNELS} channels, not {{meta.channels}}",
    ),
    finite_only("its prefix sums propagate NaN and infinity to the end of a tile"),
    Rule(
        lambda task: not scan_steps(task),
        "window {window} reaches over more than half of its longest tile; use a larger block",
    ),
    shared_fits(scan_bytes),
)


def _tile(task: Task) -> int:
    """Samples of a channel in a tile."""
    return int(task.knobs["block"] * scan_steps(task) * vector_of(task.meta.itemsize))


def scan_largest(task: Task) -> float:
    """A window's sum is in the samples' own type; float64 has no wider one for its tile's sum."""
    tile = _tile(task) if task.meta.dtype == "float64" else 0
    return top(task.meta.dtype) / float(tile + window_of(task) + 8)


def _scan_tolerance(task: Task) -> float:
    """The error of the scan, relative to the largest value M; u is eps / 2, the maximum rounding error of one
    operation.

    Ends and partial sums: a window is the sum of at most window + 8 values, the vectors' own sums lose 9 u M each (of 4
    values, or 2 u M of 2), the chain of additions at the ends 7 u (window + 8) M and what was cut off, scaling 2 u.
    Divided by the window that is less than 8 + 24 / window eps. float64: the error of a prefix in a tile of N values is
    that of its N / 2 vectors, of the additions within threads and warps, which together are less than u N M, and of at
    most 31 additions of warps, of i / 32 of the tile each: 19.2 u N M, twice for a difference. float32 has prefixes in
    float64, whose error is negligible.
    """
    if task.dtype.kind == "u":
        return 0.0
    window, eps = task.params["window"], float(np.finfo(task.dtype).eps)
    lost = 8 + 24 / window
    if task.meta.dtype == "float64":
        lost += 20 * _tile(task) / window + window / 2 + 2  # the last two are the reference's
    return float(lost * eps)


SCAN_EXACTNESS = Exactness(
    _scan_tolerance,
    "differences of running sums: at most 8 + 24 / window eps of the largest value are lost; in float64 also 20 eps for"
    " each of a tile's samples / window",
)
