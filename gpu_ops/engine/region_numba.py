"""Compiled loops over the values of a region. Import it only for large regions: it loads Numba, and compiles when
first used on a machine.

The `key` of a float is its bits as an unsigned integer of the same size, changed so that keys have the order of the
values (-0.0 directly before 0.0). Negative infinity and NaN have keys before those of all finite values or after them.

Values are (h, w) of any strides. They are copied in pieces as long as `buffer`, so that the loops read them
contiguously; `buffer` and `keys` are scratch memory: floats, and unsigned integers of the same size. Each loop is a
separate function, so that the compiler vectorises it.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

BINS = 1 << 16
"""The number of bins of a count of keys."""
BLOCK = 16
"""Values that are tested together: usually none of them is selected."""
SUMS = {"reassoc", "contract", "nsz"}
"""Floating-point transformations that the compiler may apply to sums, to vectorise them; NaN stays NaN."""


@numba.njit(nogil=True, error_model="numpy")
def _fill(row: Any, buffer: Any, keys: Any) -> None:
    """Copy a piece of a row and compute its keys."""
    bits = buffer.view(keys.dtype)
    kind = keys.dtype.type
    last = kind(8 * keys.itemsize - 1)
    top = kind(1) << last
    for k in range(row.size):
        buffer[k] = row[k]
    for k in range(row.size):
        keys[k] = bits[k] ^ ((kind(0) - (bits[k] >> last)) | top)


@numba.njit(nogil=True, error_model="numpy")
def _ends(keys: Any) -> Any:
    low, high = keys[0], keys[0]
    for k in range(keys.size):
        low, high = min(low, keys[k]), max(high, keys[k])
    return low, high


@numba.njit(nogil=True, error_model="numpy", fastmath=SUMS)
def _spread(values: Any) -> Any:
    """(mean, sum of the squared distances from it)."""
    total, away = 0.0, 0.0
    for k in range(values.size):
        total += np.float64(values[k])
    mean = total / values.size
    for k in range(values.size):
        away += (np.float64(values[k]) - mean) ** 2
    return mean, away


@numba.njit(nogil=True, error_model="numpy")
def _finite(buffer: Any, keys: Any, lowest: Any, highest: Any) -> Any:
    """Move the finite values of a piece to its start. Returns how many there are, and how many are NaN."""
    size, nan = 0, 0
    for k in range(keys.size):
        if lowest <= keys[k] <= highest:
            keys[size], buffer[size] = keys[k], buffer[k]
            size += 1
        else:
            nan += buffer[k] != buffer[k]
    return size, nan


@numba.njit(nogil=True, error_model="numpy")
def _ranks(keys: Any, first: Any, last: Any) -> Any:
    """How many keys are below `first`, and how many are at most `last`."""
    below, upto = 0, 0
    for k in range(keys.size):
        below += keys[k] < first
    for k in range(keys.size):
        upto += keys[k] <= last
    return below, upto


@numba.njit(nogil=True, error_model="numpy")
def _pick(keys: Any, first: Any, last: Any, found: Any, size: Any) -> Any:
    """Append the keys from `first` to `last` to the `size` ones in `found`. Returns the new number."""
    for start in range(0, keys.size, BLOCK):
        stop, some = min(start + BLOCK, keys.size), False
        for k in range(start, stop):
            some |= first <= keys[k] <= last
        if some:
            for k in range(start, stop):
                if first <= keys[k] <= last:
                    found[size] = keys[k]
                    size += 1
    return size


@numba.njit(cache=True, nogil=True, error_model="numpy")
def survey(values: Any, buffer: Any, keys: Any, finite: Any, middle: Any, found: Any) -> Any:
    """(NaN, count, mean, squares, low, high, below, upto, inside) of the finite values: the sum of the squared
    distances from their mean, the lowest and the highest key, how many keys are below the `middle`, and how many are
    below its end. `finite` and `middle` are (first, last) keys. The keys of the middle are the first `inside` ones
    of `found`; -1 where they do not fit into it.

    Every piece has its own mean, so that large values of small deviation lose no precision (Chan, Golub and LeVeque,
    1979).
    """
    (lowest, highest), (first, last) = finite, middle
    nan, size, mean, squares, low, high = 0, 0, 0.0, 0.0, highest, lowest
    below, upto, inside = 0, 0, 0
    for row in values:
        for start in range(0, row.size, buffer.size):
            part = row[start : start + buffer.size]
            count = part.size
            _fill(part, buffer, keys)
            one, other = _ends(keys[:count])
            if one < lowest or other > highest:
                count, lost = _finite(buffer[:count], keys[:count], lowest, highest)
                nan += lost
                if count == 0:
                    continue
                one, other = _ends(keys[:count])
            low, high = min(low, one), max(high, other)
            own, away = _spread(buffer[:count])
            delta, share = own - mean, count / (size + count)
            squares += away + delta * delta * size * share
            mean += delta * share
            size += count
            less, most = _ranks(keys[:count], first, last)
            below, upto = below + less, upto + most
            room = 0 <= inside <= found.size - count
            inside = _pick(keys[:count], first, last, found, inside) if room else -1
    return nan, size, mean, squares, low, high, below, upto, inside


@numba.njit(cache=True, nogil=True, error_model="numpy")
def count(values: Any, buffer: Any, keys: Any, first: Any, shift: Any) -> Any:
    """How many values have a key in each of BINS bins of 2^shift keys; the first bin starts at `first`."""
    counts = np.zeros(BINS, np.int64)
    for row in values:
        for start in range(0, row.size, buffer.size):
            part = row[start : start + buffer.size]
            _fill(part, buffer, keys)
            for k in range(part.size):
                if keys[k] >= first and (keys[k] - first) >> shift < BINS:
                    counts[(keys[k] - first) >> shift] += 1
    return counts


@numba.njit(cache=True, nogil=True, error_model="numpy")
def levels(values: Any, size: Any) -> Any:
    """How often each of `size` whole numbers occurs."""
    counts = np.zeros(size, np.int64)
    for row in range(values.shape[0]):
        for column in range(values.shape[1]):
            counts[values[row, column]] += 1
    return counts


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=SUMS)
def squared_distances(one: Any, other: Any) -> Any:
    """(count, sum) of the squared distances between two arrays of the same shape, over pairs of finite values."""
    size, total = 0, 0.0
    for row in range(one.shape[0]):
        for column in range(one.shape[1]):
            away: Any = np.float64(one[row, column]) - np.float64(other[row, column])
            finite = -np.inf < away < np.inf
            away = away if finite else 0.0
            total += away * away
            size += int(finite)
    return size, total
