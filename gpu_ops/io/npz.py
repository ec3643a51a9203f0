"""NumPy's NPZ files: archives of NPY files. An archive with false sizes is rejected before anything is decompressed."""

from __future__ import annotations

import errno
import math
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import numpy as np

from gpu_ops.errors import InputError, ParamError, plain
from gpu_ops.io.arrays import read_header
from gpu_ops.io.inputs import check_file_shape, check_limit
from gpu_ops.io.opening import Decoded, Opening, Survey
from gpu_ops.io.pieces import read_into
from gpu_ops.io.signals.columns import chosen_rate, listed

MAGIC = b"PK\x03\x04"
NPY = ".npy"
LARGEST_RATIO = 1040
"""Deflate expands one byte to at most 1032; the rest is for very short members."""
MOST_LISTED = 100
"""The most arrays whose shapes a survey reads."""


def is_npz(head: bytes) -> bool:
    """Whether a ZIP archive begins with an NPY file."""
    length = int.from_bytes(head[26:28], "little")
    return head.startswith(MAGIC) and head[30 : 30 + length].endswith(NPY.encode())


def read_npz(opening: Opening) -> Decoded:
    """The array that the choice "member" names, or the only one, in its own type.

    Raises InputError for damaged archives, for members with impossible sizes, and where the choice is missing;
    ParamError for a missing member.
    """
    name = opening.name
    with _archive(opening) as archive:
        members = _members(archive, name)
        member = _choose(members, str(opening.choices.get("member", "")), name)
        label = f"{name}, array {plain(member, 40)}"
        with _reading(archive, members[member], label) as file:
            dtype, shape, fortran = read_header(file, label)
            check_file_shape(shape, label)
            count = math.prod(shape)
            check_limit(label, count, opening.limit)
            _check_size(members[member], count * dtype.itemsize, label)
            array = np.empty(count, dtype)
            read = read_into(file, array.view(np.uint8))
            if read < array.nbytes or file.read(1):
                raise InputError(f"{label} has {read:,} of {array.nbytes:,} bytes, or more; save it again.")
    return Decoded(array.reshape(shape, order="F" if fortran else "C"), chosen_rate(opening))


def look_npz(opening: Opening) -> Survey:
    """Names, shapes and types of the arrays; a choice is needed if there are several."""
    with _archive(opening) as archive:
        members = _members(archive, opening.name)
        rows = []
        for member, info in list(members.items())[:MOST_LISTED]:
            label = f"{opening.name}, array {plain(member, 40)}"
            try:
                with _reading(archive, info, label) as file:
                    dtype, shape, _ = read_header(file, label)
                rows.append((plain(member, 60), " × ".join(map(str, shape)) or "one number", str(dtype)))
            except InputError:
                rows.append((plain(member, 60), "", "cannot be read"))
    found = {"member": next(iter(members))} if len(members) == 1 else {}
    facts = (("arrays", f"{len(members)}: {listed(list(members))}"),)
    return Survey(
        "a NumPy archive",
        facts,
        allowed={"member": tuple(members)},
        found=found,
        asks=len(members) > 1 and not opening.choices.get("member"),
        heading=("array", "shape", "type"),
        rows=tuple(rows),
    )


@contextmanager
def _archive(opening: Opening) -> Iterator[zipfile.ZipFile]:
    damaged = InputError(f"{opening.name} is a damaged archive; save it again with numpy.savez.")
    with open(opening.path, "rb") as file:
        try:
            archive = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError, LookupError, OverflowError):
            raise damaged from None
        except OSError as error:
            raise (damaged if error.errno == errno.EINVAL else error) from None  # an offset before the file's start
        with archive:
            yield archive


def _members(archive: zipfile.ZipFile, name: str) -> dict[str, zipfile.ZipInfo]:
    found = {info.filename.removesuffix(NPY): info for info in archive.infolist() if info.filename.endswith(NPY)}
    if not found:
        raise InputError(f"{name} holds no arrays; save them with numpy.savez.")
    return found


def _choose(members: dict[str, zipfile.ZipInfo], member: str, name: str) -> str:
    if not member and len(members) == 1:
        return next(iter(members))
    if not member:
        first = plain(next(iter(members)), 40)
        raise InputError(f"{name} holds {len(members)} arrays: {listed(list(members))}; add --member={first} or such.")
    if member.removesuffix(NPY) not in members:
        raise ParamError(f"{name} has no array {plain(member, 40)!r}; choose one of {listed(list(members))}.")
    return member.removesuffix(NPY)


@contextmanager
def _reading(archive: zipfile.ZipFile, info: zipfile.ZipInfo, label: str) -> Iterator[IO[bytes]]:
    """A member's bytes as they are decompressed; exceptions of the library become an InputError."""
    if info.flag_bits & 1:
        raise InputError(f"{label} is encrypted; save it without a password.")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InputError(f"{label} is compressed in a way that NumPy does not use; save it with numpy.savez.")
    damaged = InputError(f"{label} is damaged; save it again with numpy.savez.")
    try:
        with archive.open(info) as file:
            yield file
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, OverflowError):
        raise damaged from None
    except OSError as error:
        raise (damaged if error.errno == errno.EINVAL else error) from None


def _check_size(info: zipfile.ZipInfo, needed_bytes: int, label: str) -> None:
    """Raises InputError unless the archive can contain so many bytes and the member's size agrees."""
    ratio = LARGEST_RATIO if info.compress_type == zipfile.ZIP_DEFLATED else 1
    if needed_bytes > info.file_size or info.file_size > info.compress_size * ratio + 64:
        raise InputError(
            f"{label} is damaged: its header asks for {needed_bytes:,} bytes, and the archive has "
            f"{info.compress_size:,}, compressed from {info.file_size:,}; save it again with numpy.savez."
        )
