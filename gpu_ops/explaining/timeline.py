"""Timelines: when and on which engine the steps of a variant run, measured on a device or by a model of its queues."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gpu_ops.devices import open_device
from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.streams.queues import Queues, busy
from gpu_ops.errors import DeviceError, DeviceLost, LibraryMissing, ParamError
from gpu_ops.explaining.spans import ENGINES, Basis, Rates, Timeline
from gpu_ops.params import Values, check_values
from gpu_ops.plan import Engine, Plan, Span
from gpu_ops.progress import advance
from gpu_ops.running.declared import make_plan
from gpu_ops.running.suitable import check_input
from gpu_ops.running.verify import full_meta
from gpu_ops.task import Task
from gpu_ops.types import Filter, Input, Variant

BLOCKING = "CUDA_LAUNCH_BLOCKING"
REPEATS = 7
AFFORDED = 1.0
"""Seconds for the repeats of a plan: a longer plan runs only once with events and once without."""


def is_blocking() -> bool:
    """Whether the host waits for each kernel in this process."""
    return os.environ.get(BLOCKING) == "1"


@dataclass(frozen=True, eq=False)
class TimelineJob:
    """What a timeline is made of: a variant on a device and an input, with parameters, knobs and edited kernel files.
    A simulated GPU has `queues`, like those of current GPUs by default; with `rates` its times are predicted."""

    filter: Filter
    variant: Variant
    device: str
    input: Input
    params: Values
    knobs: Values
    rates: Rates | None = None
    queues: Queues = Queues()
    edits: Mapping[str, str] = field(default_factory=dict)

    def plan(self) -> tuple[Any, Plan]:
        """The session of the device, and the plan in it. Raises what `timeline` raises."""
        opened = open_device(self.device)
        session = opened.session(self.edits)
        task = Task.of(
            full_meta(self.input),
            check_values(self.filter.params, self.params, self.filter.id),
            check_values(self.variant.knobs, self.knobs, self.variant.id),
            opened.limits,
        )
        check_input(self.filter, self.input, task.params)
        if reason := self.variant.refusal(task):
            raise ParamError(f"{self.variant.id} cannot do this: {reason}.")
        x = session.upload(self.input.array)
        return session, make_plan(self.filter, self.variant, session, task.on(x), self.edits)


def timeline(of: TimelineJob) -> Timeline:
    """The timeline of a variant: for a CPU or a real GPU the execution of median length of REPEATS, or of as many as
    AFFORDED seconds allow, after a warm-up; for a simulated GPU by its model.

    Raises ParamError for what the filter or the variant does not take, KernelError, DeviceError.
    """
    session, plan = of.plan()
    about = (of.filter.id, of.variant.id, of.device)
    if isinstance(session, SimDevice):
        how: dict[str, Any] = {} if of.rates is None else {"cost": of.rates.cost}
        spans = session.timeline(plan, of.queues, **how)
        basis: Basis = "order" if of.rates is None else "predicted"
        return Timeline(*about, basis, spans, max((s.end for s in spans), default=0.0), 0, of.rates)
    spans, elapsed, runs = _measured(session, plan)
    checked, unchecked = _checked(session, plan) if session.kind == "cuda" else ((), "")
    found = Timeline(*about, "measured", spans, elapsed, runs)
    return replace(found, launch_blocking=is_blocking(), checked=checked, unchecked=unchecked)


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
    return traced[runs // 2].spans, float(np.median(plain)), runs


def _checked(session: Any, plan: Plan) -> tuple[tuple[tuple[Engine, float, float], ...], str]:
    """The time in which each engine is busy by events, and by CUPTI's records; or the reason why there are none."""
    try:
        execution, records = session.recorded(plan)
    except (LibraryMissing, DeviceError) as error:
        if isinstance(error, DeviceLost):
            raise
        return (), str(error)
    by_events, by_records = busy(execution.spans), busy(records)
    return tuple((e, by_events[e], by_records[e]) for e in ENGINES if by_events.get(e) and by_records.get(e)), ""
