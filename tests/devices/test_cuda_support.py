"""What `doctor` says about drivers, GPUs and wheels: one table, and one command."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any

import pytest

from gpu_ops.devices import nvrtc
from gpu_ops.doctor import cuda_support
from gpu_ops.doctor.cuda_support import (
    LINES,
    Driver,
    Gpu,
    advice,
    find_driver,
    support_json,
)

H200, T4 = Gpu("NVIDIA H200", (9, 0)), Gpu("Tesla T4", (7, 5))
PASCAL, VOLTA, KEPLER = Gpu("GTX 1080", (6, 1)), Gpu("Tesla V100", (7, 0)), Gpu("Tesla K80", (3, 7))
TO_13, TO_12 = "pip install 'kernelscope[cuda13]'", "pip install 'kernelscope[cuda12]'"


@pytest.fixture(autouse=True)
def linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(cuda_support, "install", lambda extra: f"pip install 'kernelscope[{extra}]'")
    monkeypatch.setattr(cuda_support, "uninstall", lambda wheels: " ".join(["pip uninstall -y", *wheels]))


@pytest.mark.parametrize(
    ("driver", "installed", "nvrtc", "run", "words"),
    [
        (Driver((13, 0), (H200,)), {}, 13, TO_13, "supports CUDA 13.0"),
        (Driver((13, 1), (H200, T4)), {"cupy-cuda13x": "14.0"}, 13, "", "cupy-cuda13x 14.0 is installed"),
        (Driver((13, 0), (PASCAL,)), {}, 13, TO_12, "no longer supports GTX 1080 (6.1)"),
        (Driver((12, 4), (VOLTA,)), {}, 13, TO_12, "no longer supports Tesla V100 (7.0)"),
        (Driver((13, 0), (H200, VOLTA)), {}, 13, TO_12, "Tesla V100"),
        (Driver((12, 4), (H200,)), {}, 13, TO_12, "580 or newer would allow cuda13"),
        (Driver((12, 4), (VOLTA,)), {"cupy-cuda12x": "14.0"}, 13, TO_12, "the compiler that comes with it"),
        (Driver((12, 4), (VOLTA,)), {"cupy-cuda12x": "14.0"}, 12, "", "cupy-cuda12x 14.0 is installed"),
        (
            Driver((13, 0), (VOLTA,)),
            {"cupy-cuda13x": "14.0"},
            13,
            f"pip uninstall -y cupy-cuda13x\n{TO_12}",
            "CUDA 12 does",
        ),
        (Driver((11, 8), (H200,)), {}, 13, "", "supports CUDA 11.8 only; install a driver 580 or newer, and run"),
        (
            Driver((11, 8), (PASCAL,)),
            {},
            13,
            "",
            "a driver 525 or newer (580 is the last for GPUs before Turing), and run",
        ),
        (Driver((12, 0), (KEPLER,)), {}, 13, "", "Tesla K80 is of compute capability 3.7"),
        (Driver((13, 0), ()), {}, 13, "", "finds no GPU"),
        (Driver(), {}, 13, "", "install one, 580 or newer (580 is the last for GPUs before Turing), and run"),
    ],
)
def test_the_one_command(driver: Driver, installed: Any, nvrtc: int, run: str, words: str) -> None:
    found = support_json(driver, installed, nvrtc)
    assert found["run"] == run and words in found["why"]
    assert found["why"].endswith(".") and "\n" not in found["why"]
    fitting = [line["extra"] for line in found["lines"] if line["suits"]]
    assert "&&" not in run  # unknown to PowerShell 5
    assert all(extra in run or f"cupy-{extra}x" in installed for extra in fitting[:1] if run or fitting)
    assert not fitting or driver.gpus


def test_macos_has_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    run, why = advice(Driver(), {}, 0)
    assert run == "" and "macOS" in why


class FakeFunction:
    """A function of the driver: it writes `found` to its first argument and returns 0."""

    def __init__(self, found: Any) -> None:
        self.found = found

    def __call__(self, out: Any, *args: Any) -> int:
        value = self.found(*args) if callable(self.found) else self.found
        if isinstance(value, bytes):
            out.value = value
        else:
            out._obj.value = value
        return 0


class FakeDriver:
    def __init__(self, works: bool = True) -> None:
        self.cuInit = lambda flags: 0 if works else 100
        self.cuDriverGetVersion = FakeFunction(12080)
        self.cuDeviceGetCount = FakeFunction(2)
        self.cuDeviceGetName = FakeFunction(lambda size, place: [b"One", b"Two"][place])
        self.cuDeviceGetAttribute = FakeFunction(lambda which, place: {75: (6, 12), 76: (1, 0)}[which][place])


def test_the_driver_is_asked() -> None:
    assert find_driver(lambda name: FakeDriver()) == Driver((12, 8), (Gpu("One", (6, 1)), Gpu("Two", (12, 0))))
    assert find_driver(lambda name: FakeDriver(works=False)) == Driver()

    def missing(name: str) -> ctypes.CDLL:
        raise OSError(name)

    assert find_driver(missing) == Driver()
    found = support_json(find_driver(lambda name: FakeDriver()), {}, 13)
    assert [gpu["architecture"] for gpu in found["gpus"]] == ["sm_61", "sm_120"]


def test_lines_are_the_extras_of_the_project() -> None:
    import tomllib
    from pathlib import Path

    extras = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    for line in LINES:
        assert extras[line.extra][0].startswith(f"{line.wheel}[ctk]")


@pytest.mark.parametrize("wheels", [(), ("cupy-cuda12x",), ("nvidia-cuda-nvrtc-cu12",), ("cupy-cuda13x",)])
def test_the_compiler_of_cuda_13_is_used_unless_cupy_is_of_cuda_12(monkeypatch: Any, wheels: tuple[str, ...]) -> None:
    assert loaded_with(monkeypatch, wheels) == []


def test_the_compiler_of_cuda_12_is_loaded_for_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    """cuda.bindings uses the one that is loaded."""
    wheels = ("cupy-cuda12x", "nvidia-cuda-nvrtc-cu12", "nvidia-cuda-nvrtc")
    assert loaded_with(monkeypatch, wheels) == ["/site/nvidia/cuda_nvrtc/lib/libnvrtc.so.12"]


def loaded_with(monkeypatch: pytest.MonkeyPatch, wheels: tuple[str, ...]) -> list[str]:
    """The libraries that are loaded where only these wheels are installed."""
    from importlib.metadata import PackageNotFoundError, PackagePath

    class Wheel:
        def __init__(self, name: str) -> None:
            if name not in wheels:
                raise PackageNotFoundError(name)
            self.files = [
                PackagePath(f"nvidia/cuda_nvrtc/lib/{file}") for file in ("libnvrtc.alt.so.12", "libnvrtc.so.12")
            ]
            for file in self.files:
                file.dist = self  # type: ignore[assignment]

        def locate_file(self, path: Any) -> Path:
            return Path("/site") / path

    found: list[str] = []
    monkeypatch.setattr("importlib.metadata.version", lambda name: Wheel(name) and "1")
    monkeypatch.setattr("importlib.metadata.distribution", Wheel)
    monkeypatch.setattr(nvrtc.ctypes, "CDLL", found.append)
    nvrtc._load_with_cupy()
    return found
