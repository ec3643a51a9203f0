"""The instructions of a kernel that touch memory or other lanes."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_ops.devices.sim.ptx.program import Place


@dataclass(frozen=True)
class Site:
    """One instruction that touches memory. `offset` is added to every address; `verb` says what it does. `is_ordered`:
    it is volatile or has a memory order, so its author expects other threads to access the same memory."""

    number: int
    place: Place
    space: str
    offset: int
    verb: str
    nbytes: int
    is_ordered: bool = False
