"""How exact each variant of the mean filter is, and for which samples nothing overflows.

Tolerances are relative to the largest magnitude of input and reference; integers are exact in every variant.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpu_ops.filters.kit.ranges import WHOLE, sum_range, top, weighted_range
from gpu_ops.filters.mean import peers
from gpu_ops.filters.mean.plans import window_of
from gpu_ops.task import Task
from gpu_ops.types import Exactness

RUNNING_RESTART = 4256
"""Outputs of a running sum of the parallel variant; the same constant is in its module."""
RUNNING_FROM = 31
FOURIER_FROM, BLUR_FROM = 49, 15
DRIFT = 1e-11
"""The drift of a running sum over a whole axis in float64. The worst case is one eps per sample, 2e-9 for 1e7 of them;
1.4e-13 was measured for 1e7 random ones."""
PEER = 1e-12


def count_of(task: Task) -> int:
    """The values of a window."""
    return int(window_of(task) ** task.meta.of_kind.rank)


def direct(task: Task) -> float:
    """The maximum error of adding `count` rounded products in order.

    Half an ulp of each partial sum adds up to count/2 · eps at most, and as much for the reference; the tap and the
    last rounding add less than two more.
    """
    return 0.0 if task.dtype.kind == "u" else (count_of(task) / 2 + 2) * float(np.finfo(task.dtype).eps)


def _wider(window_from: Callable[[Task], int], by: float) -> Callable[[Task], float]:
    """The tolerance of the direct sum, widened by `by` for float64 windows from `window_from(task)` on."""

    def tolerance(task: Task) -> float:
        wider = task.meta.dtype == "float64" and window_of(task) >= window_from(task)
        return direct(task) + (by if wider else 0.0)

    return tolerance


RUNNING = Exactness(
    _wider(lambda task: RUNNING_FROM, RUNNING_RESTART * float(np.finfo(np.float64).eps)),
    f"float64 windows from {RUNNING_FROM} on are running sums, restarted every {RUNNING_RESTART:,} outputs",
)
"""Long windows of signals are running sums in float64, with an error of one eps per output since the restart, which is
negligible in float32."""
SCIPY = Exactness(
    _wider(lambda task: 0, DRIFT),
    "a running sum over the whole axis, which drifts in float64 (1.4e-13 measured on 1e7 samples)",
)
OPENCV = Exactness(
    _wider(lambda task: FOURIER_FROM if task.meta.of_kind.rank == 1 else BLUR_FROM, PEER),
    "long float64 windows are Fourier transforms or running sums, less exact than direct ones",
)

largest_direct = weighted_range(direct)
"""The error of multiplying each value by 1 / count as it enters."""
largest_serial = sum_range(count_of, "float64")
largest_own = sum_range(count_of, "float32", "float64")
largest_scipy = sum_range(window_of, "float64")


def largest_parallel(task: Task) -> float:
    """Images and short windows of floats are summed in their own type, long ones of signals in float64."""
    long = task.meta.of_kind.rank == 1 and window_of(task) >= RUNNING_FROM
    return sum_range(count_of, "float64", *(() if long else ("float32",)))(task)


def largest_opencv(task: Task) -> float:
    """Short windows are weighted as they enter. Long ones of images are summed in float64; those of signals are
    transformed in blocks of at most 8 windows and 512 samples, forward and inverse without a scale."""
    signal, window = task.meta.of_kind.rank == 1, window_of(task)
    if window <= (FOURIER_FROM if signal else peers.SEPARABLE_UP_TO[task.meta.dtype]):
        return largest_direct(task)
    if signal:
        return top(task.meta.dtype) / float(8 * window + 512) ** 2
    return WHOLE if task.meta.dtype == "float32" else largest_serial(task)
