"""Checks the chain of a TIFF's directories, one for each page: readers would follow a circular chain for ever, and
tifffile reads a broken chain up to the break without an error."""

from __future__ import annotations

import os
import struct
from contextlib import suppress
from pathlib import Path

from gpu_ops.errors import InputError
from gpu_ops.progress import advance

DESCRIPTION = 270
LONGEST = 1 << 24
"""The most bytes of a description."""
MOST_PAGES = 100_000
MOST_ENTRIES = 4096
BIG = 43
LEAST = 8
"""The smallest offset of a directory: the end of the header."""


def check_chain(path: Path, name: str, damaged: InputError) -> None:
    """Raises InputError unless each directory is within the file, and the chain ends; OSError."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(16)
        if len(head) < 4:
            raise _cut(name)
        order, start, count, entry, offset = _sizes(head)
        wide, narrow = struct.calcsize(offset), struct.calcsize(count)
        if len(head) < start + wide:
            raise _cut(name)
        (place,) = struct.unpack(offset, head[start : start + wide])
        seen: set[int] = set()
        while place:
            advance(place, max(size, place))
            if place in seen or place < LEAST:
                raise damaged
            if place >= size:
                raise _cut(name)
            if len(seen) >= MOST_PAGES:
                raise InputError(f"{name} has more than {MOST_PAGES:,} pages; split it into files of fewer.")
            seen.add(place)
            file.seek(place)
            entries = int.from_bytes(file.read(narrow), "little" if order == "<" else "big")
            if entries > MOST_ENTRIES or not entries:
                raise damaged
            file.seek(place + narrow + entries * entry)
            next = file.read(wide)
            if len(next) < wide:
                raise _cut(name)
            (place,) = struct.unpack(offset, next)
        if not seen:
            raise damaged


def _sizes(head: bytes) -> tuple[str, int, str, int, str]:
    """The byte order of a TIFF, the position of the offset of its first directory, and how counts, entries and offsets
    are stored: formats of `struct`, for entries their size."""
    order = "<" if head[:2] == b"II" else ">"
    big = struct.unpack(f"{order}H", head[2:4])[0] == BIG
    return (order, 8, f"{order}Q", 20, f"{order}Q") if big else (order, 4, f"{order}H", 12, f"{order}I")


def first_description(path: Path) -> str:
    """The description of a TIFF's first page; "" without one, or if it cannot be found. Raises OSError."""
    with open(path, "rb") as file, suppress(struct.error, OverflowError, ValueError):
        head = file.read(16)
        order, start, count, entry, offset = _sizes(head)
        wide, narrow = struct.calcsize(offset), struct.calcsize(count)
        file.seek(*struct.unpack(offset, head[start : start + wide]))
        (entries,) = struct.unpack(count, file.read(narrow))
        directory = file.read(entry * min(entries, MOST_ENTRIES))
        for place in range(0, len(directory) - entry + 1, entry):
            tag, _, length = struct.unpack_from(f"{order}HH{offset[1]}", directory, place)
            if tag == DESCRIPTION and wide < length <= LONGEST:
                file.seek(*struct.unpack_from(offset, directory, place + entry - wide))
                return file.read(length).rstrip(b"\0").decode("utf-8", "replace")
    return ""


def _cut(name: str) -> InputError:
    return InputError(f"{name} is cut short: a list of its pages is missing; copy or save it again.")
