"""Which source lines spill registers, by the machine code: its stores to and loads from local memory that the PTX does
not have."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gpu_ops.devices.sass.widths import width_of
from gpu_ops.errors import counted
from gpu_ops.explaining.machine_code import KernelCode

_LOCAL = re.compile(r"^(?:@!?U?P\d+ )?(STL|LDL)\b([\w.]*)")
_OWN = re.compile(r"\b(?:st|ld)(?:\.volatile)?\.local\b")
"""Local memory that the source itself uses, such as an array with a computed index."""


@dataclass(frozen=True)
class LineSpill:
    """The bytes that a thread's spills store and load for a source line, each instruction once; `line` is 0 for what
    the compiler added without one."""

    file: str
    line: int
    stored: int
    loaded: int

    @property
    def text(self) -> str:
        """In words."""
        place = f"{self.file}:{self.line}" if self.line else "no source line"
        return f"{place}: {counted(self.stored, 'byte')} stored, {counted(self.loaded, 'byte')} loaded per thread"


def spilled_lines(code: KernelCode) -> list[LineSpill]:
    """The spills of a kernel by source line, the most bytes first; [] where it has no machine code."""
    texts = {line.row: line.text for line in code.ptx}
    places = code.places()
    found: dict[tuple[str, int], list[int]] = {}
    for line in code.sass:
        match = _LOCAL.match(line.text)
        if match and not _OWN.search(texts.get(line.ptx, "")):
            place = next(iter(places.get(line.ptx, ())), ("", 0))
            found.setdefault(place, [0, 0])[match[1] == "LDL"] += width_of(match[2])
    lines = [LineSpill(*place, *both) for place, both in found.items()]
    return sorted(lines, key=lambda one: -(one.stored + one.loaded))


def as_dicts(lines: Sequence[LineSpill]) -> list[dict[str, Any]]:
    """The spills as JSON."""
    return [{**vars(one), "text": one.text} for one in lines]
