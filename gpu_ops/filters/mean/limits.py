"""How exact each variant of the mean filter is, what the CPU peers cannot do, and why.

Tolerances are relative to the largest magnitude of input and reference; integers are exact in every variant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict

import numpy as np

from gpu_ops.filters.kit.ranges import WHOLE, Range, sum_range, top, weighted_range
from gpu_ops.filters.kit.support import FINITE, WRAP, Support
from gpu_ops.filters.mean import peers
from gpu_ops.task import Task
from gpu_ops.types import Refusal

RUNNING_RESTART = 4256
"""Outputs that a running sum of the parallel variant serves; its module says the same."""
RUNNING_FROM = 31
FOURIER_FROM, BLUR_FROM = 49, 15
DRIFT = 1e-11
"""The drift of a running sum over a whole axis in float64. The worst case is one eps a sample, 2e-9 on 1e7 of them;
1.4e-13 was measured on 1e7 random ones."""
PEER = 1e-12

PARALLEL_CAVEAT = f"float64 windows from {RUNNING_FROM} on are running sums, restarted every {RUNNING_RESTART} outputs"
SCIPY_CAVEAT = "a running sum over the whole axis, which drifts in float64 (1.4e-13 measured on 1e7 samples)"
OPENCV_CAVEAT = "long float64 windows are Fourier transforms or running sums, less exact than direct ones"


def direct(dtype: str, count: int) -> float:
    """The most that adding `count` rounded products in order can lose.

    Half an ulp of each partial sum adds up to count/2 · eps at most, of the reference as well, and the tap and the
    last rounding add less than two more.
    """
    return 0.0 if dtype.startswith("uint") else (count / 2 + 2) * float(np.finfo(dtype).eps)


def direct1d(task: Task) -> float:
    return direct(task.meta.dtype, _window(task))


def direct2d(task: Task) -> float:
    return direct(task.meta.dtype, _square(task))


class Exactness(TypedDict, total=False):
    """What a variant declares when the filter's own tolerance or support does not hold for it."""

    tolerance: Callable[[Task], float]
    caveat: str
    largest: Range
    supports: Support
    refuses: tuple[Refusal, ...]


def parallel(axes: int) -> Exactness:
    """Long windows of signals are running sums in float64, an eps an output since the restart; float32 hides it."""
    if axes == 2:
        return {"largest": sum_range(_square, "float32", "float64")}
    drift = RUNNING_RESTART * float(np.finfo(np.float64).eps)
    tolerance = _wider_tolerance(axes, RUNNING_FROM, drift)
    return {"tolerance": tolerance, "caveat": PARALLEL_CAVEAT, "largest": _running_in_double}


def serial(axes: int) -> Exactness:
    return {"largest": sum_range(_window if axes == 1 else _square, "float64")}


def direct_kernel(axes: int) -> dict[str, Any]:
    """Kernels that multiply each value by 1 / count as it enters."""
    return {"largest": weighted_range(direct1d if axes == 1 else direct2d)}


def scipy(axes: int) -> Exactness:
    return {
        "tolerance": _wider_tolerance(axes, 0, DRIFT),
        "caveat": SCIPY_CAVEAT,
        "largest": sum_range(_window, "float64"),
        "supports": peers.scipy_unsupported,
        "refuses": (FINITE,),
    }


def cupyx(axes: int) -> dict[str, Any]:
    return {"library": "cupyx", **direct_kernel(axes)}


def opencv(axes: int) -> Exactness:
    return {
        "tolerance": _wider_tolerance(axes, FOURIER_FROM if axes == 1 else BLUR_FROM, PEER),
        "caveat": OPENCV_CAVEAT,
        "largest": _by_fourier if axes == 1 else _by_blur,
        "supports": peers.opencv_unsupported,
        "refuses": (WRAP, Refusal("rounds uint16"), Refusal("NaN and infinity")),
    }


def _window(task: Task) -> int:
    return int(task.params["window"])


def _square(task: Task) -> int:
    return int(task.params["window"]) ** 2


def _running_in_double(task: Task) -> float:
    """Short windows of floats are summed in their own type, long ones in float64."""
    long = _window(task) >= RUNNING_FROM
    return sum_range(_window, "float64", *(() if long else ("float32",)))(task)


def _by_fourier(task: Task) -> float:
    """Long windows are transformed in blocks of at most 8 windows and 512 samples, there and back without a scale."""
    if _window(task) <= FOURIER_FROM:
        return weighted_range(direct1d)(task)
    return top(task.meta.dtype) / float(8 * _window(task) + 512) ** 2


def _by_blur(task: Task) -> float:
    """Short windows are weighed as they enter, long ones summed in float64."""
    if _window(task) <= peers.SEPARABLE_UP_TO[task.meta.dtype]:
        return weighted_range(direct2d)(task)
    return WHOLE if task.meta.dtype == "float32" else sum_range(_square, "float64")(task)


def _wider_tolerance(axes: int, window_from: int, by: float) -> Callable[[Task], float]:
    """The tolerance of the direct sum, widened by `by` for float64 windows from `window_from` on."""

    def tolerance(task: Task) -> float:
        wider = task.meta.dtype == "float64" and _window(task) >= window_from
        return direct(task.meta.dtype, _window(task) ** axes) + (by if wider else 0.0)

    return tolerance
