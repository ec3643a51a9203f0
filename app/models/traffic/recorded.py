"""The engine's answer about traffic: counts and colours of each variant, and words. No widgets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from PySide6.QtCore import QCoreApplication

from app.base.numbers import count
from app.models.pictures.display import colors
from app.models.pictures.pyramid import Array
from gpu_ops.explaining.traffic.content import (
    SECTOR,
    Footprint,
    Measure,
    Traffic,
    footprint_of,
    traffic_of,
)
from gpu_ops.explaining.traffic.warp_content import WarpAccesses, warps_of

COLOURS = "viridis"
"""Even steps that colour-blind people can distinguish."""
OPACITY = 190
"""Of the colours over a picture, out of 255; where nothing is fetched, there is no colour."""
Line = tuple[str, int]


def _tr(text: str) -> str:
    return QCoreApplication.translate("Traffic", text)


@dataclass(eq=False)
class OfVariant:
    """The traffic of one variant, or the `reason` why there is none; the footprint that was asked for, and the accesses
    of its warps, or the reasons why there are none."""

    id: str
    title: str
    traffic: Traffic | None = None
    reason: str = ""
    footprint: Footprint | None = None
    footprint_reason: str = ""
    warps: tuple[WarpAccesses, ...] = ()
    warps_reason: str = ""
    _painted: dict[tuple[Measure, Line | None], Array] = field(default_factory=dict)

    def counts(self, measure: Measure, line: Line | None) -> Array:
        """The counts of each pixel (H, W) or sample (N,): the largest of its channels."""
        assert self.traffic is not None
        key = measure, line
        if key not in self._painted:
            painted = self.traffic.painted(measure, line)
            self._painted[key] = painted
        return self._painted[key]


class Recorded(NamedTuple):
    """The traffic of several variants on the part of the input that begins at `start`, () for the whole."""

    start: tuple[int, ...]
    variants: tuple[OfVariant, ...]

    def of(self, id: str) -> OfVariant | None:
        """The traffic of a variant; None if it was not recorded."""
        return next((one for one in self.variants if one.id == id and one.traffic is not None), None)

    def lines(self) -> list[Line]:
        """The lines of all kernels' own files, and of headers, that fetch anything of the input."""
        found = {place for one in self.variants if one.traffic is not None for place in one.traffic.places()}
        return sorted(found, key=lambda place: (place[0].rsplit("/", 1)[-1], place[1]))

    def top(self, measure: Measure, line: Line | None, spatial: int) -> int:
        """The highest count of all variants: they share the scale of colours."""
        tops = [int(by_pixel(v.counts(measure, line), spatial).max(initial=0)) for v in self.variants if v.traffic]
        return max(tops, default=0)


def by_pixel(counts: Array, spatial: int) -> Array:
    """Counts by pixel or sample, the largest of its channels."""
    return counts if counts.ndim == spatial else counts.max(axis=tuple(range(spatial, counts.ndim)))


def tinted(counts: Array, top: int) -> Array:
    """Counts (…) as colours (…, 4) in RGBA of uint8, from 0 to `top`; no colour where the count is 0."""
    table = np.zeros((256, 4), np.uint8)
    table[:, :3], table[1:, 3] = colors(COLOURS), OPACITY
    steps = np.ceil(counts * (255 / max(top, 1))).astype(np.uint8)
    return table[steps]


def recorded(content: Mapping[str, Any]) -> Recorded:
    """The engine's answer."""
    found = []
    for one in content["variants"]:
        known = "reason" not in one
        traffic = traffic_of(one) if known else None
        footprint = footprint_of(one["footprint"]) if "footprint" in one else None
        of_place = (
            footprint,
            one.get("footprint_reason", ""),
            warps_of(one.get("warps", ())),
            one.get("warps_reason", ""),
        )
        found.append(OfVariant(one["variant"], one["title"], traffic, one.get("reason", ""), *of_place))
    return Recorded(tuple(content["start"]), tuple(found))


def total_text(one: OfVariant, measure: Measure, line: Line | None) -> str:
    """How much a variant fetches in all, in words."""
    if one.traffic is None:
        return _tr("{title}: {reason}").format(title=one.title, reason=one.reason)
    own, other = one.traffic.total(measure, line), one.traffic.elsewhere.get(measure, 0) if line is None else 0
    texts = {
        "requests": _tr("{title}: {count} reads of an element by a warp"),
        "sectors": _tr("{title}: {count} sectors of the input"),
        "shared": _tr("{title}: {count} shared reads of the input"),
    }
    more = {
        "requests": _tr("{count} of other memory"),
        "sectors": _tr("{count} of other memory"),
        "shared": _tr("{count} of computed values"),
    }
    text = texts[measure].format(title=one.title, count=count(own))
    if other:
        text = _tr("{text}, {more}").format(text=text, more=more[measure].format(count=count(other)))
    if measure == "shared" and line is None and 0 < one.traffic.shared_loads != own + other:
        text = _tr("{text}, in {count} loads, some of several values").format(
            text=text, count=count(one.traffic.shared_loads)
        )
    if one.traffic.textures and line is None:
        text = _tr("{text}; {count} texture requests, which have no known sectors").format(
            text=text, count=count(one.traffic.textures)
        )
    return text


def footprint_text(one: OfVariant, place: Sequence[int]) -> str:
    """Who made an element of the result, and from what, in words."""
    print_, reason = one.footprint, one.footprint_reason
    if print_ is None:
        return _tr("{title}: {reason}").format(title=one.title, reason=reason) if reason else ""
    what = _tr("pixel ({place})") if len(place) > 1 else _tr("sample {place}")
    where = ", ".join(map(str, place[::-1]))
    who = _tr("{title}: {what} was written by thread {thread} of block {block}, warp {warp}, line {line}").format(
        title=one.title,
        what=what.format(place=where),
        thread=_extents(print_.thread),
        block=_extents(print_.block),
        warp=print_.warp,
        line=print_.line,
    )
    return _tr("{who}, from {elements}; {reads}.").format(
        who=who, elements=_elements(one, print_), reads=_reads(print_)
    )


def _elements(one: OfVariant, print_: Footprint) -> str:
    assert one.traffic is not None
    number = len(print_.elements)
    if len(one.traffic.shape) == 1:
        return _tr("{count} samples").format(count=count(number))
    rows = {element // int(np.prod(one.traffic.shape[1:])) for element in print_.elements}
    text = _tr("{count} pixels in {rows} rows") if len(one.traffic.shape) == 2 else _tr("{count} values in {rows} rows")
    return text.format(count=count(number), rows=count(len(rows)))


def part_text(recorded: Recorded) -> str:
    """Which part of the input was simulated, in words; "" for the whole."""
    first = next((one.traffic for one in recorded.variants if one.traffic is not None), None)
    if not recorded.start or first is None:
        return ""
    sides = " × ".join(count(side) for side in first.shape[: len(recorded.start)][::-1])  # noqa: RUF001 - the sign
    texts = _tr("Of the middle {sides} samples"), _tr("Of the middle {sides} pixels")
    return texts[len(recorded.start) - 1].format(sides=sides)


def _reads(print_: Footprint) -> str:
    """The sectors that each line fetched for them, and who did."""
    threads = Counter((read.file, read.line) for read in print_.reads)
    who = {place: {(r.block, r.thread) for r in print_.reads if (r.file, r.line) == place} for place in threads}
    texts = []
    for place, sectors in print_.sectors.items():
        own = all(read.own for read in print_.reads if (read.file, read.line) == place)
        text = (
            _tr("line {line} fetched {sectors} sectors for it")
            if own
            else _tr("line {line} fetched {sectors} sectors by {threads} threads")
        )
        texts.append(text.format(line=place[1], sectors=count(len(sectors)), threads=count(len(who[place]))))
    if print_.shared_reads:
        texts.append(_tr("its thread read {count} values from shared memory").format(count=count(print_.shared_reads)))
    return ", ".join(texts) or _tr("none of them is in the input")


def _extents(extents: Sequence[int]) -> str:
    """Coordinates without a depth of 0."""
    return f"({', '.join(map(str, extents[:2] if not extents[2] else extents))})"


def sector_spans(print_: Footprint, columns: int) -> list[tuple[int, int, int]]:
    """The sectors of a footprint as (row, first column, last column + 1) in a picture of so many values per row; one
    that crosses the end of a row is in two parts."""
    each, spans = SECTOR // print_.itemsize, set()
    for sectors in print_.sectors.values():
        for sector in sectors:
            first = sector * each
            while first < (sector + 1) * each:
                row, column = divmod(first, columns)
                last = min((sector + 1) * each - row * columns, columns)
                spans.add((row, column, last))
                first = row * columns + last
    return sorted(spans)
