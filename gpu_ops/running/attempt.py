"""An attempt to run a pick: its task and plan, how it runs, fails, and is checked."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, cast
from weakref import ref

import numpy as np

from gpu_ops.devices.guarded import GuardedSession
from gpu_ops.errors import (
    DeviceLost,
    DeviceMemoryError,
    KernelError,
    KernelFault,
    KernelscopeError,
    LibraryMissing,
    PeerMissing,
    PinnedMemoryError,
    plain,
)
from gpu_ops.io.memory import empty
from gpu_ops.plan import Device, DeviceArray, Execution, How, Plan
from gpu_ops.progress import Cancelled, listening
from gpu_ops.running import kept_plans
from gpu_ops.running.affordable import PACE, threads_of
from gpu_ops.running.declared import make_plan, mistakes
from gpu_ops.running.kept_plans import KeptPlan, Repeats, as_bytes
from gpu_ops.running.timing import check_stop
from gpu_ops.running.verify import same_bytes, verify
from gpu_ops.task import Task
from gpu_ops.types import Error, Experiment, Filter, Input, Run, Timing, Variant

PARTS = 1000
"""Units per step in `progress`, so that fractions of a step are integers."""

OUTSIDE_WRITTEN = "memory outside the arrays was written: a bounds check is missing"
INPUT_OVERWRITTEN = "the input was overwritten"


class Bands(Protocol):
    """An attempt that runs in bands. `run` gives the outputs of the whole, computed over memory of which every byte is
    `byte`, and with `inspect` looks at the input of each band afterwards; `faults` are what was then seen of the
    memory. `timed` is a plan of all bands from and to pinned memory, and a function that gives its results."""

    @property
    def faults(self) -> Mapping[str, None]: ...
    def run(self, byte: int, how: How = "direct", inspect: bool = False) -> dict[str, np.ndarray[Any, Any]]: ...
    def timed(self) -> tuple[Plan, Callable[[], dict[str, np.ndarray[Any, Any]]]]: ...


FOR_ALL = (KernelFault, DeviceLost, Cancelled)
"""Errors that end an experiment: the process cannot use the device any more, or the run was cancelled."""


class BandRefused(KernelError):
    """A variant does not support a band, which has fewer rows than the whole."""


_UNSUPPORTED, _MEMORY = (BandRefused, LibraryMissing, PeerMissing), (DeviceMemoryError, MemoryError)


DEPENDS_ON_TIMING = "right in one run and wrong in the next: an element is not written, or the result depends on timing"
WRONG_IN_CHUNKS = "right as a whole and wrong in chunks, in streams: an element depends on more than its neighbours"
DEPENDS_ON_ORDER = "right in one order of blocks and wrong in another: the result depends on the schedule"


@dataclass
class Attempt:
    """A pick at work: its task, and in `run` the results so far. It runs its `plan`, or in `bands` where its device has
    no space for that. `x` is its input on the device. `key` is that of the
    plan that live runs keep, `kept` the one of an earlier run, and `planned` the run before anything ran."""

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
    titled: bool = False
    orders: tuple[How, ...] = ()
    key: Hashable = None
    planned: Run = field(init=False)
    kept: KeptPlan | None = None
    x: DeviceArray = None

    def __post_init__(self) -> None:
        self.planned = self.run

    @property
    def computed(self) -> bool:
        """Whether the pick has run and not failed."""
        return self.plan is not None or self.bands is not None

    @property
    def guarded(self) -> bool:
        """Whether its arrays have guards around them."""
        return self.experiment.protocol == "none" and self.experiment.checks != "off"

    @property
    def input(self) -> Input:
        """The experiment's input."""
        return self.experiment.input

    def keep_plan(self) -> None:
        """Keep a plan that was right, or not checked, for the next live run of this pick. Outputs that were checked are
        copied, because those of the run belong to the caller."""
        if self.key is None or self.plan is None or self.run.ok is False or self.filter.end_to_end:
            return
        if sum(array.nbytes for array in self.plan.outputs.values()) > kept_plans.MOST_BYTES:
            return
        kept = self.kept
        if kept is None:
            checked = self.run.outputs if self.run.stage == "verified" else {}
            run = replace(self.run, outputs={name: array.copy() for name, array in checked.items()})
            of = self.filter, self.variant, self.device, self.planned, ref(self.input), self.input.array.copy()
            kept = KeptPlan(*of, self.session, self.task, self.plan, *self._ready(self.plan), self.x, run)
        kept_plans.keep(self.key, kept)

    def _ready(self, plan: Plan) -> tuple[Any, Repeats | None]:
        """What a GPU executes of a plan that is kept: itself, or its repeats where those take it."""
        with suppress(PinnedMemoryError):
            if Repeats.takes(self.session, plan):
                return plan, Repeats(self.session, plan)
        return cast(Any, self.session).prepare(plan) if self.session.kind == "cuda" else plan, None

    def make_plan(self, x: DeviceArray) -> Plan:
        """The variant's plan on this memory. Raises DeclarationError and KernelError."""
        return make_plan(self.filter, self.variant, self.session, self.task.on(x), self.run.pick.edits)

    def errors_of(self, outputs: Mapping[str, np.ndarray[Any, Any]]) -> dict[str, Error]:
        """The error of each output for the whole input."""
        with mistakes(self.filter, self.variant):
            return verify(self.filter, self.variant, self.input, self.task, outputs, self.experiment.checks)

    @property
    def name(self) -> str:
        """The variant and its device, for messages: by its id, or where that is `titled` as a window names it."""
        return named(self.variant, self.device.name, self.titled)

    def fail_by(self, error: Exception) -> Run:
        """Set the run's failure from an exception. The other attempts continue."""
        if isinstance(error, KernelError):
            self.run = replace(self.run, findings=(*self.run.findings, *error.findings))
        reason = reason_of(self.variant, error)
        if isinstance(error, _UNSUPPORTED):
            return self.fail(reason, "unsupported")
        return self.fail(reason, "memory" if isinstance(error, _MEMORY) else "kernel")

    def fail(self, reason: str, kind: Any) -> Run:
        """Set the run's failure, with a reason of this kind."""
        self.plan = self.bands = self.x = None
        self.run = replace(self.run, failure=reason, failure_kind=kind)
        return self.run

    def execute(
        self, poison: Mapping[str, np.ndarray[Any, Any]] | None = None, how: How = "direct"
    ) -> dict[str, np.ndarray[Any, Any]]:
        """Execute the plan once over this poison in the outputs; without one all bits are set: NaN in a float, the
        largest value in an integer, and large outputs go to memory of the caller of `io.memory.allocating`. The run
        keeps the findings, printed lines and counts of a simulated GPU."""
        assert self.plan is not None
        if self.kept is not None and self.kept.repeats is not None:
            return self.kept.repeats.run()
        if how == "direct" and self.experiment.counted and self.device.clock == "simulated" and not self.run.counters:
            how = "counted"
        for name, out in self.plan.outputs.items():
            if poison is None:
                self.session.fill(as_bytes(out), 0xFF)
            else:
                self.session.upload(poison[name], out=out)
        self.session.synchronize()  # the plan's other streams do not wait for the first one
        execution = self.session.execute(self.plan if self.kept is None else self.kept.ready, how)
        if self.device.clock == "simulated":
            PACE.note(self.run.key, self.task.meta, threads_of(self.plan), execution.elapsed)
        self.keep(execution)
        self.orders = execution.orders
        if poison is not None:
            return {name: self.session.download(out) for name, out in self.plan.outputs.items()}
        return {
            name: self.session.download(out, empty(out.shape, out.dtype)[0]) for name, out in self.plan.outputs.items()
        }

    def keep(self, execution: Execution) -> None:
        """Add to the run the findings, printed lines and counts of a simulated GPU, each fault once."""
        if not (execution.findings or execution.printed or execution.counters):
            return
        places = {(f.kind, f.file, f.line) for f in self.run.findings}
        self.run = replace(
            self.run,
            findings=(*self.run.findings, *(f for f in execution.findings if (f.kind, f.file, f.line) not in places)),
            printed=self.run.printed or execution.printed,
            counters=self.run.counters or execution.counters,
        )

    def verify_again(self) -> None:
        """Execute and verify with other poison, on a simulated GPU also in other orders of blocks and branches."""
        usual: How = "reverse" if self.device.clock == "simulated" else "direct"
        for how in (self.orders if self.bands is None else ()) or (usual,):
            if self.run.ok is not False:
                self._verify_in(how)

    def _verify_in(self, how: How) -> None:
        """Execute and verify in this order, with other poison."""
        known = self.run.findings
        try:
            if self.bands is not None:
                again = self.bands.run(0, how, inspect=True)
            else:
                poison = {name: with_bits_inverted(array) for name, array in self.run.outputs.items()}
                again = self.execute(poison, how)
        except KernelFault:
            raise
        except KernelError as error:  # the kernel stops itself only in this order
            self.run = replace(self.run, findings=(*self.run.findings, *error.findings))
            self.mark_wrong(str(error))
            return
        self.check_again(again)
        if self.run.ok and any(f.severity == "error" for f in self.run.findings[len(known) :]):
            self.mark_wrong(DEPENDS_ON_ORDER)

    def check_again(self, outputs: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Verify the outputs of a later execution."""
        errors = self.errors_of(outputs)
        if not all(e.ok for e in errors.values()):
            self.mark_wrong(DEPENDS_ON_ORDER if self.device.clock == "simulated" else DEPENDS_ON_TIMING)
            self.run = replace(self.run, errors=errors)

    def verify_memory(self, x: DeviceArray) -> None:
        """Check that the kernel has not written to memory beyond its arrays, nor to the input."""
        if cast(GuardedSession, self.session).damaged():
            self.mark_wrong(OUTSIDE_WRITTEN)
        if not same_bytes(self.session.download(x), self.input.array):
            self.mark_wrong(INPUT_OVERWRITTEN)
            self.session.upload(self.input.array, out=x)

    def add_note(self, note: str) -> None:
        """Add a sentence to the run, once."""
        self.run = replace(self.run, notes=tuple(dict.fromkeys((*self.run.notes, note))))

    def mark_wrong(self, note: str) -> None:
        """Mark the result as wrong after all: its times are not valid."""
        self.run = replace(self.run, ok=False, timings={}, notes=(*self.run.notes, note))


def named(variant: Variant, device: str, titled: bool) -> str:
    """A variant on a device in a message: "serial on cpu", or titled "CPU, one core" and "3 shared memory on sim"."""
    if titled:
        return variant.title if variant.device == "cpu" else f"{variant.title} on {device}"
    return f"{variant.id} on {device}"


def reason_of(variant: Variant, error: Exception) -> str:
    """Why a variant failed, as a sentence."""
    if isinstance(error, KernelscopeError):
        return str(error)
    return f"{variant.id} failed: {type(error).__name__} {plain(error)}"


@dataclass
class Watch:
    """Stops the loop on request, and reports its progress: steps `start` to `end` of `total` are running."""

    deadline: float | None
    seed: int
    stop: Callable[[], bool] | None
    progress: Callable[[str, int, int], None] | None
    total: int = 0
    text: str = ""
    start: int = 0
    end: int = 0
    part: float = 0.0

    def begin(self, text: str, steps: int = 1) -> None:
        """Start the next steps. Raises Cancelled."""
        self.start, self.end = self.end, self.end + steps
        self.say(text)

    def say(self, text: str) -> None:
        """Report the present activity. Raises Cancelled."""
        check_stop(self.stop)
        self.text = text
        self.report(0.0)

    def report(self, part: float) -> None:
        """Report the finished part of the steps, from 0 to 1."""
        self.part = part
        if self.progress is not None:
            done = self.start + part * (self.end - self.start)
            self.progress(self.text, int(PARTS * done), PARTS * self.total)

    def listening(self) -> AbstractContextManager[None]:
        """Inside the block, work in pieces reports its part of the steps, and can be stopped."""
        return listening(self.stop, self.report, self.tell)

    def tell(self, what: str) -> None:
        """Report what takes time within the present activity; "" for nothing more."""
        activity, self.text = self.text, f"{self.text}: {what}" if what else self.text
        self.report(self.part)
        self.text = activity


def with_bits_inverted(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A result with all bits inverted: an element that the kernel does not write cannot keep its right value."""
    inverted: np.ndarray[Any, Any] = np.invert(np.ascontiguousarray(array).reshape(-1).view(np.uint8)).view(array.dtype)
    return inverted.reshape(array.shape)


def has_no_errors(run: Run) -> bool:
    """Whether no finding is an error."""
    return not any(f.severity == "error" for f in run.findings)


def soonest_first(attempts: list[Attempt]) -> list[list[Attempt]]:
    """Groups of attempts, each computed as a whole before its first verdict: in a window all results come before it.
    Until this process has loaded Numba, which takes most of a second, and seconds where a loop must be compiled,
    libraries have a group of their own, so that the first picture and its verdict need not wait for that."""
    if "numba" in sys.modules:
        return [attempts]
    ready = [a for a in attempts if a.variant.library and a.device.kind == "cpu"]
    return [group for group in (ready, [a for a in attempts if a not in ready]) if group]
