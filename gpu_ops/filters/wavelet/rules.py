"""Where thresholds come from, and what they do to details: the definitions, in NumPy.

The noise's standard deviation is the median of the magnitudes of the finest (diagonal) details / 0.67449, channel by
channel, without those that the border makes 0: see finest.py. From it, for each band of details d of N values:

* universal: noise · sqrt(2 ln n), with the n samples of a channel (Donoho & Johnstone 1994);
* BayesShrink: noise² / sqrt(mean(d²) - noise²), at most max|d|; a band of no more variance than the noise is removed
  whole (Chang, Yu & Vetterli 2000; scikit-image's denoise_wavelet does the same);
* SURE: the t of least risk N - 2 · #(|d| <= t) + sum(min(|d|, t)²) / noise² among 0 and the magnitudes up to
  noise · sqrt(2 ln N) (Donoho & Johnstone 1995, without their hybrid rule for sparse bands).

Without noise nothing is removed: each threshold is 0. All is float64.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gpu_ops.output_kinds import Band

Array = np.ndarray[Any, Any]

NORMAL_MEDIAN = 0.6744897501960817
"""The median of the magnitudes of normal noise of standard deviation 1, which is its third quartile."""
AT = 2.0**-40
"""A magnitude this close above the threshold, relative to it, counts as equal: a hard threshold removes it. So ties
that differ by rounding alone are all decided in the same way."""


def figures_of(pyramid: Array, bands: Sequence[Band], finest: Band, rule: str, value: float, samples: int) -> Array:
    """The noise estimate and the threshold of each band of details, in the order of `bands` without the approximation:
    float64 (1 + details,) of a pyramid without channels, else (1 + details, C). The noise comes from the band `finest`,
    `samples` are those of a channel."""
    details = [np.abs(pyramid[band.part].astype(np.float64)) for band in bands[1:]]
    axes = tuple(range(len(bands[0].shape)))
    noise = np.median(np.abs(pyramid[finest.part].astype(np.float64)), axis=axes) / NORMAL_MEDIAN
    rows = [np.atleast_1d(noise)]
    for sizes in details:
        flat = sizes.reshape(math.prod(sizes.shape[: len(axes)]), -1)
        pairs = zip(flat.T, rows[0], strict=True)
        rows.append(np.array([threshold_of(rule, line, float(one), value, samples) for line, one in pairs]))
    figures = np.array(rows)
    return figures if np.ndim(noise) else figures[:, 0]


def threshold_of(rule: str, sizes: Array, noise: float, value: float, samples: int) -> float:
    """The threshold of one band of one channel with these magnitudes."""
    if rule == "manual":
        return value
    if noise == 0:
        return 0.0
    if rule == "universal":
        return noise * math.sqrt(2 * math.log(samples))
    return bayes(sizes, noise) if rule == "BayesShrink" else sure(sizes, noise)


def bayes(sizes: Array, noise: float) -> float:
    """BayesShrink's threshold of a band, from ratios to the noise, whose squares neither overflow nor underflow."""
    with np.errstate(over="ignore"):
        return bayes_of(float(np.mean((sizes / noise) ** 2)), float(sizes.max()), noise)


def bayes_of(ratio: float, most: float, noise: float) -> float:
    """BayesShrink's threshold of a band with this mean of (d / noise)² and this largest magnitude."""
    return min(noise / math.sqrt(ratio - 1), most) if ratio > 1 else most


def sure(sizes: Array, noise: float) -> float:
    """The threshold of minimum risk of a band: one of its magnitudes, or 0. Of equal risks the smallest threshold."""
    count = sizes.size
    ordered = np.sort(sizes)
    ordered = ordered[ordered <= noise * math.sqrt(2 * math.log(count))]
    squares = (ordered / noise) ** 2
    removed = np.arange(1, ordered.size + 1)
    risks = count - 2 * removed + np.cumsum(squares) + (count - removed) * squares
    candidates = np.concatenate([[0.0], ordered])
    return float(candidates[np.argmin(np.concatenate([[float(count)], risks]))])


def shrunk(details: Array, threshold: Any, how: str) -> Array:
    """Details after a threshold t: those of at most t become 0; from larger ones soft subtracts t from the magnitude,
    garrote t² / |d|, hard nothing. `threshold` is one number, or one per channel."""
    sizes: Array = np.abs(details)
    if how == "hard":
        return np.where(sizes > threshold * (1 + AT), details, 0)
    if how == "soft":
        kept: Array = np.sign(details) * np.maximum(sizes - threshold, 0)
        return kept
    with np.errstate(divide="ignore", invalid="ignore"):
        kept = details - threshold * (threshold / details)
    return np.where(sizes > threshold, kept, 0)
