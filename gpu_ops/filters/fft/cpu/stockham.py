"""Complex transforms of several adjacent lines, compiled by Numba: Stockham's order, radices 4, 5, 3 and 2.

Lines are stored in a tile: value k of all lines is one SIMD vector (kit/lanes.py), with real parts in one plane of the
tile and imaginary parts in the next. So each instruction processes as many lines as a vector has values, with one
twiddle factor for all. A stage reads one pair of planes and writes the other, in natural order: no bit reversal is
needed (Stockham 1966).

Lengths with the prime factors 2, 3 and 5 are transformed directly, others by Bluestein's method on the next such length
of at least 2 n - 1. All twiddle factors are computed in float64 and rounded once. Importing this module loads Numba.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from gpu_ops.filters.kit.lanes import BYTES, load, spread, store
from gpu_ops.filters.kit.loops import Array, piece

RADICES = (4, 5, 3, 2)
"""In the order of the stages."""


def radices_of(n: int) -> list[int]:
    """The radices of the stages of a transform of n points; their product is less than n if n has other prime
    factors."""
    found = []
    for radix in RADICES:
        while n % radix == 0:
            found.append(radix)
            n //= radix
    return found


@cache
def smooth(n: int) -> int:
    """The minimum length, at least n, with no prime factors but 2, 3 and 5."""
    best, fives = 1 << (n - 1).bit_length(), 1
    while fives < best:
        threes = fives
        while threes < best:
            rest = -(-n // threes)
            best = min(best, threes << (rest - 1).bit_length())
            threes *= 3
        fives *= 5
    return best


def pairs(values: Array, dtype: str) -> Array:
    """Complex values as flat pairs of a real type."""
    both = np.empty((values.size, 2), dtype)
    both[:, 0], both[:, 1] = values.real, values.imag
    return both.reshape(-1)


def turning(n: int, count: int, part: int = 1) -> Array:
    """exp(-2πi k part / n) for k below count."""
    k = np.arange(count, dtype=np.int64) * part % n
    return np.asarray(np.exp(-2j * np.pi * (k / n)))


def chirp(n: int) -> Array:
    """exp(-πi k² / n); k² is reduced modulo 2 n, so that long lines lose no precision."""
    k = np.arange(n, dtype=np.int64)
    return np.asarray(np.exp(-1j * np.pi * (k * k % (2 * n) / n)))


def chirp_spectrum(n: int, size: int) -> Array:
    """The transform of the conjugate chirp, stored from both ends of `size` points, divided by `size`."""
    around = np.zeros(size, np.complex128)
    around[:n] = np.conj(chirp(n))
    around[size - n + 1 :] = around[n - 1 : 0 : -1]
    return np.asarray(np.fft.fft(around)) / size


class Line:
    """The tables of transforms of n points of a type, float32 or float64: transforms of `size` points are computed.

    `tables` contains, all but the first as flat pairs: the radices; the twiddle factors of all stages, for each
    position of a stage those of the results 1 … radix - 1; the chirp; its spectrum. The last two are empty if `size` is
    n.
    """

    def __init__(self, n: int, dtype: str) -> None:
        self.n, self.size = n, smooth(n) if smooth(n) == n else smooth(2 * n - 1)
        radices, roots, left = radices_of(self.size), [np.zeros(0, np.complex128)], self.size
        for radix in radices:
            place = np.arange(left // radix)[:, None] * np.arange(1, radix)
            roots.append(np.exp(-2j * np.pi * (place / left)).reshape(-1))
            left //= radix
        empty = np.zeros(0, np.complex128)
        both = (empty, empty) if self.size == n else (chirp(n), chirp_spectrum(n, self.size))
        complex_tables = (np.concatenate(roots), *both)
        self.tables = (np.array(radices, np.int64), *(pairs(table, dtype) for table in complex_tables))


@piece
def times(ar: Any, ai: Any, br: Any, bi: Any) -> tuple[Any, Any]:
    """The product of complex numbers."""
    return ar * br - ai * bi, ar * bi + ai * br


@piece
def _turned(w: Array, at: int, work: Array, to: int, plane: int, r: Any, i: Any) -> None:
    """Store a result times its twiddle factor."""
    pr, pi = times(r, i, spread(w[at]), spread(w[at + 1]))
    store(work, to, pr)
    store(work, to + plane, pi)


@piece
def _by_two(work: Array, x: int, y: int, plane: int, m: int, s: int, w: Array, at: int) -> None:
    for p in range(m):
        for q in range(0, s, BYTES // work.itemsize):
            i, o = x + s * p + q, y + 2 * s * p + q
            ar, ai = load(work, i), load(work, i + plane)
            br, bi = load(work, i + s * m), load(work, i + s * m + plane)
            store(work, o, ar + br)
            store(work, o + plane, ai + bi)
            _turned(w, at + 2 * p, work, o + s, plane, ar - br, ai - bi)


@piece
def _by_three(work: Array, x: int, y: int, plane: int, m: int, s: int, w: Array, at: int) -> None:
    half, sine = spread(work.dtype.type(0.5)), spread(work.dtype.type(0.86602540378443864676))
    for p in range(m):
        for q in range(0, s, BYTES // work.itemsize):
            i, o, far = x + s * p + q, y + 3 * s * p + q, s * m
            ar, ai = load(work, i), load(work, i + plane)
            br, bi = load(work, i + far), load(work, i + far + plane)
            cr, ci = load(work, i + 2 * far), load(work, i + 2 * far + plane)
            tr, ti, dr, di = br + cr, bi + ci, sine * (bi - ci), sine * (cr - br)
            store(work, o, ar + tr)
            store(work, o + plane, ai + ti)
            er, ei = ar - half * tr, ai - half * ti
            _turned(w, at + 4 * p, work, o + s, plane, er + dr, ei + di)
            _turned(w, at + 4 * p + 2, work, o + 2 * s, plane, er - dr, ei - di)


@piece
def _by_four(work: Array, x: int, y: int, plane: int, m: int, s: int, w: Array, at: int) -> None:
    for p in range(m):
        for q in range(0, s, BYTES // work.itemsize):
            i, o, far = x + s * p + q, y + 4 * s * p + q, s * m
            ar, ai = load(work, i), load(work, i + plane)
            br, bi = load(work, i + far), load(work, i + far + plane)
            cr, ci = load(work, i + 2 * far), load(work, i + 2 * far + plane)
            dr, di = load(work, i + 3 * far), load(work, i + 3 * far + plane)
            er, ei, fr, fi = ar + cr, ai + ci, ar - cr, ai - ci
            gr, gi, hr, hi = br + dr, bi + di, bi - di, dr - br  # h is -i (b - d)
            store(work, o, er + gr)
            store(work, o + plane, ei + gi)
            _turned(w, at + 6 * p, work, o + s, plane, fr + hr, fi + hi)
            _turned(w, at + 6 * p + 2, work, o + 2 * s, plane, er - gr, ei - gi)
            _turned(w, at + 6 * p + 4, work, o + 3 * s, plane, fr - hr, fi - hi)


@piece
def _by_five(work: Array, x: int, y: int, plane: int, m: int, s: int, w: Array, at: int) -> None:
    c1, c2 = spread(work.dtype.type(0.30901699437494742410)), spread(work.dtype.type(-0.80901699437494742410))
    s1, s2 = spread(work.dtype.type(0.95105651629515357212)), spread(work.dtype.type(0.58778525229247312917))
    for p in range(m):
        for q in range(0, s, BYTES // work.itemsize):
            i, o, far = x + s * p + q, y + 5 * s * p + q, s * m
            ar, ai = load(work, i), load(work, i + plane)
            br, bi = load(work, i + far), load(work, i + far + plane)
            cr, ci = load(work, i + 2 * far), load(work, i + 2 * far + plane)
            dr, di = load(work, i + 3 * far), load(work, i + 3 * far + plane)
            er, ei = load(work, i + 4 * far), load(work, i + 4 * far + plane)
            tr, ti, ur, ui = br + er, bi + ei, cr + dr, ci + di
            vr, vi, zr, zi = bi - ei, er - br, ci - di, dr - cr  # both times -i
            store(work, o, ar + tr + ur)
            store(work, o + plane, ai + ti + ui)
            fr, fi = ar + c1 * tr + c2 * ur, ai + c1 * ti + c2 * ui
            gr, gi = s1 * vr + s2 * zr, s1 * vi + s2 * zi
            _turned(w, at + 8 * p, work, o + s, plane, fr + gr, fi + gi)
            _turned(w, at + 8 * p + 6, work, o + 4 * s, plane, fr - gr, fi - gi)
            fr, fi = ar + c2 * tr + c1 * ur, ai + c2 * ti + c1 * ui
            gr, gi = s2 * vr - s1 * zr, s2 * vi - s1 * zi
            _turned(w, at + 8 * p + 2, work, o + 2 * s, plane, fr + gr, fi + gi)
            _turned(w, at + 8 * p + 4, work, o + 3 * s, plane, fr - gr, fi - gi)


@piece
def _stages(work: Array, plane: int, x: int, n: int, radices: Array, w: Array) -> int:
    """The transform of the tile whose real parts begin at x; returns where those of the result begin."""
    at: Any = np.int64(0)  # with a literal 0, Numba would compile the stages once more
    s = BYTES // work.itemsize
    for k in range(radices.size):
        radix, y = radices[k], 2 * plane - x
        n //= radix
        if radix == 4:
            _by_four(work, x, y, plane, n, s, w, at)
        elif radix == 2:
            _by_two(work, x, y, plane, n, s, w, at)
        elif radix == 3:
            _by_three(work, x, y, plane, n, s, w, at)
        else:
            _by_five(work, x, y, plane, n, s, w, at)
        at += 2 * (radix - 1) * n
        s *= radix
        x = y
    return x


@piece
def transform(work: Array, plane: int, n: int, size: int, tables: Any) -> int:
    """The transform of n points of a tile, whose real parts begin at 0 and imaginary parts at `plane`; returns where
    the real parts of the result begin, 0 or 2 * plane; its imaginary parts are one plane later. `work` has four planes
    of at least `size` vectors."""
    radices, w, turns, spectrum = tables
    x: Any = np.int64(0)  # no literal, as above
    v = BYTES // work.itemsize
    if turns.size == 0:
        return _stages(work, plane, x, n, radices, w)
    for k in range(n):
        re, im = times(load(work, k * v), load(work, k * v + plane), spread(turns[2 * k]), spread(turns[2 * k + 1]))
        store(work, k * v, re)
        store(work, k * v + plane, im)
    for place in range(n * v, size * v):
        work[place], work[place + plane] = 0, 0
    x = _stages(work, plane, x, size, radices, w)
    for k in range(size):
        i = x + k * v
        re, im = times(load(work, i), load(work, i + plane), spread(spectrum[2 * k]), spread(spectrum[2 * k + 1]))
        store(work, i, im)  # real and imaginary parts exchanged: the inverse by a forward transform
        store(work, i + plane, re)
    x = _stages(work, plane, x, size, radices, w)
    for k in range(n):
        i = x + k * v
        re, im = times(load(work, i + plane), load(work, i), spread(turns[2 * k]), spread(turns[2 * k + 1]))
        store(work, i, re)
        store(work, i + plane, im)
    return int(x)
