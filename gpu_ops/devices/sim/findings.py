"""The faults that a simulation finds, by kind and line: how many, and where the first occurred."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from gpu_ops.devices.sim.lanes import Array, Lanes
from gpu_ops.devices.sim.ptx.program import Place
from gpu_ops.plan import Finding, LineCounts, Severity, Trace

MOST_LINES = 1000


WITHIN = " within a warp"
"""The end of the kind of a hazard between lanes of one warp."""


class Findings:
    """Collects the findings and the printed lines of one launch."""

    def __init__(self, kernel: str) -> None:
        self.kernel = kernel
        self.by_kind: dict[tuple[str, Place], Finding] = {}
        self.printed: list[str] = []
        self.unprinted = 0
        self.counters: dict[str, int] = {}
        self.by_place: Mapping[Place, Mapping[str, int]] = {}
        self.traces: tuple[Trace, ...] = ()

    def add(
        self,
        kind: str,
        place: Place,
        lanes: Lanes,
        where: Array,
        detail: Callable[[int], str],
        severity: Severity = "error",
    ) -> None:
        """Add a fault of the running lanes at indices `where` (n,) of the flattened frame. `detail(place)` describes it
        for one lane."""
        if not len(where):
            return
        key = (kind, place)
        if key in self.by_kind:
            self.by_kind[key] = replace(self.by_kind[key], count=self.by_kind[key].count + len(where))
            return
        first = int(where[0])
        block, thread = position(lanes, first)
        text = detail(first)
        self.by_kind[key] = Finding(
            kind, severity, self.kernel, place.file, place.line, place.inlined_at, len(where), block, thread, text
        )

    @property
    def found(self) -> list[Finding]:
        """Errors before warnings. A hazard within a warp is left out where its line has the same hazard between warps:
        the barrier that is missing there orders the lanes of a warp as well."""
        between = {(f.kind, f.file, f.line) for f in self.by_kind.values()}
        kept = [
            f
            for f in self.by_kind.values()
            if not f.kind.endswith(WITHIN) or (f.kind.removesuffix(WITHIN), f.file, f.line) not in between
        ]
        return sorted(kept, key=lambda f: f.severity != "error")

    def lines(self) -> list[LineCounts]:
        """The counts by source line."""
        return [LineCounts(self.kernel, p.file, p.line, p.inlined_at, c) for p, c in sorted(self.by_place.items())]

    def print(self, text: str) -> None:
        """Collect a line that the kernel printed."""
        if len(self.printed) < MOST_LINES:
            self.printed.append(text)
        else:
            self.unprinted += 1


def position(lanes: Lanes, place: int) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Block and thread coordinates of an index into the flattened frame."""
    layout = lanes.layout
    who = lanes.index if lanes.visitors is None else lanes.visitors
    flat = int(who[place]) if who is not None else place
    number, thread = layout.first + flat // layout.width, flat % layout.width
    x, y, _ = layout.block
    gx, gy, _ = layout.grid
    return (number % gx, number // gx % gy, number // (gx * gy)), (thread % x, thread // x % y, thread // (x * y))


def frame_places(lanes: Lanes, selection: Array) -> Array:
    """Indices into the flattened frame of the running lanes in `selection`."""
    wide = np.broadcast_to(selection, lanes.shape)
    return np.flatnonzero(wide if lanes.mask is None else wide & lanes.mask)


def say(text: str) -> Callable[[int], str]:
    """A `detail` for `Findings.add` that is the same for all lanes."""
    return lambda place: text
