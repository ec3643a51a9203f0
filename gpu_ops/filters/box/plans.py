"""Plans of the box filter: the steps of each variant, and the memory that it allocates."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from gpu_ops.devices.launches import grid1d, grid2d
from gpu_ops.filters.box import marching
from gpu_ops.filters.box.limits import tile_bytes, window_of
from gpu_ops.filters.kit.borders import SCIPY_MODES
from gpu_ops.filters.kit.planning import (
    CTYPES,
    NO_LOOPS,
    HostFunction,
    Job,
    along_axes,
    block_shape,
    rounding,
    tile_loops,
)
from gpu_ops.params import Value
from gpu_ops.plan import Call, Copy, Device, DeviceArray, Launch, Plan
from gpu_ops.task import Task

TILE = 32
"""Rows of a block of the transposing variant; its kernel says the same."""


def defines(job: Job, float_sums: str) -> dict[str, Value]:
    """The defines of the box kernels. 513² values of 8 bits stay below 2^32, of 16 bits they do not."""
    integer = job.dtype.kind == "u"
    exact = "unsigned int" if job.dtype.itemsize == 1 else "unsigned long long"
    return {
        "SAMPLE": CTYPES[job.dtype.name],
        "ROW": "unsigned int" if integer else "float",
        "SUM": exact if integer else float_sums,
        "INTEGER": int(integer),
        "BORDER": job.border,
        "CHANNELS": job.channels,
    }


class Launches:
    """The launches of a job; `sums` is the C type in which floats are summed along the columns."""

    def __init__(self, job: Job, sums: str) -> None:
        self.job, self.block, self._defines = job, int(job.knobs["block"]), defines(job, sums)
        self.sizes = tuple(np.int32(n) for n in (job.height, job.width, job.params["radius"]))

    def row_sums(self) -> DeviceArray:
        """Memory for the row sums of the first pass."""
        return self.job.empty(np.float32 if self.job.dtype.kind == "f" else np.uint32)

    def plane(self, part: str, *arrays: DeviceArray, name: str, shared: int = 0) -> Launch:
        """A thread for each value of the image; with so many bytes for a tile."""
        block, job = block_shape(self.block), self.job
        grid = grid2d(job.height, job.columns, block)
        loops = tile_loops(job, *block, block[1], int(job.params["radius"])) if shared else {}
        return self._launch(part, grid, (*block, 1), arrays, name, shared, loops)

    def lines(self, part: str, count: int, *arrays: DeviceArray, name: str) -> Launch:
        """A thread for each of `count` lines."""
        return self._launch(part, grid1d(count, self.block), (self.block, 1, 1), arrays, name)

    def row_tiles(self, part: str, *arrays: DeviceArray, name: str) -> Launch:
        """A block for each TILE rows of a channel."""
        grid = (grid1d(self.job.height, TILE)[0], self.job.channels, 1)
        before = -(-(2 * int(self.job.params["radius"]) + 1) // TILE)
        loops = {"tiles along a row": -(-self.job.width // TILE), "tiles of the first window": before}
        return self._launch(part, grid, (self.block, 1, 1), arrays, name, 0, loops)

    def _launch(
        self,
        part: str,
        grid: Any,
        block: Any,
        arrays: Any,
        name: str,
        shared: int = 0,
        loops: Mapping[str, int] = NO_LOOPS,
    ) -> Launch:
        kernel = self.job.kernel(part, **self._defines)
        return Launch(kernel, grid, block, (*arrays, *self.sizes), shared, name=name, loops=loops)


def direct(job: Job) -> Plan:
    return job.plan(Launches(job, "float").plane("", job.x, job.out, name="direct"))


def separable(job: Job) -> Plan:
    launch = Launches(job, "float")
    rows = launch.row_sums()
    return job.plan(
        launch.plane("_rows", job.x, rows, name="along the rows"),
        launch.plane("_columns", rows, job.out, name="along the columns"),
    )


def sliding(job: Job) -> Plan:
    launch = Launches(job, "double")
    rows = launch.row_sums()
    return job.plan(
        launch.lines("_rows", job.height * job.channels, job.x, rows, name="along the rows"),
        launch.lines("_columns", job.columns, rows, job.out, name="along the columns"),
    )


def sliding_texture(job: Job) -> Plan:
    launch = Launches(job, "double")
    rows, flat = launch.row_sums(), job.x.reshape((job.height, job.columns))
    texture = job.device.texture(flat)
    return job.plan(
        Copy(texture, flat, name="into the texture"),
        launch.lines("_rows", job.height * job.channels, texture, rows, name="along the rows"),
        launch.lines("_columns", job.columns, rows, job.out, name="along the columns"),
    )


def sliding_transpose(job: Job) -> Plan:
    launch = Launches(job, "double")
    rows = launch.row_sums()
    return job.plan(
        launch.row_tiles("_rows", job.x, rows, name="along the rows"),
        launch.lines("_columns", job.columns, rows, job.out, name="along the columns"),
    )


def table(job: Job) -> Plan:
    launch, around = Launches(job, "float"), 2 * int(job.params["radius"])
    lines, columns = (job.height + around) * job.channels, (job.width + around) * job.channels
    sums = job.device.empty((job.height + around, columns), np.float64)
    return job.plan(
        launch.lines("_rows", lines, job.x, sums, name="sums along the rows"),
        launch.lines("_columns", columns, sums, name="sums along the columns"),
        launch.plane("_squares", sums, job.out, name="squares"),
    )


def separable_fused(job: Job) -> Plan:
    shared = tile_bytes(job.task)
    return job.plan(Launches(job, "float").plane("", job.x, job.out, name="both passes", shared=shared))


ring = partial(marching.plan, "float")
double = partial(marching.plan, "double")


def cupyx(device: Device, task: Task) -> Plan:
    """cupyx's separable correlation; integers go through exact sums and a rounding kernel, whose cost is counted."""
    ndimage, x = device.library("cupyx.scipy.ndimage"), task.x
    window, mode = window_of(task), SCIPY_MODES[task.params["border"]]
    out = device.empty(x.shape, x.dtype)
    if x.dtype.kind == "f":
        targets = [device.empty(x.shape, x.dtype), out]
        return Plan(tuple(along_axes(ndimage.uniform_filter1d, x, window, targets, mode)), {"image": out})
    # It sums with whole weights in float64. Sums of 16-bit rows stay below 2^32, of squares they do not.
    last = np.uint32 if x.dtype.itemsize == 1 else np.float64
    targets = [device.empty(x.shape, np.uint32), device.empty(x.shape, last)]
    steps = along_axes(ndimage.correlate1d, x, device.upload(np.ones(window, np.uint32)), targets, mode)
    last_step = rounding(device, "box_round_half_up", targets[-1], window**2, out, "(unsigned long long)")
    return Plan((*steps, last_step), {"image": out})


def cucim(device: Device, task: Task) -> Plan:
    """cuCIM's local mean, two separable correlations; it returns its own memory, and the copy out of it is counted."""
    filters, cupy, x = device.library("cucim.skimage.filters"), device.library("cupy"), task.x
    out = device.empty(x.shape, x.dtype)

    def local_mean(window: int, mode: str) -> None:
        cupy.copyto(out, filters.threshold_local(x, window, method="mean", mode=mode))

    call = Call(local_mean, (window_of(task), SCIPY_MODES[task.params["border"]]), name="local mean")
    return Plan((call,), {"image": out})


def loops(all_cores: bool) -> HostFunction:
    from gpu_ops.filters.box import host

    return host.parallel if all_cores else host.serial


def arguments(task: Task) -> tuple[Any, ...]:
    """The arguments of host functions and peers after the arrays."""
    return task.params["radius"], task.params["border"]
