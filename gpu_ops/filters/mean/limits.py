"""How exact each variant of the mean filter is, what the CPU peers cannot do, and why.

Tolerances are relative to the largest magnitude of input and reference; integers are exact in every variant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypedDict

import numpy as np

from gpu_ops.filters.mean import peers
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
    supports: Callable[[Meta, Values, Values, Limits], str | None]
    library: str


def parallel(axes: int) -> Exactness:
    """Long windows of signals are running sums in float64, an eps an output since the restart; float32 hides it."""
    if axes == 2:
        return {}
    drift = RUNNING_RESTART * float(np.finfo(np.float64).eps)
    return {"tolerance": _widened(axes, RUNNING_FROM, drift), "caveat": PARALLEL_CAVEAT}


def scipy(axes: int) -> Exactness:
    return {
        "tolerance": _widened(axes, 0, DRIFT),
        "caveat": SCIPY_CAVEAT,
        "supports": lambda meta, params, knobs, limits: peers.scipy_unsupported(meta, params),
        "library": "scipy",
    }


def opencv(axes: int) -> Exactness:
    return {
        "tolerance": _widened(axes, FOURIER_FROM if axes == 1 else BLUR_FROM, PEER),
        "caveat": OPENCV_CAVEAT,
        "supports": lambda meta, params, knobs, limits: peers.opencv_unsupported(meta, params),
        "library": "cv2",
    }


def _widened(axes: int, window_from: int, by: float) -> Callable[[str, Values, Values], float]:
    """The direct sum's tolerance, and for float64 windows from `window_from` on so much more."""

    def tolerance(dtype: str, params: Values, knobs: Values) -> float:
        wider = dtype == "float64" and params["window"] >= window_from
        return direct(dtype, params["window"] ** axes) + (by if wider else 0.0)

    return tolerance
