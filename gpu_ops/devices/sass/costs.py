"""What the machine code makes of the instructions of the PTX: how many each becomes, and of which units.

The assembler drops moves and merges additions, and a division becomes twenty instructions or a call. So the
instructions that warps issue are those of the machine code, as often as the lines of the PTX run that they come from.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

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


def costs(
    sass: Sequence[SassLine], executions: Mapping[int, float], blocks: Mapping[int, float]
) -> dict[str, float]:
    """Counts of a launch whose lines of the PTX, from 1, run as often as `executions` says, by warps, and `blocks`, by
    blocks: instructions `issued`, those of each unit (`unit_double` …), and the `subroutine_cycles` of blocks, in
    divisions and other instructions that become many."""
    lines = _lines(sass)
    found: defaultdict[str, float] = defaultdict(float)
    for rows in _runs(executions):
        made = Counter(len(lines[row]) for row in rows if lines.get(row))
        copies = max(made, key=lambda n: (made[n], -n), default=1)
        for row in rows:
            own, times = lines.get(row, []), executions[row] / copies
            for line, unit in own:
                found["issued"] += times
                if unit:
                    found[f"unit_{unit}"] += times
            if len(own) >= LONG * copies:
                found["subroutine_cycles"] += blocks.get(row, 0) / copies * sum(
                    line.control.stall + SPECIAL * (unit == "special") for line, unit in own
                )
    return found


def _runs(executions: Mapping[int, float]) -> Iterator[list[int]]:
    """Lines that run together: neighbours that run as often. The assembler copies them together where it unrolls a
    loop, and most become one instruction in each copy."""
    run: list[int] = []
    for row in sorted(executions):
        if run and executions[row] != executions[run[-1]]:
            yield run
            run = []
        run.append(row)
    if run:
        yield run


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
