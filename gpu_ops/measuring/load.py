"""How much of this machine others use while something is timed, and when a time is worth nothing for it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

WIDE = 0.5
"""Half the samples lie further apart than this share of their median: the median could as well be another."""
DISTURBED = 3.0
"""The median is so many times the fastest sample: most samples were of something else than the work."""
BUSY = 0.25
"""Others use this share of the processors: a time that spreads at all (LOOSE) is then of both."""
LOOSE = 0.1
SHORTEST = 0.1
"""Seconds. The system counts in hundredths, which tell nothing of less than this."""


@dataclass(frozen=True)
class Used:
    """Seconds of processor time since the machine and the process began; `wall` of all processors together."""

    wall: float
    busy: float
    own: float


def used() -> Used | None:
    """The processor time used until now; None where the system does not say."""
    stat = Path("/proc/stat")
    if not stat.is_file():
        return None
    with stat.open(encoding="ascii", errors="replace") as lines:
        ticks = [int(word) for word in lines.readline().split()[1:9]]
    tick, own = 1 / os.sysconf("SC_CLK_TCK"), os.times()
    idle = ticks[3] + ticks[4]
    return Used(sum(ticks) * tick, (sum(ticks) - idle) * tick, own.user + own.system)


class Others:
    """Watches the machine from when it is made."""

    def __init__(self) -> None:
        self._before = used()

    def share(self) -> float | None:
        """The share of all processors, 0 to 1, that other programs have used since; None where nobody knows."""
        before, now = self._before, used()
        if before is None or now is None:
            return None
        wall = now.wall - before.wall
        if wall < SHORTEST * (os.cpu_count() or 1):
            return None
        return min(1.0, max(0.0, (now.busy - before.busy - (now.own - before.own)) / wall))


def doubt(samples: Sequence[float], others: float | None = None) -> str:
    """Why the median of these samples, in seconds, is worth nothing; empty where it is good. `others` is the share of
    the processors that other programs used meanwhile, where it is known."""
    q1, median, q3 = (float(v) for v in np.percentile(samples, (25, 50, 75)))
    fastest = min(samples)
    if not median or len(samples) < 3:
        return ""
    spread = (q3 - q1) / median
    if spread > WIDE:
        return f"half of its samples spread over {spread:.0%} of their median; measure again when the machine is quiet"
    if median > DISTURBED * fastest:
        return f"its fastest sample took a {fastest / median:.0%} part of the median; measure again on a quiet machine"
    if others is not None and others > BUSY and (spread > LOOSE or median > (1 + WIDE) * fastest):
        return f"other programs used {others:.0%} of the processors meanwhile; measure again when they have ended"
    return ""
