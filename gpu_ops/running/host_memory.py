"""Compiled loops on all cores that only move memory. Import it only when needed: it loads Numba."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange


@njit(parallel=True, cache=True, nogil=True)
def copy_parallel(source: Any, target: Any) -> None:
    """Copy one array to another of the same shape."""
    for i in prange(source.size):
        target[i] = source[i]


@njit(parallel=True, cache=True, nogil=True)
def sum_parallel(source: Any) -> Any:
    """The sum of an integer array, modulo 2^64, so that every element must be read."""
    total = np.uint64(0)
    for i in prange(source.size):
        total += np.uint64(source[i])
    return total
