"""Search by typed words: a match in the name ranks before one in the other words. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from gpu_ops.types import Filter

T = TypeVar("T")


def fit(typed: str, name: str, words: str = "") -> int | None:
    """The rank of a match, 0 is best; None where a typed word occurs in neither the name nor the other words."""
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


def matches(typed: str, things: Iterable[T], name: Callable[[T], str], words: Callable[[T], str]) -> list[T]:
    """The things that match, the best first; equal ranks keep their order."""
    ranked = [(fit(typed, name(thing), words(thing)), thing) for thing in things]
    return [thing for rank, thing in sorted(((r, t) for r, t in ranked if r is not None), key=lambda pair: pair[0])]


def filter_words(filter: Filter) -> str:
    """The words that find a filter, in addition to its title."""
    return " ".join([filter.id, filter.family, *filter.presets, filter.summary])
