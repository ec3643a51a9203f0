"""Plans of the mean filter's first kernels and of cupyx: their steps, and the memory that they allocate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpu_ops.devices.launches import grid1d, grid2d
from gpu_ops.filters.kit.borders import SCIPY_MODES
from gpu_ops.filters.kit.planning import CTYPES, HostFunction, Job, along_axes, block_shape, rounding
from gpu_ops.filters.kit.support import blocks_fit
from gpu_ops.params import Value
from gpu_ops.plan import Device, Launch, Plan
from gpu_ops.task import Task


def defines(job: Job) -> dict[str, Value]:
    """The defines of all mean kernels."""
    integer = job.dtype.kind == "u"
    return {
        "SAMPLE": CTYPES[job.dtype.name],
        "ACCUMULATOR": "unsigned int" if integer else CTYPES[job.dtype.name],
        "INTEGER": int(integer),
        "BORDER": job.border,
        "CHANNELS": job.channels,
    }


def taps(dtype: np.dtype[Any], count: int) -> np.ndarray[Any, Any]:
    """`count` equal taps: 1/count, or 1 for integers, whose sum is divided exactly at the end."""
    return np.ones(count, np.uint32) if dtype.kind == "u" else np.full(count, 1 / count, dtype)


def signal(in_constant: bool, tile: Callable[[Task], int] = lambda task: 0) -> Callable[[Job], Plan]:
    """The plan of a kernel for signals: its taps are in constant or in global memory, its tile takes so many bytes."""

    def plan(job: Job) -> Plan:
        block, window = job.knobs["block"], job.params["window"]
        grid = grid1d(job.length * job.channels, block * job.knobs["outputs"])
        launch = _launch(job, grid, (block, 1, 1), window, (np.int64(job.length),), in_constant, tile(job.task))
        return job.plan(launch)

    return plan


def image(in_constant: bool, tile: Callable[[Task], int] = lambda task: 0) -> Callable[[Job], Plan]:
    """The same for images."""

    def plan(job: Job) -> Plan:
        (x, y), window = block_shape(job.knobs["block"]), job.params["window"]
        grid, sizes = grid2d(job.height, job.columns, (x, y * job.knobs["outputs"])), (job.height, job.width)
        args = tuple(np.int32(n) for n in sizes)
        return job.plan(_launch(job, grid, (x, y, 1), window * window, args, in_constant, tile(job.task)))

    return plan


def _launch(
    job: Job,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    count: int,
    sizes: tuple[Any, ...],
    in_constant: bool,
    shared: int,
) -> Launch:
    kernel, weights = job.kernel(**defines(job), OUTPUTS=job.knobs["outputs"]), taps(job.dtype, count)
    buffers = (job.x, job.out) if in_constant else (job.x, job.out, job.device.upload(weights))
    args = (*buffers, *sizes, np.int32(job.params["window"]))
    return Launch(kernel, grid, block, args, shared, {"taps": weights} if in_constant else {}, name=job.variant)


def tile1d(task: Task) -> int:
    """Bytes of a block's samples with their halo."""
    per_block = task.knobs["block"] * task.knobs["outputs"]
    return int((per_block + (task.params["window"] - 1) * task.meta.channels) * task.meta.itemsize)


def tile2d(task: Task) -> int:
    """Bytes of a block's pixels with their halo."""
    (x, y), reach = block_shape(task.knobs["block"]), task.params["window"] - 1
    return int((y * task.knobs["outputs"] + reach) * (x + reach * task.meta.channels) * task.meta.itemsize)


rows_fit = blocks_fit(
    lambda task: block_shape(task.knobs["block"])[1] * task.knobs["outputs"], "a larger block or more outputs a thread"
)


def cupyx(device: Device, task: Task) -> Plan:
    """cupyx's separable correlation; integers go through exact sums and a rounding kernel, whose cost is counted."""
    ndimage, x, kind = device.library("cupyx.scipy.ndimage"), task.x, task.meta.kind
    window, mode, axes = task.params["window"], SCIPY_MODES[task.params["border"]], task.meta.of_kind.rank
    out = device.empty(x.shape, x.dtype)
    if x.dtype.kind == "f":
        targets = [*(device.empty(x.shape, x.dtype) for _ in range(axes - 1)), out]
        return Plan(tuple(along_axes(ndimage.uniform_filter1d, x, window, targets, mode)), {kind: out})
    targets = [device.empty(x.shape, np.uint32) for _ in range(axes)]
    ones = device.upload(np.ones(window, np.uint32))
    steps = along_axes(ndimage.correlate1d, x, ones, targets, mode)
    return Plan((*steps, rounding(device, "round_half_up", targets[-1], window**axes, out)), {kind: out})


def serial1d() -> HostFunction:
    from gpu_ops.filters.mean.host import mean1d_serial

    return mean1d_serial


def parallel1d() -> HostFunction:
    from gpu_ops.filters.mean.host import mean1d_parallel

    return mean1d_parallel


def serial2d() -> HostFunction:
    from gpu_ops.filters.mean.host import mean2d_serial

    return mean2d_serial


def parallel2d() -> HostFunction:
    from gpu_ops.filters.mean.host import mean2d_parallel

    return mean2d_parallel


def arguments(task: Task) -> tuple[Any, ...]:
    """The arguments of host functions and peers after the arrays."""
    return task.params["window"], task.params["border"]
