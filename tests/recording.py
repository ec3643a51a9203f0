"""A device that plans and compiles nothing: its kernels know their name and the file that they would come from."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from gpu_ops.devices.offline import OfflineDevice
from gpu_ops.plan import Launch, Plan
from gpu_ops.running.contract import Case, task_of
from gpu_ops.types import Filter, Variant


class Recording(OfflineDevice):
    """It plans and compiles nothing."""

    def kernel(self, source: str, name: str, defines: Any = None) -> Any:
        return SimpleNamespace(name=name, compiled=SimpleNamespace(source=source))


def plan_of(filter: Filter, variant: Variant, case: Case, device: OfflineDevice) -> Plan:
    """The plan of a case of the contract."""
    x = device.empty(case.shape, np.dtype(case.dtype))
    return variant.plan(device, task_of(filter, case, device.limits).on(x))


def sources(plan: Plan) -> set[str]:
    """The kernel files of its launches."""
    return {step.kernel.compiled.source for step in plan.steps if isinstance(step, Launch)}
