"""The engine's answer about traffic: counts and colours of each variant, and words. No widgets."""

from __future__ import annotations

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
NO_BREAK = "\u00a0"
"""A space at which no line ends."""
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


def runs(numbers: Sequence[int], columns: int = 0) -> list[tuple[int, int]]:
    """Consecutive numbers, in order, as (first, last); with `columns` each within one row of so many."""
    found: list[tuple[int, int]] = []
    for one in numbers:
        if found and one == found[-1][1] + 1 and not (columns and one % columns == 0):
            found[-1] = found[-1][0], one
        else:
            found.append((one, one))
    return found


def total_text(one: OfVariant, measure: Measure, line: Line | None) -> str:
    """How much a variant fetches in all, in words."""
    if one.traffic is None:
        return _tr("{title} – {reason}").format(title=one.title, reason=one.reason)
    own, other = one.traffic.total(measure, line), one.traffic.elsewhere.get(measure, 0) if line is None else 0
    texts = {
        "requests": _tr("{title} – {count} reads of an element by a warp"),
        "sectors": _tr("{title} – {count} sectors of the input"),
        "shared": _tr("{title} – {count} shared reads of the input"),
    }
    more = {
        "requests": _tr("{text}, and {count} of other memory"),
        "sectors": _tr("{text}, and {count} of other memory"),
        "shared": _tr("{text}, and {count} of computed values"),
    }
    text = texts[measure].format(title=one.title, count=count(own))
    if other:
        text = more[measure].format(text=text, count=count(other))
    if measure == "shared" and line is None and 0 < one.traffic.shared_loads != own + other:
        text = _tr("{text}, in {count} loads, some of several values").format(
            text=text, count=count(one.traffic.shared_loads)
        )
    textures = {
        "requests": (one.traffic.unpainted, _tr("{text}, and {count} texture requests for no single element")),
        "sectors": (one.traffic.textures, _tr("{text}, and {count} texture requests, which have no known sectors")),
        "shared": (0, ""),
    }
    number, sentence = textures[measure]
    if number and line is None:
        text = sentence.format(text=text, count=count(number))
    return text


def footprint_text(one: OfVariant, place: Sequence[int]) -> str:
    """Who made an element of the result, and from what, in sentences."""
    print_, reason = one.footprint, one.footprint_reason
    if print_ is None:
        return _tr("{title} – {reason}").format(title=one.title, reason=reason) if reason else ""
    at = _tr("row {first}, column {last}") if len(place) > 1 else _tr("sample {first}")
    sentences = [
        _tr("The result of {title} at {place} is made of {elements}.").format(
            title=one.title,
            place=at.format(first=count(place[0]), last=count(place[-1])),
            elements=_numbered(one, print_.elements) if print_.elements else _tr("nothing of the input"),
        ),
        _tr("Thread {thread} of block {block}, in warp {warp}, wrote it at line {line}.").format(
            thread=_extents(print_.thread), block=_extents(print_.block), warp=count(print_.warp), line=print_.line
        ),
        *_reads(print_),
    ]
    if print_.passed:
        text = _tr(
            "Also read without effect, because of a sum that cancels, a weight of 0 or a shared word: {elements}."
        )
        sentences.append(text.format(elements=_numbered(one, print_.passed)))
    return " ".join(sentences)


def _numbered(one: OfVariant, elements: Sequence[int]) -> str:
    """How many elements these are, and in how many rows."""
    assert one.traffic is not None
    shape, number = one.traffic.shape, count(len(elements))
    if len(shape) == 1:
        return _tr("1 sample") if len(elements) == 1 else _tr("{count} samples").format(count=number)
    rows = len({element // int(np.prod(shape[1:])) for element in elements})
    several = _tr("{count} pixels") if len(shape) == 2 else _tr("{count} values")
    text = several if len(elements) > 1 else _tr("1 pixel") if len(shape) == 2 else _tr("1 value")
    where = _tr("{text} in 1 row") if rows == 1 else _tr("{text} in {rows} rows")
    return where.format(text=text.format(count=number), rows=count(rows))


def part_text(recorded: Recorded) -> str:
    """Which part of the input was simulated, in words; "" for the whole."""
    first = next((one.traffic for one in recorded.variants if one.traffic is not None), None)
    if not recorded.start or first is None:
        return ""
    sides = " × ".join(count(side) for side in first.shape[: len(recorded.start)][::-1])  # noqa: RUF001 - the sign
    texts = _tr("Counted on the middle {sides} samples:"), _tr("Counted on the middle {sides} pixels:")
    return texts[len(recorded.start) - 1].format(sides=sides)


def _reads(print_: Footprint) -> list[str]:
    """The sectors that each line fetched for them, and who did; what the thread read from shared memory."""
    sentences = []
    for place, sectors in print_.sectors.items():
        reads = [read for read in print_.reads if (read.file, read.line) == place]
        threads = len({(read.block, read.thread) for read in reads})
        if all(read.own for read in reads):
            text = _tr("It fetched {sectors} with these inputs, at line {line}.")
        elif threads == 1:
            text = _tr("Another thread fetched {sectors} with these inputs, at line {line}.")
        else:
            text = _tr("{threads} threads fetched {sectors} with these inputs, at line {line}.")
        number = _tr("1 sector") if len(sectors) == 1 else _tr("{count} sectors").format(count=count(len(sectors)))
        sentences.append(text.format(line=place[1], sectors=number, threads=count(threads)))
    if print_.shared_reads:
        reads_of = (
            _tr("The thread that wrote it read {count} values from shared memory.")
            if print_.results == 1
            else _tr("The thread that wrote it read {count} values from shared memory, for {results} results in all.")
        )
        sentences.append(reads_of.format(count=count(print_.shared_reads), results=count(print_.results)))
    return sentences


def _extents(extents: Sequence[int]) -> str:
    """Coordinates by axis, because numbers can have commas; of one axis the number alone."""
    last = max((place for place, at in enumerate(extents) if at), default=0)
    if not last:
        return count(extents[0])
    shown = ", ".join(f"{axis} {count(at)}" for axis, at in zip("xyz"[: last + 1], extents, strict=False))
    return f"({shown})".replace(" ", NO_BREAK)


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
