"""The look of a curve as two numbers: a variant has the same hue and dash in every view. No Qt."""

from __future__ import annotations

from typing import NamedTuple

from gpu_ops.types import Filter

HUES = 5
DASHES = 6
PINNED = "#"
"""The separator of variant and settings hash in the id of a pinned result; no variant's id contains it."""
INK = -1
"""The hue of text; only the input has it."""


class Stroke(NamedTuple):
    """A hue, from 0 to HUES - 1 or INK, and a dash, from 0 (none) to DASHES - 1."""

    hue: int
    dash: int


def input_stroke(channel: int = 0) -> Stroke:
    """The stroke of the input, or of one of its channels."""
    return Stroke(INK, channel % DASHES)


def stroke_at(place: int, channel: int = 0) -> Stroke:
    """The stroke of a filter's variant at `place`. The first HUES × DASHES differ, neighbours in both hue and dash.
    Channels have their variant's hue; three channels differ from each other and from all of ten variants."""
    turn, hue = divmod(place, HUES)
    return Stroke(hue, (hue + turn + 2 * channel) % DASHES)


def variant_stroke(filter: Filter, id: str, channel: int = 0) -> Stroke:
    """The stroke of a variant's result; it depends only on the variant's index in its filter. A pinned result differs
    from its variant in both hue and dash, which follow from its settings."""
    variant, pinned, digest = id.partition(PINNED)
    stroke = stroke_at([v.id for v in filter.all_variants].index(variant), channel)
    if not pinned:
        return stroke
    turn, step = divmod(int(digest, 16), HUES - 1)
    return Stroke((stroke.hue + 1 + step) % HUES, (stroke.dash + 1 + turn % (DASHES - 1)) % DASHES)
