"""Streams × chunks: how long the transfers of an input take with so many of each."""

from __future__ import annotations

from collections.abc import Iterator

from gpu_ops.explaining.transfers.meter import Meter
from gpu_ops.explaining.transfers.subject import Subject
from gpu_ops.explaining.transfers.sweep import Point
from gpu_ops.filters.transfer.pipeline import even
from gpu_ops.progress import advance
from gpu_ops.running.declared import make_plan

STREAMS = tuple(range(1, 9))
CHUNKS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
VARIANT = "streams"
PARTS = ("time", "overlap")
"""What is shown of each point."""


def points(meter: Meter, subject: Subject) -> Iterator[Point]:
    """A point for each number of streams and of chunks, as far as the input has as many rows. Where only
    the order is known, a step on the whole input is one."""
    variant, rows = subject.filter.variant(VARIANT), subject.input.array.shape[0]
    x = subject.task(meter.session).x
    counts = [count for count in CHUNKS if count <= rows]
    for done, (streams, chunks) in enumerate(pairs := [(s, c) for s in STREAMS for c in counts]):
        advance(done, len(pairs))
        task = subject.task(meter.session, {"streams": streams, "chunks": chunks, "order": "depth first"}, x)
        plan = make_plan(subject.filter, variant, meter.session, task)
        time, share = meter.time(plan), meter.overlap(plan)
        time = (
            time / len(even(rows, chunks)) if meter.basis == "order" else time
        )  # a step on a chunk takes as much less
        yield {"streams": streams, "chunks": chunks, "time": time, "overlap": share}
