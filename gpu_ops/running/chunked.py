"""An attempt in chunks: the plan of the whole as uploads, kernels and downloads of its parts, which overlap in streams.

Host memory that is not page-locked goes through pinned buffers, which threads of the host fill and empty.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_ops.filters.kit import bands
from gpu_ops.filters.kit.bands import Band
from gpu_ops.filters.kit.pipeline import (
    CHUNK_BYTES,
    STREAMS,
    Chunk,
    FromHost,
    Sink,
    Source,
    ToHost,
    Work,
    chunks_of,
    depth_first,
)
from gpu_ops.filters.kit.staging import FromBuffers, HostWork, ToBuffers, copied_from, copied_to
from gpu_ops.plan import Copy, Device, DeviceArray, Launch, Plan, Step
from gpu_ops.running.attempt import Attempt
from gpu_ops.running.declared import make_plan, mistakes
from gpu_ops.running.parts import Merged
from gpu_ops.task import Task
from gpu_ops.types import Filter, Variant

Array = np.ndarray[Any, Any]


def streamed_bands(filter: Filter, task: Task) -> list[Band]:
    """Chunks of CHUNK_BYTES, and one for each stream at least where there are as many rows."""
    rows = task.meta.shape[0]
    count = min(rows, max(STREAMS, -(-task.meta.nbytes // CHUNK_BYTES)))
    return bands.split_at(filter, task, bands.even(rows, count), alike=True)


def no_chunks_reason(filter: Filter, variant: Variant, task: Task) -> str:
    """The reason why a task does not go in chunks; "" where it does."""
    if reason := bands.whole_reason(filter, task):
        return reason
    if task.meta.shape[0] < 2:
        return f"the input has no {bands.NEIGHBOURS[task.meta.kind]} to divide"
    places = streamed_bands(filter, task)
    for rows in {band.high - band.low for band in places}:
        with mistakes(filter, variant):
            refused = variant.refusal(bands.part_task(task, rows))
        if refused:
            return f"of a chunk of {rows:,} {bands.NEIGHBOURS[task.meta.kind]}, {refused}"
    return ""


class Results:
    """The results of the whole, from those of its chunks: in memory of the host, or merged."""

    def __init__(self, filter: Filter, variant: Variant, task: Task, targets: Mapping[str, Array] | None) -> None:
        """`targets` take the rows of each output; None where the filter merges results of parts."""
        self.targets = targets
        self._filter, self._variant, self._task = filter, variant, task
        self._merged = Merged(filter, task)

    def sink(self, device: Device, chunks: Sequence[Chunk], done: Callable[[int], object] | None) -> Sink:
        """Where the chunks' results go; `done` gets the number of a chunk whose results are there."""
        if self.targets is not None and not any(map(device.is_pageable, self.targets.values())):
            return ToHost(self.targets, done)
        work = HostWork(self._merge) if self.targets is None else copied_to(self.targets)

        def call(chunk: Chunk, arrays: Mapping[str, Array]) -> None:
            work.call(chunk, arrays)
            if done is not None:
                done(chunk.number)

        return ToBuffers(device, chunks, HostWork(call, work.accesses))

    def _merge(self, chunk: Chunk, arrays: Mapping[str, Array]) -> None:
        if chunk.number == 1:
            self._merged = Merged(self._filter, self._task)
        with mistakes(self._filter, self._variant):  # copies, because the next chunk uses the buffers
            self._merged.add({n: a.copy() for n, a in arrays.items()}, chunk.band.stop - chunk.band.start)

    def outputs(self) -> dict[str, Array]:
        """The arrays of the whole, once all chunks have run."""
        with mistakes(self._filter, self._variant):
            return self._merged.outputs() if self.targets is None else dict(self.targets)


@dataclass(frozen=True, eq=False)
class Chunked:
    """A task in chunks: its plan, of which the results are in `results`."""

    plan: Plan
    chunks: tuple[Chunk, ...]
    results: Results


def chunked(
    device: Device,
    chunks: Sequence[Chunk],
    source: Array,
    results: Results,
    work: Work | None = None,
    done: Callable[[int], object] | None = None,
) -> Chunked:
    """The plan of these chunks of an input in host memory. `work` gives the steps between a chunk's upload and its
    download, by default those of its plan. A plan of nothing but launches and copies of arrays is a CUDA graph."""
    is_direct = device.kind == "cpu" or (source.flags.c_contiguous and not device.is_pageable(source))
    start: Source = FromHost(source) if is_direct else FromBuffers(device, chunks, copied_from(source))
    steps = tuple(depth_first(chunks, start, results.sink(device, chunks, done), work or steps_of))
    plan = Plan(steps, results.targets or {}, graph=all(map(_is_node, steps)))
    return Chunked(plan, tuple(chunks), results)


def _is_node(step: Step) -> bool:
    """Whether a step is a plain node of a CUDA graph: no launch that begins before the one ahead of it has ended, and
    no refresh of a texture."""
    if isinstance(step, Copy):
        return hasattr(step.target, "strides")
    return isinstance(step, Launch) and not step.early


def steps_of(chunk: Chunk) -> list[Step]:
    """The steps of a chunk's plan."""
    return chunk.steps(chunk.named)


def planned(attempt: Attempt, x: DeviceArray, session: Device) -> tuple[DeviceArray, Plan]:
    """Device memory for rows of an attempt's input, with the variant's plan on it. Raises what a plan raises."""
    task = bands.part_task(attempt.task, len(x)).on(x)
    return x, make_plan(attempt.filter, attempt.variant, session, task, attempt.run.pick.edits)


def streamed(attempt: Attempt, source: Array, targets: Mapping[str, Array]) -> Chunked:
    """An attempt in chunks of CHUNK_BYTES and STREAMS streams, from and to this host memory; a filter that merges its
    results has no use for `targets`. Each part of the device's memory has a session of its own, because kernels that
    run concurrently may not share the variables of a module. Raises what a plan raises."""
    filter, task = attempt.filter, attempt.task
    merges = filter.locality.kind == "mergeable"

    def make(rows: int) -> tuple[DeviceArray, Plan]:
        session = attempt.device.session(attempt.run.pick.edits, attempt.experiment.checks)
        return planned(attempt, session.empty((rows, *task.meta.shape[1:]), task.dtype), session)

    chunks = chunks_of(streamed_bands(filter, task), STREAMS, make, is_cut=not merges)
    results = Results(filter, attempt.variant, task, None if merges else targets)
    return chunked(attempt.device, chunks, source, results)
