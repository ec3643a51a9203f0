"""How close an input and its results are to the noise-free original: SNR, PSNR and SSIM.

With the original c, values x and the mean over all values (an image's alpha left out):

* SNR  = 10 log10(mean(c²) / mean((x - c)²)), in dB.
* PSNR = 10 log10(R² / mean((x - c)²)), in dB, with R the whole range of an integer type, 255 or 65535, and the
  original's own maximum minus its minimum for floats.
* SSIM = mean of (2 μx μc + C1)(2 σxc + C2) / ((μx² + μc² + C1)(σx² + σc² + C2)), C1 = (0.01 R)², C2 = (0.03 R)², after
  Wang, Bovik, Sheikh and Simoncelli, IEEE Transactions on Image Processing 13 (2004) 600-612: local means, variances
  and covariance under a Gaussian window of standard deviation 1.5 and 11 × 11 pixels, wherever the window is inside
  the image; of colours the mean over the channels. It is what scikit-image's structural_similarity gives with
  gaussian_weights=True, sigma=1.5 and use_sample_covariance=False.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from weakref import WeakKeyDictionary

import numpy as np

from gpu_ops.input_kinds import IMAGE, INPUT_KINDS
from gpu_ops.output_kinds import Array, colours
from gpu_ops.params import Values
from gpu_ops.progress import Cancelled, advance, collect, listening, quiet
from gpu_ops.running.verify import sum_of_squares
from gpu_ops.types import Closeness, Filter, Input, Quality

SIGMA = 1.5
REACH = 5
"""Pixels of the window on either side of its centre."""
ROWS = 128
"""Rows of a band: its intermediate results fit into a cache."""
CHUNK = 1 << 18
MOST_KNOWN = 64
_WORKERS = min(8, os.cpu_count() or 1)
_known: WeakKeyDictionary[Input, dict[bytes, Closeness]] = WeakKeyDictionary()
"""By input, and by the hash of the values that were compared with its original: variants often agree to the last bit,
and a timed run repeats its earlier result."""


def quality(filter: Filter, input: Input, params: Values, outputs: Mapping[str, Array]) -> dict[str, Quality]:
    """The closeness of the input and of the filter's result to the input's clean original, by output; {} without one.
    The result is the first output of the input's form: an image of the same shape for an image, a signal for a signal,
    in the input's unit and of its size. Other outputs, such as the removed noise or labels, are not comparable. Raises
    Cancelled when the listener stops the work."""
    kind = INPUT_KINDS[input.kind].view
    given = [o for o in filter.given(params) if o.kind == kind and not (o.unit or o.own_scale or o.labels)]
    result = next((o.id for o in given if outputs[o.id].shape == input.array.shape), None)
    if input.clean is None or result is None:
        return {}
    return {result: Quality(closeness(input, input.array), closeness(input, outputs[result]))}


def closeness(input: Input, array: Array) -> Closeness:
    """How close values of the input's shape are to its clean original, which it must have."""
    assert input.clean is not None
    known = _known.setdefault(input, {})
    values = np.ascontiguousarray(array)
    key = hashlib.sha256(values.reshape(-1).view(np.uint8).data).digest()
    if key not in known:
        while len(known) >= MOST_KNOWN:
            del known[next(iter(known))]
        with quiet():
            known[key] = compare(input.clean, values, image=input.kind == IMAGE.id)
    return known[key]


def compare(clean: Array, other: Array, image: bool) -> Closeness:
    """How close `other` is to `clean`, arrays of one shape and of real numbers: (H, W) or (H, W, C) of an image, (N,)
    or (N, C) of a signal. A value is None where it is not defined: with NaN or infinity, for an original of zeros or
    of one value, and SSIM for signals and for images smaller than its window."""
    whole = colours(clean) if image else clean
    right, values = np.ascontiguousarray(whole), np.ascontiguousarray(colours(other) if image else other)
    power, error = _squares(right, values)
    span = _span(clean, right)
    if not math.isfinite(error):
        return Closeness(None, None, None)
    ssim = _ssim(right, values, span) if image and span and min(right.shape[:2]) > 2 * REACH else None
    return Closeness(_decibels(power, error), _decibels(span * span * right.size, error), ssim)


def structural_similarity(
    one: Array, other: Array, span: float, stop: Callable[[], bool] = lambda: False
) -> float | None:
    """The SSIM of two images of one shape, (H, W) or (H, W, C), of real numbers, with R = `span`. None where it is not
    defined: with NaN or infinity, for a span of 0 and for images smaller than its window; and when `stop` returned True
    before it was known."""
    a, b = np.ascontiguousarray(colours(one)), np.ascontiguousarray(colours(other))
    finite = all(bool(np.isfinite(x).all()) for x in (a, b))
    if not finite or not span or min(a.shape[:2]) <= 2 * REACH:
        return None
    with listening(stop), suppress(Cancelled):
        return _ssim(a, b, span)
    return None


def _span(clean: Array, values: Array) -> float:
    if clean.dtype.kind == "u":
        return float(np.iinfo(clean.dtype).max)
    return float(values.max()) - float(values.min())


def _decibels(signal: float, error: float) -> float | None:
    """Infinite where there is no error; None without a signal."""
    if not signal or not math.isfinite(signal):
        return None
    return 10 * math.log10(signal / error) if error else math.inf


def _squares(clean: Array, other: Array) -> tuple[float, float]:
    """The sum of the squares of the original, and of the differences from it."""
    power = error = 0.0
    left, right = clean.reshape(-1), other.reshape(-1)
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, left.size, CHUNK):
            advance(start, left.size)
            c = left[start : start + CHUNK].astype(np.float64)
            difference = right[start : start + CHUNK] - c
            power += sum_of_squares(c)
            error += sum_of_squares(difference)
    return power, error


def _ssim(clean: Array, other: Array, span: float) -> float:
    """The mean over all positions where the window is inside, by bands of rows on all threads."""
    height, width = clean.shape[:2]
    channels = [(c, x) for c, x in zip(_planes(clean), _planes(other), strict=True)]
    starts = range(REACH, height - REACH, ROWS)
    bands = [(c, x, start) for c, x in channels for start in starts]

    def total(band: tuple[Array, Array, int]) -> float:
        c, x, start = band
        rows = slice(start - REACH, min(start + ROWS, height - REACH) + REACH)
        return _band(c[rows].astype(np.float64), x[rows].astype(np.float64), span)

    with ThreadPoolExecutor(_WORKERS) as pool:
        sums = collect(pool.map(total, bands), len(bands))
    places = len(channels) * (height - 2 * REACH) * (width - 2 * REACH)
    return math.fsum(sums) / float(places)


def _planes(image: Array) -> list[Array]:
    return [image] if image.ndim == 2 else [image[..., k] for k in range(image.shape[2])]


def _band(c: Array, x: Array, span: float) -> float:
    """The sum of SSIM over the pixels of a band."""
    from scipy.ndimage import gaussian_filter

    def mean(values: Array) -> Array:
        smooth: Array = gaussian_filter(values, SIGMA, radius=REACH)
        return smooth[REACH:-REACH, REACH:-REACH]

    c1, c2 = (0.01 * span) ** 2, (0.03 * span) ** 2
    mean_c, mean_x = mean(c), mean(x)
    product = mean_c * mean_x
    squares = mean_c * mean_c + mean_x * mean_x
    covariance = mean(c * x) - product
    variances = mean(c * c + x * x) - squares
    with np.errstate(over="ignore", invalid="ignore"):
        ratio = (2 * product + c1) * (2 * covariance + c2) / ((squares + c1) * (variances + c2))
    return float(ratio.sum())
