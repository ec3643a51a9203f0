"""Arrays that lie on a CUDA device already, whatever library made them, and plans that run there again and again."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from gpu_ops.errors import DeviceError
from gpu_ops.plan import DeviceArray, Plan


def adopt(device: Any, array: Any) -> DeviceArray:
    """The same memory as an array of the device, C-contiguous: copied there only where it has gaps. All work that was
    enqueued before on the array's stream has ended."""
    with device.at_work():
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
            f"The array lies on a GPU, and CuPy cannot be imported ({error}); install kernelscope[cuda13] or "
            "kernelscope[cuda12], or copy the array to the host."
        ) from None
    if isinstance(array, cupy.ndarray):
        return array
    if hasattr(array, "__cuda_array_interface__"):
        return cupy.asarray(array)
    return cupy.from_dlpack(array)


def copy(device: Any, target: DeviceArray, source: DeviceArray) -> None:
    """Copy between two C-contiguous arrays of the device, in the order of its stream 0."""
    with device.at_work():
        from cupy.cuda import runtime

        stream = device.stream(0)
        runtime.memcpyAsync(target.data.ptr, source.data.ptr, target.nbytes, runtime.memcpyDefault, stream.ptr)


def copied(device: Any, array: DeviceArray) -> DeviceArray:
    """A copy that belongs to the caller. Its memory comes from the caller's current stream, whose work is in order with
    it when it is freed, and not from that of the device's own streams."""
    with device.at_work():
        import cupy

        made = cupy.empty(tuple(array.shape), array.dtype)
        copy(device, made, array)
        device.stream(0).synchronize()
        return made


def limits_of(device: Any, array: DeviceArray) -> tuple[float, float]:
    """The lowest and the highest value of floats there, in one pass; infinities where one of them is not finite."""
    with device.at_work(), device.stream(0):
        import cupy

        found = cupy.empty((), np.result_type(array.dtype, np.complex64))
        found = complex(_limits_kernel(cupy)(array, found).item())
    return found.real, found.imag


@cache
def _limits_kernel(cupy: Any) -> Any:
    """A reduction to the lowest value as the real part and the highest as the imaginary one."""
    infinity = "(T)__int_as_float(0x7f800000)"
    return cupy.ReductionKernel(
        "T sample",
        "C y",
        f"isfinite(sample) ? C(sample, sample) : C(-{infinity}, {infinity})",
        "C(min(a.real(), b.real()), max(a.imag(), b.imag()))",
        "y = a",
        f"C({infinity}, -{infinity})",
        "lowest_and_highest",
    )


def runner(device: Any, plan: Plan) -> Callable[[], None]:
    """A function that runs a plan to its end; its arguments are packed once."""
    prepared, stream = device.prepare(plan), device.stream(0)

    def run() -> None:
        with device.at_work():
            prepared.enqueue()
            stream.synchronize()

    return run
