"""The places in a kernel that touch memory or other lanes."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_ops.devices.sim.ptx import Place


@dataclass(frozen=True)
class Site:
    """One instruction that touches memory. `offset` is added to every address; `verb` says what it does. `watched`: it
    is volatile or ordered, so whoever wrote it knows that other threads look there."""

    number: int
    place: Place
    space: str
    offset: int
    verb: str
    nbytes: int
    watched: bool = False
