"""The commands that install an extra, for each of the programs that may have installed this one."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from gpu_ops import version
from gpu_ops.doctor import cuda_support, machine
from gpu_ops.doctor.machine import EXTRAS
from gpu_ops.version import CONDA, PYPI_ALONE, install, installer, uninstall, upgrade

PROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an environment without pip, whose Python this is."""
    folder = tmp_path / "an environment"
    (folder / "bin").mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(folder))
    monkeypatch.setattr(sys, "executable", str(folder / "bin" / "python"))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    return folder


def installed_by(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    class Distribution:
        def read_text(self, file: str) -> str:
            return f"{name}\n" if file == "INSTALLER" else ""

    monkeypatch.setattr("importlib.metadata.distribution", lambda of: Distribution())


def test_uv_keeps_what_it_has_installed(prefix: Path) -> None:
    """It removes every extra and package that is not named again."""
    requirements = '{ name = "kernelscope", extras = ["science", "batch"], path = "/tmp/a.whl" }, '
    others = '{ name = "scikit-image", specifier = ">=0.25" }'
    (prefix / "uv-receipt.toml").write_text(f"[tool]\nrequirements = [{requirements}{others}]\n")
    assert installer() == "uv"
    assert install("audio") == "uv tool install 'kernelscope[audio,batch,science]' --with 'scikit-image>=0.25'"
    assert install("science") == "uv tool install 'kernelscope[batch,science]' --with 'scikit-image>=0.25'"
    assert uninstall(["a", "b"]) == f"uv pip uninstall -p '{prefix}' a b"
    (prefix / "uv-receipt.toml").write_text('[tool]\nrequirements = [{ name = "kernelscope" }]\n')
    assert install("cuda13") == "uv tool install 'kernelscope[cuda13]'"


def test_pipx_adds_to_its_environment(prefix: Path) -> None:
    (prefix / "pipx_metadata.json").write_text("{}")
    assert installer() == "pipx" and install("cuda12") == "pipx inject kernelscope 'kernelscope[cuda12]'"
    assert uninstall(["a"]) == "pipx runpip kernelscope uninstall -y a"
    assert upgrade("a") == "pipx runpip kernelscope install -U a"


def test_pip_is_that_of_the_environment(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first pip of a shell may install into another one."""
    installed_by(monkeypatch, "pip")
    assert install("batch") == f"uv pip install -p '{prefix}' 'kernelscope[batch]'"
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    monkeypatch.setattr("shutil.which", lambda name: str(prefix.parent / name))
    assert install("batch") == f"'{prefix}/bin/python' -m pip install 'kernelscope[batch]'"
    assert uninstall(["a"]) == f"'{prefix}/bin/python' -m pip uninstall -y a"
    monkeypatch.setattr("shutil.which", lambda name: str(prefix / "bin" / name))
    assert install("batch") == "pip install 'kernelscope[batch]'" and upgrade("a") == "pip install -U a"
    monkeypatch.setattr(sys, "platform", "win32")
    assert install("batch") == 'pip install "kernelscope[batch]"'


def test_conda_has_packages_of_its_own(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed_by(monkeypatch, "conda")
    assert install("cuda12") == "conda install -c conda-forge cupy cuda-version=12"
    assert install("ncu") == f"uv pip install -p '{prefix}' ncu-report"
    assert {*CONDA, *PYPI_ALONE} == {*EXTRAS, "cuda12", "cuda13"}
    driver = cuda_support.Driver((13, 0), (cuda_support.Gpu("GTX 1080", (6, 1)),))
    run = cuda_support.support_json(driver, {"cupy-cuda13x": "14.0"}, 13)["run"]
    assert run == "conda install -c conda-forge cupy cuda-version=12"


@pytest.mark.parametrize("major", [12, 13])
def test_conda_has_one_cupy_for_each_line(prefix: Path, monkeypatch: pytest.MonkeyPatch, major: int) -> None:
    installed_by(monkeypatch, "conda")

    def found(name: str) -> str:
        if name != "cupy":
            raise cuda_support.PackageNotFoundError(name)
        return "14.1"

    monkeypatch.setattr(cuda_support, "version", found)
    monkeypatch.setattr(cuda_support, "_compiler", lambda: major)
    assert cuda_support.installed_wheels() == {f"cupy-cuda{major}x": "14.1"}


def test_a_package_of_conda_alone_is_found(prefix: Path) -> None:
    """That of the disassembler has no name for Python."""
    assert machine._version("nvidia-cuda-nvdisasm-none") is None
    (prefix / "conda-meta").mkdir()
    (prefix / "conda-meta" / "cuda-nvdisasm-none-13.2.78-h1_0.json").touch()
    assert machine._version("nvidia-cuda-nvdisasm-none") == "13.2.78"


def test_a_folder_of_the_sources_is_left_to_pip(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import PackageNotFoundError

    def missing(name: str) -> Any:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.distribution", missing)
    assert installer() == "pip"


CONDA_NAMES = {"sounddevice": "python-sounddevice", "nvidia-cuda-nvdisasm": "cuda-nvdisasm"}
"""Names of packages that differ in conda-forge's channel."""


def test_every_extra_of_the_project_has_a_command() -> None:
    extras = PROJECT["optional-dependencies"]
    assert {*CONDA, *PYPI_ALONE, "test"} == extras.keys()
    for extra, names in {**CONDA, **PYPI_ALONE}.items():
        packages = [re.split("[>=;]", package)[0] for package in extras[extra]]
        if not extra.startswith("cuda") and sys.platform == "linux":
            assert names.split() == [CONDA_NAMES.get(package, package) for package in packages]
    assert version.__version__ == PROJECT["version"]
