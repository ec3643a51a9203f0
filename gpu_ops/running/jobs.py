"""A pick at work: its task and plan, how it runs, and how its memory is checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, cast

import numpy as np

from gpu_ops.devices.guarded import GuardedSession
from gpu_ops.errors import (
    DeviceLost,
    DeviceMemoryError,
    KernelError,
    KernelFault,
    KernelscopeError,
    LibraryMissing,
    plain,
)
from gpu_ops.plan import Device, DeviceArray, Execution, How, Plan
from gpu_ops.progress import Cancelled, advance, listening
from gpu_ops.running.declared import make_plan, mistakes
from gpu_ops.running.timing import check_stop
from gpu_ops.running.verify import verify
from gpu_ops.task import Task
from gpu_ops.types import Error, Experiment, Filter, Input, Run, Timing, Variant

PARTS = 1000
"""Units of a step in what `progress` gets, so that parts of a step are whole numbers."""


CHUNK = 1 << 24
OUTSIDE_WRITTEN = "memory outside the arrays was written: a bound is missing"
INPUT_OVERWRITTEN = "the input was overwritten"


class Bands(Protocol):
    """A job that runs in bands. `run` gives the outputs of the whole, computed over memory of which every byte is
    `byte`; `faults` are what was then seen of the memory."""

    @property
    def faults(self) -> Mapping[str, None]: ...
    def run(self, byte: int, how: How = "direct") -> dict[str, np.ndarray[Any, Any]]: ...


@dataclass
class Job:
    """A pick at work: its task, and in `run` the results so far. It runs its `plan`, or in `bands` where its device has
    no room for that."""

    filter: Filter
    experiment: Experiment
    variant: Variant
    device: Device
    run: Run
    session: Device
    task: Task
    plan: Plan | None = None
    bands: Bands | None = None
    timings: dict[str, Timing] = field(default_factory=dict)

    @property
    def computed(self) -> bool:
        """Whether it ran and did not fail."""
        return self.plan is not None or self.bands is not None

    @property
    def guarded(self) -> bool:
        """Whether guards lie around its arrays."""
        return self.experiment.protocol == "none" and self.experiment.checks != "off"

    @property
    def input(self) -> Input:
        """The experiment's input."""
        return self.experiment.input

    def make_plan(self, x: DeviceArray) -> Plan:
        """The variant's plan on this memory. Raises DeclarationError and KernelError."""
        return make_plan(self.filter, self.variant, self.session, self.task.on(x), self.run.pick.edits)

    def errors_of(self, outputs: Mapping[str, np.ndarray[Any, Any]]) -> dict[str, Error]:
        """The error of each output for the whole input."""
        with mistakes(self.filter, self.variant):
            return verify(self.filter, self.variant, self.input, self.task, outputs, self.experiment.checks)

    @property
    def name(self) -> str:
        """The variant and its device, for messages."""
        return f"{self.variant.id} on {self.device.name}"


@dataclass
class Watch:
    """Stops the loop on request, and reports its progress: steps `start` to `end` of `total` are at work."""

    deadline: float | None
    seed: int
    stop: Callable[[], bool] | None
    progress: Callable[[str, int, int], None] | None
    total: int = 0
    text: str = ""
    start: int = 0
    end: int = 0

    def begin(self, text: str, steps: int = 1) -> None:
        """Begin the next steps. Raises Cancelled."""
        self.start, self.end = self.end, self.end + steps
        self.say(text)

    def say(self, text: str) -> None:
        """Report what the steps do now. Raises Cancelled."""
        check_stop(self.stop)
        self.text = text
        self.tell(0.0)

    def tell(self, part: float) -> None:
        """Report the part of the steps that is done, from 0 to 1."""
        if self.progress is not None:
            done = self.start + part * (self.end - self.start)
            self.progress(self.text, int(PARTS * done), PARTS * self.total)

    def listening(self) -> AbstractContextManager[None]:
        """Inside, work in pieces reports its part of the steps, and can be stopped."""
        return listening(self.stop, self.tell)


FOR_ALL = (KernelFault, DeviceLost, Cancelled)
"""What ends an experiment: the process cannot use the device any more, or nobody waits for the result."""


class BandRefused(KernelError):
    """A variant does not take a band, which has fewer rows than the whole."""


_UNSUPPORTED, _MEMORY = (BandRefused, LibraryMissing), (DeviceMemoryError, MemoryError)


def fail_of(job: Job, error: Exception) -> Run:
    """The run of a job that an exception ended. The jobs beside it go on."""
    if isinstance(error, KernelError):
        job.run = replace(job.run, findings=(*job.run.findings, *error.findings))
    reason = str(error)
    if not isinstance(error, KernelscopeError):
        reason = f"{job.variant.id} failed: {type(error).__name__} {plain(error)}"
    kind = "unsupported" if isinstance(error, _UNSUPPORTED) else "memory" if isinstance(error, _MEMORY) else "kernel"
    return fail(job, reason, kind)


def fail(job: Job, reason: str, kind: Any) -> Run:
    job.plan = job.bands = None
    job.run = replace(job.run, failure=reason, failure_kind=kind)
    return job.run


def execute(
    job: Job, poison: Mapping[str, np.ndarray[Any, Any]], how: How = "direct"
) -> dict[str, np.ndarray[Any, Any]]:
    """Execute the plan once over poisoned outputs. The run keeps what a simulated GPU finds, prints and counts."""
    assert job.plan is not None
    for name, wrong in poison.items():
        job.session.upload(wrong, out=job.plan.outputs[name])
    keep(job, job.session.execute(job.plan, how))
    return {name: job.session.download(out) for name, out in job.plan.outputs.items()}


def keep(job: Job, execution: Execution) -> None:
    """Add to the run what a simulated GPU found, printed and counted, each fault once."""
    places = {(f.kind, f.file, f.line) for f in job.run.findings}
    job.run = replace(
        job.run,
        findings=(*job.run.findings, *(f for f in execution.findings if (f.kind, f.file, f.line) not in places)),
        printed=job.run.printed or execution.printed,
        counters=job.run.counters or execution.counters,
    )


def poison(array: DeviceArray) -> np.ndarray[Any, Any]:
    """All bits set: NaN in a float, the largest value in an integer."""
    poison: np.ndarray[Any, Any] = np.full(array.nbytes, 0xFF, np.uint8).view(array.dtype)
    return poison.reshape(array.shape)


def with_bits_inverted(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A result with all bits inverted: an element that the kernel does not write cannot keep its right value."""
    inverted: np.ndarray[Any, Any] = np.invert(np.ascontiguousarray(array).reshape(-1).view(np.uint8)).view(array.dtype)
    return inverted.reshape(array.shape)


DEPENDS_ON_TIMING = "right once and wrong the next time: an element is not written, or the result depends on timing"
DEPENDS_ON_ORDER = "right in one order of blocks and wrong in another: the result depends on the schedule"


def faultless(run: Run) -> bool:
    """Whether no finding is an error."""
    return not any(f.severity == "error" for f in run.findings)


def verify_again(job: Job) -> None:
    """Execute and verify over other poison, on a simulated GPU also in another order of blocks and branches."""
    simulated = job.device.clock == "simulated"
    how: How = "reverse" if simulated else "direct"
    try:
        if job.bands is not None:
            again = job.bands.run(0, how)
        else:
            poison = {name: with_bits_inverted(array) for name, array in job.run.outputs.items()}
            again = execute(job, poison, how)
    except KernelFault:
        raise
    except KernelError as error:  # the kernel stops itself in this order only
        job.run = replace(job.run, findings=(*job.run.findings, *error.findings))
        condemn(job, str(error))
        return
    errors = job.errors_of(again)
    if not all(e.ok for e in errors.values()):
        condemn(job, DEPENDS_ON_ORDER if simulated else DEPENDS_ON_TIMING)
        job.run = replace(job.run, errors=errors)


def verify_memory(job: Job, x: DeviceArray) -> None:
    """Check what the kernel may not write: memory beyond its arrays, and the input."""
    if cast(GuardedSession, job.session).damaged():
        condemn(job, OUTSIDE_WRITTEN)
    if not same_bytes(job.session.download(x), job.input.array):
        condemn(job, INPUT_OVERWRITTEN)
        job.session.upload(job.input.array, out=x)


def same_bytes(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    """Whether two arrays of one shape hold the same bits; NaN is equal to itself here."""
    left, right = (np.ascontiguousarray(array).reshape(-1).view(np.uint8) for array in (a, b))
    for start in range(0, left.size, CHUNK):
        advance(start, left.size)
        if not np.array_equal(left[start : start + CHUNK], right[start : start + CHUNK]):
            return False
    return True


def condemn(job: Job, note: str) -> None:
    job.run = replace(job.run, ok=False, timings={}, notes=(*job.run.notes, note))
