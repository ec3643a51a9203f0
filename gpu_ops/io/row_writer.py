"""Writes what is larger than memory as it comes: rows of an image or a signal, or frames of a stack."""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from gpu_ops.errors import InputError, plain
from gpu_ops.io.files import replacing
from gpu_ops.io.inputs import Array
from gpu_ops.io.pieces import write_from
from gpu_ops.io.tiff_writer import TiffWriter
from gpu_ops.output_kinds import OUTPUT_KINDS, ViewKind
from gpu_ops.types import Pixel

NPY, TIFFS = ".npy", (".tif", ".tiff")
Write = Callable[[Array], None]


def check_rows_target(path: str | os.PathLike[str], shape: tuple[int, ...]) -> None:
    """Raises InputError for a name whose format is not written row by row, or cannot hold that shape."""
    suffix, name = Path(path).suffix.lower(), plain(os.fspath(path))
    if suffix != NPY and (suffix not in TIFFS or len(shape) < 2):
        allowed = f"{NPY}, {' or '.join(TIFFS)}" if len(shape) > 1 else NPY
        raise InputError(f"{name} cannot be written in bands; choose a name that ends in {allowed}.")


def check_frames_target(path: str | os.PathLike[str], kind: ViewKind) -> None:
    """Raises InputError for a name whose ending cannot hold a stack of outputs of this kind."""
    allowed = OUTPUT_KINDS[kind].stack_formats
    if Path(path).suffix.lower() not in allowed:
        raise InputError(
            f"{plain(os.fspath(path))} cannot hold a stack of results, each {OUTPUT_KINDS[kind].title}; choose a name "
            f"that ends in {' or '.join(allowed)}."
        )


def check_room(path: str | os.PathLike[str], needed: int, what: str, disk: str) -> None:
    """Raises InputError where the disk of `path` has no room for so many bytes: `what` needs them of the `disk`."""
    free = shutil.disk_usage(Path(os.path.realpath(path)).parent).free
    if needed > free:
        raise InputError(f"{what} {needed:,} bytes, and {disk} has {free:,} free; choose another disk.")


def begin_rows(
    file: IO[bytes],
    path: str | os.PathLike[str],
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    frames: int | None = None,
    pixel: Pixel | None = None,
    note: str = "",
) -> Write:
    """A function that takes the next rows of an array of `shape` and writes them in the format of the path's ending, or
    the next one of so many `frames` of this shape. `pixel` and a `note` go into a TIFF. A file that got fewer rows is
    damaged. Raises InputError for what a TIFF cannot hold, OSError."""
    if Path(path).suffix.lower() != NPY:
        return TiffWriter(file, shape, dtype, frames or 1, plain(os.fspath(path)), pixel, note).write_rows
    whole = shape if frames is None else (frames, *shape)
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": whole}
    np.lib.format.write_array_header_1_0(file, header)
    return lambda rows: write_from(file, np.ascontiguousarray(rows, dtype).reshape(-1).view(np.uint8))


@contextmanager
def writing_rows(
    path: str | os.PathLike[str], shape: tuple[int, ...], dtype: np.dtype[Any], pixel: Pixel | None, note: str
) -> Iterator[Write]:
    """`begin_rows` for a file that appears at the end, when it has all rows; until then the old one stays as it is.
    Raises InputError where the disk has too little room."""
    check_rows_target(path, shape)
    with replacing(path) as file:
        check_room(path, math.prod(shape) * dtype.itemsize, f"{plain(os.fspath(path))} needs", "its disk")
        yield begin_rows(file, path, shape, dtype, None, pixel, note)
