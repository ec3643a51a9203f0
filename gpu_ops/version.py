"""The version of Kernelscope, what installed it, and the commands that install or remove packages where it is."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__version__ = "0.1.0"

CONDA = {
    "cuda13": "cupy cuda-version=13",
    "cuda12": "cupy cuda-version=12",
    "batch": "distributed dask-cuda" if sys.platform == "linux" else "distributed",
    "science": "h5py zarr",
    "formats": "imagecodecs pydicom av",
    "notebook": "anywidget",
    "audio": "python-sounddevice",
    "sass": "cuda-nvdisasm",
}
"""The packages of an extra under the names of conda-forge."""
PYPI_ALONE = {"ncu": "ncu-report", "trace": "cupti-python"}
"""Those that conda-forge has not."""
RECEIPT = "uv-receipt.toml"
"""What `uv tool` keeps in an environment: the requirements that it installed there."""


def installer() -> str:
    """What installed this program: conda, uv (as a tool), pipx, or pip."""
    from importlib.metadata import PackageNotFoundError, distribution

    if Path(sys.prefix, RECEIPT).is_file():
        return "uv"
    if Path(sys.prefix, "pipx_metadata.json").is_file():
        return "pipx"
    try:
        by = distribution("kernelscope").read_text("INSTALLER") or ""
    except PackageNotFoundError:  # a folder of the sources
        by = ""
    return "conda" if by.strip() == "conda" else "pip"


def install(extra: str) -> str:
    """The command that adds an extra to this program's environment and keeps those that are there. It needs no other
    source of Kernelscope than what is installed."""
    by = installer()
    if by == "uv":
        return " ".join(["uv tool install", *_with_others(extra)])
    name = _quoted(f"kernelscope[{extra}]")
    if by == "pipx":
        return f"pipx inject kernelscope {name}"
    if by == "conda":  # pip would install PySide6-Essentials over conda's pyside6
        return f"conda install -c conda-forge {CONDA[extra]}" if extra in CONDA else _pip("install", PYPI_ALONE[extra])
    return _pip("install", name)


def upgrade(package: str) -> str:
    """The command that installs the newest release of a package that is there."""
    return _pip("install -U", package)


def exact(package: str, release: str) -> str:
    """The command that installs a release of a package in this program's environment."""
    return _pip("install", f"{package}=={release}")


def uninstall(packages: Sequence[str]) -> str:
    """The command that removes packages from this program's environment."""
    return _pip("uninstall", *packages)


def _with_others(extra: str) -> list[str]:
    """An extra, and the extras and packages that `uv tool install` would remove because they are not named again."""
    import tomllib

    wanted: list[dict[str, Any]] = tomllib.loads(Path(sys.prefix, RECEIPT).read_text("utf-8"))["tool"]["requirements"]
    extras = {extra}.union(*(one.get("extras", ()) for one in wanted if one["name"] == "kernelscope"))
    others = [one["name"] + one.get("specifier", "") for one in wanted if one["name"] != "kernelscope"]
    return [_quoted(f"kernelscope[{','.join(sorted(extras))}]"), *(f"--with {_quoted(one)}" for one in others)]


def _pip(action: str, *packages: str) -> str:
    """A command of pip for the environment of this Python, which need not be the one that a shell finds first."""
    import shutil
    from importlib.util import find_spec

    by = installer()
    if by == "uv" or (by != "pipx" and find_spec("pip") is None):  # as in an environment of uv
        return " ".join([f"uv pip {action} -p {_quoted(sys.prefix, always=False)}", *packages])
    words = ["uninstall -y" if action == "uninstall" else action, *packages]
    if by == "pipx":
        return " ".join(["pipx runpip kernelscope", *words])
    found = shutil.which("pip")
    ours = found is not None and os.path.samefile(Path(found).parent, Path(sys.executable).parent)
    return " ".join(["pip" if ours else f"{_quoted(sys.executable, always=False)} -m pip", *words])


def _quoted(text: str, always: bool = True) -> str:
    """As the shells of the system take it: brackets are patterns of some, and Windows knows double quotes alone."""
    if not always and " " not in text:
        return text
    return f'"{text}"' if sys.platform == "win32" else f"'{text}'"
