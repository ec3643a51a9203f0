"""Bars that are marked, and which samples of the input are in them. No widgets."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Signal

from app.models.results.view_data import Array
from gpu_ops.output_kinds import Axis

LARGEST = 1 << 20
"""Pixels of a mask at most: larger images are subsampled."""


class Marks(QObject):
    """The first and the last marked bar in all views of an output; `bars` is None where none is marked."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.bars: tuple[int, int] | None = None

    def mark(self, one: int, other: int, count: int) -> None:
        """Mark the bars from one to the other, of `count` in all."""
        first, last = sorted(min(max(bar, 0), count - 1) for bar in (one, other))
        self._set((first, last))

    def move(self, end: int, by: int, count: int) -> None:
        """Move the first end (0) or the last one (1) by a number of bars; it stops at the other end."""
        if self.bars is None:
            return
        first, last = self.bars
        if end == 0:
            self._set((min(max(first + by, 0), last), last))
        else:
            self._set((first, max(min(last + by, count - 1), first)))

    def clear(self) -> None:
        self._set(None)

    def _set(self, bars: tuple[int, int] | None) -> None:
        if bars != self.bars:
            self.bars = bars
            self.changed.emit()


def ends(axis: Axis, bars: tuple[int, int], count: int, whole: bool) -> tuple[float, float]:
    """The lowest and the highest value in the bars; of integers the levels themselves."""
    low, high = axis.at(bars[0]), axis.at(bars[1] + 1)
    if not whole:
        return low, high
    return math.ceil(low), math.floor(high) if bars[1] == count - 1 else math.ceil(high) - 1


def inside(values: Array, axis: Axis, bars: tuple[int, int], count: int) -> Array:
    """Which values are in the bars: from the lower edge, inclusive, to the upper one, exclusive; the last bar includes
    its upper edge."""
    low, high = ends(axis, bars, count, values.dtype.kind in "ui")
    if values.dtype.kind in "ui":
        bottom, top = np.iinfo(values.dtype).min, np.iinfo(values.dtype).max
        if low > top or high < bottom or high < low:
            return np.zeros(values.shape, bool)
        return np.asarray((values >= max(int(low), bottom)) & (values <= min(int(high), top)))
    low, high = (values.dtype.type(end) for end in (low, high))
    return np.asarray((values >= low) & ((values <= high) if bars[1] == count - 1 else (values < high)))


def counted(samples: Array, histograms: int, rank: int) -> Array:
    """The values that the histograms count, of samples with `rank` axes: (…, histograms). A single histogram of a
    colour image is that of its luminance by Rec. 601."""
    columns = samples[..., None] if samples.ndim == rank else samples
    if histograms == 1 and columns.shape[-1] >= 3 and rank == 2:
        return luminance(columns)[..., None]
    return columns[..., :histograms]


def luminance(colours: Array) -> Array:
    """(299 R + 587 G + 114 B) / 1000, rounded to the colours' type."""
    if colours.dtype.kind == "u":
        mixed: Array = (colours[..., :3].astype(np.uint32) @ np.array([299, 587, 114], np.uint32) + 500) // 1000
        return mixed.astype(colours.dtype)
    real: Any = colours[..., :3].astype(np.float64) @ np.array([0.299, 0.587, 0.114])
    return np.asarray(real, colours.dtype)


def picture_mask(image: Array, axis: Axis, bars: tuple[int, int], counts: Array) -> Array:
    """(h, w) in uint8: bit c is set where channel c is in the bars. `counts` are (B,) or (C, B). The mask of a large
    image is subsampled."""
    step = math.ceil(math.sqrt(max(1.0, image.shape[0] * image.shape[1] / LARGEST)))
    values = counted(image[::step, ::step], len(np.atleast_2d(counts)), 2)
    bits = inside(values, axis, bars, counts.shape[-1]).astype(np.uint8)
    return np.asarray(np.bitwise_or.reduce(bits << np.arange(bits.shape[-1], dtype=np.uint8), axis=-1))


def marked_samples(signal: Array, axis: Axis, bars: tuple[int, int], counts: Array) -> Array:
    """(N, C) as floats: the samples in the bars, and the sample after each, so that a line shows isolated ones; NaN
    elsewhere."""
    values = counted(signal, len(np.atleast_2d(counts)), 1)
    chosen = inside(values, axis, bars, counts.shape[-1])
    chosen[1:] |= chosen[:-1].copy()
    kind = values.dtype if values.dtype.kind == "f" else np.float32
    return np.where(chosen, values, np.nan).astype(kind)


def shares(counts: Array, bars: tuple[int, int]) -> list[float]:
    """The part of each channel's counts in the bars, in percent; 0 where nothing is counted."""
    rows = np.atleast_2d(counts).astype(np.float64)
    parts, totals = rows[:, bars[0] : bars[1] + 1].sum(axis=1), rows.sum(axis=1)
    return [100 * float(part / total) if total > 0 else 0.0 for part, total in zip(parts, totals, strict=True)]
