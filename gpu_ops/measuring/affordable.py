"""The part of an input that a simulated GPU runs while somebody waits: its middle, at a size that takes a moment."""

from __future__ import annotations

from typing import NamedTuple

from gpu_ops.input_kinds import INPUT_KINDS, Shape
from gpu_ops.io import crop
from gpu_ops.task import Task
from gpu_ops.types import Filter, Input


def affordable(input: Input) -> tuple[Input, tuple[int, ...]]:
    """The middle of an input, and where it begins along each spatial axis; () when it is the whole.

    The table of input kinds says how large a part is: 256 × 256 pixels of images, 65,536 samples of signals; kinds
    without a size are not cut.
    """
    kind = INPUT_KINDS[input.kind]
    extents = kind.spatial(input.array.shape)
    if not kind.part or all(n <= side for n, side in zip(extents, kind.part, strict=True)):
        return input, ()
    middle = kind.middle(input.array.shape, kind.part)
    starts = tuple(cut.start for cut in middle)
    return crop(input, starts, [cut.stop - cut.start for cut in middle]), starts


class Shown(NamedTuple):
    """What is shown of a part's result: `cut` of it, which begins at `place` in the input along each spatial axis, ()
    when the part is the whole. `exact`: the whole's result is the same there."""

    cut: tuple[slice, ...]
    place: tuple[int, ...]
    exact: bool


def shown(filter: Filter, task: Task, whole: Shape, place: tuple[int, ...]) -> Shown:
    """Where a part of an input of shape `whole`, which begins at `place`, gives what the whole gives: as far inside as
    the filter reaches, except at the input's own edges. All of it where that is nowhere: then it is a result of the
    part alone. `task` is of the part.

    A wrapped edge reads the opposite one, which a part that was cut along that axis does not have.
    """
    if not place:
        return Shown((), (), True)
    local = filter.locality
    if local.kind in ("mergeable", "global"):
        return Shown((), place, False)
    reach = local.halo(task) if local.halo is not None else (0,) * len(place)
    cut = []
    for start, extent, n, h in zip(place, task.meta.shape, whole, reach, strict=False):
        wraps = task.params.get("border") == "wrap" and extent < n
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


def _size(shape: Shape, input: Input) -> str:
    return " x ".join(map(str, INPUT_KINDS[input.kind].spatial(shape)))
