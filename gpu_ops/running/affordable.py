"""The part of an input that a simulated GPU runs in an interactive session: the centre, small enough to take
seconds."""

from __future__ import annotations

from typing import NamedTuple

from gpu_ops.input_kinds import INPUT_KINDS, Shape
from gpu_ops.io import crop
from gpu_ops.task import Task
from gpu_ops.types import Filter, Input


def affordable(input: Input) -> tuple[Input, tuple[int, ...]]:
    """The centre of an input, and where it begins along each spatial axis; the input itself and () when it is small
    enough.

    The table of input kinds gives the size of the part: 256 × 256 pixels of an image, 65,536 samples of a signal.
    Inputs of a kind without a size are not cut.
    """
    kind = INPUT_KINDS[input.kind]
    extents = kind.spatial(input.array.shape)
    if not kind.part or all(n <= side for n, side in zip(extents, kind.part, strict=True)):
        return input, ()
    middle = kind.middle(input.array.shape, kind.part)
    starts = tuple(cut.start for cut in middle)
    return crop(input, starts, [cut.stop - cut.start for cut in middle]), starts


class Crop(NamedTuple):
    """The region of a part's result to show: its slices `cut`, () for all of it. It begins at `place` in the input
    along each spatial axis, () when the part is the whole. `exact`: the result of the whole input is the same there."""

    cut: tuple[slice, ...]
    place: tuple[int, ...]
    exact: bool


def exact_crop(filter: Filter, task: Task, whole: Shape, place: tuple[int, ...]) -> Crop:
    """The region where a part gives the same result as its whole input, of shape `whole`: it excludes what is within
    the filter's halo of a cut. Where nothing is left, it is the whole part, and not exact. `task` is of the part,
    which begins at `place` in the input.

    With the border "wrap" an edge reads the opposite edge, which a part that was cut along that axis does not have.
    """
    if not place:
        return Crop((), (), True)
    local = filter.locality
    if local.kind in ("mergeable", "global"):
        return Crop((), place, False)
    reach = local.halo(task) if local.halo is not None else (0,) * len(place)
    cut = []
    for start, extent, n, h in zip(place, task.meta.shape, whole, reach, strict=False):
        wraps = task.params.get("border") == "wrap" and extent < n
        low = h if start > 0 or wraps else 0
        high = extent - (h if start + extent < n or wraps else 0)
        cut.append(slice(low, high))
    if any(s.start >= s.stop for s in cut):
        return Crop((), place, False)
    return Crop(tuple(cut), tuple(start + s.start for start, s in zip(place, cut, strict=True)), True)


def cut_note(whole: Input, part: Input) -> str:
    """A note about the cut, in words."""
    return f"simulated on the centre {_size(part.array.shape, part)} of {_size(whole.array.shape, whole)}"


def crop_note(whole: Input, part: Input, region: Crop) -> str:
    """A note about the cut and about the visible region of its result."""
    text = cut_note(whole, part)
    if not region.exact:
        return f"{text} on its own: the filter's reach exceeds the crop, so no pixel equals the whole input's result"
    extents = tuple(s.stop - s.start for s in region.cut)
    inside = extents != part.array.shape[: len(extents)]
    return f"{text}; the {_size(extents, part)} unaffected by the crop are shown" if inside else text


def _size(shape: Shape, input: Input) -> str:
    kind = INPUT_KINDS[input.kind]
    return kind.size_text(kind.spatial(shape))
