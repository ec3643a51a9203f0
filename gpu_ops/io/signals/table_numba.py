"""Compiled conversion of the cells of a table to numbers; the arithmetic is that of `text_numba`."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from gpu_ops.io.signals.text_numba import NEWLINE, RETURN, SPACE, TAB, Bytes, Words, number

Places = np.ndarray[Any, np.dtype[np.int64]]
QUOTE = 34
NOTHING = 256
"""The separator of lines with a single cell: no byte."""
NAN = np.uint64(0x7FF8000000000000)


@numba.njit(cache=True, nogil=True)
def _blank(data: Bytes, i: int, stop: int, separator: int) -> int:
    """The end of the blanks from i on that are not separators."""
    while i < stop and (data[i] == SPACE or data[i] == RETURN or (data[i] == TAB and separator != TAB)):
        i += 1
    return i


@numba.njit(cache=True, nogil=True)
def _skip(data: Bytes, i: int, stop: int, separator: int) -> int:
    """The end of a cell that is not wanted: its separator, or the end of its line. A separator in quotes belongs to the
    cell."""
    inside = False
    while i < stop and data[i] != NEWLINE:
        if data[i] == QUOTE:
            inside = not inside
        elif not inside and (data[i] == separator or (separator == SPACE and data[i] == TAB)):
            break
        i += 1
    return i


@numba.njit(cache=True, nogil=True)
def _cell(data: Bytes, i: int, stop: int, separator: int) -> Any:
    """Read one number, with or without quotes: its end, its bits, and whether they are certain. Empty is NaN."""
    quoted = i < stop and data[i] == QUOTE
    if quoted:
        i = _blank(data, i + 1, stop, separator)
    elif separator < NOTHING and separator != SPACE and (i == stop or data[i] == separator or data[i] == NEWLINE):
        return i, NAN, True
    i, value, sure = number(data, i, stop)
    i = _blank(data, i, stop, separator)
    if quoted:
        sure = sure and i < stop and data[i] == QUOTE
        i = _blank(data, i + 1, stop, separator)
    return i, value, sure


@numba.njit(cache=True, nogil=True)
def parse_rows(
    data: Bytes, separator: int, target: Places, bits: Words, doubtful: np.ndarray[Any, np.dtype[np.bool_]]
) -> None:
    """Parse the lines of `data` into rows of `bits` (rows, wanted), one double each. Column k goes to `target[k]`; it
    is left out where that is negative.

    An uncertain line, or one with another number of columns, has `doubtful` set and its offset as its first bits.
    """
    i, stop, columns = 0, len(data), len(target)
    for row in range(len(bits)):
        begin, sure, column, more = i, True, 0, True
        i = _blank(data, i, stop, separator)
        if separator == SPACE:
            i = _blanks(data, i, stop)
        while more and sure:
            if column >= columns:
                sure = False
            elif target[column] >= 0:
                i, value, good = _cell(data, i, stop, separator)
                bits[row, target[column]] = value
                alone = separator != SPACE or i == stop or data[i] == NEWLINE or data[i - 1] == SPACE
                sure = good and (alone or data[i] == TAB or data[i - 1] == TAB or data[i - 1] == RETURN)
            else:
                i = _skip(data, i, stop, separator)
            column += 1
            if separator == SPACE:
                i = _blanks(data, i, stop)
                more = i < stop and data[i] != NEWLINE
            else:
                more = i < stop and data[i] == separator
                i = _blank(data, i + 1, stop, separator) if more else i
        if not sure or column != columns or (i < stop and data[i] != NEWLINE):
            doubtful[row], bits[row, 0] = True, np.uint64(begin)
            while i < stop and data[i] != NEWLINE:
                i += 1
        else:
            doubtful[row] = False
        i += 1


@numba.njit(cache=True, nogil=True)
def _blanks(data: Bytes, i: int, stop: int) -> int:
    """The end of all blanks from i on."""
    while i < stop and (data[i] == SPACE or data[i] == TAB or data[i] == RETURN):
        i += 1
    return i
