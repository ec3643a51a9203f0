"""Writes images and signals row by row, for results that are larger than memory."""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from gpu_ops.errors import InputError, plain
from gpu_ops.io.files import replacing
from gpu_ops.io.inputs import Array
from gpu_ops.io.pieces import write_from
from gpu_ops.io.tiff_writer import TiffWriter
from gpu_ops.types import Pixel

NPY, TIFFS = ".npy", (".tif", ".tiff")


def check_rows_target(path: str | os.PathLike[str], shape: tuple[int, ...]) -> None:
    """Raises InputError for a name whose format is not written row by row, or cannot hold that shape."""
    suffix, name = Path(path).suffix.lower(), plain(os.fspath(path))
    if suffix != NPY and (suffix not in TIFFS or len(shape) < 2):
        allowed = f"{NPY}, {' or '.join(TIFFS)}" if len(shape) > 1 else NPY
        raise InputError(f"{name} cannot be written in bands; choose a name that ends in {allowed}.")


@contextmanager
def writing_rows(
    path: str | os.PathLike[str],
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    pixel: Pixel | None = None,
    note: str = "",
    token: str = "",
) -> Iterator[Callable[[Array], None]]:
    """A function that takes the next rows of an array of `shape`, (H, W), (H, W, C), (N,) or (N, C). The file appears
    at the end, when it has all rows; until then the old one stays as it is. `pixel` and a `note` go into a TIFF.
    `token` names the file that grows, see `replacing`. Raises InputError where the disk has too little room."""
    check_rows_target(path, shape)
    needed, name = math.prod(shape) * dtype.itemsize, plain(os.fspath(path))
    with replacing(path, token=token) as file:
        free = shutil.disk_usage(Path(os.path.realpath(path)).parent).free
        if needed > free:
            raise InputError(f"{name} needs {needed:,} bytes, and its disk has {free:,} free; choose another disk.")
        if Path(path).suffix.lower() == NPY:
            header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, header)
            yield lambda rows: write_from(file, np.ascontiguousarray(rows, dtype).reshape(-1).view(np.uint8))
        else:
            yield TiffWriter(file, shape, dtype, 1, name, pixel, note).write_rows
