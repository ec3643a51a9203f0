"""The box filter on the CPU, by running sums, compiled by Numba: its time does not depend on the radius.

For each row, a line of column sums over the rows of the window is updated, one sum per column and channel: the entering
row is added and the leaving one is subtracted. Along the line a second running sum gives the outputs.

* serial: one thread, row by row.
* parallel: the image is split into pieces for all threads. In a piece of floats, four rows are computed together, so
  that four sums along their lines hide each other's latency. A piece begins with a direct sum, and the split does not
  depend on the number of threads, so neither do the results.

Floats are summed in float64: each output adds at most two roundings of 2^-53 of the sum per axis, which is negligible
in float32. NaN and infinity would persist in the sums, so they are refused. Integers are exact: line sums stay below
513 · 65535 < 2^31, sums of squares are int64, and the rounded quotient is computed in float64, whose error is below 3 ·
2^-53 · 65536 while quotients differ from halves by at least 1 / (2 · 513²).

Arrays are C-contiguous: x and out (H, W) or (H, W, C), uint8, uint16 or float32. Every element of out is written.
Importing this module loads Numba: plans import it when they are created. The number of threads is
numba.get_num_threads().
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import get_num_threads, types
from numba.extending import overload

from gpu_ops.filters.kit.borders import border_indices
from gpu_ops.filters.kit.loops import Array, compiled, flat, given, offset, on_all_threads, piece, place
from gpu_ops.progress import advance
from gpu_ops.types import BORDERS

GROUP = 4
"""Rows of a piece that are computed together."""
PIECE = 4096
"""The minimum number of values in a row of a piece: four lines of float64 sums stay in the L2 cache."""
FEWEST_ROWS = 64
BAND = 1 << 25
"""Values computed between two progress reports: tens of milliseconds."""


class Strip(NamedTuple):
    """Columns of an image over its full height; all sizes but `height`, `radius`, `border` and `pixels` count values.

    `width` is the length of a row, `step` that of a pixel; a line of sums has `left` values outside the image, `inside`
    values from `first` of a row on, and `right` values outside; outputs are `pixels` from `column` on. `places` is the
    offset of its entries in the table of positions.
    """

    height: int
    width: int
    radius: int
    step: int
    border: int
    first: int
    left: int
    inside: int
    right: int
    column: int
    pixels: int
    places: int


def mean_of(total: Any, scale: Any) -> Any:
    """total * scale for floats, rounded half up for integers."""
    raise NotImplementedError("for compiled code only")


def _mean_compiled(total: Any, scale: Any) -> Any:
    if isinstance(total, types.Float):
        return lambda total, scale: total * scale
    return lambda total, scale: np.int32(np.float64(total) * scale + 0.5)


overload(mean_of, strict=False)(_mean_compiled)


@piece
def _change(target: Array, t: int, line: Array, s: int, x: Array, new: int, old: int, count: int, zero: Any) -> None:
    """target[t + j] = line[s + j] + x[new + j] - x[old + j], where -1 means a row of zeros."""
    t, s = offset(t), offset(s)
    n, o = offset(max(new, 0)), offset(max(old, 0))
    if new >= 0 and old >= 0:
        for j in range(offset(count)):
            target[t + j] = line[s + j] + (zero + x[n + j] - x[o + j])
    elif new >= 0:
        for j in range(offset(count)):
            target[t + j] = line[s + j] + x[n + j]
    elif old >= 0:
        for j in range(offset(count)):
            target[t + j] = line[s + j] - (zero + x[o + j])
    else:
        for j in range(offset(count)):
            target[t + j] = line[s + j]


@piece
def _change_outside(lines: Array, t: int, s: int, x: Array, new: int, old: int, places: Array, zero: Any) -> None:
    """As _change within `lines`, for values outside the left and right edge: `places` has their position in a row, or
    -1."""
    for j in range(places.size):
        total = zero + lines[s + j]
        if places[j] >= 0:
            if new >= 0:
                total += x[new + places[j]]
            if old >= 0:
                total -= x[old + places[j]]
        lines[t + j] = total


@piece
def _next_line(
    lines: Array, t: int, s: int, x: Array, new: int, old: int, strip: Strip, places: Array, zero: Any
) -> None:
    """The line at `t` is the one at `s` plus the row that begins at `new` minus the row at `old`; -1 for no row."""
    left, inside = strip.left, strip.inside
    _change_outside(lines, t, s, x, new, old, places[:left], zero)
    first, last = new + strip.first if new >= 0 else -1, old + strip.first if old >= 0 else -1
    _change(lines, t + left, lines, s + left, x, first, last, inside, zero)
    _change_outside(lines, t + left + inside, s + left + inside, x, new, old, places[left:], zero)


@piece
def _begin(row: int, strip: Strip) -> int:
    """Where a row begins, mapped by the border rule; -1 if it is zero."""
    inside = place(row, strip.height, strip.border)
    return inside * strip.width if inside >= 0 else -1


@piece
def _along(
    line: Array, s: int, out: Array, t: int, count: int, window: int, step: int, scale: float, zero: Any
) -> None:
    """out[t …] = means of `count` pixels of one row, from its line of column sums."""
    ahead, step = offset(window * step), offset(step)
    for c in range(step):
        i, p = offset(s) + c, offset(t) + c
        total = zero
        for j in range(offset(0), ahead, step):
            total += line[i + j]
        out[p] = mean_of(total, scale)
        for j in range(step, offset(count) * step, step):
            total += zero + line[i + j - step + ahead] - line[i + j - step]
            out[p + j] = mean_of(total, scale)


@piece
def _along_four(
    lines: Array, size: int, out: Array, t: int, width: int, count: int, window: int, step: int, scale: float, zero: Any
) -> None:
    """The same for four rows, `width` values apart, whose lines are `size` values apart from the first on."""
    ahead, step = offset(window * step), offset(step)
    for c in range(step):
        i, p = offset(c), offset(t) + c
        i1, i2, i3 = i + offset(size), i + offset(2 * size), i + offset(3 * size)
        p1, p2, p3 = p + offset(width), p + offset(2 * width), p + offset(3 * width)
        s0 = s1 = s2 = s3 = zero
        for j in range(offset(0), ahead, step):
            s0, s1, s2, s3 = s0 + lines[i + j], s1 + lines[i1 + j], s2 + lines[i2 + j], s3 + lines[i3 + j]
        out[p], out[p1], out[p2], out[p3] = (
            mean_of(s0, scale),
            mean_of(s1, scale),
            mean_of(s2, scale),
            mean_of(s3, scale),
        )
        for j in range(step, offset(count) * step, step):
            a, b = j - step + ahead, j - step
            s0, s1 = s0 + (zero + lines[i + a] - lines[i + b]), s1 + (zero + lines[i1 + a] - lines[i1 + b])
            s2, s3 = s2 + (zero + lines[i2 + a] - lines[i2 + b]), s3 + (zero + lines[i3 + a] - lines[i3 + b])
            out[p + j], out[p1 + j] = mean_of(s0, scale), mean_of(s1, scale)
            out[p2 + j], out[p3 + j] = mean_of(s2, scale), mean_of(s3, scale)


@compiled
def _first_line(x: Array, lines: Array, top: int, strip: Strip, places: Array, zero: Any) -> None:
    """The line of row `top` in the first slot of `lines`, by direct sums; the second slot is overwritten.

    Each line is computed into another slot than the previous one: a loop with input and output in the same slot is not
    vectorised.
    """
    size = strip.left + strip.inside + strip.right
    lines[size : 2 * size] = 0
    t = size
    for row in range(top - strip.radius, top + strip.radius + 1):
        _next_line(lines, size - t, t, x, _begin(row, strip), -1, strip, places, zero)
        t = size - t


@compiled
def _rows(
    x: Array,
    out: Array,
    lines: Array,
    top: int,
    bottom: int,
    strip: Strip,
    places: Array,
    group: int,
    scale: float,
    zero: Any,
) -> None:
    """Rows `top` to `bottom` of a strip, `group` (1 or GROUP) at a time as long as there are that many. The first slot
    of `lines` has the line of row `top`; afterwards, if an even number of rows was computed, that of row `bottom`."""
    width, radius, step = strip.width, strip.radius, strip.step
    size, window = strip.left + strip.inside + strip.right, 2 * radius + 1
    row, s = top, 0
    while row < bottom:
        made = group if row + group <= bottom else 1
        for k in range(1, made):
            new, old = _begin(row + k + radius, strip), _begin(row + k - radius - 1, strip)
            _next_line(lines, k * size, (k - 1) * size, x, new, old, strip, places, zero)
        t = row * width + strip.column
        if made == GROUP:
            _along_four(lines, size, out, t, width, strip.pixels, window, step, scale, zero)
        else:
            _along(lines, s, out, t, strip.pixels, window, step, scale, zero)
        row += made
        new, old = _begin(row + radius, strip), _begin(row - radius - 1, strip)
        last = s if made == 1 else (made - 1) * size
        s = 0 if last else size
        _next_line(lines, s, last, x, new, old, strip, places, zero)


def _pieces(arguments: tuple[Any, ...], worker: int, workers: int) -> None:
    """A worker's share of some pieces, each of `rows` rows of a strip, strip after strip; `strips` has one strip per
    row.

    `numbers` are the first piece, the one after the last, rows, and the number of rows computed together.
    """
    x, out, lines, strips, places, numbers, scale, zero = given(arguments)
    begin, share, rows, group = numbers[0], numbers[1] - numbers[0], numbers[2], numbers[3]
    each = -(-strips[0, 0] // rows)
    for index in range(begin + worker * share // workers, begin + (worker + 1) * share // workers):
        s, top = strips[index // each], index % each * rows
        strip = Strip(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10], s[11])
        around = places[strip.places : strip.places + strip.left + strip.right]
        _first_line(x, lines[worker], top, strip, around, zero)
        _rows(x, out, lines[worker], top, min(top + rows, strip.height), strip, around, group, scale, zero)


def _strips(shape: tuple[int, ...], radius: int, border: str, columns: int) -> tuple[list[Strip], Array]:
    """The image in strips of at most `columns` pixels, and the positions in a row from which values outside the strip
    are read."""
    height, width, step = shape[0], shape[1], shape[2] if len(shape) == 3 else 1
    strips, places = [], [np.empty(0, np.int64)]
    for column in range(0, width, columns):
        end = min(column + columns, width)
        low, high = max(column - radius, 0), min(end + radius, width)
        sides = [border_indices(border, column - radius, low, width), border_indices(border, high, end + radius, width)]
        around = [np.where(side[:, None] < 0, -1, side[:, None] * step + np.arange(step)).ravel() for side in sides]
        left, right = (len(one) for one in around)
        strips.append(
            Strip(
                height,
                width * step,
                radius,
                step,
                BORDERS.index(border),
                low * step,
                left,
                (high - low) * step,
                right,
                column * step,
                end - column,
                sum(map(len, places)),
            )
        )
        places += around
    return strips, np.concatenate(places)


def _zero(dtype: np.dtype[Any]) -> Any:
    return np.int64(0) if dtype.kind == "u" else np.float64(0)


def _line_type(dtype: np.dtype[Any]) -> Any:
    return np.int32 if dtype.kind == "u" else np.float64


def serial(x: Array, out: Array, radius: int, border: str) -> None:
    """Means over the square with a side of 2 · radius + 1 pixels into `out`, on one thread."""
    (strip,), places = _strips(x.shape, radius, border, x.shape[1])
    line, target = flat(x), out.reshape(-1, copy=False)
    scale, zero = 1 / (2 * radius + 1) ** 2, _zero(x.dtype)
    lines = np.empty(2 * (strip.left + strip.inside + strip.right), _line_type(x.dtype))
    _first_line(line, lines, 0, strip, places, zero)
    band = 2 * (BAND // strip.width // 2) or 2
    for first in range(0, strip.height, band):
        if first:  # a call of one band reports no progress, because a report would take longer than the band
            advance(first, strip.height)
        _rows(line, target, lines, first, min(first + band, strip.height), strip, places, 1, scale, zero)


def parallel(x: Array, out: Array, radius: int, border: str) -> None:
    """Means over the square with a side of 2 · radius + 1 pixels into `out`, on all threads."""
    window, step = 2 * radius + 1, x.shape[2] if x.ndim == 3 else 1
    strips, places = _strips(x.shape, radius, border, max(PIECE // step, 4 * window))
    rows, group = GROUP * (max(2 * window, FEWEST_ROWS) // GROUP), GROUP if x.dtype.kind == "f" else 1
    size = max(s.left + s.inside + s.right for s in strips)
    lines = np.empty((get_num_threads(), GROUP * size), _line_type(x.dtype))
    numbers = np.array((0, 0, rows, group), np.int64)
    scale, zero = 1 / window**2, _zero(x.dtype)
    arguments = (flat(x), out.reshape(-1, copy=False), lines, np.array(strips, np.int64), places, numbers, scale, zero)
    pieces = len(strips) * -(-x.shape[0] // rows)
    band = pieces * BAND // x.size or 1
    for first in range(0, pieces, band):
        if first:
            advance(first, pieces)
        numbers[:2] = first, min(first + band, pieces)
        on_all_threads(_pieces, arguments, len(lines))
