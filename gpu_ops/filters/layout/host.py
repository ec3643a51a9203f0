"""A scaled and shifted signal on the CPU, compiled by Numba: the plain loop on one thread.

Importing this module loads Numba: plans import it when they are created.
"""

from __future__ import annotations

from typing import Any

from gpu_ops.filters.kit.loops import Array, compiled, flat, offset
from gpu_ops.progress import advance

BAND = 1 << 24
"""Values computed between two progress reports: tens of milliseconds."""


@compiled
def _band(x: Array, out: Array, first: int, last: int, gain: Any, shift: Any) -> None:
    for i in range(offset(first), offset(last)):
        out[i] = gain * x[i] + shift


def scale_serial(x: Array, out: Array, gain: Any, shift: Any) -> None:
    """out = gain · x + shift, on one thread; x and out are C-contiguous float arrays of one shape and type,
    that of gain and shift."""
    values, target = flat(x), out.reshape(-1, copy=False)
    for first in range(0, x.size, BAND):
        if first:  # a call of one band reports no progress, because a report would take longer than the band
            advance(first, x.size)
        _band(values, target, first, min(first + BAND, x.size), gain, shift)
