"""The files of a folder that can be opened, in natural order (2 before 10)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from gpu_ops import FORMATS
from gpu_ops.input_kinds import IMAGE


class Found(NamedTuple):
    """`paths` of files that can be opened by their suffixes, how many of them are `images`, and the `reason` why the
    folder cannot be read, if so."""

    paths: tuple[str, ...]
    images: int = 0
    reason: str = ""


def files_in(folder: str) -> Found:
    """The files directly in a folder whose suffixes are known, without hidden ones."""
    kinds = {suffix: format.kinds for format in FORMATS for suffix in format.suffixes}
    try:
        there = [p for p in Path(folder).iterdir() if p.suffix.lower() in kinds and not p.name.startswith(".")]
        paths = sorted((p for p in there if p.is_file()), key=lambda p: natural(p.name))
    except OSError as error:
        return Found((), 0, f"{folder} cannot be read ({error.strerror}); check its permissions.")
    images = sum(IMAGE.id in kinds[p.suffix.lower()] for p in paths)
    return Found(tuple(map(str, paths)), images)


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """A key for natural order: frame 2 before frame 10, ignoring case."""
    parts = re.findall(r"\d+|\D+", name.casefold())
    return tuple((0, int(part), part) if part.isdecimal() else (1, 0, part) for part in parts)
