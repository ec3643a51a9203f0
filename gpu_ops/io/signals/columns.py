"""The channels of a file that are read, their rate, and their description: for every format of signals."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpu_ops.errors import ParamError, plain
from gpu_ops.io.opening import Opening

MOST_NAMES = 12
"""The most names that a sentence lists."""
_RANGE = re.compile(r"(\d+)-(\d+)")


def chosen_rate(opening: Opening) -> float | None:
    """The rate that the user chose, in hertz; None where the choice is left to the file."""
    return float(opening.choices.get("rate", 0.0)) or None


def chosen_columns(opening: Opening, names: Sequence[str], labels: Sequence[str] = ()) -> list[int]:
    """The indices, from 0, of the columns that the user chose, in that order; empty without a choice.

    A choice is a list of names and of numbers from 1, such as "2,ecg,5-8"; a name takes precedence over a number.
    `labels` are longer names, such as those with units. Raises ParamError for a column that is missing or listed twice.
    """
    text = str(opening.choices.get("columns", "")).strip()
    if not text:
        return []
    places: list[int] = []
    for part in [text] if _find(text, names) or _find(text, labels) else text.split(","):
        found = _find(part.strip(), names) or _find(part.strip(), labels)
        if not found:
            what = f"{opening.name} has no column {plain(part.strip(), 40)!r}"
            raise ParamError(f"{what}; choose by name or by number from 1 to {len(names)}: {listed(names)}.")
        places += found
    if len(set(places)) < len(places):
        raise ParamError(f"The columns {plain(text, 60)!r} name one twice; name each column of {opening.name} once.")
    return places


def _find(part: str, names: Sequence[str]) -> list[int]:
    """The indices of one name, one number or one range of numbers; empty where there is no such column."""
    for same in (part.__eq__, lambda name: part.casefold() == name.casefold()):
        if part and (found := [place for place, name in enumerate(names) if same(name)]):
            return found[:1]
    ends = _RANGE.fullmatch(part) if len(part) < 20 else None
    if ends or (part.isascii() and part.isdigit() and len(part) < 10):
        first, last = (int(ends[1]), int(ends[2])) if ends else (int(part), int(part))
        if 1 <= first <= last <= len(names):
            return list(range(first - 1, last))
    return []


def listed(names: Sequence[str]) -> str:
    """Names in a sentence; only the first ones where there are many."""
    shown = ", ".join(plain(name, 24) for name in names[:MOST_NAMES])
    return f"{shown} and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else shown


def labels_of(names: Sequence[str]) -> tuple[str, ...]:
    """Names of channels for the window: safe, short and unique; empty where all names are empty."""
    if not any(names):
        return ()
    labels: list[str] = []
    for place, name in enumerate(names):
        label = plain(name.strip(), 60) or str(place + 1)
        labels.append(f"{label} ({place + 1})" if label in labels else label)
    return tuple(labels)


def hertz(rate: float) -> str:
    """A rate in words, such as "44,100 Hz"."""
    return f"{rate:,.10g} Hz"


def length_words(samples: int, rate: float | None) -> str:
    """A length in words, such as "1,000 samples, 2 s"."""
    return f"{samples:,} samples" + (f", {samples / rate:,.6g} s" if rate else "")
