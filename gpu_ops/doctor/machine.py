"""The capabilities of this machine: processor, GPUs, compiler, libraries, bandwidth – and what to install for more."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from typing import Any

from gpu_ops.devices import device_statuses, open_device
from gpu_ops.devices.libraries import missing
from gpu_ops.devices.nvrtc import nvrtc_version, reason, supported_architectures
from gpu_ops.devices.shipped_programs import architectures
from gpu_ops.devices.status import DeviceStatus
from gpu_ops.doctor.cuda_support import support_json
from gpu_ops.doctor.window_needs import faults
from gpu_ops.filters import FILTERS
from gpu_ops.host import total_memory
from gpu_ops.report.provenance import library_versions, roofs_json


def examine(with_roofs: bool = True) -> dict[str, Any]:
    """The description of the machine as JSON. Roofline bandwidths in bytes per second are measured on first use, which
    takes seconds."""
    statuses = device_statuses()
    state: dict[str, Any] = {
        "system": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "cpu": statuses[0].model,
        "threads": os.cpu_count(),
        "memory_bytes": total_memory(),
        "devices": [_device(s) for s in statuses],
        "nvrtc": _nvrtc(),
        "cuda": support_json(),
        "libraries": library_versions(),
        "not_installed": missing(v.library for f in FILTERS for v in f.variants if v.library),
        "window": {"ready": not (window := faults()), "faults": window},
    }
    if with_roofs:
        state["roofs"] = {s.name: roofs_json(s.name) for s in statuses if s.available and s.kind != "sim"}
    return state


def _device(status: DeviceStatus) -> dict[str, Any]:
    known = {"name": status.name, "model": status.model, "available": status.available, "reason": status.reason}
    if status.available and status.kind == "cuda":
        known["transfers"] = open_device(status.name).describe()["transfers"]
    return known


def transfers_text(abilities: Mapping[str, Any]) -> str:
    """A GPU's transfer capabilities as text; see `transfer_abilities`."""
    engines, peers = abilities["copy_engines"], abilities["peers"]
    kinds = [kind for kind in ("mapped", "portable") if abilities[kind]]
    words = [
        f"{engines} copy engine{'' if engines == 1 else 's'}",
        "kernels beside copies of both directions" if engines > 1 else "kernels beside copies of one direction",
        f"pinned memory is {' and '.join(kinds)}" if kinds else "pinned memory is not mapped",
        "managed pages migrate on access" if abilities["managed"] else "managed memory migrates as a whole",
        f"peers {', '.join(peers)}" if peers else "no peer",
    ]
    return "; ".join(words if engines else ["no copies beside kernels", *words[2:]])


def _nvrtc() -> dict[str, Any]:
    if missing := reason():
        macos = " NVIDIA makes none for macOS." if sys.platform == "darwin" else ""
        shipped = "Simulated GPUs run the shipped kernels at default settings" if architectures() else "Only CPUs run"
        return {"version": None, "reason": f"{missing}{macos} {shipped}."}
    return {"version": ".".join(map(str, nvrtc_version())), "architectures": list(supported_architectures())}
