"""Text with one number per line, bit-equal to Python's float() and "%.16f" in both directions.

Short texts are parsed by Python. Long ones are parsed by compiled functions, which leave uncertain lines to Python.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate, pairwise
from pathlib import Path
from typing import IO

import numpy as np

from gpu_ops.errors import InputError, plain
from gpu_ops.io.inputs import Array, check_limit
from gpu_ops.io.opening import Decoded, Opening
from gpu_ops.io.signals.cells import number
from gpu_ops.progress import advance, collect, finite, stage

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
SHORT_BYTES = 4 * 2**20
"""Up to this many bytes Python is faster than loading the compiled functions."""
SHORT_VALUES = 200_000
PIECE_BYTES = 2 * 2**20
WORKERS = min(4, os.cpu_count() or 1)
CHUNK_VALUES = 2**16
LARGEST = 2.0**63
"""From this value on the integer part does not fit a machine word."""


def read_text(opening: Opening) -> Decoded:
    """The numbers as (N,) float64. It counts lines first, so it needs memory only for the result and a few pieces.

    Raises InputError that quotes a line that is not a number; blank lines are allowed at the end only.
    """
    path, name, limit, _ = opening
    cuts = cut(path)
    pieces = list(pairwise(cuts))
    if not pieces:
        raise InputError(f"{name} holds no numbers; write one number a line.")
    parse = _parse_short if cuts[-1] <= SHORT_BYTES else _parse_long
    with ThreadPoolExecutor(WORKERS) as pool:
        with stage(0, 2):
            counts = collect(pool.map(lambda piece: count_lines(read_piece(path, piece)), pieces), len(pieces))
        rows = list(accumulate(counts, initial=0))
        check_limit(name, rows[-1], limit)
        values = np.empty(rows[-1])
        parts = [values[row:end] for row, end in pairwise(rows)]
        with stage(1, 2):
            done = pool.map(
                lambda piece, part, row: parse(read_piece(path, piece), part, row, name), pieces, parts, rows
            )
            collect(done, len(pieces))
    return Decoded(values)


def cut(path: Path) -> list[int]:
    """Offsets of pieces of whole lines, from after a byte order mark to after the last byte that is not blank."""
    with open(path, "rb") as file:
        start = len(BYTE_ORDER_MARK) if file.read(len(BYTE_ORDER_MARK)) == BYTE_ORDER_MARK else 0
        stop = file.seek(0, os.SEEK_END)
        filled = 0
        while not filled and stop > start:
            begin = max(start, stop - PIECE_BYTES)
            file.seek(begin)
            filled = len(file.read(stop - begin).rstrip())
            stop = begin + filled
        cuts = [start]
        while cuts[-1] < stop:
            file.seek(cuts[-1] + PIECE_BYTES)
            file.readline()
            cuts.append(min(file.tell(), stop))
    return cuts


def read_piece(path: Path, piece: tuple[int, int]) -> bytes:
    with open(path, "rb") as file:
        file.seek(piece[0])
        return file.read(piece[1] - piece[0])


def count_lines(data: bytes) -> int:
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord("\n"))) + (not data.endswith(b"\n"))


def _parse_short(data: bytes, values: Array, row: int, name: str) -> None:
    for i, line in zip(range(values.size), data.split(b"\n"), strict=False):  # no line follows the last line break
        values[i] = _number(line, row + i, name)


def _parse_long(data: bytes, values: Array, row: int, name: str) -> None:
    from gpu_ops.io.signals.text_numba import parse_lines

    bits, doubtful = values.view(np.uint64), np.empty(values.size, np.bool_)
    with finite():  # compiles when first called
        parse_lines(np.frombuffer(data, np.uint8), bits, doubtful)
    for i in np.flatnonzero(doubtful):
        begin = int(bits[i])
        end = data.find(b"\n", begin)
        values[i] = _number(data[begin : end if end >= 0 else len(data)], row + int(i), name)


def _number(line: bytes, row: int, name: str) -> float:
    value = number(line.strip(), "point") if line.strip() else None
    if value is not None:
        return value
    raise _bad_line(line, row, name)


def _bad_line(line: bytes, row: int, name: str) -> InputError:
    text = line[:1000].decode("utf-8", "replace").strip()
    fault = f"'{plain(text, 40)}' is not a number" if text else "the line is blank"
    return InputError(f"{name}, line {row + 1}: {fault}; write one number a line, such as 0.5 or -2e-3.")


def write_text(file: IO[bytes], array: Array, rate: float | None, name: str) -> None:
    """Writes a signal (N,) as "%.16f", one number per line; `rate` is not kept."""
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        raise InputError(
            f"{name} cannot hold shape {array.shape} of {array.dtype}; text takes real numbers (N,): save as .npy."
        )
    for begin in range(0, array.size, CHUNK_VALUES):
        advance(begin, array.size)
        chunk = np.ascontiguousarray(array[begin : begin + CHUNK_VALUES], np.float64)
        if array.size > SHORT_VALUES and bool((np.abs(chunk) < LARGEST).all()):
            file.write(_format(chunk))
        else:
            file.write(("%.16f\n" * chunk.size % tuple(chunk.tolist())).encode())


def _format(chunk: Array) -> memoryview:
    from gpu_ops.io.signals.text_numba import LONGEST, format_lines

    text = np.empty(chunk.size * LONGEST, np.uint8)
    with finite():
        return text[: format_lines(chunk.view(np.uint64), text)].data
