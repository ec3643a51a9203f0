"""Compiled programs inside the wheel, for machines without NVRTC: PTX and the assembler's report of the shipped kernels
at default settings. A file for each architecture, written when the wheel is built; a checkout has none."""

from __future__ import annotations

import hashlib
import json
import lzma
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from gpu_ops.errors import DeviceError, ReportError, plain

FOLDER = Path(__file__).resolve().parent.parent / "kernels" / "compiled"
ARCHITECTURES = ("sm_75", "sm_90")
"""The architectures of the wheel."""
SCHEMA = "kernelscope-programs/1"
_ARCHITECTURE = re.compile(r"-arch=(?:sm|compute)_(\d+)")
_FILE = re.compile(r'(\.file\s+\d+\s+)"([^"]*)"')
_TIME = re.compile(r"^.*Compile time.*\n?", re.M)


class Program(NamedTuple):
    """What NVRTC made of a program: PTX, and the log with registers and other resources."""

    ptx: str
    log: str


def key_of(source: str, text: str, headers: Mapping[str, str], flags: Sequence[str]) -> str:
    """The key of a program: its texts and its flags, except for those that only ask for the assembler."""
    found = [f for f in flags if not f.startswith("--ptxas-options")]
    named = ["-arch=" + match[1] if (match := _ARCHITECTURE.fullmatch(f)) else f for f in found]
    parts = [source, text, *named, *(f"{n}\0{t}" for n, t in sorted(headers.items()))]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def normal(source: str, program: Program) -> Program:
    """The same on each machine: without the folder and the time of the compilation."""

    def named(match: re.Match[str]) -> str:
        path = match[2].replace("\\", "/")
        return f'{match[1]}"{source if path.endswith(source) else path.rpartition("/")[2]}"'

    return Program(_FILE.sub(named, program.ptx), _TIME.sub("", program.log))


def write(folder: Path, architecture: str, version: tuple[int, int], programs: Mapping[str, Program]) -> Path:
    """Write the file of an architecture; `version` is that of NVRTC."""
    content = {"schema": SCHEMA, "nvrtc": version, "programs": dict(sorted(programs.items()))}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{architecture}.json.xz"
    path.write_bytes(lzma.compress(json.dumps(content).encode(), preset=9))
    return path


def architectures() -> tuple[str, ...]:
    """The architectures that this installation has programs for."""
    return tuple(a for a in ARCHITECTURES if (FOLDER / f"{a}.json.xz").is_file())


@cache
def _content(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(lzma.decompress(path.read_bytes()))
        if found["schema"] == SCHEMA:
            return found
    except (OSError, ValueError, KeyError, lzma.LZMAError):
        pass
    raise ReportError(f"{plain(path)} cannot be read as compiled programs; install kernelscope again.")


def version() -> tuple[int, int]:
    """The version of NVRTC that made the programs."""
    major, minor = _content(FOLDER / f"{architectures()[0]}.json.xz")["nvrtc"]
    return int(major), int(minor)


def find(key: str, flags: Sequence[str], source: str, reason: str) -> Program:
    """The program of a key. Raises DeviceError where the installation does not have it; `reason` says why NVRTC cannot
    make it."""
    number = next((match[1] for f in flags if (match := _ARCHITECTURE.fullmatch(f))), "")
    path = FOLDER / f"sm_{number}.json.xz"
    programs = _content(path)["programs"] if path.is_file() else {}
    if key not in programs:
        raise DeviceError(
            f"{source} is not compiled in this installation with these settings. {reason} Without NVRTC the shipped "
            f"kernels run with default settings, simulated as {' or '.join(architectures()) or 'nothing'}; edited "
            "kernels and kernels of your own need it."
        )
    return Program(*programs[key])
