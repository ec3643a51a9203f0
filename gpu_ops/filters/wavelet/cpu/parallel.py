"""Wavelet denoising on all threads, compiled by Numba.

An image is read once per level and its coefficients are written once: a thread processes some rows in order, keeps as
many rows of row coefficients as a filter has taps in a ring buffer, and computes a row of all four bands from them. The
inverse keeps half as many rows of thresholded coefficients, and computes two rows of samples from each new one. A
signal is split into pieces. The noise's median is found by counting the magnitudes by their leading bits: only those
close to the median are sorted. Results do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import get_num_threads

from gpu_ops.filters.kit.loops import Array, flat, given, on_all_threads, piece
from gpu_ops.filters.wavelet.bases import taps_of
from gpu_ops.filters.wavelet.cpu.estimates import figures_of
from gpu_ops.filters.wavelet.cpu.lines import extend, join, shrink_line, split, weigh
from gpu_ops.filters.wavelet.cpu.serial import source_of
from gpu_ops.filters.wavelet.finest import finest_of
from gpu_ops.filters.wavelet.forms import THRESHOLDS, bands_of, pyramid_shape, sizes, work_type
from gpu_ops.filters.wavelet.reference import samples_of
from gpu_ops.filters.wavelet.rules import AT
from gpu_ops.progress import advance
from gpu_ops.task import Task

PIECE = 512
"""Coefficients of a signal that a thread computes at a time."""
BAND = 1 << 24
"""Values that all threads compute between two progress reports: tens of milliseconds."""


class Level(NamedTuple):
    """One level of a transform: `begin` and `end` of the current part of all threads, sizes before and after, the
    positions of bands in the pyramid, whose rows have a pitch of `line` values. A signal is an image of one row that
    has only vertical details.

    Coefficient k begins at sample 2k + `base`. In the inverse, the pair u of samples begins at 2u - `odd` and needs the
    coefficients up to u + `ahead`.
    """

    begin: int
    end: int
    height: int
    width: int
    channels: int
    rows: int
    columns: int
    line: int
    below: int
    beside: int
    across: int
    periodic: bool
    base: int
    odd: int
    ahead: int
    how: int


@piece
def _level(n: Array) -> Level:
    """A level from its numbers, because a parallel loop cannot take a named tuple."""
    a, b, periodic = n[:6], n[6:11], n[11] != 0
    return Level(a[0], a[1], a[2], a[3], a[4], a[5], b[0], b[1], b[2], b[3], b[4], periodic, n[12], n[13], n[14], n[15])


def _image_forward(arguments: tuple[Any, ...], worker: int, workers: int) -> None:
    """A worker's share of some rows of coefficients of an image."""
    x, low, pyramid, spare, numbers, weights = given(arguments)
    o = _level(numbers)
    begin, share, h, w, c, mw = o.begin, o.end - o.begin, o.height, o.width, o.channels, o.columns
    taps, half, buffer = weights.size // 2, mw * c, spare[worker]
    phases, count = taps * 2 * half, mw + taps // 2 - 1
    at, pairs = np.empty(taps, np.int64), np.empty(taps, np.int64)
    for q in range(taps // 2):
        pairs[2 * q], pairs[2 * q + 1] = phases + q * c, phases + (count + q) * c
    first = begin + worker * share // workers
    for k in range(first, begin + (worker + 1) * share // workers):
        top = 2 * k + o.base
        for i in range(0 if k == first else taps - 2, taps):
            row, slot = source_of(top + i, h, o.periodic), (2 * k + i) % taps * 2 * half
            split(x, row * w * c, w, c, o.base, count, o.periodic, buffer, phases)
            for side in range(2):
                weigh(buffer, pairs, 0, weights, side, buffer, slot + side * half, half)
        for i in range(taps):
            at[i] = (2 * k + i) % taps * 2 * half
        weigh(buffer, at, 0, weights, 0, low, k * half, half)
        for shift, side, start in ((0, 1, o.below), (half, 0, o.beside), (half, 1, o.across)):
            weigh(buffer, at, shift, weights, side, pyramid, start + k * o.line, half)


def _image_inverse(arguments: tuple[Any, ...], worker: int, workers: int) -> None:
    """A worker's share of some pairs of rows of an image."""
    low, pyramid, out, spare, numbers, weights, thresholds = given(arguments)
    o = _level(numbers)
    begin, share, h, w, c, mw = o.begin, o.end - o.begin, o.height, o.width, o.channels, o.columns
    line, odd, ahead, how = o.line, o.odd, o.ahead, o.how
    deep, half, buffer = weights.size // 4, mw * c, spare[worker]
    wide, pairs = 2 * half, (w + odd + 1) // 2
    lines = deep * 2 * wide
    ends = lines + 2 * wide
    count = pairs + deep - 1
    made = ends + 2 * count * c
    at, along = np.empty(2 * deep, np.int64), np.empty(2 * deep, np.int64)
    for q in range(deep):
        along[2 * q] = ends + (deep - 1 - q) * c
        along[2 * q + 1] = along[2 * q] + count * c
    first = begin + worker * share // workers
    for u in range(first, begin + (worker + 1) * share // workers):
        for q in range(deep - 1 if u == first else 0, -1, -1):
            k, slot = u + ahead - q, (u + deep - q) % deep * 2 * wide
            extend(low, k % o.rows * half, mw, c, 0, mw, True, buffer, slot)
            extend(pyramid, o.beside + k % o.rows * line, mw, c, 0, mw, True, buffer, slot + half)
            extend(pyramid, o.below + k % o.rows * line, mw, c, 0, mw, True, buffer, slot + wide)
            extend(pyramid, o.across + k % o.rows * line, mw, c, 0, mw, True, buffer, slot + wide + half)
            shrink_line(buffer, slot + half, thresholds, half, half, how)
            shrink_line(buffer, slot + wide, thresholds, 0, half, how)
            shrink_line(buffer, slot + wide + half, thresholds, 2 * half, half, how)
            if not o.periodic and (k < 0 or k >= o.rows):
                buffer[slot : slot + 2 * wide] = 0
        for q in range(deep):
            at[2 * q] = (u + deep - q) % deep * 2 * wide
            at[2 * q + 1] = at[2 * q] + wide
        for side in range(2):
            row = 2 * u - odd + side
            if 0 <= row < h:
                weigh(buffer, at, 0, weights, side, buffer, lines, wide)
                extend(buffer, lines, mw, c, ahead - deep + 1, count, o.periodic, buffer, ends)
                extend(buffer, lines + half, mw, c, ahead - deep + 1, count, o.periodic, buffer, ends + count * c)
                for pixel in range(2):
                    weigh(buffer, along, 0, weights, pixel, buffer, made + pixel * pairs * c, pairs * c)
                join(buffer, made, pairs, c, out, row * w * c, w, -odd)


def _signal_forward(arguments: tuple[Any, ...], worker: int, workers: int) -> None:
    """A worker's share of some pieces of a signal's coefficients."""
    x, low, pyramid, spare, numbers, weights = given(arguments)
    o = _level(numbers)
    begin, share, n, c = o.begin, o.end - o.begin, o.width, o.channels
    taps, buffer, at = weights.size // 2, spare[worker], np.empty(weights.size // 2, np.int64)
    for index in range(begin + worker * share // workers, begin + (worker + 1) * share // workers):
        k = index * PIECE
        size = min(PIECE, o.columns - k)
        count = size + taps // 2 - 1
        for q in range(taps // 2):
            at[2 * q], at[2 * q + 1] = q * c, (count + q) * c
        split(x, 0, n, c, 2 * k + o.base, count, o.periodic, buffer, 0)
        weigh(buffer, at, 0, weights, 0, low, k * c, size * c)
        weigh(buffer, at, 0, weights, 1, pyramid, o.below + k * c, size * c)


def _signal_inverse(arguments: tuple[Any, ...], worker: int, workers: int) -> None:
    """A worker's share of some pieces of a signal's pairs of samples."""
    low, pyramid, out, spare, numbers, weights, thresholds = given(arguments)
    o = _level(numbers)
    begin, share, n, c, m = o.begin, o.end - o.begin, o.width, o.channels, o.columns
    deep, buffer, at = weights.size // 4, spare[worker], np.empty(weights.size // 2, np.int64)
    pairs = (n + o.odd + 1) // 2
    for index in range(begin + worker * share // workers, begin + (worker + 1) * share // workers):
        u = index * PIECE
        size = min(PIECE, pairs - u)
        count = size + deep - 1
        made = 2 * count * c
        for q in range(deep):
            at[2 * q] = (deep - 1 - q) * c
            at[2 * q + 1] = at[2 * q] + count * c
        extend(low, 0, m, c, u + o.ahead - deep + 1, count, o.periodic, buffer, 0)
        extend(pyramid, o.below, m, c, u + o.ahead - deep + 1, count, o.periodic, buffer, count * c)
        shrink_line(buffer, count * c, thresholds, 0, count * c, o.how)
        for side in range(2):
            weigh(buffer, at, 0, weights, side, buffer, made + side * size * c, size * c)
        join(buffer, made, size, c, out, 0, n, 2 * u - o.odd)


class Parallel:
    """The loops of one task on all threads. Its arrays are allocated once."""

    def __init__(self, task: Task) -> None:
        self.task, self.bands, self.kind = task, bands_of(task), work_type(task)
        taps = taps_of(task.params["wavelet"]).astype(self.kind)
        self.analysis = np.concatenate([taps.dec_lo[::-1], taps.dec_hi[::-1]])
        pairs = np.stack([taps.rec_lo, taps.rec_hi], axis=1)
        self.back = np.concatenate([pairs[0::2].ravel(), pairs[1::2].ravel()])
        self.image = task.meta.of_kind.rank == 2
        shapes = [s if self.image else (1, *s) for s in sizes(task)]
        self.averages = [np.empty(h * w * task.meta.channels, self.kind) for h, w in shapes[1:]]
        self.levels = [self._level(level, shapes) for level in range(1, len(shapes))]
        count = taps.dec_lo.size
        each = (2 * (count + 4) * (shapes[1][1] + count) if self.image else 4 * (PIECE + count)) * task.meta.channels
        self.spare = np.empty((get_num_threads(), each), self.kind)

    def _level(self, level: int, shapes: list[tuple[int, ...]]) -> Level:
        """The sizes of a level and the positions of its bands."""
        params, c, length = self.task.params, self.task.meta.channels, len(self.analysis) // 2
        each = 3 if self.image else 1
        line = (pyramid_shape(self.task)[1] if self.image else 1) * c
        details = self.bands[1 + (len(shapes) - 1 - level) * each :][:each]
        starts = [b.start[0] * line + b.start[1] * c if self.image else b.start[0] * c for b in details]
        below, beside, across = starts if self.image else (starts[0], 0, 0)
        periodic = params["border"] == "periodization"
        back = length // 2 - 1 if periodic else length - 2
        base = (length // 2 if periodic else 1) - (length - 1)
        how = THRESHOLDS.index(params["threshold"])
        (h, w), (rows, columns) = shapes[level - 1], shapes[level]
        places = line, below, beside, across
        return Level(0, 0, h, w, c, rows, columns, *places, periodic, base, back % 2, back // 2, how)

    def forward(self, x: Array, pyramid: Array) -> None:
        """Fill the bands of a pyramid."""
        source, part = x, _image_forward if self.image else _signal_forward
        for level, target in zip(self.levels, self.averages, strict=True):
            count = level.rows if self.image else -(-level.columns // PIECE)
            rest = (flat(source), target, pyramid.reshape(-1, copy=False), self.spare)
            self._run(part, rest, level, count, (self.analysis,))
            source = target
        self._last(pyramid)[...] = source.reshape(self._last(pyramid).shape)

    def estimate(self, pyramid: Array, figures: Array) -> None:
        """The noise estimate and the thresholds."""
        params = self.task.params
        how = params["rule"], params["value"], samples_of(self.task)
        figures[...] = figures_of(pyramid, self.bands, finest_of(self.task), *how)

    def backward(self, pyramid: Array, figures: Array, out: Array) -> None:
        """The samples of a pyramid after thresholding."""
        source, part = self.averages[-1], _image_inverse if self.image else _signal_inverse
        source[...] = self._last(pyramid).reshape(-1)
        each = 3 if self.image else 1
        for place, level in enumerate(reversed(self.levels)):
            target = self.averages[-2 - place] if place + 1 < len(self.levels) else out.reshape(-1, copy=False)
            pixels = level.columns if self.image else PIECE + len(self.back) // 2
            rows = figures[1 + each * place :][:each] * (1 + AT if level.how == 1 else 1)
            thresholds = np.concatenate([np.tile(row, pixels) for row in rows]).astype(self.kind)
            pairs = ((level.height if self.image else level.width) + level.odd + 1) // 2
            count = pairs if self.image else -(-pairs // PIECE)
            rest = (flat(source), flat(pyramid), target, self.spare)
            self._run(part, rest, level, count, (self.back, thresholds))
            source = target

    def _last(self, pyramid: Array) -> Array:
        """The approximation in a pyramid."""
        return pyramid[self.bands[0].part]

    def _run(
        self, part: Callable[..., None], arrays: tuple[Array, ...], level: Level, count: int, weights: tuple[Array, ...]
    ) -> None:
        """Run a part over `count` rows or pieces on all threads."""
        values = 2 * level.columns * level.channels if self.image else 2 * PIECE * level.channels
        band = max(BAND // values, 1)
        for first in range(0, count, band):
            if first:
                advance(first, count)
            numbers = np.array(level._replace(begin=first, end=min(first + band, count)), np.int64)
            on_all_threads(part, (*arrays, numbers, *weights), len(self.spare))
