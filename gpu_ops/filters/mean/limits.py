"""How exact each variant of the mean filter is, what the CPU peers cannot do, and why.

Tolerances are relative to the largest magnitude of input and reference; integers are exact in every variant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict

import numpy as np

from gpu_ops.filters.mean import peers
from gpu_ops.filters.ranges import WHOLE, Range, summed, top, weighed
from gpu_ops.params import Values
from gpu_ops.plan import Limits
from gpu_ops.types import Meta

RUNNING_RESTART = 4256
"""Outputs that a running sum of the parallel variant serves; its module says the same."""
RUNNING_FROM = 31
FOURIER_FROM, BLUR_FROM = 49, 15
DRIFT = 1e-11
"""What a running sum over a whole axis may drift by in float64. Worst case is one eps a sample, 2e-9 on 1e7 of them;
1.4e-13 was measured on 1e7 random ones."""
PEER = 1e-12

PARALLEL_CAVEAT = f"float64 windows from {RUNNING_FROM} on are running sums, restarted every {RUNNING_RESTART} outputs"
SCIPY_CAVEAT = "a running sum over the whole axis, which drifts in float64 (1.4e-13 measured on 1e7 samples)"
OPENCV_CAVEAT = "long float64 windows are Fourier transforms or running sums, less exact than direct ones"


def direct(dtype: str, count: int) -> float:
    """What adding `count` rounded products in order can lose.

    Half an ulp of each partial sum adds up to count/2 · eps at most, of the reference as well, and the tap and the
    last rounding add less than two more.
    """
    return 0.0 if dtype.startswith("uint") else (count / 2 + 2) * float(np.finfo(dtype).eps)


def direct1d(dtype: str, params: Values, knobs: Values) -> float:
    return direct(dtype, params["window"])


def direct2d(dtype: str, params: Values, knobs: Values) -> float:
    return direct(dtype, params["window"] ** 2)


class Exactness(TypedDict, total=False):
    """What a variant declares when the filter's own tolerance or support does not hold for it."""

    tolerance: Callable[[str, Values, Values], float]
    caveat: str
    largest: Range
    supports: Callable[[Meta, Values, Values, Limits], str | None]
    library: str


def parallel(axes: int) -> Exactness:
    """Long windows of signals are running sums in float64, an eps an output since the restart; float32 hides it."""
    if axes == 2:
        return {"largest": summed(_square, "float32", "float64")}
    drift = RUNNING_RESTART * float(np.finfo(np.float64).eps)
    tolerance = _widened(axes, RUNNING_FROM, drift)
    return {"tolerance": tolerance, "caveat": PARALLEL_CAVEAT, "largest": _running_in_double}


def serial(axes: int) -> Exactness:
    return {"largest": summed(_window if axes == 1 else _square, "float64")}


def direct_kernel(axes: int) -> dict[str, Any]:
    """Kernels that multiply each value by 1 / count as it enters."""
    return {"largest": weighed(direct1d if axes == 1 else direct2d)}


def scipy(axes: int) -> Exactness:
    return {
        "tolerance": _widened(axes, 0, DRIFT),
        "caveat": SCIPY_CAVEAT,
        "largest": summed(_window, "float64"),
        "supports": lambda meta, params, knobs, limits: peers.scipy_unsupported(meta, params),
        "library": "scipy",
    }


def cupyx(axes: int) -> dict[str, Any]:
    return {"library": "cupyx", **direct_kernel(axes)}


def opencv(axes: int) -> Exactness:
    return {
        "tolerance": _widened(axes, FOURIER_FROM if axes == 1 else BLUR_FROM, PEER),
        "caveat": OPENCV_CAVEAT,
        "largest": _by_fourier if axes == 1 else _by_blur,
        "supports": lambda meta, params, knobs, limits: peers.opencv_unsupported(meta, params),
        "library": "cv2",
    }


def _window(params: Values) -> int:
    return int(params["window"])


def _square(params: Values) -> int:
    return int(params["window"]) ** 2


def _running_in_double(dtype: str, params: Values, knobs: Values) -> float:
    """Short windows of floats are summed in their own type, long ones in float64."""
    long = params["window"] >= RUNNING_FROM
    return summed(_window, "float64", *(() if long else ("float32",)))(dtype, params, knobs)


def _by_fourier(dtype: str, params: Values, knobs: Values) -> float:
    """Long windows are transformed in blocks of at most 8 windows and 512 samples, there and back without a scale."""
    if params["window"] <= FOURIER_FROM:
        return weighed(direct1d)(dtype, params, knobs)
    return top(dtype) / float(8 * params["window"] + 512) ** 2


def _by_blur(dtype: str, params: Values, knobs: Values) -> float:
    """Short windows are weighed as they enter, long ones summed in float64."""
    if params["window"] <= peers.SEPARABLE_UP_TO[dtype]:
        return weighed(direct2d)(dtype, params, knobs)
    return WHOLE if dtype == "float32" else summed(_square, "float64")(dtype, params, knobs)


def _widened(axes: int, window_from: int, by: float) -> Callable[[str, Values, Values], float]:
    """The direct sum's tolerance, and for float64 windows from `window_from` on so much more."""

    def tolerance(dtype: str, params: Values, knobs: Values) -> float:
        wider = dtype == "float64" and params["window"] >= window_from
        return direct(dtype, params["window"] ** axes) + (by if wider else 0.0)

    return tolerance
