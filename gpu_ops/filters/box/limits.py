"""How exact each variant of the box filter is, and which tasks it does not support.

Tolerances are relative to the largest magnitude of input and reference; integers are exact in every variant. eps is
2^-23 for float32: an ulp of the largest magnitude is eps/2 to eps of it.
"""

from __future__ import annotations

import numpy as np

from gpu_ops.filters.kit.library_calls import PIXELS, misrounds
from gpu_ops.filters.kit.march_limits import march_exactness, march_largest, segments_fit
from gpu_ops.filters.kit.planning import block_shape
from gpu_ops.filters.kit.rules import OPENCV_BORDER, blocks_fit, finite_only, not_of, shared_fits
from gpu_ops.task import Task
from gpu_ops.types import Exactness, Rule

OPENCV_EXACT = {"uint8": 163**2, "uint16": 9**2}
"""The maximum number of values in a square for which OpenCV rounds the mean of every sum correctly: it multiplies by 1
/ count in float32, which is too coarse for larger squares (the first errors are at 165² and 11², found by testing all
sums next to a half)."""
TABLE = 64
"""The error in eps that differences of a float64 table may cause."""


def window_of(task: Task) -> int:
    """Side of the square in pixels."""
    return int(2 * task.params["radius"] + 1)


def _eps(task: Task, count: float) -> float:
    """A tolerance in eps for floats; integers are exact."""
    return 0.0 if task.dtype.kind == "u" else count * float(np.finfo(task.dtype).eps)


def running_tolerance(task: Task) -> float:
    """Sums in float64: half an eps where a row's mean is stored, half where the square's is, and the drift.

    Each output of a float64 running sum adds two roundings of at most 2^-53 of the sum: 2 N · 2^-53 of the largest
    value on an axis of N, less than eps / 100 up to N = 5 · 10^6. So 2 eps, which is at most 4 ulp of the largest
    value.
    """
    return _eps(task, 2)


def sum_tolerance(task: Task) -> float:
    """Sums in the samples' own type, each value multiplied by 1 / window as it enters.

    After k of window values a sum is at most k / window of the largest value, and rounding loses eps / 2 of it: that
    adds up to (window + 1) / 4 eps per pass. Rounding the weights loses eps / 2 per pass, the reference nothing.
    """
    return _eps(task, window_of(task) / 2 + 3)


def table_tolerance(task: Task) -> float:
    """The loss that TABLE_EXACT allows, plus the last rounding."""
    return _eps(task, TABLE + 1)


def table_loss(height: int, width: int, window: int) -> float:
    """The maximum error of a square's mean from a float64 table, relative to the largest value.

    An entry of i rows and j columns sums i · j values, with an accumulated rounding error of at most i · j (i + j) / 2
    · 2^-53; four of them give a square.
    """
    rows, columns = height + window - 1, width + window - 1
    return 2 * rows * columns * (rows + columns) * 2.0**-53 / window**2


def _inexact(task: Task) -> float:
    """The same error of a task in eps, if it is too large; 0 for integers, which are exact up to 2^53."""
    if task.dtype.kind == "u":
        return 0.0
    height, width = task.meta.shape[:2]
    lost = table_loss(height, width, window_of(task)) / float(np.finfo(task.dtype).eps)
    return lost if lost > TABLE else 0.0


def _misrounds(task: Task) -> int:
    """The number of averaged values, if it is more than OpenCV rounds correctly; else 0."""
    most = OPENCV_EXACT.get(task.meta.dtype, 0)
    return most if window_of(task) ** 2 > most else 0


def tile_bytes(task: Task) -> int:
    """Shared bytes of the fused variant: a tile of samples with its halo, and 4 bytes for each sum of a row."""
    (x, y), reach = block_shape(task.knobs["block"]), window_of(task) - 1
    return int((y + reach) * ((x + reach * task.meta.channels) * task.meta.itemsize + x * 4))


FLOAT_SUMS = Exactness(
    sum_tolerance, "float32 is summed in float32: at most (radius + 3.5) eps (2^-23) of the largest value are lost"
)
SQUARE_SUMS = Exactness(
    lambda task: _eps(task, window_of(task) ** 2 / 4 + 3),
    "float32 is summed in float32, the whole square in one chain: a quarter eps (2^-23) is lost per value",
)
RING_SUMS = march_exactness(window_of)
TABLE_SUMS = Exactness(
    table_tolerance,
    f"differences of large sums: at most {TABLE} eps (2^-23) of the largest value are lost, or it refuses",
)
ring_largest = march_largest(window_of)

ROWS_FIT = blocks_fit(lambda task: block_shape(task.knobs["block"])[1], "a larger block")
FINITE = finite_only("its running sums propagate NaN and infinity to the end of the axis")
TABLE_FINITE = finite_only("its table propagates NaN and infinity to everything below and to the right")
TABLE_EXACT = Rule(
    _inexact,
    "its table of {meta.shape[1]} × {meta.shape[0]} pixels could lose {found:,.0f} eps; choose a larger radius",
)
"""A float64 table is exact enough for the image."""
TILE_FITS = shared_fits(tile_bytes, never={"param radius": (256,)})
FLOATS_ONLY = not_of("uint8", "uint16", words="integers are exact in variant 8, ring buffer; choose that one")
SEGMENTS_FIT = segments_fit(window_of, "choose a larger radius")
OPENCV_RULES = (
    Rule(
        _misrounds, "it rounds {meta.dtype} means of more than {found} values in float32, which is sometimes off by one"
    ),
    OPENCV_BORDER,
    FINITE,
)
CVCUDA_RULES = (PIXELS, misrounds(window_of))
CUCIM_RULES = (
    not_of(
        *("uint8", "uint16"),
        words="its local mean of {meta.dtype} is float32, too coarse to round to the right integer",
    ),
    Rule(
        lambda task: len(task.meta.shape) != 2,
        "its local mean takes images without channels",
        {"shape": ((16, 31, 4), (19, 23, 3))},
    ),
)
