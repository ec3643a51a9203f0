"""The forms of the results: how a task is cut into segments, and shape, dtype and axes of every output.

Frequencies begin at zero, as in numpy.fft: a whole spectrum has a period, and its second half equals the negative half.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gpu_ops.filters.fft.windows import window
from gpu_ops.output_kinds import CHANNEL, Axis, Form
from gpu_ops.task import Task

Array = np.ndarray[Any, Any]

SPECTROGRAM_SEGMENT = 256
"""Samples of a spectrogram's segment if the parameter is 0."""
PEAKS = 16
"""Rows of the table of peaks."""
PIECE = 4096
"""The number of values per piece that one block reduces or searches, unless that gives too many pieces."""
MOST_PIECES = 256


def real_type(task: Task) -> np.dtype[Any]:
    """The type that a task computes in: float64 for float64, else float32."""
    return np.dtype(np.float64 if task.meta.dtype == "float64" else np.float32)


def complex_type(task: Task) -> np.dtype[Any]:
    """The type of a task's spectra."""
    return np.dtype(np.complex128 if task.meta.dtype == "float64" else np.complex64)


@dataclass(frozen=True)
class Cut:
    """How a signal is cut: `count` segments of `length` samples, at intervals of `step`; the rest at the end is not
    used. The whole signal is one segment, unless the result is an average or a spectrogram."""

    length: int
    step: int
    count: int
    channels: int
    rate: float
    window: str
    detrend: bool

    @classmethod
    def of(cls, task: Task) -> Cut:
        """The cut of a task on a signal."""
        params, samples, result = task.params, task.meta.shape[0], task.params["result"]
        length = samples
        if result == "spectrogram":
            length = params["segment"] or min(SPECTROGRAM_SEGMENT, samples)
        elif result == "power density":
            length = params["segment"] or samples
        step = length - length * params["overlap"] // 100
        count = 1 + (samples - length) // step
        whole = result == "round trip"
        window = "none" if whole else params["window"]
        detrend = result not in ("round trip", "phase") and params["detrend"] == "constant"
        return cls(length, step, count, task.meta.channels, task.meta.rate or 1.0, window, detrend)

    @property
    def bins(self) -> int:
        """Bins of a one-sided spectrum."""
        return self.length // 2 + 1

    @cached_property
    def weights(self) -> Array:
        """The window in float64."""
        return window(self.window, self.length)

    @property
    def doubled(self) -> slice:
        """The bins of a one-sided spectrum that represent two frequencies: all but zero and half the rate."""
        return slice(1, (self.length + 1) // 2)


def _frequency(cut: Cut, task: Task, both: bool) -> Axis:
    unit = "Hz" if task.meta.rate else "cycles/sample"
    return Axis("frequency", unit, 0.0, cut.rate / cut.length, period=cut.rate if both else 0.0)


def _channels(task: Task) -> tuple[tuple[int, ...], tuple[Axis, ...]]:
    """The extents and axes that channels add; a signal (N,) and an image (H, W) have none."""
    rank = task.meta.of_kind.rank
    return task.meta.shape[rank:], (Axis(CHANNEL),) * (len(task.meta.shape) - rank)


def full_scale(task: Task) -> float:
    """The amplitude of 0 dB: the largest value of integer samples, 1 for floating-point ones."""
    kind = np.dtype(task.meta.dtype)
    return float(np.iinfo(kind).max) if kind.kind == "u" else 1.0


def least_amplitude(task: Task) -> float:
    """The amplitude of the lowest level, relative to full scale."""
    return float(10 ** (task.params["floor"] / 20))


def like_input(task: Task) -> Form:
    """The shape and type of the input, for memory; the output's own form adds the axes."""
    return Form(task.meta.shape, task.meta.dtype, ())


def sided(task: Task) -> tuple[tuple[int, ...], tuple[Axis, ...]]:
    """The shape and axes of a spectrum of a signal: (bins,) or (bins, C)."""
    cut, both = Cut.of(task), task.params["sides"] == "two"
    extents, axes = _channels(task)
    return (cut.length if both else cut.bins, *extents), (_frequency(cut, task, both), *axes)


def spectrum1d(task: Task) -> Form:
    """A complex spectrum of a signal."""
    shape, axes = sided(task)
    return Form(shape, complex_type(task).name, axes)


def values1d(task: Task) -> Form:
    """Real values over the frequencies of a signal."""
    shape, axes = sided(task)
    return Form(shape, real_type(task).name, axes)


def spectrogram(task: Task) -> Form:
    """(bins, segments) or (bins, segments, C): frequency, and time at the middle of each segment."""
    cut = Cut.of(task)
    extents, axes = _channels(task)
    name, unit = ("time", "s") if task.meta.rate else ("sample", "")
    time = Axis(name, unit, cut.length / 2 / cut.rate, cut.step / cut.rate)
    shape = (cut.bins, cut.count, *extents)
    return Form(shape, real_type(task).name, (_frequency(cut, task, False), time, *axes))


def _peak_table(task: Task, columns: tuple[str, ...]) -> Form:
    channels = task.meta.channels
    names = columns if channels == 1 else tuple(f"{name} {c}" for c in range(channels) for name in columns)
    return Form((PEAKS, len(names)), real_type(task).name, (Axis("peak"), Axis("", labels=names)))


def peaks1d(task: Task) -> Form:
    """(16, 2): frequency and height; of several channels (16, 2 C), side by side."""
    return _peak_table(task, ("frequency", "height"))


def peaks2d(task: Task) -> Form:
    """(16, 3): frequencies along y and x, and height; of several channels (16, 3 C), side by side."""
    return _peak_table(task, ("fy", "fx", "height"))


def peak_count(task: Task) -> Form:
    """The number of peaks in all channels."""
    return Form((), "uint32", ())


def frequencies(length: int, name: str, centred: bool) -> Axis:
    """The axis of the frequencies along one axis of an image, in cycles per pixel."""
    start = -(length // 2) / length if centred else 0.0
    return Axis(name, "cycles/px", start, 1 / length, period=1.0)


def _plane(task: Task, dtype: np.dtype[Any]) -> Form:
    height, width = task.meta.shape[:2]
    centred = bool(task.params.get("centred", False))
    axes = (frequencies(height, "fy", centred), frequencies(width, "fx", centred))
    return Form(task.meta.shape, dtype.name, (*axes, *_channels(task)[1]))


def spectrum2d(task: Task) -> Form:
    """A complex spectrum of an image, (H, W) or (H, W, C)."""
    return _plane(task, complex_type(task))


def values2d(task: Task) -> Form:
    """Real values over the frequencies of an image, (H, W) or (H, W, C)."""
    return _plane(task, real_type(task))


def ring_of(ky: Any, kx: Any, height: int, width: int) -> Any:
    """The ring of the bins ky, kx of a spectrum (0 … half the extent, as integers). All steps are in float64, each
    rounded separately, so that every implementation gets the same rings."""
    longest = max(height, width)
    y, x = np.asarray(ky * longest) / height, np.asarray(kx * longest) / width
    return np.floor(np.sqrt(y * y + x * x) + 0.5).astype(np.int64)


def radial(task: Task) -> Form:
    """(rings,) or (rings, C): rings are 1 / max(H, W) cycles per pixel apart."""
    height, width = task.meta.shape[:2]
    extents, axes = _channels(task)
    rings = int(ring_of(height // 2, width // 2, height, width)) + 1
    axis = Axis("radius", "cycles/px", 0.0, 1 / max(height, width))
    return Form((rings, *extents), real_type(task).name, (axis, *axes))


def pieces_of(n: int) -> int:
    """The pieces of n values that blocks reduce or search."""
    return min(MOST_PIECES, -(-n // PIECE))
