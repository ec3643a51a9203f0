"""Host and shared memory: pageable, page-locked, mapped and managed."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from gpu_ops.devices.cuda.current import free_on_device
from gpu_ops.plan import MemoryKind


def allocate(kind: MemoryKind, shape: tuple[int, ...], dtype: Any, device: int) -> Any:
    """Uninitialised memory of that kind, on the current device, which is `device`. Mapped memory is returned as an
    array for kernels, which keeps the host's view of the memory alive."""
    import cupy
    import cupyx

    if kind == "pageable":
        return np.empty(shape, dtype)
    if kind == "registered":
        return _registered(shape, dtype)
    if kind == "managed":
        with cupy.cuda.using_allocator(cupy.cuda.malloc_managed):
            return cupy.empty(shape, dtype)
    pinned = cupyx.empty_pinned(shape, dtype)
    if kind == "pinned":
        return pinned
    # With unified addressing all page-locked memory is mapped, at the same address on both sides.
    memory = cupy.cuda.UnownedMemory(pinned.ctypes.data, max(pinned.nbytes, 1), pinned, device)
    return cupy.ndarray(shape, dtype, cupy.cuda.MemoryPointer(memory, 0))


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
_WIDEST_ACCESS = 16
"""The maximum number of bytes that a thread loads from a row at once; the driver allows 4, 8 or 16."""


def transfer_abilities(index: int) -> dict[str, Any]:
    """What a device's copies can do, as the driver says: how many copy engines work beside its kernels; whether pinned
    host memory is `mapped` (kernels access it) and `portable` (pinned for every device); whether host and kernels may
    access `managed` memory at once, so that single pages migrate; and the `peers` whose memory it reaches directly."""
    from cupy.cuda import runtime

    properties, count = runtime.getDeviceProperties(index), runtime.getDeviceCount()
    return {
        "copy_engines": int(properties["asyncEngineCount"]),
        "mapped": bool(properties["canMapHostMemory"]),
        "portable": bool(properties["unifiedAddressing"]),
        "managed": bool(properties["concurrentManagedAccess"]),
        "peers": [f"cuda:{k}" for k in range(count) if k != index and runtime.deviceCanAccessPeer(index, k)],
    }


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
