"""Which pages of a TIFF make up its frames: of several series the main one, of a set of files all existing ones."""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from gpu_ops.errors import InputError, plain
from gpu_ops.io.codec import codec
from gpu_ops.io.images.tiff_chain import check_chain, first_description
from gpu_ops.io.regular import require_regular

REDUCED, MASK = 1, 4
"""Bits of NewSubfileType: a page that is a reduced version of another one, or its transparency mask."""
OLD_REDUCED = 2
"""The value of the older tag SubfileType for a reduced version."""
UUID = re.compile(r"<(?:\w+:)?UUID\b([^<>]*)>([^<]*)<")
NAME = re.compile(r"\bFileName\s*=\s*[\"']([^\"']*)[\"']")
OWN = re.compile(r"<(?:\w+:)?OME\b[^<>]*?\bUUID\s*=\s*[\"']([^\"']*)[\"']")
ELSEWHERE = re.compile(r"<(?:\w+:)?BinaryOnly\b[^<>]*?\bMetadataFile\s*=\s*[\"']([^\"']*)[\"']")
MOST_NAMES = 3
"""The most names and numbers in one sentence."""


class Frames(NamedTuple):
    """How many `pages` there are, and the offset of the first in bytes where they are contiguous, else None.
    `notes` are sentences about deviations from the file's metadata."""

    pages: int
    offset: int | None
    notes: tuple[str, ...] = ()


def files_of_set(xml: str, path: Path, name: str) -> tuple[str, ...]:
    """The names of the other files in OME's XML. Raises InputError for a name outside the file's folder."""
    own = OWN.search(xml)
    ids = [(NAME.search(inside), id.strip()) for inside, id in UUID.findall(xml)]
    others = (found[1] for found, id in ids if found and not (own and own[1].strip() == id))
    names = tuple(dict.fromkeys(map(html.unescape, others)))
    for other in names:
        if other in ("", ".", "..") or any(sign in other for sign in "/\\:\0"):
            raise InputError(
                f"{name} names {plain(other, 60)!r} as a file of its set, and such a file lies in the same folder; "
                "save it as one file."
            )
    return tuple(other for other in names if other.lower() != path.name.lower())


def missing_of(path: Path, others: Sequence[str]) -> tuple[str, ...]:
    """Those files of a set that are not in the file's folder. Raises InputError for one that cannot be read as a
    TIFF."""
    missing = []
    for other in others:
        beside = path.with_name(other)
        if not beside.exists():
            missing.append(other)
            continue
        label = plain(beside)
        require_regular(beside, "an input")
        check_chain(beside, label, InputError(f"{label} is a damaged TIFF file; copy or save it again."))
    return tuple(missing)


def sibling_files(path: Path) -> list[Path]:
    """The other files of a TIFF's set that are in its folder. Raises OSError."""
    found: list[Path] = []
    with suppress(InputError):
        found += (path.with_name(other) for other in files_of_set(first_description(path), path, path.name))
    return [file for file in found if file.is_file()]


def is_small(page: Any) -> bool:
    """Whether a page of tifffile is a reduced version of another one, or a mask."""
    kind = int(page.tags.valueof(254, 0) or 0)
    return bool(kind & (REDUCED | MASK)) or page.tags.valueof(255, 0) == OLD_REDUCED


def main_series(series: Sequence[Any]) -> int:
    """The index of the first series that is neither a thumbnail nor a mask, else 0."""
    return next((k for k, one in enumerate(series) if not is_small(one.keyframe)), 0)


def series_words(series: Any) -> str:
    """A series in words: "5 × 64 × 64, uint16"."""
    small = ", a smaller version or a mask" if is_small(series.keyframe) else ""
    return f"{' × '.join(map(str, series.shape))}, {series.dtype}{small}"


def find_frames(file: Any, series: Any, size: int, missing: Sequence[str], damaged: InputError) -> Frames:
    """The frames of a series of tifffile, whose `file` has `size` bytes; `missing` are the files of its set that do not
    exist."""
    with codec(damaged):
        each = math.prod(series.keyframe.shaped)
        promised, offset = series.size // max(each, 1), series.dataoffset
        own = [number for number, page in enumerate(series.pages) if page is None] if series.kind == "ome" else []
        there, kind = len(file.pages), str(series.kind)
        said, unread = _said(file, series, each), _unread(file) if kind == "ome" else 0
        nbytes = each * series.keyframe.dtype.itemsize if series.keyframe.dtype is not None else 0
    if own or unread:
        notes = (_of_missing(own, promised, missing), _of_unread(unread))
        return Frames(promised, None if own else offset, tuple(filter(None, notes)))
    if kind == "shaped" and there > 1 and there != promised and len(file.series) == len(series.levels) == 1:
        return Frames(there, None, (_of_others(max(said, promised), there),))
    if kind == "imagej" and (promised < there or (offset is None and promised != there)):
        return Frames(there, None, (_of_others(max(said, promised) if promised > there else promised, there),))
    if kind not in ("imagej", "generic") or said <= promised:
        return Frames(promised, offset)
    if promised > 1 or there > 1 or offset is None or not nbytes:
        return Frames(promised, offset, (_of_others(said, promised),))
    whole, rest = divmod(size - offset, nbytes)  # ImageJ writes one page, followed by all frames
    if rest and whole < said and whole:
        return Frames(said, offset)  # its end is missing, which the reader reports
    count = max(1, min(whole, said))
    return Frames(count, offset, () if count == said else (_of_others(said, count),))


def _said(file: Any, series: Any, each: int) -> int:
    """The number of frames in ImageJ's notes, or in the shape that tifffile stores; 1 without either."""
    if series.kind == "shaped":
        words = series.keyframe.shaped_description
        shape = json.loads(words).get("shape", ()) if str(words).startswith("{") else ()
        return max(1, math.prod(map(int, shape)) // max(each, 1))
    notes = (file.imagej_metadata if file.is_imagej else None) or {}
    return int(notes.get("images", 1))


def _unread(file: Any) -> int:
    """The number of pages of the file that belong to none of its series."""
    used = {page.index for one in file.series for page in one.pages if page is not None and page.parent is file}
    return max(0, len(file.pages) - len(used))


def _of_unread(count: int) -> str:
    if not count:
        return ""
    what = (
        "1 page belongs to no image of its description and stays"
        if count == 1
        else (f"{count:,} pages belong to no image of its description and stay")
    )
    return f"{what} unread."


def _of_others(said: int, there: int) -> str:
    return f"Its description says {said:,} frame{'s' * (said != 1)}, and it has {there:,}."


def _of_missing(own: Sequence[int], count: int, files: Sequence[str]) -> str:
    """A sentence about planes that are filled with 0; "" without any."""
    if not own:
        return ""
    numbers = ", ".join(map(str, own[:MOST_NAMES])) + (", …" if len(own) > MOST_NAMES else "")
    what = f"{len(own):,} of {count:,} frames {'are' if len(own) > 1 else 'is'} missing ({numbers}, counted from 0)"
    if not files:
        return f"{what} and filled with 0."
    names = ", ".join(plain(file, 60) for file in files[:MOST_NAMES]) + (", …" if len(files) > MOST_NAMES else "")
    return f"{what} and filled with 0: put {names} into the same folder."


def elsewhere(xml: str) -> str:
    """A sentence about a file whose XML only refers to the file with the description, or omits the names of the other
    files of its set; "" for any other."""
    found, own = ELSEWHERE.search(xml), OWN.search(xml)
    if found is not None:
        name = plain(html.unescape(found[1]), 60)
        return f"It is one file of a set that {name} describes; open that one for all frames."
    ids = {id.strip() for inside, id in UUID.findall(xml) if not NAME.search(inside)} - {own[1].strip() if own else ""}
    if len(ids) > (0 if own else 1):
        return "It is one file of a set that does not name its other files, so only the frames in this one are read."
    return ""
