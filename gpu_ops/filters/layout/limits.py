"""The reference of a scaled and shifted signal, how exact variants are, and what they do not support."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.filters.kit.ranges import top
from gpu_ops.filters.kit.rules import not_of, shared_fits
from gpu_ops.filters.layout import plans
from gpu_ops.task import Task
from gpu_ops.types import Exactness

Array = np.ndarray[Any, Any]
EPS = float(np.finfo(np.float32).eps)


def reference(task: Task) -> dict[str, Array]:
    """{"signal": gain · x + offset} in float64, of a signal (N,) or (N, C)."""
    with np.errstate(invalid="ignore"):
        return {"signal": task.params["gain"] * task.x.astype(np.float64) + task.params["offset"]}


def tolerance(task: Task) -> float:
    """The error as a share of the scale, which is the largest magnitude of input, offset and result.

    The product is at most the sum of result and offset, twice the scale: rounding the gain and the product loses half
    an eps of that each, rounding the offset and the sum half an eps of the scale each. The float64 reference loses as
    much again.
    """
    return 4 * float(np.finfo(task.dtype).eps) * (2 if task.meta.dtype == "float64" else 1)


def least(task: Task) -> float:
    """The offset: a result near 0 is the difference of numbers of its size."""
    return abs(float(task.params["offset"]))


def largest(task: Task) -> float:
    """The largest magnitude of samples for which product and sum stay finite."""
    most = top(task.meta.dtype) * (1 - tolerance(task))
    return float((most - abs(task.params["offset"])) / max(1.0, abs(task.params["gain"])))


PARTED = Exactness(
    lambda task: float((4 + task.knobs["parts"] / 2) * EPS), "a float rounds after each of the parts that are added"
)
"""If the product is split into parts, there is one more rounding of at most the scale for each of them."""
WORDS_OF_FOUR = not_of("float64", words="its layout is one of float32, not of {meta.dtype}")
"""Samples must be 4-byte words, for which structures and shared memory are laid out."""
SHARED_STRIDE = shared_fits(plans.shared_stride_bytes, "words take")
