"""What each launch of a variant does, counted at the full size of an input: a few batches of blocks represent all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gpu_ops.devices.occupancy import occupancy, shared_taken
from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.launch import Options, WaitingBlocks
from gpu_ops.errors import ParamError
from gpu_ops.explaining.prediction.gpus import Gpu
from gpu_ops.explaining.prediction.launches import LaunchCounts
from gpu_ops.explaining.prediction.partial import Partial
from gpu_ops.explaining.spills import spilled_bytes
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.params import Values, check_values
from gpu_ops.plan import Copy, Fill, Launch, Plan, Step
from gpu_ops.running.affordable import cut_out, part_spans
from gpu_ops.running.declared import make_plan
from gpu_ops.running.suitable import check_input
from gpu_ops.running.verify import full_meta
from gpu_ops.task import Task
from gpu_ops.types import Filter, Input, Variant

BATCHES = 2
"""Batches of blocks between the first and the last that are counted."""
WHOLE = 1 << 20
"""Samples of an input whose blocks all run, where they wait for one another. Of a larger input the counts follow from
those of two parts, of a half and of the whole of this many, because they grow linearly with the samples."""


def count_launches(
    filter: Filter,
    variant: Variant,
    input: Input,
    params: Values,
    knobs: Values,
    gpu: Gpu,
    edits: Mapping[str, str] | None = None,
) -> tuple[LaunchCounts, ...]:
    """Count every launch of a variant on an input of any size, as planned for a GPU.

    Raises ParamError for a variant without kernels of its own or a task that it refuses, KernelError, DeviceError,
    Cancelled.
    """
    if not variant.kernels:
        kernels = ", ".join(v.id for v in filter.variants if v.kernels)
        raise ParamError(f"{variant.id} has no kernel whose time could be predicted; choose from {kernels}.")
    job = _Job(filter, variant, params, knobs, gpu, edits or {})
    try:
        return job.count(input, BATCHES)
    except WaitingBlocks:
        parts = [cut_out(input, spans) for spans in _parts(input)]
        if not parts:
            return job.count(input, 0)
        return _extrapolated(job.count(input, None), [job.count(p, 0) for p in parts], input, parts)


@dataclass(frozen=True)
class _Job:
    """A variant at its values, planned for a GPU."""

    filter: Filter
    variant: Variant
    params: Values
    knobs: Values
    gpu: Gpu
    edits: Mapping[str, str]

    def count(self, input: Input, batches: int | None) -> tuple[LaunchCounts, ...]:
        """The launches on an input, with counts of this many batches between the first and the last, of all (0), or
        without (None)."""
        options = Options(checks="off", counters="sample", machine_code=True, only=batches or 0, costs=True)
        device = SimDevice(self.gpu.architecture, options, assemble=True, limits=self.gpu.limits)
        session = device.session(self.edits, "off")
        params = check_values(self.filter.params, self.params, self.filter.id)
        knobs = check_values(self.variant.knobs, self.knobs, self.variant.id)
        task = Task.of(full_meta(input), params, knobs, session.limits)
        check_input(self.filter, input, params)
        reason = self.variant.refusal(task)
        if reason:
            raise ParamError(f"{self.variant.id} cannot do this: {reason}.")
        plan = make_plan(self.filter, self.variant, session, task.on(session.upload(input.array)), self.edits)
        partial = Partial(batches, options)
        return tuple(self._step(session, plan, step, partial) for step in plan.steps)

    def _step(self, session: SimDevice, plan: Plan, step: Step, partial: Partial) -> LaunchCounts:
        values = partial.values(step)
        if not isinstance(step, Launch):
            return LaunchCounts(step.name, moved=_moved(step))
        threads, own = math.prod(step.block), step.kernel.resources
        shared = own.get("shared_bytes", 0) + step.shared_bytes
        architecture, registers, barriers = self.gpu.architecture, own.get("registers", 0), own.get("barriers", 1)
        held, fitting = (occupancy(architecture, threads, registers, n, barriers) for n in (shared, 0))
        counts = session.execute(Plan((step,), plan.outputs)).counters if partial.batches is not None else {}
        blocks = math.prod(step.grid)
        arrays = sum(getattr(arg, "nbytes", 0) for arg in step.args if not isinstance(arg, np.generic))
        return LaunchCounts(
            kernel=step.kernel.name,
            blocks=blocks,
            threads=threads,
            resident=max(held.blocks, 1),
            early=step.early,
            arrays=arrays,
            spilled=spilled_bytes(own),
            counts=counts,
            values=values,
            waits=bool(step.kernel.loaded.code.spin_blocks),
            fitting=max(fitting.blocks, 1),
            shared=shared_taken(architecture, shared),
        )


def _moved(step: Step) -> int:
    """The bytes that a copy or a fill reads and writes."""
    if isinstance(step, Copy):
        return 2 * int(step.source.nbytes)  # the target may be a texture
    return int(step.target.nbytes) if isinstance(step, Fill) else 0


def _parts(input: Input) -> list[tuple[tuple[int, int], ...]]:
    """The parts of a half and of the whole of WHOLE samples; none of an input that is no larger."""
    if input.array.size <= WHOLE:
        return []
    spatial = INPUT_KINDS[input.kind].spatial(input.array.shape)
    samples = input.array.size // math.prod(spatial)
    parts = []
    for size in (WHOLE // 2, WHOLE):
        side = int((size // samples) ** (1 / len(spatial)))
        parts.append(part_spans(input, extents=tuple(min(n, side) for n in spatial)))
    return parts


def _extrapolated(
    whole: Sequence[LaunchCounts], counted: Sequence[Sequence[LaunchCounts]], input: Input, parts: Sequence[Input]
) -> tuple[LaunchCounts, ...]:
    """The launches of the whole input with counts that grow from the smaller part to the larger one as to the whole.
    Those that do not grow, such as of a small launch that mostly works at borders, are as many a block as in the larger
    part."""
    first, second = (part.array.size for part in parts)
    times = (input.array.size - first) / (second - first)
    launches = []
    for launch, small, large in zip(whole, *counted, strict=True):
        names = {*small.counts, *large.counts}
        grown = {n: small.of(n) + (large.of(n) - small.of(n)) * times for n in names}
        alike = launch.blocks / max(large.blocks, 1)
        counts = {n: round(c if c >= large.of(n) else large.of(n) * alike) for n, c in grown.items()}
        launches.append(replace(launch, counts=counts))
    return tuple(launches)
