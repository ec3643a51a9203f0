"""Wavelet denoising on the CPU, as steps of a plan: what the variants share, and the order of their loops.

Images are transformed along their rows, then along their columns, level by level; the inverse in the reverse order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gpu_ops.filters.wavelet.bases import Taps, taps_of
from gpu_ops.filters.wavelet.cpu.serial import At, Part, analyse, shrink, synthesise
from gpu_ops.filters.wavelet.finest import finest_of
from gpu_ops.filters.wavelet.forms import THRESHOLDS, bands_of, pyramid_shape, sizes, work_type
from gpu_ops.filters.wavelet.reference import samples_of
from gpu_ops.filters.wavelet.rules import AT, figures_of
from gpu_ops.progress import advance
from gpu_ops.task import Task

Array = np.ndarray[Any, Any]
BAND = 1 << 22
"""Values between two reports of progress: tens of milliseconds."""


def parts(lines: int, positions: int, width: int) -> Iterator[Part]:
    """All lines in parts of tens of milliseconds: some of the lines if there are many, else some positions."""
    by_line = lines > 1
    count, each = (lines, positions * width) if by_line else (positions, width)
    step = BAND // each or 1
    for first in range(0, count, step):
        if first:  # a single part reports no progress, because a report would take longer than the part
            advance(first, count)
        last = min(first + step, count)
        yield Part(first, last, 0, positions, width) if by_line else Part(0, 1, first, last, width)


class Serial:
    """The loops of one task on one thread. Its arrays are allocated once."""

    def __init__(self, task: Task) -> None:
        self.task, self.bands = task, bands_of(task)
        self.taps: Taps = taps_of(task.params["wavelet"]).astype(work_type(task))
        self.periodic = task.params["border"] == "periodization"
        self.channels = task.meta.channels
        shapes = [s if len(s) == 2 else (1, *s) for s in sizes(task)]
        self.shapes = shapes
        self.image = task.meta.of_kind.rank == 2
        shape = pyramid_shape(task)
        self.line = (shape[1] if self.image else 1) * self.channels
        self.averages = [np.empty(h * w * self.channels, work_type(task)) for h, w in shapes[1:]]
        middle = max((h * 2 * n[1] * self.channels for (h, _), n in zip(shapes, shapes[1:], strict=False)), default=0)
        self.middle = np.empty(middle if self.image else 0, work_type(task))

    def band(self, level: int, which: int) -> int:
        """The offset of a band of a level in the flat pyramid; for images 0 horizontal, 1 vertical, 2 diagonal."""
        each = 3 if self.image else 1
        start = self.bands[1 + (len(self.shapes) - 1 - level) * each + which].start
        return start[0] * self.line + (start[1] * self.channels if self.image else 0)

    def forward(self, x: Array, pyramid: Array) -> None:
        """Fill the bands of a pyramid."""
        source, flat = x.reshape(-1), pyramid.reshape(-1)
        for level in range(1, len(self.shapes)):
            target = self.averages[level - 1]
            if self.image:
                self._forward_image(source, level, target, flat)
            else:
                n, m = self.shapes[level - 1][1], self.shapes[level][1]
                at, detail = At(0, 0, self.channels), At(self.band(level, 0), 0, self.channels)
                for part in parts(1, m, self.channels):
                    self._analyse(source, at, n, target, at, flat, detail, part)
            source = target
        self._last(pyramid)[...] = source.reshape(self._last(pyramid).shape)

    def _last(self, pyramid: Array) -> Array:
        """The approximation in a pyramid."""
        return pyramid[self.bands[0].part]

    def _forward_image(self, x: Array, level: int, target: Array, flat: Array) -> None:
        c, (h, w), (mh, mw) = self.channels, self.shapes[level - 1], self.shapes[level]
        wide, half = 2 * mw * c, mw * c
        for part in parts(h, mw, c):
            sides = At(0, wide, c), At(half, wide, c)
            self._analyse(x, At(0, w * c, c), w, self.middle, sides[0], self.middle, sides[1], part)
        below, beside, across = (At(self.band(level, b), 0, self.line) for b in range(3))
        for part in parts(1, mh, half):
            self._analyse(self.middle, At(0, 0, wide), h, target, At(0, 0, half), flat, below, part)
            self._analyse(self.middle, At(half, 0, wide), h, flat, beside, flat, across, part)

    def _analyse(self, x: Array, at: At, n: int, low: Array, low_at: At, high: Array, high_at: At, part: Part) -> None:
        analyse(x, at, n, low, low_at, high, high_at, part, self.taps.dec_lo, self.taps.dec_hi, self.periodic)

    def backward(self, pyramid: Array, figures: Array, out: Array) -> None:
        """The samples of a pyramid after thresholding, which overwrites its details."""
        self._shrink(pyramid, figures)
        flat, source = pyramid.reshape(-1), self.averages[-1]
        source[...] = self._last(pyramid).reshape(-1)
        for level in range(len(self.shapes) - 1, 0, -1):
            target = self.averages[level - 2] if level > 1 else out.reshape(-1)
            if self.image:
                self._backward_image(source, level, flat, target)
            else:
                n, m = self.shapes[level - 1][1], self.shapes[level][1]
                at, detail = At(0, 0, self.channels), At(self.band(level, 0), 0, self.channels)
                for part in parts(1, n, self.channels):
                    self._synthesise(source, at, flat, detail, m, target, at, part)
            source = target

    def _backward_image(self, source: Array, level: int, flat: Array, target: Array) -> None:
        c, (h, w), (mh, mw) = self.channels, self.shapes[level - 1], self.shapes[level]
        wide, half = 2 * mw * c, mw * c
        below, beside, across = (At(self.band(level, b), 0, self.line) for b in range(3))
        for part in parts(1, h, half):
            self._synthesise(source, At(0, 0, half), flat, below, mh, self.middle, At(0, 0, wide), part)
            self._synthesise(flat, beside, flat, across, mh, self.middle, At(half, 0, wide), part)
        for part in parts(h, w, c):
            sides = At(0, wide, c), At(half, wide, c)
            self._synthesise(self.middle, sides[0], self.middle, sides[1], mw, target, At(0, w * c, c), part)

    def _synthesise(
        self, low: Array, low_at: At, high: Array, high_at: At, m: int, x: Array, at: At, part: Part
    ) -> None:
        synthesise(low, low_at, high, high_at, m, x, at, part, self.taps.rec_lo, self.taps.rec_hi, self.periodic)

    def estimate(self, pyramid: Array, figures: Array) -> None:
        """The noise estimate and the thresholds."""
        params = self.task.params
        how = params["rule"], params["value"], samples_of(self.task)
        figures[...] = figures_of(pyramid, self.bands, finest_of(self.task), *how)

    def _shrink(self, pyramid: Array, figures: Array) -> None:
        """The details of a pyramid after thresholding."""
        how, flat = THRESHOLDS.index(self.task.params["threshold"]), pyramid.reshape(-1)
        each = 3 if self.image else 1
        for index, band in enumerate(self.bands[1:]):
            level, thresholds = band.level, np.atleast_1d(figures[1 + index]).astype(pyramid.dtype)
            rows, columns = self.shapes[level]
            step = BAND // (columns * self.channels) or 1
            start = self.band(level, index % each)
            for first in range(0, rows, step):
                if first:
                    advance(first, rows)
                more = min(step, rows - first)
                shrink(flat, start + first * self.line, self.line, more, columns, thresholds, how, 1 + AT)
