"""The work of each thread for the Fourier transforms of parallel.py, compiled by Numba: tiles of neighbouring lines.

Spectra and other complex lines are flat pairs of floats; `numbers` contains the sizes, whose names are in parallel.py.
Pairs of parts have arguments of the same types, so that they share a compiled loop over threads. Importing this loads
Numba.
"""

from __future__ import annotations

from typing import Any

from gpu_ops.filters.fft.cpu.stockham import times, transform
from gpu_ops.filters.kit.lanes import (
    BYTES,
    lanes_to_pairs,
    load,
    load_pairs,
    pairs_to_lanes,
    spread,
    store,
    store_pairs,
)
from gpu_ops.filters.kit.loops import Array, given, piece

FINE = 4096
"""The number of twiddle factors in the finer of two tables."""
COMPLEX, REAL, HALF = 0, 1, 2
"""The content of a line: complex numbers, samples, or the first half of a spectrum whose second half mirrors it."""


@piece
def _fetch(x: Array, start: int, stride: int, lanes: int, n: int, work: Array, plane: int) -> None:
    """n complex numbers of each of `lanes` rows, which begin every `stride` values of x, into a tile."""
    v, done = BYTES // work.itemsize, 0
    if lanes == v:
        done = n // v * v
        for k in range(0, done, v):
            pairs_to_lanes(x, start + 2 * k, stride, work, k * v, plane + k * v)
    for lane in range(lanes):
        for k in range(done, n):
            at = start + lane * stride + 2 * k
            work[k * v + lane], work[plane + k * v + lane] = x[at], x[at + 1]


@piece
def _give(work: Array, re: int, im: int, lanes: int, n: int, out: Array, start: int, stride: int) -> None:
    """The inverse, from a tile whose parts begin at re and im."""
    v, done = BYTES // work.itemsize, 0
    if lanes == v:
        done = n // v * v
        for k in range(0, done, v):
            lanes_to_pairs(work, re + k * v, im + k * v, out, start + 2 * k, stride)
    for lane in range(lanes):
        for k in range(done, n):
            at = start + lane * stride + 2 * k
            out[at], out[at + 1] = work[re + k * v + lane], work[im + k * v + lane]


@piece
def _separated(ar: Any, ai: Any, br: Any, bi: Any, half: Any, wr: Any, wi: Any) -> tuple[Any, Any, Any, Any]:
    """Bins k and n - k of 2n samples from points k and n - k of the transform of n pairs; w is exp(-πi k / n)."""
    er, ei = half * (ar + br), half * (ai - bi)
    tr, ti = times(half * (ai + bi), half * (br - ar), wr, wi)
    return er + tr, ei + ti, er - tr, ti - ei


@piece
def _joined(ar: Any, ai: Any, br: Any, bi: Any, half: Any, wr: Any, wi: Any) -> tuple[Any, Any, Any, Any]:
    """The inverse: points k and n - k."""
    er, ei, dr, di = half * (ar + br), half * (ai - bi), half * (ar - br), half * (ai + bi)
    tr, ti = dr * wr + di * wi, di * wr - dr * wi
    return er - ti, ei + tr, er + ti, tr - ei


@piece
def _bins_of_tile(work: Array, x: int, plane: int, n: int, turn: Array) -> None:
    """Separate the bins of 2n samples from the transform of n pairs in a tile."""
    v, half = BYTES // work.itemsize, spread(work.dtype.type(0.5))
    for k in range(n // 2 + 1):
        i, j, to = x + k * v, x + (n - k) % n * v, x + (n - k) * v
        a, b, c, d = load(work, i), load(work, i + plane), load(work, j), load(work, j + plane)
        a, b, c, d = _separated(a, b, c, d, half, spread(turn[2 * k]), spread(turn[2 * k + 1]))
        store(work, i, a)
        store(work, i + plane, b)
        store(work, to, c)
        store(work, to + plane, d)


@piece
def _tile_of_bins(work: Array, plane: int, n: int, turn: Array, factor: Any) -> None:
    """The inverse, times twice the factor: a forward transform with real and imaginary parts exchanged."""
    v, half = BYTES // work.itemsize, spread(factor)
    for lane in range(v):  # the two bins without imaginary parts
        work[plane + lane], work[plane + n * v + lane] = 0, 0
    for k in range(n // 2 + 1):
        i, j = k * v, (n - k) * v
        a, b, c, d = load(work, i), load(work, i + plane), load(work, j), load(work, j + plane)
        a, b, c, d = _joined(a, b, c, d, half, spread(turn[2 * k]), spread(turn[2 * k + 1]))
        store(work, i, b)
        store(work, i + plane, a)
        store(work, j, d)
        store(work, j + plane, c)


@piece
def _fetch_real(x: Array, start: int, n: int, lanes: int, work: Array, plane: int) -> None:
    """The n samples of each of `lanes` consecutive rows into a tile."""
    v = BYTES // work.itemsize
    for lane in range(lanes):
        for k in range(n):
            work[k * v + lane], work[plane + k * v + lane] = x[start + lane * n + k], 0


@piece
def _give_real(work: Array, re: int, lanes: int, n: int, out: Array, start: int, factor: Any) -> None:
    """The inverse, times a factor."""
    v = BYTES // work.itemsize
    for lane in range(lanes):
        for k in range(n):
            out[start + lane * n + k] = factor * work[re + k * v + lane]


@piece
def _mirror(work: Array, plane: int, n: int) -> None:
    """Complete whole spectra of an odd number of bins from their first halves in a tile, conjugated: a forward
    transform then gives the inverse."""
    v = BYTES // work.itemsize
    for lane in range(v):
        work[plane + lane] = 0
        for k in range(v + lane, (n // 2 + 1) * v, v):
            far = n * v + 2 * lane - k
            re, im = work[k], work[plane + k]
            work[plane + k], work[far], work[plane + far] = -im, re, im


def rows_part(arguments: Any, worker: int, workers: int) -> None:
    """A worker's share of some tiles of rows of real samples, forward to their one-sided spectra, or inverse."""
    x, out, spare, numbers, factor, _, turn, radices, roots, turns, spectrum = given(arguments)
    begin, end, count, length, n, size = numbers[:6]
    inverse, odd, work, v = numbers[6] != 0, length % 2 != 0, spare[worker], BYTES // spare.itemsize
    plane, wide = spare.shape[1] // 4, 2 * (length // 2 + 1)
    for tile in range(begin + worker * (end - begin) // workers, begin + (worker + 1) * (end - begin) // workers):
        row = tile * v
        lanes = min(v, count - row)
        samples, bins = row * length, row * wide
        if not inverse and odd:
            _fetch_real(x, samples, n, lanes, work, plane)
        else:
            stride = wide if inverse else length
            _fetch(x, row * stride, stride, lanes, wide // 2 if inverse else n, work, plane)
        if inverse and odd:
            _mirror(work, plane, n)
        elif inverse:
            _tile_of_bins(work, plane, n, turn, factor[0])
        re = transform(work, plane, n, size, (radices, roots, turns, spectrum))
        im = re + plane
        if inverse and odd:
            _give_real(work, re, lanes, n, out, samples, factor[0])
            continue
        if not (inverse or odd):
            _bins_of_tile(work, re, plane, n, turn)
        if inverse:
            _give(work, im, re, lanes, n, out, samples, length)
        else:
            _give(work, re, im, lanes, wide // 2, out, bins, wide)


@piece
def _store_line(
    work: Array, re: int, im: int, lanes: int, out: Array, to: int, factor: Any, root: Any, beside: Array, k: int
) -> None:
    """Value k of all lines of a tile into consecutive elements, times a factor and, if given, their twiddle factors."""
    v = BYTES // work.itemsize
    a, b = spread(factor) * load(work, re), spread(factor) * load(work, im)
    if beside.size:
        wr, wi = times(load(beside, 2 * k * v), load(beside, 2 * k * v + v), spread(root[0]), spread(root[1]))
        a, b = times(a, b, wr, wi)
    if lanes == v:
        store_pairs(out, to, a, b)
        return
    store(work, re, a)
    store(work, im, b)
    for lane in range(lanes):
        out[to + 2 * lane], out[to + 2 * lane + 1] = work[re + lane], work[im + lane]


@piece
def _twiddle(roots: Array, place: int) -> tuple[float, float]:
    """exp(-2πi place / N): the factor of the index modulo FINE times that of the multiple of FINE below it."""
    low, high = 2 * (place % FINE), 2 * (FINE + place // FINE)
    return times(roots[high], roots[high + 1], roots[low], roots[low + 1])


def lines_part(arguments: Any, worker: int, workers: int) -> None:
    """A worker's share of some tiles of complex lines whose results are interleaved, point k of line i at i + k * `far`
    of out. They are read from i + k * `near` of x, or if `across` is not 0 from i * `near` + k."""
    x, out, spare, numbers, factor, whole, beside, radices, roots, turns, spectrum = given(arguments)
    begin, end, count, n, size, near, far = numbers[:7]
    across, swap_in, swap_out = numbers[7] != 0, numbers[8] != 0, numbers[9] != 0
    work, tables, v, plane = (
        spare[worker],
        (radices, roots, turns, spectrum),
        BYTES // spare.itemsize,
        spare.shape[1] // 4,
    )
    one = factor[0]
    for tile in range(begin + worker * (end - begin) // workers, begin + (worker + 1) * (end - begin) // workers):
        line = tile * v
        lanes = min(v, count - line)
        if across:
            _fetch(x, 2 * line * near, 2 * near, lanes, n, work, plane)
        else:
            for k in range(n):
                at = 2 * (line + k * near)
                if lanes == v:
                    a, b = load_pairs(x, at)
                    store(work, k * v, b if swap_in else a)
                    store(work, plane + k * v, a if swap_in else b)
                    continue
                for lane in range(lanes):
                    work[k * v + lane] = x[at + 2 * lane + (1 if swap_in else 0)]
                    work[plane + k * v + lane] = x[at + 2 * lane + (0 if swap_in else 1)]
        re = transform(work, plane, n, size, tables)
        im = re + plane
        if swap_out:
            re, im = im, re
        for k in range(n):
            a, b = _twiddle(whole, line * k) if beside.size else (1.0, 0.0)
            root = (beside.dtype.type(a), beside.dtype.type(b))
            _store_line(work, re + k * v, im + k * v, lanes, out, 2 * (line + k * far), one, root, beside, k)


def move_part(arguments: Any, worker: int, workers: int) -> None:
    """A worker's share of a line, point by point: out = x * table, times a factor; elements of x from `limit` on count
    as zero. x is complex, real, or half a spectrum of n; out is complex or real."""
    x, out, table, numbers, factor, _ = given(arguments)
    begin, end, limit, n, kind, real = numbers[:6]
    swap_in, swap_out, one, none = numbers[6] != 0, numbers[7] != 0, factor[0], factor[0] - factor[0]
    for k in range(begin + worker * (end - begin) // workers, begin + (worker + 1) * (end - begin) // workers):
        a, b = none, none
        if k < limit and kind == REAL:
            a = x[k]
        elif k < limit and kind == HALF and 2 * k > n:
            a, b = x[2 * (n - k)], -x[2 * (n - k) + 1]
        elif k < limit:
            a, b = x[2 * k], (none if kind == HALF and k == 0 else x[2 * k + 1])
        if swap_in:
            a, b = b, a
        if table.size and k < limit:
            a, b = times(a, b, table[2 * k], table[2 * k + 1])
        if swap_out:
            a, b = b, a
        if real:
            out[k] = one * a
        else:
            out[2 * k], out[2 * k + 1] = one * a, one * b


def bins_part(arguments: Any, worker: int, workers: int) -> None:
    """A worker's share of the bins of a long line of 2n samples, separated in place or combined."""
    _, bins, _, numbers, factor, roots = given(arguments)
    begin, end, n, inverse, half = numbers[0], numbers[1], numbers[2], numbers[3] != 0, factor[0]
    for k in range(begin + worker * (end - begin) // workers, begin + (worker + 1) * (end - begin) // workers):
        i, j, to = 2 * k, 2 * (n - k) if inverse else 2 * ((n - k) % n), 2 * (n - k)
        r, q = _twiddle(roots, k)
        a, b, c, d, wr, wi = bins[i], bins[i + 1], bins[j], bins[j + 1], bins.dtype.type(r), bins.dtype.type(q)
        if inverse:
            if k == 0:
                b, d = b - b, d - d
            a, b, c, d = _joined(a, b, c, d, half, wr, wi)
        else:
            a, b, c, d = _separated(a, b, c, d, half, wr, wi)
        bins[i], bins[i + 1], bins[to], bins[to + 1] = a, b, c, d
