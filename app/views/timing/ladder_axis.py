"""An axis of times or counts: the positions of values and of labelled ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.models.results.entry import Entry
from app.models.ticks import powers, ticks
from gpu_ops.stages import END_TO_END

BAR_STAGES = ("upload", "kernel", "download")
MARKS = END_TO_END


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


def all_times(entries: Sequence[Entry]) -> list[float]:
    """Every time that a bar, a whisker or a mark shows."""
    found = []
    for entry in entries:
        found += [t for stage in (*BAR_STAGES, *MARKS) if (t := entry.seconds(stage)) is not None]
        found.append(sum(entry.seconds(stage) or 0.0 for stage in BAR_STAGES))
        kernel = entry.stage("kernel")
        found += [kernel.q1, kernel.q3] if kernel else []
        found += [entry.shortest] if entry.shortest is not None else []
    return found


def axis_for(times: Iterable[float], left: float, right: float, log: bool) -> Axis:
    """An axis that covers these times; a logarithmic one starts at a power of ten below the shortest."""
    known = [t for t in times if t > 0] or [1e-6, 1e-3]
    high = max(known) * 1.08
    if not log:
        return Axis(0.0, high, left, right, False)
    low = 10.0 ** math.floor(math.log10(min(known) * 0.6))
    return Axis(low, max(high, low * 20), left, right, True)
