"""The details from which the noise is estimated: the finest ones, without those that are zero for any samples.

An odd axis is extended by its last sample, and a wavelet whose high-pass filter has two taps, such as haar, takes the
difference of both: a line of zeros that would lower the median. scikit-image's estimate_sigma excludes exact zeros.
Rounding may make such a difference non-zero, so here the lines are excluded by their position, together with those
outside the edge that mirror others.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from gpu_ops.filters.wavelet.bases import LENGTHS
from gpu_ops.filters.wavelet.forms import bands_of, spatial
from gpu_ops.output_kinds import Band
from gpu_ops.task import Task

NOTHING = 1e-12
"""A sum of weights below this is a rounding error of a difference that is 0."""


def finest_of(task: Task) -> Band:
    """The part of the finest (diagonal) band from which the noise is estimated."""
    band, params = bands_of(task)[-1], task.params
    pairs = zip(spatial(task), band.shape, strict=True)
    shape = tuple(half - _zeros(n, half, params["wavelet"], params["border"]) for n, half in pairs)
    return Band(band.level, band.orientation, band.start, shape)


@lru_cache(1024)
def _zeros(n: int, half: int, wavelet: str, border: str) -> int:
    """The number of details at the end of an axis of n samples that are 0 for any samples; 0 if all would be
    excluded."""
    if n % 2 == 0:
        return 0
    import pywt

    short = min(n, 4 * LENGTHS[wavelet] + 1)  # the ends of a longer axis are equal
    weights = pywt.dwt(np.eye(short), wavelet, border, axis=0)[1]
    zero = np.flatnonzero(np.abs(weights).max(axis=1) < NOTHING)
    left_out = len(weights) - int(zero[0]) if len(zero) else 0
    return left_out if left_out < half else 0
