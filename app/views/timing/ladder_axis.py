"""An axis of times or counts: the places of values and of labelled ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Axis:
    """Times from `low` to `high` on the pixels from `left` to `right`."""

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
        """Round times, at most `most`."""
        most = max(2, most)
        return self._log_ticks(most) if self.log else self._linear_ticks(most)

    def _log_ticks(self, most: int) -> list[float]:
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        every = max(1, math.ceil((last - first + 1) / most))
        return [10.0**k for k in range(first, last + 1, every)]

    def _linear_ticks(self, most: int) -> list[float]:
        raw = self.high / most
        power = 10.0 ** math.floor(math.log10(raw))
        step = next(m for m in (1, 2, 5, 10) if m * power >= raw * 0.9999) * power
        return [step * k for k in range(int(self.high / step + 1e-9) + 1)]


def axis_for(times: Iterable[float], left: float, right: float, log: bool) -> Axis:
    """An axis that holds these times; a logarithmic one starts at a power of ten below the shortest."""
    known = [t for t in times if t > 0] or [1e-6, 1e-3]
    high = max(known) * 1.08
    if not log:
        return Axis(0.0, high, left, right, False)
    low = 10.0 ** math.floor(math.log10(min(known) * 0.6))
    return Axis(low, max(high, low * 20), left, right, True)
