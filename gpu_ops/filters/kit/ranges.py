"""Ranges of variants: the largest magnitude of floating samples with which nothing overflows."""

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
    """What a reference gives where results are rounded: values in the range of the integers, which are not rounded."""
    return np.clip(values, 0, np.iinfo(dtype).max) if dtype.kind == "u" else values


def weighted_range(tolerance: Callable[[Task], float]) -> Range:
    """For sums of values times their weights, which exceed the largest value by rounding errors only."""
    return lambda task: top(task.meta.dtype) * (1 - tolerance(task))


def sum_range(count: Callable[[Task], int], *dtypes: str) -> Range:
    """For sums of `count` values that are divided at the end: in their own type for these dtypes, in a wider one for
    others."""
    return lambda task: top(task.meta.dtype) / (count(task) + 2) if task.meta.dtype in dtypes else WHOLE


def with_headroom(array: np.ndarray[Any, Any], count: float) -> tuple[np.ndarray[Any, Any], float]:
    """Samples of which float64 can hold the sum of `count`, and the power of two to multiply the sum by. Only the
    exponents of large float64 samples change, so that the sums are the same to the last bit."""
    if array.dtype != np.float64 or not array.size:
        return array, 1.0
    largest = max(float(np.fmax.reduce(array, axis=None)), -float(np.fmin.reduce(array, axis=None)))
    if np.isinf(largest):
        largest = float(np.max(np.abs(array), where=np.isfinite(array), initial=0.0))
    if not largest > top("float64") / (count + 2):
        return array, 1.0
    less = 2.0 ** -int(np.ceil(np.log2(count + 2)))
    return array * less, 1 / less
