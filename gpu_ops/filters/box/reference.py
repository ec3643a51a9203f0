"""The reference of the box filter: float64 sums by direct correlation along each axis, exact for integers."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from gpu_ops.filters.mean.reference import square_means
from gpu_ops.params import Values


def reference(array: np.ndarray[Any, Any], params: Values) -> dict[str, np.ndarray[Any, Any]]:
    """{"image": means} over the square of 2 · radius + 1 pixels a side around each pixel of an image (H, W) or
    (H, W, C), channel by channel.

    float64 for floats; for integers their own dtype, exact, rounded half up. NaN and infinity reach every output whose
    square holds them. `params` are radius and border.
    """
    window = 2 * cast(int, params["radius"]) + 1
    return {"image": square_means(array, window, cast(str, params["border"]))}
