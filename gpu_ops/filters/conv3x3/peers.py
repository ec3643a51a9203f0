"""The 3×3 convolution by SciPy and OpenCV, including the cost of fulfilling the contract.

The caller passes the modules; this file imports only NumPy. `x` and `out` are C-contiguous, images (H, W) or (H, W, C).
Every element of `out` is written. Both correlate, as the contract does, and both skip weights of 0.

SciPy truncates integers instead of rounding them, and lets them overflow. OpenCV rounds halves to even, if it rounds at
all; it accumulates in float32 for a result of the input's type. So both filter integers into float64, and the sums are
divided and rounded here, and this cost is included. Only if nothing is to be rounded – integer weights, divisor 1 and
sums that float32 represents exactly – OpenCV's own result is correct and is used.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.filters.conv3x3.arithmetic import Arithmetic
from gpu_ops.filters.kit.borders import SCIPY_MODES, opencv_border

Array = np.ndarray[Any, Any]

EXACT_IN_FLOAT32 = 1 << 24
CHUNK = 1 << 16
"""Sums divided and rounded at a time: they stay in the cache."""


def scipy(ndimage: Any, x: Array, out: Array, how: Arithmetic, border: str) -> None:
    """ndimage.correlate, on all channels in one call."""
    sums = out if x.dtype.kind == "f" else np.empty(x.shape)
    weights = how.weights.astype(np.float64).reshape(3, 3, *[1] * (x.ndim - 2))
    ndimage.correlate(x, weights, output=sums, mode=SCIPY_MODES[border])
    if x.dtype.kind == "f":
        _add_offset(out, how)
    else:
        _finish(sums, out, how)


def opencv(cv2: Any, x: Array, out: Array, how: Arithmetic, border: str) -> None:
    """filter2D, which sums 3×3 matrices directly."""
    mode, weights = opencv_border(cv2, border), how.weights.reshape(3, 3)
    if x.dtype.kind == "f":
        cv2.filter2D(
            x, -1, weights, dst=out, borderType=mode
        )  # with its delta, which it adds first, every sum would be rounded
        _add_offset(out, how)
    elif _needs_no_rounding(x.dtype, how):
        cv2.filter2D(x, -1, weights.astype(np.float32), dst=out, delta=float(how.bias), borderType=mode)
    else:
        _finish(cv2.filter2D(x, cv2.CV_64F, weights.astype(np.float64), borderType=mode), out, how)


def _needs_no_rounding(dtype: np.dtype[Any], how: Arithmetic) -> bool:
    return bool(how.divisor == 1) and sums_fit_float32(dtype, how)


def sums_fit_float32(dtype: np.dtype[Any], how: Arithmetic) -> bool:
    """Whether float32 represents every sum of weighted integers of this type, with the bias, exactly."""
    largest = np.abs(how.weights.astype(np.float64)).sum() * np.iinfo(dtype).max + abs(float(how.bias))
    return how.weights.dtype.kind == "i" and bool(largest < EXACT_IN_FLOAT32)


def _add_offset(out: Array, how: Arithmetic) -> None:
    if how.offset:
        np.add(out, how.offset, out=out)


def _finish(sums: Array, out: Array, how: Arithmetic) -> None:
    """(sums + bias) / divisor + offset, clamped to the range of `out` and rounded down to integers. It overwrites
    `sums`."""
    flat, target = sums.reshape(-1, copy=False), out.reshape(-1, copy=False)
    top = float(np.iinfo(out.dtype).max)
    for first in range(0, flat.size, CHUNK):
        part = flat[first : first + CHUNK]
        part += float(how.bias)
        part /= float(how.divisor)
        part += float(how.offset)
        np.clip(part, 0.0, top, out=part)
        np.copyto(target[first : first + CHUNK], part, casting="unsafe")
