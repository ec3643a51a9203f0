"""Differences that are shown next to the results. No Qt."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

MOST_DIFFERENCES = 6
"""The most differences that are shown at once: each takes the memory of a picture."""
MINUS = " − "
"""The separator of the two keys in the key of a difference, and of the two titles; no id contains it."""


@dataclass(frozen=True)
class DifferenceOf:
    """`first` minus `second`: each is the key of a pane, which is INPUT or the id of a result."""

    first: str
    second: str

    @property
    def key(self) -> str:
        """The key of the difference's own pane."""
        return f"{self.first}{MINUS}{self.second}"

    @property
    def sides(self) -> frozenset[str]:
        return frozenset((self.first, self.second))

    def among(self, keys: Collection[str]) -> bool:
        """Whether both sides are among these panes."""
        return self.sides <= set(keys)
