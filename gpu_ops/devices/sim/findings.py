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
UNWRITTEN = "uninitialised read"
HAZARDS = ("missing __threadfence()", "two blocks write", " between blocks", " in a cluster", "hazard", WITHIN)
"""Words of the kinds of hazards, the strongest first."""


class Findings:
    """Collects the findings and the printed lines of one launch. Files of the `library` are CUDA's own headers: what
    happens there is reported for the line that calls it."""

    def __init__(self, kernel: str, library: frozenset[str] = frozenset()) -> None:
        self.kernel, self.library = kernel, library
        self.by_kind: dict[tuple[str, Place], Finding] = {}
        self.printed: list[str] = []
        self.unprinted = 0
        self.counters: dict[str, int] = {}
        self.by_place: Mapping[Place, Mapping[str, int]] = {}
        self.traces: tuple[Trace, ...] = ()
        self._spans: dict[tuple[str, Place], tuple[int, int, int]] = {}

    def add(
        self,
        kind: str,
        place: Place,
        lanes: Lanes,
        where: Array,
        detail: Callable[[int], str],
        severity: Severity = "error",
        span: tuple[int, int] | None = None,
    ) -> None:
        """Add a fault of the running lanes at indices `where` (n,) of the flattened frame. `detail(place)` describes it
        for one lane. `span` are the times of the two accesses that a barrier must separate."""
        if not len(where):
            return
        place = self._called(place)
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
        if span is not None:
            self._spans[key] = (lanes.layout.first, *span)

    def _called(self, place: Place) -> Place:
        """The line outside CUDA's headers that a place was inlined at; the place where there is none."""
        frames = ((place.file, place.line), *place.inlined_at)
        for n, (file, line) in enumerate(frames):
            if file not in self.library:
                return Place(file, line, frames[n + 1 :])
        return place

    @property
    def found(self) -> list[Finding]:
        """One finding for each cause: of the hazards of a line the strongest, once for all callers, and none within a
        warp where the barrier that another hazard lacks is missing as well. Errors come before warnings, and last what
        may follow from others: reads of what is not written yet, hazards within a warp."""
        strongest: dict[tuple[str, int], int] = {}
        for f in self.by_kind.values():
            strongest[f.file, f.line] = min(_strength(f.kind), strongest.get((f.file, f.line), len(HAZARDS)))
        causes: dict[tuple[str, str, int], Finding] = {}
        for key, f in self.by_kind.items():
            strength = _strength(f.kind)
            if self._follows(key) or strongest[f.file, f.line] < strength < len(HAZARDS):
                continue
            cause = ("" if strength < len(HAZARDS) else f.kind), f.file, f.line
            told = causes.setdefault(cause, f)
            if told is not f and told.kind == f.kind:
                causes[cause] = replace(told, count=told.count + f.count)
        return sorted(
            causes.values(), key=lambda f: (f.severity != "error", f.kind.endswith(WITHIN), f.kind == UNWRITTEN)
        )

    def _follows(self, key: tuple[str, Place]) -> bool:
        """Whether a hazard within a warp is mended by the barrier that a hazard between warps lacks."""
        if not key[0].endswith(WITHIN) or key not in self._spans:
            return False
        batch, since, until = self._spans[key]
        others = [span for (kind, _), span in self._spans.items() if not kind.endswith(WITHIN)]
        return any(b == batch and max(s, since) < min(u, until) for b, s, u in others)

    def lines(self) -> list[LineCounts]:
        """The counts by source line."""
        return [LineCounts(self.kernel, p.file, p.line, p.inlined_at, c) for p, c in sorted(self.by_place.items())]

    def print(self, text: str) -> None:
        """Collect a line that the kernel printed."""
        if len(self.printed) < MOST_LINES:
            self.printed.append(text)
        else:
            self.unprinted += 1


def _strength(kind: str) -> int:
    """The place of a kind in `HAZARDS`; of one that is no hazard, their number."""
    words = (n for n, words in enumerate(HAZARDS) if words in kind)
    return len(HAZARDS) - 1 if kind.endswith(WITHIN) else next(words, len(HAZARDS))


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
