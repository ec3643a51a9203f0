"""What a launch does, in numbers that a prediction follows from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Values = Literal["", "loaded", "computed"]
"""The values that decide a launch's addresses, or how often its loops run: none; those of its arrays, as they are; or
some that an earlier launch computes, of which not all blocks were simulated."""


@dataclass(frozen=True)
class LaunchCounts:
    """One launch, or another step of a plan (`moved` bytes, and no blocks). `resident` are the blocks that fit on a
    multiprocessor, `fitting` those that would fit with more shared memory, of which each takes `shared` bytes (0 where
    not known), `arrays` the bytes of all arrays that it is given, `spilled` the bytes of registers that a thread
    keeps in local memory. `counts` are those of the simulated GPU with what the time of a launch depends on. An `early`
    launch begins before the one before it has ended. `values` may decide what it does (see `Values`); the blocks of one
    that `waits` wait for one another."""

    kernel: str
    blocks: int = 0
    threads: int = 0
    resident: int = 1
    early: bool = False
    moved: int = 0
    arrays: int = 0
    spilled: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    values: Values = ""
    waits: bool = False
    fitting: int = 0
    shared: int = 0

    @property
    def warps(self) -> int:
        """The warps of all blocks."""
        return self.blocks * -(-self.threads // 32)

    def of(self, name: str) -> int:
        """A count by its name; 0 where nothing was counted."""
        return self.counts.get(name, 0)
