"""The reference of histograms: every value looked up among the edges, in float64; counts are exact."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from gpu_ops.filters.histogram.bins import OUTSIDE, PERCENTS, Array, Bins, bins_of
from gpu_ops.progress import collect
from gpu_ops.task import Task

CHUNK = 1 << 18
"""Pixels or samples at a time: tens of milliseconds."""


def reference(task: Task) -> dict[str, Array]:
    """{"counts", "outside"} of a signal or image, with {"statistics"} and {"equalised"} if `result` includes them.

    Statistics replace each sample by the middle of its bin; a percentile is the middle of the first bin at which the
    cumulative count reaches this percentage. They are NaN if nothing is counted. Equalised samples of bin k are at
    (cdf[k] - cdf of the first non-empty bin) / (all - that) of the range; samples outside the range are unchanged, and
    so is a whole channel that has only one bin. The change of luminance is added to the three colours.
    """
    bins, wanted = bins_of(task), task.params["result"]
    pixels = task.x.reshape(-1, bins.step)
    every = sum(_in_chunks(lambda part: _counts(part, bins), pixels))  # (histograms, count + 3)
    counts = every[:, 1 : bins.count + 1]
    outside = every[:, [0, bins.count + 1, bins.count + 2]].T
    several = bins.histograms > 1
    made = {"counts": counts if several else counts[0], "outside": outside if several else outside[:, 0]}
    assert len(outside) == len(OUTSIDE)
    if wanted != "counts":
        figures = np.array([_statistics(row, bins) for row in counts]).T
        made["statistics"] = figures if several else figures[:, 0]
    if wanted == "equalised":
        equalised = np.concatenate(_in_chunks(lambda part: _equalised(part, counts, bins), pixels))
        made["equalised"] = equalised.reshape(task.x.shape)
    return made


def _in_chunks(work: Any, pixels: Array) -> list[Any]:
    starts = range(0, len(pixels), CHUNK)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return collect(pool.map(lambda start: work(pixels[start : start + CHUNK]), starts), len(starts))


def _values(pixels: Array, bins: Bins) -> Array:
    """The counted values, (N, histograms)."""
    return luminance(pixels)[:, None] if bins.grey else pixels[:, : bins.colours]


def slots_of_samples(pixels: Array, bins: Bins) -> Array:
    """(N, histograms) of pixels (N, step): the bin of each; B below the range, B + 1 above it, B + 2 for NaN."""
    places = _places(_values(pixels, bins), bins)
    slots: Array = np.where(places < 0, bins.count, np.where(places >= bins.count, places + 1, places))
    return slots


def luminance(pixels: Array) -> Array:
    """The luminance of colours (N, 3 or more), in their type."""
    if pixels.dtype.kind == "u":
        red, green, blue = pixels[:, :3].astype(np.uint32).T
        mixed: Array = (299 * red + 587 * green + 114 * blue + 500) // 1000
        return mixed.astype(pixels.dtype)
    three = pixels[:, :3].astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        sums = (0.299 * three[:, 0] + 0.587 * three[:, 1]) + 0.114 * three[:, 2]
        return np.clip(sums, three.min(axis=1), three.max(axis=1)).astype(pixels.dtype)


def _places(values: Array, bins: Bins) -> Array:
    """The bin of each value: -1 below the range, B above it, B + 1 for NaN."""
    edges, count = bins.edges, bins.count
    places = np.searchsorted(edges, values, "right") - 1
    places[values == edges[-1]] = count - 1
    places[np.isnan(values)] = count + 1
    return places


def _counts(pixels: Array, bins: Bins) -> Array:
    """(histograms, count + 3): below the range, the bins, above it, NaN."""
    rows = []
    for values in _values(pixels, bins).T:
        if values.dtype.kind == "u":  # each level is looked up once
            levels = np.bincount(values, minlength=np.iinfo(values.dtype).max + 1)
            places = _places(np.arange(len(levels), dtype=np.float64), bins)
            row = np.bincount(places + 1, weights=levels, minlength=bins.count + 3).astype(np.int64)
        else:
            row = np.bincount(_places(values.astype(np.float64), bins) + 1, minlength=bins.count + 3)
        rows.append(row)
    return np.array(rows)


def _statistics(counts: Array, bins: Bins) -> list[float]:
    """One channel's statistics, in the order of FIGURES."""
    total = int(counts.sum())
    if not total:
        return [np.nan] * (len(PERCENTS) + 3)
    share, middles = counts / total, bins.middles / bins.size  # squares of the largest floats would overflow
    mean = float(np.sum(share * middles))
    deviation = float(np.sqrt(np.sum(share * (middles - mean) ** 2)))
    below = np.cumsum(counts)
    ranks = [-(-percent * total // 100) for percent in PERCENTS]
    percentiles = [float(bins.middles[np.searchsorted(below, rank)]) for rank in ranks]
    some = share[share > 0]
    return [mean * bins.size, deviation * bins.size, *percentiles, float(-np.sum(some * np.log2(some))) + 0.0]


def _equalised(pixels: Array, counts: Array, bins: Bins) -> Array:
    """Equalised pixels or samples, (N, step)."""
    out = np.array(pixels)
    for place, values in enumerate(_values(pixels, bins).T):
        below = np.cumsum(counts[place])
        first, total = int(counts[place][counts[place] > 0][0]) if below[-1] else 0, int(below[-1])
        if first == total:
            continue
        places = _places(values.astype(np.float64), bins)
        inside = (places >= 0) & (places < bins.count)
        done = np.maximum(below - first, 0)[places[inside]]
        low, top = bins.ends
        if values.dtype.kind == "u":
            new = int(low) + (2 * done * int(top - low) + total - first) // (2 * (total - first))
        else:
            new = low * (1 - done / (total - first)) + top * (done / (total - first))
        if bins.grey:
            _shift(pixels, out, inside, new - values[inside].astype(new.dtype))
        else:
            out[inside, place] = new
    return out


def _shift(pixels: Array, out: Array, where: Array, by: Array) -> None:
    """Add to the three colours of some pixels; integers are clamped to their range."""
    with np.errstate(over="ignore", invalid="ignore"):
        shifted = pixels[where, :3].astype(by.dtype) + by[:, None]
        if pixels.dtype.kind == "u":
            shifted = np.clip(shifted, 0, np.iinfo(pixels.dtype).max)
        out[where, :3] = shifted
