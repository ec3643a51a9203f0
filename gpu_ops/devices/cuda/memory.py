"""Host and shared memory: pageable, page-locked, mapped and managed."""

from __future__ import annotations

import weakref
from functools import partial
from typing import Any

import numpy as np

from gpu_ops.devices.cuda.current import free_on_device
from gpu_ops.plan import MemoryKind


def allocate(kind: MemoryKind, shape: tuple[int, ...], dtype: Any, device: int) -> Any:
    """Uninitialised memory of that kind, on the current device, which is `device`. Mapped memory comes as an array that
    kernels take; that array keeps the host's view of the memory alive."""
    import cupy
    import cupyx

    if kind == "pageable":
        return np.empty(shape, dtype)
    if kind == "managed":
        with cupy.cuda.using_allocator(cupy.cuda.malloc_managed):
            return cupy.empty(shape, dtype)
    pinned = cupyx.empty_pinned(shape, dtype)
    if kind == "pinned":
        return pinned
    # With unified addressing all page-locked memory is mapped, at the same address on both sides.
    memory = cupy.cuda.UnownedMemory(pinned.ctypes.data, max(pinned.nbytes, 1), pinned, device)
    return cupy.ndarray(shape, dtype, cupy.cuda.MemoryPointer(memory, 0))


_WIDEST_ACCESS = 16
"""The maximum number of bytes that a thread loads from a row at once; the driver takes 4, 8 or 16."""


class _Allocation:
    """Memory of the driver, freed with the last array over it."""

    def __init__(self, address: int, index: int) -> None:
        from cuda.bindings import driver

        free = partial(driver.cuMemFree, driver.CUdeviceptr(address))
        weakref.finalize(self, free_on_device, index, free).atexit = False


def allocate_pitched(rows: int, columns: int, dtype: np.dtype[Any], index: int) -> Any:
    """A CuPy array (rows, columns) in pitched memory of device `index`; None if its memory is full. Raises
    CUDADriverError for the driver's other errors, as CuPy does."""
    import cupy
    from cuda.bindings import driver

    status, address, pitch = driver.cuMemAllocPitch(columns * dtype.itemsize, rows, _WIDEST_ACCESS)
    if status == driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY:  # CuPy's pool may hold unused memory
        cupy.get_default_memory_pool().free_all_blocks()
        status, address, pitch = driver.cuMemAllocPitch(columns * dtype.itemsize, rows, _WIDEST_ACCESS)
    if status == driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
        return None
    if status != driver.CUresult.CUDA_SUCCESS:
        raise cupy.cuda.driver.CUDADriverError(int(status))
    memory = cupy.cuda.UnownedMemory(int(address), pitch * rows, _Allocation(int(address), index), index)
    pointer = cupy.cuda.MemoryPointer(memory, 0)
    return cupy.ndarray((rows, columns), dtype, pointer, strides=(pitch, dtype.itemsize))
