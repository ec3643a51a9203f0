"""The part of an input that a simulated GPU runs in an interactive session, and how long the whole would take."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

from gpu_ops.input_kinds import INPUT_KINDS, Shape, Spans, centred
from gpu_ops.io import crop
from gpu_ops.plan import Launch, Plan
from gpu_ops.run_key import RunKey
from gpu_ops.task import Meta, Task
from gpu_ops.types import Filter, Input

WHOLE_SECONDS = 2.0
"""A simulation of a whole input that is predicted to take longer begins with a part."""
LAST = 3


def threads_of(plan: Plan) -> int:
    """The threads of all launches of a plan."""
    return sum(math.prod(s.grid) * math.prod(s.block) for s in plan.steps if isinstance(s, Launch))


@dataclass
class Pace:
    """How long a simulation will take, predicted from earlier ones by this process: the least seconds per thread of the
    last LAST ones of the same run key and type of values, measured on this machine when its kernels ran; the first one
    also prepares its kernels. Nothing is known before. A thread of a larger input does as much as one of a smaller
    input, or more: a prediction from a part can be too short."""

    _seconds: dict[tuple[RunKey, str, Shape], list[float]] = field(default_factory=dict)

    def note(self, key: RunKey, meta: Meta, threads: int, seconds: float, alone: bool = False) -> None:
        """Keep what a simulation with so many threads took; `alone` replaces all before it, which promised too much."""
        if threads:
            before = [] if alone else self._seconds.get(self._kind(key, meta), [])
            self._seconds[self._kind(key, meta)] = [*before, seconds / threads][-LAST:]

    def predict(self, key: RunKey, meta: Meta, threads: int) -> float | None:
        """The seconds that so many threads will take; None while nothing is known of this run."""
        each = self._seconds.get(self._kind(key, meta))
        return None if each is None else min(each) * threads

    @staticmethod
    def _kind(key: RunKey, meta: Meta) -> tuple[RunKey, str, Shape]:
        return key, meta.dtype, meta.shape[meta.of_kind.rank :]


PACE = Pace()
"""What the simulated GPU of this process has taken so far."""


def part_spans(input: Input, view: Spans = (), extents: Shape = ()) -> Spans:
    """The part to simulate first: of these extents, or those in the table of input kinds (256 × 256 pixels of an image,
    65,536 samples of a signal), around the centre of what is in `view`, else of the input. () where the whole is no
    larger, and for kinds without such extents."""
    kind = INPUT_KINDS[input.kind]
    whole, extents = kind.spatial(input.array.shape), extents or kind.part
    if not extents or all(n <= side for n, side in zip(whole, extents, strict=True)):
        return ()
    view = view or tuple((0, n) for n in whole)
    spans = []
    for n, side, (first, last) in zip(whole, extents, view, strict=True):
        start = min(max((first + last - side) // 2, 0), max(n - side, 0))
        spans.append((start, min(start + side, n)))
    return tuple(spans)


def affordable(input: Input, view: Spans = (), extents: Shape = ()) -> tuple[Input, tuple[int, ...]]:
    """The part of an input in `part_spans`, and where it begins along each spatial axis; the input itself and () when
    it is small enough."""
    spans = part_spans(input, view, extents)
    return (cut_out(input, spans), tuple(start for start, _ in spans)) if spans else (input, ())


def cut_out(input: Input, spans: Spans) -> Input:
    """The part of an input, with the step that cuts it."""
    return crop(input, [start for start, _ in spans], [stop - start for start, stop in spans])


class Crop(NamedTuple):
    """The region of a part's result to show: its slices `cut`, () for all of it. It begins at `place` in the input
    along each spatial axis, () when the part is the whole. `exact`: the result of the whole input is the same there."""

    cut: tuple[slice, ...]
    place: tuple[int, ...]
    exact: bool


def reach_of(filter: Filter, task: Task) -> tuple[int, ...]:
    """How far along each spatial axis one value of a local filter's result depends on the input."""
    local = filter.locality
    return local.halo(task) if local.halo is not None else (0,) * task.meta.of_kind.rank


def exact_crop(filter: Filter, task: Task, whole: Shape, place: tuple[int, ...]) -> Crop:
    """The region where a part gives the same result as its whole input, of shape `whole`: it excludes what is within
    the filter's halo of a cut. Where nothing is left, it is the whole part, and not exact. `task` is of the part,
    which begins at `place` in the input.

    With the border "wrap" an edge reads the opposite edge, which a part that was cut along that axis does not have.
    """
    if not place:
        return Crop((), (), True)
    if filter.locality.kind in ("mergeable", "global"):
        return Crop((), place, False)
    cut = []
    for start, extent, n, h in zip(place, task.meta.shape, whole, reach_of(filter, task), strict=False):
        wraps = task.params.get("border") == "wrap" and extent < n
        low = h if start > 0 or wraps else 0
        high = extent - (h if start + extent < n or wraps else 0)
        cut.append(slice(low, high))
    if any(s.start >= s.stop for s in cut):
        return Crop((), place, False)
    return Crop(tuple(cut), tuple(start + s.start for start, s in zip(place, cut, strict=True)), True)


def cut_note(whole: Input, spans: Spans) -> str:
    """A note about the cut, in words: "simulated on the centre 256 x 256 of 512 x 512"."""
    text = f"simulated on {'the centre ' if is_centre(whole, spans) else ''}{{part}} of {{whole}}"
    extents = tuple(stop - start for start, stop in spans)
    return text.format(part=_size(extents, whole), whole=_size(whole.array.shape, whole))


def is_centre(whole: Input, spans: Spans) -> bool:
    """Whether the part is as far from both edges, to within a pixel or sample."""
    return centred(spans, INPUT_KINDS[whole.kind].spatial(whole.array.shape))


def crop_note(whole: Input, spans: Spans, region: Crop) -> str:
    """A note about the cut and about the visible region of its result."""
    text = cut_note(whole, spans)
    if not region.exact:
        return f"{text} on its own: the filter's reach exceeds the crop, so no pixel equals the whole input's result"
    extents = tuple(s.stop - s.start for s in region.cut)
    inside = extents != tuple(stop - start for start, stop in spans)
    return f"{text}; the {_size(extents, whole)} unaffected by the crop are shown" if inside else text


def _size(shape: Shape, input: Input) -> str:
    kind = INPUT_KINDS[input.kind]
    return kind.size_text(kind.spatial(shape))
