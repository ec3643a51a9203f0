"""Uploads, launches and downloads of an input in chunks, as the steps of a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gpu_ops.filters.kit.bands import Band, part_task
from gpu_ops.filters.transfer.workload import Workload
from gpu_ops.plan import Copy, Device, DeviceArray, MemoryKind, Plan, Step
from gpu_ops.task import Task

Array = np.ndarray[Any, Any]
Name = Callable[[str], str]


@dataclass(frozen=True, eq=False)
class Chunk:
    """A chunk with the device memory that it uses: rows of the input with those around them in `x`, and a plan of the
    kernel on them. `number` counts from 1."""

    number: int
    band: Band
    x: DeviceArray
    plan: Plan
    out: DeviceArray

    def named(self, what: str) -> str:
        """The name of a step of this chunk."""
        return f"{what} {self.number}"


@dataclass
class Pipeline:
    """The chunks of a task on a device: `bands` of its rows, by default one of all. They take turns on `slots`
    parts of the device's memory, one for each stream, so that a chunk's memory is free when the steps before it in its
    stream have ended. `first` is the number of the first chunk."""

    device: Device
    task: Task
    workload: Workload
    bands: Sequence[Band] = ()
    slots: int = 1
    first: int = 1
    inner: Task = field(init=False)
    chunks: list[Chunk] = field(init=False)

    def __post_init__(self) -> None:
        self.inner = self.workload.task(self.task)
        bands = self.bands or self.workload.bands(self.task, 1)
        memory: dict[tuple[int, int], tuple[DeviceArray, Plan]] = {}
        self.chunks = []
        for place, band in enumerate(bands):
            key = place % self.slots, band.high - band.low
            if key not in memory:
                memory[key] = self._slot(key[1])
            x, plan = memory[key]
            self.chunks.append(Chunk(place + self.first, band, x, plan, plan.outputs[self.workload.output.id]))

    def _slot(self, rows: int) -> tuple[DeviceArray, Plan]:
        x = self.device.empty((rows, *self.task.meta.shape[1:]), self.task.dtype)
        return x, self.workload.variant.plan(self.device, part_task(self.inner, rows).on(x))

    def host(self, kind: MemoryKind) -> tuple[Array, Array]:
        """Host memory of a kind: one with the input, and one for the result."""
        source, target = (self.device.allocate(kind, self.task.meta.shape, self.task.dtype) for _ in range(2))
        return self.device.download(self.task.x, out=source), target

    def upload(
        self, chunk: Chunk, source: Array, stream: int, low: int | None = None, high: int | None = None
    ) -> list[Step]:
        """Copy a chunk's rows to the device, or those from `low` to `high`. With the border wrap, rows beyond an edge
        are those of the other."""
        low, high = chunk.band.low if low is None else low, chunk.band.high if high is None else high
        rows, steps = chunk.x[low - chunk.band.low :], list[Step]()
        for to, where in pieces(low, high, len(source)):
            name = chunk.named("upload") + (f" part {len(steps) + 1}" if steps else "")
            steps.append(Copy(rows[to], source[where], name, stream))
        return steps

    def launches(self, chunk: Chunk, stream: int, after: tuple[str, ...] = ()) -> list[Step]:
        """The kernel's launches on a chunk, as often as the task asks for; the first one waits for the steps in
        `after`."""
        many = self.task.params["repeats"]
        steps = [step for k in range(many) for step in in_stream(chunk.plan.steps, stream, self._namer(chunk, k, many))]
        return [replace(steps[0], after=after), *steps[1:]]

    def _namer(self, chunk: Chunk, place: int, many: int) -> Name:
        again = f" launch {place + 1}" if many > 1 else ""
        return lambda name: f"{name or self.workload.variant.id} {chunk.number}{again}"

    def download(self, chunk: Chunk, target: Array, stream: int) -> Step:
        """Copy the chunk's own rows of the result to the host."""
        band = chunk.band
        return Copy(target[band.start : band.stop], chunk.out[band.inner], chunk.named("download"), stream)

    def plan(self, steps: Sequence[Step], target: Array, **how: Any) -> Plan:
        """A plan whose result is in this host memory."""
        return Plan(tuple(steps), {self.workload.filter.id: target}, **how)


def in_stream(steps: Sequence[Step], stream: int, name: Name) -> list[Step]:
    """Steps of a plan in one stream, with other names."""
    return [replace(step, name=name(step.name), stream=stream, after=()) for step in steps]


def pieces(low: int, high: int, count: int) -> Iterator[tuple[slice, slice]]:
    """The rows from `low` to `high` in pieces: where they lie among those that are copied, and among the `count` rows
    of the input, beyond whose edges the opposite ones follow."""
    done = low
    while done < high:
        start = done % count
        rows = min(high - done, count - start)
        yield slice(done - low, done - low + rows), slice(start, start + rows)
        done += rows
