"""The result that is saved or used as the input: the one the user looks at, else the last of the whole input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.models.experiment.session import Session
from app.models.results.origin import Origin
from gpu_ops.engine.shared import SharedResult
from gpu_ops.report.about import Part

Results = Mapping[tuple[str, str], SharedResult]


@dataclass(frozen=True, eq=False)
class Chosen:
    """An output of a variant with its rate in hertz, where it has one. It is `partial` where it was computed from only
    a part of the input."""

    variant: str
    result: SharedResult
    origin: Origin
    rate: float | None

    @property
    def partial(self) -> bool:
        return bool(self.origin.start)

    @property
    def part(self) -> Part | None:
        """The part of the input that the values cover, where they equal those of the whole input's result there."""
        start, whole = self.origin.start, self.origin.whole
        extents = tuple(self.result.array.shape[: len(start)])
        return Part(start, extents, whole) if start and self.origin.exact else None


def choose(session: Session, results: Results, origins: Mapping[tuple[str, str], Origin], looked_at: str) -> str:
    """The variant whose present output is chosen: the one that is `looked_at`; else the last picked one with a result
    of the whole input, else the last picked one with a result; "" where there is none. `origins` are those of
    `results`, by variant and output."""
    name, picks = session.output.id, session.shown.ids
    there = [variant for variant in picks if (variant, name) in results]
    if looked_at in picks:
        return looked_at if looked_at in there else ""
    return next((v for v in reversed(there) if not origins[v, name].start), there[-1] if there else "")
