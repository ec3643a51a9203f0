"""The wavelets by name, the lengths of their filters, and their coefficients, which come from PyWavelets.

The lengths are listed here, so that a form and a check need no library; a test compares them with PyWavelets.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.params import Curve, Look

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


LEVELS_COUNTED = 6
"""The number of levels whose filters are convolved to compute the growth of coefficient errors; further levels grow at
the same rate."""


@cache
def gains_of(name: str) -> tuple[float, ...]:
    """The gain from rounding errors of coefficients at level 1, 2, … LEVELS_COUNTED to errors of samples, along one
    axis, with samples and coefficients on one scale: the largest coefficient for samples of magnitude 1, times the
    maximum root of the sum of squared weights of independent coefficient errors in a sample. Orthogonal wavelets have a
    gain of at most about 2 at any level; the synthesis of rbio3.1 doubles it with each level."""
    taps, found = taps_of(name), []
    analysis = synthesis = np.ones(1)
    for level in range(LEVELS_COUNTED):
        spacing = 1 << level  # samples between two taps
        pairs = [
            (_then(analysis, t, spacing), _then(synthesis, b, spacing))
            for t, b in ((taps[0], taps[2]), (taps[1], taps[3]))
        ]
        found.append(max(float(np.abs(t).sum()) * _root_of_squares(b, 2 * spacing) for t, b in pairs))
        analysis, synthesis = pairs[0]
    return tuple(found)


def _then(filter: Array, taps: Array, spacing: int) -> Array:
    """A filter convolved with the taps at this spacing, as one filter."""
    found = np.zeros(filter.size + (taps.size - 1) * spacing)
    for place, tap in enumerate(taps):
        found[place * spacing : place * spacing + filter.size] += tap * filter
    return found


def _root_of_squares(filter: Array, spacing: int) -> float:
    """The maximum root of the sum of squares of those taps of a filter that contribute to one sample, if coefficients
    have this spacing."""
    taps = np.pad(filter, (0, -filter.size % spacing)).reshape(-1, spacing)
    return float(np.sqrt((taps**2).sum(axis=0).max()))


@cache
def gain_of(name: str) -> float:
    """The maximum gain of one level along one axis, forward and inverse."""
    taps = taps_of(name)
    analysis = max(float(np.abs(t).sum()) for t in (taps.dec_lo, taps.dec_hi))
    return analysis * float(np.abs(taps.rec_lo).sum() + np.abs(taps.rec_hi).sum())


FAMILIES = {
    "haar": "Haar",
    "db": "Daubechies",
    "sym": "symlets",
    "coif": "coiflets",
    "bior": "biorthogonal",
    "rbio": "reverse biorthogonal",
}
"""Titles by the letters at the beginning of the names."""
CASCADE, POINTS = 8, 500
"""The number of iterations of the cascade that computes the functions, and the maximum number of points of a curve."""


def family(wavelet: str) -> str:
    """The title of a wavelet's family: "symlets" of "sym8"."""
    return FAMILIES[re.sub(r"[\d.]+$", "", wavelet)]


@cache
def curves(wavelet: str) -> tuple[Curve, ...]:
    """The scaling function and the wavelet, for biorthogonal ones those of analysis and of synthesis, from PyWavelets'
    cascade."""
    import pywt

    *functions, x = pywt.Wavelet(wavelet).wavefun(level=CASCADE)
    names: tuple[str, ...] = ("scaling φ", "wavelet ψ")
    if len(functions) == 4:
        names = ("analysis φ", "analysis ψ", "synthesis φ", "synthesis ψ")
    every = max(1, len(x) // POINTS)
    places = tuple(np.asarray(x)[::every].tolist())
    return tuple(
        Curve(name, places, tuple(np.asarray(y)[::every].tolist())) for name, y in zip(names, functions, strict=True)
    )


LOOK = Look(family, curves)
