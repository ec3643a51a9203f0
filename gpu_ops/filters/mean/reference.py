"""The reference of the mean filter: float64 sums by direct correlation, exact for integers."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, cast

import numpy as np

from gpu_ops.filters.borders import SCIPY_MODES, padded
from gpu_ops.params import Values

Array = np.ndarray[Any, Any]

SPLIT_FROM = 4_000_000
"""Values from which on the work is split over threads: SciPy releases the interpreter's lock while it correlates."""


def reference1d(array: Array, params: Values) -> dict[str, Array]:
    """{"signal": means over axis 0} of a signal (N,) or (N, C), channel by channel.

    float64 for floats; for integers their own dtype, exact, rounded half up. NaN and infinity reach every output
    whose window holds them. `params` are window and border.
    """
    window, border = cast(int, params["window"]), cast(str, params["border"])
    return {"signal": _means(_sums(array, window, 0, border), window, array.dtype)}


def reference2d(array: Array, params: Values) -> dict[str, Array]:
    """{"image": means over axes 0 and 1} of an image (H, W) or (H, W, C). Otherwise as reference1d."""
    window, border = cast(int, params["window"]), cast(str, params["border"])
    sums = _sums(_sums(array, window, 0, border), window, 1, border)
    return {"image": _means(sums, window * window, array.dtype)}


def _means(sums: Array, count: int, dtype: np.dtype[Any]) -> Array:
    """Integer sums are exact in float64: they stay below 2^53."""
    if dtype.kind == "f":
        return np.divide(sums, count, out=sums)
    whole = sums.astype(np.int64)
    whole += count // 2
    whole //= count
    return whole.astype(dtype)


def _sums(array: Array, window: int, axis: int, border: str) -> Array:
    """Sums over windows along an axis in float64, in pieces where the array is large."""
    out = np.empty(array.shape)
    if array.size < SPLIT_FROM:
        _correlate(array, out, window, axis, border)
        return out
    across = max(range(array.ndim), key=lambda a: (array.shape[a], a != axis))
    workers = min(os.cpu_count() or 1, array.shape[across])
    cuts = [array.shape[across] * k // workers for k in range(workers + 1)]
    pieces = [slice(first, last) for first, last in zip(cuts, cuts[1:], strict=False)]
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(partial(_piece, array, out, window, axis, border, across), pieces))
    return out


def _piece(array: Array, out: Array, window: int, axis: int, border: str, across: int, piece: slice) -> None:
    """The outputs of `piece` of axis `across`. Each is summed in the same order as in one call, so to the same bits."""
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
