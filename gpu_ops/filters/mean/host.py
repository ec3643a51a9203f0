"""The mean filter on the CPU, compiled by Numba: the plain loop on one thread, and the fastest form on all of them.

Serial is what a C compiler makes of the textbook: for every output the sum over its whole window, in float64 or
int64, without a test for the border in the interior.

Parallel, each form chosen by measurement:

* Short windows, and along the rows of images: sums of 2, 4, 8 … neighbours by doubling, one vector addition each over
  chunks that stay in the first-level cache. The set bits of the window say which of them make it up: 8 additions an
  output at window 31, and an error that grows with the logarithm of the window.
* Down the columns of images: the windows of neighbouring rows share most of their rows. A group of rows adds the
  shared ones once, then what each has more above and below, whole rows at a time (in the spirit of van Herk 1992, and
  Gil & Werman 1993). Nothing is subtracted, so nothing drifts.
* Long windows of signals: running sums in float64, or integers, four side by side to hide the latency of addition,
  begun again from a direct sum after RESTART outputs: their drift stays below
  (2 · RESTART + window) · 2^-53 · max|x|. A piece that met NaN or infinity is done again by direct sums.

So NaN and infinity reach exactly the outputs whose window holds them, and results do not depend on the number of
threads. Sums of integers fit int32: 4095 · 65535 and 63² · 65535 are below 2^31.

Arrays are C-contiguous: x and out (N,) or (N, C) for signals, (H, W) or (H, W, C) for images, uint8, uint16, float32
or float64. Every element of out is written.

Importing this module loads Numba: plans import it when they are made. The threads are numba.get_num_threads().
Numba's default threading layer ("workqueue", taken where it finds neither TBB nor OpenMP) aborts the process when two
Python threads are inside parallel functions at once: call mean1d_parallel and mean2d_parallel from one at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from numba import cfunc, get_num_threads, int64, njit, prange, typeof, types, void
from numba.extending import overload

from gpu_ops.filters.borders import border_indices
from gpu_ops.types import BORDERS

Array = np.ndarray[Any, Any]
F = TypeVar("F", bound=Callable[..., Any])

RUNNING_FROM = 63
"""Signals: from this window on running sums beat doubling."""
RESTART = 4256
"""Outputs a running sum serves before it starts again. No power of two, lest its four readers share cache sets."""
CHUNK = 1024
"""Values worked on at a time: four buffers of them in float64 fill a first-level cache of 32 KiB."""
ZERO, NEAREST, WRAP = BORDERS.index("zero"), BORDERS.index("nearest"), BORDERS.index("wrap")


def _compiled(function: F) -> F:
    return njit(cache=True, nogil=True, error_model="numpy")(function)  # type: ignore[no-any-return]


def _compiled_parallel(function: F) -> F:
    return njit(cache=True, nogil=True, error_model="numpy", parallel=True)(function)  # type: ignore[no-any-return]


def _mean(total: Any, scale: Any, bias: Any) -> Any:
    """total / n for floats, (total + n // 2) // n for integers, where scale = 1 / n and bias = n // 2 + 0.5."""
    raise NotImplementedError("for compiled code only")


@overload(_mean, strict=False)
def _mean_compiled(total: Any, scale: Any, bias: Any) -> Callable[[Any, Any, Any], Any]:
    if isinstance(total, types.Float):
        same = np.float32 if total == types.float32 else np.float64
        return lambda total, scale, bias: total * same(scale)
    # The quotient, so biased, stays 0.5 / n off the next integers: more than its rounding error, which is 2^-23 · 256
    # for uint8 in float32 and 2^-52 · 65536 for uint16 in float64. Hence the truncation is exact.
    real = np.float32 if scale == types.float32 else np.float64
    return lambda total, scale, bias: np.int32((real(np.int32(total)) + bias) * scale)


@_compiled
def _place(position: int, length: int, border: int) -> int:
    """One position as gpu_ops.filters.borders.border_indices maps it."""
    if 0 <= position < length:
        return position
    if border == ZERO:
        return -1
    if border == NEAREST:
        return 0 if position < 0 else length - 1
    if border == WRAP:
        return position % length
    position %= 2 * length
    return position if position < length else 2 * length - 1 - position


# Vector loops over `count` values of flat arrays, from an offset into each. Offsets are unsigned for LLVM's sake: a
# signed index may count from the end, and the test for that keeps a loop from being vectorised.


@_compiled
def _sum2(target: Array, t: int, a: Array, i: int, b: Array, k: int, count: int) -> None:
    t, i, k = np.uintp(t), np.uintp(i), np.uintp(k)
    for j in range(np.uintp(count)):
        target[t + j] = a[i + j] + b[k + j]


@_compiled
def _sum3(target: Array, t: int, a: Array, i: int, step: int, count: int) -> None:
    t, i, k, m = np.uintp(t), np.uintp(i), np.uintp(i + step), np.uintp(i + 2 * step)
    for j in range(np.uintp(count)):
        target[t + j] = a[i + j] + a[k + j] + a[m + j]


@_compiled
def _add1(target: Array, t: int, a: Array, i: int, count: int) -> None:
    t, i = np.uintp(t), np.uintp(i)
    for j in range(np.uintp(count)):
        target[t + j] += a[i + j]


@_compiled
def _add2(target: Array, t: int, a: Array, i: int, step: int, count: int) -> None:
    t, i, k = np.uintp(t), np.uintp(i), np.uintp(i + step)
    for j in range(np.uintp(count)):
        target[t + j] += a[i + j] + a[k + j]


@_compiled
def _mean2(out: Array, t: int, a: Array, i: int, b: Array, k: int, count: int, scale: float, bias: float) -> None:
    t, i, k = np.uintp(t), np.uintp(i), np.uintp(k)
    for j in range(np.uintp(count)):
        out[t + j] = _mean(a[i + j] + b[k + j], scale, bias)


@_compiled
def _mean3(out: Array, t: int, a: Array, i: int, step: int, count: int, scale: float, bias: float) -> None:
    t, i, k, m = np.uintp(t), np.uintp(i), np.uintp(i + step), np.uintp(i + 2 * step)
    for j in range(np.uintp(count)):
        out[t + j] = _mean(a[i + j] + a[k + j] + a[m + j], scale, bias)


@_compiled
def _doubling(
    x: Array, i: int, out: Array, t: int, count: int, buffer: Array, window: int, step: int, scale: float, bias: float
) -> None:
    """out[t + j] = mean of the `window` values x[i + j], x[i + j + step] …, for j below `count`.

    `buffer` holds three times count + (window - 1) · step values.
    """
    if window == 3:
        _mean3(out, t, x, i, step, count, scale, bias)
        return
    size = count + (window - 1) * step
    sums, spare, total = 0, size, 2 * size
    _sum2(buffer, sums, x, i, x, i + step, size - step)
    width, done = 2, 1
    while 2 * width <= window:
        if window & width:
            rest = size - (done + width - 1) * step
            if done == 1:
                _sum2(buffer, total, x, i, buffer, sums + step, rest)
            else:
                _add1(buffer, total, buffer, sums + done * step, rest)
            done += width
        _sum2(buffer, spare, buffer, sums, buffer, sums + width * step, size - (2 * width - 1) * step)
        sums, spare = spare, sums
        width *= 2
    if done == 1:
        _mean2(out, t, x, i, buffer, sums + step, count, scale, bias)
    else:
        _mean2(out, t, buffer, total, buffer, sums + done * step, count, scale, bias)


@_compiled
def _direct(
    x: Array, i: int, out: Array, t: int, count: int, window: int, step: int, scale: float, bias: float, zero: Any
) -> None:
    """As _doubling, by the plain sum over each window in the type of `zero`."""
    i, t, step = np.uintp(i), np.uintp(t), np.uintp(step)
    for j in range(np.uintp(count)):
        total = zero
        for k in range(np.uintp(window)):
            total += x[i + j + k * step]
        out[t + j] = _mean(total, scale, bias)


@_compiled
def _running(
    x: Array, i: int, out: Array, t: int, count: int, window: int, step: int, scale: float, bias: float, zero: Any
) -> bool:
    """As _direct, by running sums, each over a quarter of the count. False when they met NaN or infinity."""
    quarter, ahead, step = np.uintp(count // 4), np.uintp(window * step), np.uintp(step)
    finite = True
    for c in range(step):
        a, p = np.uintp(i) + c, np.uintp(t) + c
        b, q = a + quarter, p + quarter
        d, r = b + quarter, q + quarter
        e, s = d + quarter, r + quarter
        sa = sb = sd = se = zero
        for j in range(np.uintp(0), ahead, step):
            sa, sb, sd, se = sa + x[a + j], sb + x[b + j], sd + x[d + j], se + x[e + j]
        out[p], out[q] = _mean(sa, scale, bias), _mean(sb, scale, bias)
        out[r], out[s] = _mean(sd, scale, bias), _mean(se, scale, bias)
        for j in range(step, quarter, step):
            old, new = j - step, j - step + ahead
            sa, sb = sa + (zero + x[a + new] - x[a + old]), sb + (zero + x[b + new] - x[b + old])
            sd, se = sd + (zero + x[d + new] - x[d + old]), se + (zero + x[e + new] - x[e + old])
            out[p + j], out[q + j] = _mean(sa, scale, bias), _mean(sb, scale, bias)
            out[r + j], out[s + j] = _mean(sd, scale, bias), _mean(se, scale, bias)
        # NaN, infinity and what they leave behind stay in a running sum to its end.
        last = sa + sb + sd + se
        finite = finite and last - last == 0
    return finite


@_compiled
def _pad(x: Array, step: int, first: int, count: int, buffer: Array, border: int) -> None:
    """`count` samples of `step` values from position `first` on, read across the border."""
    length = x.size // step
    for k in range(count):
        source = _place(first + k, length, border)
        for c in range(step):
            buffer[k * step + c] = x[source * step + c] if source >= 0 else 0


def _signal_part(
    x: Array, out: Array, sums: Array, edges: Array, numbers: Array, scale: float, bias: float, zero: Any,
    worker: int, workers: int,
) -> None:
    """A worker's share of a signal's chunks. `numbers` are window, step, border and samples a chunk."""
    window, step, border, chunk = numbers[0], numbers[1], numbers[2], numbers[3]
    buffer, edge = sums[worker], edges[worker]
    length = x.size // step
    count, padded = chunk * step, (chunk + window - 1) * step
    chunks = (length + chunk - 1) // chunk
    for index in range(worker * chunks // workers, (worker + 1) * chunks // workers):
        low = index * chunk - window // 2
        inside = low >= 0 and low + chunk + window - 1 <= length
        source, i, target, t = x, low * step, out, index * count
        if not inside:
            _pad(x, step, low, chunk + window - 1, edge, border)
            source, i, target, t = edge, 0, edge, padded
        if window < RUNNING_FROM:
            _doubling(source, i, target, t, count, buffer, window, step, scale, bias)
        elif not _running(source, i, target, t, count, window, step, scale, bias, zero):
            _direct(source, i, target, t, count, window, step, scale, bias, zero)
        if not inside:
            for j in range(min(count, out.size - index * count)):
                out[index * count + j] = edge[padded + j]


@_compiled
def _column_sums(
    x: Array, i: int, pitch: int, window: int, sums: Array, t: int, line: int, count: int, lower: int, size: int
) -> None:
    """sums[t + k · line + j] = sum of `window` rows x[i + (k + n) · pitch + j], for k below `count`, j below `size`.

    The rows that all windows share are summed once, in the last of the sums; `count` is odd and below `window`.
    `lower` is the offset of `size` spare values in sums.
    """
    shared = t + (count - 1) * line
    _sum3(sums, shared, x, i + (count - 1) * pitch, pitch, size)
    for row in range(count + 2, window, 2):
        _add2(sums, shared, x, i + row * pitch, pitch, size)
    for k in range(count - 2, -1, -1):
        _sum2(sums, t + k * line, sums, t + (k + 1) * line, x, i + k * pitch, size)
    sums[lower : lower + size] = 0
    for k in range(1, count):
        _add1(sums, lower, x, i + (window + k - 1) * pitch, size)
        _add1(sums, t + k * line, sums, lower, size)


def _image_part(
    x: Array, out: Array, sums: Array, edges: Array, numbers: Array, scale: float, bias: float, zero: Any,
    worker: int, workers: int,
) -> None:
    """A worker's share of an image's groups of rows; what is left of an incomplete one goes row by row.

    `numbers` are window, step, border, rows a group, height, and for each value of the halo, left then right, where
    in its row it is read, or -1.
    """
    window, step, border, group, height = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]
    width, halo = out.size // height, window // 2 * step
    line = width + 2 * halo
    lines, edge = sums[worker], edges[worker]
    lower = group * line
    buffer = lines[lower + CHUNK :]
    groups = (height + group - 1) // group
    top, bottom = worker * groups // workers * group, min((worker + 1) * groups // workers * group, height)
    while top < bottom:
        count = group if top + group <= bottom else 1
        low = top - window // 2
        for start in range(0, width, CHUNK):
            size = min(CHUNK, width - start)
            source, i, pitch = x, low * width + start, width
            if low < 0 or low + count + window - 1 > height:
                for k in range(count + window - 1):
                    row = _place(low + k, height, border)
                    for j in range(size):
                        edge[k * CHUNK + j] = x[row * width + start + j] if row >= 0 else 0
                source, i, pitch = edge, 0, CHUNK
            _column_sums(source, i, pitch, window, lines, halo + start, line, count, lower, size)
        for k in range(count):
            first = k * line
            for j in range(2 * halo):
                place = numbers[5 + j]
                target = first + j if j < halo else first + width + j
                lines[target] = lines[first + halo + place] if place >= 0 else 0
            for start in range(0, width, CHUNK):
                t = (top + k) * width + start
                _doubling(lines, first + start, out, t, min(CHUNK, width - start), buffer, window, step, scale, bias)
        top += count


@_compiled_parallel
def _on_all_threads(
    part: Any, x: Array, out: Array, sums: Array, edges: Array, numbers: Array, scale: float, bias: float, zero: Any,
    workers: int,
) -> None:
    for worker in prange(workers):
        part(x, out, sums, edges, numbers, scale, bias, zero, np.int64(worker), workers)


@lru_cache
def _pointer(part: Callable[..., None], *arguments: Any) -> Any:
    """`part` compiled apart: called by address it is not compiled again, three times, inside the parallel loop."""
    return cfunc(void(*arguments, int64, int64), cache=True)(part)


def _run(part: Callable[..., None], x: Array, out: Array, count: int, spare: int, edge: int, numbers: list[int]) -> None:
    """Run `part` on all threads, each with `spare` values for sums and `edge` values of its input's type."""
    workers = get_num_threads()
    integer = x.dtype.kind == "u"
    arguments = (
        x.reshape(-1, copy=False),
        out.reshape(-1, copy=False),
        np.empty((workers, spare), np.int32 if integer else x.dtype),
        np.empty((workers, edge), x.dtype),
        np.array(numbers, np.int64),
        *_scaling(x.dtype, count),
    )
    _on_all_threads(_pointer(part, *map(typeof, arguments)), *arguments, workers)


def _scaling(dtype: np.dtype[Any], count: int) -> tuple[Any, Any, Any]:
    """Scale and bias of _mean for means of `count` values, and the 0 that direct and running sums start from."""
    real = np.float32 if dtype == np.uint8 else np.float64
    return real(1 / count), real(count // 2 + 0.5), np.int64(0) if dtype.kind == "u" else np.float64(0)


def mean1d_parallel(x: Array, out: Array, window: int, border: str) -> None:
    """Means over axis 0 of a signal into `out`, on all threads."""
    length, step = x.shape[0], x.shape[1] if x.ndim == 2 else 1
    if window < RUNNING_FROM:
        chunk = max(1, CHUNK // step)
        spare = 3 * (chunk + window - 1) * step
    else:
        chunk = 4 * min(RESTART, -(-length // 4))
        spare = 1
    edge = (2 * chunk + window - 1) * step
    _run(_signal_part, x, out, window, spare, edge, [window, step, BORDERS.index(border), chunk])


def mean2d_parallel(x: Array, out: Array, window: int, border: str) -> None:
    """Means over axes 0 and 1 of an image into `out`, on all threads."""
    height, width, step = x.shape[0], x.shape[1], x.shape[2] if x.ndim == 3 else 1
    group = 1 if window < 5 else 3 if window < 9 else 7 if window < 17 else 15
    reach = window // 2
    halo = reach * step
    spare = group * (width * step + 2 * halo) + CHUNK + 3 * (CHUNK + 2 * halo)
    columns = np.concatenate([border_indices(border, -reach, 0, width), border_indices(border, width, width + reach, width)])
    places = np.where(columns[:, None] < 0, -1, columns[:, None] * step + np.arange(step))
    numbers = [window, step, BORDERS.index(border), group, height, *places.ravel().tolist()]
    _run(_image_part, x, out, window * window, spare, (group + window - 1) * CHUNK, numbers)
