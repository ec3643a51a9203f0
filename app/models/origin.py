"""Which part of an input a result is of, and whether a simulated GPU made it. No Qt."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Origin:
    """`start` is where the result begins in the input and `whole` the input's extent, along each spatial axis: (y, x)
    and (H, W) of images, (sample,) and (N,) of signals. Both are () for a result of the whole input. `exact` is False
    for what a part gives by itself, so that it is nowhere what the whole gives."""

    simulated: bool = False
    start: tuple[int, ...] = ()
    whole: tuple[int, ...] = ()
    exact: bool = True


WHOLE = Origin()
"""That of a plain result of the whole input."""
