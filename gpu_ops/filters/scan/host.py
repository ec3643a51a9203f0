"""Prefix sums on the CPU, compiled by Numba: the plain loop on one thread, and two passes on all of them.

A sum depends on the previous one, so a line takes one addition's latency per value. On all threads the lines are cut
into blocks of BLOCK values: first every block is summed, then the sums before each block are computed, and then every
block is scanned from there on. That reads the values twice. Lines of one block each, such as the rows of an image, need
only the last pass.

Floats are summed in float64 and rounded once, integers in int64. Results do not depend on the number of threads. Arrays
are C-contiguous: x and out (N,), (N, C), (H, W) or (H, W, C), of the types in gpu_ops.filters.scan.lines.

Importing this module loads Numba: plans import it when they are created.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import get_num_threads

from gpu_ops.filters.kit.loops import Array, compiled, flat, given, offset, on_all_threads, piece
from gpu_ops.filters.scan.limits import BLOCK
from gpu_ops.filters.scan.lines import Lines
from gpu_ops.progress import advance

BAND = 1 << 24
"""Values between two progress reports: tens of milliseconds."""


@piece
def _scan(x: Array, out: Array, first: int, last: int, step: int, exclusive: bool, carry: Array) -> None:
    """Positions `first` to `last` of interleaved lines; `carry` (step,) are their sums so far."""
    first, last, step = offset(first), offset(last), offset(step)
    if step == 1:
        total = carry[0]
        if exclusive:
            for k in range(first, last):
                out[k] = total
                total += x[k]
        else:
            for k in range(first, last):
                total += x[k]
                out[k] = total
        carry[0] = total
        return
    for k in range(first, last):
        for c in range(step):
            before = carry[c]
            total = before + x[k * step + c]
            out[k * step + c] = before if exclusive else total
            carry[c] = total


@piece
def _add_up(x: Array, first: int, last: int, step: int, totals: Array) -> None:
    """totals (step,) = the sums of positions `first` to `last`; for single lines as four parallel sums, which hide the
    latency of addition."""
    first, last, step = offset(first), offset(last), offset(step)
    if step == 1:
        a = b = c = d = totals[0] * 0
        end = first + (last - first) // offset(4) * offset(4)
        for k in range(first, end, offset(4)):
            a, b = a + x[k], b + x[k + offset(1)]
            c, d = c + x[k + offset(2)], d + x[k + offset(3)]
        for k in range(end, last):
            a += x[k]
        totals[0] = (a + b) + (c + d)
        return
    for c in range(step):
        totals[c] = 0
    for k in range(first, last):
        for c in range(step):
            totals[c] += x[k * step + c]


@compiled
def _serial(x: Array, out: Array, first: int, last: int, step: int, exclusive: bool, carry: Array) -> None:
    _scan(x, out, first, last, step, exclusive, carry)


@piece
def _block(index: int, numbers: Array) -> tuple[int, int]:
    """The positions of a block: of line group index // blocks, the block index % blocks."""
    n, size, blocks = numbers[2], numbers[4], numbers[5]
    group, block = index // blocks, index % blocks
    return group * n + block * size, group * n + min((block + 1) * size, n)


def _sums_part(arguments: tuple[Any, ...], worker: int, workers: int) -> None:
    """One worker's share of the blocks, summed. `numbers`: the first block and the one after the last, positions per
    line, step, positions per block, blocks per line, whether exclusive."""
    x, out, sums, numbers = given(arguments)
    begin, share = numbers[0], numbers[1] - numbers[0]
    for index in range(begin + worker * share // workers, begin + (worker + 1) * share // workers):
        first, last = _block(index, numbers)
        _add_up(x, first, last, numbers[3], sums[index])


def _scan_part(arguments: tuple[Any, ...], worker: int, workers: int) -> None:
    """The same blocks, scanned from the sums before them."""
    x, out, sums, numbers = given(arguments)
    begin, share = numbers[0], numbers[1] - numbers[0]
    for index in range(begin + worker * share // workers, begin + (worker + 1) * share // workers):
        first, last = _block(index, numbers)
        _scan(x, out, first, last, numbers[3], numbers[6] != 0, sums[index])


def _wide(dtype: np.dtype[Any]) -> Any:
    """The type of running sums."""
    return np.int64 if dtype.kind == "u" else np.float64


def scan_serial(x: Array, out: Array, lines: Lines, exclusive: bool) -> None:
    """Prefix sums of all lines into `out`, on one thread."""
    line, target = flat(x), out.reshape(-1, copy=False)
    carry, band = np.zeros(lines.step, _wide(x.dtype)), max(1, BAND // lines.step)
    done = 0
    for group in range(lines.groups):
        carry[:] = 0
        for first in range(group * lines.n, (group + 1) * lines.n, band):
            last = min(first + band, (group + 1) * lines.n)
            _serial(line, target, first, last, lines.step, exclusive, carry)
            done += last - first
            if done >= band:  # shorter lines take less time than a report
                advance(last, lines.groups * lines.n)
                done = 0


def scan_parallel(x: Array, out: Array, lines: Lines, exclusive: bool) -> None:
    """The same on numba.get_num_threads() threads."""
    size = max(1, BLOCK // lines.step)
    blocks = lines.tiles(size)
    sums = np.zeros((lines.groups * blocks, lines.step), _wide(x.dtype))
    numbers = np.array((0, 0, lines.n, lines.step, size, blocks, exclusive), np.int64)
    arguments = flat(x), out.reshape(-1, copy=False), sums, numbers
    if blocks > 1:
        _run(_sums_part, arguments, lines, 0)
        before = sums.reshape(lines.groups, blocks, lines.step)
        with np.errstate(invalid="ignore"):  # infinities of both signs give NaN
            before[:, 1:] = np.cumsum(before[:, :-1], axis=1)
        before[:, 0] = 0
    _run(_scan_part, arguments, lines, 1)


def _run(part: Any, arguments: tuple[Any, ...], lines: Lines, done: int) -> None:
    """Run `part` over all blocks on all threads; `done` of the two passes are complete."""
    sums, numbers = arguments[2], arguments[3]
    pieces = len(sums)
    band = max(1, pieces * BAND // (lines.many * lines.n))
    for first in range(0, pieces, band):
        if first:
            advance(done * pieces + first, 2 * pieces)
        numbers[0], numbers[1] = first, min(first + band, pieces)
        on_all_threads(part, arguments, get_num_threads())
