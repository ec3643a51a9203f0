"""Where the values of a file go: memory that the caller provides, so that nobody need copy them again."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np

from gpu_ops.errors import InputError
from gpu_ops.host import free_memory
from gpu_ops.io.inputs import Array
from gpu_ops.io.pieces import PIECE, read_into
from gpu_ops.progress import advance

LARGE = 1 << 24
"""Bytes from which on it is worth asking for the caller's memory."""
Allocate = Callable[[tuple[int, ...], np.dtype[Any]], tuple[Array, int | None]]
"""From shape and dtype to an array, and the descriptor of the file in memory in which it begins, where there is one:
the system fills that three times as fast as a program fills fresh memory."""

_allocate: ContextVar[Allocate | None] = ContextVar("allocate", default=None)


@contextmanager
def allocating(allocate: Allocate) -> Iterator[None]:
    """Inside, large arrays of files are read into what `allocate` gives."""
    token = _allocate.set(allocate)
    try:
        yield
    finally:
        _allocate.reset(token)


def empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[Array, int | None]:
    """Memory for the values of a file, as `Allocate` gives it; the caller's where the array is large."""
    allocate = _allocate.get()
    small = math.prod(shape) * dtype.itemsize < LARGE
    return (np.empty(shape, dtype), None) if allocate is None or small else allocate(shape, dtype)


def check_room(name: str, nbytes: int) -> None:
    """Raises InputError where memory has no room for so many bytes of a file whose rows can be read alone. The system
    would grant them all the same, and end the process that uses them."""
    if nbytes >= LARGE and nbytes > (free := free_memory()):
        raise InputError(f"{name} needs {nbytes:,} bytes, and this machine has {free:,} free; {in_bands('FILE')}.")


def in_bands(name: str) -> str:
    """What to do with a file that is too large and whose rows can be read alone."""
    return f"filter it in bands, in a shell: kernelscope run FILTER --input {name} --output OUT.npy"


def same_memory(a: Array, b: Array) -> bool:
    """Whether both are the same values in the same place."""
    same = a.ctypes.data == b.ctypes.data and a.nbytes == b.nbytes and a.dtype == b.dtype
    return same and bool(b.flags.c_contiguous)


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
    array, target = empty(shape, dtype)
    with open(path, "rb") as file:
        if target is not None:
            done = _send(file.fileno(), place, target, array.nbytes)
        else:
            file.seek(place)
            done = read_into(file, array.reshape(-1).view(np.uint8))
    if done < array.nbytes:
        raise InputError(f"{name} is cut short: {array.nbytes - done} bytes are missing; copy or save it again.")
    return array


def _send(source: int, place: int, target: int, nbytes: int) -> int:
    """Copy bytes from one file to the beginning of another, within the system; returns how many there were."""
    done = 0
    os.lseek(target, 0, os.SEEK_SET)
    while done < nbytes:
        advance(done, nbytes)
        sent = os.sendfile(target, source, place + done, min(PIECE, nbytes - done))
        if not sent:
            break
        done += sent
    return done
