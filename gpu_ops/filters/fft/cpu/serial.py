"""Fourier transforms on one core, compiled by Numba: radix 2, and Bluestein's method for other lengths.

Real and imaginary parts are in two buffers, so that the loops over butterflies are vectorised. The twiddle factors of
each stage are contiguous. All tables are computed in float64 and rounded once to the type of the data.

* Lengths 2^k: samples are loaded in bit-reversed order, then k stages of butterflies follow (Cooley & Tukey 1965).
* Other lengths n: a transform is a convolution with the chirp exp(iπ j² / n), computed by transforms of a length 2^k of
  at least 2 n - 1 (Bluestein 1970). Its forward stages end in bit-reversed order, in which the inverse stages begin.
* Real samples of even length are transformed as half as many complex ones.

Importing this module loads Numba.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.filters.kit.loops import compiled, piece
from gpu_ops.progress import advance, stage

Array = np.ndarray[Any, Any]
BAND = 1 << 22
"""Values that are transformed between two progress reports: tens of milliseconds."""


def tables(length: int, dtype: str) -> tuple[Array, ...]:
    """The tables of a complex transform: the twiddle factors of all stages, exp(-iπ j / h) at index h + j; the
    bit-reversed order; the chirp and its transform in bit-reversed order, both of length 0 if the length is a power of
    two."""
    plain = length & (length - 1) == 0
    size = length if plain else 1 << (2 * length - 2).bit_length()
    roots = np.ones(size, np.complex128)
    half = 1
    while half < size:
        roots[half : 2 * half] = np.exp(-1j * np.pi / half * np.arange(half))
        half *= 2
    order = _reversed(size)
    chirp = transformed = np.zeros(0, np.complex128)
    if not plain:
        j = np.arange(length, dtype=np.int64)
        chirp = np.exp(-1j * np.pi / length * (j * j % (2 * length)))
        around = np.zeros(size, np.complex128)
        around[:length] = np.conj(chirp)
        around[size - length + 1 :] = np.conj(chirp[:0:-1])
        transformed = (np.fft.fft(around) / size)[order]
    parts = [np.ascontiguousarray(p, dtype) for t in (roots, chirp, transformed) for p in (t.real, t.imag)]
    return (*parts, order)


def _reversed(size: int) -> Array:
    """The numbers below a power of two with their bits in reverse."""
    order = np.zeros(1, np.int32)
    while len(order) < size:
        order = np.concatenate([2 * order, 2 * order + 1])
    return order


@piece
def _gathering(re: Array, im: Array, roots_re: Array, roots_im: Array) -> None:
    """From bit-reversed order to natural order: stages of increasing stride."""
    size, half = len(re), 1
    while half < size:
        for low in range(0, size, 2 * half):
            for j in range(half):
                a, b = low + j, low + j + half
                wr, wi = roots_re[half + j], roots_im[half + j]
                tr = re[b] * wr - im[b] * wi
                ti = re[b] * wi + im[b] * wr
                re[b], im[b] = re[a] - tr, im[a] - ti
                re[a], im[a] = re[a] + tr, im[a] + ti
        half *= 2


@piece
def _scattering(re: Array, im: Array, roots_re: Array, roots_im: Array) -> None:
    """From natural order to bit-reversed order: stages of decreasing stride."""
    size = len(re)
    half = size // 2
    while half:
        for low in range(0, size, 2 * half):
            for j in range(half):
                a, b = low + j, low + j + half
                wr, wi = roots_re[half + j], roots_im[half + j]
                dr, di = re[a] - re[b], im[a] - im[b]
                re[a], im[a] = re[a] + re[b], im[a] + im[b]
                re[b], im[b] = dr * wr - di * wi, dr * wi + di * wr
        half //= 2


@piece
def _transform(re: Array, im: Array, line_re: Array, line_im: Array, tabs: Any) -> None:
    """The transform of a line in place; re and im are buffers with the length of the twiddle factors."""
    roots_re, roots_im, chirp_re, chirp_im, hat_re, hat_im, order = tabs
    n = len(line_re)
    if len(chirp_re) == 0:
        for j in range(n):
            re[j], im[j] = line_re[order[j]], line_im[order[j]]
        _gathering(re, im, roots_re, roots_im)
        for j in range(n):
            line_re[j], line_im[j] = re[j], im[j]
        return
    for j in range(n):
        re[j] = line_re[j] * chirp_re[j] - line_im[j] * chirp_im[j]
        im[j] = line_re[j] * chirp_im[j] + line_im[j] * chirp_re[j]
    re[n:] = 0
    im[n:] = 0
    _scattering(re, im, roots_re, roots_im)
    for j in range(len(re)):
        r = re[j] * hat_re[j] - im[j] * hat_im[j]
        im[j] = -(re[j] * hat_im[j] + im[j] * hat_re[j])  # the conjugate: the inverse by a forward transform
        re[j] = r
    _gathering(re, im, roots_re, roots_im)
    for j in range(n):
        line_re[j] = re[j] * chirp_re[j] + im[j] * chirp_im[j]
        line_im[j] = re[j] * chirp_im[j] - im[j] * chirp_re[j]


@compiled
def _rows_forward(x: Array, out: Array, turn_re: Array, turn_im: Array, tabs: Any) -> None:
    """x (B, L) real into out (B, L // 2 + 1, 2). turn contains exp(-2πi k / L); it is empty for an odd L."""
    length, bins = x.shape[1], out.shape[1]
    n = bins - 1 if len(turn_re) else length
    re, im = np.empty_like(tabs[0]), np.empty_like(tabs[0])
    line_re, line_im = np.empty(n, tabs[0].dtype), np.empty(n, tabs[0].dtype)
    half = x.dtype.type(0.5)
    for row in range(x.shape[0]):
        if len(turn_re) == 0:
            for j in range(n):
                line_re[j], line_im[j] = x[row, j], 0
            _transform(re, im, line_re, line_im, tabs)
            for k in range(bins):
                out[row, k, 0], out[row, k, 1] = line_re[k], line_im[k]
            continue
        for j in range(n):
            line_re[j], line_im[j] = x[row, 2 * j], x[row, 2 * j + 1]
        _transform(re, im, line_re, line_im, tabs)
        for k in range(bins):
            a, b = k % n, (n - k) % n
            even_re, even_im = half * (line_re[a] + line_re[b]), half * (line_im[a] - line_im[b])
            odd_re, odd_im = half * (line_im[a] + line_im[b]), half * (line_re[b] - line_re[a])
            out[row, k, 0] = even_re + odd_re * turn_re[k] - odd_im * turn_im[k]
            out[row, k, 1] = even_im + odd_re * turn_im[k] + odd_im * turn_re[k]


@compiled
def _rows_back(bins: Array, x: Array, turn_re: Array, turn_im: Array, tabs: Any) -> None:
    """bins (B, L // 2 + 1, 2) into x (B, L) real, L times the inverse of an odd length, L / 2 times of an even one."""
    length = x.shape[1]
    n = length // 2 if len(turn_re) else length
    re, im = np.empty_like(tabs[0]), np.empty_like(tabs[0])
    line_re, line_im = np.empty(n, tabs[0].dtype), np.empty(n, tabs[0].dtype)
    half = x.dtype.type(0.5)
    for row in range(x.shape[0]):
        if len(turn_re) == 0:
            line_re[0], line_im[0] = bins[row, 0, 0], 0
            for k in range(1, bins.shape[1]):
                line_re[k], line_im[k] = bins[row, k, 0], -bins[row, k, 1]
                line_re[n - k], line_im[n - k] = bins[row, k, 0], bins[row, k, 1]
            _transform(re, im, line_re, line_im, tabs)
            for j in range(n):
                x[row, j] = line_re[j]
            continue
        for k in range(n):
            ar, ai, br, bi = bins[row, k, 0], bins[row, k, 1], bins[row, n - k, 0], -bins[row, n - k, 1]
            if k == 0:  # the two bins without imaginary parts
                ai, bi = x.dtype.type(0), x.dtype.type(0)
            even_re, even_im = half * (ar + br), half * (ai + bi)
            dr, di = half * (ar - br), half * (ai - bi)
            odd_re, odd_im = dr * turn_re[k] + di * turn_im[k], di * turn_re[k] - dr * turn_im[k]
            line_re[k], line_im[k] = even_re - odd_im, -(even_im + odd_re)
        _transform(re, im, line_re, line_im, tabs)
        for j in range(n):
            x[row, 2 * j], x[row, 2 * j + 1] = line_re[j], -line_im[j]


@compiled
def _columns(data: Array, start: int, stop: int, inverse: bool, factor: Any, tabs: Any) -> None:
    """Columns start … stop - 1 of data (H, W, 2) in place, times `factor`. Eight columns fill a cache line."""
    height = data.shape[0]
    re, im = np.empty_like(tabs[0]), np.empty_like(tabs[0])
    lines_re, lines_im = np.empty((8, height), tabs[0].dtype), np.empty((8, height), tabs[0].dtype)
    turned = -factor if inverse else factor
    for first in range(start, stop, 8):
        count = min(8, stop - first)
        for y in range(height):
            for c in range(count):
                lines_re[c, y], lines_im[c, y] = factor * data[y, first + c, 0], turned * data[y, first + c, 1]
        for c in range(count):
            _transform(re, im, lines_re[c], lines_im[c], tabs)
        for y in range(height):
            for c in range(count):
                data[y, first + c, 0] = lines_re[c, y]
                data[y, first + c, 1] = -lines_im[c, y] if inverse else lines_im[c, y]


def _pairs(bins: Array) -> Array:
    """Complex numbers as pairs of real ones."""
    return bins.view(bins.real.dtype).reshape(*bins.shape, 2)


class Rows:
    """Transforms of rows of `length` real samples of a type, float32 or float64."""

    def __init__(self, length: int, dtype: str) -> None:
        self.even = length % 2 == 0
        turn = np.exp(-2j * np.pi / length * np.arange(length // 2 + 1)) if self.even else np.zeros(0, np.complex128)
        self.turn = [np.ascontiguousarray(part, dtype) for part in (turn.real, turn.imag)]
        self.factor = np.dtype(dtype).type(2 / length if self.even else 1 / length)
        self.tables = tables(length // 2 if self.even else length, dtype)
        self.band = max(1, BAND // length)

    def forward(self, x: Array, out: Array) -> None:
        """The one-sided spectra of the rows of x (B, L) in out (B, L // 2 + 1)."""
        for k in range(0, len(x), self.band):
            rows = slice(k, k + self.band)
            _rows_forward(x[rows], _pairs(out[rows]), self.turn[0], self.turn[1], self.tables)
            advance(min(k + self.band, len(x)), len(x))

    def inverse(self, bins: Array, out: Array) -> None:
        """The samples out (B, L) of one-sided spectra (B, L // 2 + 1)."""
        for k in range(0, len(out), self.band):
            rows = slice(k, k + self.band)
            _rows_back(_pairs(bins[rows]), out[rows], self.turn[0], self.turn[1], self.tables)
            out[rows] *= self.factor
            advance(min(k + self.band, len(out)), len(out))


class Planes:
    """Transforms of planes (C, height, width) of real samples of a type: the rows, then the columns."""

    def __init__(self, height: int, width: int, dtype: str) -> None:
        self.rows, self.height = Rows(width, dtype), height
        self.tables = tables(height, dtype)
        self.band = max(8, BAND // height // 8 * 8)

    def forward(self, x: Array, out: Array) -> None:
        """The half spectra out (C, H, W // 2 + 1) of planes x (C, H, W)."""
        with stage(0, 2):
            self.rows.forward(x.reshape(-1, x.shape[2]), out.reshape(-1, out.shape[2]))
        with stage(1, 2):
            self._columns(out, False)

    def inverse(self, bins: Array, out: Array) -> None:
        """The planes out (C, H, W) of half spectra (C, H, W // 2 + 1), which are overwritten."""
        with stage(0, 2):
            self._columns(bins, True)
        with stage(1, 2):
            self.rows.inverse(bins.reshape(-1, bins.shape[2]), out.reshape(-1, out.shape[2]))

    def _columns(self, bins: Array, inverse: bool) -> None:
        """The columns of half spectra in place."""
        width = bins.shape[2]
        factor = self.rows.factor.dtype.type(1 / self.height if inverse else 1)
        for place, plane in enumerate(bins):
            for k in range(0, width, self.band):
                _columns(_pairs(plane), k, min(k + self.band, width), inverse, factor, self.tables)
                advance(place * width + min(k + self.band, width), len(bins) * width)
