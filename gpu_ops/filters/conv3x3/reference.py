"""The reference of the 3×3 convolution: nine shifted copies times their weights, added in the order of the matrix.

Exact in int64 for integers with integer weights, divisor and offset, else in float64. All threads share the bands of
rows: NumPy releases the interpreter's lock while it computes one.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from gpu_ops.filters.conv3x3 import arithmetic
from gpu_ops.filters.conv3x3.arithmetic import is_whole
from gpu_ops.filters.kit.borders import padded
from gpu_ops.filters.kit.ranges import in_range, with_headroom
from gpu_ops.params import Values
from gpu_ops.progress import collect, stage
from gpu_ops.task import Task

Array = np.ndarray[Any, Any]

BAND = 1 << 20
"""Values of a band: nine passes over it are tens of milliseconds."""


def reference(task: Task) -> dict[str, Array]:
    """{"image": the result} of an image (H, W) or (H, W, C), channel by channel: float64 for floats; for integers
    clamped to their range, in their own dtype if all numbers are integers, else in float64 and not rounded. A second
    pass starts from the result of the first, which is rounded half up."""
    result, passes = task.x, task.params["passes"]
    for done in range(passes):
        with stage(done, passes):
            result = _convolve(result, task.params, done + 1 < passes or is_whole(task.params))
    return {"image": result}


def scales(task: Task, tolerance: float) -> Array | None:
    """The scale of each element of integers after two passes, if a sum of the first one may be so close to a half that
    rounding errors decide: in the second pass an error of one level is multiplied by its weight. None otherwise."""
    params = task.params
    if task.dtype.kind == "f" or params["passes"] == 1 or is_whole(params) or arithmetic.is_dyadic(params):
        return None
    first, most = _convolve(task.x, params, False), arithmetic.lost_levels(task)
    unsure = (np.abs(first - np.floor(first) - 0.5) <= most).astype(np.float64)
    weights = {
        "matrix": np.abs(params["matrix"]),
        "divisor": params["divisor"],
        "offset": 0.0,
        "border": params["border"],
    }
    levels = 0.5 + most + _convolve(unsure, weights, False)
    return np.asarray(levels / tolerance)


def _convolve(array: Array, params: Values, whole: bool) -> Array:
    """One pass; for integers to `whole` ones of their type, or to float64 in its range."""
    out = np.empty(array.shape, array.dtype if array.dtype.kind == "u" and whole else np.float64)
    rows = max(BAND * len(array) // array.size, 1)
    bands = [slice(first, min(first + rows, len(array))) for first in range(0, len(array), rows)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        collect(pool.map(partial(_band, array, out, params), bands), len(bands))
    return out


def _band(array: Array, out: Array, params: Values, rows: slice) -> None:
    """The rows of a band of `out`."""
    height, width = rows.stop - rows.start, array.shape[1]
    exact = out.dtype.kind == "u" and is_whole(params)
    around = [slice(rows.start - 1, rows.stop + 1), slice(-1, width + 1)]
    source = padded(array, around, params["border"]).astype(np.int64 if exact else np.float64)
    source, factor = with_headroom(source, float(np.abs(params["matrix"]).sum()))
    total = np.zeros((height, *array.shape[1:]), source.dtype)
    with np.errstate(invalid="ignore"):  # infinity times 0 is NaN here as in all variants
        for place, weight in enumerate(params["matrix"]):
            v, u = divmod(place, 3)
            total += source.dtype.type(weight) * source[v : v + height, u : u + width]
    out[rows] = _finish(total, array.dtype, params, factor, out.dtype.kind == "u")


def _finish(total: Array, dtype: np.dtype[Any], params: Values, factor: float, whole: bool) -> Array:
    """Samples from sums and the factor returned by `with_headroom`, which is 1 for integers."""
    divisor, offset = params["divisor"], params["offset"]
    if total.dtype.kind == "i":
        by = int(divisor)
        total = (total + int(offset) * by + by // 2) // by
    elif whole:
        total = np.floor(total / divisor + (offset + 0.5))
    else:
        total = total / divisor * factor + offset
    return in_range(total, dtype)
