"""The reference of wavelet denoising: PyWavelets in float64, level by level, and the rules in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.filters.kit.ranges import in_range
from gpu_ops.filters.wavelet.finest import finest_of
from gpu_ops.filters.wavelet.forms import bands_of, pyramid_shape, sizes, spatial
from gpu_ops.filters.wavelet.rules import figures_of, shrunk
from gpu_ops.progress import stage
from gpu_ops.task import Task

Array = np.ndarray[Any, Any]


def reference(task: Task) -> dict[str, Array]:
    """{"signal" or "image": the mean over shifts of the denoised input}, clamped to the range of integers but not
    rounded; with result parts also "noise", the removed part; "coefficients" and "figures" of the unshifted input."""
    params, bands, shifts = task.params, bands_of(task), task.params["shifts"]
    x = task.x.astype(np.float64)
    axes = tuple(range(len(spatial(task))))
    total = np.zeros(x.shape)
    parts: dict[str, Array] = {}
    for shift in range(shifts):
        with stage(shift, shifts):
            pyramid = np.zeros(pyramid_shape(task))
            analysed(np.roll(x, (shift,) * len(axes), axes), pyramid, task)
            figures = figures_of(pyramid, bands, finest_of(task), params["rule"], params["value"], samples_of(task))
            parts = parts or {"coefficients": pyramid.copy(), "figures": figures}
            for band, threshold in zip(bands[1:], figures[1:], strict=True):
                pyramid[band.part] = shrunk(pyramid[band.part], threshold, params["threshold"])
            total += np.roll(synthesised(pyramid, task), (-shift,) * len(axes), axes)
    result = total / shifts
    if params["result"] == "parts":
        return {task.meta.kind: in_range(result, task.dtype), "noise": x - result, **parts}
    return {task.meta.kind: in_range(result, task.dtype)}


def samples_of(task: Task) -> int:
    """The samples of a channel."""
    return int(np.prod(spatial(task)))


def rounded(values: Array, dtype: np.dtype[Any]) -> Array:
    """Floats unchanged; integers rounded half up and clamped to their range."""
    if dtype.kind == "f":
        return values
    return np.clip(np.floor(values + 0.5), 0, np.iinfo(dtype).max).astype(dtype)


def analysed(x: Array, pyramid: Array, task: Task) -> None:
    """Fill the bands of an array's pyramid by pywt.dwt or dwt2, in the array's type."""
    import pywt

    params, bands = task.params, list(bands_of(task))
    for _ in range(params["levels"]):
        if len(spatial(task)) == 1:
            x, detail = pywt.dwt(x, params["wavelet"], params["border"], axis=0)
            details = (detail,)
        else:
            x, details = pywt.dwt2(x, params["wavelet"], params["border"], axes=(0, 1))
        for detail in reversed(details):
            pyramid[bands.pop().part] = detail
    pyramid[bands.pop().part] = x


def synthesised(pyramid: Array, task: Task) -> Array:
    """The array of a pyramid by pywt.idwt or idwt2; for a level with an odd extent the last sample is superfluous."""
    import pywt

    params, rank, bands = task.params, len(spatial(task)), list(reversed(bands_of(task)))
    x = pyramid[bands.pop().part]
    for extent in reversed(sizes(task)[:-1]):
        if rank == 1:
            x = pywt.idwt(x, pyramid[bands.pop().part], params["wavelet"], params["border"], axis=0)
        else:
            details = tuple(pyramid[bands.pop().part] for _ in range(3))
            x = pywt.idwt2((x, details), params["wavelet"], params["border"], axes=(0, 1))
        x = x[tuple(slice(n) for n in extent)]
    return x
