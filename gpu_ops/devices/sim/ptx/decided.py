"""What a kernel does by the values that it loads: addresses and branches that depend on data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from gpu_ops.devices.sim.ptx.flow import Block, reachable, registers_of, results
from gpu_ops.devices.sim.ptx.program import Instruction, Mem, Operand
from gpu_ops.devices.sim.ptx.reach import ANY, of_address, origins_of
from gpu_ops.progress import advance

SHARED = ("shared float", "shared word")
"""A block's shared and local memory: what it has of floats, and of all else. A stored float is taken to be loaded as
one."""
ACCESSES = {"ld", "ldu", "st", "atom", "red", "cp", "tex"}
LOADS = {"ld", "ldu", "atom", "cp", "tex", "tld4", "suld"}


class Decided(NamedTuple):
    """The parameters and variables whose loaded values decide the `addresses` of a kernel's accesses, and how often its
    loops run or which accesses it makes (`branches`); "?" for memory that a pointer in memory leads to."""

    addresses: frozenset[str]
    branches: frozenset[str]


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
