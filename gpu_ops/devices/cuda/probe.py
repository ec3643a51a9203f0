"""Which CUDA devices work here. `cupy.cuda.is_available` is not enough: it does not notice a missing compiler."""

from __future__ import annotations

from functools import cache

from gpu_ops.devices.instruments import HOLD
from gpu_ops.devices.status import DeviceStatus
from gpu_ops.errors import KernelscopeError


@cache
def cuda_devices() -> tuple[DeviceStatus, ...]:
    """The status of each CUDA device after a real test: CuPy is imported, counts, adds, and compiles and loads a
    kernel."""
    try:
        import cupy
    except ImportError as error:
        reason = f"CuPy cannot be imported ({error}); install kernelscope[cuda13] or kernelscope[cuda12]"
        return (DeviceStatus("cuda:0", "", False, reason),)
    runtime = cupy.cuda.runtime
    try:
        count = runtime.getDeviceCount()
    except runtime.CUDARuntimeError as error:
        reason = f"CUDA finds no driver or no GPU ({error}); install NVIDIA's driver"
        return (DeviceStatus("cuda:0", "", False, reason),)
    return tuple(_try_cuda(index) for index in range(count))


def _try_cuda(index: int) -> DeviceStatus:
    import cupy

    model = ""
    try:
        with cupy.cuda.Device(index):
            model = cupy.cuda.runtime.getDeviceProperties(index)["name"].decode()
            if int((cupy.ones(1) + 1).get()[0]) != 2:
                return DeviceStatus(f"cuda:{index}", model, False, "a one-element addition gave a wrong result")
            from gpu_ops.devices.cuda.device import CudaDevice

            device = CudaDevice(index)
            device.kernel(HOLD.source, HOLD.name)
    except KernelscopeError as error:
        return DeviceStatus(f"cuda:{index}", model, False, str(error).rstrip("."))
    except Exception as error:  # a half-installed CUDA may raise anything, which the probe must survive and report
        return DeviceStatus(f"cuda:{index}", model, False, f"{type(error).__name__}: {error}".rstrip("."))
    return DeviceStatus(f"cuda:{index}", model, True, architecture=device.architecture)
