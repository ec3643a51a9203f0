"""Compiled loops on all cores that move memory, and look at it on the way. Import it only when needed: it loads
Numba."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import get_num_threads, njit, prange

from gpu_ops.filters.kit.loops import Array, flat, given, offset, on_all_threads


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


def _copy_part(arguments: tuple[Any, ...], worker: int, workers: int) -> None:
    """One worker's share: copy the bits of floats to the target, and find the largest of them without their signs."""
    source, target, largest, magnitude = given(arguments)
    begin, end = worker * source.size // workers, (worker + 1) * source.size // workers
    most, mask = largest[worker], magnitude[0]
    for k in range(offset(begin), offset(end)):
        bits = source[k]
        target[k] = bits
        most = max(most, bits & mask)
    largest[worker] = most


def copy_floats(source: Array, target: Array) -> float:
    """Copy an array of float32 or float64 to another one of its shape and type, both C-contiguous. Returns the largest
    magnitude of its values; infinity where one of them is not finite."""
    bits = np.dtype(f"u{source.itemsize}")
    workers = get_num_threads()
    # Without their signs, floats are ordered like their bits; infinity is above all numbers, and NaN above infinity.
    largest = np.zeros(workers, bits)
    magnitude = np.array([np.iinfo(bits).max >> 1], bits)
    on_all_threads(_copy_part, (flat(source.view(bits)), target.view(bits).reshape(-1), largest, magnitude), workers)
    most = float(largest.max(keepdims=True).view(source.dtype)[0])
    return most if np.isfinite(most) else float("inf")
