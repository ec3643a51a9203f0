"""An axis of times or counts: the positions of values and of labelled ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from app.models.ticks import powers, ticks


@dataclass(frozen=True)
class Axis:
    """Maps times from `low` to `high` to the pixels from `left` to `right`."""

    low: float
    high: float
    left: float
    right: float
    log: bool

    def x(self, seconds: float) -> float:
        """The x coordinate of a time, limited to the axis."""
        if self.log:
            share = math.log(max(seconds, self.low) / self.low) / math.log(self.high / self.low)
        else:
            share = seconds / self.high
        return self.left + (self.right - self.left) * min(1.0, max(0.0, share))

    def ticks(self, most: int) -> list[float]:
        """At most `most` round times."""
        return powers(self.low, self.high, most) if self.log else ticks(0.0, self.high, most)


def axis_for(times: Iterable[float], left: float, right: float, log: bool) -> Axis:
    """An axis that covers these times; a logarithmic one starts at a power of ten below the shortest."""
    known = [t for t in times if t > 0] or [1e-6, 1e-3]
    high = max(known) * 1.08
    if not log:
        return Axis(0.0, high, left, right, False)
    low = 10.0 ** math.floor(math.log10(min(known) * 0.6))
    return Axis(low, max(high, low * 20), left, right, True)
