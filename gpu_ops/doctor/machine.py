"""What this machine can do: processor, GPUs, compiler, libraries, bandwidth – and what to install for more."""

from __future__ import annotations

import os
import platform
import sys
from typing import Any

from gpu_ops.devices import device_statuses
from gpu_ops.devices.compiler import nvrtc_version, supported_architectures
from gpu_ops.doctor.window_needs import faults
from gpu_ops.errors import DeviceError
from gpu_ops.host import total_memory
from gpu_ops.report.provenance import library_versions
from gpu_ops.running.roofline import roofs


def examine(with_roofs: bool = True) -> dict[str, Any]:
    """The state of the machine as JSON. Roofs in bytes per second are measured on first use, which takes seconds."""
    statuses = device_statuses()
    state: dict[str, Any] = {
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "cpu": statuses[0].model,
        "threads": os.cpu_count(),
        "memory_bytes": total_memory(),
        "devices": [{"name": s.name, "model": s.model, "available": s.available, "reason": s.reason} for s in statuses],
        "nvrtc": _nvrtc(),
        "libraries": library_versions(),
        "window": {"ready": not (window := faults()), "faults": window},
    }
    if with_roofs:
        state["roofs"] = {s.name: vars(roofs(s.name)) for s in statuses if s.available and s.kind != "sim"}
    return state


def _nvrtc() -> dict[str, Any]:
    try:
        return {"version": ".".join(map(str, nvrtc_version())), "architectures": list(supported_architectures())}
    except DeviceError as error:
        macos = " NVIDIA makes none for macOS: only the cpu variants run here." if sys.platform == "darwin" else ""
        return {"version": None, "reason": f"{error}{macos}"}
