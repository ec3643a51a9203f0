"""How the machine code makes the accesses of the PTX: the assembler narrows vector loads whose values are not all used,
splits accesses, combines neighbouring ones into one of 64 or 128 bits, and drops those whose values it knows."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from statistics import mode
from typing import NamedTuple

from gpu_ops.devices.sass.listing import SassLine
from gpu_ops.devices.sim.ptx.program import Instruction, Label, Mem, Prototype, Targets, size_of


class Piece(NamedTuple):
    """A request of an access: its offset to the address of the PTX, and its bytes. One of more bytes than the access
    has begins at the multiple of them before the address, because the GPU has no others. Where the assembler runs
    several passes of a loop in turn, one request may be for several of them: those with an address in its `first` bytes
    make it; 0 for all passes."""

    by: int
    nbytes: int
    first: int = 0


Pieces = tuple[Piece, ...]
_ACCESS = re.compile(r"^(?:@!?U?P\d+ )?(LDG|STG|LDSM?|STS)\b([\w.]*)")
_LOADED = ("ld", "shared")
_KINDS = {"LDG": ("ld", "global"), "STG": ("st", "global"), "LDS": _LOADED, "LDSM": _LOADED, "STS": ("st", "shared")}
_BYTES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16, "256": 32}
_ARITHMETIC = re.compile(r"^(?:@!?U?P\d+ )?[DFH](?:ADD|FMA|MUL)2?\b")
_SWAP = re.compile(r"\bATOM[SG]?\.\S*\bCAST?\b")
"""Stores a value if memory still has the expected one."""
_WORD = 4


class _Access(NamedTuple):
    """A load or store of global or shared memory in a line of the PTX. Those of whole matrices have 0 bytes: their
    requests follow from where the elements are."""

    row: int
    kind: tuple[str, str]
    nbytes: int


def width_of(suffixes: str) -> int:
    """The bytes of an access by the suffixes of its instruction, such as ".E.64"."""
    return next((_BYTES[part] for part in suffixes.split(".") if part in _BYTES), _WORD)


def access_pieces(
    body: Sequence[Instruction | Label | Targets | Prototype], sass: Iterable[SassLine]
) -> dict[int, Pieces]:
    """By the line of the PTX, the requests of each access that the machine code makes in another way. An access without
    an instruction has no pieces: it is a part of a wider one, or nobody needs its value. A wider one may also load what
    the PTX loads after a branch, or not at all."""
    made: dict[int, list[tuple[tuple[str, str], int]]] = defaultdict(list)
    copies = Counter[int]()
    for line in sass:
        if match := _ACCESS.match(line.text):
            made[line.ptx].append((_KINDS[match[1]], width_of(match[2])))
        elif _ARITHMETIC.match(line.text):
            copies[line.ptx] += 1
    passes = _passes(body, copies)
    found: dict[int, Pieces] = {}
    for access in filter(None, map(_access, body)):
        widths = [width for kind, width in made.get(access.row, ()) if kind == access.kind]
        if not widths:
            found[access.row] = ()
        elif not access.nbytes:
            continue
        elif len(set(widths)) == 1 and widths[0] < access.nbytes:
            count = len(widths) if sum(widths) == access.nbytes else 1
            found[access.row] = tuple(Piece(n * widths[0], widths[0]) for n in range(count))
        elif min(widths) > access.nbytes:
            in_turn = passes.get(access.row, 1)
            first = widths[0] * len(widths) // in_turn if len(widths) < in_turn else 0
            found[access.row] = (Piece(0, widths[0], first),)
    return found


def _passes(body: Sequence[Instruction | Label | Targets | Prototype], copies: Counter[int]) -> dict[int, int]:
    """By line, how many passes of its basic block the machine code runs in turn: as many as it has copies of most of
    the block's additions and multiplications."""
    found: dict[int, int] = {}
    rows: list[int] = []
    for line in (*body, None):
        if isinstance(line, Instruction):
            rows.append(line.row)
        if not isinstance(line, Instruction) or line.op[0] in ("bra", "brx"):
            if counts := [copies[row] for row in rows if copies[row]]:
                found |= dict.fromkeys(rows, mode(counts))
            rows = []
    return found


def retried(body: Sequence[Instruction | Label | Targets | Prototype], sass: Iterable[SassLine]) -> frozenset[int]:
    """The lines of the PTX with atomic operations that the GPU does not have: the machine code computes the new value
    and stores it if no other thread was faster, else it tries again."""
    swaps = {line.ptx for line in sass if _SWAP.search(line.text)}
    kinds = ((line.row, line.op) for line in body if isinstance(line, Instruction))
    return frozenset(row for row, op in kinds if row in swaps and op[0] in ("atom", "red") and "cas" not in op)


def _access(line: Instruction | Label | Targets | Prototype) -> _Access | None:
    if not isinstance(line, Instruction):
        return None
    space = next((part for part in line.op if part in ("global", "shared")), "")
    if line.op[0] == "wmma" and space:
        return _Access(line.row, ("ld" if line.op[1] == "load" else "st", space), 0)
    if line.op[0] not in ("ld", "st"):
        return None
    if not space or not isinstance(line.args[0 if line.op[0] == "st" else 1], Mem):
        return None
    count = next((int(part[1:]) for part in line.op if part in ("v2", "v4", "v8")), 1)
    return _Access(line.row, (line.op[0], space), count * size_of(line.op[-1]))
