"""The words of a PTX text, each with its line, and what single words mean."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache

from gpu_ops.devices.sim.lanes import WARP
from gpu_ops.devices.sim.ptx.program import Imm

DEBUG = "\t.section\t"
"""What begins the debug sections, which are not part of the program."""
_TOKEN = re.compile(
    r'^[ \t]*\.(?:loc|file|version|target|address_size|pragma)\b[^\n]*|"[^"]*"'
    r"|\.(?:reg|param|local|shared|const|global)(?=\.)"  # .reg.b16 is .reg .b16
    r"|[A-Za-z_$%.][\w$.:]*|-?0[fFdD][0-9A-Fa-f]+|-?0[xX][0-9A-Fa-f]+U?|-?\d+U?|[^\s\w]",
    re.M,
)
_FILE = re.compile(r'\.file\s+(\d+)\s+"([^"]*)"')
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)


def tokens_of(text: str) -> tuple[list[str], Callable[[int], int]]:
    """The tokens of a PTX text, the last one empty, and a function that gives the line of a token, from 1."""
    text = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text.split(DEBUG)[0])
    found = [(match[0], match.start()) for match in _TOKEN.finditer(text)]
    ends = [match.start() for match in re.finditer("\n", text)]

    def line_of(token: int) -> int:
        return bisect_right(ends, found[min(token, len(found) - 1)][1]) + 1

    return [*(token for token, _ in found), ""], line_of


def files_of(text: str, source: str) -> dict[int, str]:
    """The source files of a PTX text by number. `source` is the name of the compiled file; other paths become file
    names."""
    return {number: file_name(path, source) for number, path in paths_of(text).items()}


def paths_of(text: str) -> dict[int, str]:
    """The paths of the source files of a PTX text by number."""
    return {int(number): path for number, path in _FILE.findall(text)}


def file_name(path: str, source: str) -> str:
    """The name of a file in places: `source` for the compiled file, the last part of other paths."""
    path = path.replace("\\", "/")
    return source if source and path.endswith(source) else path.rsplit("/", 1)[-1]


@lru_cache(4096)
def parts_of(name: str) -> tuple[str, ...]:
    """The parts of an instruction's name."""
    return tuple(name.replace("::", ".").split("."))


def number_of(token: str) -> Imm | None:
    """An immediate, or None."""
    if token == "WARP_SZ":
        return Imm(WARP)
    if not token[:1].isdigit() and not (token[:1] == "-" and token[1:2].isdigit()):
        return None
    if token[:2] in ("0f", "0F"):
        return Imm(int(token[2:], 16), "f32")
    if token[:2] in ("0d", "0D"):
        return Imm(int(token[2:], 16), "f64")
    return Imm(int(token.rstrip("U"), 0))
