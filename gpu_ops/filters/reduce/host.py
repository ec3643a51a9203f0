"""Reductions on the CPU, compiled by Numba: the plain loop on one thread, and blocks on all of them.

The loop adds one sample after the other, and computes the variance in a second pass around the mean. On all threads,
each block of 4096 samples stays in the L1 cache: it is added in eight parallel sums, its squares are relative to its
own mean, and the blocks' partial results are combined in pairs, which keeps chains of additions short.

A partial result is, for integers, two uint64 numbers, their sum and that of their squares; for floats it is sum, error
of the sum, count, mean and sum of squared deviations, in float64. Importing this module loads Numba: plans import it
when they are created.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import get_num_threads

from gpu_ops.filters.kit.lanes import BYTES, least, load, mark_nan, most, store
from gpu_ops.filters.kit.loops import compiled, flat, given, offset, on_all_threads, piece, reordered
from gpu_ops.filters.reduce.figures import SPREADS, Array
from gpu_ops.progress import advance

BAND = 1 << 24
"""Samples between two progress reports: tens of milliseconds."""
BLOCK = 4096
"""Samples of a block."""
ROW = 256
"""Samples of a row whose extremes are computed in parallel."""
ENDS = ("min", "max", "all")
"""The statistics that need extremes."""


@piece
def _two_sum(a: float, b: float) -> tuple[float, float]:
    """a + b rounded, and its rounding error (Knuth)."""
    s = a + b
    from_b = s - a
    return s, (a - (s - from_b)) + (b - from_b)


@compiled
def _extremes(x: Array, first: int, last: int, step: int, place: int, ends: Array) -> None:
    """Update `ends` (low, high) by samples `first` to `last` of the channel at `place`; NaN stays."""
    low, high = ends[0], ends[1]
    for i in range(offset(first), offset(last)):
        v = x[i * offset(step) + offset(place)]
        low = v if v < low or v != v else low
        high = v if v > high or v != v else high
    ends[0], ends[1] = low, high


@compiled
def _add_whole(x: Array, first: int, last: int, step: int, place: int, squares: bool, state: Array) -> None:
    """Add integers to (sum, squares)."""
    total, square = state[0], state[1]
    if squares:
        for i in range(offset(first), offset(last)):
            v = np.uint64(x[i * offset(step) + offset(place)])
            total += v
            square += v * v
    else:
        for i in range(offset(first), offset(last)):
            total += np.uint64(x[i * offset(step) + offset(place)])
    state[0], state[1] = total, square


@compiled
def _add_real(x: Array, first: int, last: int, step: int, place: int, pairs: bool, state: Array) -> None:
    """Add floats to (sum, error)."""
    total, lost = state[0], state[1]
    if pairs:
        for i in range(offset(first), offset(last)):
            total, error = _two_sum(total, np.float64(x[i * offset(step) + offset(place)]))
            lost += error
    else:
        for i in range(offset(first), offset(last)):
            total += np.float64(x[i * offset(step) + offset(place)])
    state[0], state[1] = total, lost


@compiled
def _add_deviations(x: Array, first: int, last: int, step: int, place: int, middle: float, state: Array) -> None:
    """Add the deviations of floats from `middle`, and their squares, to (deviations, squares)."""
    off, squares = state[0], state[1]
    for i in range(offset(first), offset(last)):
        deviation = np.float64(x[i * offset(step) + offset(place)]) - middle
        off += deviation
        squares += deviation * deviation
    state[0], state[1] = off, squares


def reduce_serial(x: Array, out: Array, channels: int, wanted: str, pairs: bool) -> None:
    """The values of a statistic, (figures,) or (figures, channels), into `out`, on one thread."""
    line, table = flat(x), out.reshape(-1, channels)
    n = line.size // channels
    for c in range(channels):
        ends = np.array([line[c], line[c]])
        if wanted in ENDS:
            _in_bands(_extremes, line, n, channels, c, ends)
        if x.dtype.kind == "u":
            whole = np.zeros(2, np.uint64)
            if wanted not in ("min", "max"):
                _in_bands(_add_whole, line, n, channels, c, wanted in SPREADS, whole)
            _give_whole(table[:, c], wanted, n, ends, int(whole[0]), int(whole[1]))
            continue
        sums, deviations = np.zeros(2), np.zeros(2)
        if wanted not in ("min", "max"):
            _in_bands(_add_real, line, n, channels, c, pairs, sums)
        total = _total(sums[0], sums[1])
        if wanted in SPREADS:
            _in_bands(_add_deviations, line, n, channels, c, total / n, deviations)
        _give_real(table[:, c], wanted, n, ends, total, _squares(deviations[1], deviations[0], n))


def _in_bands(loop: Any, line: Array, n: int, *arguments: Any) -> None:
    for first in range(0, n, BAND):
        if first:  # a call of one band reports no progress, because a report would take longer than the band
            advance(first, n)
        loop(line, first, min(first + BAND, n), *arguments)


def _total(value: float, lost: float) -> float:
    """A sum with its error; the error of an infinite sum is NaN."""
    return value + lost if math.isfinite(value) else value


def _squares(squares: float, off: float, n: int) -> float:
    """The sum of the squared deviations from the mean, from those around a number near it; NaN stays."""
    around = squares - off / n * off
    return 0.0 if around < 0 else around


def _give_whole(column: Array, wanted: str, n: int, ends: Array, total: int, squares: int) -> None:
    """The statistics of integers, exact until they are rounded once."""
    known: dict[str, Any] = {"sum": total, "min": ends[0], "max": ends[1], "mean": total / n}
    known["variance"] = max(n * squares - total * total, 0) / (n * n)
    _fill(column, wanted, known)


def _give_real(column: Array, wanted: str, n: int, ends: Array, total: float, squares: float) -> None:
    known = {"sum": total, "min": ends[0], "max": ends[1], "mean": total / n, "variance": squares / n}
    _fill(column, wanted, known)


def _fill(column: Array, wanted: str, known: dict[str, Any]) -> None:
    column[...] = list(known.values()) if wanted == "all" else known[wanted]


# On all threads.


def _ends_part(arguments: Any, worker: int, workers: int) -> None:
    """Update the extremes (low, high) of each column by this worker's share of the rows, and mark columns with NaN."""
    rows, low, high, lost = given(arguments)
    for k in range(rows.shape[0] * worker // workers, rows.shape[0] * (worker + 1) // workers):
        for j in range(rows.shape[1]):
            v = rows[k, j]
            low[worker, j] = v if v < low[worker, j] else low[worker, j]
            high[worker, j] = v if v > high[worker, j] else high[worker, j]
            lost[worker, j] |= v != v


def _vector_ends_part(arguments: Any, worker: int, workers: int) -> None:
    """The minimum and maximum of each lane of this worker's share of the vectors, four at a time: they stay in
    registers, so that a thread waits only for samples. The third row is NaN where a lane has one."""
    x, ends = given(arguments)
    v = BYTES // x.itemsize
    groups, own = x.size // (4 * v), ends[worker]
    first, last = groups * worker // workers * 4 * v, groups * (worker + 1) // workers * 4 * v
    a, b, c, d = load(x, first), load(x, first + v), load(x, first + 2 * v), load(x, first + 3 * v)
    e, f, g, h, marks, more = a, b, c, d, a, a
    for i in range(first, last, 4 * v):
        p, q, r, s = load(x, i), load(x, i + v), load(x, i + 2 * v), load(x, i + 3 * v)
        a, b, c, d = least(p, a), least(q, b), least(r, c), least(s, d)
        e, f, g, h = most(p, e), most(q, f), most(r, g), most(s, h)
        marks, more = mark_nan(marks, p, r), mark_nan(more, q, s)
    store(own, 0, least(least(a, b), least(c, d)))
    store(own, v, most(most(e, f), most(g, h)))
    store(own, 2 * v, mark_nan(marks, more, more))


def _vector_ends(line: Array, channels: int) -> list[Array]:
    """Samples whose minimum and maximum are those of the whole line, for numbers of channels that divide the lanes."""
    lanes = BYTES // line.itemsize
    groups = line.size // (4 * lanes)
    if not groups:
        return [line.reshape(-1, channels)]
    ends = np.empty((min(get_num_threads(), groups), 3 * lanes), line.dtype)
    on_all_threads(_vector_ends_part, (line, ends), len(ends))
    return [line[groups * 4 * lanes :].reshape(-1, channels), ends.reshape(-1, channels)]


def _row_ends(line: Array, channels: int) -> list[Array]:
    """The same for any number of channels: rows of several hundred samples are compared column by column with SIMD."""
    width = max(ROW // channels, 1) * channels
    rows = line[: line.size // width * width].reshape(-1, width)
    columns = [line[rows.size :].reshape(-1, channels)]
    if len(rows):
        workers = min(get_num_threads(), len(rows))
        low, high = (np.repeat(rows[:1], workers, axis=0) for _ in range(2))
        lost = np.zeros(low.shape, np.bool_)
        on_all_threads(_ends_part, (rows, low, high, lost), workers)
        if lost.any():
            low[lost] = np.nan
        columns += [low.reshape(-1, channels), high.reshape(-1, channels)]
    return columns


def _candidates(line: Array, channels: int) -> Array:
    """(any number, channels): samples whose minimum and maximum are those of all, NaN where a channel has one."""
    find = _row_ends if BYTES // line.itemsize % channels else _vector_ends
    return np.concatenate(find(line, channels))


@piece
def _eight_sums(x: Array, start: int, stop: int, step: int, place: int, middle: float, power: int) -> float:
    """The sum of the deviations from `middle`, or of their squares for power 2, in eight parallel sums."""
    a = b = c = d = e = f = g = h = 0.0
    i = start
    while i + 8 <= stop:
        at, by = offset(i * step + place), offset(step)
        p, q = np.float64(x[at]) - middle, np.float64(x[at + by]) - middle
        r, s = np.float64(x[at + by * offset(2)]) - middle, np.float64(x[at + by * offset(3)]) - middle
        t, u = np.float64(x[at + by * offset(4)]) - middle, np.float64(x[at + by * offset(5)]) - middle
        v, w = np.float64(x[at + by * offset(6)]) - middle, np.float64(x[at + by * offset(7)]) - middle
        if power == 2:
            p, q, r, s, t, u, v, w = p * p, q * q, r * r, s * s, t * t, u * u, v * v, w * w
        a, b, c, d = a + p, b + q, c + r, d + s
        e, f, g, h = e + t, f + u, g + v, h + w
        i += 8
    while i < stop:
        p = np.float64(x[offset(i * step + place)]) - middle
        a += p * p if power == 2 else p
        i += 1
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@reordered
def _line_sum(line: Array, middle: float) -> float:
    """The sum of the deviations of contiguous floats from `middle`."""
    total = 0.0
    for i in range(line.size):
        total += np.float64(line[i]) - middle
    return total


@reordered
def _line_squares(line: Array, middle: float) -> float:
    """The same of their squares."""
    total = 0.0
    for i in range(line.size):
        deviation = np.float64(line[i]) - middle
        total += deviation * deviation
    return total


@piece
def _sum_of(x: Array, first: int, last: int, step: int, place: int, middle: float, power: int) -> float:
    """The sum of deviations, or of their squares for power 2; those of one channel are contiguous."""
    if step > 1:
        return _eight_sums(x, first, last, step, place, middle, power)
    return _line_squares(x[first:last], middle) if power == 2 else _line_sum(x[first:last], middle)


def _real_part(arguments: Any, worker: int, workers: int) -> None:
    """The partial results of this worker's share of the blocks of floats: (sum, error, n, mean, squares)."""
    x, step, spread, pairs, states = given(arguments)
    n, blocks = x.size // step, states.shape[0]
    for block in range(blocks * worker // workers, blocks * (worker + 1) // workers):
        first, last = block * BLOCK, min((block + 1) * BLOCK, n)
        for c in range(step):
            state, count = states[block, c], np.float64(last - first)
            if pairs:
                _add_real(x, first, last, step, c, True, state)
            else:
                state[0] = _sum_of(x, first, last, step, c, 0.0, 1)
            if spread:
                middle = state[0] / count
                off = _sum_of(x, first, last, step, c, middle, 1)
                squares = _sum_of(x, first, last, step, c, middle, 2) - off / count * off
                state[2], state[3], state[4] = count, middle + off / count, 0.0 if squares < 0 else squares


def _whole_part(arguments: Any, worker: int, workers: int) -> None:
    """The partial results of this worker's share of the blocks of integers: (sum, squares)."""
    x, step, spread, states = given(arguments)
    n, blocks = x.size // step, states.shape[0]
    for block in range(blocks * worker // workers, blocks * (worker + 1) // workers):
        first, last = block * BLOCK, min((block + 1) * BLOCK, n)
        for c in range(step):
            _add_whole(x, first, last, step, c, spread, states[block, c])


@compiled
def _join_pairs(states: Array) -> None:
    """The partial results of all blocks (blocks, channels, 5) of floats combined in pairs, into the first."""
    blocks, stride = states.shape[0], 1
    while stride < blocks:
        for k in range(0, blocks - stride, 2 * stride):
            for c in range(states.shape[1]):
                one, other = states[k, c], states[k + stride, c]
                one[0], error = _two_sum(one[0], other[0])
                one[1] += other[1] + error
                n = one[2] + other[2]
                if n > 0:
                    distance, share = other[3] - one[3], other[2] / n
                    one[4] += other[4] + distance * distance * one[2] * share
                    one[3] += distance * share
                    one[2] = n
        stride *= 2


def reduce_parallel(x: Array, out: Array, channels: int, wanted: str, pairs: bool) -> None:
    """The same on numba.get_num_threads() threads."""
    line, table = flat(x), out.reshape(-1, channels)
    if wanted in ("min", "max"):
        table[0] = getattr(_candidates(line, channels), wanted)(axis=0)
        return
    n, whole = line.size // channels, x.dtype.kind == "u"
    ends = np.zeros((channels, 2))
    if wanted == "all":
        found = _candidates(line, channels)
        ends = np.stack([found.min(axis=0), found.max(axis=0)], axis=1)
    blocks = -(-n // BLOCK)
    states = np.zeros((blocks, channels, 2), np.uint64) if whole else np.zeros((blocks, channels, 5))
    workers = min(get_num_threads(), blocks)
    if whole:
        on_all_threads(_whole_part, (line, channels, wanted in SPREADS, states), workers)
    else:
        on_all_threads(_real_part, (line, channels, wanted in SPREADS, pairs, states), workers)
        _join_pairs(states)
    for c in range(channels):
        if whole:
            total, squares = states[:, c].sum(axis=0).tolist()
            _give_whole(table[:, c], wanted, n, ends[c], total, squares)
        else:
            total, lost, _, _, squares = states[0, c].tolist()
            _give_real(table[:, c], wanted, n, ends[c], _total(total, lost if pairs else 0.0), squares)
