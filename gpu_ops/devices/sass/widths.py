"""How the machine code makes the accesses of the PTX: the assembler narrows vector loads whose values are not all used,
splits accesses, combines neighbouring ones into one of 64 or 128 bits, and drops those whose values it knows."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median_high
from typing import NamedTuple

from gpu_ops.devices.sass.listing import SassLine
from gpu_ops.devices.sim.ptx.program import Instruction, Label, Mem, Prototype, Targets, size_of

Pieces = tuple[tuple[int, ...], ...]
"""The requests of an access: the offset of each to the address of the PTX, and its bytes. One of more bytes than the
access has begins at the multiple of them before the address, because the GPU has no others. A third number says that
several passes of a loop share it: it is made where the address is less than so many bytes after the multiple."""
_ACCESS = re.compile(r"^(?:@!?U?P\d+ )?(LDG|STG|LDSM?|STS)\b([\w.]*)")
_LOADED = ("ld", "shared")
_KINDS = {"LDG": ("ld", "global"), "STG": ("st", "global"), "LDS": _LOADED, "LDSM": _LOADED, "STS": ("st", "shared")}
_BYTES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16, "256": 32}
_SWAP = re.compile(r"\bATOM[SG]?\.\S*\bCAST?\b")
"""Stores a value if memory still has the expected one."""
_WORD = 4
_PLACE = re.compile(r"\[[^\]]*?(?:\+(-?0x[0-9a-f]+))?\]")
"""An address, and the offset in it."""
_SINGLE = {"ld", "st", "fma", "add", "sub", "mul"}
_ARITHMETIC = re.compile(r"^(?:@!?U?P\d+ )?[FD](?:ADD|MUL|FMA)\b")
"""The instructions that one of floats becomes, if it is of `_SINGLE`."""


class _Access(NamedTuple):
    """A load or store of global or shared memory in a line of the PTX. Those of whole matrices have 0 bytes: their
    requests follow from where the elements are."""

    row: int
    kind: tuple[str, str]
    nbytes: int
    address: Mem


def width_of(suffixes: str) -> int:
    """The bytes of an access by the suffixes of its instruction, such as ".E.64"."""
    return next((_BYTES[part] for part in suffixes.split(".") if part in _BYTES), _WORD)


def access_pieces(
    body: Sequence[Instruction | Label | Targets | Prototype], sass: Sequence[SassLine]
) -> dict[int, Pieces]:
    """By the line of the PTX, the requests of each access that the machine code makes in another way. An access without
    an instruction has no pieces: it is a part of a wider one, or nobody needs its value. A wider one may also load what
    the PTX loads after a branch, or not at all."""
    made: dict[int, list[tuple[tuple[str, str], int]]] = defaultdict(list)
    places: dict[int, set[int]] = defaultdict(set)
    floats = Counter(line.ptx for line in sass if _ARITHMETIC.match(line.text))
    for line in sass:
        if match := _ACCESS.match(line.text):
            made[line.ptx].append((_KINDS[match[1]], width_of(match[2])))
            places[line.ptx].update(int(at or "0", 16) for at in _PLACE.findall(line.text)[-1:])
    found: dict[int, Pieces] = {}
    for block in _blocks(body):
        accesses = list(filter(None, map(_access, block)))
        widths = {a.row: [width for kind, width in made.get(a.row, ()) if kind == a.kind] for a in accesses}
        copies = [floats[line.row] for line in block if line.op[0] in _SINGLE]
        copies += [widths[a.row].count(a.nbytes) for a in accesses]
        usual = median_high([n for n in copies if n] or [1])
        found |= {a.row: p for a in accesses if (p := _pieces(a, widths[a.row], usual)) is not None}
        for other in [a for a in accesses if a.nbytes and len(widths[a.row]) > usual and a.row not in found]:
            for a in accesses:  # an instruction may have the line of a neighbour
                by = a.address.offset - other.address.offset
                alike = (a.kind, a.nbytes, a.address.base) == (other.kind, other.nbytes, other.address.base)
                if alike and found.get(a.row) == () and places[other.row] & {at + by for at in places[other.row]}:
                    del found[a.row]
    for row in list(_moved(body, made, found)):
        del found[row]
    return found


def _moved(
    body: Sequence[Instruction | Label | Targets | Prototype],
    made: Mapping[int, Sequence[tuple[tuple[str, str], int]]],
    found: Mapping[int, Pieces],
) -> Iterator[int]:
    """The stores whose instruction has the line of another one, because the assembler moved it behind a branch. Of
    several to one address in a row the first is made: after the branch there is one instruction, of either value."""
    lines = [line for line in body if isinstance(line, Instruction)]
    accesses = {line.row: access for line in lines if (access := _access(line)) is not None}
    rows = {line.row for line in lines} - set(accesses)
    moved = {kind for row in rows for kind, _ in made.get(row, ()) if kind[0] == "st"}
    joined = {
        (a.kind, a.address.base) for row, a in accesses.items() if any(p[1] > a.nbytes for p in found.get(row, ()))
    }
    seen = set[tuple[object, ...]]()
    way = 0
    for line in lines:
        way += line.op[0] == "bra" and line.guard is None
        access = accesses.get(line.row)
        if access is None or found.get(line.row) != () or access.kind not in moved:
            continue
        if (access.kind, access.address.base) not in joined and (key := (way, *access[1:])) not in seen:
            seen.add(key)
            yield line.row


def _pieces(access: _Access, widths: Sequence[int], copies: int) -> Pieces | None:
    """The requests of an access that the machine code has in these widths, and its basic block so many times; None
    where they are those of the PTX, or not known."""
    if not widths:
        return ()
    if not access.nbytes:
        return None
    if len(set(widths)) == 1 and (width := widths[0]) < access.nbytes:
        count = len(widths) if sum(widths) == access.nbytes else 1
        return tuple((n * width, width) for n in range(count))
    if min(widths) <= access.nbytes:
        return None
    if len(widths) < copies:
        return ((0, widths[0], widths[0] * len(widths) // copies),)
    return ((0, widths[0]),)


def retried(body: Sequence[Instruction | Label | Targets | Prototype], sass: Iterable[SassLine]) -> frozenset[int]:
    """The lines of the PTX with atomic operations that the GPU does not have: the machine code computes the new value
    and stores it if no other thread was faster, else it tries again."""
    swaps = {line.ptx for line in sass if _SWAP.search(line.text)}
    kinds = ((line.row, line.op) for line in body if isinstance(line, Instruction))
    return frozenset(row for row, op in kinds if row in swaps and op[0] in ("atom", "red") and "cas" not in op)


def _blocks(body: Sequence[Instruction | Label | Targets | Prototype]) -> Iterator[list[Instruction]]:
    """The instructions of each basic block, with those behind a barrier."""
    block: list[Instruction] = []
    for line in body:
        if isinstance(line, Instruction) and line.op[0] not in ("bra", "brx"):
            block.append(line)
        elif block:
            yield block
            block = []
    if block:
        yield block


def _access(line: Instruction) -> _Access | None:
    kind = {"load": "ld", "store": "st"}.get(line.op[1], "") if line.op[0] == "wmma" else line.op[0]
    kind = "ld" if kind == "ldmatrix" else kind
    space = next((part for part in line.op if part in ("global", "shared")), "")
    if kind not in ("ld", "st") or not space:
        return None
    address = line.args[0 if kind == "st" else 1]
    if not isinstance(address, Mem):
        return None
    count = next((int(part[1:]) for part in line.op if part in ("v2", "v4", "v8")), 1)
    nbytes = 0 if line.op[0] != kind else count * size_of(line.op[-1])
    return _Access(line.row, (kind, space), nbytes, address)
