"""The reference of the mean filter: float64 sums by direct correlation, exact for integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.filters.kit.ranges import with_headroom
from gpu_ops.filters.kit.sums import means_of, scale_back, square_means, window_sums
from gpu_ops.progress import stage
from gpu_ops.task import Task

Array = np.ndarray[Any, Any]


def reference1d(task: Task) -> dict[str, Array]:
    """{"signal": means over axis 0} of a signal (N,) or (N, C), channel by channel.

    float64 for floats; for integers their own dtype, exact, rounded half up. NaN and infinity reach every output
    whose window holds them. The parameters are window and border.
    """
    array, window, border = task.x, task.params["window"], task.params["border"]
    with stage(0, 2):
        array, factor = with_headroom(array, window)
        sums = window_sums(array, window, 0, border)
    with stage(1, 2):
        return {"signal": scale_back(means_of(sums, window, array.dtype), factor)}


def reference2d(task: Task) -> dict[str, Array]:
    """{"image": means over axes 0 and 1} of an image (H, W) or (H, W, C). Otherwise as reference1d."""
    return {"image": square_means(task.x, task.params["window"], task.params["border"])}
