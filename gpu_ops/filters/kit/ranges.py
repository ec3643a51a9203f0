"""In which range of floating samples a variant holds: up to which magnitude nothing overflows on its way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpu_ops.task import Task

Range = Callable[[Task], float]
"""The largest magnitude of samples with which a task goes well; infinite where all of them will do."""
WHOLE = float("inf")


def top(dtype: str) -> float:
    """The largest finite number of a floating type."""
    return float(np.finfo(dtype).max)


def weighed(tolerance: Callable[[Task], float]) -> Range:
    """Where values are multiplied by their share as they enter, no sum outgrows them by more than what is rounded."""
    return lambda task: top(task.meta.dtype) * (1 - tolerance(task))


def summed(count: Callable[[Task], int], *dtypes: str) -> Range:
    """Where `count` values are added before they are divided, in their own type for these dtypes, in a wider one for
    others."""
    return lambda task: top(task.meta.dtype) / (count(task) + 2) if task.meta.dtype in dtypes else WHOLE


def with_headroom(array: np.ndarray[Any, Any], count: float) -> tuple[np.ndarray[Any, Any], float]:
    """Samples of which `count` can be added up in float64, and the power of two to multiply the sum by: for float64
    near its end it takes from the exponents only, so that sums are those of the samples to the last bit."""
    if array.dtype != np.float64 or not array.size:
        return array, 1.0
    largest = max(float(np.fmax.reduce(array, axis=None)), -float(np.fmin.reduce(array, axis=None)))
    if np.isinf(largest):
        largest = float(np.max(np.abs(array), where=np.isfinite(array), initial=0.0))
    if not largest > top("float64") / (count + 2):
        return array, 1.0
    less = 2.0 ** -int(np.ceil(np.log2(count + 2)))
    return array * less, 1 / less
