"""Timelines: when and on which engine the steps of a variant run, measured on a device or by a model of its queues."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

from gpu_ops.devices import open_device
from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.streams.queues import Queues
from gpu_ops.errors import ParamError
from gpu_ops.explaining.spans import Basis, Rates, Timeline
from gpu_ops.params import Values, check_values
from gpu_ops.plan import Plan, Span
from gpu_ops.progress import advance
from gpu_ops.running.declared import make_plan
from gpu_ops.running.suitable import check_input
from gpu_ops.running.verify import full_meta
from gpu_ops.task import Task
from gpu_ops.types import Filter, Input, Variant

REPEATS = 7
AFFORDED = 1.0
"""Seconds for the repeats of a plan: a longer plan runs only once with events and once without."""


def timeline(
    filter: Filter,
    variant: Variant,
    device: str,
    input: Input,
    params: Values,
    knobs: Values,
    rates: Rates | None = None,
    queues: Queues | None = None,
    edits: Mapping[str, str] | None = None,
) -> Timeline:
    """The timeline of a variant on a device: for a CPU or a real GPU the execution of median length of REPEATS, or of
    as many as AFFORDED seconds allow, after a warm-up. A simulated GPU has `queues` like those of current GPUs by
    default; with `rates` its times are predicted.

    Raises ParamError for what the filter or the variant does not take, KernelError, DeviceError.
    """
    opened = open_device(device)
    session = opened.session(edits or {})
    task = Task.of(
        full_meta(input),
        check_values(filter.params, params, filter.id),
        check_values(variant.knobs, knobs, variant.id),
        opened.limits,
    )
    check_input(filter, input, task.params)
    if reason := variant.refusal(task):
        raise ParamError(f"{variant.id} cannot do this: {reason}.")
    plan = make_plan(filter, variant, session, task.on(session.upload(input.array)), edits)
    if isinstance(session, SimDevice):
        how: dict[str, Any] = {} if rates is None else {"cost": rates.cost}
        spans = session.timeline(plan, queues or Queues(), **how)
        basis: Basis = "order" if rates is None else "predicted"
        return Timeline(filter.id, variant.id, device, basis, spans, max((s.end for s in spans), default=0.0), 0, rates)
    spans, elapsed, runs = _measured(session, plan)
    return Timeline(filter.id, variant.id, device, "measured", spans, elapsed, runs)


def _measured(session: Any, plan: Plan) -> tuple[tuple[Span, ...], float, int]:
    """The spans of a median execution, the median total time without events, and the number of executions."""
    first = session.execute(plan, trace=True)
    runs = min(max(int(AFFORDED / 2 / max(first.elapsed, 1e-9)), 1), REPEATS)
    plain, traced = [], []
    for done in range(runs):
        plain.append(float(session.execute(plan).elapsed))
        advance(2 * done + 1, 2 * runs)
        traced.append(session.execute(plan, trace=True))
        advance(2 * done + 2, 2 * runs)
    traced.sort(key=lambda one: float(one.elapsed))
    return traced[runs // 2].spans, statistics.median(plain), runs
