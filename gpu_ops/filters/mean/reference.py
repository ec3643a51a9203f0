"""The reference of the mean filter: float64 sums by direct correlation, exact for integers."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from gpu_ops.filters.ranges import with_headroom
from gpu_ops.filters.sums import means_of, window_sums
from gpu_ops.params import Values
from gpu_ops.progress import stage

Array = np.ndarray[Any, Any]


def reference1d(array: Array, params: Values) -> dict[str, Array]:
    """{"signal": means over axis 0} of a signal (N,) or (N, C), channel by channel.

    float64 for floats; for integers their own dtype, exact, rounded half up. NaN and infinity reach every output
    whose window holds them. `params` are window and border.
    """
    window, border = cast(int, params["window"]), cast(str, params["border"])
    with stage(0, 2):
        array, factor = with_headroom(array, window)
        sums = window_sums(array, window, 0, border)
    with stage(1, 2):
        return {"signal": _back(means_of(sums, window, array.dtype), factor)}


def reference2d(array: Array, params: Values) -> dict[str, Array]:
    """{"image": means over axes 0 and 1} of an image (H, W) or (H, W, C). Otherwise as reference1d."""
    return {"image": square_means(array, cast(int, params["window"]), cast(str, params["border"]))}


def square_means(array: Array, window: int, border: str) -> Array:
    """Means over the window × window square around each pixel of an image (H, W) or (H, W, C), as reference2d's."""
    with stage(0, 3):
        array, factor = with_headroom(array, window * window)
        sums = window_sums(array, window, 0, border)
    with stage(1, 3):
        sums = window_sums(sums, window, 1, border)
    with stage(2, 3):
        return _back(means_of(sums, window * window, array.dtype), factor)


def _back(means: Array, factor: float) -> Array:
    """The means of what was scaled down."""
    return means if factor == 1 else np.multiply(means, factor, out=means)
