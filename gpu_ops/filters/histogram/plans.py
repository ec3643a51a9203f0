"""Plans of histograms: the steps of each variant, and the memory that they allocate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_ops.devices.launches import grid1d
from gpu_ops.filters.histogram.bins import Bins, bins_of, counts_form, outside_form, statistics_form
from gpu_ops.filters.histogram.figures import statistics
from gpu_ops.filters.kit.planning import CTYPES, HostFunction, Job
from gpu_ops.plan import Call, Device, DeviceArray, Fill, Launch, Plan, Step
from gpu_ops.task import Task

THREADS = 256
"""Threads of the blocks that work on counts."""


@dataclass(frozen=True)
class Outputs:
    """The arrays of the outputs that a task asks for; None for those that it does not."""

    counts: DeviceArray
    outside: DeviceArray
    statistics: DeviceArray | None
    equalised: DeviceArray | None

    @classmethod
    def on(cls, device: Device, task: Task) -> Outputs:
        """Memory for them."""
        forms, wanted = (counts_form(task), outside_form(task), statistics_form(task)), task.params["result"]
        counts, outside, figures = (device.empty(form.shape, np.dtype(form.dtype)) for form in forms)
        equalised = device.empty(task.x.shape, task.dtype) if wanted == "equalised" else None
        return cls(counts, outside, figures if wanted != "counts" else None, equalised)

    def plan(self, *steps: Step) -> Plan:
        """A plan that gives them."""
        return Plan(steps, {name: array for name, array in vars(self).items() if array is not None})


# On the CPU.


def host(count: Callable[[], tuple[HostFunction, HostFunction]]) -> Callable[[Device, Task], Plan]:
    """The plan of compiled loops: one that counts, and one that equalises."""

    def plan(device: Device, task: Task) -> Plan:
        counting, equalising = count()
        out, bins = Outputs.on(device, task), bins_of(task)
        steps = [Call(counting, (task.x, out.counts, out.outside, bins), name="count"), *_figures(out, bins)]
        if out.equalised is not None:
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


def serial() -> tuple[HostFunction, HostFunction]:
    from gpu_ops.filters.histogram.host import count_serial, equalise_serial

    return count_serial, equalise_serial


def parallel() -> tuple[HostFunction, HostFunction]:
    from gpu_ops.filters.histogram.host import count_parallel, equalise_parallel

    return count_parallel, equalise_parallel


# On a GPU.


class Kernels:
    """The shared part of the kernels' plans: outputs, bounds on the device, arguments, and the steps after counting."""

    def __init__(self, job: Job) -> None:
        self.job, self.bins = job, bins_of(job.task)
        self.out = Outputs.on(job.device, job.task)
        self.bounds = job.device.upload(self.bins.bounds)
        real: Any = np.float64 if job.dtype == np.float64 else np.float32
        self.search = np.int32(self.bins.count), real(self.bins.low), real(self.bins.scale)
        self.pixels = job.x.size // self.bins.step

    @property
    def sizes(self) -> tuple[Any, ...]:
        """Pixels, values of a pixel, those that are counted, and whether as their luminance."""
        bins = self.bins
        return np.int64(self.pixels), np.int32(bins.step), np.int32(bins.colours), np.int32(bins.grey)

    def kernel(self, name: str = "") -> Any:
        """A kernel of the variant's file: its own, or one of those that work on counts."""
        name, dtype = name or f"histogram_{self.job.variant}", self.job.dtype
        defines: Mapping[str, Any] = {
            "SAMPLE": CTYPES[dtype.name],
            "INTEGER": int(dtype.kind == "u"),
            "REAL": "double" if dtype == np.float64 else "float",
        }
        return self.job.device.kernel(self.job.file, name, defines)

    def plan(self, count: Launch) -> Plan:
        """Counting into zeroed counts, and what the task asks for beside them."""
        steps: list[Step] = [Fill(self.out.counts, 0, "zero counts"), Fill(self.out.outside, 0, "zero outside"), count]
        if self.out.statistics is not None:
            steps += self._after()
        return self.out.plan(*steps)

    def _after(self) -> list[Step]:
        job, bins, out = self.job, self.bins, self.out
        counts, block = np.int32(bins.count), (THREADS, 1, 1)
        each, sums = (bins.histograms, 1, 1), job.device.empty((bins.histograms, bins.count), np.uint32)
        first = job.device.empty((bins.histograms,), np.uint32)
        middles = job.device.upload(bins.middles)
        prefix = Launch(
            self.kernel("histogram_prefix"), each, block, (out.counts, sums, first, counts), name="running counts"
        )
        args = (out.counts, sums, middles, out.statistics, counts, np.float64(bins.size))
        steps: list[Step] = [prefix, Launch(self.kernel("histogram_statistics"), each, block, args, name="statistics")]
        if out.equalised is None:
            return steps
        new = job.device.empty((bins.histograms, bins.count), job.dtype)
        low, top = (np.float64(end) for end in bins.ends)
        grid = grid1d(bins.histograms * bins.count, THREADS)
        table = Launch(
            self.kernel("histogram_table"),
            grid,
            block,
            (sums, first, new, np.int32(bins.histograms), counts, low, top),
            name="table",
        )
        most = np.int32(np.iinfo(job.dtype).max if job.dtype.kind == "u" else 0)
        lookup = Launch(
            self.kernel("histogram_equalise"),
            grid1d(self.pixels, THREADS),
            block,
            (job.x, out.equalised, new, sums, first, self.bounds, *self.sizes, *self.search, most),
            name="equalise",
        )
        return [*steps, table, lookup]


def atomics(job: Job) -> Plan:
    """A thread a pixel, which adds to the counts in global memory."""
    made, block = Kernels(job), job.knobs["block"]
    args = (job.x, made.out.counts, made.out.outside, made.bounds, *made.sizes, *made.search)
    return made.plan(Launch(made.kernel(), grid1d(made.pixels, block), (block, 1, 1), args, name="count"))


def own_counts(job: Job) -> Plan:
    """A block counts in shared memory and adds its counts to those in global memory."""
    made, block, each = Kernels(job), job.knobs["block"], job.knobs["pixels"]
    args = (job.x, made.out.counts, made.out.outside, made.bounds, *made.sizes, np.int32(each), *made.search)
    grid, shared = grid1d(made.pixels, block * each), shared_bytes(job.task)
    return made.plan(Launch(made.kernel(), grid, (block, 1, 1), args, shared, name="count"))


def shared_bytes(task: Task) -> int:
    """Bytes of a block's bounds and counts."""
    counts = int(np.prod(counts_form(task).shape)) + int(np.prod(outside_form(task).shape))
    width = 8 if task.meta.dtype == "float64" else 4
    return -(-int(task.params["bins"] + 1) * width // 8) * 8 + 4 * counts
