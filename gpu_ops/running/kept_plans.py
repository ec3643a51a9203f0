"""Plans that live runs keep, so that the next run of an unchanged pick only computes, copies and compares.

A run takes a plan out, so that no two runs share its memory, and puts it back at its end. Everything that the plan
depends on is in the key, or is compared: the filter, the variant and the device themselves, and every sample.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpu_ops.devices.kernel_source import source_hash
from gpu_ops.plan import Device, DeviceArray, Plan
from gpu_ops.run_key import hash_of_edits, items_of
from gpu_ops.running.repeats import Repeats
from gpu_ops.running.verify import forget_input, same_bytes
from gpu_ops.task import Task
from gpu_ops.types import REFERENCE, Experiment, Filter, Input, Pick, Run, Variant

MOST_KEPT = 8
"""The most plans that are kept; the least recently used is dropped."""
MOST_BYTES = 16 << 20
"""The most bytes of the input, and of the outputs, of a plan that is kept: beyond, copies take most of a run's time."""
_kept: OrderedDict[Hashable, KeptPlan] = OrderedDict()


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
    samples: np.ndarray[Any, Any]
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
