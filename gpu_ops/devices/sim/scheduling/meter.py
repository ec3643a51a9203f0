"""The instruction budget of a launch, and the error that says where the kernel was when it was used up."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from gpu_ops.devices.sim.findings import Findings, say
from gpu_ops.devices.sim.lanes import Lanes
from gpu_ops.devices.sim.ptx.emit import BlockCode, Code
from gpu_ops.devices.sim.ptx.flow import reachable
from gpu_ops.devices.sim.ptx.program import Place
from gpu_ops.errors import LimitReached

OFTEN = 0.05
"""Seconds between two calls of `tick`, or as long as one instruction of a batch takes."""
PART = 4
"""A block belongs to the running loop if it ran at least once for so many runs of the current block."""


@dataclass(eq=False)
class Meter:
    """Counts warp instructions against the `budget`, and how often each basic block ran. It calls `tick` now and then,
    which may raise. `source` is the kernel's own file."""

    budget: float
    tick: Callable[[], None]
    source: str = ""
    executed: int = 0
    turns: Counter[int] = field(default_factory=Counter)
    ticked: float = 0.0

    def add(self, code: BlockCode, lanes: Lanes) -> None:
        """Add a run of a block. Raises LimitReached, and the errors of `tick`."""
        self.executed += code.instructions * lanes.warps
        self.turns[code.block.number] += 1
        if self.executed > self.budget:
            raise LimitReached(f"{self.budget:.3g} warp instructions", "a larger budget")
        self.poll()

    def poll(self) -> None:
        """In the middle of a block: call `tick` if it is due. Raises the errors of `tick`."""
        now = time.monotonic()
        if now - self.ticked >= OFTEN:
            self.ticked = now
            self.tick()


def limit_error(
    code: Code, block: BlockCode, meter: Meter, lanes: Lanes, findings: Findings, reached: LimitReached
) -> LimitReached:
    """The error for a launch that reached a limit while these lanes ran a block; it also adds a finding."""
    place, last = _loop_lines(code, block, meter.turns)
    lines = f"line {place.line}" if last in (0, place.line) else f"lines {place.line} to {last}"
    outer = _caller(place, meter.source)
    if outer is not place:
        lines += f" of {place.file}, called here,"
    where = f"loops in {lines}" if last else f"is at {lines}"
    place = outer
    doubt = " (an endless loop?)" if last else ""
    text = f"the kernel {where} and had not ended after {reached.limit} ({meter.executed:,} warp instructions)"
    findings.add("not ended", place, lanes, lanes.places, say(text))
    return LimitReached(reached.limit, reached.flag, f"{place.file}:{place.line}: the kernel, which {where}{doubt},")


def _caller(place: Place, source: str) -> Place:
    """Where the kernel's own file calls the code of a header; the place itself if it is in no header."""
    if place.file != source:
        for depth, (file, line) in enumerate(place.inlined_at):
            if file == source:
                return Place(file, line, place.inlined_at[depth + 1 :])
    return place


def _loop_lines(code: Code, block: BlockCode, turns: Counter[int]) -> tuple[Place, int]:
    """The first position and the last line, in one file, of the innermost loop around a block; line 0 without a
    loop."""
    number = block.block.number
    onward = [b.block.targets for b in code.blocks]
    back: list[list[int]] = [[] for _ in onward]
    for source, targets in enumerate(onward):
        for target in targets:
            back[target].append(source)
    loop = reachable(onward, number) & reachable(back, number)
    here = _places(block)[:1] or [Place("", 0)]
    if not loop:
        return here[0], 0
    often = [n for n in sorted(loop) if turns[n] * PART >= turns[number]]
    places = [p for n in often for p in _places(code.blocks[n]) if p.file == here[0].file]
    first = min(places, key=lambda p: p.line, default=here[0])
    return first, max((p.line for p in places), default=first.line)


def _places(code: BlockCode) -> list[Place]:
    """The source positions of a block's instructions that have a line."""
    return [p for p in (*(line.place for line in code.block.lines), code.block.place) if p.line]
