"""Compiled loops over many floats: extremes, fine bins, and the values of a few bins. Import it only for large arrays:
it loads Numba, and compiles when first used on a machine."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

Array = np.ndarray[Any, Any]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def extremes(values: Any) -> Any:
    """(finite, NaN, infinite, lowest, highest, sum) of values (n,); lowest above highest where none is finite."""
    finite, nan, low, high, total = 0, 0, np.inf, -np.inf, 0.0
    for k in range(values.size):
        value = np.float64(values[k])
        if value - value == 0:
            finite += 1
            low = min(low, value)
            high = max(high, value)
            total += value
        elif value != value:
            nan += 1
    return finite, nan, values.size - finite - nan, low, high, total


@numba.njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _bin(value: Any, low: Any, scale: Any, bins: Any) -> Any:
    return min(np.int64((value - low) * scale), bins - 1)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def count(values: Any, low: Any, scale: Any, bins: Any) -> Any:
    """How many finite values (n,) are in each bin; the bin of a value is (value - low) * scale, at most the last
    one."""
    counts = np.zeros(bins, np.int64)
    for k in range(values.size):
        value = np.float64(values[k])
        if value - value == 0:
            counts[_bin(value, low, scale, bins)] += 1
    return counts


@numba.njit(cache=True, nogil=True, error_model="numpy")
def pick(values: Any, low: Any, scale: Any, inside: Any, found: Any) -> Any:
    """Collect the finite values (n,) of the bins that are `inside` at the start of `found` (n,). Returns their
    number."""
    size = 0
    for k in range(values.size):
        value = np.float64(values[k])
        if value - value == 0:
            found[size] = values[k]
            size += inside[_bin(value, low, scale, inside.size)]
    return size
