"""Texts that do not fit: cut at the end, but never within a number, because 2… is not 262144."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics, QFontMetricsF

DOTS = "…"
NUMBER = re.compile(r"[+\-−]?\d(?:[\d.,'’\u00a0\u202f\u2009]*\d)?(?:e[+\-−]?\d+)?")
"""A number with the separators of any locale, which occur between two digits."""


def elided_text(text: str, metrics: QFontMetrics | QFontMetricsF, width: float, keep: str = "") -> str:
    """As much of a text as fits in `width`, with … for the rest. The part after the last `keep` stays whole where it
    fits, such as the value in "x 5, y 7: 12" with keep ": "."""
    if metrics.horizontalAdvance(text) <= width:
        return text
    head, separator, tail = text.rpartition(keep) if keep else (text, "", "")
    kept = separator + tail
    if separator and metrics.horizontalAdvance(DOTS + kept) < width:
        return _cut(head, metrics, width, kept)
    return _cut(text, metrics, width)


def shortest_needed(texts: Sequence[str], metrics: QFontMetrics | QFontMetricsF, width: float) -> str:
    """The first of these texts, which say ever less, that fits in `width`; where none does, what `elided_text` leaves
    of the last."""
    for text in texts:
        if metrics.horizontalAdvance(text) <= width:
            return text
    return elided_text(texts[-1], metrics, width)


def clauses(text: str, between: str = ", ") -> tuple[str, ...]:
    """The whole clauses of a text, from its beginning, one fewer each time: "a, b, c", "a, b", "a"."""
    parts = text.split(between)
    return tuple(between.join(parts[:count]) for count in range(len(parts), 0, -1))


def elided_sides(text: str, metrics: QFontMetrics | QFontMetricsF, width: float, between: str) -> str:
    """As much as fits of a text that names two things, cut equally on both sides: "camera − wind…"."""
    one, between, other = text.partition(between)
    first, second = metrics.horizontalAdvance(one), metrics.horizontalAdvance(other)
    room = width - metrics.horizontalAdvance(between)
    if not between or metrics.horizontalAdvance(text) <= width:
        return elided_text(text, metrics, width)
    share = max(room / 2, room - second)
    shown = elided_text(one, metrics, min(share, first))
    rest = room - metrics.horizontalAdvance(shown)
    return elided_text(f"{shown}{between}{elided_text(other, metrics, rest)}", metrics, width)


def _cut(text: str, metrics: QFontMetrics | QFontMetricsF, width: float, kept: str = "") -> str:
    """As much of a text as fits before the kept part. The width of both is measured together, because a font's widths
    are rounded."""
    room = int(width) if isinstance(metrics, QFontMetrics) else width
    longest = len(metrics.elidedText(text, Qt.TextElideMode.ElideRight, room))  # type: ignore[arg-type]
    for length in range(min(longest, len(text)), -1, -1):
        shown = shortened(text, length) + kept
        if metrics.horizontalAdvance(shown) <= width:
            return shown
    return ""


def shortened(text: str, length: int) -> str:
    """At most the first `length` letters of a text, with … at the end, never cut within a number."""
    if length >= len(text):
        return text
    inside = next((n for n in NUMBER.finditer(text) if n.start() < length < n.end()), None)
    kept = text[: inside.start() if inside else length].rstrip(f" {DOTS}")  # the dots of a range are enough
    whole = kept[-1:].isdigit()  # a whole number is separated from …
    return f"{kept} {DOTS}" if whole else kept + DOTS
