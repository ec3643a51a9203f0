"""Reads what nvdisasm prints: instructions, the line of the PTX that each comes from, live registers, and the control
code that the assembler put into each instruction.

Source of the control code: Z. Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking"
(arXiv:1804.06826), section 2; the layout is the same from sm_70 to sm_121.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

BARRIERS = 6
_NONE = 7
"""The number of no barrier."""
_SECTION = re.compile(r"^//-+\s+(\S+)\s+-+$")
_PTX_LINE = re.compile(r'//## File "\.nv_debug_ptx_txt", line (\d+)')
_LABEL = re.compile(r"^(\.L_\w+|\$[\w$.]+):")
_CODE = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;(?:\s+/\* 0x([0-9a-f]{16}) \*/)?")
_HIGH = re.compile(r"^\s+/\* 0x([0-9a-f]{16}) \*/$")
_MARGIN = re.compile(r"//\s*(\|.*\|)\s*$")


@dataclass(frozen=True)
class Control:
    """What an instruction asks of the scheduler: the cycles to wait before the warp's next instruction (`stall`, 0 to
    15), whether another warp should be preferred then (`yields`), the barriers of the warp to wait for beforehand
    (`waits`), and the one that it releases once its result is written (`written`), once its operands are read (`read`);
    -1 for none."""

    stall: int
    yields: bool
    waits: tuple[int, ...]
    written: int
    read: int


def control_of(high: int) -> Control:
    """The control code in the upper 64 bits of an instruction: of its 128 bits those from 105 to 121."""
    bits = high >> 41
    written, read, waits = bits >> 5 & 7, bits >> 8 & 7, bits >> 11 & 63
    return Control(
        stall=bits & 15,
        yields=not bits >> 4 & 1,
        waits=tuple(n for n in range(BARRIERS) if waits >> n & 1),
        written=-1 if written == _NONE else written,
        read=-1 if read == _NONE else read,
    )


@dataclass(frozen=True)
class SassLine:
    """An instruction at a byte `address` of its function; `ptx` is the line of the PTX that it comes from, from 1, 0
    if unknown. `live` are live registers by kind (GPR, PRED, UGPR, UPRED) and `label` is that of a jump's target."""

    address: int
    text: str
    ptx: int
    control: Control
    live: dict[str, int]
    label: str = ""


def read_code(text: str, symbol: str) -> list[SassLine]:
    """The instructions of a kernel in the output of `nvdisasm -c -hex -gp -ndf`, without live registers."""
    found: list[SassLine] = []
    ptx, label, pending = 0, "", None
    for line in _section(text, symbol):
        if match := _CODE.match(line):
            pending = int(match[1], 16), re.sub(r"\s+", " ", match[2])
        elif pending and (match := _HIGH.match(line)):
            found.append(SassLine(*pending, ptx, control_of(int(match[1], 16)), {}, label))
            pending, label = None, ""
        elif match := _PTX_LINE.search(line):
            ptx = int(match[1])
        elif match := _LABEL.match(line):
            label = match[1]
    while found and found[-1].text == "NOP":  # fills the section
        found.pop()
    return found


def read_live(text: str, symbol: str) -> dict[int, dict[str, int]]:
    """Live registers by address, in the output of `nvdisasm -c -lrm count`."""
    kinds: list[str] = []
    found: dict[int, dict[str, int]] = {}
    for line in _section(text, symbol):
        margin = _MARGIN.search(line)
        if margin is None:
            continue
        cells = [cell.strip() for cell in margin[1].strip("|").split("|")]
        if cells[0] == "GPR":
            kinds = cells
        elif match := _CODE.match(line):
            found[int(match[1], 16)] = {k: int(c) for k, c in zip(kinds, cells, strict=False) if c}
    return found


def _section(text: str, symbol: str) -> Iterator[str]:
    """The lines of a kernel's code."""
    inside = False
    for line in text.splitlines():
        if match := _SECTION.match(line):
            inside = match[1] == f".text.{symbol}"
        elif inside:
            yield line
