"""Compiled loops that undo the filters of a PNG's rows (PNG specification, 9.2)."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

Bytes = np.ndarray[Any, np.dtype[np.uint8]]

NONE, SUB, UP, AVERAGE, PAETH = range(5)


@numba.njit(cache=True, nogil=True)
def _sub(line: Bytes, row: Bytes, step: int) -> None:
    """Each byte is a difference from the one `step` before."""
    if step == 1:  # in registers: reading a value that was just written costs several cycles
        left = np.uint8(0)
        for i in range(row.size):
            left = np.uint8(left + line[i])
            row[i] = left
    elif step == 3:
        red, green, blue = np.uint8(0), np.uint8(0), np.uint8(0)
        for i in range(0, row.size, 3):
            red, green = np.uint8(red + line[i]), np.uint8(green + line[i + 1])
            blue = np.uint8(blue + line[i + 2])
            row[i], row[i + 1], row[i + 2] = red, green, blue
    else:
        row[:step] = line[:step]
        for i in range(step, row.size):
            row[i] = np.uint8(line[i] + row[i - step])


@numba.njit(cache=True, nogil=True)
def _average(line: Bytes, above: Bytes, row: Bytes, step: int) -> None:
    """Each byte is a difference from the mean of the one before and the one above."""
    for i in range(step):
        row[i] = np.uint8(line[i] + (above[i] >> 1))
    if step == 1:
        left = np.int32(row[0])
        for i in range(1, row.size):
            left = (np.int32(line[i]) + ((left + np.int32(above[i])) >> 1)) & 255
            row[i] = np.uint8(left)
        return
    for i in range(step, row.size):
        row[i] = np.uint8(line[i] + ((np.int32(row[i - step]) + np.int32(above[i])) >> 1))


@numba.njit(cache=True, nogil=True)
def _nearest(left: Any, up: Any, corner: Any) -> Any:
    """The neighbour that is nearest to left + up - corner."""
    by_left, by_up, by_corner = abs(up - corner), abs(left - corner), abs(left + up - corner - corner)
    if by_left <= by_up and by_left <= by_corner:
        return left
    return up if by_up <= by_corner else corner


@numba.njit(cache=True, nogil=True)
def _paeth(line: Bytes, above: Bytes, row: Bytes, step: int) -> None:
    """Each byte is a difference from the neighbour that is nearest to a plane through all three."""
    for i in range(step):
        row[i] = np.uint8(line[i] + above[i])
    if step == 1:
        left, corner = np.int32(row[0]), np.int32(above[0])
        for i in range(1, row.size):
            up = np.int32(above[i])
            left = (np.int32(line[i]) + _nearest(left, up, corner)) & 255
            row[i], corner = np.uint8(left), up
        return
    for i in range(step, row.size):
        left, up, corner = np.int32(row[i - step]), np.int32(above[i]), np.int32(above[i - step])
        row[i] = np.uint8(line[i] + _nearest(left, up, corner))


@numba.njit(cache=True, nogil=True)
def unfilter(lines: Bytes, rows: Bytes, first: int, last: int, step: int) -> bool:
    """Fill `rows` (H, N) from `first` to before `last` with the values that `lines` (H, 1 + N) encode; the first
    byte of a line is its filter. A pixel has `step` bytes. False for an unknown filter."""
    nothing = np.zeros(rows.shape[1], np.uint8)
    for k in range(first, last):
        line, row, above = lines[k, 1:], rows[k], nothing if k == 0 else rows[k - 1]
        filter = lines[k, 0]
        if filter == NONE:
            row[:] = line
        elif filter == SUB:
            _sub(line, row, step)
        elif filter == UP:
            for i in range(row.size):
                row[i] = np.uint8(line[i] + above[i])
        elif filter == AVERAGE:
            _average(line, above, row, step)
        elif filter == PAETH:
            _paeth(line, above, row, step)
        else:
            return False
    return True
