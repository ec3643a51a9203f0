"""How every variant of the 3×3 convolution computes and rounds its sums.

Integer samples, with an integer matrix, divisor and offset: floor((sum + offset · divisor + floor(divisor / 2)) /
divisor) is rounding half up. It is exact in int32 if no sum can exceed that, else in float64: sums stay below 2^53, and
no quotient of integers below that is rounded across an integer. Integer samples with other weights: floor(sum / divisor
+ (offset + 1/2)) in float64, with products and sums rounded one by one in the order of the matrix, so that all variants
of this package are bit-identical. Floating-point samples: weights are divided beforehand, sums are in the samples'
type.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_ops.filters.kit.ranges import top
from gpu_ops.output_kinds import largest_magnitude
from gpu_ops.params import Values
from gpu_ops.task import Task

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Arithmetic:
    """(sum(weights · x) + bias) / divisor + offset. `weights` (9,), rows first; all have one type: int32, or a floating
    one. For floating samples bias is 0 and divisor 1."""

    weights: Array
    bias: Any
    divisor: Any
    offset: Any


def arithmetic(dtype: np.dtype[Any], params: Values) -> Arithmetic:
    """The arithmetic for samples of `dtype`."""
    matrix, divisor, offset = np.array(params["matrix"]), float(params["divisor"]), float(params["offset"])
    if dtype.kind == "f":
        return _typed(dtype.type, matrix / divisor, 0.0, 1.0, offset)
    if not is_whole(params):
        return _typed(np.float64, matrix, 0.0, divisor, offset + 0.5)
    bias = offset * divisor + divisor // 2
    largest = np.abs(matrix).sum() * np.iinfo(dtype).max + abs(offset * divisor) + divisor
    return _typed(np.int32 if largest < 2**31 else np.float64, matrix, bias, divisor, 0.0)


def _typed(kind: Any, matrix: Array, bias: float, divisor: float, offset: float) -> Arithmetic:
    return Arithmetic(matrix.astype(kind), kind(bias), kind(divisor), kind(offset))


def is_whole(params: Values) -> bool:
    """Whether weights, divisor and offset are all integers, so that results of integers are exact."""
    return all(float(v).is_integer() for v in (*params["matrix"], params["divisor"], params["offset"]))


def gain(params: Values) -> float:
    """sum(|weights|) / divisor: the maximum gain of one pass, without the offset."""
    return float(np.abs(params["matrix"]).sum() / params["divisor"])


def largest(task: Task) -> float:
    """The largest magnitude of samples for which every pass stays finite, in its sums and with the offset."""
    params = task.params
    most, offset, lost = gain(params), abs(params["offset"]), tolerance(task)
    left = top(task.meta.dtype) * (1 - min(lost, 0.5))
    for _ in range(params["passes"]):
        left = min(left, (left - offset) / most if most else left)
    return left


def least(task: Task) -> float:
    """The minimum scale of floats: the largest result that samples of this size can have in the last pass. Terms that
    cancel in the sums were rounded at their size."""
    if task.dtype.kind == "u":
        return 0.0
    result, offset = task.meta.largest or largest_magnitude(task.x), abs(float(task.params["offset"]))
    for _ in range(task.params["passes"]):
        result = gain(task.params) * result + offset
    return result


def tolerance(task: Task) -> float:
    """The error that a variant may have, as a share of the scale: the largest value of an integer type, else `least`.

    Floats: rounding the weight, nine products and eight sums loses at most 6 eps of sum(|weights|) / divisor times the
    largest input, and adding the offset one eps of the result. A second pass amplifies the error of the first one, and
    adds as much again. So does the float64 reference. Integers: no error with integer weights; else half a level,
    because results are rounded, plus rounding errors; see also `scales` of the reference.
    """
    dtype = task.meta.dtype
    if dtype.startswith("uint"):
        most = int(np.iinfo(dtype).max)
        return 0.0 if is_whole(task.params) else 0.5 / most + lost_levels(task) / most
    return float(np.finfo(dtype).eps * 7 * task.params["passes"] * (2 if dtype == "float64" else 1))


def lost_levels(task: Task) -> float:
    """The error of a pass over integers in float64, in levels: an eps of the largest sum for each weight, product and
    sum."""
    params = task.params
    largest = gain(params) * float(np.iinfo(task.dtype).max) + abs(float(params["offset"])) + 1
    return 16 * float(np.finfo(np.float64).eps) * largest


def is_dyadic(params: Values) -> bool:
    """Whether float64 represents all products and sums over integers exactly: no rounding error decides how a half is
    rounded."""
    places = 1 << 16  # 16 fractional bits, 10 integer bits, 16 of a sample, 4 of the sum
    numbers = (*params["matrix"], params["offset"])
    return np.log2(params["divisor"]).is_integer() and all((float(v) * places).is_integer() for v in numbers)
