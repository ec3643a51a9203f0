"""Ranges of variants: the largest magnitude of floating-point samples for which nothing overflows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpu_ops.task import Task
from gpu_ops.variant import Range

WHOLE = float("inf")


def top(dtype: str) -> float:
    """The largest finite number of a floating type."""
    return float(np.finfo(dtype).max)


def in_range(values: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """The reference's values if results are rounded: clamped to the range of the integers, but not rounded."""
    return np.clip(values, 0, np.iinfo(dtype).max) if dtype.kind == "u" else values


def weighted_range(tolerance: Callable[[Task], float]) -> Range:
    """For weighted means, which exceed the largest value by rounding errors only."""
    return lambda task: top(task.meta.dtype) * (1 - tolerance(task))


def sum_range(count: Callable[[Task], int], *dtypes: str) -> Range:
    """For sums of `count` values that are divided at the end: in their own type for these dtypes, in a wider one for
    others."""
    return lambda task: top(task.meta.dtype) / (count(task) + 2) if task.meta.dtype in dtypes else WHOLE


def with_headroom(array: np.ndarray[Any, Any], count: float) -> tuple[np.ndarray[Any, Any], float]:
    """Samples scaled so that float64 can represent the sum of `count`, and the power of two by which to multiply the
    sum. Only the exponents of large float64 samples change, so that the sums are bit-identical."""
    if array.dtype != np.float64 or not array.size:
        return array, 1.0
    largest = max(float(np.fmax.reduce(array, axis=None)), -float(np.fmin.reduce(array, axis=None)))
    if np.isinf(largest):
        largest = float(np.max(np.abs(array), where=np.isfinite(array), initial=0.0))
    if not largest > top("float64") / (count + 2):
        return array, 1.0
    less = 2.0 ** -int(np.ceil(np.log2(count + 2)))
    return array * less, 1 / less
