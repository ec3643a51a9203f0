"""The 3×3 convolution on the CPU: the plain loop on one thread, and the same by rows on all threads, compiled by Numba.

Inside the image nine neighbours are added without a test for the border; compilers vectorise the loop along a row. Only
pixels at the edges look up the position of each neighbour. Rounding of integers is described in
gpu_ops.filters.conv3x3.arithmetic; an integer sum is divided by multiplying (sum + 1/2) with 1 / divisor in float64,
which differs from an integer by at least 1 / (2 · divisor): far more than the product's rounding error.

Arrays are C-contiguous: x and out (H, W) or (H, W, C), uint8, uint16, float32 or float64. Every element of out is
written. Importing this module loads Numba: plans import it when they are created.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numba import get_num_threads, types
from numba.extending import overload

from gpu_ops.filters.conv3x3.arithmetic import Arithmetic
from gpu_ops.filters.kit.loops import Array, compiled, flat, given, offset, on_all_threads, piece, place
from gpu_ops.progress import advance
from gpu_ops.types import BORDERS

BAND = 1 << 24
"""Values computed between two progress reports: tens of milliseconds."""


def finished(total: Any, bias: Any, divisor: Any, add: Any, top: Any) -> Any:
    """A sum converted to a sample; `divisor` is its reciprocal for integer sums. `top` is the type's maximum."""
    raise NotImplementedError("for compiled code only")


def _finished_compiled(total: Any, bias: Any, divisor: Any, add: Any, top: Any) -> Callable[..., Any]:
    if isinstance(top, types.Float):
        return lambda total, bias, divisor, add, top: total + add
    if isinstance(total, types.Integer):
        return lambda total, bias, divisor, add, top: min(
            max(np.int32((np.float64(np.int32(total + bias)) + 0.5) * divisor), np.int32(0)), np.int32(top)
        )
    # Clamping comes before the conversion, which then truncates.
    return lambda total, bias, divisor, add, top: np.int32(
        min(max((total + bias) / divisor + add, 0.0), np.float64(top))
    )


overload(finished, strict=False)(_finished_compiled)


@piece
def _row(
    x: Array, above: int, here: int, below: int, out: Array, t: int, count: int, step: int, w: Any, how: Any
) -> None:
    """out[t + j] for j below count: `above`, `here` and `below` are the positions of the first output's three middle
    neighbours."""
    bias, divisor, add, top = how
    a, b, c, t, s = offset(above), offset(here), offset(below), offset(t), offset(step)
    for j in range(offset(count)):
        total = w[0] * x[a + j - s] + w[1] * x[a + j] + w[2] * x[a + j + s]
        total = total + w[3] * x[b + j - s] + w[4] * x[b + j] + w[5] * x[b + j + s]
        total = total + w[6] * x[c + j - s] + w[7] * x[c + j] + w[8] * x[c + j + s]
        out[t + j] = finished(total, bias, divisor, add, top)


@piece
def _edge(
    x: Array, row: int, column: int, out: Array, height: int, columns: int, step: int, border: int, w: Any, how: Any
) -> None:
    """One value whose neighbours are looked up. `column` counts values; zeros are multiplied too, so that infinite
    weights and signs give the same results as elsewhere."""
    bias, divisor, add, top = how
    pixel, channel = column // step, column % step
    total = w[0] * x.dtype.type(0)
    for v in range(3):
        line = place(row + v - 1, height, border)
        for u in range(3):
            where = place(pixel + u - 1, columns // step, border)
            if line >= 0 and where >= 0:
                total = total + w[3 * v + u] * x[line * columns + where * step + channel]
    out[row * columns + column] = finished(total, bias, divisor, add, top)


@compiled
def _rows(
    x: Array, out: Array, first: int, last: int, height: int, columns: int, step: int, border: int, w: Any, how: Any
) -> None:
    """Rows `first` to `last`: _row if all neighbours are inside, _edge for the rest."""
    for row in range(first, last):
        above, below = place(row - 1, height, border), place(row + 1, height, border)
        begin, end = min(step, columns), max(columns - step, min(step, columns))
        if above < 0 or below < 0:
            begin = end = columns
        t = row * columns + begin
        _row(x, above * columns + begin, t, below * columns + begin, out, t, end - begin, step, w, how)
        for column in range(begin):
            _edge(x, row, column, out, height, columns, step, border, w, how)
        for column in range(end, columns):
            _edge(x, row, column, out, height, columns, step, border, w, how)


def _part(arguments: tuple[Any, ...], worker: int, workers: int) -> None:
    """One worker's share of the rows."""
    x, out, first, last, height, columns, step, border, w, bias, divisor, add, top = given(arguments)
    weights = w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8]
    begin = first + worker * (last - first) // workers
    end = first + (worker + 1) * (last - first) // workers
    _rows(x, out, begin, end, height, columns, step, border, weights, (bias, divisor, add, top))


def serial(x: Array, out: Array, how: Arithmetic, border: str) -> None:
    """One pass over an image into `out`, on one thread."""
    for arguments in _bands(x, out, how, border):
        _rows(*(*arguments[:8], tuple(how.weights), arguments[9:]))


def parallel(x: Array, out: Array, how: Arithmetic, border: str) -> None:
    """One pass over an image into `out`, on numba.get_num_threads() threads."""
    workers = get_num_threads()
    for arguments in _bands(x, out, how, border):
        on_all_threads(_part, arguments, workers)


def _bands(x: Array, out: Array, how: Arithmetic, border: str) -> Iterator[tuple[Any, ...]]:
    """The arguments of _part, band by band."""
    height, step = x.shape[0], x.shape[2] if x.ndim == 3 else 1
    divisor = np.float64(1) / how.divisor if how.weights.dtype.kind == "i" else how.divisor
    top = x.dtype.type(np.iinfo(x.dtype).max if x.dtype.kind == "u" else 0)
    arrays = flat(x), out.reshape(-1, copy=False)
    sizes = height, x.size // height, step, BORDERS.index(border)
    rows = BAND * height // x.size or 1
    for first in range(0, height, rows):
        if first:  # a call of one band reports no progress, because a report would take longer than the band
            advance(first, height)
        part = first, min(first + rows, height)
        yield *arrays, *part, *sizes, how.weights, how.bias, divisor, how.offset, top
