"""Which loops of the PTX the assembler unrolls. It makes seven copies of a loop's body: four that run in turn while
more than three passes are left, two that run once if more than one is left, and one. Lanes of a warp with different
numbers of passes left are then in different copies, and make an access each where they could make one together."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gpu_ops.devices.sass.listing import SassLine
from gpu_ops.devices.sim.ptx.flow import Block, registers_of, results
from gpu_ops.devices.sim.ptx.program import Imm, Instruction, Operand, Reg

PARTS = ((3, 4), (1, 2))
"""The passes of which more must be left, and the passes that run then."""
_COPIES, _IN_TURN = 7, 4
_ACCESS = re.compile(r"^(?:@!?U?P\d+ )?(?:LD|ST)[GS]?\b")
_JUMP = re.compile(r"\bBRA\b.* `\(([^)]+)\)")
_TYPES = {"s32": "i4", "u32": "u4", "s64": "i8", "u64": "u8"}


@dataclass(frozen=True)
class UnrolledLoop:
    """A loop that counts by `step` in a register until it reaches `bound`; `type` is NumPy's of both."""

    counter: str
    bound: Reg | Imm
    step: int
    type: str


def unrolled_loops(blocks: Iterable[Block], sass: Sequence[SassLine]) -> dict[int, UnrolledLoop]:
    """By the number of its block, each loop of a single block with accesses that the machine code has as described
    above, and whose passes follow from a counter."""
    made: defaultdict[int, list[int]] = defaultdict(list)
    for line in sass:
        if _ACCESS.match(line.text):
            made[line.ptx].append(line.address)
    loops = _loops(sass)
    found = {}
    for block in blocks:
        copies = [made[line.row] for line in block.lines if line.row in made]
        if copies and all(_is_unrolled(places, loops) for places in copies) and (loop := _counted(block)):
            found[block.number] = loop
    return found


def _loops(sass: Sequence[SassLine]) -> list[range]:
    """The addresses from the target of each jump back to the jump."""
    labels = {line.label: line.address for line in sass if line.label}
    jumps = ((line.address, labels.get(jump[1])) for line in sass if (jump := _JUMP.search(line.text)))
    return [range(target, address + 1) for address, target in jumps if target is not None and target <= address]


def _is_unrolled(places: Sequence[int], loops: Sequence[range]) -> bool:
    """Whether of seven copies at these addresses four are in a loop without the others. One more may be before it, for
    a first pass of lanes that have reached the bound."""
    for loop in loops:
        inside = sum(place in loop for place in places)
        before = sum(place < loop.start for place in places)
        if inside == _IN_TURN and len(places) == _COPIES + (before == 1 and len(places) > _COPIES):
            return True
    return False


def _counted(block: Block) -> UnrolledLoop | None:
    """How a block that jumps to itself counts its passes."""
    if block.end != "branch" or block.number != block.targets[block.negated]:
        return None
    writers: defaultdict[str, list[Instruction]] = defaultdict(list)
    for line in block.lines:
        for operand in results(line):
            for name in registers_of(operand):
                writers[name].append(line)
    test = writers[block.chooser.name] if block.chooser is not None else []
    if len(test) != 1 or test[0].op[0] != "setp" or len(test[0].op) != 3 or test[0].op[2] not in _TYPES:
        return None
    counter, bound = test[0].args[1:3]
    step = _step(counter, writers)
    if not isinstance(counter, Reg) or not isinstance(bound, Reg | Imm) or not step:
        return None
    if any(name in writers for name in registers_of(bound)) or test[0].op[1] not in ("ne", "lt" if step > 0 else "gt"):
        return None
    return UnrolledLoop(counter.name, bound, step, _TYPES[test[0].op[2]])


def _step(counter: Operand, writers: dict[str, list[Instruction]]) -> int:
    """By how much a block changes a register; 0 where it does so in another way than by one addition."""
    lines = writers.get(counter.name, []) if isinstance(counter, Reg) else []
    if len(lines) != 1 or lines[0].op[0] != "add" or lines[0].args[1] != counter:
        return 0
    amount = lines[0].args[2]
    return amount.value if isinstance(amount, Imm) else 0
