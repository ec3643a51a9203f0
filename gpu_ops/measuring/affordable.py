"""The part of an input that a simulated GPU runs while somebody waits: its middle, at a size that takes a moment."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gpu_ops.params import Values
from gpu_ops.types import Filter, Input

IMAGE_SIDE = 256
SIGNAL_LENGTH = 1 << 16


def affordable(input: Input) -> tuple[Input, tuple[int, ...]]:
    """The middle of an input, and where it begins along each spatial axis; () when it is the whole.

    Images are cut to 256 × 256 pixels, signals to 65,536 samples, stacks not at all.
    """
    sides = {"image": (IMAGE_SIDE, IMAGE_SIDE), "signal": (SIGNAL_LENGTH,), "stack": ()}[input.kind]
    extents = input.array.shape[: len(sides)]
    if all(extent <= side for extent, side in zip(extents, sides, strict=True)):
        return input, ()
    starts = tuple(max(0, (extent - side) // 2) for extent, side in zip(extents, sides, strict=True))
    cut = tuple(slice(start, start + side) for start, side in zip(starts, sides, strict=True))
    array = np.ascontiguousarray(input.array[cut])
    step = {"crop": {"start": list(starts), "shape": list(array.shape[: len(sides)])}}
    origin = {**input.origin, "steps": [*input.origin.get("steps", ()), step]}
    return replace(input, array=array, origin=origin, clean=None), starts


class Shown(NamedTuple):
    """What is shown of a part's result: `cut` of it, which begins at `place` in the input along each spatial axis, ()
    when the part is the whole. `exact`: the whole's result is the same there."""

    cut: tuple[slice, ...]
    place: tuple[int, ...]
    exact: bool


def shown(filter: Filter, params: Values, whole: Input, part: Input, place: tuple[int, ...]) -> Shown:
    """Where a part of an input that begins at `place` gives what the whole gives: as far inside as the filter reaches,
    except at the input's own edges. All of it where that is nowhere: then it is a result of the part alone.

    A wrapped edge reads the opposite one, which a part that was cut along that axis does not have.
    """
    if not place:
        return Shown((), (), True)
    local = filter.locality
    if local.kind in ("mergeable", "global"):
        return Shown((), place, False)
    reach = local.halo(params) if local.halo is not None else (0,) * len(place)
    cut = []
    for start, extent, n, h in zip(place, part.array.shape, whole.array.shape, reach, strict=False):
        wraps = params.get("border") == "wrap" and extent < n
        low = h if start > 0 or wraps else 0
        high = extent - (h if start + extent < n or wraps else 0)
        cut.append(slice(low, high))
    if any(s.start >= s.stop for s in cut):
        return Shown((), place, False)
    return Shown(tuple(cut), tuple(start + s.start for start, s in zip(place, cut, strict=True)), True)


def cut_note(whole: Input, part: Input) -> str:
    """What the cut is, in words."""
    return f"simulated on the middle {_size(part.array.shape, part)} of {_size(whole.array.shape, whole)}"


def shown_note(whole: Input, part: Input, shown: Shown) -> str:
    """What the cut is, and what is shown of its result."""
    text = cut_note(whole, part)
    if not shown.exact:
        return f"{text} by itself: the filter reaches too far for a result that is the whole's"
    extents = tuple(s.stop - s.start for s in shown.cut)
    inside = extents != part.array.shape[: len(extents)]
    return f"{text}; shown are the {_size(extents, part)} that the cut changes nothing of" if inside else text


def _size(shape: tuple[int, ...], input: Input) -> str:
    return " x ".join(map(str, shape[: 2 if input.kind == "image" else 1]))
