"""The positions of an axis that a block needs, level by level, computed like the kernel of several levels does."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpu_ops.filters.wavelet.bases import Array
from gpu_ops.filters.wavelet.forms import BORDERS, coefficients_of

PERIODIC = BORDERS[0]


class Span(NamedTuple):
    """The positions (first + u) % n of an axis of n, for u < many: they wrap around the ends of a periodic axis."""

    first: int
    many: int


def reach_of(taps: int, border: str) -> int:
    """Tap t of coefficient k weights sample 2k + t - reach."""
    return taps // 2 - 1 if border == PERIODIC else taps - 2


def positions(span: Span, n: int) -> Array:
    """The positions of a span in order."""
    return (span.first + np.arange(span.many)) % n


def samples_for(of: Span, n: int, taps: int, border: str) -> Span:
    """The samples, of n, that a span of coefficients needs. Those of the boundary extension are mapped inside."""
    begin, length = 2 * of.first - reach_of(taps, border), 2 * of.many - 2 + taps
    if border != PERIODIC:
        end = begin + length
        first = max(0, min(begin, 2 * n - end))
        return Span(first, min(n, max(end, -begin)) - first)
    ring = n + n % 2  # position n of an odd axis has its last sample again
    if length >= ring:
        return Span(0, n)
    first = begin % ring
    if first == n:
        return Span(n - 1, length)
    return Span(first, length - (n % 2 and first + length > n))


def coefficients_for(of: Span, n: int, taps: int, border: str) -> Span:
    """The coefficients that a span of the n samples of an axis needs."""
    reach, last = reach_of(taps, border), of.first + of.many - 1
    first = (of.first + reach) // 2 - taps // 2 + 1
    if border != PERIODIC:
        return Span(first, (last + reach) // 2 + 1 - first)
    half = coefficients_of(n, taps, border)
    last += n % 2 and of.first + of.many > n  # the position of the repeated sample is in between
    count = (last + reach) // 2 + 1 - first
    return Span(0, half) if count >= half else Span(first % half, count)
