"""The mean filter on the CPU: the plain loop on one thread, and the fastest form on all of them, compiled by Numba.

Each form on all threads was chosen by measurement:

* Short windows, and along the rows of images: sums of 2, 4, 8 … neighbours by doubling, one vector addition each over
  chunks that stay in the L1 cache. The set bits of the window select the sums to be added: 8 additions per output at
  window 31, and an error that grows with the logarithm of the window.
* Down the columns of images: the windows of neighbouring rows share most of their rows. A group of rows adds the shared
  ones once, then the further rows of each window above and below, whole rows at a time (in the spirit of van Herk 1992,
  and Gil & Werman 1993). Nothing is subtracted, so nothing drifts.
* Long windows of signals: running sums in float64, or integers, four in parallel to hide the latency of addition,
  restarted from a direct sum after RESTART outputs: their drift stays below (2 · RESTART + window) · 2^-53 · max|x|. A
  piece that contains NaN or infinity is recomputed by direct sums.

Errors in half ulps of max|x|: additions + 2 for doubling, (window + GROUP) / 2 + 1 more for images; random values show
1 to 2. NaN and infinity reach exactly the outputs whose window contains them. Results do not depend on the number of
threads. Sums of integers fit int32: 4095 · 65535 and 63² · 65535 are below 2^31.

Arrays are C-contiguous: x and out (N,) or (N, C) for signals, (H, W) or (H, W, C) for images, uint8, uint16, float32 or
float64. Every element of out is written.

Importing this module loads Numba: plans import it when they are created. The number of threads is
numba.get_num_threads().
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numba import get_num_threads

from gpu_ops.filters.kit.borders import border_indices
from gpu_ops.filters.kit.loops import Array, flat, given, offset, on_all_threads, piece, place
from gpu_ops.filters.mean.serial import direct, mean1d_serial, mean2d_serial, rounded_mean, scaling
from gpu_ops.progress import advance
from gpu_ops.types import BORDERS

__all__ = ["mean1d_parallel", "mean1d_serial", "mean2d_parallel", "mean2d_serial"]

RUNNING_FROM = {"u": 127, "f": 31}
"""Signals of integers and of floats: from this window on running sums are faster than doubling."""
RESTART = 4256
"""Outputs of a running sum before it restarts. With a power of two its four readers would share cache sets."""
CHUNK_BYTES = 4096
"""Signals: the number of sums at a time, so that the four buffers of doubling stay in an L1 cache of 32 KiB."""
GROUP = 15
"""Images: the maximum rows of sums computed together; 7, 3 or 1 for short windows and very long rows."""
LINES = 1 << 20
"""Images: the maximum number of sums that a thread keeps."""
BAND = 1 << 25
"""Values that all threads compute between two progress reports: tens of milliseconds."""


# Vector loops over `count` values of flat arrays, from an offset into each.


@piece
def _sum2(target: Array, t: int, a: Array, i: int, b: Array, k: int, count: int) -> None:
    t, i, k = offset(t), offset(i), offset(k)
    for j in range(offset(count)):
        target[t + j] = a[i + j] + b[k + j]


@piece
def _sum3(target: Array, t: int, a: Array, i: int, step: int, count: int) -> None:
    t, i, k, m = offset(t), offset(i), offset(i + step), offset(i + 2 * step)
    for j in range(offset(count)):
        target[t + j] = a[i + j] + a[k + j] + a[m + j]


@piece
def _add1(target: Array, t: int, a: Array, i: int, count: int) -> None:
    t, i = offset(t), offset(i)
    for j in range(offset(count)):
        target[t + j] += a[i + j]


@piece
def _add2(target: Array, t: int, a: Array, i: int, step: int, count: int) -> None:
    t, i, k = offset(t), offset(i), offset(i + step)
    for j in range(offset(count)):
        target[t + j] += a[i + j] + a[k + j]


@piece
def _mean2(out: Array, t: int, a: Array, i: int, b: Array, k: int, count: int, scale: float) -> None:
    t, i, k = offset(t), offset(i), offset(k)
    for j in range(offset(count)):
        out[t + j] = rounded_mean(a[i + j] + b[k + j], scale)


@piece
def _mean3(out: Array, t: int, a: Array, i: int, step: int, count: int, scale: float) -> None:
    t, i, k, m = offset(t), offset(i), offset(i + step), offset(i + 2 * step)
    for j in range(offset(count)):
        out[t + j] = rounded_mean(a[i + j] + a[k + j] + a[m + j], scale)


@piece
def _doubling(
    x: Array, i: int, out: Array, t: int, count: int, buffer: Array, window: int, step: int, scale: float
) -> None:
    """out[t + j] = mean of the `window` values x[i + j], x[i + j + step] …, for j below count.

    `buffer` holds three times count + (window - 1) · step values.
    """
    if window == 3:
        _mean3(out, t, x, i, step, count, scale)
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
        _mean2(out, t, x, i, buffer, sums + step, count, scale)
    else:
        _mean2(out, t, buffer, total, buffer, sums + done * step, count, scale)


@piece
def _running(x: Array, i: int, out: Array, t: int, count: int, window: int, step: int, scale: float, zero: Any) -> bool:
    """As direct, by running sums, each over a quarter of the count. False if they contained NaN or infinity."""
    quarter, ahead, step = offset(count // 4), offset(window * step), offset(step)
    finite = True
    for c in range(step):
        a, p = offset(i) + c, offset(t) + c
        b, q = a + quarter, p + quarter
        d, r = b + quarter, q + quarter
        e, s = d + quarter, r + quarter
        sa = sb = sd = se = zero
        for j in range(offset(0), ahead, step):
            sa, sb, sd, se = sa + x[a + j], sb + x[b + j], sd + x[d + j], se + x[e + j]
        out[p], out[q] = rounded_mean(sa, scale), rounded_mean(sb, scale)
        out[r], out[s] = rounded_mean(sd, scale), rounded_mean(se, scale)
        for j in range(step, quarter, step):
            old, new = j - step, j - step + ahead
            sa, sb = sa + (zero + x[a + new] - x[a + old]), sb + (zero + x[b + new] - x[b + old])
            sd, se = sd + (zero + x[d + new] - x[d + old]), se + (zero + x[e + new] - x[e + old])
            out[p + j], out[q + j] = rounded_mean(sa, scale), rounded_mean(sb, scale)
            out[r + j], out[s + j] = rounded_mean(sd, scale), rounded_mean(se, scale)
        # NaN and infinity persist in a running sum to its end.
        last = sa + sb + sd + se
        finite = finite and last - last == 0
    return finite


@piece
def _pad(x: Array, step: int, first: int, count: int, buffer: Array, border: int) -> None:
    """`count` samples of `step` values from position `first` on, read across the border."""
    length = x.size // step
    for k in range(count):
        source = place(first + k, length, border)
        for c in range(step):
            buffer[k * step + c] = x[source * step + c] if source >= 0 else 0


def _signal_part(arguments: tuple[Any, ...], worker: int, workers: int) -> None:
    """One worker's share of a signal's chunks. `numbers`: the first chunk, the one after the last, window, step,
    border, samples per chunk, whether to use running sums."""
    x, out, sums, edges, numbers, scale, zero = given(arguments)
    begin, end = numbers[0], numbers[1]
    window, step, border, chunk, running = numbers[2], numbers[3], numbers[4], numbers[5], numbers[6]
    buffer, edge = sums[worker], edges[worker]
    length = x.size // step
    count, padded = chunk * step, (chunk + window - 1) * step
    share = end - begin
    for index in range(begin + worker * share // workers, begin + (worker + 1) * share // workers):
        low = index * chunk - window // 2
        inside = low >= 0 and low + chunk + window - 1 <= length
        source, i, target, t = x, low * step, out, index * count
        if not inside:
            _pad(x, step, low, chunk + window - 1, edge, border)
            source, i, target, t = edge, 0, edge, padded
        if not running:
            _doubling(source, i, target, t, count, buffer, window, step, scale)
        elif not _running(source, i, target, t, count, window, step, scale, zero):
            direct(source, i, target, t, count, window, step, scale, zero)
        if not inside:
            for j in range(min(count, out.size - index * count)):
                out[index * count + j] = edge[padded + j]


@piece
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


def _image_part(arguments: tuple[Any, ...], worker: int, workers: int) -> None:
    """A worker's share of some of an image's groups of rows; the rest of an incomplete one is processed row by row.

    `numbers` are the first group and the one after the last, window, step, border, rows per group, height, values
    processed at a time, and for each value of the halo, left then right, its position in its row, or -1.
    """
    x, out, sums, edges, numbers, scale, zero = given(arguments)
    begin, share = numbers[0], numbers[1] - numbers[0]
    window, step, border, group, height, chunk = numbers[2], numbers[3], numbers[4], numbers[5], numbers[6], numbers[7]
    places = numbers[8:]
    width, halo = out.size // height, window // 2 * step
    line = width + 2 * halo
    lines, edge = sums[worker], edges[worker]
    lower = group * line
    buffer = lines[lower + chunk :]
    top = (begin + worker * share // workers) * group
    bottom = min((begin + (worker + 1) * share // workers) * group, height)
    while top < bottom:
        count = group if top + group <= bottom else 1
        low = top - window // 2
        for start in range(0, width, chunk):
            size = min(chunk, width - start)
            source, i, pitch = x, low * width + start, width
            if low < 0 or low + count + window - 1 > height:
                for k in range(count + window - 1):
                    row = place(low + k, height, border)
                    for j in range(size):
                        edge[k * chunk + j] = x[row * width + start + j] if row >= 0 else 0
                source, i, pitch = edge, 0, chunk
            _column_sums(source, i, pitch, window, lines, halo + start, line, count, lower, size)
        for k in range(count):
            first = k * line
            for j in range(2 * halo):
                target = first + j if j < halo else first + width + j
                lines[target] = lines[first + halo + places[j]] if places[j] >= 0 else 0
            for start in range(0, width, chunk):
                t = (top + k) * width + start
                _doubling(lines, first + start, out, t, min(chunk, width - start), buffer, window, step, scale)
        top += count


def _run(
    part: Callable[..., None],
    x: Array,
    out: Array,
    count: int,
    spare: int,
    edge: int,
    numbers: Sequence[int],
    pieces: int,
) -> None:
    """Run `part` over `pieces` on all threads, with `spare` sums and `edge` values of the input's type for each."""
    workers = get_num_threads()
    scale, zero = scaling(x.dtype, count)
    listed = np.array((0, 0, *numbers), np.int64)
    arguments = (
        flat(x),
        out.reshape(-1, copy=False),
        np.empty((workers, spare), _sum_type(x.dtype)),
        np.empty((workers, edge), x.dtype),
        listed,
        scale,
        zero,
    )
    band = pieces * BAND // x.size or 1
    for first in range(0, pieces, band):
        if first:
            advance(first, pieces)
        listed[0], listed[1] = first, min(first + band, pieces)
        on_all_threads(part, arguments, workers)


def _sum_type(dtype: np.dtype[Any]) -> Any:
    return np.dtype(np.int32) if dtype.kind == "u" else dtype


def mean1d_parallel(x: Array, out: Array, window: int, border: str) -> None:
    """Means over axis 0 of a signal into `out`, on all threads."""
    length, step = x.shape[0], x.shape[1] if x.ndim == 2 else 1
    running = window >= RUNNING_FROM[x.dtype.kind]
    if running:
        chunk, spare = 4 * min(-(-length // 4), max(RESTART // step, window)), 1
    else:
        chunk = max(1, CHUNK_BYTES // _sum_type(x.dtype).itemsize // step)
        spare = 3 * (chunk + window - 1) * step
    edge = (2 * chunk + window - 1) * step
    numbers = [window, step, BORDERS.index(border), chunk, running]
    _run(_signal_part, x, out, window, spare, edge, numbers, -(-length // chunk))


def mean2d_parallel(x: Array, out: Array, window: int, border: str) -> None:
    """Means over axes 0 and 1 of an image into `out`, on all threads."""
    height, width, step = x.shape[0], x.shape[1], x.shape[2] if x.ndim == 3 else 1
    reach = window // 2
    line = (width + 2 * reach) * step
    group = GROUP
    while group > 1 and (group > window - 2 or group * line > LINES):
        group //= 2
    chunk = 4096 if group == 1 else 2048
    sides = [border_indices(border, -reach, 0, width), border_indices(border, width, width + reach, width)]
    columns = np.concatenate(sides)[:, None]
    places = np.where(columns < 0, -1, columns * step + np.arange(step)).ravel()
    spare = group * line + chunk + 3 * (chunk + 2 * reach * step)
    numbers = [window, step, BORDERS.index(border), group, height, chunk, *places]
    _run(_image_part, x, out, window * window, spare, (group + window - 1) * chunk, numbers, -(-height // group))
