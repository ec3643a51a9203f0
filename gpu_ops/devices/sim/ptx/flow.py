"""A kernel's basic blocks: control flow, and the live registers of each block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from gpu_ops.devices.sim.ptx.inline import Flat, Line, is_special
from gpu_ops.devices.sim.ptx.program import Instruction, Label, Mem, Operand, Place, Reg, Sym, Targets, Vec
from gpu_ops.errors import KernelError
from gpu_ops.progress import advance

End = Literal["go", "branch", "choose", "exit", "barrier"]
WARP_SYNC = {"shfl", "vote", "match", "redux"}
NO_RESULT = {
    "st",
    "stmatrix",
    "red",
    "bar",
    "barrier",
    "membar",
    "fence",
    "bra",
    "brx",
    "exit",
    "trap",
    "prefetch",
    "prefetchu",
}
ORDERED = frozenset({"volatile", "relaxed", "acquire", "release"})
NO_RESULT |= {"cp", "nanosleep", "discard", "applypriority", "brkpt", "pmevent", "griddepcontrol", "sust"}


@dataclass
class Block:
    """Instructions that run one after the other. `end` says how the block ends, by the jump in line `row` of the PTX if
    there is one; `targets` are the numbers of the successor blocks: for "branch" the target if `chooser` is true, then
    the other; for "choose" one for each value.

    `syncs_warp`: the block begins with an instruction at which lanes of a warp wait for one another. `publishes`: it
    consists of one that other blocks of the grid may wait for.
    """

    number: int
    lines: list[Instruction] = field(default_factory=list)
    end: End = "go"
    targets: tuple[int, ...] = ()
    chooser: Reg | None = None
    negated: bool = False
    place: Place = Place("", 0)
    row: int = 0
    syncs_warp: bool = False
    publishes: bool = False
    uses: frozenset[str] = frozenset()
    defines: frozenset[str] = frozenset()
    live_in: frozenset[str] = frozenset()
    live_out: frozenset[str] = frozenset()


def blocks_of(flat: Flat) -> list[Block]:
    """The blocks of a kernel in the order of its text; control enters at the first."""
    choices = {line.name: line.labels for line in flat.body if isinstance(line, Targets)}
    (blocks, labels), waiting = _cut(_single(flat.body), choices)
    for block, names in waiting:
        block.targets = tuple(n if isinstance(n, int) else labels[n] for n in names)
    set_liveness(blocks)
    return blocks


def _single(body: list[Line]) -> Iterator[Line]:
    """Replace each predicated instruction by a jump over it, so that only branches depend on predicates."""
    count = 0
    for line in body:
        if not isinstance(line, Instruction) or line.guard is None or line.op[0] == "bra":
            yield line
            continue
        count += 1
        label = f"$skip{count}"
        yield Instruction(("bra",), (Sym(label),), line.place, line.guard, not line.negated)
        yield Instruction(line.op, line.args, line.place, row=line.row)
        yield Label(label)


def _cut(
    lines: Iterator[Line], choices: dict[str, tuple[str, ...]]
) -> tuple[tuple[list[Block], dict[str, int]], list[tuple[Block, tuple[str | int, ...]]]]:
    """The blocks, the block number of each label, and for each block the labels or numbers where it goes next."""
    blocks, labels = [Block(0)], {}
    waiting: list[tuple[Block, tuple[str | int, ...]]] = []

    def finish(end: End, targets: tuple[str | int, ...], line: Instruction | None = None) -> None:
        block = blocks[-1]
        block.end = end
        if line is not None:
            block.place, block.row = line.place, line.row
        waiting.append((block, targets))
        blocks.append(Block(block.number + 1))

    for line in lines:
        if isinstance(line, Label):
            if blocks[-1].lines:
                finish("go", (blocks[-1].number + 1,))
            labels[line.name] = blocks[-1].number
        elif isinstance(line, Instruction):
            kind, name = line.op[0], line.args[0].name if line.args and isinstance(line.args[0], Sym) else ""
            following = blocks[-1].number + 1
            if kind == "bra" and line.guard is None:
                finish("go", (name,), line)
            elif kind == "bra":
                blocks[-1].chooser, blocks[-1].negated = line.guard, line.negated
                finish("branch", (name, following), line)
            elif kind == "brx":
                assert isinstance(line.args[0], Reg) and isinstance(line.args[1], Sym)
                blocks[-1].chooser = line.args[0]
                finish("choose", choices[line.args[1].name], line)
            elif kind in ("exit", "trap"):
                if kind == "trap":
                    blocks[-1].lines.append(line)
                finish("exit", (), line)
            else:
                alone = _is_barrier(line) or _publishes(line)
                if (alone or _is_warp_sync(line)) and blocks[-1].lines:
                    finish("go", (following,))
                blocks[-1].syncs_warp |= _is_warp_sync(line)
                blocks[-1].publishes = _publishes(line)
                blocks[-1].lines.append(line)
                if alone:
                    finish("barrier" if _is_barrier(line) else "go", (blocks[-1].number + 1,), line)
    if blocks[-1].lines or blocks[-1].number in labels.values():
        finish("exit", ())
    blocks.pop()
    return (blocks, labels), waiting


def _is_barrier(line: Instruction) -> bool:
    return line.op[0] in ("bar", "barrier") and not {"warp", "arrive"} & set(line.op)


def _publishes(line: Instruction) -> bool:
    return is_strong(line) and line.op[0] != "ld" and line.op[1] != "shared"


def barrier_kind(line: Instruction) -> Literal["block", "named", "cluster"]:
    """Who meets at a barrier: the block, some of its threads, or the blocks of a cluster."""
    return "cluster" if "cluster" in line.op else "named" if is_named(line) else "block"


def is_named(line: Instruction) -> bool:
    """Whether an instruction is a named barrier: one with a number and a count of threads."""
    return line.op[0] in ("bar", "barrier") and "red" not in line.op and len(line.args) == 2


def _is_warp_sync(line: Instruction) -> bool:
    """Whether lanes of a warp wait for one another at this instruction."""
    return line.op[0] in WARP_SYNC or line.op[:2] == ("bar", "warp")


def registers_of(operand: Operand) -> Sequence[str]:
    """Names of the registers in an operand."""
    if isinstance(operand, Reg):
        return () if is_special(operand.name) else (operand.name,)
    if isinstance(operand, Mem):
        return (operand.base.name,) if isinstance(operand.base, Reg) else ()
    if isinstance(operand, Vec):
        return [name for item in operand.items for name in registers_of(item)]
    return ()


def results(line: Instruction) -> tuple[Operand, ...]:
    """The operands that an instruction writes."""
    if line.op[:2] == ("wmma", "store") or (line.op[0] == "mbarrier" and isinstance(line.args[0], Mem)):
        return ()
    if line.op[0] in NO_RESULT and line.op[:2] not in (("bar", "red"), ("barrier", "red")):
        return ()
    if line.op[0] == "system":
        return line.args[:1] if line.op[1] == "vprintf" else ()
    return line.args[:1]


def set_liveness(blocks: list[Block]) -> None:
    """Set the uses, definitions and live registers of each block; special registers do not count."""
    for block in blocks:
        uses: set[str] = set()
        defines: set[str] = set()
        for line in block.lines:
            written = results(line)
            for operand in line.args[len(written) :]:
                uses.update(r for r in registers_of(operand) if r not in defines)
            for operand in written:
                defines.update(registers_of(operand))
        if block.chooser is not None:
            uses |= {block.chooser.name} - defines
        block.uses, block.defines = frozenset(uses), frozenset(defines)
        for target in block.targets:
            if target >= len(blocks):
                raise KernelError("The PTX jumps past the end of the kernel.")
    changed = True
    while changed:
        changed = False
        for block in reversed(blocks):
            advance(0, 1)
            out = frozenset().union(*(blocks[t].live_in for t in block.targets))
            into = block.uses | (out - block.defines)
            if (out, into) != (block.live_out, block.live_in):
                block.live_out, block.live_in, changed = out, into, True


def reachable(edges: Sequence[Sequence[int]], start: int) -> set[int]:
    """Blocks that control reaches from `start` in one or more steps."""
    blocks: set[int] = set()
    waiting = [start]
    while waiting:
        for target in edges[waiting.pop()]:
            if target not in blocks:
                blocks.add(target)
                waiting.append(target)
    return blocks


def is_strong(line: Instruction) -> bool:
    """Whether an instruction accesses memory that other threads access at the same time: an atomic, or an access that
    is volatile or has a memory order."""
    op = line.op
    return op[0] in ("atom", "red") or (op[0] in ("ld", "st") and not ORDERED.isdisjoint(op))
