"""What it costs to page-lock existing memory, and from how many copies on that pays."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence

import numpy as np

from gpu_ops.explaining.transfers.meter import Meter
from gpu_ops.explaining.transfers.sweep import Point
from gpu_ops.plan import Copy, Plan
from gpu_ops.progress import advance

SIZES = tuple(1 << power for power in range(16, 29, 2))
"""From 64 KiB to 256 MiB."""
REPEATS = 5


def points(meter: Meter, sizes: Sequence[int] = SIZES) -> Iterator[Point]:
    """A point for each size: the time of a copy to the device while the memory is pageable and when it is registered,
    and the `locking` time, for registering and unregistering it once."""
    for done, nbytes in enumerate(sizes):
        advance(done, len(sizes))
        x = meter.session.empty((nbytes,), np.uint8)
        times = {kind: _copy(meter, kind, nbytes, x) for kind in ("pageable", "registered")}
        yield {"nbytes": nbytes, **times, "locking": _locking(meter, nbytes)}


def _copy(meter: Meter, kind: str, nbytes: int, x: object) -> float:
    source = meter.session.allocate(kind, (nbytes,), np.uint8)  # type: ignore[arg-type]
    if meter.measures:
        source[:] = 1  # memory that was never written has no pages of its own
    return meter.time(Plan((Copy(x, source, "upload", 1),), {}))


def _locking(meter: Meter, nbytes: int) -> float:
    if not meter.measures:
        return 1.0 if meter.rates is None else meter.rates.latency + nbytes / meter.rates.locking
    found = []
    for _ in range(REPEATS):
        array = np.ones(nbytes, np.uint8)
        start = time.perf_counter()
        meter.session.register(array)
        meter.session.unregister(array)
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def break_even(point: Point) -> int | None:
    """From how many copies on registering the memory takes less time in all; None where a copy is no faster."""
    saved = point["pageable"] - point["registered"]
    return int(point["locking"] // saved) + 1 if saved > 0 else None
