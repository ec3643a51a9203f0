"""Exact statistics of large arrays, chunk by chunk: extremes, mean, percentiles, histogram, NaN and infinity."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.engine.shared import Statistics
from gpu_ops.progress import advance, collect, stage

Array = np.ndarray[Any, Any]

MANY_FLOATS = 1 << 22
"""From so many floats on, compiled loops on all cores are worth loading."""
FLOATS = 1 << 20
WORKERS = os.cpu_count() or 1
PERCENTILES = (0.1, 1.0, 50.0, 99.0, 99.9)
BINS = 256
FINE_BINS = 1 << 16
MOST_KEPT = 1 << 23
"""The most values whose bins are kept from one pass for the next, two bytes each."""
CHUNK = 1 << 15
"""Values at a time; their intermediate results fit into an L2 cache."""
COUNTED = {"bool": "uint8", "uint8": "uint8", "int8": "uint8", "uint16": "uint16", "int16": "uint16"}
"""Types with so few values that each is counted, and the unsigned types of their bits."""
COUNTED_CHUNK = 1 << 18
MANY, PIECE = 1 << 22, 1 << 24
"""From MANY values on OpenCV counts, which is faster than NumPy but takes time to load. Its counts are float32, exact
up to 2^24, so it counts PIECE values at a time."""
ROW = 1 << 12
"""Values in a row of OpenCV's input: it counts rows on all cores, with some overhead for each."""


@dataclass
class _Extremes:
    """The results of the first pass over the values."""

    finite: int = 0
    nan: int = 0
    infinite: int = 0
    low: Any = None
    high: Any = None
    mean: float = 0.0

    def add(self, values: Array) -> None:
        """Include finite values."""
        low, high = values.min(), values.max()
        self.low = low if self.low is None else min(self.low, low)
        self.high = high if self.high is None else max(self.high, high)
        self.finite += values.size
        with np.errstate(over="ignore"):
            mean = float(values.mean(dtype=np.float64))
            if not np.isfinite(mean):  # the sum overflows
                mean = float((values / values.size).sum(dtype=np.float64))
        share = values.size / self.finite
        self.mean = self.mean * (1 - share) + mean * share


def statistics(array: Array) -> Statistics:
    """The statistics of an array of real numbers or of bool, any shape. Percentiles interpolate as NumPy's do.

    Integers of eight and sixteen bits are counted, each value by itself. Others take three passes: the
    extremes; a histogram of 65,536 bins, which shows the bin of each percentile; and the values in those few bins,
    which give the percentiles exactly. Integers of any width are never rounded: only the mean and a percentile between
    two different values are floats. Raises Cancelled if the listener wants to stop.
    """
    if array.dtype.name in COUNTED and array.size:
        counts = _count(array.view(COUNTED[array.dtype.name]))
        lowest = int(np.iinfo(array.dtype).min) if array.dtype.kind == "i" else 0
        return _of_counts(np.roll(counts, lowest), lowest)  # the bits of -1 are those of the largest number
    if array.size >= MANY_FLOATS and array.dtype.name in ("float32", "float64") and array.flags.c_contiguous:
        found = _of_many_floats(array.reshape(-1))
        if found is not None:
            return found
    flat = array.reshape(-1) if array.flags.c_contiguous else array.reshape(-1, array.shape[-1])
    with stage(0, 3):
        extremes = _extremes(flat)
    if extremes.finite == 0:
        nothing = dict.fromkeys(PERCENTILES, 0.0)
        return Statistics(0.0, 0.0, 0.0, nothing, (0,) * BINS, extremes.nan, extremes.infinite)
    whole = extremes.finite == flat.size
    low, high = extremes.low.item(), extremes.high.item()
    counts, kept = np.zeros(FINE_BINS, np.int64), []
    with stage(1, 3):
        for values in _finite_chunks(flat, whole):
            bins = _bins(values, low, high)
            counts += np.bincount(bins, minlength=FINE_BINS)
            if flat.size <= MOST_KEPT:
                kept.append(bins.astype(np.uint16))
    histogram = counts.reshape(BINS, -1).sum(axis=1)
    with stage(2, 3):
        chunks = _finite_chunks(flat, whole)
        binned = zip(chunks, kept, strict=True) if kept else ((v, _bins(v, low, high)) for v in chunks)
        percentiles = _percentiles(binned, counts)
    return Statistics(low, high, extremes.mean, percentiles, tuple(histogram.tolist()), extremes.nan, extremes.infinite)


def _count(array: Array) -> Array:
    """How often each value of the type occurs."""
    levels = 256 << 8 * (array.itemsize - 1)
    flat, counts = array.reshape(-1), np.zeros(levels, np.int64)
    step = PIECE if flat.size >= MANY else COUNTED_CHUNK
    for start in range(0, flat.size, step):
        advance(start, flat.size)
        counts += _count_piece(flat[start : start + step], levels)
    return counts


def _count_piece(values: Array, levels: int) -> Array:
    if values.size < MANY:
        return np.bincount(values, minlength=levels)
    import cv2

    whole = values.size // ROW * ROW
    counts = cv2.calcHist([values[:whole].reshape(-1, ROW)], [0], None, [levels], [0, levels])
    return counts.reshape(-1).astype(np.int64) + np.bincount(values[whole:], minlength=levels)


def _of_counts(counts: Array, lowest: int) -> Statistics:
    """The statistics of integers, from the count of each value, starting at the `lowest`."""
    values, total = np.flatnonzero(counts), int(counts.sum())
    often = counts[values]
    values += lowest
    low, high = int(values[0]), int(values[-1])
    fine = np.bincount(_bins(values, low, high), weights=often, minlength=FINE_BINS).astype(np.int64)
    before, percentiles = np.cumsum(often), {}
    for percentile in PERCENTILES:
        rank = percentile / 100 * (total - 1)
        a, b = (int(values[np.searchsorted(before, min(int(rank) + step, total - 1), side="right")]) for step in (0, 1))
        percentiles[percentile] = _between(a, b, rank - int(rank))
    mean = float((values * often).sum()) / total
    return Statistics(low, high, mean, percentiles, tuple(fine.reshape(BINS, -1).sum(axis=1).tolist()), 0, 0)


@cache
def _workers() -> ThreadPoolExecutor:
    """Threads that stay: to start sixteen takes as long as a pass over a large picture."""
    return ThreadPoolExecutor(WORKERS, "statistics")


def _of_many_floats(flat: Array) -> Statistics | None:
    """The statistics of many floats; None where their sum or their range overflows, or all are equal."""
    from gpu_ops.engine import statistics_numba as passes

    pieces = [flat[start : start + FLOATS] for start in range(0, flat.size, FLOATS)]

    def pick(values: Array) -> Array:
        found = np.empty(values.size, values.dtype)
        return found[: passes.pick(values, low, scale, inside, found)].copy()

    pool = _workers()
    with stage(0, 3):
        parts = collect(pool.map(passes.extremes, pieces), len(pieces))
    finite, nan, infinite, lows, highs, sums = zip(*parts, strict=True)
    low, high, count = min(lows), max(highs), sum(finite)
    total = math.fsum(sums) if all(map(math.isfinite, sums)) else math.inf
    scale = FINE_BINS / (high - low) if 0 < high - low < math.inf else math.inf
    if not (math.isfinite(scale) and math.isfinite(total)):
        return None
    with stage(1, 3):
        counts = sum(collect(pool.map(lambda v: passes.count(v, low, scale, FINE_BINS), pieces), len(pieces)))
    places = _places(counts)
    inside = np.zeros(FINE_BINS, np.uint8)
    inside[places.bins] = 1
    with stage(2, 3):
        sample = np.concatenate(collect(pool.map(pick, pieces), len(pieces)))
    percentiles = _select(sample, places)
    histogram = tuple(counts.reshape(BINS, -1).sum(axis=1).tolist())
    return Statistics(low, high, total / count, percentiles, histogram, sum(nan), sum(infinite))


def _chunks(flat: Array) -> Iterator[Array]:
    """The values in chunks, from an array (n,), or (n, k) with gaps between its rows."""
    rows = CHUNK // (flat.shape[1] if flat.ndim == 2 else 1)
    for place, start in enumerate(range(0, len(flat), rows)):
        if place % 64 == 0:
            advance(start, len(flat))
        yield flat[start : start + rows].reshape(-1)


def _finite_chunks(flat: Array, whole: bool) -> Iterator[Array]:
    for values in _chunks(flat):
        yield values if whole else values[np.isfinite(values)]


def _extremes(flat: Array) -> _Extremes:
    extremes = _Extremes()
    for values in _chunks(flat):
        if flat.dtype.kind == "f":
            finite = np.isfinite(values)
            if not finite.all():
                nan = int(np.count_nonzero(np.isnan(values)))
                extremes.nan += nan
                extremes.infinite += values.size - int(np.count_nonzero(finite)) - nan
                values = values[finite]
        if values.size:
            extremes.add(values)
    return extremes


def _bins(values: Array, low: float, high: float) -> Array:
    """The fine bin of each value. A larger value never has a lower bin, which is enough for percentiles. If all values
    are equal, their bin is 0."""
    if high == low:
        return np.zeros(values.size, np.intp)
    if values.dtype.kind in "ui":
        return _whole_bins(values, int(low), int(high) - int(low))
    halves = 1.0 if np.isfinite(high - low) else 0.5  # the range itself may overflow
    places = np.asarray(values, np.float64) * halves
    places -= low * halves
    places /= high * halves - low * halves
    places *= FINE_BINS
    np.minimum(places, FINE_BINS - 1, out=places)
    return places.astype(np.intp)


def _whole_bins(values: Array, low: int, span: int) -> Array:
    """The fine bin of each integer, in integer arithmetic: floats would put all from 2^60 to 2^60 + 63 into one bin.
    Where the range takes more than 48 bits, it is divided by a power of two, and an edge may be off by one such
    step."""
    shift = np.uint64(max(0, span.bit_length() - 48))
    offsets = values.astype(np.uint64) - np.uint64(low % 2**64)  # modulo 2^64, so never negative
    offsets >>= shift
    offsets *= np.uint64(FINE_BINS)
    offsets //= np.uint64((span >> int(shift)) or 1)
    return np.asarray(np.minimum(offsets, FINE_BINS - 1), np.intp)


def _percentiles(binned: Iterable[tuple[Array, Array]], counts: Array) -> dict[float, float]:
    """Percentiles by rank: gather the values of the bins that contain the ranks, and select among them. `binned` are
    values and their fine bins, chunk by chunk."""
    places = _places(counts)
    inside = np.zeros(FINE_BINS, np.bool_)
    inside[places.bins] = True
    return _select(np.concatenate([values[inside[bins]] for values, bins in binned]), places)


class _Places(NamedTuple):
    """The positions of the percentiles among sorted values: their `exact` (fractional) ranks, the integer `ranks` next
    to these, the fine `bins` that contain them, and how many values are `before` each fine bin."""

    exact: dict[float, float]
    ranks: list[int]
    bins: Array
    before: Array


def _places(counts: Array) -> _Places:
    total = int(counts.sum())
    exact = {p: p / 100 * (total - 1) for p in PERCENTILES}
    ranks = sorted({min(int(r) + step, total - 1) for r in exact.values() for step in (0, 1)})
    before = np.concatenate(([0], np.cumsum(counts)))
    return _Places(exact, ranks, np.unique(np.searchsorted(before, ranks, side="right") - 1), before)


def _select(sample: Array, at: _Places) -> dict[float, float]:
    """The percentiles, from the values of the bins that contain them."""
    total, counts = int(at.before[-1]), np.diff(at.before)
    # Ranks among all values become ranks among the sample.
    starts = np.concatenate(([0], np.cumsum(counts[at.bins])))
    places = {}
    for rank in at.ranks:
        bin = int(np.searchsorted(at.before, rank, side="right") - 1)
        places[rank] = int(starts[np.searchsorted(at.bins, bin)] + rank - at.before[bin])
    sample.partition(sorted(set(places.values())))
    percentiles = {}
    for percentile, place in at.exact.items():
        below = int(place)
        a, b = sample[places[below]].item(), sample[places[min(below + 1, total - 1)]].item()
        percentiles[percentile] = _between(a, b, place - below)
    return percentiles


def _between(a: float, b: float, weight: float) -> float:
    return a * (1 - weight) + b * weight if a != b else a
