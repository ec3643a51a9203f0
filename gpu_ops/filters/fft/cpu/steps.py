"""The steps before and after the transforms, in NumPy, for every variant that calls a library.

Work arrays have the channel axis first, so that the transformed axes are contiguous: signals (C, segments, L) and (C,
segments, bins), images (C, H, W) and (C, H, W // 2 + 1). Each function fills its whole `out`. CuPy's arrays are
accepted by those functions that the spectrum, its levels, the spectrogram, the inverse and the mask need.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gpu_ops.filters.fft import limits, peaks
from gpu_ops.filters.fft.forms import Cut, ring_of
from gpu_ops.progress import advance
from gpu_ops.task import Task

Array = Any
BAND = 1 << 20
"""Values between two progress reports, small enough for temporary arrays to stay in the cache."""


def convert(x: Array, out: Array) -> None:
    """Samples in another type."""
    out[...] = x


def _means(channels: Array, axes: tuple[int, ...]) -> Array:
    """The means of each channel along these of its axes, in float64. NumPy uses pairwise summation along the samples of
    one channel; for several interleaved ones it adds sequentially, with a larger rounding error."""
    return np.stack([channel.mean(axis=axes, keepdims=True, dtype=np.float64) for channel in channels])


def cut_signal(x: Array, detrend: bool, weights: Array, out: Array) -> None:
    """A whole signal (N,) or (N, C) times the window in out (C, 1, N), with its means subtracted if `detrend`."""
    channels = x.reshape(len(x), -1).T
    if detrend:
        channels = channels - _means(channels, (0,)).astype(out.dtype)
    np.multiply(channels, weights, out=out[:, 0])


def cut_segments(x: Array, cut: Cut, weights: Array, out: Array) -> None:
    """The segments of (N,) or (N, C) times the window, with their means subtracted if the cut says so."""
    windows = np.lib.stride_tricks.sliding_window_view(x.reshape(len(x), -1), cut.length, axis=0)[:: cut.step]
    for band in _bands(out, cut.count, cut.length * cut.channels):
        segments = windows[band].transpose(1, 0, 2)
        if cut.detrend:
            segments = segments - _means(segments, (1,)).astype(out.dtype)
        np.multiply(segments, weights, out=out[:, band])


def _bands(out: Array, count: int, values: int) -> Iterator[slice]:
    """Slices of `count` items of this number of values; reports progress after each. A GPU processes all at once:
    there, each operation is a launch."""
    step = max(1, BAND // values) if isinstance(out, np.ndarray) else count
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))
        advance(min(start + step, count), count)


def cut_image(x: Array, detrend: bool, weights: Array, out: Array) -> None:
    """The planes out (C, H, W) of (H, W) or (H, W, C) times the window (H, W), with their means subtracted if
    `detrend`."""
    planes = x.reshape(*x.shape[:2], -1).transpose(2, 0, 1)
    if detrend:
        planes = planes - _means(planes, (0, 1)).astype(out.dtype)
    np.multiply(planes, weights, out=out)


def split(x: Array, out: Array) -> None:
    """Each channel of (N, C) or (H, W, C), channel axis first."""
    out[...] = x.transpose(x.ndim - 1, *range(x.ndim - 1)).reshape(out.shape)


def spectrum(bins: Array, length: int, out: Array) -> None:
    """One-sided or two-sided spectra, channel axis last, from (C, 1, bins)."""
    _sides(bins[:, 0].T, length, out.reshape(len(out), -1))


def _sides(values: Array, length: int, out: Array) -> None:
    """values (bins, C) into out (bins, C), or (L, C) with the second half mirrored and conjugated."""
    out[: len(values)] = values
    if len(out) > len(values):
        np.conj(values[1 : (length + 1) // 2][::-1], out=out[len(values) :])


def magnitude(bins: Array, cut: Cut, one_sided: bool, out: Array) -> None:
    """Amplitudes from (C, 1, bins); a one-sided spectrum counts both signs of a frequency."""
    values = np.abs(bins[:, 0].T)
    values *= out.dtype.type(1 / cut.weights.sum())
    if one_sided:
        values[cut.doubled] *= 2
    _sides(values, cut.length, out.reshape(len(out), -1))


def density(bins: Array, cut: Cut, one_sided: bool, out: Array) -> None:
    """The mean power density of all segments, from (C, segments, bins), summed in float64."""
    values = np.zeros((cut.bins, cut.channels))
    for band in _bands(out, cut.count, cut.bins * cut.channels):
        values += _squares(bins[:, band]).sum(axis=1, dtype=np.float64).T
    values *= _density(cut) / cut.count
    if one_sided:
        values[cut.doubled] *= 2
    _sides(values, cut.length, out.reshape(len(out), -1))


def _density(cut: Cut) -> float:
    """The density of a squared magnitude of 1."""
    return 1 / (cut.rate * float((cut.weights**2).sum()))


def _squares(bins: Array) -> Array:
    return bins.real * bins.real + bins.imag * bins.imag


def spectrogram_factors(cut: Cut) -> Array:
    """The factors that convert squared magnitudes to the power density, one per bin: (bins, 1, 1)."""
    factors = np.full((cut.bins, 1, 1), _density(cut))
    factors[cut.doubled] *= 2
    return factors


def spectrogram(bins: Array, cut: Cut, factors: Array, out: Array) -> None:
    """The power density of each segment, (bins, segments) or (bins, segments, C), from (C, segments, bins)."""
    values = out.reshape(cut.bins, cut.count, cut.channels)
    for band in _bands(out, cut.count, cut.bins * cut.channels):
        np.multiply(_squares(bins[:, band]).transpose(2, 1, 0), factors, out=values[:, band])


def phase(values: Array, task: Task, out: Array) -> None:
    """The phases of a spectrum, 0 where its magnitude is below the floor; each channel has its own floor."""
    sizes = np.abs(values)
    spatial = tuple(range(task.meta.of_kind.rank))
    floor = np.maximum(sizes.max(axis=spatial, keepdims=True) * limits.PHASE_FLOOR, limits.phase_floor(task, 0.0))
    out[...] = np.where(sizes < floor, 0, np.angle(values))


def peaks1d(values: Array, cut: Cut, one_sided: bool, reach: int, table: Array, count: Array) -> None:
    """The table of peaks and their number, from the amplitudes or densities of a signal."""
    channels = peaks.levels(values, cut.length, one_sided)
    found = [peaks.find1d(channel, reach) for channel in channels]
    rows = [peaks.rows1d(v, places, cut.rate / cut.length) for v, places in zip(channels, found, strict=True)]
    table[...] = np.concatenate([peaks.table(r) for r in rows], axis=1)
    count[...] = sum(map(len, found))


def peaks2d(values: Array, reach: int, table: Array, count: Array) -> None:
    """The same from the amplitudes of an image (H, W) or (H, W, C), zero frequency first."""
    planes = values.reshape(*values.shape[:2], -1).transpose(2, 0, 1)
    found = [peaks.find2d(plane, reach) for plane in planes]
    rows = [peaks.rows2d(plane, places) for plane, places in zip(planes, found, strict=True)]
    table[...] = np.concatenate([peaks.table(r) for r in rows], axis=1)
    count[...] = sum(map(len, found))


def whole(bins: Array, out: Array) -> None:
    """The whole spectrum (H, W) or (H, W, C) of real planes, from its half (C, H, W // 2 + 1): X[-fy, -fx] is the
    conjugate of X[fy, fx]."""
    height, width = out.shape[:2]
    planes = out.reshape(height, width, -1).transpose(2, 0, 1)
    half = width // 2 + 1
    planes[:, :, :half] = bins
    mirrored = bins[:, :, 1 : (width + 1) // 2][:, :, ::-1]
    np.conj(mirrored[:, :1], out=planes[:, :1, half:])
    np.conj(mirrored[:, 1:][:, ::-1], out=planes[:, 1:, half:])


def amplitudes(bins: Array, factor: float, out: Array) -> None:
    """The magnitudes of the whole spectrum times a factor, from its half (C, H, W // 2 + 1)."""
    whole(np.abs(bins) * out.dtype.type(factor), out)


def levels(bins: Array, factor: float, least: float, out: Array) -> None:
    """The magnitudes of `bins` times a factor in dB; values below `least` are clamped to it."""
    np.abs(bins, out=out)
    np.multiply(out, factor, out=out)
    np.maximum(out, least, out=out)
    np.log10(out, out=out)
    np.multiply(out, 20.0, out=out)


def densities(bins: Array, factor: float, out: Array) -> None:
    """The squared magnitudes of the whole spectrum times a factor, from its half (C, H, W // 2 + 1)."""
    whole(_squares(bins) * out.dtype.type(factor), out)


def centre(values: Array, out: Array) -> None:
    """Zero frequency in the middle."""
    out[...] = np.fft.fftshift(values, axes=(0, 1))


def rings(values: Array, out: Array) -> None:
    """The mean of each ring of an image's density (H, W) or (H, W, C), summed in float64."""
    height, width = values.shape[:2]
    ky, kx = (np.minimum(k, n - k) for k, n in ((np.arange(height)[:, None], height), (np.arange(width), width)))
    ring = ring_of(ky, kx, height, width).reshape(-1)
    planes = values.reshape(height * width, -1)
    sizes = np.maximum(np.bincount(ring, minlength=len(out)), 1)
    means = [np.bincount(ring, planes[:, c], len(out)) / sizes for c in range(planes.shape[1])]
    out[...] = np.stack(means, axis=-1).reshape(out.shape)


def join(planes: Array, out: Array) -> None:
    """Samples (C, N) or (C, H, W) in the layout of `out`, channel axis last, in its type; integers are rounded half up
    and clamped."""
    values = planes.transpose(*range(1, planes.ndim), 0).reshape(out.shape)
    if out.dtype.kind == "f":
        out[...] = values
    else:
        out[...] = (values + values.dtype.type(0.5)).clip(0, np.iinfo(out.dtype).max)
