"""Sweeps of an input: streams × chunks, and chains of filters with one upload and download or with many."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpu_ops.errors import KernelError
from gpu_ops.explaining.transfers.catalogue import CHAINED, WAYS, Way
from gpu_ops.explaining.transfers.meter import Meter
from gpu_ops.explaining.transfers.subject import Subject
from gpu_ops.explaining.transfers.sweep import Point
from gpu_ops.filters.kit.pipeline import in_stream
from gpu_ops.plan import Copy, Device, MemoryKind, Plan, Step
from gpu_ops.progress import advance
from gpu_ops.running.declared import make_plan
from gpu_ops.task import Task

STREAMS = tuple(range(1, 9))
CHUNKS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
VARIANT = "streams"
MOST = 16
"""Filters of a chain."""


def grid_points(meter: Meter, subject: Subject) -> Iterator[Point]:
    """A point for each number of streams and of chunks, as far as the input has as many rows. Where only the order
    is known, a step on the whole input is one."""
    variant, rows = subject.filter.variant(VARIANT), subject.input.array.shape[0]
    x = subject.task(meter.session).x
    counts = [count for count in CHUNKS if count <= rows]
    for done, (streams, chunks) in enumerate(pairs := [(s, c) for s in STREAMS for c in counts]):
        advance(done, len(pairs))
        task = subject.task(meter.session, {"streams": streams, "chunks": chunks, "order": "depth first"}, x)
        plan = make_plan(subject.filter, variant, meter.session, task)
        # A step on a chunk takes as much less than one on the whole.
        parts = len(subject.workload.bands(task, chunks)) if meter.basis == "order" else 1
        time, share = meter.time_and_overlap(plan)
        yield {"streams": streams, "chunks": chunks, "time": time / parts, "overlap": share}


def chain_points(meter: Meter, subject: Subject) -> Iterator[Point]:
    """A point for each number of filters from 1 to MOST, each kind of memory and both ways."""
    task = subject.task(meter.session)
    cases = [(count, kind) for count in range(1, MOST + 1) for kind in CHAINED]
    for done, (count, kind) in enumerate(cases):
        advance(done, len(cases))
        plans = {way: chain(meter.session, subject, task, count, kind, way) for way in WAYS}
        if meter.measures:
            _check(meter, plans["resident"], plans["round trips"], count)
        for way, plan in plans.items():
            yield {"filters": count, "memory": kind, "way": way, "time": meter.time(plan)}


def chain(device: Device, subject: Subject, task: Task, count: int, kind: MemoryKind, way: Way) -> Plan:
    """`count` times the subject's filter, each on the result of the one before, in one stream."""
    workload = subject.workload
    inner = workload.task(task)
    hosts = [device.allocate(kind, task.meta.shape, task.dtype) for _ in range(2)]
    device.download(task.x, out=hosts[0])
    x, steps = device.empty(task.meta.shape, task.dtype), list[Step]()
    steps.append(Copy(x, hosts[0], "upload 1", 1))
    for number in range(1, count + 1):
        plan = workload.variant.plan(device, inner.on(x))
        out = plan.outputs[workload.output.id]
        steps += in_stream(plan.steps, 1, lambda name, number=number: f"{name or workload.variant.id} {number}")  # type: ignore[misc]
        if way == "resident" and number < count:
            x = out
            continue
        steps.append(Copy(hosts[number % 2], out, f"download {number}", 1))
        if number < count:
            steps.append(Copy(x, hosts[number % 2], f"upload {number + 1}", 1))
    return Plan(tuple(steps), {workload.filter.id: hosts[count % 2]})


def _check(meter: Meter, resident: Plan, trips: Plan, count: int) -> None:
    """Raises KernelError where the two ways have different results."""
    for plan in (resident, trips):
        meter.session.execute(plan)
    one, other = (next(iter(plan.outputs.values())) for plan in (resident, trips))
    if not np.array_equal(one, other, equal_nan=one.dtype.kind == "f"):
        raise KernelError(f"{count} filters with one upload give another result than with {count} round trips.")
