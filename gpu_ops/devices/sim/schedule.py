"""Which lanes run next. Groups of lanes wait at the basic block they are to run; the lowest block goes first, so
that lanes which part meet again as soon as they can."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gpu_ops.devices.sim.barriers import Waiting, report_divergence
from gpu_ops.devices.sim.batch import Batch
from gpu_ops.devices.sim.emit import BlockCode, Code
from gpu_ops.devices.sim.flow import is_named
from gpu_ops.devices.sim.lanes import Array, Lanes, pick, union, whole_mask, whole_size
from gpu_ops.devices.sim.meter import Meter, stopped
from gpu_ops.devices.sim.ptx import Imm, Instruction, Operand, Reg
from gpu_ops.devices.sim.warp import complete
from gpu_ops.errors import LimitReached

FEW = 8
"""A group with less than one in so many lanes of the batch is packed."""
SMALLEST = 2048
"""Lanes of a batch below which packing gains nothing."""
PATIENCE, TURN = 64, 16
"""Steps that lanes may spin while others wait, and steps those others get then."""


@dataclass(eq=False)
class Frame:
    """Registers of a group: those of the whole batch, or of packed lanes. Of packed ones `origin` holds, by number,
    the batch's array and what was picked out of it: what still is so need not be put back."""

    values: list[Array | None]
    index: Array | None = None
    origin: dict[int, tuple[Array, Array]] = field(default_factory=dict)


@dataclass(eq=False)
class Group:
    """Lanes that go on together, and where their registers are."""

    lanes: Lanes
    frame: Frame


class Scheduler:
    """Runs a batch to its end."""

    def __init__(self, code: Code, batch: Batch, meter: Meter, descending: bool) -> None:
        self.code, self.batch, self.meter, self.counters = code, batch, meter, batch.counters
        self.descending = descending
        self.main = Frame([None] * len(code.zeros))
        self.ready: dict[int, Group] = {}
        self.parked: dict[int, Group] = {}
        self.spun = 0

    def run(self) -> None:
        """Until no lane is left."""
        launched = self.batch.launched
        whole = launched.threads == launched.width
        first = Lanes(launched) if whole else Lanes(launched, mask=launched.exist)
        self._arrive(0, Group(first, self.main))
        while True:
            if self.ready:
                self._step(self._next())
            elif self.parked:
                self._release()
            else:
                return

    def _next(self) -> int:
        """The block to run: the lowest (the highest when descending), unless its lanes only wait for others."""
        usual, other = (max, min) if self.descending else (min, max)
        chosen = usual(self.ready)
        if len(self.ready) + len(self.parked) > 1 and chosen in self.code.spinning:
            self.spun += 1
            if self.spun > PATIENCE:
                if self.spun > PATIENCE + TURN:
                    self.spun = 0
                elif len(self.ready) > 1:
                    return other(self.ready)
                else:
                    self._release_whole_blocks()
                    return other(self.ready)
        return chosen

    # One block

    def _step(self, number: int) -> None:
        group = self.ready.pop(number)
        code = self.code.blocks[number]
        if code.block.gathers and number in self.parked:  # those who came before wait for these
            self.ready[number] = group
            self._join(self.ready, number, self.parked.pop(number))
            group = self._fullest(self.ready.pop(number))
        if code.block.end == "barrier" or (code.block.gathers and not self._gathered(code, group)):
            self._park(number, group)
            return
        self._run(code, group)

    def _run(self, code: BlockCode, group: Group) -> None:
        """Run a block's code for a group, and send its lanes on."""
        values, lanes = group.frame.values, group.lanes
        given = [self._value(values, n) for n in code.takes]
        try:
            found = code.function(self.batch, lanes, *given)
            self.meter.add(code, lanes)
        except LimitReached as reached:
            raise stopped(self.code, code, self.meter, lanes, self.batch.findings, reached) from None
        for number, value in zip(code.gives, found, strict=False):
            self._assign(group, number, value)
        if self.counters is not None:
            self.counters.ran(code, lanes)
        self._go_on(code, group, found[-1] if code.block.chooser is not None else None)

    def _value(self, values: list[Array | None], number: int) -> Array:
        value = values[number]
        return self.code.zeros[number] if value is None else value

    def _assign(self, group: Group, number: int, value: Array) -> None:
        """Give a register of the group's lanes a value. Lanes of other groups keep theirs, where they need it."""
        values, lanes = group.frame.values, group.lanes
        old = values[number]
        if lanes.mask is None or old is None or not self._needed(number, group):
            values[number] = value
        else:
            values[number] = np.where(lanes.mask, value, old)

    def _needed(self, number: int, group: Group) -> bool:
        """Whether another group in the same frame will read this register."""
        for waiting in (self.ready, self.parked):
            for block, other in waiting.items():
                if other.frame is group.frame and number in self.code.blocks[block].live_in:
                    return True
        return False

    def _go_on(self, code: BlockCode, group: Group, chooser: Array | None) -> None:
        block = code.block
        if block.end == "exit":
            self._exit(group.lanes)
        elif block.end in ("go", "barrier"):
            self._arrive(block.targets[0], group)
        elif block.end == "branch":
            assert chooser is not None
            self._branch(code, group, chooser)
        else:
            assert chooser is not None
            choice = group.lanes.calm(chooser).astype(np.int64)
            if self.counters is not None:
                self.counters.branched(code, group.lanes, np.minimum(choice, len(block.targets) - 1))
            for place, target in enumerate(block.targets):
                chosen = choice == place
                if place == len(block.targets) - 1:
                    chosen = choice >= place
                self._send(target, group, chosen)

    def _branch(self, code: BlockCode, group: Group, chooser: Array) -> None:
        taken, other = code.block.targets
        if taken == other:
            self._arrive(taken, group)
            return
        calm = group.lanes.calm(chooser)
        if calm.all():
            self._arrive(taken, group)
        elif not calm.any():
            self._arrive(other, group)
        else:
            if self.counters is not None:
                self.counters.branched(code, group.lanes, calm)
            self._send(taken, group, calm)
            self._send(other, group, ~calm)

    def _send(self, target: int, group: Group, chosen: Array) -> None:
        """Those of a group for which `chosen` holds go to a block; few of many are packed on the way."""
        lanes = group.lanes.subset(chosen)
        if lanes is None:
            return
        total = lanes.launched.blocks * lanes.launched.width
        if lanes.packed:
            places = np.flatnonzero(group.lanes.wide(chosen)[0])
            values = group.frame.values
            frame = Frame([None] * len(values), lanes.index)
            for number in self.code.blocks[target].live_in:
                value = values[number]
                if value is not None:
                    kept = frame.values[number] = value if value.shape[1] == 1 else value[:, places]
                    source = group.frame.origin.get(number)
                    if source is not None and source[1] is value:
                        frame.origin[number] = (source[0], kept)
            self._arrive(target, Group(lanes, frame))
        elif total >= SMALLEST and lanes.count * FEW < total:
            self._arrive(target, self._packed(lanes, target))
        else:
            self._arrive(target, Group(lanes, self.main))

    def _packed(self, lanes: Lanes, target: int) -> Group:
        packed = Lanes(lanes.launched, index=lanes.flat)
        frame = Frame([None] * len(self.main.values), packed.index)
        for number in self.code.blocks[target].live_in:
            value = self.main.values[number]
            if value is not None:
                picked = frame.values[number] = pick(value, lanes.flat, lanes.launched.width)
                frame.origin[number] = (value, picked)
        return Group(packed, frame)

    # Meeting

    def _arrive(self, block: int, group: Group) -> None:
        self._join(self.ready, block, group)

    def _join(self, waiting: dict[int, Group], block: int, group: Group) -> None:
        """Wait at a block; whoever waits there already goes on together with the newcomers."""
        there = waiting.pop(block, None)
        if there is None:
            waiting[block] = group
        elif there.frame is self.main and group.frame is self.main:
            waiting[block] = Group(union(there.lanes, group.lanes), self.main)
        else:
            both = [there, group]
            lanes = union(there.lanes, group.lanes)
            if all(g.lanes.packed for g in both) and lanes.count * FEW < whole_size(lanes):
                waiting[block] = self._concatenated(both, block)
                return
            for one in both:
                if one.lanes.packed:
                    self._unpack(one, block)
            waiting[block] = Group(lanes, self.main)

    def _concatenated(self, groups: list[Group], block: int) -> Group:
        index = np.concatenate([g.frame.index for g in groups if g.frame.index is not None])
        order = np.argsort(index)
        frame = Frame([None] * len(self.main.values), index[order])
        for number in self.code.blocks[block].live_in:
            parts = [self._value(g.frame.values, number) for g in groups]
            if all(p.shape[1] == 1 for p in parts) and bool((parts[0] == parts[1]).all()):
                joined = parts[0]
            else:
                wide = [g.lanes.wide(p) for p, g in zip(parts, groups, strict=True)]
                joined = np.concatenate(wide, axis=1)[:, order]
            frame.values[number] = joined
            sources = [g.frame.origin.get(number) for g in groups]
            kept = [s[0] for s, p in zip(sources, parts, strict=True) if s is not None and s[1] is p]
            if len(kept) == len(groups) and all(k is kept[0] for k in kept):
                frame.origin[number] = (kept[0], joined)
        return Group(Lanes(self.batch.launched, index=frame.index), frame)

    def _unpack(self, group: Group, block: int) -> None:
        """Put the registers of packed lanes back among those of the batch."""
        index = group.frame.index
        launched = self.batch.launched
        for number in self.code.blocks[block].live_in:
            value = group.frame.values[number]
            if value is None:
                continue
            old = self._value(self.main.values, number)
            source = group.frame.origin.get(number)
            if source is not None and source[0] is old and source[1] is value:
                continue
            if value.size == 1 and old.size == 1 and old.tobytes() == value.tobytes():
                continue
            whole = np.empty((launched.blocks, launched.width), old.dtype)
            whole[...] = old
            whole.reshape(-1)[index] = value[0]
            self.main.values[number] = whole

    def _exit(self, lanes: Lanes) -> None:
        if lanes.mask is None and not lanes.packed:
            self.batch.alive[:] = False
        elif lanes.index is not None:
            self.batch.alive.reshape(-1)[lanes.index] = False
        else:
            self.batch.alive &= ~whole_mask(lanes)

    # Waiting for one another

    def _gathered(self, code: BlockCode, group: Group) -> bool:
        """Whether a warp-wide instruction may run: all lanes it names are here, or nobody else is about."""
        if not self.ready and not self.parked:
            return True
        if group.lanes.mask is None and not group.lanes.packed:
            return True
        return complete(group.lanes, self.batch.alive, self._members(code.block.lines[0], group))

    def _members(self, line: Instruction, group: Group) -> Array:
        """The mask of lanes that a warp-wide instruction names."""
        return self._operand(line.args[-1], group)

    def _operand(self, operand: Operand, group: Group) -> Array:
        """What the lanes have in an operand, as int32."""
        if isinstance(operand, Reg):
            return self._value(group.frame.values, self.code.numbers[operand.name]).view(np.int32)
        assert isinstance(operand, Imm)
        return np.array([[operand.value & 0xFFFFFFFF]], np.uint32).view(np.int32)

    def _park(self, number: int, group: Group) -> None:
        if group.lanes.packed:
            self._unpack(group, number)
            group = Group(Lanes(self.batch.launched, mask=whole_mask(group.lanes)), self.main)
        self._join(self.parked, number, group)

    def _release(self) -> None:
        """Nobody else can run: those who wait for a warp go on; if all are at barriers, these open."""
        warp_wide = [n for n in self.parked if self.code.blocks[n].block.end != "barrier"]
        if warp_wide:
            codes = {n: self.code.blocks[n] for n in sorted(warp_wide)}
            whole = (n for n, code in codes.items() if self._gathered(code, self.parked[n]))
            number = next(whole, min(warp_wide))
            self._run(codes[number], self._fullest(self.parked.pop(number)))
            return
        named = self._waiting(True)
        if named:
            if self._open(named) or self._release_whole_blocks():
                return
            self.batch.meetings.report(list(named.values()), self.batch.findings)
        report_divergence(list(self._waiting(False).values()), self.batch.findings)
        waiting, self.parked = self.parked, {}
        self.batch.shared.barrier(None)
        for number, group in sorted(waiting.items()):
            self._run(self.code.blocks[number], self._fullest(group))

    def _fullest(self, group: Group) -> Group:
        """All lanes of the batch need no mask."""
        lanes = group.lanes
        if lanes.mask is not None and lanes.count == lanes.mask.size:
            return Group(Lanes(lanes.launched), group.frame)
        return group

    def _waiting(self, named: bool) -> dict[int, Waiting]:
        """Who waits at barriers with a number of their own, or at those of the whole block."""
        found = {}
        for number, group in sorted(self.parked.items()):
            block = self.code.blocks[number].block
            if block.end == "barrier" and is_named(block.lines[0]) == named:
                given = [self._operand(a, group) for a in block.lines[0].args] if named else []
                found[number] = Waiting(block.place, group.lanes, whole_mask(group.lanes), *given)
        return found

    def _open(self, named: dict[int, Waiting]) -> bool:
        """Those to whose barriers all have come go on; whether there are any."""
        opened = self.batch.meetings.open(list(named.values()))
        for block, go in zip(named, opened, strict=True):
            self._let(block, named[block].mask, go)
        return any(go.any() for go in opened)

    def _release_whole_blocks(self) -> bool:
        """Blocks all of whose living threads are at barriers go on while others wait or spin; whether there are any."""
        waiting = self._waiting(False)
        if not waiting:
            return False
        here = np.logical_or.reduce([one.mask for one in waiting.values()])
        done = (here | ~self.batch.alive).all(axis=1) & here.any(axis=1)
        if not done.any():
            return False
        self.batch.shared.barrier(np.flatnonzero(done))
        for block, one in waiting.items():
            self._let(block, one.mask, one.mask & done[:, None])
        return True

    def _let(self, block: int, mask: Array, go: Array) -> None:
        """Let some of those parked go on."""
        if not go.any():
            return
        self.parked.pop(block)
        if (mask & ~go).any():
            self.parked[block] = Group(Lanes(self.batch.launched, mask=mask & ~go), self.main)
        self._run(self.code.blocks[block], self._fullest(Group(Lanes(self.batch.launched, mask=go), self.main)))
