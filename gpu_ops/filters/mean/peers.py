"""The mean filter by SciPy and OpenCV, each by its fastest function that fulfils the contract.

The caller passes the modules; this file imports only NumPy. `x` and `out` are C-contiguous, signals (N,) or (N, C),
images (H, W) or (H, W, C). Every element of `out` is written.

SciPy's uniform filters are running sums over a whole axis. They truncate integers after each axis, so integers are
filtered into float64 and rounded there, and this cost is included. The number of values averaged is odd, so no mean is
a half and rounding to even equals rounding half up.

OpenCV sums directly with filter2D and sepFilter2D, which switch to Fourier transforms for long rows, and by running
column sums with blur. It rounds integers once, from a product in float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.filters.kit.borders import SCIPY_MODES, opencv_border
from gpu_ops.filters.kit.rules import finite_only
from gpu_ops.task import Task
from gpu_ops.types import Rule

Array = np.ndarray[Any, Any]

OPENCV_UINT16 = 107
"""The maximum number of uint16 values for which OpenCV rounds the mean of every sum correctly: above, float32 is too
coarse (first at 109)."""
OPENCV_DIRECT = 49
"""The longest row that filter2D sums directly in every dtype; above, Fourier transforms spread NaN and infinity."""
FILTER_UP_TO = {"uint8": 127, "uint16": 9, "float32": 4095, "float64": 4095}
"""Signals: the last window at which filter2D is exact and faster than blur."""
SEPARABLE_UP_TO = {"uint8": 1, "uint16": 1, "float32": 29, "float64": 13}
"""Images: the last window at which separable direct sums are faster than blur."""


def scipy_mean1d(ndimage: Any, x: Array, out: Array, window: int, border: str) -> None:
    """uniform_filter1d over axis 0."""
    sums = out if x.dtype.kind == "f" else np.empty(x.shape)
    ndimage.uniform_filter1d(x, window, axis=0, output=sums, mode=SCIPY_MODES[border])
    _round(sums, out)


def scipy_mean2d(ndimage: Any, x: Array, out: Array, window: int, border: str) -> None:
    """uniform_filter over axes 0 and 1."""
    sums = out if x.dtype.kind == "f" else np.empty(x.shape)
    ndimage.uniform_filter(x, window, axes=(0, 1), output=sums, mode=SCIPY_MODES[border])
    _round(sums, out)


def _round(means: Array, out: Array) -> None:
    if means is not out:
        np.rint(means, out=means)
        np.copyto(out, means, casting="unsafe")


def opencv_mean1d(cv2: Any, x: Array, out: Array, window: int, border: str) -> None:
    """filter2D, or blur where that is exact or faster, on the signal as an image of one row."""
    row = (1, *x.shape)
    mode = opencv_border(cv2, border)
    if window <= FILTER_UP_TO[x.dtype.name]:
        cv2.filter2D(x.reshape(row), -1, _taps(x, (1, window)), dst=out.reshape(row), borderType=mode)
    else:
        cv2.blur(x.reshape(row), (window, 1), dst=out.reshape(row), borderType=mode)


def opencv_mean2d(cv2: Any, x: Array, out: Array, window: int, border: str) -> None:
    """The fastest of filter2D, sepFilter2D and blur for the window and dtype."""
    mode = opencv_border(cv2, border)
    if window > SEPARABLE_UP_TO[x.dtype.name]:
        cv2.blur(x, (window, window), dst=out, borderType=mode)
    elif window == 3:
        cv2.filter2D(x, -1, _taps(x, (3, 3)), dst=out, borderType=mode)
    else:
        taps = _taps(x, (window, 1))
        cv2.sepFilter2D(x, -1, taps, taps, dst=out, borderType=mode)


def _taps(x: Array, shape: tuple[int, int]) -> Array:
    """Equal taps in the type that filter2D computes in."""
    return np.full(shape, 1 / (shape[0] * shape[1]), np.float64 if x.dtype == np.float64 else np.float32)


def _spreads(task: Task) -> int:
    """The longest window that OpenCV sums directly, if this one is longer and samples are not finite; else 0."""
    direct = OPENCV_DIRECT if task.meta.of_kind.rank == 1 else SEPARABLE_UP_TO[task.meta.dtype]
    return direct if not task.meta.finite and task.params["window"] > direct else 0


SCIPY_FINITE = finite_only("its running sum propagates NaN and infinity to the end of the axis")
OPENCV_RULES = (
    Rule(
        lambda task: task.meta.dtype == "uint16" and task.params["window"] ** task.meta.of_kind.rank > OPENCV_UINT16,
        f"it rounds uint16 means of more than {OPENCV_UINT16} values in float32, which is off by one at times",
    ),
    Rule(_spreads, "above window {found} its running sums and Fourier transforms spread NaN and infinity"),
)
