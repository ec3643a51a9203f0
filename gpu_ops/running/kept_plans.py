"""Plans that live runs keep, so that the next run of an unchanged pick only computes, copies and compares. On a GPU it
does so into pinned memory that the caller keeps as the result.

A run takes a plan out, so that no two runs share its memory, and puts it back at its end. Everything that the plan
depends on is in the key, or is compared: the filter, the variant and the device themselves, and every sample.
"""

from __future__ import annotations

import ctypes
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from gpu_ops.devices.kernel_source import source_hash
from gpu_ops.errors import PinnedMemoryError
from gpu_ops.io.memory import empty
from gpu_ops.plan import Call, Copy, Device, DeviceArray, HostTask, Plan
from gpu_ops.run_key import hash_of_edits, items_of
from gpu_ops.running.verify import forget_input, same_bytes
from gpu_ops.task import Task
from gpu_ops.types import REFERENCE, Experiment, Filter, Input, Pick, Run, Variant

Array = np.ndarray[Any, Any]
MOST_KEPT = 8
"""The most plans that are kept; the least recently used is dropped."""
MOST_BYTES = 16 << 20
"""The most bytes of the input, and of the outputs, of a plan that is kept: beyond, copies take most of a run's time."""
LENT = 2
"""How many results of a plan may be pinned memory at a time: a caller has one, and drops it as the next one comes."""
LENT_BYTES = 4 << 20
"""The most bytes of such results. Larger ones are copied from pinned memory, of which there is little."""
_kept: OrderedDict[Hashable, KeptPlan] = OrderedDict()


@dataclass(eq=False)
class _Target:
    """What a GPU executes, and the pinned memory that this fills. `lent` are watched: the arrays that callers have."""

    ready: Any
    results: dict[str, Array]
    lent: list[weakref.ref[Any]] = field(default_factory=list)

    @property
    def free(self) -> bool:
        return all(buffer() is None for buffer in self.lent)

    def lend(self) -> dict[str, Array]:
        """Arrays over the pinned memory, for a caller."""
        arrays, self.lent = {}, []
        for name, result in self.results.items():
            # Every view of the array keeps this buffer alive, but not the array itself.
            buffer: Any = (ctypes.c_byte * max(result.nbytes, 1)).from_address(result.ctypes.data)
            buffer.memory = result
            self.lent.append(weakref.ref(buffer))
            arrays[name] = np.frombuffer(buffer, result.dtype, result.size).reshape(result.shape)
        return arrays


class Repeats:
    """A plan that runs again and again. A run sets all bits of the outputs first and copies them last, so that the host
    waits once. Raises PinnedMemoryError."""

    def __init__(self, session: Device, plan: Plan) -> None:
        self._session, self._plan = session, plan
        self._most = LENT if sum(out.nbytes for out in plan.outputs.values()) <= LENT_BYTES else 0
        self._own = self._target()
        self._targets: list[_Target] = []

    @staticmethod
    def takes(session: Device, plan: Plan) -> bool:
        """Whether it is a plan for a GPU, with one stream and outputs without gaps."""
        alone = not any(step.stream or isinstance(step, HostTask) for step in plan.steps)
        return session.kind == "cuda" and alone and all(out.flags.c_contiguous for out in plan.outputs.values())

    def run(self) -> dict[str, Array]:
        """The outputs of one more run, which belong to the caller."""
        target = self._free_target()
        self._session.execute(target.ready)
        return target.lend() if target is not self._own else {n: _copied(a) for n, a in target.results.items()}

    def _free_target(self) -> _Target:
        """Memory that no caller has, or this plan's own where callers have all that there may be."""
        for target in self._targets:
            if target.free:
                return target
        if len(self._targets) < self._most:
            with suppress(PinnedMemoryError):
                self._targets.append(self._target())
                return self._targets[-1]
        return self._own

    def _target(self) -> _Target:
        session, outputs = self._session, self._plan.outputs
        results = {name: session.allocate("pinned", out.shape, out.dtype) for name, out in outputs.items()}
        first = [Call(session.fill, (as_bytes(out), 0xFF)) for out in outputs.values()]
        last = [Copy(results[name], out) for name, out in outputs.items()]
        plan = replace(self._plan, steps=(*first, *self._plan.steps, *last), outputs=results)
        return _Target(cast(Any, session).prepare(plan), results)


def as_bytes(array: DeviceArray) -> DeviceArray:
    """The bytes of an array; of pitched rows those in the rows alone."""
    return (array.reshape(-1) if array.flags.c_contiguous else array).view(np.uint8)


def _copied(array: Array) -> Array:
    """A copy of a result, in memory of `io.memory.allocating`."""
    copy = empty(array.shape, array.dtype)[0]
    np.copyto(copy, array)
    return copy


@dataclass(frozen=True, eq=False)
class KeptPlan:
    """A plan with the memory `x` of its input, and what it belongs to. `planned` is its run before it began, `ready`
    what a GPU executes of the plan, unless it has `repeats`; `samples` is a copy of the input, and `run` the run that
    was verified, with outputs that nobody else has, or without any where nothing is verified."""

    filter: Filter
    variant: Variant
    device: Device
    planned: Run
    input: weakref.ref[Input]
    samples: Array
    session: Device
    task: Task
    plan: Plan
    ready: Any
    repeats: Repeats | None
    x: DeviceArray
    run: Run

    def verdict_on(self, run: Run) -> Run | None:
        """The run with the verdict of the kept one, if all outputs have the same bits; else None."""
        kept = self.run
        if kept.outputs.keys() != run.outputs.keys():
            return None
        if not all(same_bytes(kept.outputs[name], array) for name, array in run.outputs.items()):
            return None
        return replace(run, stage="verified", errors=kept.errors, ok=kept.ok, notes=kept.notes, findings=kept.findings)


def key_of(experiment: Experiment, pick: Pick, again: bool) -> Hashable:
    """The key of the plan for a pick of an experiment that nobody has checked; None where none is kept. 5 and 5.0 are
    two values here, of which only one may be allowed."""
    input = experiment.input
    live = experiment.protocol == "none" and experiment.memory is None and pick.variant != REFERENCE
    if not live or input.array.nbytes > MOST_BYTES or pick.device.startswith("sim"):
        return None
    values = repr((experiment.filter, *map(items_of, (experiment.params, pick.params, pick.knobs))))
    about = input.meta, input.axes, input.facts
    return values, pick.variant, pick.device, hash_of_edits(pick.edits), about, experiment.checks, again


def code_of(variant: Variant, edits: Mapping[str, str]) -> str:
    """A hash of the kernels of a variant, as their files and the edits are now."""
    return "-".join(source_hash(kernel, edits) for kernel in variant.kernels)


def take(key: Hashable, input: Input, owners: Callable[[], tuple[Filter, Device]]) -> KeptPlan | None:
    """Take out the plan of that key for the same samples, while its kernels, filter and device are the same. `owners`
    gives the present filter and device."""
    found = _kept.pop(key, None) if key is not None else None
    if found is None:
        return None
    filter, device = owners()
    if found.filter is not filter or found.device is not device:
        return None
    if found.planned.source_hash != code_of(found.variant, found.planned.pick.edits):
        return None
    if same_bytes(found.samples, input.array):
        return found
    if found.input() is input:  # its samples were changed in place
        forget_input(input)
    return None


def keep(key: Hashable, plan: KeptPlan) -> None:
    """Keep a new plan, or put one back."""
    _kept[key] = plan
    while len(_kept) > MOST_KEPT:
        _kept.popitem(last=False)


def forget() -> None:
    """Release the memory of all plans."""
    _kept.clear()
