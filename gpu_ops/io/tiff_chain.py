"""The chain of a TIFF's directories, one for each page: a damaged one may go in circles, which a reader follows for
ever."""

from __future__ import annotations

import os
import struct
from pathlib import Path

from gpu_ops.errors import InputError
from gpu_ops.progress import advance

MOST_PAGES = 100_000
MOST_ENTRIES = 4096
BIG = 43
LEAST = 8
"""No directory begins before this place, where the header ends."""


def check_chain(path: Path, name: str, damaged: InputError) -> None:
    """Raises InputError unless each directory lies within the file, and the chain of them has an end; OSError."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(16)
        order = "<" if head[:2] == b"II" else ">"
        big = struct.unpack(f"{order}H", head[2:4])[0] == BIG
        start, count, entry, offset = (8, f"{order}Q", 20, f"{order}Q") if big else (4, f"{order}H", 12, f"{order}I")
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
                raise InputError(f"{name} has more than {MOST_PAGES} pages; split it into files of fewer.")
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


def _cut(name: str) -> InputError:
    return InputError(f"{name} is cut short: a list of its pages is missing; copy or save it again.")
