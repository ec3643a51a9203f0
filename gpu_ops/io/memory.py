"""Where the values of a file go: memory that the caller provides, so that nobody need copy them again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np

from gpu_ops.errors import InputError
from gpu_ops.io.inputs import Array
from gpu_ops.io.pieces import read_into

LARGE = 1 << 24
"""Bytes from which on it is worth asking for the caller's memory."""
Allocate = Callable[[tuple[int, ...], np.dtype[Any]], Array]

_allocate: ContextVar[Allocate | None] = ContextVar("allocate", default=None)


@contextmanager
def allocating(allocate: Allocate) -> Iterator[None]:
    """Inside, large arrays of files are read into what `allocate(shape, dtype)` gives."""
    token = _allocate.set(allocate)
    try:
        yield
    finally:
        _allocate.reset(token)


def empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Memory for an array of a file, in C order. Raises MemoryError."""
    allocate = _allocate.get()
    nbytes = int(np.prod(shape, dtype=object)) * dtype.itemsize
    return np.empty(shape, dtype) if allocate is None or nbytes < LARGE else allocate(shape, dtype)


def place_of(array: Array) -> int | None:
    """Where a memory-mapped array begins in its file, in bytes; None for any other array, or one with gaps."""
    if not isinstance(array, np.memmap) or not array.flags.c_contiguous or array.base is None:
        return None
    whole: np.memmap[Any, Any] = array
    while isinstance(whole.base, np.memmap):
        whole = whole.base
    return int(whole.offset + array.ctypes.data - whole.ctypes.data)


def read_at(path: Path, name: str, place: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Values that lie in a file as they are. It is read, not mapped: a file that becomes shorter meanwhile would end a
    process that has it mapped. Raises InputError where bytes are missing, OSError."""
    array = empty(shape, dtype)
    with open(path, "rb") as file:
        file.seek(place)
        done = read_into(file, array.reshape(-1).view(np.uint8))
    if done < array.nbytes:
        raise InputError(f"{name} is cut short: {array.nbytes - done} bytes are missing; copy or save it again.")
    return array
