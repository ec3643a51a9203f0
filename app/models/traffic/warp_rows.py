"""The accesses of warps in words, one row each. No widgets."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

from app.base.numbers import count
from gpu_ops.explaining.traffic.warp_content import WarpAccess, WarpAccesses

LEAST = 64
"""Elements that a row shows at least."""


class Row(NamedTuple):
    """A row: what is accessed, how, and the access itself with the lane of the chosen element; a heading has none."""

    what: str
    how: str = ""
    access: WarpAccess | None = None
    lane: int = 0

    @property
    def span(self) -> tuple[int, int]:
        """The elements that are shown, first and last + 1: those of all lanes, and some around them."""
        assert self.access is not None
        low, high = min(self.access.elements), max(self.access.elements) + 1
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
        found += [Row(_what(one), _how(one, warp.lane), one, warp.lane) for one in warp.accesses]
        if (left := warp.count - len(warp.accesses)) > 0:
            found.append(Row(_tr("{count} more accesses of this warp").format(count=count(left))))
    return found


def read_with(warps: tuple[WarpAccesses, ...]) -> tuple[int, ...]:
    """The elements of the input that the warp reads at once with the chosen one, which it reads; () for one that
    writes."""
    for warp in warps[:1]:
        for one in warp.accesses:
            if warp.reads and one.memory == "input" and one.verb == "load" and warp.lane in one.lanes:
                return one.elements
    return ()


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
