"""The accesses of warps in words, one row each. No widgets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

from app.base.numbers import count
from gpu_ops.explaining.traffic.warp_content import WarpAccess, WarpAccesses

MEETING = 16
"""The most elements that meet in a lane and are drawn."""
LEAST = 64
"""Elements that a row shows at least."""


class Meeting(NamedTuple):
    """The elements that a lane reads, and those that it writes then."""

    lane: int
    reads: tuple[int, ...]
    writes: tuple[int, ...]


class Row(NamedTuple):
    """A row: what is accessed, how, and the access itself with the lane of the chosen element; a heading has none.
    `meetings` are those of a stage, whose last access it is: the elements that meet in each lane."""

    what: str
    how: str = ""
    access: WarpAccess | None = None
    lane: int = 0
    meetings: tuple[Meeting, ...] = ()

    @property
    def span(self) -> tuple[int, int]:
        """The elements that are shown, first and last + 1: those of all lanes, and some around them."""
        assert self.access is not None
        shown = [e for one in self.meetings for e in (*one.reads, *one.writes)] or self.access.elements
        low, high = min(shown), max(shown) + 1
        size = max(high - low, min(LEAST, self.access.extent))
        first = max(min(low - (size - (high - low)) // 2, self.access.extent - size), 0)
        return first, first + size

    @property
    def own(self) -> tuple[int, ...]:
        """The elements of the chosen lane."""
        if self.access is None:
            return ()
        return tuple(e for lane, e in zip(self.access.lanes, self.access.elements, strict=True) if lane == self.lane)


def _tr(text: str) -> str:
    return QCoreApplication.translate("Traffic", text)


def rows_of(warps: tuple[WarpAccesses, ...]) -> list[Row]:
    """Each warp's heading and its accesses, in the order of execution."""
    found = []
    for place, warp in enumerate(warps):
        found.append(Row(_heading(warp, place > 0, warps[0].reads)))
        stages = {part[-1]: part for part in _stages(warp.accesses)}
        for number, one in enumerate(warp.accesses):
            found.append(Row(_what(one), _how(one, warp.lane), one, warp.lane))
            if number in stages and (meetings := _meetings([warp.accesses[n] for n in stages[number]])):
                found.append(Row(*_met(meetings, warp.lane), one, warp.lane, meetings))
        if (left := warp.count - len(warp.accesses)) > 0:
            found.append(Row(_tr("{count} more accesses of this warp").format(count=count(left))))
        if warp.shuffles:
            text = _tr("No lines lead through its shuffles, in which lanes exchange registers: {count}")
            found.append(Row(text.format(count=count(warp.shuffles))))
    return found


def read_with(warps: tuple[WarpAccesses, ...]) -> tuple[int, ...]:
    """The elements of the input that the warp reads at once with the chosen one, which it reads; () for one that
    writes."""
    for warp in warps[:1]:
        for one in warp.accesses:
            if warp.reads and one.memory == "input" and one.verb == "load" and warp.lane in one.lanes:
                return one.elements
    return ()


def _stages(accesses: Sequence[WarpAccess]) -> list[list[int]]:
    """The numbers of accesses that belong together: loads, then stores."""
    found: list[list[int]] = [[]]
    for number, one in enumerate(accesses):
        if one.verb == "load" and found[-1] and accesses[found[-1][-1]].verb != "load":
            found.append([])
        found[-1].append(number)
    return [part for part in found if part and accesses[part[-1]].verb == "store"]


def _meetings(stage: Sequence[WarpAccess]) -> tuple[Meeting, ...]:
    """The elements of each lane, where several of one array meet: in shared memory, or of an array as long as the one
    that gets several results, as in a transform; () for other loads and stores."""
    stores = [one for one in stage if one.verb == "store"]
    memory, extent, name = stores[0].memory, stores[0].extent, stores[0].name
    shared = memory == "shared"
    loads = [o for o in stage if o.verb == "load" and (o.memory == "shared") == shared and o.extent == extent]
    if shared:
        loads = [one for one in loads if one.name == name]
    reads, writes = _by_lane(loads), _by_lane(stores)
    few = all(2 <= len(own) <= MEETING for own in reads.values())
    if not few or any((one.memory, one.name) != (memory, name) for one in stores) or set(reads) != set(writes):
        return ()
    if not shared and min(map(len, writes.values())) < 2:
        return ()
    return tuple(Meeting(lane, own, writes[lane]) for lane, own in sorted(reads.items()))


def _by_lane(accesses: Sequence[WarpAccess]) -> dict[int, tuple[int, ...]]:
    found: defaultdict[int, list[int]] = defaultdict(list)
    for one in accesses:
        for lane, element in zip(one.lanes, one.elements, strict=True):
            found[lane].append(element)
    return {lane: tuple(dict.fromkeys(own)) for lane, own in found.items()}


def _met(meetings: tuple[Meeting, ...], lane: int) -> tuple[str, str]:
    """What meets, and what it is for the chosen lane."""
    most = max(len(one.reads) for one in meetings)
    own = next((one for one in meetings if one.lane == lane), None)
    how = ""
    if own is not None:
        reads, writes = (", ".join(map(str, part)) for part in (own.reads, own.writes))
        how = _tr("its own {reads} give {writes}").format(reads=reads, writes=writes)
    return _tr("{count} elements meet in each lane").format(count=count(most)), how


def _heading(warp: WarpAccesses, later: bool, from_input: bool) -> str:
    text = _tr("{kernel}: warp {warp} of block ({block}), lane {lane} {did}")
    did = _tr("wrote what was made of it") if later and from_input else _tr("wrote this element, or what it is made of")
    if warp.reads:
        did = _tr("read what was made of it") if later else _tr("read this element")
    block = ", ".join(map(str, warp.block[:2] if not warp.block[2] else warp.block))
    return text.format(kernel=warp.kernel, warp=warp.warp, block=block, lane=warp.lane, did=did)


def _what(one: WarpAccess) -> str:
    texts = {
        "load": _tr("line {line} loads from {memory}"),
        "store": _tr("line {line} stores to {memory}"),
        "atomic": _tr("line {line} changes {memory}"),
    }
    names = {
        "input": _tr("the input"),
        "output": _tr("the result {name}"),
        "buffer": one.name or _tr("a buffer"),
        "texture": _tr("the texture {name}") if one.name else _tr("a texture"),
        "shared": _tr("shared {name}") if one.name else _tr("shared memory"),
    }
    return texts[one.verb].format(line=one.line, memory=names[one.memory].format(name=one.name))


def _how(one: WarpAccess, lane: int) -> str:
    """How many lanes, where they are, what that costs, and the elements of the chosen lane."""
    lanes, parts = len(one.lanes), []
    parts.append(_tr("{count} lanes").format(count=lanes) if lanes > 1 else _tr("1 lane"))
    if lanes > 1:
        parts.append(_spread(one))
    if one.sectors:
        sectors = _tr("{count} sectors") if one.sectors > 1 else _tr("1 sector")
        parts.append(sectors.format(count=one.sectors))
    own = [str(e) for at, e in zip(one.lanes, one.elements, strict=True) if at == lane]
    if own:
        parts.append(_tr("its own {element}").format(element=own[0]))
    return ", ".join(parts)


def _spread(one: WarpAccess) -> str:
    if one.step == 0:
        return _tr("all at one element")
    if one.most_at_one > 1:
        return _tr("up to {count} at one element").format(count=one.most_at_one)
    if one.step is not None and abs(one.step) == 1:
        return _tr("neighbours")
    return _tr("{step} apart").format(step=abs(one.step)) if one.step is not None else _tr("scattered")
