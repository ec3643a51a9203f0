"""Host and shared memory: pageable, page-locked, mapped and managed."""

from __future__ import annotations

import ctypes
import math
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from gpu_ops.devices.cuda.current import free_on_device
from gpu_ops.devices.images import no_variable
from gpu_ops.errors import DeviceMemoryError, KernelError, PinnedMemoryError
from gpu_ops.host import free_memory
from gpu_ops.plan import MemoryKind


class ManagedBytes:
    """The managed memory of a device that is in use. The driver allocates more than fits without a word, and a GPU can
    hang over it."""

    def __init__(self) -> None:
        self._used = self._free = 0

    def take(self, nbytes: int, free: int) -> None:
        """Count an allocation, with so many bytes free on the device now. Memory that no page was migrated to counts as
        free there, so what was free before the first allocation is the limit. Raises DeviceMemoryError."""
        if not self._used:
            self._free = free
        if nbytes > min(free, self._free - self._used):
            raise DeviceMemoryError(
                f"{nbytes:,} bytes of managed memory, beside {self._used:,} in use, are more than the {free:,} bytes "
                "that are free on the device, and it can hang then. Use a smaller input."
            )
        self._used += nbytes

    def give_back(self, nbytes: int) -> None:
        """An allocation was freed."""
        self._used -= nbytes


class _Owner:
    """Keeps an object alive, and can be watched."""

    def __init__(self, owned: Any) -> None:
        self.owned = owned


def allocate(kind: MemoryKind, shape: tuple[int, ...], dtype: Any, device: int) -> Any:
    """Uninitialised memory of the host of that kind, on the current device, which is `device`. Mapped memory comes as
    an array that kernels take; that array keeps the host's view of the memory alive. Raises PinnedMemoryError."""
    import cupy
    import cupyx

    if kind == "pageable":
        return np.empty(shape, dtype)
    nbytes = math.prod(shape) * np.dtype(dtype).itemsize
    if nbytes > (free := free_memory()):
        raise PinnedMemoryError(nbytes, free)
    try:
        if kind == "registered":
            return _registered(shape, dtype)
        pinned = cupyx.empty_pinned(shape, dtype)
    except cupy.cuda.runtime.CUDARuntimeError as error:
        if int(error.status) != _NO_MEMORY:
            raise
        raise PinnedMemoryError(nbytes, free) from None
    if kind == "pinned":
        return pinned
    # With unified addressing all page-locked memory is mapped, at the same address on both sides.
    memory = cupy.cuda.UnownedMemory(pinned.ctypes.data, max(pinned.nbytes, 1), pinned, device)
    return cupy.ndarray(shape, dtype, cupy.cuda.MemoryPointer(memory, 0))


def allocate_managed(shape: tuple[int, ...], dtype: Any, device: int, used: ManagedBytes, free: int) -> Any:
    """Managed memory, of which the device has `free` bytes at most. Raises DeviceMemoryError."""
    import cupy

    nbytes = math.prod(shape) * np.dtype(dtype).itemsize
    used.take(nbytes, free)
    owner = _Owner(None)
    weakref.finalize(owner, used.give_back, nbytes).atexit = False
    with cupy.cuda.using_allocator(cupy.cuda.malloc_managed):
        owner.owned = array = cupy.empty(shape, dtype)
    memory = cupy.cuda.UnownedMemory(array.data.ptr, max(nbytes, 1), owner, device)
    return cupy.ndarray(shape, dtype, cupy.cuda.MemoryPointer(memory, 0))


def is_pinned(array: np.ndarray[Any, Any]) -> bool:
    """Whether the first and the last byte of a host array are page-locked."""
    from cuda.bindings import runtime

    if not array.nbytes:
        return True
    ends = np.lib.array_utils.byte_bounds(array)
    found = [runtime.cudaPointerGetAttributes(address)[1] for address in (ends[0], ends[1] - 1)]
    return all(f is not None and f.type == runtime.cudaMemoryType.cudaMemoryTypeHost for f in found)


def _registered(shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
    """Pageable memory that is registered as page-locked for all devices of the process, as long as it lives."""
    from cupy.cuda import runtime

    array = np.empty(shape, dtype)
    if array.nbytes:
        runtime.hostRegister(array.ctypes.data, array.nbytes, _PORTABLE)
        weakref.finalize(array, _unregister, array.ctypes.data).atexit = False
    return array


def _unregister(address: int) -> None:
    from cupy.cuda import runtime

    with suppress(runtime.CUDARuntimeError):  # for a lost device
        runtime.hostUnregister(address)


def host_view(array: Any) -> np.ndarray[Any, Any]:
    """A NumPy array over mapped or managed memory, which it keeps alive."""
    buffer = (ctypes.c_byte * max(array.nbytes, 1)).from_address(array.data.ptr)
    buffer.memory = array
    return np.frombuffer(buffer, array.dtype, array.size).reshape(array.shape)


def _allocate_pinned() -> None:
    from cupy.cuda import runtime

    runtime.freeHost(runtime.hostAlloc(_SOME, 0))


def _allocate_device() -> None:
    from cupy.cuda import runtime

    address = runtime.malloc(_SOME)  # CuPy's pool would have it in stock
    runtime.memset(address, 0, _SOME)
    runtime.free(address)


def _switch_carveout() -> None:
    from cuda.bindings import runtime

    _, before = runtime.cudaDeviceGetCacheConfig()
    prefers = runtime.cudaFuncCache
    other = (
        prefers.cudaFuncCachePreferL1 if before != prefers.cudaFuncCachePreferL1 else prefers.cudaFuncCachePreferShared
    )
    runtime.cudaDeviceSetCacheConfig(other)


DRIVER_CALLS: Mapping[str, Callable[[], None]] = {
    "pinned allocation": _allocate_pinned,
    "device allocation": _allocate_device,
    "carveout": _switch_carveout,
}
"""See `gpu_ops.plan.Device.driver_call`."""
_SOME = 1 << 20
_PORTABLE = 1
_NO_MEMORY = 2
"""cudaErrorMemoryAllocation"""
_WIDEST_ACCESS = 16
"""The maximum number of bytes that a thread loads from a row at once; the driver allows 4, 8 or 16."""


class _Allocation:
    """Memory from the driver, freed with the last array over it."""

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
    if status == driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY:  # CuPy's pool may keep unused memory
        cupy.get_default_memory_pool().free_all_blocks()
        status, address, pitch = driver.cuMemAllocPitch(columns * dtype.itemsize, rows, _WIDEST_ACCESS)
    if status == driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
        return None
    if status != driver.CUresult.CUDA_SUCCESS:
        raise cupy.cuda.driver.CUDADriverError(int(status))
    memory = cupy.cuda.UnownedMemory(int(address), pitch * rows, _Allocation(int(address), index), index)
    pointer = cupy.cuda.MemoryPointer(memory, 0)
    return cupy.ndarray((rows, columns), dtype, pointer, strides=(pitch, dtype.itemsize))


def content_of(module: Any, source: str, name: str, nbytes: int) -> np.ndarray[Any, Any]:
    """The first bytes of a __device__ variable of a loaded module, (nbytes,) uint8. Raises KernelError without such a
    variable."""
    from cupy.cuda import driver, runtime

    try:
        found = module.get_global_var(name)
    except driver.CUDADriverError:
        raise KernelError(no_variable(source, name, ())) from None
    content = np.zeros(nbytes, np.uint8)
    runtime.memcpy(content.ctypes.data, int(getattr(found, "ptr", found)), nbytes, runtime.memcpyDeviceToHost)
    return content
