"""Which wheels of CUDA suit the driver and the GPUs of this machine, and the one command that installs them.

Sources: NVIDIA, CUDA Toolkit release notes (versions of drivers; architectures that CUDA 13.0 dropped: those before
Turing), https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/; the driver itself says what it supports.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

from gpu_ops.devices.nvrtc import nvrtc_version, reason
from gpu_ops.version import install, installer, uninstall

MAJOR_ATTRIBUTE, MINOR_ATTRIBUTE = 75, 76
"""CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR."""


class Gpu(NamedTuple):
    """A GPU as its driver describes it, and its compute capability."""

    name: str
    capability: tuple[int, int]


class Driver(NamedTuple):
    """The newest version of CUDA that the driver supports, (0, 0) without a driver; and its GPUs."""

    cuda: tuple[int, int] = (0, 0)
    gpus: tuple[Gpu, ...] = ()


class Line(NamedTuple):
    """One line of CUDA: its extra and wheel, the drivers that it needs, and the oldest compute capability."""

    extra: str
    wheel: str
    major: int
    driver: str
    least: tuple[int, int]
    architectures: str


LINES = (
    Line("cuda13", "cupy-cuda13x", 13, "580 or newer", (7, 5), "Turing (sm_75) and newer"),
    Line("cuda12", "cupy-cuda12x", 12, "525 or newer", (5, 0), "Maxwell (sm_50) to Blackwell: also Pascal and Volta"),
)
"""The newest first."""
LAST_DRIVER = 580
"""The last series of drivers for Maxwell, Pascal and Volta: NVIDIA, deprecation schedule of Unix graphics drivers."""


def find_driver(load: Callable[[str], Any] = ctypes.CDLL) -> Driver:
    """Ask NVIDIA's driver itself, which needs no other library."""
    names = ("nvcuda.dll",) if sys.platform == "win32" else ("libcuda.so.1", "libcuda.so")
    for name in names:
        try:
            library = load(name)
        except OSError:
            continue
        if library.cuInit(0) == 0:
            return _ask(library)
    return Driver()


def _ask(library: Any) -> Driver:
    def number(function: Any, *args: Any) -> int:
        found = ctypes.c_int()
        return found.value if function(ctypes.byref(found), *args) == 0 else 0

    cuda, gpus = number(library.cuDriverGetVersion), []
    for place in range(number(library.cuDeviceGetCount)):
        name = ctypes.create_string_buffer(128)
        library.cuDeviceGetName(name, len(name), place)
        parts = (number(library.cuDeviceGetAttribute, a, place) for a in (MAJOR_ATTRIBUTE, MINOR_ATTRIBUTE))
        major, minor = parts
        gpus.append(Gpu(name.value.decode(errors="replace"), (major, minor)))
    return Driver((cuda // 1000, cuda % 1000 // 10), tuple(gpus))


def installed_wheels() -> dict[str, str]:
    """The versions of CuPy's wheels that are installed, by name; conda's CuPy has the name of its line's wheel."""
    found = {}
    for line in LINES:
        conda = installer() == "conda" and line.major == _compiler()
        for name in (line.wheel, "cupy") if conda else (line.wheel,):
            with suppress(PackageNotFoundError):
                found[line.wheel] = version(name)
    return found


def _compiler() -> int:
    """The major version of CUDA's compiler here, 0 without it."""
    return 0 if reason() else nvrtc_version()[0]


def suits(line: Line, driver: Driver) -> bool:
    """Whether the driver and all GPUs support a line of CUDA."""
    return driver.cuda[0] >= line.major and all(gpu.capability >= line.least for gpu in driver.gpus)


def support_json(
    driver: Driver | None = None, installed: Mapping[str, str] | None = None, nvrtc: int | None = None
) -> dict[str, Any]:
    """What the driver and its GPUs are, each line of CUDA, and what to run. `nvrtc` is the major version of the
    compiler."""
    driver = find_driver() if driver is None else driver
    installed = installed_wheels() if installed is None else installed
    nvrtc = _compiler() if nvrtc is None else nvrtc
    run, why = advice(driver, installed, nvrtc)
    return {
        "driver_cuda": ".".join(map(str, driver.cuda)) if driver.cuda[0] else None,
        "gpus": [{"name": g.name, "architecture": f"sm_{g.capability[0]}{g.capability[1]}"} for g in driver.gpus],
        "lines": [
            {
                "extra": line.extra,
                "wheel": line.wheel,
                "cuda": line.major,
                "driver": line.driver,
                "architectures": line.architectures,
                "suits": bool(driver.gpus) and suits(line, driver),
                "installed": installed.get(line.wheel),
            }
            for line in LINES
        ],
        "run": run,
        "why": why,
    }


def advice(driver: Driver, installed: Mapping[str, str], nvrtc: int) -> tuple[str, str]:
    """The command to run, "" where there is none, and why, in a sentence. Where a wheel of the other line has to go
    first, they are two, a line each: `&&` is unknown to PowerShell 5."""
    if sys.platform == "darwin":
        return "", "NVIDIA makes no driver for macOS: CPU variants and the simulated GPU run here."
    if not driver.cuda[0]:
        return "", (
            f"No NVIDIA driver answers; with a GPU install one, {LINES[0].driver} ({LAST_DRIVER} is the last for GPUs "
            "before Turing), and run doctor again."
        )
    if not driver.gpus:
        return "", "The driver finds no GPU; look at nvidia-smi, and at what hides it, such as CUDA_VISIBLE_DEVICES."
    line = next((line for line in LINES if suits(line, driver)), None)
    if line is None:
        return "", _no_line(driver)
    others = [wheel for wheel in installed if wheel != line.wheel]
    wrong_compiler = line.major < 13 and nvrtc >= 13
    if line.wheel in installed and not others and not wrong_compiler:
        return "", f"{line.wheel} {installed[line.wheel]} is installed, which suits the driver and the GPUs."
    steps = [uninstall(others)] if others and installer() != "conda" else []
    return "\n".join([*steps, install(line.extra)]), _why(line, driver)


def _why(line: Line, driver: Driver) -> str:
    if line is LINES[0]:
        return f"The driver supports CUDA {_text(driver.cuda)}, and the GPUs are of compute capability 7.5 or more."
    old = [gpu for gpu in driver.gpus if gpu.capability < LINES[0].least]
    if old:
        names = ", ".join(f"{gpu.name} ({_text(gpu.capability)})" for gpu in old)
        return f"CUDA 13 no longer supports {names}: CUDA 12 does, with the compiler that comes with it."
    return f"The driver supports CUDA {_text(driver.cuda)}; a driver {LINES[0].driver} would allow cuda13."


def _no_line(driver: Driver) -> str:
    last = LINES[-1]
    old = [gpu for gpu in driver.gpus if gpu.capability < last.least]
    if old:
        return f"{old[0].name} is of compute capability {_text(old[0].capability)}, and CuPy needs {_text(last.least)}."
    needed = next(line for line in LINES if all(gpu.capability >= line.least for gpu in driver.gpus))
    least = "" if needed is LINES[0] else f" ({LAST_DRIVER} is the last for GPUs before Turing)"
    return (
        f"The driver supports CUDA {_text(driver.cuda)} only; install a driver {needed.driver}{least}, and run doctor "
        "again."
    )


def _text(pair: tuple[int, int]) -> str:
    return f"{pair[0]}.{pair[1]}"
