"""Finding things by what somebody types: names before what else is known of them. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from gpu_ops.types import Filter

T = TypeVar("T")


def fit(typed: str, name: str, words: str = "") -> int | None:
    """How well something fits, 0 best; None where a typed word occurs neither in its name nor in its other words."""
    typed, name, words = typed.casefold().strip(), name.casefold(), words.casefold()
    parts = typed.split()
    if not all(part in name or part in words for part in parts):
        return None
    begins = name.replace(":", " ").split()
    if name == typed or name.endswith(f": {typed}"):
        return 0
    if name.startswith(typed):
        return 1
    if all(any(word.startswith(part) for word in begins) for part in parts):
        return 2
    if all(part in name for part in parts):
        return 3
    return 4 if all(f" {part}" in f" {words}" or part in name for part in parts) else 5


def found(typed: str, things: Iterable[T], name: Callable[[T], str], words: Callable[[T], str]) -> list[T]:
    """Those that fit, the best first; what fits equally well keeps its order."""
    ranked = [(fit(typed, name(thing), words(thing)), thing) for thing in things]
    return [thing for rank, thing in sorted(((r, t) for r, t in ranked if r is not None), key=lambda pair: pair[0])]


def filter_words(filter: Filter) -> str:
    """All that a filter may be known by beside its title."""
    return " ".join([filter.id, filter.family, *filter.presets, filter.summary])
