"""Where figures come from: machine, versions, flags, source and time – and nothing about persons or places."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from gpu_ops.devices import open_device
from gpu_ops.devices.compiler import FLAGS
from gpu_ops.devices.cpu import cpu_model
from gpu_ops.measuring.roofline import roofs
from gpu_ops.version import __version__

ROOT = Path(__file__).resolve().parent.parent
LIBRARIES = ("numpy", "scipy", "numba", "opencv-python-headless", "PyWavelets", "cupy-cuda13x", "cupy-cuda12x")


def machine(device_names: Sequence[str], with_roofs: bool = True) -> dict[str, Any]:
    """Everything a reader needs to judge or repeat a figure. Measures the roofs of devices on first use."""
    devices = {}
    for name in device_names:
        described = open_device(name).describe()
        if with_roofs:
            known = roofs(name)
            described["roofs"] = {"copy_bytes_s": known.copy, "read_bytes_s": known.read, "buffer_bytes": known.nbytes}
        devices[name] = described
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


def library_versions() -> dict[str, str]:
    """Installed versions of what computes here."""
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


@cache
def commit() -> dict[str, Any]:
    """The commit of the checkout and whether it was clean; KERNELSCOPE_COMMIT names it where the files were copied to
    from somewhere else. The hash of the source tree stands beside it either way."""
    named = os.environ.get("KERNELSCOPE_COMMIT")
    if named:
        return {"commit": named, "clean": None}
    try:
        inside = ["git", "-C", str(ROOT)]
        top = subprocess.run([*inside, "rev-parse", "HEAD"], capture_output=True, text=True, timeout=10)
        changed = subprocess.run([*inside, "status", "--porcelain", "."], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return {"commit": None, "clean": None}
    if top.returncode:
        return {"commit": None, "clean": None}
    return {"commit": top.stdout.strip(), "clean": not changed.stdout.strip()}


@cache
def source_tree() -> str:
    """16 hexadecimal digits over every Python and CUDA file of gpu_ops."""
    digest = hashlib.sha256()
    for path in sorted(p for p in ROOT.rglob("*") if p.suffix in (".py", ".cu", ".cuh")):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
