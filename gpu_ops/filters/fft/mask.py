"""The mask in the frequency domain: the gain of each frequency, from 0 to 1.

`below(r, edge)` is 1 up to edge - softness / 2, 0 from edge + softness / 2 on, and half a period of a cosine in
between; without softness it is 1 up to the edge, inclusive. r is the distance from zero frequency, in cycles per pixel.

low: below(r, high). high: 1 - below(r, low). band: the product of both. notch: 1 - below(d, radius) for the distance d
from (fy, fx), times the same for the mirror image (-fy, -fx), so that real images stay real; distances wrap around the
edges of the spectrum, where 1/2 and -1/2 are the same frequency.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.params import Values

Array = np.ndarray[Any, Any]

SHAPES = ("low", "high", "band", "notch")


def _below(distance: Array, edge: float, softness: float) -> Array:
    if softness == 0:
        return (distance <= edge).astype(np.float64)
    part = np.clip((distance - (edge - softness / 2)) / softness, 0.0, 1.0)
    return np.asarray(0.5 + 0.5 * np.cos(np.pi * part))


def transfer(params: Values, ky: Array, kx: Array, height: int, width: int) -> Array:
    """The mask at bins ky (0 … height - 1) and kx (0 … width - 1), which are broadcast, in float64."""
    y, x = (np.where(2 * k <= n, k, k - n) / n for k, n in ((ky, height), (kx, width)))
    soft, shape = params["softness"], params["shape"]
    if shape == "notch":
        result = np.ones(np.broadcast(y, x).shape)
        for sign in (1, -1):
            dy, dx = (_around(f - sign * params[name]) for f, name in ((y, "fy"), (x, "fx")))
            result *= 1 - _below(np.sqrt(dy * dy + dx * dx), params["radius"], soft)
        return result
    r = np.sqrt(y * y + x * x)
    result = np.ones(r.shape)
    if shape in ("low", "band"):
        result *= _below(r, params["high"], soft)
    if shape in ("high", "band"):
        result *= 1 - _below(r, params["low"], soft)
    return result


def _around(difference: Array) -> Array:
    """The distance with wrap-around of the spectrum."""
    return np.asarray(difference - np.rint(difference))


def rounded(values: Array, dtype: np.dtype[Any]) -> Array:
    """Values in the type of an image: integers rounded half up and clamped to their range."""
    if dtype.kind == "f":
        return values
    return np.clip(np.floor(values + 0.5), 0, np.iinfo(dtype).max).astype(dtype)
