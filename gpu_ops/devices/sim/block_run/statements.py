"""Cuts a kernel's basic blocks at the lines of its source, so that a warp can stop at each line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from gpu_ops.devices.sim.ptx.emit import Emitter
from gpu_ops.devices.sim.ptx.flow import Block, set_liveness
from gpu_ops.devices.sim.ptx.program import Instruction, Operand, Place, Reg


def line_in(place: Place, file: str) -> int:
    """The line of `file` that a position belongs to: its own, or the one that calls it; 0 without one."""
    return next((line for name, line in ((place.file, place.line), *place.inlined_at) if name == file), 0)


def cut_at_lines(blocks: Sequence[Block], file: str) -> list[Block]:
    """The same code in blocks that each belong to one line of `file`. Instructions without a line belong to the line
    before them. Where a block ends in a branch of another line, that is a block of its own."""
    pieces = [list(_pieces(block, file)) for block in blocks]
    first = [0]
    for some in pieces:
        first.append(first[-1] + len(some))
    for number, some in enumerate(pieces):
        for place, piece in enumerate(some):
            piece.number = first[number] + place
            inner = place < len(some) - 1
            piece.targets = (piece.number + 1,) if inner else tuple(first[t] for t in blocks[number].targets)
    cut = [piece for some in pieces for piece in some]
    set_liveness(cut)
    return cut


def _pieces(block: Block, file: str) -> Iterator[Block]:
    """A block cut at its lines, without numbers and targets."""
    numbered, line = [], 0
    for instruction in block.lines:
        line = line_in(instruction.place, file) or line
        numbered.append((line, instruction))
    runs: list[list[Instruction]] = [[i for _, i in run] for _, run in groupby(numbered, key=lambda pair: pair[0])]
    end = line_in(block.place, file)
    if not runs or (block.end in ("branch", "choose", "exit") and end not in (0, line)):
        runs.append([])
    for place, run in enumerate(runs):
        syncs = block.syncs_warp and place == 0
        if place < len(runs) - 1:
            yield Block(0, run, place=run[0].place, syncs_warp=syncs)
        else:
            yield replace(block, lines=run, syncs_warp=syncs)


class StatementEmitter(Emitter):
    """Also returns the registers that only the block itself reads, so that their values can be shown."""

    def _interface(self, block: Block) -> tuple[list[str], list[str]]:
        return sorted(block.uses), sorted(block.defines - {"_"})

    def is_read(self, operand: Operand) -> bool:
        return isinstance(operand, Reg) and operand.name != "_"
