"""The reference of the box filter: float64 sums by direct correlation along each axis, exact for integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.filters.kit.sums import square_means
from gpu_ops.task import Task


def reference(task: Task) -> dict[str, np.ndarray[Any, Any]]:
    """{"image": means} over the square with a side of 2 · radius + 1 pixels around each pixel of an image (H, W) or (H,
    W, C), channel by channel.

    float64 for floats; for integers their own dtype, exact, rounded half up. NaN and infinity reach every output whose
    square holds them. The parameters are radius and border.
    """
    return {"image": square_means(task.x, 2 * task.params["radius"] + 1, task.params["border"])}
