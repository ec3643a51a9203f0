"""A pick at work: what it is, how it is executed, and how its memory is held to the contract."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from gpu_ops.devices.guarded import GuardedSession
from gpu_ops.errors import KernelError, KernelFault
from gpu_ops.measuring.declared import check_plan, mistakes
from gpu_ops.measuring.timing import check_stop
from gpu_ops.measuring.verify import verify
from gpu_ops.plan import Device, DeviceArray, How, Plan
from gpu_ops.progress import advance, listening
from gpu_ops.task import MAIN, Task
from gpu_ops.types import Error, Experiment, Filter, Input, Run, Timing, Variant

PARTS = 1000
"""What a step counts in what `progress` is told, so that parts of it are whole numbers."""


CHUNK = 1 << 24


@dataclass
class Job:
    """A pick at work: what it was asked, and `run`, what is known so far."""

    filter: Filter
    experiment: Experiment
    variant: Variant
    device: Device
    run: Run
    session: Device
    task: Task
    plan: Plan | None = None
    timings: dict[str, Timing] = field(default_factory=dict)

    @property
    def input(self) -> Input:
        """What goes in."""
        return self.experiment.input

    def planned(self, x: DeviceArray) -> Plan:
        """The variant's plan on this memory. Raises DeclarationError when it does not give what the filter declares."""
        task = self.task.on(**{MAIN: x})
        with mistakes(self.filter, self.variant):
            plan = self.variant.plan(self.session, task)
        check_plan(self.filter, self.variant, task, plan)
        return plan

    def verified(self, outputs: Mapping[str, np.ndarray[Any, Any]]) -> dict[str, Error]:
        """The errors of outputs of the whole input."""
        with mistakes(self.filter, self.variant):
            return verify(self.filter, self.variant, self.input, self.task, outputs, self.experiment.checks)

    @property
    def name(self) -> str:
        """What a reader calls it."""
        return f"{self.variant.id} on {self.device.name}"


@dataclass
class Watch:
    """Who may stop the loop, and who is told how far it is."""

    deadline: float | None
    seed: int
    stop: Callable[[], bool] | None
    progress: Callable[[str, int, int], None] | None
    total: int = 0
    text: str = ""
    begun: int = 0
    done: int = 0

    def begin(self, text: str, steps: int = 1) -> None:
        """Steps are about to begin. Raises Cancelled."""
        self.begun, self.done = self.done, self.done + steps
        self.say(text)

    def say(self, text: str) -> None:
        """What the step is at now. Raises Cancelled."""
        check_stop(self.stop)
        self.text = text
        self.tell(0.0)

    def tell(self, part: float) -> None:
        """A part of the steps, from 0 to 1, is done."""
        if self.progress is not None:
            done = self.begun + part * (self.done - self.begun)
            self.progress(self.text, int(PARTS * done), PARTS * self.total)

    def listening(self) -> AbstractContextManager[None]:
        """Inside, work in pieces tells its part of the step, and may be stopped."""
        return listening(self.stop, self.tell)


def fail(job: Job, reason: str, kind: Any) -> Run:
    job.plan = None
    job.run = replace(job.run, failure=reason, failure_kind=kind)
    return job.run


def execute(
    job: Job, poison: Mapping[str, np.ndarray[Any, Any]], how: How = "direct"
) -> dict[str, np.ndarray[Any, Any]]:
    """One execution over poisoned outputs. What a simulated GPU finds, prints and counts is kept with the run."""
    assert job.plan is not None
    for name, wrong in poison.items():
        job.session.upload(wrong, out=job.plan.outputs[name])
    done = job.session.execute(job.plan, how)
    known = {(f.kind, f.file, f.line) for f in job.run.findings}
    job.run = replace(
        job.run,
        findings=(*job.run.findings, *(f for f in done.findings if (f.kind, f.file, f.line) not in known)),
        printed=job.run.printed or done.printed,
        counters=job.run.counters or done.counters,
    )
    return {name: job.session.download(out) for name, out in job.plan.outputs.items()}


def poison(array: DeviceArray) -> np.ndarray[Any, Any]:
    """All bits set: NaN in a float, the largest value in an integer."""
    poison: np.ndarray[Any, Any] = np.full(array.nbytes, 0xFF, np.uint8).view(array.dtype)
    return poison.reshape(array.shape)


def turned_over(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Every bit of a result turned over, so that an element nobody writes cannot stay what it was."""
    inverted: np.ndarray[Any, Any] = np.invert(np.ascontiguousarray(array).reshape(-1).view(np.uint8)).view(array.dtype)
    return inverted.reshape(array.shape)


DEPENDS_ON_TIMING = "right once and wrong the next time: an element is not written, or the result depends on timing"
DEPENDS_ON_ORDER = "right in one order of blocks and wrong in another: the result depends on the schedule"


def faultless(run: Run) -> bool:
    """Whether nothing that was found is an error."""
    return not any(f.severity == "error" for f in run.findings)


def verify_again(job: Job) -> None:
    """Once more over other poison – on a simulated GPU in another order of blocks and branches as well."""
    simulated = job.device.clock == "simulated"
    poison = {name: turned_over(array) for name, array in job.run.outputs.items()}
    try:
        again = execute(job, poison, "reverse" if simulated else "direct")
    except KernelFault:
        raise
    except KernelError as error:  # it stops itself in this order only
        job.run = replace(job.run, findings=(*job.run.findings, *error.findings))
        condemn(job, str(error))
        return
    errors = job.verified(again)
    if not all(e.ok for e in errors.values()):
        condemn(job, DEPENDS_ON_ORDER if simulated else DEPENDS_ON_TIMING)
        job.run = replace(job.run, errors=errors)


def verify_memory(job: Job, x: DeviceArray) -> None:
    """What the kernel may not touch: memory beyond its arrays, and the input."""
    if cast(GuardedSession, job.session).damaged():
        condemn(job, "memory outside the arrays was written: a bound is missing")
    if not _same_bytes(job.session.download(x), job.input.array):
        condemn(job, "the input was overwritten")
        job.session.upload(job.input.array, out=x)


def _same_bytes(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    """Whether two arrays of one shape hold the same bits; NaN is equal to itself here."""
    left, right = (np.ascontiguousarray(array).reshape(-1).view(np.uint8) for array in (a, b))
    for start in range(0, left.size, CHUNK):
        advance(start, left.size)
        if not np.array_equal(left[start : start + CHUNK], right[start : start + CHUNK]):
            return False
    return True


def condemn(job: Job, note: str) -> None:
    job.run = replace(job.run, ok=False, timings={}, notes=(*job.run.notes, note))
