"""Arrays of any library that are already on a CUDA device, and plans that run there repeatedly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpu_ops.devices.cuda.prepare import address
from gpu_ops.devices.instruments import LIMITS
from gpu_ops.errors import DeviceError
from gpu_ops.plan import DeviceArray, Launch, Plan

_LIMITS_BLOCK = 256
"""Threads per block of the kernel that finds limits."""


def adopt(device: Any, array: Any) -> DeviceArray:
    """The same memory as an array of the device, C-contiguous: copied there only if it has gaps. Waits for all work
    that was enqueued on the array's stream."""
    with device.as_current():
        import cupy

        found = cupy.ascontiguousarray(view(array))
        cupy.cuda.get_current_stream().synchronize()  # of CuPy's own arrays, and of the copy
        return found


def view(array: Any) -> Any:
    """A CuPy array over the memory of another library's array. Raises DeviceError where CuPy is missing."""
    try:
        import cupy
    except ImportError as error:
        raise DeviceError(
            f"The array is on a GPU, and CuPy cannot be imported ({error}); install kernelscope[cuda13] or "
            "kernelscope[cuda12], or copy the array to the host."
        ) from None
    if isinstance(array, cupy.ndarray):
        return array
    if hasattr(array, "__cuda_array_interface__"):
        return cupy.asarray(array)
    return cupy.from_dlpack(array)


def copy(device: Any, target: DeviceArray, source: DeviceArray) -> None:
    """Copy to a C-contiguous array of the device from another one or from pinned memory, in the order of its stream
    0."""
    with device.as_current():
        from cupy.cuda import runtime

        stream = device.stream(0)
        runtime.memcpyAsync(target.data.ptr, address(source), target.nbytes, runtime.memcpyDefault, stream.ptr)


def copied(device: Any, array: DeviceArray) -> DeviceArray:
    """A copy that belongs to the caller. Its memory is allocated on the caller's current stream, not on the device's
    own streams, so that freeing it is ordered with the caller's work."""
    with device.as_current():
        import cupy

        made = cupy.empty(tuple(array.shape), array.dtype)
        copy(device, made, array)
        device.stream(0).synchronize()
        return made


class SampleLimits:
    """Finds the lowest and the highest of the floats in an array of the device. With `skip` the last of every `skip`
    samples is ignored: alpha is the last of 4."""

    def __init__(self, device: Any, array: DeviceArray, skip: int = 0) -> None:
        defines = {**LIMITS.defines, "DOUBLE": int(array.dtype.itemsize == 8), "SKIP": skip}
        kernel = device.kernel(LIMITS.source, LIMITS.name, defines)
        blocks = min(2 * device.limits.multiprocessors, -(-int(array.size) // _LIMITS_BLOCK))
        self._pairs = device.allocate("pinned", (2, blocks), array.dtype)
        args = (array, *map(_Mapped, self._pairs), np.int64(array.size))
        launch = Launch(kernel, (blocks, 1, 1), (_LIMITS_BLOCK, 1, 1), args, name="limits")
        self._find = runner(device, Plan((launch,), {}))

    def find(self) -> tuple[float, float]:
        """The limits of the array's present content; -infinity and infinity where a sample is not finite."""
        self._find()
        return float(self._pairs[0].min()), float(self._pairs[1].max())


class _Mapped:
    """Pinned host memory as the argument of a kernel, which accesses it at the same address as the host."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.pointer = array.ctypes.data


def runner(device: Any, plan: Plan) -> Callable[[], None]:
    """A function that runs a plan and waits for its end; its arguments are packed once."""
    prepared, stream = device.prepare(plan), device.stream(0)

    def run() -> None:
        with device.as_current():
            prepared.enqueue()
            stream.synchronize()

    return run
