"""Vector loops of the wavelet transform for all threads: weighted sums of neighbouring values, lines and their borders.

Forward and inverse are one loop. In the forward transform even and odd samples of a line are separated, so that average
k and difference k are sums over the same positions k, k + 1 … of the two phases. In the inverse, two neighbouring
samples are sums over the same positions of averages and differences. Columns use the same sums over rows.
"""

from __future__ import annotations

from gpu_ops.filters.kit.loops import Array, offset, piece
from gpu_ops.filters.wavelet.cpu.serial import source_of

CHUNK = 1024
"""Values per pass of a sum: with all its sources they stay in an L1 cache."""


@piece
def _two(x: Array, at: Array, start: int, w: Array, k: int, out: Array, t: int, count: int) -> None:
    p, q = offset(at[0] + start), offset(at[1] + start)
    a, b = w[k], w[k + 1]
    t = offset(t)
    for v in range(offset(count)):
        out[t + v] = a * x[p + v] + b * x[q + v]


@piece
def _four(x: Array, at: Array, start: int, w: Array, k: int, out: Array, t: int, count: int) -> None:
    p, q, r, s = offset(at[0] + start), offset(at[1] + start), offset(at[2] + start), offset(at[3] + start)
    a, b, c, d = w[k], w[k + 1], w[k + 2], w[k + 3]
    t = offset(t)
    for v in range(offset(count)):
        out[t + v] = (a * x[p + v] + b * x[q + v]) + (c * x[r + v] + d * x[s + v])


@piece
def _add_four(x: Array, at: Array, j: int, start: int, w: Array, k: int, out: Array, t: int, count: int) -> None:
    p, q = offset(at[j] + start), offset(at[j + 1] + start)
    r, s = offset(at[j + 2] + start), offset(at[j + 3] + start)
    a, b, c, d = w[k + j], w[k + j + 1], w[k + j + 2], w[k + j + 3]
    t = offset(t)
    for v in range(offset(count)):
        out[t + v] += (a * x[p + v] + b * x[q + v]) + (c * x[r + v] + d * x[s + v])


@piece
def weigh(x: Array, at: Array, shift: int, w: Array, side: int, out: Array, t: int, count: int) -> None:
    """out[t + v] = sum of w[j] · x[at[j] + shift + v], for v below count. The number of weights is even; those of side
    1 come after those of side 0."""
    taps = at.size
    for start in range(0, count, CHUNK):
        size = min(CHUNK, count - start)
        if taps % 4:
            _two(x, at, start + shift, w, side * taps, out, t + start, size)
        else:
            _four(x, at, start + shift, w, side * taps, out, t + start, size)
        for j in range(2 if taps % 4 else 4, taps, 4):
            _add_four(x, at, j, start + shift, w, side * taps, out, t + start, size)


@piece
def split(x: Array, start: int, n: int, c: int, first: int, count: int, periodic: bool, out: Array, t: int) -> None:
    """The two phases of a line of n pixels of c values: `count` pixels from position `first` on in steps of two into
    out[t], followed by the pixels right of them; positions may be outside the edges."""
    left = min(max(0, (1 - first) // 2), count)
    right = max(left, min((n - first) // 2, count))
    for u in range(count - (right - left)):
        place = u if u < left else u + right - left
        even = start + source_of(first + 2 * place, n, periodic) * c
        odd = start + source_of(first + 2 * place + 1, n, periodic) * c
        for channel in range(c):
            out[t + place * c + channel] = x[even + channel]
            out[t + (count + place) * c + channel] = x[odd + channel]
    if c == 1:
        a, b, s = offset(t), offset(t + count), offset(start + first)
        for u in range(offset(left), offset(right)):
            out[a + u] = x[s + 2 * u]
            out[b + u] = x[s + 2 * u + 1]
        return
    for u in range(left, right):
        a, b, s = offset(t + u * c), offset(t + (count + u) * c), offset(start + (first + 2 * u) * c)
        for channel in range(offset(c)):
            out[a + channel] = x[s + channel]
            out[b + channel] = x[s + c + channel]


@piece
def extend(x: Array, start: int, m: int, c: int, first: int, count: int, periodic: bool, out: Array, t: int) -> None:
    """`count` coefficients of c values from position `first` on of a line of m, into out[t]. Outside the edges they
    wrap around or are 0, and do not affect any existing sample."""
    left = min(max(0, -first), count)
    right = max(left, min(m - first, count))
    if right > left:
        a, s = offset(t + left * c), offset(start + (first + left) * c)
        for v in range(offset((right - left) * c)):
            out[a + v] = x[s + v]
    for k in range(count - (right - left)):
        u = k if k < left else k + right - left
        place = start + (first + u) % m * c
        for channel in range(c):
            out[t + u * c + channel] = x[place + channel] if periodic else x[place + channel] * 0


@piece
def join(a: Array, i: int, count: int, c: int, out: Array, t: int, n: int, first: int) -> None:
    """The pixels a[i], which are followed by those right of them, interleaved into a line of n pixels from position
    `first` on; pixels outside are skipped."""
    j = i + count * c
    left = min(1, count) if first < 0 else 0
    right = max(left, min((n - first) // 2, count))
    if c == 1:
        p, q, s = offset(i), offset(j), offset(t + first)
        for u in range(offset(left), offset(right)):
            out[s + 2 * u] = a[p + u]
            out[s + 2 * u + 1] = a[q + u]
    else:
        for u in range(left, right):
            p, q, s = offset(i + u * c), offset(j + u * c), offset(t + (first + 2 * u) * c)
            for channel in range(offset(c)):
                out[s + channel] = a[p + channel]
                out[s + c + channel] = a[q + channel]
    for k in range(count - (right - left)):
        u = k if k < left else k + right - left
        for side in range(2):
            place = first + 2 * u + side
            if 0 <= place < n:
                for channel in range(c):
                    out[t + place * c + channel] = a[(j if side else i) + u * c + channel]


@piece
def shrink_line(x: Array, i: int, thresholds: Array, t: int, count: int, how: int) -> None:
    """`count` values from x[i] on after thresholding by thresholds[t] and the following ones: soft 0, hard 1, garrote
    2."""
    i, t = offset(i), offset(t)
    zero = thresholds[0] * 0
    if how == 0:
        for v in range(offset(count)):
            value, limit = x[i + v], thresholds[t + v]
            x[i + v] = max(value - limit, zero) + min(value + limit, zero)
    elif how == 1:
        for v in range(offset(count)):
            value, limit = x[i + v], thresholds[t + v]
            x[i + v] = value if abs(value) > limit else zero
    else:
        for v in range(offset(count)):
            value, limit = x[i + v], thresholds[t + v]
            x[i + v] = value - limit * (limit / value) if abs(value) > limit else zero
