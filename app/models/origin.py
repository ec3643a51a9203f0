"""What a picture is of: which part of which input, made by what, and whether a GPU was simulated for it. No Qt."""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.models.subject import Subject


@dataclass(frozen=True)
class Origin:
    """`start` is where the result begins in the input and `whole` the input's extent, along each spatial axis: (y, x)
    and (H, W) of images, (sample,) and (N,) of signals. Both are () for a result of the whole input. `exact` is False
    for what a part gives by itself, so that it is nowhere what the whole gives. `subject` is what the result was made
    of; an input has none. `part` says of a result that does not lie in the input, such as its spectrum, that it is of a
    part of it."""

    simulated: bool = False
    start: tuple[int, ...] = ()
    whole: tuple[int, ...] = ()
    exact: bool = True
    subject: Subject | None = None
    part: bool = False

    @property
    def loose(self) -> Origin:
        """That of a result which does not lie in the input."""
        return replace(self, start=(), whole=(), part=bool(self.start) or self.part)


WHOLE = Origin()
"""That of a plain result of the whole input."""
