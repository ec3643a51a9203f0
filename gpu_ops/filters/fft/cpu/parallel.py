"""Fourier transforms on all threads, compiled by Numba: tiles of neighbouring lines for SIMD instructions.

* Rows: a thread transposes as many rows as a SIMD vector has values into a tile, transforms them together
  (stockham.py), and transposes them back. Even rows are transformed as half as many complex numbers; their bins are
  separated in the tile.
* Columns: a tile of neighbouring columns is two cache lines wide, so filling it is little more than a copy.
* A long line, or a small number of lines, is transformed in two parts, so that it has neighbouring lines as well
  (Bailey 1990): its points b + n2 a along a, times exp(-2πi b k / n), then along b.

Minimum CPU time on one core of an AMD EPYC (AVX-512, loaded), float32: 8192 rows of 1024 take 11 ms, SciPy 18; an image
of 2048 x 2048 takes 16 to 18 ms by either. SciPy is faster for one row of 2^20, 6 ms instead of 8, but on one core: it
distributes lines, not parts of one.

Results do not depend on the number of threads. Importing this module loads Numba.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import get_num_threads

from gpu_ops.filters.fft.cpu import tiles
from gpu_ops.filters.fft.cpu.stockham import Line, chirp, chirp_spectrum, pairs, smooth, turning
from gpu_ops.filters.kit.lanes import BYTES
from gpu_ops.filters.kit.loops import Array, flat, on_all_threads
from gpu_ops.progress import advance, stage

BAND = 1 << 22
"""Values that are transformed between two progress reports: tens of milliseconds."""
SHORT, LONGEST, FEW = 512, 1 << 15, 32
"""Lines of up to SHORT points are transformed in tiles, up to LONGEST if there are at least FEW; others in two
parts."""
NONE = np.zeros(0, np.complex128)
NO_ROOTS = np.zeros(0, np.float64)


def _in_bands(
    part: Callable[..., None], arguments: tuple[Any, ...], count: int, values: int, workers: int, *numbers: int
) -> None:
    """Run a part on this number of threads for `count` tiles or points of a number of values each; (begin, end, numbers
    …) replaces None in its arguments."""
    band = max(BAND // values, 1)
    for first in range(0, count, band):
        last = min(first + band, count)
        own = np.array((first, last, *numbers), np.int64)
        on_all_threads(part, tuple(own if a is None else a for a in arguments), min(workers, last - first))
        advance(last, count)


def _reals(values: Array) -> Array:
    """Real or complex values as a flat line of real ones."""
    return values.reshape(-1, copy=False).view(values.real.dtype)


class _Tiles:
    """The tables of a line and memory for a tile of each thread."""

    def __init__(self, n: int, dtype: str) -> None:
        self.line, self.lanes = Line(n, dtype), BYTES // np.dtype(dtype).itemsize
        self.values = self.lanes * (self.line.size + 1)  # one element more, for the last bin
        self.spare = np.zeros((get_num_threads(), 4 * self.values), dtype)

    def share(self, lines: int) -> tuple[int, int, int]:
        """The number of tiles for these lines, the values of one, and the threads that have memory."""
        return -(-lines // self.lanes), self.values, len(self.spare)


class _Lines:
    """Adjacent complex lines of n points. `whole` is the length of the line of which they are the first part."""

    def __init__(self, n: int, dtype: str, whole: int = 0) -> None:
        self.tiles, self.dtype = _Tiles(n, dtype), np.dtype(dtype)
        self.roots, beside = NO_ROOTS, NONE.reshape(0, 1)
        if whole:
            self.roots = roots(whole)
            beside = np.exp(-2j * np.pi / whole * np.multiply.outer(np.arange(n), np.arange(self.tiles.lanes)))
        self.beside = np.stack([beside.real, beside.imag], axis=1).astype(dtype).reshape(-1)

    def run(
        self, x: Array, out: Array, count: int, near: int, far: int, across: bool, swap: tuple[bool, bool], by: float
    ) -> None:
        """As tiles.lines_part, times `by`. Real and imaginary parts of input or output are exchanged according to
        `swap`."""
        line, factor = self.tiles.line, np.array([by], self.dtype)
        arguments = (flat(x), out, self.tiles.spare, None, factor, self.roots, self.beside, *line.tables)
        numbers = (count, line.n, line.size, near, far, across, *swap)
        _in_bands(tiles.lines_part, arguments, *self.tiles.share(count), *numbers)


def roots(n: int) -> Array:
    """exp(-2πi k / n) for k below FINE, then for all multiples of FINE below n, in float64."""
    fine, coarse = turning(n, tiles.FINE), turning(n, -(-n // tiles.FINE), tiles.FINE)
    return pairs(np.concatenate([fine, coarse]), "float64")


class Long:
    """Transforms of one complex line of n points, forward and inverse, in two parts; by Bluestein's method if n has
    prime factors other than 2, 3 and 5."""

    def __init__(self, n: int, dtype: str) -> None:
        self.n, self.dtype = n, dtype
        self.size = size = n if smooth(n) == n else smooth(2 * n - 1)
        self.first = next(k for k in range(math.isqrt(size), 0, -1) if size % k == 0)
        self.parts = _Lines(self.first, dtype, size), _Lines(size // self.first, dtype)
        self.between = np.empty(2 * size, dtype)
        self.plain = size == n
        self.buffer = np.empty(0 if self.plain else 2 * size, dtype)
        self.chirp = pairs(NONE if self.plain else chirp(n), dtype)
        self.spectrum = pairs(NONE if self.plain else chirp_spectrum(n, size), dtype)

    def run(self, x: Array, out: Array, inverse: bool, factor: float) -> None:
        """The transform of x (2n,) in out (2n,), both flat pairs, or n times its inverse; times a factor."""
        if self.plain:
            self._two_parts(x, out, (inverse, inverse), factor)
            return
        n, size, line = self.n, self.size, self.buffer
        with stage(0, 5):
            move(x, line, self.chirp, size, n, swap=(inverse, False))
        with stage(1, 5):
            self._two_parts(line, line, (False, False), 1)
        with stage(2, 5):
            move(line, line, self.spectrum, size, size)
        with stage(3, 5):
            self._two_parts(line, line, (True, True), 1)
        with stage(4, 5):
            move(line, out, self.chirp, n, n, swap=(False, inverse), factor=factor)

    def _two_parts(self, x: Array, out: Array, swap: tuple[bool, bool], factor: float) -> None:
        n1, n2 = self.first, self.size // self.first
        with stage(0, 2):
            self.parts[0].run(x, self.between, n2, n2, n2, False, (swap[0], False), 1)
        with stage(1, 2):
            self.parts[1].run(self.between, out, n1, n2, n1, True, (False, swap[1]), factor)


def move(
    x: Array,
    out: Array,
    table: Array,
    count: int,
    limit: int,
    kind: int = tiles.COMPLEX,
    real: bool = False,
    swap: tuple[bool, bool] = (False, False),
    factor: float = 1,
) -> None:
    """`count` points of a line as tiles.move_part says."""
    arguments = (flat(x), out, table, None, np.array([factor], out.dtype), NO_ROOTS)
    _in_bands(tiles.move_part, arguments, count, 1, get_num_threads(), limit, count, kind, real, *swap)


class LongRows:
    """Transforms of long rows of real samples, one after the other."""

    def __init__(self, length: int, dtype: str) -> None:
        self.length, self.even, self.none = length, length % 2 == 0, np.zeros(0, dtype)
        self.line = Long(length // 2 if self.even else length, dtype)
        self.half, self.roots = np.array([0.5], dtype), roots(length)
        self.whole = [np.empty(0 if self.even else 2 * length, dtype) for _ in range(2)]

    def forward(self, x: Array, out: Array) -> None:
        """The one-sided spectra of the rows of x (B, L) in out (B, L // 2 + 1)."""
        for k, (row, bins) in enumerate(zip(x, out, strict=True)):
            with stage(k, len(x)):
                self._forward(_reals(row), _reals(bins))

    def inverse(self, bins: Array, out: Array) -> None:
        """The samples out (B, L) of one-sided spectra (B, L // 2 + 1), which are overwritten."""
        for k, (spectrum, row) in enumerate(zip(bins, out, strict=True)):
            with stage(k, len(out)):
                self._back(_reals(spectrum), _reals(row))

    def _forward(self, x: Array, bins: Array) -> None:
        n, (samples, spectrum) = self.length, self.whole
        if self.even:
            self.line.run(x, bins, False, 1)
            self._bins(bins, False)
        else:
            move(x, samples, self.none, n, n, tiles.REAL)
            self.line.run(samples, spectrum, False, 1)
            move(spectrum, bins, self.none, n // 2 + 1, n)

    def _back(self, bins: Array, x: Array) -> None:
        n, (spectrum, samples) = self.length, self.whole
        if self.even:
            self._bins(bins, True)
            self.line.run(bins, x, True, 2 / n)
        else:
            move(bins, spectrum, self.none, n, n, tiles.HALF)
            self.line.run(spectrum, samples, True, 1)
            move(samples, x, self.none, n, n, real=True, factor=1 / n)

    def _bins(self, bins: Array, inverse: bool) -> None:
        n = self.length // 2
        arguments = (flat(bins), bins, self.none, None, self.half, self.roots)
        _in_bands(tiles.bins_part, arguments, n // 2 + 1, 1, get_num_threads(), n, inverse)


class Rows:
    """Transforms of rows of `length` real samples of a type, float32 or float64."""

    def __init__(self, length: int, dtype: str) -> None:
        self.length, self.n, even = length, length // 2 if length % 2 == 0 else length, length % 2 == 0
        turn = turning(length, length // 2 + 1) if even else NONE
        self.turn, self.factor = pairs(turn, dtype), np.array([1 / length], dtype)
        self.tiles = _Tiles(self.n, dtype) if self.n <= LONGEST else None
        self.long = LongRows(length, dtype) if self.n > SHORT else None

    def forward(self, x: Array, out: Array) -> None:
        """The one-sided spectra of the rows of x (B, L) in out (B, L // 2 + 1)."""
        if self.long is not None and (self.tiles is None or len(x) < FEW):
            self.long.forward(x, out)
        else:
            self._run(x, out, False)

    def inverse(self, bins: Array, out: Array) -> None:
        """The samples out (B, L) of one-sided spectra (B, L // 2 + 1), which may be overwritten."""
        if self.long is not None and (self.tiles is None or len(out) < FEW):
            self.long.inverse(bins, out)
        else:
            self._run(bins, out, True)

    def _run(self, x: Array, out: Array, inverse: bool) -> None:
        assert self.tiles is not None
        line = self.tiles.line
        own = (self.tiles.spare, None, self.factor, NO_ROOTS, self.turn, *line.tables)
        numbers = (len(x), self.length, line.n, line.size, inverse)
        _in_bands(tiles.rows_part, (flat(_reals(x)), _reals(out), *own), *self.tiles.share(len(x)), *numbers)


class Planes:
    """Transforms of planes (C, height, width) of real samples of a type: the rows, then the columns."""

    def __init__(self, height: int, width: int, dtype: str) -> None:
        self.rows, self.height = Rows(width, dtype), height
        self.columns = _Lines(height, dtype) if height <= LONGEST else None
        self.long = Long(height, dtype) if height > LONGEST else None
        self.column = np.empty(0 if self.long is None else height, np.result_type(dtype, np.complex64))

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
        factor, width = 1 / self.height if inverse else 1, bins.shape[2]
        for place, plane in enumerate(bins):
            with stage(place, len(bins)):
                if self.columns is not None:
                    line = _reals(plane)
                    self.columns.run(line, line, width, width, width, False, (inverse, inverse), factor)
                    continue
                for k in range(width):
                    self._long_column(plane[:, k], inverse, factor)
                    advance(k + 1, width)

    def _long_column(self, column: Array, inverse: bool, factor: float) -> None:
        """One column of a tall plane, copied so that its points are contiguous."""
        assert self.long is not None
        self.column[...] = column
        line = _reals(self.column)
        self.long.run(line, line, inverse, factor)
        column[...] = self.column
