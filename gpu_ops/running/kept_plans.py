"""Plans that live runs keep, so that the next run of an unchanged pick only computes, copies and compares.

A run takes a plan out, so that no two runs share its memory, and puts it back at its end. Everything that the plan
depends on is in the key, or is compared: the filter, the variant and the device themselves, and every sample.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpu_ops.plan import Device, DeviceArray, Plan
from gpu_ops.running.verify import forget_input, same_bytes
from gpu_ops.task import Task
from gpu_ops.types import REFERENCE, Experiment, Filter, Input, Run, Variant

MOST_KEPT = 8
"""The most plans that are kept; the least recently used is dropped."""
MOST_BYTES = 16 << 20
"""The most bytes of the input, and of the outputs, of a plan that is kept: beyond, copies take most of a run's time."""
_kept: OrderedDict[Hashable, KeptPlan] = OrderedDict()


@dataclass(frozen=True, eq=False)
class KeptPlan:
    """A plan with the memory `x` of its input, and what it belongs to; `ready` is what a GPU executes of it: `samples` is a copy of the input, `run` the run
    that was verified, with outputs that nobody else has; without any where nothing is verified."""

    owners: tuple[Filter, Variant, Device]
    input: weakref.ref[Input]
    samples: np.ndarray[Any, Any]
    session: Device
    task: Task
    plan: Plan
    ready: Any
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


def key_of(experiment: Experiment, run: Run, again: bool) -> Hashable:
    """The key of the plan for a run that has not begun; None where none is kept."""
    input = experiment.input
    live = experiment.protocol == "none" and experiment.memory is None and run.pick.variant != REFERENCE
    if not live or input.array.nbytes > MOST_BYTES or run.pick.device.startswith("sim"):
        return None
    about = input.meta, input.axes, input.facts
    return run.key, run.source_hash, about, experiment.checks, again


def take(key: Hashable, input: Input, owners: tuple[Filter, Variant, Device]) -> KeptPlan | None:
    """Take out the plan of that key for the same samples."""
    found = _kept.pop(key, None) if key is not None else None
    if found is None or any(a is not b for a, b in zip(found.owners, owners, strict=True)):
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
