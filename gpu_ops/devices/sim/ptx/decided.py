"""What a kernel does by the values that it loads: addresses and branches that depend on data, and accesses that depend
on which thread comes first, or may do so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from gpu_ops.devices.sim.ptx.flow import Block, reachable, registers_of, results
from gpu_ops.devices.sim.ptx.loops import between, meetings, waiting_lines
from gpu_ops.devices.sim.ptx.program import Instruction, Mem, Operand
from gpu_ops.devices.sim.ptx.reach import ANY, Reach, of_address, origins_of
from gpu_ops.progress import advance

SHARED = ("shared float", "shared word")
"""A block's shared and local memory: what it has of floats, and of all else. A stored float is taken to be loaded as
one."""
ACCESSES = {"ld", "ldu", "st", "atom", "red", "cp", "tex"}
COPIES = {"mov", "ld", "st", "shfl"}
LOADS = {"ld", "ldu", "atom", "cp", "tex", "tld4", "suld"}


class Decided(NamedTuple):
    """The parameters and variables whose loaded values decide the `addresses` of a kernel's accesses, and how often its
    loops run or which accesses it makes (`branches`); "?" for memory that a pointer in memory leads to."""

    addresses: frozenset[str]
    branches: frozenset[str]


class Raced(NamedTuple):
    """The lines of the PTX that load global memory which the kernel also writes, those that write it, and those with
    `accesses` that follow from what the former load: those depend on which block comes first where one block loads what
    another writes."""

    loads: frozenset[int]
    writes: frozenset[int]
    accesses: frozenset[int]


def decided(blocks: Sequence[Block]) -> Decided:
    """What the loaded values of a kernel decide."""
    loaded = _loaded(blocks)
    addresses: set[str] = set()
    branches: set[str] = set()
    for block in blocks:
        for line in block.lines:
            if line.op[0] in ACCESSES:
                addresses |= _by(_address(line), loaded)
        if block.chooser is not None and (by := loaded.get(block.chooser.name)) and _matters(blocks, block):
            branches |= by
    return Decided(frozenset(addresses), frozenset(branches))


def _loaded(blocks: Sequence[Block]) -> dict[str, set[str]]:
    """For each register, and for SHARED, the names of the memory whose values it may depend on."""
    lines = [line for block in blocks for line in block.lines]
    origins = origins_of(lines)
    found: dict[str, set[str]] = {name: set() for name in SHARED}
    grown = True
    while grown:
        grown = False
        advance(0, 1)
        for line in lines:
            written = results(line)
            names = _by(line.args[len(written) :], found) | _memory(line, origins, found)
            targets = [r for operand in written for r in registers_of(operand)]
            if _within(line) and line.op[0] in ("st", "atom", "red", "cp"):
                targets += _cells(line)
            for target in targets:
                before = found.setdefault(target, set())
                if not names <= before:
                    before |= names
                    grown = True
    return found


def _within(line: Instruction) -> bool:
    """Whether an access is of shared or of local memory."""
    return not {"shared", "local", "shared::cta"}.isdisjoint(line.op)


def _memory(line: Instruction, origins: dict[str, frozenset[str]], found: dict[str, set[str]]) -> set[str]:
    """The memory that an instruction loads from, by name."""
    if line.op[0] not in LOADS or "param" in line.op or "const" in line.op:
        return set()
    if line.op[0] == "cp":
        return of_address(line.args[1], origins) if len(line.args) > 1 else set()
    if line.op[0] not in ("ld", "ldu", "atom"):
        return {ANY}
    if _within(line):
        return set().union(*(found[name] for name in _cells(line)))
    return of_address(line.args[1], origins)


def _cells(line: Instruction) -> tuple[str, ...]:
    """Which names of SHARED an access of shared or local memory means, by its type; both for bits of any type."""
    kind = line.op[-1]
    if line.op[0] == "cp":
        return SHARED
    return SHARED if kind.startswith("b") and kind[1:].isdigit() else SHARED[:1] if "f" in kind else SHARED[1:]


def _address(line: Instruction) -> Iterator[Operand]:
    return (operand for operand in line.args if isinstance(operand, Mem))


def _by(operands: Iterable[Operand], found: dict[str, set[str]]) -> set[str]:
    """The memory that the registers of operands depend on."""
    return set().union(*(found.get(r, ()) for operand in operands for r in registers_of(operand)))


def _matters(blocks: Sequence[Block], block: Block) -> bool:
    """Whether a branch decides how often a loop runs, or an access."""
    onward = [b.targets for b in blocks]
    after = [reachable(onward, target) | {target} for target in block.targets]
    if any(block.number in one for one in after):
        outside = [one for one in after if block.number not in one]
        if outside:
            return True
    only = {number for one in after for number in one if not all(number in other for other in after)}
    return any(line.op[0] in ACCESSES for number in only for line in blocks[number].lines)


def unsettled(blocks: list[Block]) -> frozenset[int]:
    """The lines of the PTX with accesses whose number or addresses depend on which thread comes first: they follow from
    the results of atomic operations, or from how often a loop waits for other threads. Values that atomic operations
    leave in memory do not count, because most are the same in any order; nor does a test for one number of those that
    atomic additions hand out, because one thread passes it in any order."""
    lines = [line for block in blocks for line in block.lines]
    waits = [blocks[number].lines[place] for number, place in waiting_lines(blocks)]
    waits = [line for line in waits if line.op[0] == "ld" and not _within(line)]
    known = {r for line in lines if line.op[0] == "atom" or line in waits for r in _targets(line)}
    used = {r for line in lines for operand in line.args[len(results(line)) :] for r in registers_of(operand)}
    if known.isdisjoint(used | {block.chooser.name for block in blocks if block.chooser is not None}):
        return frozenset()
    handed = {r for line in lines if line.op[0] == "atom" and {"add", "inc"} & set(line.op) for r in _targets(line)}
    return _following(blocks, known, handed)


def raced(blocks: list[Block], reach: Reach) -> Raced | None:
    """What may depend on which block comes first, of a kernel with this reach; None if nothing does."""
    if not _alike(reach.reads, reach.writes):
        return None
    origins = origins_of([line for block in blocks for line in block.lines])
    lines = [line for block in blocks for line in block.lines if "global" in line.op and line.op[0] in ACCESSES]
    names = [(line, frozenset().union(*(of_address(a, origins) for a in _address(line)))) for line in lines]
    loads = [(line, of) for line, of in names if line.op[0] in ("ld", "ldu") and "nc" not in line.op]
    writes = [(line, of) for line, of in names if line.op[0] in ("st", "red", "atom")]
    read, written = (frozenset[str]().union(*(of for _, of in each)) for each in (loads, writes))
    sources = [line for line, of in loads if _alike(of, written)]
    accesses = _following(blocks, {r for line in sources for r in _targets(line)}, set()) if sources else None
    rivals = frozenset(line.row for line, of in writes if _alike(of, read))
    return Raced(frozenset(line.row for line in sources), rivals, accesses) if accesses else None


def _alike(names: frozenset[str], others: frozenset[str]) -> bool:
    """Whether an address that derives from `names` may be one that derives from the others."""
    return bool(names and others and (ANY in names | others or names & others))


def _following(blocks: list[Block], known: set[str], handed: set[str]) -> frozenset[int]:
    """The lines with accesses whose number or addresses follow from the values of `known` registers, but not from a
    test for one of the numbers that are `handed` out."""
    lines = [line for block in blocks for line in block.lines]
    origins, meets = origins_of(lines), meetings(blocks)
    flows = [(block, line, *_flow(line, origins)) for block in blocks for line in block.lines]
    inside, before = set[int](), (0, 0, 0)
    while (now := (len(known), len(inside), len(handed))) != before:
        advance(0, 1)
        before = now
        for block in blocks:
            if block.number not in inside and block.chooser is not None and block.chooser.name in known:
                inside |= between(blocks, block, meets[block.number])
        for block, line, read, written in flows:
            sources = known & read
            if line.op[:2] in (("setp", "eq"), ("setp", "ne")) and sources <= handed:
                sources = set()
            if sources or block.number in inside:
                if line.op[0] in COPIES and sources <= handed:
                    handed |= written - known
                known |= written
    return frozenset(
        line.row
        for block in blocks
        for line in block.lines
        if line.op[0] in ACCESSES and (block.number in inside or any(_among(a, known) for a in _address(line)))
    )


def _among(operand: Operand, known: set[str]) -> bool:
    return not known.isdisjoint(registers_of(operand))


def _targets(line: Instruction) -> list[str]:
    return [r for operand in results(line) for r in registers_of(operand)]


def _flow(line: Instruction, origins: dict[str, frozenset[str]]) -> tuple[set[str], set[str]]:
    """The registers that an instruction reads and writes, and the shared or local variables."""
    read = {r for operand in line.args[len(results(line)) :] for r in registers_of(operand)}
    within = {name for a in _address(line) for name in of_address(a, origins)} if _within(line) else set()
    kind = line.op[0]
    return read | (within if kind == "ld" else set()), {*_targets(line), *(within if kind == "st" else ())}
