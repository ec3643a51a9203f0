"""A smaller picture of a large array: means of square cells, in one byte each, to look at until the values are here."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]
TOP = 254
"""The code of the largest value. 255 means a cell without a finite value."""


class Cells(NamedTuple):
    """`codes` from 0 to TOP are equally far apart from `low` to `high`. A code is for `step` values along each of the
    first two axes, or along the only one."""

    codes: Array
    low: float
    high: float
    step: int


def real(array: Array) -> Array:
    """A view of an array whose last axis has the real and imaginary parts where the values are complex."""
    if array.dtype.kind != "c":
        return array
    parts: Array = array.reshape(*array.shape, 1).view(array.real.dtype)
    return parts.reshape(len(array), 1, 2) if array.ndim == 1 else parts


def step_for(shape: tuple[int, ...], most: int) -> int:
    """How many values along an axis one cell has, so that there are at most `most` cells."""
    cells, inner = shape[:2], math.prod(shape[2:])
    step = max(1, math.isqrt(math.prod(cells) * inner // most) if len(cells) == 2 else math.prod(shape) // most)
    while math.prod(-(-n // step) for n in cells) * inner > most:
        step += 1
    return step


def cells_of(array: Array, step: int) -> Cells:
    """The cells of an array of real numbers or bool, one dimension or more. Cells at the end may have fewer values;
    a cell of an image's last rows or columns is the mean of those that there are."""
    rows = len(array) // step * step
    parts = [_means(array[:rows].reshape(-1, step, *array.shape[1:]), step)] if rows else []
    if rows < len(array):
        parts.append(_means(array[None, rows:], step))
    means = np.concatenate(parts)
    finite = np.isfinite(means)
    whole = bool(finite.all())
    values = means if whole else means[finite]
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    scale = TOP / (high - low) if high > low and math.isfinite(TOP / (high - low)) else 0.0
    with np.errstate(invalid="ignore"):
        codes = ((means - low) * scale + 0.5).astype(np.uint8)
    if not whole:
        codes[~finite] = TOP + 1
    return Cells(codes, low, high, step)


def _means(rows: Array, step: int) -> Array:
    """The means of (n, step, W, …) over cells of `step` columns as well; of (n, step), over its rows."""
    with np.errstate(invalid="ignore", over="ignore"):
        means: Array = rows.mean(axis=1, dtype=np.float32 if rows.dtype.itemsize < 4 else np.float64)
        if means.ndim == 1:
            return means
        starts = np.arange(0, means.shape[1], step)
        counts = np.minimum(step, means.shape[1] - starts).reshape(-1, *(1 for _ in means.shape[2:]))
        result: Array = np.add.reduceat(means, starts, axis=1) / counts
    return result


def paint(cells: Cells, target: Array) -> None:
    """Fill an array with the values of its cells, rounded for integers; cells without one are NaN, or 0 for
    integers."""
    values = np.append(cells.low + (cells.high - cells.low) * np.arange(TOP + 1) / TOP, np.nan)
    if target.dtype.kind != "f":
        values = np.nan_to_num(np.round(values), nan=0.0)
        if target.dtype.kind in "iu":
            limits = np.iinfo(target.dtype)
            values = np.clip(values, limits.min, limits.max)
    few = values.astype(target.dtype)[cells.codes]
    step = cells.step
    if few.ndim > 1:
        few = few.repeat(step, axis=1)[:, : target.shape[1]]
    for row in range(len(few)):
        target[row * step : (row + 1) * step] = few[row]
