"""What the machine code makes of the instructions of the PTX: how many each becomes, and of which units.

The assembler drops moves and merges additions, and a division becomes twenty instructions or a call. So the
instructions that warps issue are those of the machine code, as often as the lines of the PTX run that they come from.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from gpu_ops.devices.sass.listing import SassLine

UNITS = {
    "double": {"DADD", "DMUL", "DFMA", "DSETP", "DMNMX"},
    "special": {"MUFU", "I2F", "F2I", "F2F", "FRND", "POPC", "FLO", "BREV", "FCHK"},
    "float": {"FADD", "FMUL", "FFMA", "HFMA2", "HADD2", "HMUL2"},
    "multiply": {"IMAD", "IDP"},
    "integer": {
        *("IADD3", "LOP3", "SHF", "ISETP", "FSETP", "SEL", "FSEL", "LEA", "PRMT", "VIADD", "VIMNMX", "FMNMX", "IABS"),
        *("PLOP3", "MOV", "I2FP", "VIADDMNMX", "IMNMX", "P2R", "R2P", "BMSK", "SGXT", "HSETP2", "VABSDIFF"),
    },
}
"""The instructions of each unit by name; integers are those that need no multiplication."""
_SINGLE = {"LDG", "STG", "LDS", "STS", "FADD", "FMUL", "FFMA", "DADD", "DMUL", "DFMA"}
_UNIT = {name: unit for unit, names in UNITS.items() for name in names}
SPECIAL = 20
"""Cycles of a special unit, and of a call, that the stall counts do not have, because a warp waits for a barrier."""
LONG = 8
"""Instructions of which one of the PTX is a subroutine."""
_DIVISION = re.compile(r"_(?:div|rem)_[su]\d+$")
"""Subroutines that every call needs; those of other names are for denormal numbers and the like."""
_ASSEMBLER = "$__internal_"
_GUARD = re.compile(r"^@!?U?P\w+ ")
_CALLED = re.compile(r"^CALL\S* `\((\$[^)]+)\)")


def costs(sass: Sequence[SassLine], blocks: Sequence[Sequence[int]]) -> list[dict[str, float]]:
    """What one run of each basic block of the PTX becomes; `blocks` are the lines of the PTX, from 1, of each.
    Instructions `issued`, those of each unit (`unit_double` …), and the `cycles` of divisions and other instructions
    that become many."""
    lines = _lines(sass)
    return [_cost([lines[row] for row in rows if row in lines]) for rows in blocks]


def _cost(made: Sequence[Sequence[tuple[SassLine, str]]]) -> dict[str, float]:
    """What a basic block becomes whose instructions are `made` into these."""
    copies = _copies(made)
    found: defaultdict[str, float] = defaultdict(float)
    for own in made:
        found["issued"] += len(own) / copies
        for _, unit in own:
            if unit:
                found[f"unit_{unit}"] += 1 / copies
        if len(own) >= LONG * copies:
            found["cycles"] += sum(line.control.stall + SPECIAL * (unit == "special") for line, unit in own) / copies
    return found


def _copies(made: Sequence[Sequence[tuple[SassLine, str]]]) -> int:
    """How often the machine code has a basic block: where the assembler unrolls a loop it copies the block. Loads,
    stores and floating point, which most loops have, become one instruction in each copy."""
    return min((count for own in made if (count := sum(_name(line) in _SINGLE for line, _ in own))), default=1)


def _lines(sass: Sequence[SassLine]) -> Mapping[int, list[tuple[SassLine, str]]]:
    """The instructions, each with its unit, by the line of the PTX that they come from; a call with those of its
    subroutine."""
    bodies: defaultdict[str, list[tuple[SassLine, str]]] = defaultdict(list)
    inside = ""
    for line in sass:
        if line.label.startswith("$"):  # of others than the assembler's the PTX has the lines
            inside = line.label if line.label.startswith(_ASSEMBLER) else ""
        bodies[inside].append((line, _UNIT.get(_name(line), "")))
    found: defaultdict[int, list[tuple[SassLine, str]]] = defaultdict(list)
    for line, unit in bodies[""]:
        found[line.ptx].append((line, unit))
        if (call := _CALLED.match(_bare(line))) and _DIVISION.search(call[1]):
            found[line.ptx] += bodies[call[1]]
    return found


def _bare(line: SassLine) -> str:
    return _GUARD.sub("", line.text)


def _name(line: SassLine) -> str:
    return _bare(line).partition(" ")[0].partition(".")[0]
