"""Peaks of a spectrum: the rule, which every variant keeps, in NumPy.

A bin is a peak if it is the largest of all bins up to w bins away, the first of equal ones, more than twice every bin
that is exactly w away, and no less than a tenth of the largest value, where bins less than w away from zero frequency
count a thousandth: a large mean hides nothing but rounding errors. w is the reach of a tone under the window (LOBES): a
tone at any position between bins is one peak; in a flat or smooth spectrum there is none.

* Signals: the bins of a one-sided spectrum but the first and the last; neighbours beyond its ends do not count. The
  order is that of the frequencies, 16 are kept, and the count says how many there are. The values are those of the
  output, magnitude or power density. Of a one-sided one, the first bin, and the last one of an even length, count
  twice, because the others represent both signs of a frequency; of a two-sided one, the first half is taken.
* Images: of each pair of mirrored bins the one with fy > 0, or on fy = 0 and fy = 1/2 the one with 0 <= fx <= 1/2, and
  not zero frequency. Neighbours are counted around the edges; an extent below 2 w + 1 has no peaks. The order is by fy,
  then by fx in the order of the bins, 0 … 1/2, then -1/2 … 0.
* The frequency is the vertex of a parabola through the logarithms of the bin and its two neighbours (of images: along
  each axis), where a neighbour counts as at least a hundredth of the bin. The height is the bin's own value.

Rows without a peak are 0. Where a comparison depends on rounding errors, the reference leaves what follows undecided.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.filters.fft.forms import PEAKS

Array = np.ndarray[Any, Any]

FLOOR, NEAR_ZERO, EDGE, LEAST = 0.1, 1e-3, 0.5, 0.01


def _vertex(before: Array, here: Array, after: Array) -> Array:
    """The distance between the vertex of the parabola and the bin, in bins."""
    a, b, c = (np.log(np.maximum(v, LEAST * here)) for v in (before, here, after))
    bend = a - 2 * b + c
    return np.asarray(np.where(bend < 0, 0.5 * (a - c) / np.where(bend < 0, bend, 1.0), 0.0))


def _stands_out(here: Array, other: Array, far: bool, later: bool, noise: float) -> Array:
    """Whether bins exceed a neighbour, if the comparison may err by `noise`; a negative one makes it strict. `far`
    neighbours are at the maximum distance; an equal value that comes `later` does not count."""
    if far:
        return np.asarray(EDGE * here > other - noise)
    return np.asarray(here >= other - noise if later else here > other - noise)


def levels(values: Array, length: int, one_sided: bool) -> Array:
    """The channels (C, bins) of the amplitudes or densities of `length` samples, as peaks compare them."""
    channels = np.array(values.reshape(len(values), -1)[: length // 2 + 1].T)
    if one_sided:
        channels[:, 0] *= 2
        channels[:, (length + 1) // 2 :] *= 2
    return channels


def _possible(values: Array, floor: float, reach: int, noise: float) -> Array:
    """Where values reach the floor and, except at the ends of the last axis, exceed their far neighbours along it: a
    vectorised preselection, after which few bins remain to be tested one by one."""
    result: Array = values >= floor - noise
    if values.shape[-1] > 2 * reach:
        inner, least = result[..., reach:-reach], EDGE * values[..., reach:-reach] + noise
        inner &= least > values[..., : -2 * reach]
        inner &= least > values[..., 2 * reach :]
    return result


def find1d(values: Array, reach: int, noise: float = 0.0) -> Array:
    """The bins of a one-sided spectrum (bins,) that are peaks if comparisons may err by `noise`, in order."""
    last = len(values) - 1
    largest = max(NEAR_ZERO * values[:reach].max(), values[reach:].max(initial=0.0))
    places = np.flatnonzero(_possible(values, FLOOR * largest, reach, noise))
    places = places[(places > 0) & (places < last)]
    for shift in (s for s in range(-reach, reach + 1) if s):
        there = places + shift
        other = np.where((there < 0) | (there > last), -np.inf, values[np.clip(there, 0, last)])
        places = places[_stands_out(values[places], other, abs(shift) == reach, shift > 0, noise)]
    return places


def find2d(values: Array, reach: int, noise: float = 0.0) -> Array:
    """The bins (peaks, 2) of a whole spectrum (H, W) that are peaks, one of each mirrored pair, in order."""
    height, width = values.shape
    others = [values[reach : height - reach + 1], values[:, reach : width - reach + 1]]
    near = values[np.ix_(*(np.arange(1 - reach, reach) % n for n in (height, width)))]
    largest = max(NEAR_ZERO * near.max(), *(part.max(initial=0.0) for part in others))
    found = np.flatnonzero(_possible(values[: height // 2 + 1], FLOOR * largest, reach, noise))
    y, x = np.divmod(found, width)
    half = ((2 * y < height) & (y > 0)) | (((y == 0) | (2 * y == height)) & (2 * x <= width))
    half &= (y > 0) | (x > 0)
    y, x = y[half], x[half]
    steps = range(-reach, reach + 1)
    for dy, dx in ((dy, dx) for dy in steps for dx in steps if dy or dx):
        other = values[(y + dy) % height, (x + dx) % width]
        far = max(abs(dy), abs(dx)) == reach
        stays = _stands_out(values[y, x], other, far, (dy, dx) > (0, 0), noise)
        y, x = y[stays], x[stays]
    return np.stack([y, x], axis=-1)


def rows1d(values: Array, places: Array, spacing: float) -> Array:
    """(peaks, 2): the frequency and height of the peaks in those bins, which are `spacing` apart."""
    here = values[places]
    shift = _vertex(values[places - 1], here, values[places + 1])
    return np.stack([(places + shift) * spacing, here], axis=-1)


def rows2d(values: Array, places: Array) -> Array:
    """(peaks, 3): the frequencies along y and x and the height of the peaks in those bins (peaks, 2)."""
    y, x = places[:, 0], places[:, 1]
    here, found = values[y, x], []
    for axis, (k, n) in enumerate(zip((y, x), values.shape, strict=True)):
        beside = [values[(y + s) % values.shape[0], x] if axis == 0 else values[y, (x + s) % n] for s in (-1, 1)]
        signed = np.where(2 * k <= n, k, k - n)
        found.append((signed + _vertex(beside[0], here, beside[1])) / n)
    return np.stack([*found, here], axis=-1)


def table(rows: Array) -> Array:
    """The first rows, up to the maximum number, padded with zeros."""
    result = np.zeros((PEAKS, rows.shape[1]))
    result[: len(rows)] = rows[:PEAKS]
    return result
