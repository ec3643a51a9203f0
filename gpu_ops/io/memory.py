"""Memory for the values of a file: the caller may provide it, which avoids a copy, also where another process decodes
them. Only on Linux does memory have names by which another process can open it."""

from __future__ import annotations

import math
import mmap
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
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
"""Arrays of at least this many bytes are read into the caller's memory."""
ROOMIEST, KEPT_SHARE = 2, 16
"""Memory is used again for arrays that fill it at least to half; 1 / KEPT_SHARE of what is free stays for that."""
Allocate = Callable[[tuple[int, ...], np.dtype[Any]], tuple[Array, int | None]]
"""From shape and dtype to an array, and the descriptor of the in-memory file that it starts in, if any: the system
fills that three times as fast as a program fills new memory."""
Shape = tuple[int, ...]
Ask = Callable[[Shape, np.dtype[Any]], str]
"""From shape and dtype to the name of a shared buffer, "" without one."""

_allocate: ContextVar[Allocate | None] = ContextVar("allocate", default=None)


@contextmanager
def allocating(allocate: Allocate) -> Iterator[None]:
    """Inside the block, large arrays of files are read into memory from `allocate`."""
    token = _allocate.set(allocate)
    try:
        yield
    finally:
        _allocate.reset(token)


def empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[Array, int | None]:
    """Memory for the values of a file, as `Allocate` returns it; for large arrays the caller's."""
    allocate = _allocate.get()
    small = math.prod(shape) * dtype.itemsize < LARGE
    return (np.empty(shape, dtype), None) if allocate is None or small else allocate(shape, dtype)


def check_memory(name: str, nbytes: int) -> None:
    """Raises InputError where so many bytes of a file, whose rows can be read separately, do not fit in free memory.
    The system would allocate them anyway, and kill the process that uses them."""
    if nbytes >= LARGE and nbytes > (free := free_memory()):
        raise InputError(f"{name} needs {nbytes:,} bytes, and this machine has {free:,} free; {in_bands('FILE')}.")


def in_bands(name: str) -> str:
    """The advice for a file that is too large and whose rows can be read separately."""
    return f"filter it in bands, in a shell: kernelscope run FILTER --input {name} --output OUT.npy"


def same_memory(a: Array, b: Array) -> bool:
    """Whether both arrays are the same memory."""
    same = a.ctypes.data == b.ctypes.data and a.nbytes == b.nbytes and a.dtype == b.dtype
    return same and bool(b.flags.c_contiguous)


def offset_of(array: Array) -> int | None:
    """The offset in bytes of a memory-mapped array in its file; None for other arrays, or ones with gaps."""
    if not isinstance(array, np.memmap) or not array.flags.c_contiguous or array.base is None:
        return None
    whole: np.memmap[Any, Any] = array
    while isinstance(whole.base, np.memmap):
        whole = whole.base
    return int(whole.offset + array.ctypes.data - whole.ctypes.data)


def read_at(path: Path, name: str, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Values that a file has uncompressed at an offset. It is read, not mapped: a file that is truncated meanwhile
    would crash a process that has it mapped. Raises InputError where bytes are missing, OSError."""
    array, target = empty(shape, dtype)
    with open(path, "rb") as file:
        if target is not None:
            done = _send(file.fileno(), offset, target, array.nbytes)
        else:
            file.seek(offset)
            done = read_into(file, array.reshape(-1).view(np.uint8))
    if done < array.nbytes:
        raise InputError(f"{name} is cut short: {array.nbytes - done:,} bytes are missing; copy or save it again.")
    return array


def _send(source: int, offset: int, target: int, nbytes: int) -> int:
    """Copy bytes from one file to the beginning of another, within the kernel. Returns their number."""
    done = 0
    os.lseek(target, 0, os.SEEK_SET)
    while done < nbytes:
        advance(done, nbytes)
        sent = os.sendfile(target, source, offset + done, min(PIECE, nbytes - done))
        if not sent:
            break
        done += sent
    return done


HAS_MEMORY_FILES = hasattr(os, "memfd_create")


def memory_file(nbytes: int) -> tuple[Array, int]:
    """So many bytes in a new file that is in memory only, and its descriptor, which the caller closes. Raises
    OSError."""
    descriptor = os.memfd_create("kernelscope")
    try:
        os.truncate(descriptor, nbytes)
        return np.frombuffer(mmap.mmap(descriptor, nbytes), np.uint8), descriptor
    except BaseException:
        os.close(descriptor)
        raise


class ReusedMemory:
    """Memory for the large arrays of one file after the other: new memory often takes longer to get than a file to
    read. `prepare` is called with new memory, and `release` before it is given back, with its bytes. At most a share of
    the machine's free memory stays here. Any thread may call `lending`."""

    def __init__(self, prepare: Callable[[Array], object], release: Callable[[Array], object]) -> None:
        self._prepare, self._release, self._lock = prepare, release, threading.Lock()
        self._free = list[tuple[Array, int | None]]()

    @contextmanager
    def lending(self) -> Iterator[Allocate]:
        """A function for `allocating`, whose arrays are valid inside the block."""
        lent = list[tuple[Array, int | None]]()

        def allocate(shape: Shape, dtype: np.dtype[Any]) -> tuple[Array, int | None]:
            nbytes = math.prod(shape) * dtype.itemsize
            lent.append(self._take(nbytes))
            memory, descriptor = lent[-1]
            return memory[:nbytes].view(dtype).reshape(shape), descriptor

        try:
            yield allocate
        finally:
            self._keep(lent)
            lent.clear()  # `allocate` would keep what is not kept here

    def _take(self, nbytes: int) -> tuple[Array, int | None]:
        """Memory of at least so many bytes, and of not many more."""
        with self._lock:
            for place, (memory, _) in enumerate(self._free):
                if nbytes <= memory.nbytes <= ROOMIEST * nbytes:
                    return self._free.pop(place)
        new = memory_file(nbytes) if HAS_MEMORY_FILES else (np.empty(nbytes, np.uint8), None)
        self._prepare(new[0])
        return new

    def _keep(self, lent: list[tuple[Array, int | None]]) -> None:
        """Keep the memory that was used last, within the share."""
        with self._lock:
            self._free, most, dropped = [*lent, *self._free], free_memory() // KEPT_SHARE, []
            while self._free and sum(memory.nbytes for memory, _ in self._free) > most:
                dropped.append(self._free.pop())
        for memory, descriptor in dropped:
            self._release(memory)
            if descriptor is not None:
                os.close(descriptor)


class SharedBuffer:
    """An array that another process can open by its `name` until `close`, in the caller's memory if the caller provides
    some (`memory.allocating`). The name is "" where the system has no names. Raises OSError."""

    def __init__(self, shape: Shape, dtype: np.dtype[Any]) -> None:
        self.name, self._own = "", -1
        self.array, descriptor = empty(shape, dtype)
        if descriptor is None and self.array.nbytes and HAS_MEMORY_FILES:
            memory, self._own = memory_file(self.array.nbytes)
            self.array, descriptor = memory.view(dtype).reshape(shape), self._own
        if descriptor is not None:
            self.name = f"/proc/{os.getpid()}/fd/{descriptor}"

    def close(self) -> None:
        """Release the name. The array stays valid. A second call does nothing."""
        if self._own >= 0:
            os.close(self._own)
        self.name, self._own = "", -1


class BufferClient:
    """The decoder process's side: it requests shared buffers, and keeps the array in the last one."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._array: Array | None = None

    def allocate(self, shape: Shape, dtype: np.dtype[Any]) -> tuple[Array, None]:
        """An array in a shared buffer; in this process's own memory without one, or if it cannot be opened."""
        name, self._array = self._ask(shape, dtype), None
        if name:
            with suppress(OSError), open(name, "r+b") as file:
                populated = mmap.MAP_SHARED | mmap.MAP_POPULATE  # page by page takes much longer
                map = mmap.mmap(file.fileno(), math.prod(shape) * dtype.itemsize, populated)
                self._array = np.ndarray(shape, dtype, map)
        return (np.empty(shape, dtype) if self._array is None else self._array), None

    def holds(self, array: Array) -> bool:
        """Whether the array is the one in the last buffer."""
        return self._array is not None and same_memory(self._array, array)

    def copy_in(self, array: Array) -> bool:
        """Copy an array into a shared buffer, unless it is in one already. Returns whether it is in one now."""
        if self.holds(array):
            return True
        self.allocate(array.shape, array.dtype)
        if self._array is None:
            return False
        np.copyto(self._array, array)
        return True
