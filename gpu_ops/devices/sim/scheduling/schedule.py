"""Decides which lanes run next. Each group of lanes waits at its next basic block. The lowest block runs first, so that
divergent lanes reconverge as soon as possible."""

from __future__ import annotations

import numpy as np

from gpu_ops.devices.sim.batch import Batch
from gpu_ops.devices.sim.lanes import Array, Lanes, pick, union, whole_mask, whole_size
from gpu_ops.devices.sim.ptx.emit import BlockCode, Code
from gpu_ops.devices.sim.ptx.flow import barrier_kind
from gpu_ops.devices.sim.ptx.program import Imm, Operand, Reg
from gpu_ops.devices.sim.scheduling.barriers import Around, WaitingLanes, report_alone, report_divergence
from gpu_ops.devices.sim.scheduling.groups import Frame, Group, Turns, fullest
from gpu_ops.devices.sim.scheduling.meter import Meter, limit_error
from gpu_ops.devices.sim.scheduling.waiting import (
    WarpWait,
    awaited_lanes,
    released_lanes,
    report_ended,
    report_incomplete,
)
from gpu_ops.errors import LimitReached

FEW = 8
"""A group is packed if it has less than 1 / FEW of the batch's lanes."""
SMALLEST = 2048
"""Packing gains nothing in a batch with fewer lanes."""


class Scheduler:
    """Runs a batch until all lanes have exited."""

    def __init__(self, code: Code, batch: Batch, meter: Meter, descending: bool) -> None:
        self.code, self.batch, self.meter, self.counters = code, batch, meter, batch.counters
        self._watched = self.counters is not None and self.counters.watched
        self.turns = Turns(code.spin_blocks, descending)
        self.main = Frame([None] * len(code.zeros))
        self.ready: dict[int, Group] = {}
        self.parked: dict[int, Group] = {}
        self.awaited: dict[int, Array] = {}
        self.around = Around(code.around)

    def run(self) -> None:
        """Run until all lanes have exited."""
        layout = self.batch.layout
        first = Lanes(layout, mask=None if layout.threads == layout.width else layout.exist)
        self._arrive(0, Group(first, self.main))
        while self._turn():
            pass

    def _turn(self) -> bool:
        """Let some lanes continue. Returns whether there were any."""
        if self.ready:
            self._step(self.turns.next(self.ready, self.parked, self._release_complete))
        elif self.parked:
            self._release()
        else:
            return False
        return True

    def _waiting_places(self) -> tuple[dict[int, Group], ...]:
        """All waiting groups, by block."""
        return self.ready, self.parked

    # One block

    def _step(self, number: int) -> None:
        group = self.ready.pop(number)
        code = self.code.blocks[number]
        if code.block.syncs_warp and number in self.parked:  # the parked lanes wait for this group
            self.ready[number] = group
            self._join(self.ready, number, self.parked.pop(number))
            group = fullest(self.ready.pop(number))
        if code.block.end == "barrier" or (code.block.syncs_warp and not self._is_complete(code, group)):
            self._wait_in(self.parked, number, group)
            if code.block.syncs_warp:
                self._await(number)
            return
        self._run(code, group)

    def _run(self, code: BlockCode, group: Group) -> None:
        """Run a block's code for a group, and send its lanes to the next blocks."""
        values, lanes = group.frame.values, group.lanes
        arguments = [self._value(values, n) for n in code.takes]
        try:
            results = (code.watched if self._watched else code.function)(self.batch, lanes, *arguments)
            self.meter.add(code, lanes)
        except LimitReached as limit:
            raise limit_error(self.code, code, self.meter, lanes, self.batch.findings, limit) from None
        for number, value in zip(code.gives, results, strict=False):
            self._assign(group, number, value)
        if self.counters is not None:
            self.counters.count_block(code, lanes)
        self._continue_after(code, group, results[-1] if code.block.chooser is not None else None)

    def _value(self, values: list[Array | None], number: int) -> Array:
        value = values[number]
        return self.code.zeros[number] if value is None else value

    def _assign(self, group: Group, number: int, value: Array) -> None:
        """Set a register for the group's lanes. Lanes of other groups in the frame keep their values if they need
        them."""
        values, lanes = group.frame.values, group.lanes
        old = values[number]
        if lanes.mask is None or old is None or not self._is_needed(number, group):
            values[number] = value
        else:
            values[number] = np.where(lanes.mask, value, old)

    def _is_needed(self, number: int, group: Group) -> bool:
        """Whether another group in the same frame will read this register."""
        for waiting in self._waiting_places():
            for block, other in waiting.items():
                if other.frame is group.frame and number in self.code.blocks[block].live_in:
                    return True
        return False

    def _continue_after(self, code: BlockCode, group: Group, chooser: Array | None) -> None:
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
            choice = np.minimum(group.lanes.fill_inactive(chooser).astype(np.int64), len(block.targets) - 1)
            if self.counters is not None:
                self.counters.count_branch(code, group.lanes, choice)
            for place, target in enumerate(block.targets):
                self._send(target, group, choice == place)

    def _branch(self, code: BlockCode, group: Group, chooser: Array) -> None:
        target, other = code.block.targets
        if target == other:
            self._arrive(target, group)
            return
        condition = group.lanes.fill_inactive(chooser)
        taken = np.count_nonzero(condition)  # for few lanes several times as fast as all() and any()
        if taken == condition.size:
            self._arrive(target, group)
        elif not taken:
            self._arrive(other, group)
        else:
            if self.counters is not None:
                self.counters.count_branch(code, group.lanes, condition)
            self.around.note(code.block.number, group.lanes, condition)
            self._send(target, group, condition)
            self._send(other, group, ~condition)

    def _send(self, target: int, group: Group, selection: Array) -> None:
        """Send the lanes of a group in `selection` to a block. A small selection is packed."""
        lanes = group.lanes.subset(selection)
        if lanes is None:
            return
        total = lanes.layout.blocks * lanes.layout.width
        if lanes.packed:
            places = np.flatnonzero(group.lanes.wide(selection)[0])
            values = group.frame.values
            frame = Frame([None] * len(values), lanes.index)
            for number in self.code.blocks[target].live_in:
                value = values[number]
                if value is not None:
                    part = frame.values[number] = value if value.shape[1] == 1 else value[:, places]
                    source = group.frame.origin.get(number)
                    if source is not None and source[1] is value:
                        frame.origin[number] = (source[0], part)
            self._arrive(target, Group(lanes, frame))
        elif total >= SMALLEST and lanes.count * FEW < total:
            self._arrive(target, self._packed(lanes, target))
        else:
            self._arrive(target, Group(lanes, self.main))

    def _packed(self, lanes: Lanes, target: int) -> Group:
        packed = Lanes(lanes.layout, index=lanes.flat)
        frame = Frame([None] * len(self.main.values), packed.index)
        for number in self.code.blocks[target].live_in:
            value = self.main.values[number]
            if value is not None:
                packed_values = frame.values[number] = pick(value, lanes.flat, lanes.layout.width)
                frame.origin[number] = (value, packed_values)
        return Group(packed, frame)

    # Reconvergence

    def _arrive(self, block: int, group: Group) -> None:
        self._join(self.ready, block, group)

    def _join(self, waiting: dict[int, Group], block: int, group: Group) -> None:
        """Let a group wait at a block, together with a group that already waits there."""
        earlier = waiting.pop(block, None)
        if earlier is None:
            waiting[block] = group
        elif earlier.frame is self.main and group.frame is self.main:
            waiting[block] = Group(union(earlier.lanes, group.lanes), self.main)
        else:
            groups = [earlier, group]
            lanes = union(earlier.lanes, group.lanes)
            if all(g.lanes.packed for g in groups) and lanes.count * FEW < whole_size(lanes):
                waiting[block] = self._concatenated(groups, block)
                return
            for g in groups:
                if g.lanes.packed:
                    self._unpack(g, block)
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
            origins = [s[0] for s, p in zip(sources, parts, strict=True) if s is not None and s[1] is p]
            if len(origins) == len(groups) and all(o is origins[0] for o in origins):
                frame.origin[number] = (origins[0], joined)
        return Group(Lanes(self.batch.layout, index=frame.index), frame)

    def _unpack(self, group: Group, block: int) -> None:
        """Write the registers of packed lanes back into those of the batch."""
        index = group.frame.index
        layout = self.batch.layout
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
            whole = np.empty((layout.blocks, layout.width), old.dtype)
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

    # Waiting

    def _is_complete(self, code: BlockCode, group: Group) -> bool:
        """Whether a warp-wide instruction may run: all lanes in its mask are here, or no other group exists."""
        if not any(self._waiting_places()):
            return True
        if group.lanes.mask is None and not group.lanes.packed:
            return True
        return not self._wait(code, group).absent(self.batch.alive).any()

    def _wait(self, code: BlockCode, group: Group) -> WarpWait:
        """Park a group at a warp-wide instruction, with the instruction's mask of lanes."""
        line = code.block.lines[0]
        return WarpWait(line, group.lanes, self._operand(line.args[-1], group))

    def _operand(self, operand: Operand, group: Group) -> Array:
        """The lanes' values of an operand, as int32."""
        if isinstance(operand, Reg):
            return self._value(group.frame.values, self.code.numbers[operand.name]).view(np.int32)
        assert isinstance(operand, Imm)
        return np.array([[operand.value & 0xFFFFFFFF]], np.uint32).view(np.int32)

    def _wait_in(self, waiting: dict[int, Group], number: int, group: Group) -> None:
        """Let a group wait, with its registers in those of the batch."""
        if group.lanes.packed:
            self._unpack(group, number)
            group = Group(Lanes(self.batch.layout, mask=whole_mask(group.lanes)), self.main)
        self._join(waiting, number, group)

    def _release_complete(self) -> bool:
        """Release lanes whose warp or barrier is complete. Returns whether there were any."""
        if self._release_warps():
            return True
        named = self._waiting("named")
        return bool(named and self._open(named)) or self._open_clusters() or self._release_whole_blocks()

    def _release(self) -> None:
        """No group is ready: release lanes that wait for their warp; if all groups are at barriers, open these."""
        if self._release_warps():
            return
        named = self._waiting("named")
        if (named and self._open(named)) or self._open_clusters():
            return
        stuck, clustered, whole = self._at_warps(), self._waiting("cluster"), self._waiting("block")
        if (named or stuck or clustered) and self._release_whole_blocks():
            return
        if stuck:
            self._release_deadlocked(*next(iter(stuck.items())))
            return
        if named:
            self.batch.meetings.report(list(named.values()), self.batch.findings)
        report_divergence([*whole.values(), *clustered.values()], self.batch.findings)
        self.around.report(whole, self.batch.alive, self.batch.alive, self.batch.findings)
        report_alone(list(clustered.values()), self.batch.findings)
        waiting, self.parked = self.parked, {}
        self.batch.shared.barrier(None)
        for number, group in sorted(waiting.items()):
            self._run(self.code.blocks[number], fullest(group))

    def _at_warps(self) -> dict[int, WarpWait]:
        """The groups that wait at warp-wide instructions, lowest first."""
        codes = ((n, self.code.blocks[n]) for n in sorted(self.parked))
        return {n: self._wait(code, self.parked[n]) for n, code in codes if code.block.end != "barrier"}

    def _await(self, number: int) -> None:
        """Note the lanes that a parked group waits for, but for those that are about to end."""
        blocks, alive = self.code.blocks, self.batch.alive
        ending = [g.lanes for n, g in self.ready.items() if blocks[n].block.end == "exit" and not blocks[n].block.lines]
        awaited = awaited_lanes(self._wait(blocks[number], self.parked[number]), alive)
        awaited = awaited & ~np.logical_or.reduce([np.zeros_like(alive), *map(whole_mask, ending)])
        self.awaited[number] = self.awaited.get(number, False) | awaited

    def _release_warps(self) -> bool:
        """Release lanes that no longer wait for any lane of their warp. Returns whether there were any."""
        waits = self._at_warps()
        going = released_lanes(waits, self.batch.alive) if waits else {}
        for number, go in going.items():
            if number in self.awaited:
                lost = self.awaited.pop(number) & ~self.batch.alive
                report_ended(waits[number], go, lost, self.batch.findings)
            self._release_lanes(number, whole_mask(waits[number].lanes), go)
        return bool(going)

    def _release_deadlocked(self, number: int, wait: WarpWait) -> None:
        """Report lanes that wait in vain for others of their warp, and release them."""
        group, blocks = self.parked.pop(number), self.code.blocks
        others = [
            WaitingLanes(blocks[n].block.lines[0].place, g.lanes, whole_mask(g.lanes)) for n, g in self.parked.items()
        ]
        report_incomplete(wait, self.batch.alive, others, self.batch.findings)
        self._run(blocks[number], fullest(group))

    def _waiting(self, kind: str) -> dict[int, WaitingLanes]:
        """The lanes that wait at barriers of a kind: see `barrier_kind`."""
        waiting = {}
        for number, group in sorted(self.parked.items()):
            block = self.code.blocks[number].block
            if block.end == "barrier" and barrier_kind(block.lines[0]) == kind:
                barrier = [self._operand(a, group) for a in block.lines[0].args] if kind == "named" else []
                waiting[number] = WaitingLanes(block.place, group.lanes, whole_mask(group.lanes), *barrier)
        return waiting

    def _open(self, named: dict[int, WaitingLanes]) -> bool:
        """Release lanes at complete barriers. Returns whether there were any."""
        opened = self.batch.meetings.open(list(named.values()))
        for block, go in zip(named, opened, strict=True):
            self._release_lanes(block, named[block].mask, go)
        return any(go.any() for go in opened)

    def _open_clusters(self) -> bool:
        """Release lanes at complete barriers of clusters. Returns whether there were any."""
        waiting, clusters = self._waiting("cluster"), self.batch.shared.clusters
        if not waiting or clusters is None:
            return False
        rows = clusters.complete(self.batch.alive)
        if len(rows):
            self.batch.shared.cluster_barrier(rows)
        opened = {block: clusters.passes(one.mask) for block, one in waiting.items()}
        for block, go in opened.items():
            self._release_lanes(block, waiting[block].mask, go)
        return any(go.any() for go in opened.values())

    def _release_whole_blocks(self) -> bool:
        """Release blocks whose live threads are all at barriers, while other blocks wait or spin. Returns whether there
        were any."""
        waiting = self._waiting("block")
        if not waiting:
            return False
        here = np.logical_or.reduce([one.mask for one in waiting.values()])
        done = (here | ~self.batch.alive).all(axis=1) & here.any(axis=1)
        if not done.any():
            return False
        self.around.report(waiting, done[:, None], self.batch.alive, self.batch.findings)
        self.batch.shared.barrier(np.flatnonzero(done))
        for block, one in waiting.items():
            self._release_lanes(block, one.mask, one.mask & done[:, None])
        return True

    def _release_lanes(self, block: int, mask: Array, go: Array) -> None:
        """Release the lanes `go` of a parked group."""
        if not go.any():
            return
        self.parked.pop(block)
        if (mask & ~go).any():
            self.parked[block] = Group(Lanes(self.batch.layout, mask=mask & ~go), self.main)
        self._run(self.code.blocks[block], fullest(Group(Lanes(self.batch.layout, mask=go), self.main)))
