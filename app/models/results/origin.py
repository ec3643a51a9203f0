"""The origin of a picture: which part of which input, which run, and whether its GPU was simulated. No Qt."""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.models.experiment.subject import Subject


@dataclass(frozen=True)
class Origin:
    """`start` is where the result begins in the input and `whole` the input's extent, along each spatial axis: (y, x)
    and (H, W) of images, (sample,) and (N,) of signals. Both are () for a result of the whole input. `exact` is False
    where computing only a part gives other values than the whole would. `subject` is the run of the result; an input
    has none. `part` is True for a result without a position in the input, such as a spectrum, of only a part of it."""

    simulated: bool = False
    start: tuple[int, ...] = ()
    whole: tuple[int, ...] = ()
    exact: bool = True
    subject: Subject | None = None
    part: bool = False

    @property
    def loose(self) -> Origin:
        """The origin of a result without a position in the input, such as a spectrum."""
        return replace(self, start=(), whole=(), part=bool(self.start) or self.part)


WHOLE = Origin()
"""The origin of a plain result of the whole input."""
