"""The origin of a picture: which part of which input, which run, and whether its GPU was simulated. No Qt."""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.models.experiment.subject import Subject
from gpu_ops.input_kinds import Spans


@dataclass(frozen=True)
class Origin:
    """`start` is where the result begins in the input and `whole` the input's extent, along each spatial axis: (y, x)
    and (H, W) of images, (sample,) and (N,) of signals. Both are () for a result of the whole input. `exact` is False
    where a part by itself gives other values than the whole would. `subject` is the run that made the result; an input
    has none. `part` is where the part of the input that was run begins and ends along each axis, () for all of it; a
    result of a part that has no place in the input, such as a spectrum or a histogram, has no `start`. `extent` is that
    of the whole input, of such a result as well. While the values of another machine's result are still to come, one
    value is the mean of `step` along each axis; else that is 0."""

    simulated: bool = False
    start: tuple[int, ...] = ()
    whole: tuple[int, ...] = ()
    exact: bool = True
    subject: Subject | None = None
    part: Spans = ()
    extent: tuple[int, ...] = ()
    step: int = 0

    @property
    def loose(self) -> Origin:
        """The origin of a result that has no place in the input, such as a spectrum."""
        return replace(self, start=(), whole=())


WHOLE = Origin()
"""The origin of a plain result of the whole input."""
