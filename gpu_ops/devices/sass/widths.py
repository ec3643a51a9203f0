"""How the machine code makes the accesses of the PTX: the assembler narrows vector loads whose values are not all used,
splits accesses, combines neighbouring ones into one of 64 or 128 bits, and drops those whose values it knows."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gpu_ops.devices.sass.listing import SassLine
from gpu_ops.devices.sim.ptx.program import Instruction, Label, Mem, Prototype, Reg, Targets, size_of

Pieces = tuple[tuple[int, int], ...]
"""The requests of an access: the offset of each to the address of the PTX, and its bytes."""
_ACCESS = re.compile(r"^(?:@!?U?P\d+ )?(LDG|STG|LDS|STS)\b([\w.]*)")
_KINDS = {"LDG": ("ld", "global"), "STG": ("st", "global"), "LDS": ("ld", "shared"), "STS": ("st", "shared")}
_BYTES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}
_SWAP = re.compile(r"\bATOM[SG]?\.\S*\bCAST?\b")
"""Stores a value if memory still has the expected one."""
_WORD = 4


@dataclass(frozen=True)
class _Access:
    """An access of the PTX; those with one `group` have the same base address and predicate in one basic block."""

    row: int
    kind: tuple[str, str]
    group: tuple[object, ...]
    offset: int
    nbytes: int


def width_of(suffixes: str) -> int:
    """The bytes of an access by the suffixes of its instruction, such as ".E.64"."""
    return next((_BYTES[part] for part in suffixes.split(".") if part in _BYTES), _WORD)


def access_pieces(
    body: Sequence[Instruction | Label | Targets | Prototype], sass: Iterable[SassLine]
) -> dict[int, Pieces]:
    """By the line of the PTX, the requests of each access that the machine code makes in another way. An access that is
    the part of a wider one, or none at all, has no pieces."""
    made: dict[int, list[tuple[tuple[str, str], int]]] = defaultdict(list)
    for line in sass:
        if match := _ACCESS.match(line.text):
            made[line.ptx].append((_KINDS[match[1]], width_of(match[2])))
    found: dict[int, Pieces] = {}
    unmade: list[_Access] = []
    wider: list[tuple[_Access, int]] = []
    for access in _accesses(body):
        widths = [width for kind, width in made.get(access.row, ()) if kind == access.kind]
        if not widths:
            unmade.append(access)
        elif len(set(widths)) == 1 and widths[0] < access.nbytes:
            count = len(widths) if sum(widths) == access.nbytes else 1
            found[access.row] = tuple((n * widths[0], widths[0]) for n in range(count))
        elif set(widths) != {access.nbytes} and min(widths) > access.nbytes:
            wider.append((access, widths[0]))
    return found | _joined(unmade, wider)


def retried(body: Sequence[Instruction | Label | Targets | Prototype], sass: Iterable[SassLine]) -> frozenset[int]:
    """The lines of the PTX with atomic operations that the GPU does not have: the machine code computes the new value
    and stores it if no other thread was faster, else it tries again."""
    swaps = {line.ptx for line in sass if _SWAP.search(line.text)}
    kinds = ((line.row, line.op) for line in body if isinstance(line, Instruction))
    return frozenset(row for row, op in kinds if row in swaps and op[0] in ("atom", "red") and "cas" not in op)


def _joined(unmade: Sequence[_Access], wider: Sequence[tuple[_Access, int]]) -> dict[int, Pieces]:
    """Each wider access takes the neighbours that have no instruction of their own, if they fill its width. An access
    that no wider one takes is dropped if none is wider at all: else it is not known where it went."""
    found: dict[int, Pieces] = {}
    free = {access.row: access for access in unmade}
    for leader, width in wider:
        group = [a for a in free.values() if (a.kind, a.group) == (leader.kind, leader.group)]
        inside = sorted((a for a in group if abs(a.offset - leader.offset) < width), key=lambda a: a.offset)
        for members in _runs([*inside, leader], width):
            if leader in members:
                first = min(a.offset for a in members)
                found |= {a.row: () for a in members}
                found[leader.row] = ((first - leader.offset, width),)
                for member in members:
                    free.pop(member.row, None)
                break
    if not wider:
        found |= {row: () for row in free}
    return found


def _runs(accesses: Sequence[_Access], width: int) -> Iterable[list[_Access]]:
    """The runs of accesses without gaps that have this width together."""
    ordered = sorted(accesses, key=lambda a: a.offset)
    for start in range(len(ordered)):
        run, end = [], ordered[start].offset
        for access in ordered[start:]:
            if access.offset != end:
                break
            run.append(access)
            end += access.nbytes
            if end - run[0].offset == width:
                yield run


def _accesses(body: Sequence[Instruction | Label | Targets | Prototype]) -> Iterable[_Access]:
    """Loads and stores of global and shared memory. A new basic block, and a new value of a base register, begin new
    groups."""
    block, versions = 0, defaultdict[str, int](int)
    for line in body:
        if not isinstance(line, Instruction) or line.op[0] in ("bra", "brx", "bar", "barrier"):
            block += 1
            continue
        if (access := _access(line, block, versions)) is not None:
            yield access
        if line.args and isinstance(line.args[0], Reg):
            versions[line.args[0].name] += 1


def _access(line: Instruction, block: int, versions: Mapping[str, int]) -> _Access | None:
    space = next((part for part in line.op if part in ("global", "shared")), "")
    if line.op[0] not in ("ld", "st") or not space:
        return None
    memory = line.args[0 if line.op[0] == "st" else 1]
    if not isinstance(memory, Mem):
        return None
    count = next((int(part[1:]) for part in line.op if part in ("v2", "v4", "v8")), 1)
    base = memory.base.name if isinstance(memory.base, Reg) else ""
    group = (block, memory.base, versions.get(base, 0), line.guard, line.negated)
    return _Access(line.row, (line.op[0], space), group, memory.offset, count * size_of(line.op[-1]))
