"""Sums over windows by direct correlation in float64, and their means, for the references of mean filters.

All threads share the pieces of large arrays: SciPy releases the interpreter's lock while it correlates.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from gpu_ops.filters.kit.borders import SCIPY_MODES, padded
from gpu_ops.filters.kit.ranges import with_headroom
from gpu_ops.progress import advance, collect, stage

Array = np.ndarray[Any, Any]

TAPS = 1 << 24
"""Taps per piece: tens of milliseconds of one thread."""
FEWEST_WINDOWS = 8
"""The minimum length of a piece along its window, in windows: only a small part is read by both neighbouring pieces."""
CHUNK = 1 << 22
"""Sums that become means at a time."""


def means_of(sums: Array, count: int, dtype: np.dtype[Any]) -> Array:
    """Sums over `count` values as means: float64 in place for floats, `dtype` rounded half up for integers, whose sums
    are exact in float64 because they stay below 2^53."""
    means = sums if dtype.kind == "f" else np.empty(sums.shape, dtype)
    flat, target = sums.reshape(-1), means.reshape(-1)
    for first in range(0, flat.size, CHUNK):
        advance(first, flat.size)
        part = slice(first, first + CHUNK)
        if dtype.kind == "f":
            np.divide(flat[part], count, out=target[part])
        else:
            target[part] = (flat[part].astype(np.int64) + count // 2) // count
    return means


def window_sums(array: Array, window: int, axis: int, border: str) -> Array:
    """Sums over windows along an axis in float64, in pieces where the array is large."""
    out = np.empty(array.shape)
    across = max(range(array.ndim), key=lambda a: (array.shape[a], a != axis))
    length = array.shape[across]
    step = max(length * TAPS // (array.size * window), FEWEST_WINDOWS * window if across == axis else 1)
    if step >= length:
        _correlate(array, out, window, axis, border)
        return out
    pieces = [slice(first, min(first + step, length)) for first in range(0, length, step)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        collect(pool.map(partial(_piece, array, out, window, axis, border, across), pieces), len(pieces))
    return out


def square_means(array: Array, window: int, border: str) -> Array:
    """Means over the window × window square around each pixel of an image (H, W) or (H, W, C): float64 of floats, exact
    in their own dtype of integers."""
    with stage(0, 3):
        array, factor = with_headroom(array, window * window)
        sums = window_sums(array, window, 0, border)
    with stage(1, 3):
        sums = window_sums(sums, window, 1, border)
    with stage(2, 3):
        return scale_back(means_of(sums, window * window, array.dtype), factor)


def scale_back(means: Array, factor: float) -> Array:
    """Means of samples that `with_headroom` has scaled down, multiplied by its factor."""
    return means if factor == 1 else np.multiply(means, factor, out=means)


def _piece(array: Array, out: Array, window: int, axis: int, border: str, across: int, piece: slice) -> None:
    """Fill `piece` of axis `across` in `out`. The order of each sum is that of a single call, so the results are
    bit-identical."""
    where = (slice(None),) * across + (piece,)
    if across != axis:
        _correlate(array[where], out[where], window, axis, border)
        return
    reach = window // 2
    region = [slice(0, array.shape[a]) for a in range(across)]
    source = padded(array, [*region, slice(piece.start - reach, piece.stop + reach)], border)
    sums = np.empty(source.shape)
    _correlate(source, sums, window, axis, border)
    inside = (slice(None),) * across + (slice(reach, reach + piece.stop - piece.start),)
    out[where] = sums[inside]


def _correlate(array: Array, out: Array, window: int, axis: int, border: str) -> None:
    from scipy import ndimage

    ndimage.correlate1d(array, np.ones(window), axis=axis, output=out, mode=SCIPY_MODES[border])
