"""NumPy's NPY files. This module reads the header itself, so that a file can unpickle and allocate nothing
unchecked."""

from __future__ import annotations

import ast
import math
import os
import re
import struct
import warnings
from typing import IO, Any

import numpy as np

from gpu_ops.errors import InputError, plain
from gpu_ops.io.inputs import Array, check_file_shape, check_limit
from gpu_ops.io.memory import read_at
from gpu_ops.io.opening import Decoded, Opening
from gpu_ops.io.pieces import write_from

MAGIC = b"\x93NUMPY"
LONGEST_HEADER = 10_000
WIDEST = 8
"""Bytes of the widest numbers that it reads."""


def read_npy(opening: Opening) -> Decoded:
    """The file's array in its own type. Raises InputError for damaged, cut, too large and unsuitable files."""
    path, name, limit, _ = opening
    with open(path, "rb") as file:
        dtype, shape, fortran = _header(file, name)
        check_file_shape(shape, name)
        count = math.prod(shape)
        check_limit(name, count, limit)
        place = file.tell()
        needed_bytes, present_bytes = count * dtype.itemsize, os.fstat(file.fileno()).st_size - place
        if present_bytes < needed_bytes:
            raise InputError(
                f"{name} is cut short: it holds {present_bytes} of {needed_bytes} bytes of data; copy or save it again."
            )
    array = read_at(path, name, place, (count,), dtype)
    return Decoded(array.reshape(shape, order="F" if fortran else "C"))


def _header(file: IO[bytes], name: str) -> tuple[np.dtype[Any], tuple[int, ...], bool]:
    damaged = InputError(f"{name} has a damaged NPY header; save the array again with numpy.save.")
    head = file.read(8)
    sizes = {1: "<H", 2: "<I", 3: "<I"}.get(head[6] if len(head) == 8 else 0)
    if sizes is None:
        raise damaged
    try:
        (length,) = struct.unpack(sizes, file.read(struct.calcsize(sizes)))
        if length > LONGEST_HEADER:
            raise damaged
        with warnings.catch_warnings():  # about the spelling of the header
            warnings.simplefilter("ignore")
            fields = ast.literal_eval(file.read(length).decode("utf-8").strip())
        descr, shape, fortran = fields["descr"], fields["shape"], fields["fortran_order"]
    except (struct.error, ValueError, SyntaxError, TypeError, KeyError, RecursionError, MemoryError):
        raise damaged from None
    if (
        not isinstance(shape, tuple)
        or any(type(n) is not int or not 0 <= n < 2**63 for n in shape)
        or not isinstance(fortran, bool)
    ):
        raise damaged
    return _dtype(descr, name, damaged), shape, fortran


def _dtype(descr: object, name: str, damaged: InputError) -> np.dtype[Any]:
    if not isinstance(descr, str) or not re.fullmatch(r"[<>|=]?[biuf]\d+", descr):
        is_object = isinstance(descr, str) and "O" in descr
        what = "pickled Python objects" if is_object else f"values of type {plain(descr, 40)}"
        raise InputError(f"{name} holds {what}; only real numbers can be read: save it as integers or floats.")
    try:
        dtype = np.dtype(descr)
    except TypeError:
        raise damaged from None
    if dtype.itemsize > WIDEST:
        raise InputError(f"{name} holds values of type {dtype}, which not every machine has; save it as float64.")
    return dtype


def write_npy(file: IO[bytes], array: Array, rate: float | None, name: str) -> None:
    """Writes any array without Python objects; `rate` is not kept."""
    if array.dtype.hasobject:
        raise InputError(f"{name} cannot hold Python objects; convert the array to numbers first.")
    # Header and data go through the same buffered file: NumPy's own writer may bypass the buffer.
    whole = np.asarray(array, order="C")
    np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(whole))
    write_from(file, whole.reshape(-1).view(np.uint8))
