"""The references: NumPy's and SciPy's transforms and estimates in double precision.

A reference masks elements as undecided if they depend on rounding errors alone: the phase of a value at the floor, and
the peaks from the first one on that a comparison within the tolerance may or may not find.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpu_ops.filters.fft import limits, peaks
from gpu_ops.filters.fft.forms import PEAKS, Cut, full_scale, least_amplitude, radial, ring_of
from gpu_ops.filters.fft.mask import transfer
from gpu_ops.filters.fft.windows import LOBES, SCIPY_NAMES, window
from gpu_ops.filters.kit.ranges import in_range
from gpu_ops.task import Task

Array = np.ndarray[Any, Any]


def reference1d(task: Task) -> dict[str, Array]:
    """The outputs of fft1d that the parameters request. Densities are SciPy's welch and spectrogram."""
    cut, result = Cut.of(task), task.params["result"]
    x = task.x.astype(np.float64)
    if result == "round trip":
        return {"signal": task.x}
    if result == "power density":
        return _with_peaks1d(task, "power_density", _density(cut, x, task.params["sides"] == "one"))
    if result == "spectrogram":
        return {"spectrogram": _spectrogram(cut, x)}
    one = _one_sided(cut, x)
    if result == "magnitude":
        values = np.abs(one) / cut.weights.sum()
        if task.params["sides"] == "one":
            values[cut.doubled] *= 2
            return _with_peaks1d(task, "magnitude", values)
        return _with_peaks1d(task, "magnitude", _both_sides(values, cut.length))
    spectrum = _sided(task, cut, one)
    return {"spectrum": spectrum} if result == "spectrum" else {"phase": _phase(task, spectrum)}


def _sided(task: Task, cut: Cut, one: Array) -> Array:
    """The requested half of a spectrum, or both."""
    return one if task.params["sides"] == "one" else _both_sides(one, cut.length)


def _one_sided(cut: Cut, x: Array) -> Array:
    if cut.detrend:
        x = _without_means(x, (0,))
    weights = cut.weights.reshape(-1, *(1,) * (x.ndim - 1))
    return np.fft.rfft(x * weights, axis=0)


def _without_means(x: Array, axes: tuple[int, ...]) -> Array:
    """Samples in float64 with the mean of each channel subtracted. NumPy adds interleaved channels sequentially, with a
    larger rounding error; subtracting the mean of the remainder corrects it."""
    centred = x - x.mean(axis=axes)
    return np.asarray(centred - centred.mean(axis=axes))


def _both_sides(one: Array, length: int) -> Array:
    """The whole spectrum of real samples: its second half mirrors the first, conjugated."""
    return np.concatenate([one, np.conj(one[1 : (length + 1) // 2][::-1])])


def _how(cut: Cut) -> dict[str, Any]:
    overlap = cut.length - cut.step
    detrend = "constant" if cut.detrend else False
    return {
        "fs": cut.rate,
        "window": _scipy_window(cut),
        "nperseg": cut.length,
        "noverlap": overlap,
        "detrend": detrend,
    }


def _scipy_window(cut: Cut) -> Array:
    from scipy.signal import get_window

    return np.asarray(get_window(SCIPY_NAMES[cut.window], cut.length))


def _density(cut: Cut, x: Array, one_sided: bool) -> Array:
    from scipy.signal import welch

    return np.asarray(welch(x, **_how(cut), return_onesided=one_sided, scaling="density", axis=0)[1])


def _spectrogram(cut: Cut, x: Array) -> Array:
    from scipy.signal import spectrogram

    power = np.asarray(spectrogram(x, **_how(cut), scaling="density", mode="psd", axis=0)[2])
    return np.moveaxis(power, -1, 1)  # SciPy's time axis comes after the channels


def _phase(task: Task, spectrum: Array) -> Array:
    """The phase, 0 below the floor; undecided near the floor. Each channel has its own floor."""
    sizes, floor = _sizes(task, spectrum)
    phase = np.where(sizes < floor, 0.0, np.angle(spectrum))
    most = max(float(sizes.max()), limits.least_spectrum(task))
    near = np.abs(sizes - floor) <= limits.transform_tolerance(task) * most
    return np.ma.masked_array(phase, near)


def _sizes(task: Task, spectrum: Array) -> tuple[Array, Array]:
    """The magnitudes, and the floor of phases of each channel."""
    sizes = np.abs(spectrum)
    largest = sizes.max(axis=tuple(range(task.meta.of_kind.rank)), keepdims=True)
    return sizes, np.vectorize(lambda most: limits.phase_floor(task, most), otypes=[float])(largest)


def phase_scales(task: Task, tolerance: float) -> Array:
    """The scale of the phases' errors, for each phase."""
    if task.meta.of_kind.rank == 2:
        scales = limits.phase_scales(task, *_sizes(task, _spectrum2d(task)[1]), tolerance)
        return _centred(task, scales)
    cut = Cut.of(task)
    spectrum = _sided(task, cut, _one_sided(cut, task.x.astype(np.float64)))
    return limits.phase_scales(task, *_sizes(task, spectrum), tolerance)


def _with_peaks1d(task: Task, name: str, values: Array) -> dict[str, Array]:
    cut = Cut.of(task)

    def find(channel: Array, noise: float) -> Array:
        return peaks.find1d(channel, LOBES[cut.window], noise)

    def rows(channel: Array, places: Array) -> Array:
        return peaks.rows1d(channel, places, cut.rate / cut.length)

    channels = peaks.levels(values, cut.length, task.params["sides"] == "one")
    power = name == "power_density"
    error = (limits.density_tolerance if power else limits.transform_tolerance)(task)
    least = (limits.least_density if power else limits.least_magnitude)(task)
    return {name: values, **_peaks(list(channels), find, rows, error, least)}


def _peaks(
    channels: list[Array],
    find: Callable[[Array, float], Array],
    rows: Callable[[Array, Array], Array],
    error: float,
    least: float,
) -> dict[str, Array]:
    """The table and the number of the peaks of all channels, undecided if a comparison that errs by `error` of the
    largest value finds others."""
    tables, undecided, count, sure = [], [], 0, True
    for values in channels:
        noise = error * max(float(values.max()), least)
        places, strict, loose = (find(values, n) for n in (0.0, -noise, noise))
        found = rows(values, places)
        same = 0
        while same < len(strict) and np.array_equal(strict[same], loose[same]):
            same += 1
        decided = len(strict) == len(loose) == same
        tables.append(peaks.table(found))
        undecided.append(np.arange(PEAKS)[:, None] + np.zeros((1, found.shape[1])) >= same)
        undecided[-1] &= not decided
        count, sure = count + len(places), sure and decided
    table = np.ma.masked_array(np.concatenate(tables, axis=1), np.concatenate(undecided, axis=1))
    return {"peaks": table, "peak_count": np.ma.masked_array(np.array(count, np.uint32), not sure)}


def reference2d(task: Task) -> dict[str, Array]:
    """The outputs of fft2d that the parameters request."""
    result = task.params["result"]
    if result == "round trip":
        return {"image": task.x}
    if result == "level":
        return {"level": 20 * np.log10(_of_full_scale(task))}
    weights, spectrum = _spectrum2d(task)
    if result == "spectrum":
        return {"spectrum": _centred(task, spectrum)}
    if result == "phase":
        return {"phase": _centred(task, _phase(task, spectrum))}
    if result == "magnitude":
        sizes = np.abs(spectrum) / weights.sum()
        return {"magnitude": _centred(task, sizes), **_peaks2d(task, sizes)}
    density = np.abs(spectrum) ** 2 / (weights * weights).sum()
    return (
        {"power_density": _centred(task, density)} if result == "power density" else {"radial": _rings(task, density)}
    )


def _spectrum2d(task: Task) -> tuple[Array, Array]:
    """The window, and the spectrum of the image under it."""
    windows = [window(task.params["window"], n) for n in task.meta.shape[:2]]
    weights = np.multiply.outer(*windows).reshape(*task.meta.shape[:2], *(1,) * (task.x.ndim - 2))
    x = task.x.astype(np.float64)
    if task.params["result"] != "phase" and task.params["detrend"] == "constant":
        x = _without_means(x, (0, 1))
    return weights, np.fft.fft2(x * weights, axes=(0, 1))


def _of_full_scale(task: Task) -> Array:
    """The magnitudes of the spectrum of an image, relative to full scale, clamped to the floor."""
    weights, spectrum = _spectrum2d(task)
    sizes = np.abs(spectrum) / (weights.sum() * full_scale(task))
    return _centred(task, np.maximum(sizes, least_amplitude(task)))


def level_scales(task: Task, tolerance: float) -> Array:
    """The scale of the levels' errors, for each level."""
    return limits.level_scales(task, _of_full_scale(task))


def _centred(task: Task, values: Array) -> Array:
    if not task.params["centred"]:
        return values
    if isinstance(values, np.ma.MaskedArray):
        mask = np.fft.fftshift(np.ma.getmaskarray(values), axes=(0, 1))
        return np.ma.masked_array(np.fft.fftshift(values.data, axes=(0, 1)), mask)
    return np.asarray(np.fft.fftshift(values, axes=(0, 1)))


def _peaks2d(task: Task, sizes: Array) -> dict[str, Array]:
    reach = LOBES[task.params["window"]]

    def find(channel: Array, noise: float) -> Array:
        return peaks.find2d(channel, reach, noise)

    planes = sizes.reshape(*sizes.shape[:2], -1)
    channels = [planes[:, :, c] for c in range(planes.shape[2])]
    error, least = limits.transform_tolerance(task), limits.least_magnitude(task)
    return _peaks(channels, find, peaks.rows2d, error, least)


def _rings(task: Task, density: Array) -> Array:
    """The mean density of the bins of each ring; 0 in a ring without bins."""
    height, width = density.shape[:2]
    ky, kx = (np.minimum(k, n - k) for k, n in ((np.arange(height)[:, None], height), (np.arange(width), width)))
    ring = ring_of(ky, kx, height, width).reshape(-1)
    count = radial(task).shape[0]
    sizes = np.maximum(np.bincount(ring, minlength=count), 1)
    planes = density.reshape(height * width, -1)
    means = [np.bincount(ring, planes[:, c], count) / sizes for c in range(planes.shape[1])]
    return np.stack(means, axis=-1).reshape(radial(task).shape)


def reference_mask(task: Task) -> dict[str, Array]:
    """The filtered image, in the range of its type but not rounded, and the filtered magnitudes."""
    height, width = task.meta.shape[:2]
    mask = transfer(task.params, np.arange(height)[:, None], np.arange(width), height, width)
    mask = mask.reshape(height, width, *(1,) * (task.x.ndim - 2))
    left = np.fft.fft2(task.x.astype(np.float64), axes=(0, 1)) * mask
    image = in_range(np.fft.ifft2(left, axes=(0, 1)).real, task.dtype)
    return {"image": image, "spectrum": np.abs(left) / (height * width)}
