"""An attempt in bands, where its device has no space for the whole input with its outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, cast

import numpy as np

from gpu_ops.devices.guarded import GuardedSession
from gpu_ops.devices.limited import LimitedSession
from gpu_ops.errors import DeviceMemoryError
from gpu_ops.filters.kit import bands
from gpu_ops.filters.kit.bands import Band
from gpu_ops.filters.kit.borders import padded
from gpu_ops.host import free_memory
from gpu_ops.plan import Device, DeviceArray, How, Plan
from gpu_ops.progress import quiet
from gpu_ops.running.attempt import INPUT_OVERWRITTEN, OUTSIDE_WRITTEN, Attempt, BandRefused, same_bytes
from gpu_ops.running.declared import make_plan, mistakes
from gpu_ops.running.parts import Merged, Parts
from gpu_ops.task import Task

Array = np.ndarray[Any, Any]


class _BandMemory(NamedTuple):
    """Memory for bands of one size: the session, the input, and the plan on it."""

    session: Device
    x: DeviceArray
    plan: Plan


@dataclass
class DeviceBands:
    """The bands of an attempt: `rows` rows each, halved until one fits. `faults` are what the kernel did to memory that
    is not its own."""

    attempt: Attempt
    rows: int
    nbytes: int
    faults: dict[str, None] = field(default_factory=dict)
    _memory_of_band: _BandMemory | None = None

    @classmethod
    def of(cls, attempt: Attempt) -> DeviceBands:
        """Bands as large as the device has space for. Raises DeviceMemoryError with needed and free bytes where the
        filter needs its whole input, or where not even one row fits."""
        filter, task, name = attempt.filter, attempt.task, attempt.device.name
        free = attempt.device.free_bytes()
        allowed = attempt.experiment.memory
        nbytes = min(free - free // 4, free if allowed is None else allowed)  # scattered memory is no whole piece
        if reason := bands.whole_reason(filter, task):
            words = "" if name == "cpu" else f" and this machine {free_memory():,} (--device cpu)"
            raise DeviceMemoryError(
                f"{filter.id} needs its whole input at once, because {reason}: {bands.footprint(filter, task):,} bytes "
                f"for input and outputs, and {name} has {min(free, nbytes):,} free{words}. Use a smaller input."
            )
        rows = bands.rows_within(filter, task, nbytes)
        if rows < 1:
            raise too_narrow(attempt, nbytes)
        return cls(attempt, rows, nbytes)

    @property
    def note(self) -> str:
        """How it ran, in words."""
        attempt, count = self.attempt, len(bands.split(self.attempt.filter, self.attempt.task, self.rows))
        whole = bands.footprint(attempt.filter, attempt.task)
        words = bands.in_words(attempt.task, count, self.rows)
        has = f"{attempt.device.name} has {self.nbytes:,} bytes free"
        return f"in {words}: {has}, and input and outputs need {whole:,} or more"

    def run(self, byte: int, how: How = "direct") -> dict[str, Array]:
        """The outputs of the whole, computed over memory of which every byte is `byte`. Raises what a plan raises."""
        while True:
            try:
                return self._run(byte, how)
            except DeviceMemoryError:
                if self.rows == 1:
                    raise too_narrow(self.attempt, self.nbytes) from None
                self.rows //= 2
            finally:
                self._memory_of_band = None

    def _run(self, byte: int, how: How) -> dict[str, Array]:
        attempt = self.attempt
        places = bands.split(attempt.filter, attempt.task, self.rows)
        merged = Merged(attempt.filter, attempt.task) if attempt.filter.locality.kind == "mergeable" else None
        whole = _empty(attempt) if merged is None else {}

        def put(band: Band, part: Mapping[str, Array]) -> None:
            for name, array in whole.items():
                array[band.start : band.stop] = part[name][band.inner]
            if merged is not None:
                with mistakes(attempt.filter, attempt.variant):
                    merged.add(part, band.stop - band.start)

        Parts(places, lambda band: self._outputs(band, byte, how), put).run()
        with mistakes(attempt.filter, attempt.variant):
            return whole if merged is None else merged.outputs()

    def _outputs(self, band: Band, byte: int, how: How) -> dict[str, Array]:
        """The outputs of one band, with its halo."""
        border = str(self.attempt.task.params.get("border", "zero"))
        strip = padded(self.attempt.input.array, (slice(band.low, band.high),), border)
        memory = self._memory(strip)
        for out in memory.plan.outputs.values():
            wrong = np.full(out.nbytes, byte, np.uint8).view(out.dtype).reshape(out.shape)
            memory.session.upload(wrong, out=out)
        self.attempt.keep(memory.session.execute(memory.plan, how))
        if self.attempt.guarded:
            if cast(GuardedSession, memory.session).damaged():
                self.faults[OUTSIDE_WRITTEN] = None
            with quiet():
                same = same_bytes(memory.session.download(memory.x), strip)
            if not same:
                self.faults[INPUT_OVERWRITTEN] = None
        return {name: memory.session.download(out) for name, out in memory.plan.outputs.items()}

    def _memory(self, strip: Array) -> _BandMemory:
        """A band on the device with a plan for it: the last plan where its size is the same, else a new one."""
        reusable = not self.attempt.filter.end_to_end  # such a plan has the samples in memory of its own
        if reusable and self._memory_of_band is not None and self._memory_of_band.x.shape == strip.shape:
            self._memory_of_band.session.upload(strip, out=self._memory_of_band.x)
            return self._memory_of_band
        self._memory_of_band = None
        attempt = self.attempt
        task = bands.part_task(attempt.task, len(strip))
        with mistakes(attempt.filter, attempt.variant):
            reason = attempt.variant.refusal(task)
        if reason:
            raise BandRefused(f"{self.note}; of a band, {reason}")
        session = attempt.device.session(attempt.run.pick.edits, attempt.experiment.checks)
        guarded = cast(Device, GuardedSession(session)) if attempt.guarded else session
        limited = cast(Device, LimitedSession(guarded, self.nbytes))
        x = limited.upload(strip)
        plan = make_plan(attempt.filter, attempt.variant, limited, task.on(x), attempt.run.pick.edits)
        self._memory_of_band = _BandMemory(limited, x, plan)
        return self._memory_of_band


def _empty(attempt: Attempt) -> dict[str, Array]:
    """Host memory for all outputs. Raises DeviceMemoryError where it has too little."""
    task: Task = replace(attempt.task, arrays={})
    try:
        forms = {o.id: o.form(task) for o in attempt.filter.given(task.params)}
        return {name: np.empty(form.shape, form.dtype) for name, form in forms.items()}
    except MemoryError:
        needed = bands.footprint(attempt.filter, task) - task.meta.nbytes
        raise DeviceMemoryError(
            f"The outputs need {needed:,} bytes, and this machine has "
            f"{free_memory():,} free; run it from file to file in a shell."
        ) from None


def too_narrow(attempt: Attempt, nbytes: int) -> DeviceMemoryError:
    """The error where not even one row fits."""
    needed, halo = bands.narrowest(attempt.filter, attempt.task), bands.reach(attempt.filter, attempt.task)
    what = bands.NEIGHBOURS.get(attempt.task.meta.kind, "planes")
    beside = f" with the {halo:,} {what} on either side that it reads" if halo else ""
    return DeviceMemoryError(
        f"One of the {what}{beside} needs {needed:,} bytes for input and outputs, plus temporary memory of "
        f"the variant, and {attempt.device.name} has {nbytes:,} free. Use a smaller input, or another device."
    )
