"""How much of the machine other programs use during a measurement, and when a time is not reliable."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

WIDE = 0.5
"""When half the samples spread over more than this share of their median, another run may have another median."""
DISTURBED = 3.0
"""When the median is more than this many times the fastest sample, most samples measured more than the work."""
BUSY = 0.25
"""When other programs use more than this share of the processors, a time with spread (LOOSE) includes their work."""
LOOSE = 0.1
SHORTEST = 0.1
"""Seconds of each processor: the system counts in hundredths of a second, too coarse for shorter times."""


@dataclass(frozen=True)
class ProcessorTime:
    """Seconds of processor time since the machine and the process began; `wall` of all processors together."""

    wall: float
    busy: float
    own: float


def processor_time() -> ProcessorTime | None:
    """The processor time used until now; None where the system does not report it."""
    stat = Path("/proc/stat")
    if not stat.is_file():
        return None
    with stat.open(encoding="ascii", errors="replace") as lines:
        ticks = [int(word) for word in lines.readline().split()[1:9]]
    tick, own = 1 / os.sysconf("SC_CLK_TCK"), os.times()
    idle = ticks[3] + ticks[4]
    return ProcessorTime(sum(ticks) * tick, (sum(ticks) - idle) * tick, own.user + own.system)


class Others:
    """The use of the processors by other programs since the creation of this object."""

    def __init__(self) -> None:
        self._before = processor_time()

    def share(self) -> float | None:
        """The share of all processors, 0 to 1, that other programs have used since; None where the system does not
        report it, or too little time has passed."""
        before, now = self._before, processor_time()
        if before is None or now is None:
            return None
        wall = now.wall - before.wall
        if wall < SHORTEST * (os.cpu_count() or 1):
            return None
        return min(1.0, max(0.0, (now.busy - before.busy - (now.own - before.own)) / wall))


def doubt(samples: Sequence[float], others: float | None = None) -> str:
    """Why the median of these samples, in seconds, cannot be trusted; empty where it can. `others` is the share of
    the processors that other programs used meanwhile, if known."""
    q1, median, q3 = (float(v) for v in np.percentile(samples, (25, 50, 75)))
    fastest = min(samples)
    if not median or len(samples) < 3:
        return ""
    spread = (q3 - q1) / median
    if spread > WIDE:
        return f"half of its samples spread over {spread:.0%} of their median; measure again when the machine is quiet"
    if median > DISTURBED * fastest:
        return f"its fastest sample took only {fastest / median:.0%} of the median; measure again on a quiet machine"
    if others is not None and others > BUSY and (spread > LOOSE or median > (1 + WIDE) * fastest):
        return f"other programs used {others:.0%} of the processors meanwhile; measure again when they have ended"
    return ""
