"""The wavelet transform on one thread: the plain loops, compiled by Numba.

An axis has n positions of `width` adjacent values each: the rows of an image one after the other, with its channels as
the width, or all its columns at once, with whole rows as the width.

a[k] = sum of lo[j] · x[2k + s - j], where s is 1, or half the taps with periodization; inverse, x[i] = sum of lo[i - 2k
+ q] · a[k], where q is the taps - 2, or half the taps - 1. Outside the edges symmetric mirrors, repeating the edge
sample; periodization wraps around, and first repeats the last of an odd number of samples once. PyWavelets' modes of
these names do the same, for every length.

Arrays are flat. Importing this module loads Numba.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpu_ops.filters.kit.loops import Array, compiled, offset, piece, place
from gpu_ops.types import BORDERS

REFLECT, WRAP = BORDERS.index("reflect"), BORDERS.index("wrap")


class At(NamedTuple):
    """The positions of lines in a flat array: position i of line k begins at start + k · line + i · pitch."""

    start: int
    line: int
    pitch: int


class Part(NamedTuple):
    """Lines first_line … last_line - 1 and their positions first … last - 1, each of `width` values."""

    first_line: int
    last_line: int
    first: int
    last: int
    width: int


@piece
def source_of(position: int, n: int, periodic: bool) -> int:
    """The index of the one of n samples at a position, also outside the edges."""
    if 0 <= position < n:
        return position
    if not periodic:
        return place(position, n, REFLECT)
    return min(place(position, n + n % 2, WRAP), n - 1)


@compiled
def analyse(
    x: Array,
    x_at: At,
    n: int,
    low: Array,
    low_at: At,
    high: Array,
    high_at: At,
    part: Part,
    lo: Array,
    hi: Array,
    periodic: bool,
) -> None:
    """A part of the coefficients of lines of n samples: averages into `low`, differences into `high`."""
    taps = lo.size
    reach = taps // 2 if periodic else 1
    places = np.empty(taps, np.int64)
    for line in range(part.first_line, part.last_line):
        for k in range(part.first, part.last):
            for j in range(taps):
                position = source_of(2 * k + reach - j, n, periodic)
                places[j] = x_at.start + line * x_at.line + position * x_at.pitch
            a = offset(low_at.start + line * low_at.line + k * low_at.pitch)
            d = offset(high_at.start + line * high_at.line + k * high_at.pitch)
            for v in range(offset(part.width)):
                average = difference = lo[0] * 0
                for j in range(taps):
                    value = x[offset(places[j]) + v]
                    average += lo[j] * value
                    difference += hi[j] * value
                low[a + v] = average
                high[d + v] = difference


@compiled
def synthesise(
    low: Array,
    low_at: At,
    high: Array,
    high_at: At,
    m: int,
    x: Array,
    x_at: At,
    part: Part,
    lo: Array,
    hi: Array,
    periodic: bool,
) -> None:
    """A part of the samples of lines of m averages and m differences; each sample gathers its coefficients."""
    taps = lo.size
    back = taps // 2 - 1 if periodic else taps - 2
    for line in range(part.first_line, part.last_line):
        for i in range(part.first, part.last):
            t = offset(x_at.start + line * x_at.line + i * x_at.pitch)
            for v in range(offset(part.width)):
                total = lo[0] * 0
                for j in range((i + back) % 2, taps, 2):
                    k = (i + back - j) // 2
                    if periodic:
                        k %= m
                    a = offset(low_at.start + line * low_at.line + k * low_at.pitch)
                    d = offset(high_at.start + line * high_at.line + k * high_at.pitch)
                    total += lo[j] * low[a + v] + hi[j] * high[d + v]
                x[t + v] = total


@compiled
def shrink(
    pyramid: Array, start: int, line: int, rows: int, columns: int, thresholds: Array, how: int, at: float
) -> None:
    """A band of `rows` rows of `columns` pixels after thresholding, one threshold per channel: soft 0, hard 1, garrote
    2."""
    channels = thresholds.size
    for row in range(rows):
        for column in range(columns):
            for c in range(channels):
                p = offset(start + row * line + column * channels + c)
                value, t = pyramid[p], thresholds[c]
                size = abs(value)
                if how == 1:
                    pyramid[p] = value if size > t * at else value * 0
                elif size <= t:
                    pyramid[p] = value * 0
                elif how == 0:
                    pyramid[p] = value - t if value > 0 else value + t
                else:
                    pyramid[p] = value - t * (t / value)
