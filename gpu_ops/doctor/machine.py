"""The capabilities of this machine: processor, GPUs, compiler, libraries, bandwidth – and what to install for more."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

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
from gpu_ops.version import install


class Extra(NamedTuple):
    """What an extra of the installation is for, and its packages on this system."""

    purpose: str
    packages: tuple[str, ...]


LINUX, MACOS = sys.platform == "linux", sys.platform == "darwin"
EXTRAS = {
    "batch": Extra("many files on several workers", ("distributed", *(("dask-cuda",) if LINUX else ()))),
    "science": Extra("HDF5 and Zarr", ("h5py", "zarr")),
    "formats": Extra("compressed TIFF, DICOM and video", ("imagecodecs", "pydicom", "av")),
    "notebook": Extra("filters in notebooks", ("anywidget",)),
    "audio": Extra("playing signals", ("sounddevice",)),
    "sass": Extra("machine code of kernels", ("nvidia-cuda-nvdisasm",) if not MACOS else ()),
    "ncu": Extra("reports of Nsight Compute", ("ncu-report",) if LINUX else ()),
    "trace": Extra("timelines of a GPU", ("cupti-python",) if LINUX else ()),
}
"""The extras but those of CuPy, which a table of their own compares."""


def extras_json() -> dict[str, Any]:
    """The extras of this system: their packages with the versions that are installed, None for those that are not, and
    the command that installs what is missing, "" for nothing."""
    found = dict[str, Any]()
    for name, extra in EXTRAS.items():
        versions = {package: _version(package) for package in extra.packages}
        command = install(name) if None in versions.values() else ""
        if versions:
            found[name] = {"purpose": extra.purpose, "packages": versions, "install": command}
    return found


def _version(package: str) -> str | None:
    """The version of an installed package; conda's of CUDA have no metadata of Python, and other names."""
    with suppress(PackageNotFoundError):
        return version(package)
    found = Path(sys.prefix, "conda-meta").glob(f"{package.removeprefix('nvidia-')}-[0-9]*.json")
    return next((file.name.split("-")[-2] for file in found), None)


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
        "extras": extras_json(),
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
