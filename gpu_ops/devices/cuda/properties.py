"""What a CUDA device is: its limits and its architecture, what its copies can do, and its clocks now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpu_ops.devices.nvrtc import nvrtc_version, reason, supported_architectures
from gpu_ops.errors import DeviceError
from gpu_ops.plan import Limits


def limits_of(properties: Mapping[str, Any], memory: int) -> Limits:
    """The limits of a device with these properties and so many bytes of memory."""
    return Limits(
        capability=(int(properties["major"]), int(properties["minor"])),
        threads_per_block=int(properties["maxThreadsPerBlock"]),
        shared_bytes=int(properties["sharedMemPerBlockOptin"]),
        multiprocessors=int(properties["multiProcessorCount"]),
        l2_bytes=int(properties["l2CacheSize"]),
        memory_bytes=int(memory),
        copy_engines=int(properties["asyncEngineCount"]),
    )


def architecture_of(capability: tuple[int, int]) -> str:
    """The newest architecture that NVRTC supports and this device runs: same major, no higher minor."""
    if missing := reason():
        raise DeviceError(missing)
    numbers = [int(a[3:]) for a in supported_architectures()]
    compatible = [a for a in numbers if a // 10 == capability[0] and a % 10 <= capability[1]]
    if not compatible:
        raise DeviceError(
            f"NVRTC {'.'.join(map(str, nvrtc_version()))} does not compile for capability "
            f"{capability[0]}.{capability[1]}; it supports {', '.join(supported_architectures())}. "
            "kernelscope doctor has the command that installs what suits this GPU."
        )
    return f"sm_{max(compatible)}"


def transfer_abilities(index: int) -> dict[str, Any]:
    """What a device's copies can do, as the driver says: how many copy engines work concurrently with its kernels;
    whether pinned host memory is `mapped` (kernels access it) and `portable` (pinned for every device); whether host
    and kernels may access `managed` memory at once, so that single pages migrate; and the `peers` whose memory it
    reaches directly."""
    from cupy.cuda import runtime

    properties, count = runtime.getDeviceProperties(index), runtime.getDeviceCount()
    return {
        "copy_engines": int(properties["asyncEngineCount"]),
        "mapped": bool(properties["canMapHostMemory"]),
        "portable": bool(properties["unifiedAddressing"]),
        "managed": bool(properties["concurrentManagedAccess"]),
        "peers": [f"cuda:{k}" for k in range(count) if k != index and runtime.deviceCanAccessPeer(index, k)],
    }


def nvml_state(index: int) -> dict[str, Any]:
    """Driver version, clocks in MHz and temperature now; empty where nvidia-ml-py is not installed."""
    try:
        import pynvml
    except ImportError:
        return {}
    try:
        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByIndex(index)
        return {
            "driver": pynvml.nvmlSystemGetDriverVersion(),
            "sm_mhz": pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_SM),
            "memory_mhz": pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_MEM),
            "celsius": pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU),
        }
    except pynvml.NVMLError as error:
        return {"nvml": str(error)}
