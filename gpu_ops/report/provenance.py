"""The provenance of results: machine, versions, flags, source and time – and nothing about persons or paths."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from gpu_ops.devices import open_device
from gpu_ops.devices.compiler import FLAGS
from gpu_ops.devices.cpu import cpu_model
from gpu_ops.running.roofline import roofs
from gpu_ops.version import __version__

ROOT = Path(__file__).resolve().parent.parent
LIBRARIES = (
    *("numpy", "scipy", "numba", "opencv-python-headless", "PyWavelets", "cupy-cuda13x", "cupy-cuda12x", "torch"),
    *("cucim-cu13", "cucim-cu12", "cuda-cccl", "cvcuda-cu13", "cvcuda-cu12", "nvmath-python"),
)

ROOFS = {
    "copy": "copy_bytes_s",
    "read": "read_bytes_s",
    "nbytes": "buffer_bytes",
    "l2_copy": "l2_copy_bytes_s",
    "l2_read": "l2_read_bytes_s",
    "l1_read": "l1_read_bytes_s",
    "shared_read": "shared_read_bytes_s",
    "launch": "launch_s",
    "graph_launch": "graph_launch_s",
    "l2_bytes": "l2_bytes",
    "peak": "peak_bytes_s",
}
"""The names of a device's roofs in a report."""


def machine(device_names: Sequence[str], with_roofs: bool | Collection[str] = True) -> dict[str, Any]:
    """Everything that is needed to judge or repeat a result, with the roofs of all devices, of none, or of those named.
    They are measured on first use."""
    devices = {}
    for name in device_names:
        description = open_device(name).describe()
        if name in (device_names if with_roofs is True else with_roofs or ()):
            description["roofs"] = roofs_json(name)
        devices[name] = description
    return {
        "version": __version__,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": cpu_model(),
        "threads": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "libraries": library_versions(),
        "flags": list(FLAGS),
        "devices": devices,
        **commit(),
        "source_tree": source_tree(),
    }


def roofs_json(device_name: str) -> dict[str, float]:
    """The roofs of a device by their names in a report. Measured on first use."""
    return {ROOFS[name]: value for name, value in vars(roofs(device_name)).items() if value is not None}


def library_versions() -> dict[str, str]:
    """Installed versions of the libraries that compute here."""
    from importlib.metadata import PackageNotFoundError, version

    versions = {}
    for name in LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions


@cache
def commit() -> dict[str, Any]:
    """The commit of the checkout and whether it was clean; KERNELSCOPE_COMMIT gives it for a copy without git. The hash
    of the source tree is given in both cases."""
    name = os.environ.get("KERNELSCOPE_COMMIT")
    if name:
        return {"commit": name, "clean": None}
    try:
        git = ["git", "-C", str(ROOT)]
        head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, timeout=10)
        status = subprocess.run([*git, "status", "--porcelain", "."], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return {"commit": None, "clean": None}
    if head.returncode:
        return {"commit": None, "clean": None}
    return {"commit": head.stdout.strip(), "clean": not status.stdout.strip()}


@cache
def source_tree() -> str:
    """16 hexadecimal digits over every Python and CUDA file of gpu_ops."""
    digest = hashlib.sha256()
    for path in sorted(p for p in ROOT.rglob("*") if p.suffix in (".py", ".cu", ".cuh")):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
