"""Devices by name: cpu and cuda:N. Nothing is chosen silently; what is not there is a DeviceError with its reason."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from gpu_ops.devices.compiler import compile_kernel
from gpu_ops.devices.instruments import HOLD
from gpu_ops.errors import DeviceError, KernelscopeError
from gpu_ops.plan import Device


@dataclass(frozen=True)
class DeviceStatus:
    """Whether a device can be used here; `reason` says why not and what to install."""

    name: str
    model: str
    available: bool
    reason: str = ""


@cache
def open_device(name: str) -> Device:
    """The device of that name, opened once per process. Raises DeviceError naming what there is."""
    if name == "cpu":
        from gpu_ops.devices.cpu import CpuDevice

        return CpuDevice()
    match = re.fullmatch(r"cuda(?::(\d+))?", name)
    if not match:
        raise DeviceError(f"There is no device {name!r}; choose cpu or cuda:N (kernelscope doctor lists them).")
    index = int(match[1] or 0)
    statuses = cuda_devices()
    if index >= len(statuses) or not statuses[index].available:
        reason = statuses[min(index, len(statuses) - 1)].reason or f"this machine has {len(statuses)} CUDA devices"
        raise DeviceError(f"Device {name} is not available: {reason}.")
    from gpu_ops.devices.cuda.device import CudaDevice

    return CudaDevice(index)


def device_statuses() -> tuple[DeviceStatus, ...]:
    """Every device kind with its state: the CPU first, then each CUDA device, or the one reason why there is none."""
    from gpu_ops.devices.cpu import cpu_model

    return (DeviceStatus("cpu", cpu_model(), True), *cuda_devices())


@cache
def cuda_devices() -> tuple[DeviceStatus, ...]:
    """CUDA devices, each tried in earnest: CuPy imports, counts, adds, compiles and loads a kernel."""
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
    except Exception as error:  # a probe must survive whatever a half-installed CUDA raises, and report it
        return DeviceStatus(f"cuda:{index}", model, False, f"{type(error).__name__}: {error}".rstrip("."))
    return DeviceStatus(f"cuda:{index}", model, True)


__all__ = ["DeviceStatus", "compile_kernel", "cuda_devices", "device_statuses", "open_device"]
