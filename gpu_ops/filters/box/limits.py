"""How exact each variant of the box filter is, what it cannot do, and why.

Tolerances are relative to the largest magnitude of input and reference; integers are exact in every variant. eps is
2^-23 for float32: an ulp of the largest magnitude is eps/2 to eps of it.
"""

from __future__ import annotations

import numpy as np

from gpu_ops.filters.kit.planning import block_shape
from gpu_ops.filters.kit.ranges import top
from gpu_ops.filters.kit.support import MOST_BLOCKS, blocks_fit, opencv_takes
from gpu_ops.task import Task

OPENCV_EXACT = {"uint8": 163**2, "uint16": 9**2}
"""Most values in a square whose mean OpenCV rounds right for every sum: it multiplies by 1 / count in float32, which is
too coarse for larger squares (wrong first at 165² and 11², found by all sums beside a half)."""
TABLE = 64
"""eps that differences of a table's doubles may cost."""

FLOAT_CAVEAT = "float32 is summed in float32: at most (radius + 3.5) eps (2^-23) of the largest value are lost"
MARCH = 32
"""eps that the marching kernels' float32 sums may cost: at most 64 ulp."""
RING_CAVEAT = f"float32 is summed in float32: 1 ulp is lost as a rule, at most {MARCH} eps (2^-23) of the largest value"
TABLE_CAVEAT = f"differences of large sums: at most {TABLE} eps (2^-23) of the largest value are lost, or it refuses"
SPREADS = "its running sums carry NaN and infinity on to the end of the axis"


def window_of(task: Task) -> int:
    """Side of the square in pixels."""
    return int(2 * task.params["radius"] + 1)


def _eps(task: Task, count: float) -> float:
    """So many eps of floats; integers are exact."""
    return 0.0 if task.dtype.kind == "u" else count * float(np.finfo(task.dtype).eps)


def running_tolerance(task: Task) -> float:
    """Sums in double: half an eps where a row's mean is stored, half where the square's is, and what drifts.

    Each output of a double running sum adds two roundings of at most 2^-53 of the sum: 2 N · 2^-53 of the largest value
    on an axis of N, less than eps / 100 up to N = 5 · 10^6. So 2 eps, which is at most 4 ulp of the largest value.
    """
    return _eps(task, 2)


def sum_tolerance(task: Task) -> float:
    """Sums in the sample's own type, each value weighed by 1 / window as it enters.

    After k of window values a sum is at most k / window of the largest value, and rounding takes eps / 2 of it: that
    adds up to (window + 1) / 4 eps a pass. The weights' own rounding takes eps / 2 a pass, the reference's nothing.
    """
    return _eps(task, window_of(task) / 2 + 3)


def march_tolerance(task: Task) -> float:
    """Rows summed in float32, in parts; columns as two floats, over no more rows than `march_rows` allows."""
    return _eps(task, MARCH)


def march_largest(task: Task) -> float:
    """A square's whole sum is a float32, and a row and a value more on the way."""
    return top(task.meta.dtype) / (window_of(task) + 2) ** 2


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
    """Most rows that may enter a column of the marching kernels' float32 sums, so that they lose no more than MARCH."""
    return int((MARCH - march_loss(radius, 0)) * 2 * (2 * radius + 1))


def march_fits(task: Task) -> str | None:
    """None, or why there are too many segments of `march_rows` in the image."""
    radius = int(task.params["radius"])
    most = MOST_BLOCKS * (march_rows(radius) - 2 * radius)
    if task.meta.dtype == "float32" and task.meta.shape[0] > most:
        return f"its segments are short to stay exact, and cover {most} rows at most; choose a larger radius"
    return None


def table_tolerance(task: Task) -> float:
    """The loss that `table_exact` allows, plus the last rounding."""
    return _eps(task, TABLE + 1)


def table_loss(height: int, width: int, window: int) -> float:
    """Most that a square's mean loses to a table of doubles, of the largest value.

    An entry of i rows and j columns sums i · j values, and rounding took at most i · j (i + j) / 2 · 2^-53 from it on
    the way; four of them make a square.
    """
    rows, columns = height + window - 1, width + window - 1
    return 2 * rows * columns * (rows + columns) * 2.0**-53 / window**2


def finite(task: Task) -> str | None:
    """None, or that running sums would spread NaN and infinity."""
    return None if task.meta.finite else SPREADS


def table_exact(task: Task) -> str | None:
    """None, or why a table of doubles is too coarse for the image."""
    if not task.meta.finite:
        return "its table carries NaN and infinity on to everything below and to the right"
    if task.meta.dtype.startswith("uint"):
        return None  # exact up to 2^53
    height, width = task.meta.shape[:2]
    lost = table_loss(height, width, window_of(task)) / float(np.finfo(task.meta.dtype).eps)
    if lost > TABLE:
        return f"its table of {width} × {height} pixels could lose {lost:.0f} eps; choose a larger radius"
    return None


def floats_only(task: Task) -> str | None:
    """None, or that integers gain nothing from sums in double."""
    return None if task.meta.dtype == "float32" else "integers are exact in variant 8, marching ring; choose that one"


rows_fit = blocks_fit(lambda task: block_shape(task.knobs["block"])[1], "a larger block")


def tile_bytes(task: Task) -> int:
    """Shared bytes of the fused variant: a tile of samples with its halo, and 4 bytes for each sum of a row."""
    (x, y), reach = block_shape(task.knobs["block"]), window_of(task) - 1
    return int((y + reach) * ((x + reach * task.meta.channels) * task.meta.itemsize + x * 4))


def opencv_can(task: Task) -> str | None:
    """None, or why OpenCV's blur does not keep the contract."""
    most = OPENCV_EXACT.get(task.meta.dtype)
    if most and window_of(task) ** 2 > most:
        return f"it rounds {task.meta.dtype} means of more than {most} values in float32, which is off by one at times"
    return opencv_takes(task) or finite(task)


def cucim_can(task: Task) -> str | None:
    """None, or why cuCIM's local mean does not keep the contract."""
    if task.meta.dtype != "float32":
        return f"its local mean of {task.meta.dtype} is float32, too coarse to round to the right integer"
    if len(task.meta.shape) != 2:
        return "its local mean takes images without channels"
    return None
