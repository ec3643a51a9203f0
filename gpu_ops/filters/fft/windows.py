"""Windows: sums of cosines, periodic, as scipy.signal.get_window gives them."""

from __future__ import annotations

from typing import Any

import numpy as np

COSINES = {
    "none": (1.0,),
    "Hann": (0.5, 0.5),
    "Hamming": (0.54, 0.46),
    "Blackman": (0.42, 0.5, 0.08),
    "flat-top": (0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368),
}
"""By name: the weights a of sum (-1)^k · a[k] · cos(2π k n / N) over the samples n = 0 … N - 1. Flat-top: D'Antona and
Ferrero, Digital Signal Processing for Measurement Systems, 2006."""

SCIPY_NAMES = {"none": "boxcar", "Hann": "hann", "Hamming": "hamming", "Blackman": "blackman", "flat-top": "flattop"}
"""Each window's name in scipy.signal."""

LOBES = {"none": 2, "Hann": 2, "Hamming": 2, "Blackman": 3, "flat-top": 5}
"""The half width of a tone's main lobe in bins: outside, the tone is below half its height, at any frequency."""


def window(name: str, length: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The window of that length in float64; of a single sample, 1."""
    if length == 1:
        return np.ones(1)
    turns = np.arange(length) * (2 * np.pi / length)
    result = np.zeros(length)
    for k, weight in enumerate(COSINES[name]):
        result += (-1) ** k * weight * np.cos(k * turns)
    return result
