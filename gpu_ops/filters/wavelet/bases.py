"""The wavelets by name, how long their filters are, and their coefficients, which PyWavelets knows.

The lengths are written down here, so that a form and a check need no library; a test compares them with PyWavelets.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]

_SPLINES = {
    **{"1.1": 2, "1.3": 6, "1.5": 10, "2.2": 6, "2.4": 10, "2.6": 14, "2.8": 18},
    **{"3.1": 4, "3.3": 8, "3.5": 12, "3.7": 16, "3.9": 20, "4.4": 10, "5.5": 12, "6.8": 18},
}
LENGTHS: dict[str, int] = {
    "haar": 2,
    **{f"db{n}": 2 * n for n in range(2, 21)},
    **{f"sym{n}": 2 * n for n in range(2, 21)},
    **{f"coif{n}": 6 * n for n in range(1, 6)},
    **{f"bior{orders}": length for orders, length in _SPLINES.items()},
    **{f"rbio{orders}": length for orders, length in _SPLINES.items()},
}
"""Taps of each of a wavelet's four filters, all of one even length, by name."""
NAMES = tuple(LENGTHS)


class Taps(NamedTuple):
    """The four filters of a wavelet in PyWavelets' order, float64, of one even length."""

    dec_lo: Array
    dec_hi: Array
    rec_lo: Array
    rec_hi: Array

    def astype(self, dtype: Any) -> Taps:
        """The same filters in another type."""
        return Taps(*(taps.astype(dtype) for taps in self))


@cache
def taps_of(name: str) -> Taps:
    """The filters of a wavelet. It loads PyWavelets."""
    import pywt

    wavelet = pywt.Wavelet(name)
    return Taps(*(np.array(taps, np.float64) for taps in wavelet.filter_bank))


@cache
def gain_of(name: str) -> float:
    """How much larger than the largest sample a value can become in one level along one axis, there and back."""
    taps = taps_of(name)
    there = max(float(np.abs(t).sum()) for t in (taps.dec_lo, taps.dec_hi))
    return there * float(np.abs(taps.rec_lo).sum() + np.abs(taps.rec_hi).sum())
