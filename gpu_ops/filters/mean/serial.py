"""The mean filter on one thread: the plain loop, compiled by Numba.

For every output the sum over its whole window, in float64 or int64, without a test for the border in the interior: what
a C compiler generates from the textbook algorithm. Every speed-up is relative to it. Errors stay below (window² or
window + 3) · 2^-53 · max|x|, and half an ulp for float32. Long work is split into bands of neighbouring outputs,
without changing any sum; it reports progress between bands.

After an edit here delete host.py's compiled loops too: see gpu_ops.filters.kit.loops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from gpu_ops.filters.kit.loops import Array, compiled, flat, offset, piece, place
from gpu_ops.progress import advance
from gpu_ops.types import BORDERS

TAPS = 1 << 25
"""Taps per band, unless one output has more: tens of milliseconds."""


def rounded_mean(total: Any, scale: Any) -> Any:
    """total / n for floats, (total + n // 2) // n for integers, where scale = 1 / n."""
    raise NotImplementedError("for compiled code only")


def _mean_compiled(total: Any, scale: Any) -> Callable[[Any, Any], Any]:
    if isinstance(total, types.Float):
        same = np.float32 if total == types.float32 else np.float64
        return lambda total, scale: total * same(scale)
    # n is odd, so total / n + 1/2 differs from integers by at least 1 / 2n: more than its rounding error, which is 3 ·
    # 2^-24 · 256
    # for uint8 in float32 and 3 · 2^-53 · 65536 for uint16 in float64. Hence the truncation is exact.
    real = np.float32 if scale == types.float32 else np.float64
    half = real(0.5)
    return lambda total, scale: np.int32(real(np.int32(total)) * scale + half)


overload(rounded_mean, strict=False)(_mean_compiled)


@piece
def direct(x: Array, i: int, out: Array, t: int, count: int, window: int, step: int, scale: float, zero: Any) -> None:
    """out[t + j] = mean of the `window` values x[i + j], x[i + j + step] …, summed in `zero`'s type, for j < count."""
    i, t, step = offset(i), offset(t), offset(step)
    for j in range(offset(count)):
        total = zero
        for k in range(offset(window)):
            total += x[i + j + k * step]
        out[t + j] = rounded_mean(total, scale)


@compiled
def _signal_serial(
    x: Array, out: Array, first: int, last: int, window: int, step: int, border: int, scale: float, zero: Any
) -> None:
    """Positions `first` to `last`: direct if the window is inside the signal; elsewhere every tap is mapped."""
    length, reach = x.size // step, window // 2
    low, high = max(first, reach), min(last, length - reach)
    inside = max(0, high - low)
    direct(x, (low - reach) * step, out, low * step, inside * step, window, step, scale, zero)
    for k in range(last - first - inside):
        position = first + k if inside == 0 or first + k < low else first + k + inside
        for c in range(step):
            total = zero
            for tap in range(position - reach, position + reach + 1):
                source = place(tap, length, border)
                if source >= 0:
                    total += x[source * step + c]
            out[position * step + c] = rounded_mean(total, scale)


@piece
def _square(
    x: Array, i: int, out: Array, t: int, count: int, window: int, width: int, step: int, scale: float, zero: Any
) -> None:
    """out[t + j] = mean of the window × window values from x[i + j] on, in rows of `width`, for j below `count`."""
    i, t, width, step = offset(i), offset(t), offset(width), offset(step)
    for j in range(offset(count)):
        total = zero
        for row in range(offset(window)):
            for column in range(offset(window)):
                total += x[i + j + row * width + column * step]
        out[t + j] = rounded_mean(total, scale)


@compiled
def _image_serial(
    x: Array,
    out: Array,
    first: int,
    last: int,
    height: int,
    window: int,
    step: int,
    border: int,
    scale: float,
    zero: Any,
) -> None:
    """Pixels `first` to `last`, row after row: _square if the window is inside the image; elsewhere every tap is
    mapped."""
    columns, reach = out.size // height // step, window // 2
    width = columns * step
    for row in range(first // columns, (last + columns - 1) // columns):
        begin, end = max(first - row * columns, 0), min(last - row * columns, columns)
        left, right, top = max(begin, reach), min(end, columns - reach), row - reach
        within = max(0, right - left) if top >= 0 and top + window <= height else 0
        i, t = top * width + (left - reach) * step, row * width + left * step
        _square(x, i, out, t, within * step, window, width, step, scale, zero)
        for k in range(end - begin - within):
            position = begin + k if within == 0 or begin + k < left else begin + k + within
            for c in range(step):
                total = zero
                for a in range(top, top + window):
                    line = place(a, height, border) * width
                    for b in range(position - reach, position + reach + 1):
                        source = place(b, columns, border)
                        if line >= 0 and source >= 0:
                            total += x[line + source * step + c]
                out[row * width + position * step + c] = rounded_mean(total, scale)


def scaling(dtype: np.dtype[Any], count: int) -> tuple[Any, Any]:
    """1 / count for rounded_mean, and the 0 that direct and running sums start from."""
    real = np.float32 if dtype == np.uint8 else np.float64
    return real(1 / count), np.int64(0) if dtype.kind == "u" else np.float64(0)


def mean1d_serial(x: Array, out: Array, window: int, border: str) -> None:
    """Means over axis 0 of a signal into `out`, by direct sums on one thread."""
    count, step = x.shape[0], x.shape[1] if x.ndim == 2 else 1
    line, target = flat(x), out.reshape(-1, copy=False)
    how = (window, step, BORDERS.index(border), *scaling(x.dtype, window))
    band = TAPS // (window * step) or 1
    for first in range(0, count, band):
        if first:  # a call of one band reports no progress, because a report would take longer than the band
            advance(first, count)
        _signal_serial(line, target, first, min(first + band, count), *how)


def mean2d_serial(x: Array, out: Array, window: int, border: str) -> None:
    """Means over axes 0 and 1 of an image into `out`, by direct sums over the whole square on one thread."""
    count, step = x.shape[0] * x.shape[1], x.shape[2] if x.ndim == 3 else 1
    line, target = flat(x), out.reshape(-1, copy=False)
    how = (x.shape[0], window, step, BORDERS.index(border), *scaling(x.dtype, window * window))
    band = TAPS // (window * window * step) or 1
    for first in range(0, count, band):
        if first:
            advance(first, count)
        _image_serial(line, target, first, min(first + band, count), *how)
