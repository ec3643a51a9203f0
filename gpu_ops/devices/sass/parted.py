"""Where lanes of a warp that have parted stay apart, because the machine code does not let them meet: they meet where a
BSYNC waits for all that passed its BSSY, at a WARPSYNC and at a barrier. An early return in a loop, for one, has none
of these: lanes that leave the loop in different passes make its accesses apart.

Source: NVIDIA, "CUDA Binary Utilities", the instruction sets from Volta on (BSSY, BSYNC, WARPSYNC)."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from typing import NamedTuple

from gpu_ops.devices.sass.listing import SassLine
from gpu_ops.devices.sim.ptx.flow import Block
from gpu_ops.progress import advance

Places = Mapping[int, set[int]]
"""By the line of the PTX, the numbers of the parts of the machine code that come from it."""
_INSTRUCTION = re.compile(r"^(?:@(!?U?P\w+) +)?([A-Z]\w*)([\w.]*)(.*)$")
_LABEL = re.compile(r"\.L_\w+")
_PREDICATE = re.compile(r"^ *!?P\d")
_ACCESS = re.compile(r"^(?:LD|ST|ATOM|RED)(?:[GS]|GSTS)?$")
_JUMPS, _ENDS, _MEETINGS = ("BRA", "BRX", "JMP", "JMX"), ("EXIT", "RET"), ("BAR", "WARPSYNC")


class Parted(NamedTuple):
    """Where lanes that have parted stay apart: `ways` from one basic block to another, by their numbers. The ways in
    `within` have no jump in the machine code and change nothing. The branches of the blocks in `together` have none
    either: lanes that they send two ways meet again before such a way."""

    ways: frozenset[tuple[int, int]] = frozenset()
    within: frozenset[tuple[int, int]] = frozenset()
    together: frozenset[int] = frozenset()


@dataclass
class _Part:
    """Instructions that run one after the other, and the numbers of the parts that may follow. `jump` is the PTX's line
    of a jump at its end that only some lanes of a warp may take. `opens` are its BSSYs, each a barrier and the label
    behind its BSYNC; `waits` is the barrier of the BSYNC that it ends with. `meets`: it ends where a warp meets."""

    follow: list[int] = field(default_factory=list)
    jump: int = 0
    opens: list[tuple[str, str]] = field(default_factory=list)
    waits: str = ""
    meets: bool = False


def parted_lanes(blocks: Sequence[Block], sass: Sequence[SassLine]) -> Parted:
    """What the machine code says of lanes that part. They stay apart on a way without a meeting to a block that the
    lanes of one jump reach in several ways without one, if they wait for no others later either: recorded counts show
    that where a BSYNC is still ahead lanes may meet earlier."""
    code = _Code(sass)
    rows = [{row for row in (block.row, *(line.row for line in block.lines)) if row} for block in blocks]
    jumps = [code.jumps(block) for block in blocks]
    where = [code.of(own, code.accesses) or code.of(own) for own in rows]
    for block in reversed(blocks):
        if not where[block.number] and block.end == "go":
            where[block.number] = where[block.targets[0]]
    splits = [(n, [code.ahead(target, code.stops(n)) for target in code.follow(n)]) for n in sorted({*chain(*jumps)})]
    before = Counter(target for block in blocks for target in set(block.targets))
    ways, within, together, arms = set(), set(), set(), set[int]()
    for block in blocks:
        number = block.number
        source = jumps[number] or sorted(where[number])
        predicated = block.end == "branch" and not jumps[number]
        for target in set(block.targets):
            there = where[target]
            if predicated and before[target] == 1:
                arms.add(target)
            if not jumps[number] and (number in arms or not source or not there or there & set(source)):
                within.add((number, target))
            elif (
                not any(map(code.stops, there))
                and code.is_open(source, there, bool(jumps[number]))
                and any(
                    sum(bool(there & way) for way in one) > 1 and (n in source or any(way & set(source) for way in one))
                    for n, one in splits
                )
            ):
                (together.add(number) if predicated else ways.add((number, target)))
    return Parted(frozenset(ways), frozenset(within), frozenset(together))


class _Code:
    """The parts of the machine code."""

    def __init__(self, sass: Sequence[SassLine]) -> None:
        self.parts, labels, self.accesses, self.lines = _read(sass)
        self.regions = _regions(self.parts, labels)
        self.edges = [part.follow for part in self.parts]
        made = set().union(*self.accesses.values())
        self.matters = _reached(_turned(self.edges), made, ())
        """The parts from which lanes come to accesses."""
        self.meetings = {number for number, part in enumerate(self.parts) if part.meets}
        self.ahead = cache(self._ahead)
        self.stops = cache(self._stops)

    def of(self, rows: Collection[int], places: Places | None = None) -> set[int]:
        """The parts that come from lines of the PTX: those in `places`, or all."""
        return set().union(*((self.lines if places is None else places).get(row, ()) for row in rows))

    def jumps(self, block: Block) -> list[int]:
        """The parts that end with the jump of a basic block; else with one that comes from its test."""
        tests = {line.row for line in block.lines if line.op[0] == "setp" or line.op[-1] == "pred"}
        found = ([n for n in self.of(rows) if self.parts[n].jump in rows] for rows in ({block.row}, tests))
        return next((sorted(one) for one in found if one), []) if block.chooser is not None else []

    def follow(self, number: int) -> list[int]:
        """The parts that may follow one."""
        return sorted(set(self.parts[number].follow))

    def _stops(self, number: int) -> frozenset[int]:
        """The parts at whose ends the lanes of one wait for those that they have parted from."""
        return frozenset(wait for wait, region in self.regions.items() if number in region)

    def is_open(self, source: Sequence[int], there: Collection[int], jump: bool) -> bool:
        """Whether lanes come from the ends of some parts to others without a meeting: from one of several jumps, or
        else from all."""
        ways = ([self.ahead(t, self.stops(n)) for t in self.follow(n)] for n in source)
        found = (any(not way.isdisjoint(there) for way in each) for each in ways)
        return any(found) if jump else all(found)

    def _ahead(self, start: int, stops: frozenset[int]) -> frozenset[int]:
        advance(0, 1)
        return frozenset(_reached(self.edges, (start,), stops | self.meetings))


def _read(sass: Sequence[SassLine]) -> tuple[list[_Part], dict[str, int], Places, Places]:
    """The parts of the machine code, the number of the part at each label, and where the accesses of each line of the
    PTX are, and all its instructions."""
    parts, labels = [_Part()], dict[str, int]()
    accesses, lines = defaultdict[int, set[int]](set), defaultdict[int, set[int]](set)
    jumps: list[tuple[_Part, str]] = []
    new = True
    for line in sass:
        if line.label and not new:
            parts[-1].follow.append(len(parts))
            parts.append(_Part())
        if line.label:
            labels[line.label] = len(parts) - 1
        part, new = parts[-1], False
        found = _INSTRUCTION.match(line.text)
        guard, name, suffixes, operands = found.groups() if found else (None, "", "", "")
        lines[line.ptx].add(len(parts) - 1)
        if _ACCESS.match(name):
            accesses[line.ptx].add(len(parts) - 1)
        if name == "BSSY":
            part.opens += [(operands.split(",")[0].strip(), label) for label in _LABEL.findall(operands)]
        elif name in (*_JUMPS, *_ENDS, *_MEETINGS, "BSYNC") and ".DIV" not in suffixes:
            some = guard is not None or _PREDICATE.match(operands) is not None
            if name in _JUMPS:
                jumps += [(part, label) for label in _LABEL.findall(operands)]
                part.jump = line.ptx if name == "BRX" or (some and "U" not in (guard or "")) else 0
            part.waits = operands.split()[0] if name == "BSYNC" else ""
            part.meets = name in _MEETINGS
            part.follow += [len(parts)] if some or part.waits or part.meets else []
            parts.append(_Part())
            new = True
    for part, label in jumps:
        part.follow += [labels[label]] if label in labels else []
    return parts, labels, accesses, lines


def _regions(parts: Sequence[_Part], labels: Mapping[str, int]) -> dict[int, set[int]]:
    """By the number of the part that ends with a BSYNC, the parts on the ways from its BSSYs to it."""
    opened = defaultdict[tuple[str, int], list[int]](list)
    for number, part in enumerate(parts):
        for barrier, label in part.opens:
            opened[barrier, labels.get(label, -1)].append(number)
    edges = [part.follow for part in parts]
    before, waits = _turned(edges), [number for number, part in enumerate(parts) if part.waits]
    return {n: _reached(edges, opened[parts[n].waits, n + 1], {n}) & _reached(before, (n,), ()) for n in waits}


def _turned(edges: Sequence[Sequence[int]]) -> list[list[int]]:
    """By the number of each part, those from which edges lead to it."""
    before: list[list[int]] = [[] for _ in edges]
    for number, targets in enumerate(edges):
        for target in targets:
            before[target].append(number)
    return before


def _reached(edges: Sequence[Sequence[int]], starts: Collection[int], stops: Collection[int]) -> set[int]:
    """Some parts, and those that edges lead to from them without going on from those in `stops`."""
    found, waiting = set[int](), list(starts)
    while waiting:
        number = waiting.pop()
        if number not in found:
            found.add(number)
            if number not in stops:
                waiting += edges[number]
    return found
