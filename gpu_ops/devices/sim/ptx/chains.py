"""The dependent instructions of a kernel: for how long one warp waits when nothing else runs.

Instructions run in order, but a warp waits only where it uses a result that is not there yet. So a run of basic blocks
takes as long as its longest chain of instructions that need one another's results. Loads of global memory are counted
apart, because their latency is that of the memory: independent ones are in flight together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gpu_ops.devices.sim.ptx.flow import Block, registers_of, results
from gpu_ops.devices.sim.ptx.program import Instruction

ARITHMETIC, SHARED, SPECIAL, EXCHANGE, BARRIER, WIDE = 4.5, 29.0, 18.0, 24.0, 30.0, 10.0
"""Cycles until a result can be used: of arithmetic, of loads of shared memory, of special functions, of exchanges
between lanes, of a barrier whose threads are all there, and of double precision."""
SPECIALS = {"rcp", "sqrt", "rsqrt", "sin", "cos", "ex2", "lg2", "tanh", "div", "rem", "popc", "clz", "brev", "bfind"}
FREE = {"mov", "cvta", "bra", "ret"}
"""Instructions that the assembler removes."""


class Chain(NamedTuple):
    """The longest chain of a run of blocks: `loads` of global memory that depend on one another, and `cycles` of all
    other instructions in it."""

    loads: int
    cycles: float


def chains(blocks: Sequence[Block]) -> list[tuple[tuple[int, ...], Chain]]:
    """The runs of blocks, by their numbers, with the chain of each."""
    return [(tuple(b.number for b in run), _chain(run)) for run in _runs(blocks)]


def _runs(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Runs of blocks without a loop and without a jump over more than one block: those of predicated instructions."""
    entered: defaultdict[int, set[int]] = defaultdict(set)
    for block in blocks:
        for target in block.targets:
            entered[target].add(block.number)
    run: list[Block] = []
    for block in blocks:
        first = block.number - 2
        if run and (block.syncs_warp or not entered[block.number] <= {first, block.number - 1}):
            yield run
            run = []
        run.append(block)
        near = {block.number + 1, block.number + 2}
        if block.end in ("exit", "choose", "barrier") or not set(block.targets) <= near:
            yield run
            run = []
    if run:
        yield run


def _chain(run: Sequence[Block]) -> Chain:
    ready: dict[str, tuple[int, float]] = {}
    longest = (0, 0.0)
    for block in run:
        for line in block.lines:
            written = results(line)
            sources = line.args if line.op[0] in ("st", "stmatrix") else line.args[len(written) :]
            start = max((ready.get(r, (0, 0.0)) for o in sources for r in registers_of(o)), default=(0, 0.0))
            loads, cycles = _cost(line)
            end = (start[0] + loads, start[1] + cycles)
            longest = max(longest, end)
            for operand in written:
                for register in registers_of(operand):
                    ready[register] = end
    return Chain(*longest)


def _cost(line: Instruction) -> tuple[int, float]:
    """The loads of global memory, and the other cycles, of one instruction."""
    name, op = line.op[0], set(line.op)
    if name in FREE:
        return 0, 0.0
    if name in ("ld", "ldu", "tex", "atom"):
        if "shared" in op:
            return 0, SHARED
        return (0, ARITHMETIC) if op & {"param", "const"} else (1, 0.0)
    if name in ("shfl", "vote", "match", "redux"):
        return 0, EXCHANGE
    if name in ("bar", "barrier"):
        return 0, BARRIER
    if name in SPECIALS:
        return 0, SPECIAL
    if name == "cvt" and line.op[-1][1:] != line.op[-2][1:]:
        return 0, 2 * ARITHMETIC
    return 0, WIDE if line.op[-1] == "f64" else ARITHMETIC
