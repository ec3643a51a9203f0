"""Devices by name: cpu, cuda:N and sim. There is no silent fallback: a missing device is an error that says why."""

from __future__ import annotations

import re
from functools import cache

from gpu_ops.device_names import device_host
from gpu_ops.devices.cuda.probe import cuda_devices
from gpu_ops.devices.status import DeviceStatus
from gpu_ops.errors import DeviceError, counted, plain
from gpu_ops.plan import Device


@cache
def open_device(name: str) -> Device:
    """The device of that name, opened once per process. Raises DeviceError, which names the devices that exist."""
    if name == "cpu":
        from gpu_ops.devices.cpu import CpuDevice

        return CpuDevice()
    simulated = re.fullmatch(r"sim(?::(sm_\d+))?", name)
    if simulated:
        return _simulated(simulated[1])
    match = re.fullmatch(r"cuda(?::(\d+))?", name)
    if device_host(name):
        where = f"Device {plain(name, 60)} is on another machine"
        raise DeviceError(f"{where}; take it in the window, or with run, bench or sweep.")
    if not match:
        raise DeviceError(
            f"There is no device {plain(name, 60)!r}; choose cpu, sim, sim:sm_90 or cuda:N (kernelscope doctor)."
        )
    index = int(match[1] or 0)
    statuses = cuda_devices()
    if index >= len(statuses) or not statuses[index].available:
        reason = (
            statuses[min(index, len(statuses) - 1)].reason
            or f"this machine has {counted(len(statuses), 'CUDA device')}"
        )
        raise DeviceError(f"Device {name} is not available: {reason}.")
    from gpu_ops.devices.cuda.device import CudaDevice

    return CudaDevice(index)


def _simulated(architecture: str | None) -> Device:
    """A simulated GPU. Raises DeviceError if NVRTC is missing or does not know the architecture."""
    from gpu_ops.devices.nvrtc import supported_architectures
    from gpu_ops.devices.sim.device import DEFAULT_ARCHITECTURE, SimDevice

    architecture = architecture or DEFAULT_ARCHITECTURE
    if architecture not in supported_architectures():
        raise DeviceError(f"There is no simulated {architecture}; choose from {', '.join(supported_architectures())}.")
    return SimDevice(architecture)


def device_statuses() -> tuple[DeviceStatus, ...]:
    """The status of every device: the CPU first, then each CUDA device (or one status that says why there is none), and
    the simulated GPU last."""
    from gpu_ops.devices.cpu import cpu_model

    return (DeviceStatus("cpu", cpu_model(), True), *cuda_devices(), _simulated_status())


def _simulated_status() -> DeviceStatus:
    from gpu_ops.devices.nvrtc import reason, supported_architectures

    try:
        newest = supported_architectures()[-1]
    except DeviceError as error:
        return DeviceStatus("sim", "simulated GPU", False, str(error))
    if reason():
        return DeviceStatus("sim", "simulated GPU without NVRTC: shipped kernels at default settings", True)
    return DeviceStatus("sim", f"simulated GPU, sm_75 ({newest} and others as sim:{newest})", True)


__all__ = ["DeviceStatus", "cuda_devices", "device_statuses", "open_device"]
