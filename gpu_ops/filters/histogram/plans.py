"""Plans of histograms on the CPU, and the outputs of all plans."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpu_ops.filters.histogram.bins import Bins, bins_of, counts_form, outside_form, statistics_form
from gpu_ops.filters.histogram.figures import statistics
from gpu_ops.filters.kit.planning import HostFunction
from gpu_ops.plan import Call, Device, DeviceArray, Plan, Step
from gpu_ops.task import Task


@dataclass(frozen=True)
class Outputs:
    """The arrays of the requested outputs; None for the others."""

    counts: DeviceArray
    outside: DeviceArray
    statistics: DeviceArray | None
    equalised: DeviceArray | None

    @classmethod
    def on(cls, device: Device, task: Task) -> Outputs:
        """Allocate them."""
        forms, wanted = (counts_form(task), outside_form(task), statistics_form(task)), task.params["result"]
        counts, outside, figures = (device.empty(form.shape, np.dtype(form.dtype)) for form in forms)
        equalised = device.empty(task.x.shape, task.dtype) if wanted == "equalised" else None
        return cls(counts, outside, figures if wanted != "counts" else None, equalised)

    def plan(self, *steps: Step) -> Plan:
        """A plan with these outputs."""
        return Plan(steps, {name: array for name, array in vars(self).items() if array is not None})


def host(all_cores: bool) -> Callable[[Device, Task], Plan]:
    """The plan of compiled loops: one that counts, and one that equalises."""

    def plan(device: Device, task: Task) -> Plan:
        from gpu_ops.filters.histogram import host

        counting = host.count_parallel if all_cores else host.count_serial
        out, bins = Outputs.on(device, task), bins_of(task)
        steps = [Call(counting, (task.x, out.counts, out.outside, bins), name="count"), *_figures(out, bins)]
        if out.equalised is not None:
            equalising = host.equalise_parallel if all_cores else host.equalise_serial
            steps.append(Call(equalising, (task.x, out.equalised, out.counts, bins), name="equalise"))
        return out.plan(*steps)

    return plan


def library(module: str, count: HostFunction) -> Callable[[Device, Task], Plan]:
    """The plan of a library: `count` is called with (module, x, counts, outside, bins)."""

    def plan(device: Device, task: Task) -> Plan:
        out, bins = Outputs.on(device, task), bins_of(task)
        args = (device.library(module), task.x, out.counts, out.outside, bins)
        return out.plan(Call(count, args, name="count"), *_figures(out, bins))

    return plan


def _figures(out: Outputs, bins: Bins) -> list[Step]:
    if out.statistics is None:
        return []
    return [Call(statistics, (out.counts, out.statistics, bins), name="statistics")]
