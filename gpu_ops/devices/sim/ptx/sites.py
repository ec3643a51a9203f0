"""The instructions of a kernel that access memory or other lanes."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_ops.devices.sim.ptx.program import Place


@dataclass(frozen=True)
class Site:
    """One instruction that accesses memory. `offset` is added to every address; `verb` is the kind of access.
    `is_ordered`: it is volatile or has a memory order, so its author expects other threads to access the same
    memory. `waits`: it acquires, or is in a loop that ends when its value changes; `releases`: it is a fence as
    well. `row` is its line in the text of the PTX."""

    number: int
    place: Place
    space: str
    offset: int
    verb: str
    nbytes: int
    is_ordered: bool = False
    waits: bool = False
    releases: bool = False
    row: int = 0
