"""How exact each variant of the box filter is, what it cannot do, and why.

Tolerances are relative to the largest magnitude of input and reference; integers are exact in every variant. eps is
2^-23 for float32: an ulp of the largest magnitude is eps/2 to eps of it.
"""

from __future__ import annotations

import numpy as np

from gpu_ops.filters.planning import block_shape
from gpu_ops.filters.ranges import top
from gpu_ops.params import Values
from gpu_ops.plan import Limits
from gpu_ops.types import Meta

OPENCV_CHANNELS = 128
OPENCV_EXACT = {"uint8": 163**2, "uint16": 9**2}
"""Most values in a square whose mean OpenCV rounds right for every sum: it multiplies by 1 / count in float32, which is
too coarse for larger squares (wrong first at 165² and 11², found by all sums beside a half)."""
TEXTURE_WIDTH, TEXTURE_HEIGHT = 131072, 65536
"""Elements a 2D texture can have on every architecture that is supported."""
GRID_Y = 65535
"""Blocks of a grid in y, and in z."""
TABLE = 64
"""eps that differences of a table's doubles may cost."""

FLOAT_CAVEAT = "float32 is summed in float32: at most (radius + 3.5) eps (2^-23) of the largest value are lost"
MARCH = 32
"""eps that the marching kernels' float32 sums may cost: at most 64 ulp."""
RING_CAVEAT = f"float32 is summed in float32: 1 ulp is lost as a rule, at most {MARCH} eps (2^-23) of the largest value"
TABLE_CAVEAT = f"differences of large sums: at most {TABLE} eps (2^-23) of the largest value are lost, or it refuses"
SPREADS = "its running sums carry NaN and infinity on to the end of the axis"


def window_of(params: Values) -> int:
    """Side of the square in pixels."""
    return int(2 * params["radius"] + 1)


def running(dtype: str, params: Values, knobs: Values) -> float:
    """Sums in double: half an eps where a row's mean is stored, half where the square's is, and what drifts.

    Each output of a double running sum adds two roundings of at most 2^-53 of the sum: 2 N · 2^-53 of the largest value
    on an axis of N, less than eps / 100 up to N = 5 · 10^6. So 2 eps, which is at most 4 ulp of the largest value.
    """
    return 0.0 if dtype.startswith("uint") else 2 * float(np.finfo(dtype).eps)


def summed(dtype: str, params: Values, knobs: Values) -> float:
    """Sums in the sample's own type, each value weighed by 1 / window as it enters.

    After k of window values a sum is at most k / window of the largest value, and rounding takes eps / 2 of it: that
    adds up to (window + 1) / 4 eps a pass. The weights' own rounding takes eps / 2 a pass, the reference's nothing.
    """
    return 0.0 if dtype.startswith("uint") else (window_of(params) / 2 + 3) * float(np.finfo(dtype).eps)


def marched(dtype: str, params: Values, knobs: Values) -> float:
    """Rows summed in float32, in parts; columns as two floats, over no more rows than `march_rows` allows."""
    return 0.0 if dtype.startswith("uint") else MARCH * float(np.finfo(dtype).eps)


def march_largest(dtype: str, params: Values, knobs: Values) -> float:
    """A square's whole sum is a float32, and a row and a value more on the way."""
    return top(dtype) / (window_of(params) + 2) ** 2


def march_loss(radius: int, rows: int) -> float:
    """Most that a mean loses to the marching kernels' float32 sums, in eps of the largest value, after so many rows.

    Each addition rounds eps / 2 of its sum, and a sum of k values is at most k times the largest. A window within one
    block of twelve values takes 2 + 3 + … + window of these halves. Longer ones take 77 for each block, 12 k for adding
    the k-th, 65 for up to eleven values at the end and a window for adding these. Then come eleven steps, of a window
    and of 2 for the difference that is added; and at last three roundings of the mean itself. A column takes half an
    eps of each row that leaves it, where it is smaller than that.
    """
    window = 2 * radius + 1
    blocks = (-radius % 4 + window) // 12
    first = sum(range(2, window + 1))
    if blocks:
        first = 77 * blocks + sum(12 * k for k in range(2, blocks + 1)) + 65 + window
    return ((first + 11 * (window + 2) + rows) / window + 3) / 2


def march_rows(radius: int) -> int:
    """Most rows that may enter a column of the marching kernels' float32 sums, for them to lose no more than MARCH."""
    return int((MARCH - march_loss(radius, 0)) * 2 * (2 * radius + 1))


def march_fits(meta: Meta, params: Values, knobs: Values, limits: Limits) -> str | None:
    """None, or why there are too many segments of `march_rows` in the image."""
    radius = int(params["radius"])
    most = GRID_Y * (march_rows(radius) - 2 * radius)
    if meta.dtype == "float32" and meta.shape[0] > most:
        return f"its segments are short for the sake of exactness, and reach {most} rows; choose a larger radius"
    return None


def table(dtype: str, params: Values, knobs: Values) -> float:
    """What `table_exact` lets pass, and the last rounding."""
    return 0.0 if dtype.startswith("uint") else (TABLE + 1) * float(np.finfo(dtype).eps)


def table_loss(height: int, width: int, window: int) -> float:
    """Most that a square's mean loses to a table of doubles, of the largest value.

    An entry of i rows and j columns sums i · j values, and rounding took at most i · j (i + j) / 2 · 2^-53 from it on
    the way; four of them make a square.
    """
    rows, columns = height + window - 1, width + window - 1
    return 2 * rows * columns * (rows + columns) * 2.0**-53 / window**2


def finite(meta: Meta, params: Values, knobs: Values, limits: Limits) -> str | None:
    """None, or that running sums would spread what is not finite."""
    return None if meta.finite else SPREADS


def table_exact(meta: Meta, params: Values, knobs: Values, limits: Limits) -> str | None:
    """None, or why a table of doubles is too coarse for the image."""
    if not meta.finite:
        return "its table carries NaN and infinity on to everything below and to the right"
    if meta.dtype.startswith("uint"):
        return None  # exact up to 2^53
    height, width = meta.shape[:2]
    lost = table_loss(height, width, window_of(params)) / float(np.finfo(meta.dtype).eps)
    if lost > TABLE:
        return f"its table of {width} × {height} pixels could lose {lost:.0f} eps; choose a larger radius"
    return None


def texture_fits(meta: Meta, params: Values, knobs: Values, limits: Limits) -> str | None:
    """None, or why the image is no texture."""
    height, width = meta.shape[0], meta.shape[1] * meta.channels
    if width > TEXTURE_WIDTH or height > TEXTURE_HEIGHT:
        return f"a texture has at most {TEXTURE_WIDTH} × {TEXTURE_HEIGHT} values, not {width} × {height}"
    return None


def channels_fit(meta: Meta, params: Values, knobs: Values, limits: Limits) -> str | None:
    """None, or why there are too many channels for a grid's 65535 blocks in y or z."""
    return None if meta.channels <= GRID_Y else f"{meta.channels} channels need more than {GRID_Y} blocks"


def floats_only(meta: Meta, params: Values, knobs: Values, limits: Limits) -> str | None:
    """None, or that integers gain nothing from sums in double."""
    return None if meta.dtype == "float32" else "integers are exact in variant 8, marching ring; choose that one"


def rows_fit(meta: Meta, params: Values, knobs: Values, limits: Limits) -> str | None:
    """None, or why an image has too many rows for a grid's 65535 blocks in y."""
    if -(-meta.shape[0] // block_shape(knobs["block"])[1]) > GRID_Y:
        return f"{meta.shape[0]} rows need more than {GRID_Y} blocks; use a larger block"
    return None


def tile_bytes(itemsize: int, channels: int, params: Values, knobs: Values) -> int:
    """Shared bytes of the fused variant: a tile of samples with its halo, and 4 bytes for each sum of a row."""
    (x, y), reach = block_shape(knobs["block"]), window_of(params) - 1
    return int((y + reach) * ((x + reach * channels) * itemsize + x * 4))


def tile_fits(meta: Meta, params: Values, knobs: Values, limits: Limits) -> str | None:
    """None, or why the fused variant's tile does not fit into a block's shared memory."""
    needed = tile_bytes(np.dtype(meta.dtype).itemsize, meta.channels, params, knobs)
    if needed > limits.shared_bytes:
        return f"its tile takes {needed} bytes of shared memory, a block has {limits.shared_bytes}"
    return None


def opencv_can(meta: Meta, params: Values, knobs: Values, limits: Limits) -> str | None:
    """None, or why OpenCV's blur does not keep the contract."""
    if meta.channels > OPENCV_CHANNELS:
        return f"it takes at most {OPENCV_CHANNELS} channels, not {meta.channels}"
    most = OPENCV_EXACT.get(meta.dtype)
    if most and window_of(params) ** 2 > most:
        return f"it rounds {meta.dtype} means of more than {most} values in float32, which is off by one at times"
    if params["border"] == "wrap":
        return "its filters have no wrap border"
    return None if meta.finite else SPREADS


def cucim_can(meta: Meta, params: Values, knobs: Values, limits: Limits) -> str | None:
    """None, or why cuCIM's local mean does not keep the contract."""
    if meta.dtype != "float32":
        return f"its local mean of {meta.dtype} is float32, too coarse to round to the right integer"
    if len(meta.shape) != 2:
        return "its local mean takes images without channels"
    return None
