"""Differences that stay beside the results. No Qt."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

MOST_DIFFERENCES = 6
"""Differences that are shown at once: each holds a picture of its own in memory."""
MINUS = " − "
"""Between the keys of both in the key of a difference, because no id has it, and between their titles."""


@dataclass(frozen=True)
class DifferenceOf:
    """`first` minus `second`: each is the key of a pane, which is INPUT or the id of a result."""

    first: str
    second: str

    @property
    def key(self) -> str:
        """The key of its own pane."""
        return f"{self.first}{MINUS}{self.second}"

    @property
    def sides(self) -> frozenset[str]:
        return frozenset((self.first, self.second))

    def among(self, keys: Collection[str]) -> bool:
        """Whether both sides are among these panes."""
        return self.sides <= set(keys)
