"""What happens before and after the transforms, in NumPy's words, for every variant that calls a library.

Work arrays put channels first, so that what is transformed is contiguous: signals (C, segments, L) and (C, segments,
bins), images (C, H, W) and (C, H, W // 2 + 1). `xp` is NumPy, or a library with the same functions. Each function fills
its `out` whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.filters.fft import limits, peaks
from gpu_ops.filters.fft.forms import Cut, ring_of
from gpu_ops.task import Task

Array = Any


def cut_signal(x: Array, cut: Cut, weights: Array, out: Array) -> None:
    """The segments of (N,) or (N, C) times the window, without their means where the cut says so."""
    channels = x.reshape(len(x), cut.channels)
    for k in range(cut.count):
        part = channels[k * cut.step : k * cut.step + cut.length].T
        if cut.detrend:
            mean = part.mean(axis=1, keepdims=True, dtype=np.float64)
            out[:, k] = (part - mean.astype(out.dtype)) * weights
        else:
            out[:, k] = part * weights


def cut_image(x: Array, detrend: bool, rows: Array, columns: Array, out: Array) -> None:
    """The planes of (H, W) or (H, W, C) times the windows along y and x, without their means where `detrend`."""
    planes = x.reshape(*x.shape[:2], -1).transpose(2, 0, 1)
    if detrend:
        mean = planes.mean(axis=(1, 2), keepdims=True, dtype=np.float64)
        out[...] = planes - mean.astype(out.dtype)
        planes = out
    out[...] = planes * rows[:, None] * columns


def spectrum(xp: Any, bins: Array, length: int, out: Array) -> None:
    """One-sided or whole spectra, channels last, from (C, 1, bins)."""
    values = bins[:, 0].T
    _sides(xp, values, length, out.reshape(len(out), -1))


def _sides(xp: Any, values: Array, length: int, out: Array) -> None:
    """values (bins, C) into out (bins, C), or (L, C) with the second half mirrored and conjugated."""
    out[: len(values)] = values
    if len(out) > len(values):
        xp.conj(values[1 : (length + 1) // 2][::-1], out=out[len(values) :])


def magnitude(xp: Any, bins: Array, cut: Cut, out: Array) -> None:
    """Amplitudes from (C, 1, bins): a one-sided spectrum counts both signs of a frequency."""
    values = xp.abs(bins[:, 0].T)
    values *= out.dtype.type(1 / cut.weights.sum())
    if len(out) == cut.bins and cut.length > 2:
        values[cut.doubled] *= 2
    _sides(xp, values, cut.length, out.reshape(len(out), -1))


def _density(cut: Cut) -> float:
    return 1 / (cut.rate * float((cut.weights**2).sum()))


def _squares(bins: Array) -> Array:
    return bins.real * bins.real + bins.imag * bins.imag


def density(xp: Any, bins: Array, cut: Cut, one_sided: bool, out: Array) -> None:
    """The mean power density of all segments, from (C, segments, bins)."""
    values = xp.zeros((cut.bins, cut.channels), out.dtype)
    for k in range(cut.count):
        values += _squares(bins[:, k]).T
    values *= out.dtype.type(_density(cut) / cut.count)
    if one_sided:
        values[cut.doubled] *= 2
    _sides(xp, values, cut.length, out.reshape(len(out), -1))


def spectrogram(xp: Any, bins: Array, cut: Cut, out: Array) -> None:
    """The power density of each segment, (bins, segments) or (bins, segments, C), from (C, segments, bins)."""
    values = _squares(bins).transpose(2, 1, 0)
    xp.multiply(values, out.dtype.type(_density(cut)), out=out.reshape(cut.bins, cut.count, cut.channels))
    out[cut.doubled] *= 2


def phase(xp: Any, values: Array, task: Task, out: Array) -> None:
    """The phases of a spectrum, 0 where its magnitude is below the floor; each channel has its own floor."""
    sizes = xp.abs(values)
    spatial = tuple(range(task.meta.of_kind.rank))
    least = limits.phase_floor(task, 0.0)
    floor = xp.maximum(sizes.max(axis=spatial, keepdims=True) * limits.PHASE_FLOOR, least)
    out[...] = xp.where(sizes < floor, 0, xp.angle(values))


def peaks1d(values: Array, cut: Cut, reach: int, table: Array, count: Array) -> None:
    """The table of peaks and their number, from the amplitudes or densities of a signal."""
    channels = values.reshape(len(values), -1)[: cut.bins]
    found = [peaks.find1d(channel, reach) for channel in channels.T]
    rows = [peaks.rows1d(v, places, cut.rate / cut.length) for v, places in zip(channels.T, found, strict=True)]
    table[...] = np.concatenate([peaks.table(r) for r in rows], axis=1)
    count[...] = sum(map(len, found))


def peaks2d(values: Array, reach: int, table: Array, count: Array) -> None:
    """The same from the amplitudes of an image (H, W) or (H, W, C), zero frequency first."""
    planes = values.reshape(*values.shape[:2], -1).transpose(2, 0, 1)
    found = [peaks.find2d(plane, reach) for plane in planes]
    rows = [peaks.rows2d(plane, places) for plane, places in zip(planes, found, strict=True)]
    table[...] = np.concatenate([peaks.table(r) for r in rows], axis=1)
    count[...] = sum(map(len, found))


def whole(xp: Any, bins: Array, out: Array) -> None:
    """The whole spectrum (H, W) or (H, W, C) of real planes, from its half (C, H, W // 2 + 1): X[-fy, -fx] is the
    conjugate of X[fy, fx]."""
    height, width = out.shape[:2]
    planes = out.reshape(height, width, -1).transpose(2, 0, 1)
    half = width // 2 + 1
    planes[:, :, :half] = bins
    mirrored = bins[:, :, 1 : (width + 1) // 2][:, :, ::-1]
    xp.conj(mirrored[:, :1], out=planes[:, :1, half:])
    xp.conj(mirrored[:, 1:][:, ::-1], out=planes[:, 1:, half:])


def amplitudes(xp: Any, bins: Array, factor: float, out: Array) -> None:
    """The magnitudes of the whole spectrum times a factor, from its half (C, H, W // 2 + 1)."""
    whole(xp, xp.abs(bins) * out.dtype.type(factor), out)


def densities(xp: Any, bins: Array, factor: float, out: Array) -> None:
    """The squared magnitudes of the whole spectrum times a factor, from its half (C, H, W // 2 + 1)."""
    whole(xp, _squares(bins) * out.dtype.type(factor), out)


def centre(xp: Any, values: Array, out: Array) -> None:
    """Zero frequency in the middle."""
    out[...] = xp.fft.fftshift(values, axes=(0, 1))


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
    """Samples (C, N) or (C, H, W) in the layout of `out`, channels last, in its type; integers are rounded half up and
    kept in range."""
    values = planes.transpose(*range(1, planes.ndim), 0).reshape(out.shape)
    if out.dtype.kind == "f":
        out[...] = values
    else:
        out[...] = (values + values.dtype.type(0.5)).clip(0, np.iinfo(out.dtype).max)
