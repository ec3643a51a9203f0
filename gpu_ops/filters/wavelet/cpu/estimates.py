"""The noise estimate and the thresholds on all threads: the definitions are in rules.py."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numba import get_num_threads

from gpu_ops.filters.kit.loops import Array, flat, given, on_all_threads
from gpu_ops.filters.wavelet.rules import NORMAL_MEDIAN, bayes_of, sure, threshold_of
from gpu_ops.output_kinds import Band
from gpu_ops.progress import collect

KEYS = 1 << 16
"""The leading bits of a magnitude, by which it is counted: sign, exponent and the first of the fraction."""


def _count(arguments: tuple[Any, ...], worker: int, workers: int) -> None:
    """Count a worker's share of the rows of a band by their keys."""
    bits, counts, start, line, rows, columns, c, mask, shift = given(arguments)
    counts[worker, :] = 0
    for row in range(worker * rows // workers, (worker + 1) * rows // workers):
        for k in range(columns):
            counts[worker, (bits[start + row * line + k * c] & mask) >> shift] += 1


def _gather(arguments: tuple[Any, ...], worker: int, workers: int) -> None:
    """Write the magnitudes of a worker's share that have one of two keys from places[worker] on."""
    bits, found, places, start, line, rows, columns, c, mask, shift, low, high = given(arguments)
    t = places[worker]
    for row in range(worker * rows // workers, (worker + 1) * rows // workers):
        for k in range(columns):
            size = bits[start + row * line + k * c] & mask
            if size >> shift == low or size >> shift == high:
                found[t] = size
                t += 1


def _squares(arguments: tuple[Any, ...], worker: int, workers: int) -> None:
    """The sum of (d / noise)² and the largest |d| of a worker's share."""
    pyramid, sums, start, line, rows, columns, c, noise = given(arguments)
    total = most = 0.0
    for row in range(worker * rows // workers, (worker + 1) * rows // workers):
        of_row = 0.0
        for k in range(columns):
            value = abs(np.float64(pyramid[start + row * line + k * c]))
            of_row += (value / noise) * (value / noise)
            most = max(most, value)
        total += of_row
    sums[worker, 0], sums[worker, 1] = total, most


class Lines:
    """The positions of a band's values in a flat pyramid, one channel at a time."""

    def __init__(self, pyramid: Array, band: Band) -> None:
        rank = len(band.shape)
        self.channels = pyramid.shape[rank] if pyramid.ndim > rank else 1
        self.rows, self.columns = band.shape if rank == 2 else (1, *band.shape)
        self.line = pyramid.shape[1] * self.channels if rank == 2 else 0
        column = band.start[1] if rank == 2 else band.start[0]
        self.start = (band.start[0] * self.line if rank == 2 else 0) + column * self.channels

    def of(self, channel: int) -> tuple[int, ...]:
        """Start, values between rows, rows, columns, values between columns."""
        return self.start + channel, self.line, self.rows, self.columns, self.channels


def median(pyramid: Array, band: Band, channel: int) -> float:
    """The median of the magnitudes of one channel of a band."""
    kind: np.dtype[Any] = np.dtype(np.uint32 if pyramid.dtype == np.float32 else np.uint64)
    width = 8 * kind.itemsize
    mask, shift = kind.type((1 << width - 1) - 1), kind.type(width - 17)
    bits, where = flat(pyramid).view(kind), Lines(pyramid, band).of(channel)
    counts = np.empty((get_num_threads(), KEYS), np.int64)
    on_all_threads(_count, (bits, counts, *where, mask, shift), len(counts))
    size = where[2] * where[3]
    before = np.cumsum(counts.sum(axis=0))
    low, high = (int(np.searchsorted(before, rank, side="right")) for rank in ((size - 1) // 2, size // 2))
    each = counts[:, low] + (counts[:, high] if high != low else 0)
    places = np.cumsum(each) - each
    found = np.empty(int(each.sum()), kind)
    on_all_threads(_gather, (bits, found, places, *where, mask, shift, kind.type(low), kind.type(high)), len(counts))
    below = int(before[low - 1]) if low else 0
    middle = [(size - 1) // 2 - below, size // 2 - below]
    return float(np.partition(found, middle)[middle].view(pyramid.dtype).astype(np.float64).mean())


def bayes(pyramid: Array, band: Band, channel: int, noise: float) -> float:
    """BayesShrink's threshold of one channel of a band."""
    sums, where = np.empty((get_num_threads(), 2)), Lines(pyramid, band).of(channel)
    on_all_threads(_squares, (flat(pyramid), sums, *where, noise), len(sums))
    return bayes_of(float(sums[:, 0].sum()) / (where[2] * where[3]), float(sums[:, 1].max()), noise)


def figures_of(pyramid: Array, bands: Sequence[Band], finest: Band, rule: str, value: float, samples: int) -> Array:
    """As rules.figures_of."""
    rank = len(bands[0].shape)
    channels = pyramid.reshape(*pyramid.shape[:rank], -1).shape[rank]
    noise = [median(pyramid, finest, c) / NORMAL_MEDIAN for c in range(channels)]
    figures = np.array([noise, *([0.0] * channels for _ in bands[1:])])
    asked = [(k, c) for k in range(1, len(bands)) for c in range(channels) if rule == "manual" or noise[c]]
    if rule == "SURE":
        planes = pyramid.reshape(*pyramid.shape[:rank], channels)

        def threshold(place: tuple[int, int]) -> float:
            k, c = place
            return sure(np.abs(planes[bands[k].part][..., c]).ravel().astype(np.float64), noise[c])

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for place, found in zip(asked, collect(pool.map(threshold, asked), len(asked)), strict=True):
                figures[place] = found
    elif rule == "BayesShrink":
        for k, c in asked:
            figures[k, c] = bayes(pyramid, bands[k], c, noise[c])
    else:
        for k, c in asked:
            figures[k, c] = threshold_of(rule, np.empty(0), noise[c], value, samples)
    return figures if pyramid.ndim > rank else figures[:, 0]
