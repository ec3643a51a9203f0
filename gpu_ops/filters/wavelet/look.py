"""Wavelets by family, and the functions that they stand for."""

from __future__ import annotations

import re
from functools import cache

import numpy as np

from gpu_ops.params import Curve, Look

FAMILIES = {
    "haar": "Haar",
    "db": "Daubechies",
    "sym": "symlets",
    "coif": "coiflets",
    "bior": "biorthogonal",
    "rbio": "reverse biorthogonal",
}
"""Titles by the letters that names begin with."""
CASCADE, POINTS = 8, 500
"""Halvings of the cascade that computes the functions, and the most points of a curve that is kept."""


def family(wavelet: str) -> str:
    """The title of a wavelet's family: "symlets" of "sym8"."""
    return FAMILIES[re.sub(r"[\d.]+$", "", wavelet)]


@cache
def curves(wavelet: str) -> tuple[Curve, ...]:
    """The scaling function and the wavelet, of biorthogonal ones those of analysis and of synthesis, from PyWavelets'
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
