"""The steps of the sources' laws, counted on a simulated GPU.

The first warp of each launch has the longest chain of dependent additions: every number that it loads after the first
is one addition, and so is every state that it stores in shared memory after the first.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.launch import Options
from gpu_ops.devices.sim.traces import Tracing
from gpu_ops.errors import KernelError
from gpu_ops.params import check_values
from gpu_ops.plan import Launch, Plan, Trace
from gpu_ops.running.declared import make_plan
from gpu_ops.task import Meta, Task
from gpu_ops.types import Filter, Law

ARCHITECTURE = "sm_75"


def count_steps(filter: Filter, law: Law, n: int, p: int) -> int:
    """The number of sequential steps in which the law's variant combines n numbers on p processors."""
    variant = filter.variant(law.variant)
    options = Options(counters="full", tracing=Tracing(("first",), (0,)))
    session = SimDevice(ARCHITECTURE, options).session({})
    shape = (n,) if filter.accepts == "signal" else (1, n)
    params = check_values(filter.params, {}, filter.id)
    knobs = check_values(variant.knobs, law.knobs(n, p), variant.id)
    task = Task.of(Meta(filter.accepts, shape, "float32"), params, knobs, session.limits)
    plan = make_plan(filter, variant, session, task.on(session.upload(np.ones(shape, np.float32))))
    steps = 0
    for step in plan.steps:
        execution = session.execute(Plan((step,), plan.outputs))
        if isinstance(step, Launch):
            own = [t for t in execution.traces if t.file == step.kernel.compiled.source]
            steps += max(_accesses(own, "global", "load") - 1, 0) + max(_accesses(own, "shared", "store") - 1, 0)
    return steps


def _accesses(traces: Iterable[Trace], space: str, verb: str) -> int:
    """The number of accesses of that kind at these lines. Raises KernelError where a line mixes kinds and not all of
    its accesses were recorded."""
    count = 0
    for trace in traces:
        matching = sum((a.space, a.verb) == (space, verb) for a in trace.accesses)
        if trace.count == len(trace.accesses) or not matching:
            count += matching
        elif matching == len(trace.accesses):
            count += trace.count
        else:
            raise KernelError(f"{trace.file}:{trace.line} mixes too many loads and stores to count its steps.")
    return count


def count_laws(filters: Iterable[Filter]) -> dict[tuple[str, int, int], int]:
    """Count the steps at every point of the laws of these filters; a law of several filters is counted once."""
    found: dict[tuple[str, int, int], int] = {}
    for filter in filters:
        for law in filter.laws:
            for n, p in law.points:
                if (law.id, n, p) not in found:
                    found[law.id, n, p] = count_steps(filter, law, n, p)
    return found
