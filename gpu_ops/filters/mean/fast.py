"""Plans of the mean kernels that fetch vectors of 16 bytes, and what they can do.

The signal's `vector` and the image's `rows` and `packed` work in registers, which a short window fits into; the
signal's `scan` takes differences of running sums, for which no window is too long.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.devices.launches import grid1d, grid2d
from gpu_ops.filters.mean import plans
from gpu_ops.filters.planning import block_shape
from gpu_ops.filters.ranges import top
from gpu_ops.filters.spans import VECTOR_BYTES, blocks_fit, halo_fits, launch_bound, rows_aligned, vector_of
from gpu_ops.params import Param, Value, Values
from gpu_ops.plan import Device, DeviceArray, Launch, Limits, Plan
from gpu_ops.types import Meta

VECTORS = Param("vectors", 2, choices=(1, 2, 4), help="vectors of 16 bytes a thread")
SCAN_BLOCK = Param("block", 512, choices=(128, 256, 512, 1024), unit="threads", help="threads a block")
VECTOR_HALO = 64
"""Bytes beside a vector of a signal that fit into registers."""
ROWS_HALO = 48
"""The same for images, where a thread keeps several rows."""
ROWS_WINDOWS = (3, 5, 7)
STEPS = (4, 8, 16)
"""Vectors a thread of the scan: as few as leave half of a tile to outputs."""


def _defines(x: DeviceArray, channels: int, params: Values, **more: Value) -> dict[str, Value]:
    """What a kernel is compiled with that works in registers, so for one window."""
    shared = plans.defines(x.dtype, channels, params)
    return {**shared, "WINDOW": params["window"], **more}


def vector(device: Device, x: DeviceArray, params: Values, knobs: Values) -> Plan:
    """A signal by vectors in registers."""
    channels = x.shape[1] if x.ndim == 2 else 1
    block, vectors = knobs["block"], knobs["vectors"]
    out = device.empty(x.shape, x.dtype)
    made = _defines(x, channels, params, VECTORS=vectors, THREADS=launch_bound(block))
    kernel = device.kernel("mean1d/4_vector.cu", "mean1d_vector", made)
    grid = grid1d(x.size, block * vectors * vector_of(x.dtype.itemsize))
    return Plan((Launch(kernel, grid, (block, 1, 1), (x, out, np.int64(x.shape[0])), name="vector"),), {"signal": out})


def vector_can(meta: Meta, params: Values, knobs: Values, limits: Limits) -> str | None:
    """None, or why the window does not fit into registers."""
    return halo_fits(meta, params["window"], VECTOR_HALO)


def image(style: str, device: Device, x: DeviceArray, params: Values, knobs: Values) -> Plan:
    """An image by rows of vectors in registers; `style` is rows or packed."""
    height, width = x.shape[:2]
    channels = x.shape[2] if x.ndim == 3 else 1
    columns, rows, block = width * channels, knobs["rows"], block_shape(knobs["block"])
    out = device.empty(x.shape, x.dtype)
    bound, aligned = launch_bound(knobs["block"]), rows_aligned(columns, x.dtype.itemsize)
    made = _defines(x, channels, params, ROWS=rows, THREADS=bound, ALIGNED=aligned)
    number = {"rows": 4, "packed": 5}[style]
    kernel = device.kernel(f"mean2d/{number}_{style}.cu", f"mean2d_{style}", made)
    grid = grid2d(height, columns, (block[0] * vector_of(x.dtype.itemsize), block[1] * rows))
    args = (x, out, np.int32(height), np.int32(width))
    return Plan((Launch(kernel, grid, (*block, 1), args, name=style),), {"image": out})


def rows_can(meta: Meta, params: Values, knobs: Values, limits: Limits) -> str | None:
    """None, or why a thread's rows do not fit into registers, or the image not into a grid."""
    if params["window"] not in ROWS_WINDOWS:
        return f"its windows are {', '.join(map(str, ROWS_WINDOWS))}; larger ones do not fit into registers"
    return halo_fits(meta, params["window"], ROWS_HALO) or _grid_fits(meta, knobs)


def packed_can(meta: Meta, params: Values, knobs: Values, limits: Limits) -> str | None:
    """None, or why bytes are not added in pairs."""
    if meta.dtype != "uint8":
        return f"it adds bytes in pairs, not {meta.dtype}"
    if params["window"] != 3:
        return f"it is made for window 3, not {params['window']}"
    if meta.channels > 4:
        return f"it takes at most 4 channels, not {meta.channels}"
    return _grid_fits(meta, knobs)


def _grid_fits(meta: Meta, knobs: Values) -> str | None:
    return blocks_fit(meta.shape[0], block_shape(knobs["block"])[1] * knobs["rows"])


def scan(device: Device, x: DeviceArray, params: Values, knobs: Values) -> Plan:
    """A signal by running sums of tiles."""
    window, block, n = params["window"], knobs["block"], x.shape[0]
    vector, steps = vector_of(x.dtype.itemsize), scan_steps(x.dtype.itemsize, params, knobs)
    out = device.empty(x.shape, x.dtype)
    made = plans.defines(x.dtype, 1, params)
    made |= {"PARTIAL": made["ACCUMULATOR"], "BLOCK": block, "STEPS": steps, "PHASE": window // 2 % vector}
    made["ACCUMULATOR"] = _prefix_type(x.dtype)
    kernel = device.kernel("mean1d/5_scan.cu", "mean1d_scan", made)
    outputs = (block * steps - 1 - _reach(vector, window)) * vector
    shared = scan_bytes(x.dtype.itemsize, params, knobs, 8 if x.dtype.kind == "f" else 4)
    launch = Launch(
        kernel, grid1d(n, outputs), (block, 1, 1), (x, out, np.int64(n), np.int32(window)), shared, name="scan"
    )
    return Plan((launch,), {"signal": out})


def _prefix_type(dtype: np.dtype[Any]) -> str:
    return "double" if dtype.kind == "f" else "unsigned int"


def _reach(vector: int, window: int) -> int:
    """Vectors from an output's to the one where its windows end."""
    return int((-(window // 2) % vector + window) // vector)


def scan_steps(itemsize: int, params: Values, knobs: Values) -> int:
    """Vectors a thread: the fewest of STEPS with which a window reaches over at most half of a tile; else 0."""
    reach = _reach(vector_of(itemsize), params["window"])
    return next((s for s in STEPS if 2 * reach <= knobs["block"] * s), 0)


def scan_bytes(itemsize: int, params: Values, knobs: Values, prefix_bytes: int) -> int:
    """Shared bytes of a tile, its prefixes with an element of padding every 128 bytes, and the warps' sums."""
    tile = knobs["block"] * scan_steps(itemsize, params, knobs)
    prefixes = tile + tile // (128 // prefix_bytes) + 1 + knobs["block"] // 32
    return int(tile * VECTOR_BYTES + prefixes * prefix_bytes)


def scan_work(meta: Meta, params: Values) -> int:
    """Additions of the scan: some for each value of a tile, none for the window."""
    return 8 * meta.size


def scan_can(meta: Meta, params: Values, knobs: Values, limits: Limits) -> str | None:
    """None, or why there are no running sums of tiles."""
    dtype = np.dtype(meta.dtype)
    if meta.channels > 1:
        return f"its running sums are of one channel, this signal has {meta.channels}"
    if not meta.finite:
        return "its running sums carry NaN and infinity on to the end of a tile"
    if not scan_steps(dtype.itemsize, params, knobs):
        return f"window {params['window']} reaches over more than half of its longest tile; use a larger block"
    needed = scan_bytes(dtype.itemsize, params, knobs, 8 if dtype.kind == "f" else 4)
    if needed > limits.shared_bytes:
        return f"its tile takes {needed} bytes of shared memory, a block has {limits.shared_bytes}"
    return None


def scan_largest(dtype: str, params: Values, knobs: Values) -> float:
    """A window's sum is in the samples' own type; float64 has no wider one for its tile's sum."""
    itemsize = np.dtype(dtype).itemsize
    tile = knobs["block"] * scan_steps(itemsize, params, knobs) * vector_of(itemsize) if dtype == "float64" else 0
    return top(dtype) / float(tile + params["window"] + 8)


SCAN_CAVEAT = (
    "differences of running sums: at most 8 + 24 / window eps of the largest value are lost; in float64 also 20 eps for"
    " each of a tile's samples / window"
)


def scan_tolerance(dtype: str, params: Values, knobs: Values) -> float:
    """What the scan can lose, of the largest value M; u is eps / 2, the most that one rounding takes from its result.

    Ends and partial sums: a window is the sum of at most window + 8 values, the vectors' own sums lose 9 u M each (of 4
    values, or 2 u M of 2), the chain of additions at the ends 7 u (window + 8) M and what was cut off, scaling 2 u.
    Divided by the window that is less than 8 + 24 / window eps.
    float64: a prefix of a tile of N values is off by what its N / 2 vectors lost, by the additions within threads and
    warps, which together take less than u N M, and by at most 31 additions of warps, of i / 32 of the tile each: 19.2
    u N M, twice for a difference. float32 has prefixes in float64, which no float32 shows.
    """
    if dtype.startswith("uint"):
        return 0.0
    window, eps = params["window"], float(np.finfo(dtype).eps)
    lost = 8 + 24 / window
    if dtype == "float64":
        itemsize = 8
        samples = knobs["block"] * scan_steps(itemsize, params, knobs) * vector_of(itemsize)
        lost += 20 * samples / window + window / 2 + 2  # the last two are the reference's own
    return float(lost * eps)
