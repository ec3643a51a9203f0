"""The lattice of an orthogonal wavelet: rotations of its two halves, which the low and the high filter share."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from gpu_ops.filters.wavelet.bases import Array, taps_of

EXACT = 1e-9
"""How closely rotations must make the filters, relative to their largest tap."""
SHORTEST = 4
"""Taps of the shortest filters for which rotations save work."""


@lru_cache(16)
def lattice_of(wavelet: str) -> Array | None:
    """The length that results of all rotations lack, which are given by their tangents: first that of the rotation of
    pairs of samples, then the others in turn. None for filters that are no lattice, or too short for one."""
    filters = taps_of(wavelet)
    low, high = (np.array(taps[::-1], np.float64) for taps in (filters.dec_lo, filters.dec_hi))
    backward = np.array([filters.rec_lo, filters.rec_hi], np.float64)
    if len(low) < SHORTEST or not np.allclose(backward, [low, high], rtol=0, atol=EXACT):
        return None
    size, tangents = 1.0, []
    while len(low) > 2:
        over = float(high[:2] @ high[:2])
        if not over:
            return None
        tangent = float(low[:2] @ high[:2]) / over
        low, high = low - tangent * high, high + tangent * low
        if max(np.abs(low[:2]).max(), np.abs(high[-2:]).max()) > EXACT * max(np.abs(low).max(), np.abs(high).max()):
            return None
        low, high, size = low[2:], high[:-2], size * (1 + tangent**2)
        tangents.append(tangent)
    if not low[0] or np.abs(high - (low[1], -low[0])).max() > EXACT * np.abs(low).max():
        return None
    return np.array([low[0] / size, low[1] / low[0], *reversed(tangents)])
