"""Results derived from the counts on the host: statistics, and the values of equalised samples. The cost is small."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.filters.histogram.bins import PERCENTS, Array, Bins


def statistics(counts: Array, out: Array, bins: Bins) -> None:
    """The statistics of each histogram into `out` (figures,) or (figures, histograms)."""
    rows = counts.reshape(-1, bins.count).astype(np.int64)
    below = rows.cumsum(axis=1)
    totals = below[:, -1:]
    with np.errstate(invalid="ignore", divide="ignore"):
        share, middles = rows / totals, bins.middles / bins.size
        mean = (share * middles).sum(axis=1)
        deviation = np.sqrt((share * (middles - mean[:, None]) ** 2).sum(axis=1))
        entropy = (share * np.log2(np.where(rows, totals / rows, 1.0))).sum(axis=1)
    made = out.reshape(-1, len(rows))
    made[0], made[1], made[-1] = mean * bins.size, deviation * bins.size, entropy
    for place, percent in enumerate(PERCENTS):
        reached = below * 100 >= percent * totals
        made[2 + place] = bins.middles[reached.argmax(axis=1)]
    made[:, totals[:, 0] == 0] = np.nan


def new_values(counts: Array, bins: Bins, dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """The equalised value of the samples of each bin, flat (histograms · count,) in the samples' type, and for each
    histogram whether any sample changes."""
    rows = counts.reshape(-1, bins.count).astype(np.int64)
    below = rows.cumsum(axis=1)
    first = np.take_along_axis(rows, (rows > 0).argmax(axis=1)[:, None], axis=1)
    rest, done = below[:, -1:] - first, np.maximum(below - first, 0)
    low, top = bins.ends
    parts = np.maximum(rest, 1)
    if dtype.kind == "u":
        new = int(low) + (2 * done * int(top - low) + parts) // (2 * parts)
    else:
        new = low * (1 - done / parts) + top * (done / parts)
    return new.astype(dtype).reshape(-1), rest[:, 0] > 0
