"""Which arguments and variables a kernel may read, which of them through the read-only cache, and which it may write,
found from the addresses in its text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gpu_ops.devices.sim.ptx.flow import Block, registers_of, results
from gpu_ops.devices.sim.ptx.program import Instruction, Mem, Operand, Reg, Sym, Vec
from gpu_ops.progress import advance

ANY = "?"
"""An address from memory, which may lead anywhere."""
OWN = {"shared", "local", "const"}


class Reach(NamedTuple):
    """The names of the parameters and variables whose memory a kernel may read, of those that it loads as read-only
    memory (`ld.global.nc`), and of those that it may write; ANY for one that a pointer in memory leads to. `in_order`:
    it does not let the next launch begin before the previous one has ended."""

    reads: frozenset[str]
    read_only: frozenset[str]
    writes: frozenset[str]
    in_order: bool


def reached(blocks: list[Block]) -> Reach:
    """What a kernel may access."""
    lines = [line for block in blocks for line in block.lines]
    origins = origins_of(lines)
    used = frozenset().union(*(b.uses | b.live_out for b in blocks), *map(_used_at_once, blocks))
    read: set[str] = set()
    cached: set[str] = set()
    written: set[str] = set()
    for line in lines:
        kind, space = line.op[0], set(line.op)
        if "param" in space or (kind != "cp" and not OWN.isdisjoint(space)):
            continue
        answers = kind == "atom" and not used.isdisjoint(_written(line))
        if kind in ("ld", "ldu") or line.op[:2] == ("wmma", "load") or answers or (kind == "cp" and len(line.args) > 1):
            names = of_address(line.args[1], origins)
            read |= names
            cached |= names if kind == "ld" and "nc" in space else set()
        if kind in ("st", "red", "atom") or line.op[:2] == ("wmma", "store"):
            written |= of_address(line.args[1 if kind == "atom" else 0], origins)
    steps = [line.op[1] for line in lines if line.op[0] == "griddepcontrol"]
    in_order = "launch_dependents" not in steps or "wait" in steps[: steps.index("launch_dependents")]
    return Reach(frozenset(read), frozenset(cached), frozenset(written), in_order)


def _written(line: Instruction) -> Iterator[str]:
    return (r for operand in results(line) for r in registers_of(operand))


def _used_at_once(block: Block) -> set[str]:
    """The registers that a block reads, also those that it sets itself."""
    return {r for line in block.lines for o in line.args[len(results(line)) :] for r in registers_of(o)}


def origins_of(lines: list[Instruction]) -> dict[str, frozenset[str]]:
    """The names that the 64-bit value of each register may be derived from."""
    found: dict[str, frozenset[str]] = {}
    moving = [line for line in lines if line.op[-1] in ("u64", "s64", "b64") or line.op[0] in ("cvta", "selp", "mad")]
    grown = True
    while grown:
        grown = False
        advance(0, 1)
        for line in moving:
            written = results(line)
            if not written:
                continue
            names = frozenset().union(*_sources(line, line.args[len(written) :], found))
            for target in (r for operand in written for r in registers_of(operand)):
                before = found.get(target, frozenset())
                if not names <= before:
                    found[target], grown = before | names, True
    return found


def _sources(line: Instruction, operands: tuple[Operand, ...], found: dict[str, frozenset[str]]) -> Iterator[set[str]]:
    if line.op[0] in ("ld", "ldu", "atom", "shfl") and "param" not in line.op:
        yield {ANY}
        return
    for operand in operands:
        if isinstance(operand, Mem) and isinstance(operand.base, Sym):
            yield {operand.base.name}
        elif isinstance(operand, Mem):
            yield {ANY}
        elif isinstance(operand, Sym):
            yield {operand.name}
        elif isinstance(operand, Vec):
            yield from (set(found.get(r, ())) for r in registers_of(operand))
        elif isinstance(operand, Reg):
            yield set(found.get(operand.name, ()))


def of_address(operand: Operand, origins: dict[str, frozenset[str]]) -> set[str]:
    if not isinstance(operand, Mem) or operand.base is None:
        return {ANY}
    if isinstance(operand.base, Sym):
        return {operand.base.name}
    return set(origins.get(operand.base.name, ())) or {ANY}
