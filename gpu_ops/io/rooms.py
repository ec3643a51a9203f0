"""Memory that one process gives to another, so that an array which is made there need not be copied. Linux alone has
names under which another process can open memory."""

from __future__ import annotations

import math
import mmap
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from gpu_ops.io.inputs import Array
from gpu_ops.io.memory import empty, same_memory

Shape = tuple[int, ...]
Ask = Callable[[Shape, np.dtype[Any]], str]
"""From shape and dtype to the name of a room, "" where there is none."""


class Room:
    """An array, in the caller's memory where the caller gives some (`memory.allocating`). Another process can open it
    by its `name` until `close`; the name is "" where the system has none. Raises OSError."""

    def __init__(self, shape: Shape, dtype: np.dtype[Any]) -> None:
        self.name, self._own = "", -1
        self.array, descriptor = empty(shape, dtype)
        if descriptor is None and self.array.nbytes and hasattr(os, "memfd_create"):
            descriptor = self._own = os.memfd_create("kernelscope")
            try:
                os.truncate(descriptor, self.array.nbytes)
                self.array = np.ndarray(shape, dtype, mmap.mmap(descriptor, self.array.nbytes))
            except BaseException:
                self.close()
                raise
        if descriptor is not None:
            self.name = f"/proc/{os.getpid()}/fd/{descriptor}"

    def close(self) -> None:
        """Give up the name. The array stays valid. A second call does nothing."""
        if self._own >= 0:
            os.close(self._own)
        self.name, self._own = "", -1


class Guest:
    """The other process's side: it asks for rooms, and knows which array lies in the last one."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._array: Array | None = None

    def allocate(self, shape: Shape, dtype: np.dtype[Any]) -> tuple[Array, None]:
        """An array in a room; in this process's own memory where there is none, or it cannot be opened."""
        name, self._array = self._ask(shape, dtype), None
        if name:
            with suppress(OSError), open(name, "r+b") as file:
                populated = mmap.MAP_SHARED | mmap.MAP_POPULATE  # page by page takes much longer
                map = mmap.mmap(file.fileno(), math.prod(shape) * dtype.itemsize, populated)
                self._array = np.ndarray(shape, dtype, map)
        return (np.empty(shape, dtype) if self._array is None else self._array), None

    def holds(self, array: Array) -> bool:
        """Whether the array is the one in the last room."""
        return self._array is not None and same_memory(self._array, array)

    def bring(self, array: Array) -> bool:
        """Copy an array into a room, unless it lies in one. Returns whether it lies there now."""
        if self.holds(array):
            return True
        self.allocate(array.shape, array.dtype)
        if self._array is None:
            return False
        np.copyto(self._array, array)
        return True
