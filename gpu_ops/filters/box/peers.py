"""The box filter by SciPy and OpenCV. The caller passes the modules; this file imports only NumPy.

`x` and `out` are C-contiguous images (H, W) or (H, W, C), uint8, uint16 or float32; every element of `out` is written.

SciPy's uniform filter is a running sum over a whole axis. It truncates integers after each axis, so integers are
filtered into float64 and rounded there, and this cost is included. The number of values averaged is odd, so no mean is
a half and rounding to even equals rounding half up.

OpenCV's blur runs sums along both axes, in float64 for float32, and rounds integers once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.filters.kit.borders import SCIPY_MODES, opencv_border

Array = np.ndarray[Any, Any]


def scipy(ndimage: Any, x: Array, out: Array, radius: int, border: str) -> None:
    """uniform_filter over axes 0 and 1."""
    means = out if x.dtype.kind == "f" else np.empty(x.shape)
    ndimage.uniform_filter(x, 2 * radius + 1, axes=(0, 1), output=means, mode=SCIPY_MODES[border])
    if means is not out:
        np.rint(means, out=means)
        np.copyto(out, means, casting="unsafe")


def opencv(cv2: Any, x: Array, out: Array, radius: int, border: str) -> None:
    """blur over a square."""
    side = 2 * radius + 1
    cv2.blur(x, (side, side), dst=out, borderType=opencv_border(cv2, border))
