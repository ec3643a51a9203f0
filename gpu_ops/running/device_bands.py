"""An attempt in bands, where its device has no space for the whole input with its outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, cast

import numpy as np

from gpu_ops.devices.guarded import GuardedSession
from gpu_ops.devices.limited import Allowance, LimitedSession
from gpu_ops.devices.offline import CountingDevice
from gpu_ops.errors import DeviceMemoryError, KernelscopeError, PinnedMemoryError
from gpu_ops.filters.kit import bands
from gpu_ops.filters.kit.borders import padded
from gpu_ops.filters.kit.pipeline import STREAMS, Chunk, chunks_of
from gpu_ops.filters.kit.staging import copied
from gpu_ops.host import free_memory
from gpu_ops.plan import Device, DeviceArray, Fill, HostTask, How, MemoryKind, Plan, Step
from gpu_ops.progress import advance, quiet
from gpu_ops.running.attempt import (
    INPUT_OVERWRITTEN,
    OUTSIDE_WRITTEN,
    Attempt,
    BandRefused,
)
from gpu_ops.running.chunked import Results, chunked, planned, steps_of
from gpu_ops.running.declared import make_plan, mistakes
from gpu_ops.running.kept_plans import as_bytes
from gpu_ops.running.verify import same_bytes
from gpu_ops.task import Task

Array = np.ndarray[Any, Any]
_PLANNING = 4
"""Planning takes at most so many times the bytes of input and outputs on the host, for windows and masks."""
BAND_BYTES = 64 << 20
"""The maximum bytes of a band's input: larger ones are no faster, and the first upload and the last download, which
overlap with nothing, take longer."""


@dataclass
class DeviceBands:
    """The bands of an attempt: `rows` rows each, of which `slots` are at work at a time. There are fewer rows, and then
    fewer slots, where they do not fit. `faults` are what the kernel did to memory that is not its own."""

    attempt: Attempt
    nbytes: int
    slots: int
    rows: int = field(init=False)
    faults: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rows = self._most_rows()

    @classmethod
    def of(cls, attempt: Attempt) -> DeviceBands:
        """Bands as large as the device has space for. Raises DeviceMemoryError with needed and free bytes where the
        filter needs its whole input, or where not even one row fits."""
        filter, task, device = attempt.filter, attempt.task, attempt.device
        free, allowed = device.free_bytes(), attempt.experiment.memory
        nbytes = min(free - free // 4, free if allowed is None else allowed)  # scattered memory is no whole piece
        reason = bands.whole_reason(filter, task)
        if reason is None and filter.end_to_end and device.kind != "cpu":
            reason = "its plan has host memory for the whole"
        if reason:
            words = "" if device.kind == "cpu" else f" and this machine {free_memory():,} (--device cpu)"
            raise DeviceMemoryError(
                f"{filter.id} needs its whole input at once, because {reason}: {_bytes_of_whole(attempt)}, and "
                f"{device.name} has {min(free, nbytes):,} free{words}. Use a smaller input."
            )
        found = cls(attempt, nbytes, 1 if device.kind == "cpu" else STREAMS)
        while found.rows < 1:
            found._take_less()
        return found

    def _most_rows(self) -> int:
        """Rows of a band of which `slots` fit, with the last one of another size where there is one."""
        filter, task = self.attempt.filter, self.attempt.task
        parts = self.slots + (self._merges and self.slots > 1)
        most = max(BAND_BYTES // bands.part_task(task, 1).meta.nbytes, 8 * bands.reach(filter, task), 1)
        return min(bands.rows_within(filter, task, self.nbytes // parts), most)

    def _take_less(self) -> None:
        """Take half the rows, or with one row fewer slots. Raises DeviceMemoryError where there is nothing less."""
        if self.rows > 1:
            self.rows //= 2
        elif self.slots > 1:
            self.slots -= 1
            self.rows = self._most_rows()
        else:
            raise too_narrow(self.attempt, self.nbytes)

    @property
    def note(self) -> str:
        """How it runs, in words, with the memory that it takes."""
        attempt, count = self.attempt, len(bands.split(self.attempt.filter, self.attempt.task, self.rows))
        whole = bands.footprint(attempt.filter, attempt.task)
        words = bands.in_words(attempt.task, count, self.rows)
        has = f"{attempt.device.name} has {self.nbytes:,} bytes free"
        return f"in {words}: {has}, and input and outputs need {whole:,} or more{self._beside}"

    @property
    def _beside(self) -> str:
        """The bands that are at work at a time, and their buffers on the host; "" for a CPU, which has none."""
        attempt = self.attempt
        if attempt.device.kind == "cpu":
            return ""
        each = bands.footprint(attempt.filter, attempt.task, self.rows + 2 * bands.reach(attempt.filter, attempt.task))
        return (
            f"; {self.slots} of them at a time, in {self.slots * each:,} bytes on the device and as many of pinned "
            "host memory"
        )

    def run(self, byte: int, how: How = "direct", inspect: bool = False) -> dict[str, Array]:
        """The outputs of the whole, computed over memory of which every byte is `byte`; `inspect` the input of every
        band afterwards. Raises what a plan raises."""
        targets = None if self._merges else outputs_on_host(self.attempt)
        while True:
            try:
                return self._run(targets, byte, how, inspect)
            except PinnedMemoryError:
                raise
            except DeviceMemoryError:
                self._take_less()

    def _run(self, targets: Mapping[str, Array] | None, byte: int, how: How, inspect: bool) -> dict[str, Array]:
        attempt, guards = self.attempt, list[GuardedSession]()

        def work(chunk: Chunk) -> list[Step]:
            steps = [*_filled(chunk, byte), *steps_of(chunk)]
            check = HostTask(self._inspect, (chunk,), chunk.named("inspect"), (steps[-1].name,))
            return [*steps, check] if inspect and attempt.guarded else steps

        chunks = self._chunks(guards if attempt.guarded else None)
        results = Results(attempt.filter, attempt.variant, attempt.task, targets)
        done = partial(advance, total=len(chunks))
        found = chunked(attempt.device, chunks, attempt.input.array, results, work, done)
        attempt.keep(attempt.device.session({}, attempt.experiment.checks).execute(found.plan, how))
        if any(guarded.damaged() for guarded in guards):
            self.faults[OUTSIDE_WRITTEN] = None
        return found.results.outputs()

    def timed(self) -> tuple[Plan, Callable[[], dict[str, Array]]]:
        """The plan of all bands from and to pinned memory, with nothing but what the results take, and a function that
        gives these once it has run. Raises what a plan raises, PinnedMemoryError."""
        attempt, source = self.attempt, self.attempt.input.array
        if attempt.device.is_pageable(source):
            source = attempt.device.allocate("pinned", source.shape, source.dtype)
            copied([(source, attempt.input.array)])
        targets = None if self._merges else outputs_on_host(attempt, "pinned")
        results = Results(attempt.filter, attempt.variant, attempt.task, targets)
        return chunked(attempt.device, self._chunks(None), source, results).plan, results.outputs

    @property
    def _merges(self) -> bool:
        return self.attempt.filter.locality.kind == "mergeable"

    def _chunks(self, guards: list[GuardedSession] | None) -> list[Chunk]:
        """All bands with their memory and plans. Their sessions share what they may allocate; where there are `guards`,
        these get what watches over each."""
        attempt, allowance = self.attempt, Allowance(self.nbytes)
        filter, task = attempt.filter, attempt.task

        def make(rows: int) -> tuple[DeviceArray, Plan]:
            with mistakes(filter, attempt.variant):
                reason = attempt.variant.refusal(bands.part_task(task, rows))
            if reason:
                raise BandRefused(f"{self.note}; of a band, {reason}")
            session = attempt.device.session(attempt.run.pick.edits, attempt.experiment.checks)
            x = LimitedSession(session, allowance).empty((rows, *task.meta.shape[1:]), task.dtype)
            if guards is not None:
                guards.append(GuardedSession(session))
                session = cast(Device, guards[-1])
            return planned(attempt, x, cast(Device, LimitedSession(session, allowance)))

        return chunks_of(bands.split(filter, task, self.rows, alike=True), self.slots, make, is_cut=not self._merges)

    def _inspect(self, chunk: Chunk) -> None:
        """Compare a band's input on the device with what was copied there."""
        border = str(self.attempt.task.params.get("border", "zero"))
        strip = padded(self.attempt.input.array, (slice(chunk.band.low, chunk.band.high),), border)
        with quiet():
            if not same_bytes(self.attempt.device.download(chunk.x), strip):
                self.faults[INPUT_OVERWRITTEN] = None


def _filled(chunk: Chunk, byte: int) -> list[Step]:
    """Steps that set every byte of a chunk's outputs."""
    outputs = chunk.plan.outputs.items()
    return [Fill(as_bytes(out), byte, chunk.named(f"poison {name}"), chunk.stream) for name, out in outputs]


def outputs_on_host(attempt: Attempt, kind: MemoryKind = "pageable") -> dict[str, Array]:
    """Host memory of a kind for all outputs. Raises DeviceMemoryError where it has too little."""
    task: Task = replace(attempt.task, arrays={})
    try:
        forms = {o.id: o.form(task) for o in attempt.filter.given(task.params)}
        allocate = np.empty if kind == "pageable" else partial(attempt.device.allocate, kind)
        return {name: allocate(form.shape, form.dtype) for name, form in forms.items()}
    except MemoryError:
        needed = bands.footprint(attempt.filter, task) - task.meta.nbytes
        raise DeviceMemoryError(
            f"The outputs need {needed:,} bytes, and this machine has "
            f"{free_memory():,} free; run it from file to file in a shell."
        ) from None


def _bytes_of_whole(attempt: Attempt) -> str:
    """The bytes that an attempt needs for its whole input, in words. Those between input and outputs are what its plan
    asks a device for that has no memory; libraries do not say, and planning takes memory of the host itself."""
    filter, variant, task, device = attempt.filter, attempt.variant, attempt.task, attempt.device
    needed, unknown = bands.footprint(filter, task), "bytes for input and outputs, and more between them"
    if (variant.library and device.kind == "cuda") or _PLANNING * needed > free_memory():
        return f"{needed:,} {unknown}"
    architecture, edits = getattr(device, "architecture", ""), attempt.run.pick.edits
    counting = CountingDevice(architecture, edits, device.limits, assemble=device.kind == "cuda")
    try:
        make_plan(filter, variant, counting, task.on(counting.empty(task.meta.shape, task.meta.dtype)), edits)
    except KernelscopeError:
        return f"{needed:,} {unknown}"
    return f"{counting.nbytes:,} bytes for input, outputs and what {variant.id} keeps between them"


def too_narrow(attempt: Attempt, nbytes: int) -> DeviceMemoryError:
    """The error where not even one row fits."""
    needed, halo = bands.narrowest(attempt.filter, attempt.task), bands.reach(attempt.filter, attempt.task)
    what = bands.NEIGHBOURS.get(attempt.task.meta.kind, "planes")
    beside = f" with the {halo:,} {what} on either side that it reads" if halo else ""
    return DeviceMemoryError(
        f"One of the {what}{beside} needs {needed:,} bytes for input and outputs, plus temporary memory of "
        f"the variant, and {attempt.device.name} has {nbytes:,} free. Use a smaller input, or another device."
    )
