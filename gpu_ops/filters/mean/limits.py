"""How exact each variant of the mean filter is, what the CPU peers cannot do, and why.

Tolerances are relative to the largest magnitude of input and reference; integers are exact in every variant.
"""

from __future__ import annotations

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


def parallel1d(dtype: str, params: Values, knobs: Values) -> float:
    """Long windows are running sums in float64: an eps an output since the last restart, which float32 hides."""
    drift = RUNNING_RESTART * float(np.finfo(np.float64).eps)
    running = dtype == "float64" and params["window"] >= RUNNING_FROM
    return direct(dtype, params["window"]) + (drift if running else 0.0)


def scipy1d(dtype: str, params: Values, knobs: Values) -> float:
    return direct1d(dtype, params, knobs) + (DRIFT if dtype == "float64" else 0.0)


def scipy2d(dtype: str, params: Values, knobs: Values) -> float:
    return direct2d(dtype, params, knobs) + (DRIFT if dtype == "float64" else 0.0)


def opencv1d(dtype: str, params: Values, knobs: Values) -> float:
    fourier = dtype == "float64" and params["window"] >= FOURIER_FROM
    return direct1d(dtype, params, knobs) + (PEER if fourier else 0.0)


def opencv2d(dtype: str, params: Values, knobs: Values) -> float:
    blur = dtype == "float64" and params["window"] >= BLUR_FROM
    return direct2d(dtype, params, knobs) + (PEER if blur else 0.0)


def scipy_supports(meta: Meta, params: Values, knobs: Values, limits: Limits) -> str | None:
    """None, or why SciPy cannot do it."""
    return peers.scipy_unsupported(meta, params)


def opencv_supports(meta: Meta, params: Values, knobs: Values, limits: Limits) -> str | None:
    """None, or why OpenCV cannot do it."""
    return peers.opencv_unsupported(meta, params)
