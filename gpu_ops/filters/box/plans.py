"""Plans of the box filter: the steps of each variant, and the memory that it allocates."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from gpu_ops.devices.launches import grid1d, grid2d
from gpu_ops.filters.box.limits import tile_bytes, window_of
from gpu_ops.filters.kit import columns_first, marching
from gpu_ops.filters.kit.borders import SCIPY_MODES
from gpu_ops.filters.kit.library_calls import averaged
from gpu_ops.filters.kit.planning import (
    CTYPES,
    NO_LOOPS,
    HostFunction,
    PlanContext,
    along_axes,
    block_shape,
    rounding,
    tile_loops,
)
from gpu_ops.params import Value
from gpu_ops.plan import Call, Copy, Device, DeviceArray, Launch, Plan
from gpu_ops.task import Task

TILE = 32
"""Rows of a block of the transposing variant; the same constant is in its kernel."""


def defines(ctx: PlanContext, float_sums: str) -> dict[str, Value]:
    """The defines of the box kernels. Sums of 513² 8-bit values stay below 2^32, those of 16-bit values do not."""
    integer = ctx.dtype.kind == "u"
    exact = "unsigned int" if ctx.dtype.itemsize == 1 else "unsigned long long"
    return {
        "SAMPLE": CTYPES[ctx.dtype.name],
        "ROW": "unsigned int" if integer else "float",
        "SUM": exact if integer else float_sums,
        "INTEGER": int(integer),
        "BORDER": ctx.border,
        "CHANNELS": ctx.channels,
    }


class Launches:
    """The launches of a job; `sums` is the C type in which floats are summed along the columns."""

    def __init__(self, ctx: PlanContext, sums: str) -> None:
        self.ctx, self.block, self._defines = ctx, int(ctx.knobs["block"]), defines(ctx, sums)
        self.sizes = tuple(np.int32(n) for n in (ctx.height, ctx.width, ctx.params["radius"]))

    def row_sums(self) -> DeviceArray:
        """Memory for the row sums of the first pass."""
        return self.ctx.empty(np.float32 if self.ctx.dtype.kind == "f" else np.uint32)

    def plane(self, part: str, *arrays: DeviceArray, name: str, shared: int = 0) -> Launch:
        """One thread per value of the image, with this number of bytes for a tile."""
        block, ctx = block_shape(self.block), self.ctx
        grid = grid2d(ctx.height, ctx.columns, block)
        loops = tile_loops(ctx, *block, block[1], int(ctx.params["radius"])) if shared else {}
        return self._launch(part, grid, (*block, 1), arrays, name, shared, loops)

    def lines(self, part: str, count: int, *arrays: DeviceArray, name: str) -> Launch:
        """One thread per line, of `count` lines."""
        return self._launch(part, grid1d(count, self.block), (self.block, 1, 1), arrays, name)

    def row_tiles(self, part: str, *arrays: DeviceArray, name: str) -> Launch:
        """One block per TILE rows of a channel."""
        grid = (grid1d(self.ctx.height, TILE)[0], self.ctx.channels, 1)
        before = -(-(2 * int(self.ctx.params["radius"]) + 1) // TILE)
        loops = {"tiles along a row": -(-self.ctx.width // TILE), "tiles of the first window": before}
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
        kernel = self.ctx.kernel(part, **self._defines)
        return Launch(kernel, grid, block, (*arrays, *self.sizes), shared, name=name, loops=loops)


def direct(ctx: PlanContext) -> Plan:
    return ctx.plan(Launches(ctx, "float").plane("", ctx.x, ctx.out, name="direct"))


def separable(ctx: PlanContext) -> Plan:
    launch = Launches(ctx, "float")
    rows = launch.row_sums()
    return ctx.plan(
        launch.plane("_rows", ctx.x, rows, name="along the rows"),
        launch.plane("_columns", rows, ctx.out, name="along the columns"),
    )


def sliding(ctx: PlanContext) -> Plan:
    launch = Launches(ctx, "double")
    rows = launch.row_sums()
    return ctx.plan(
        launch.lines("_rows", ctx.height * ctx.channels, ctx.x, rows, name="along the rows"),
        launch.lines("_columns", ctx.columns, rows, ctx.out, name="along the columns"),
    )


def sliding_texture(ctx: PlanContext) -> Plan:
    launch = Launches(ctx, "double")
    rows, flat = launch.row_sums(), ctx.x.reshape((ctx.height, ctx.columns))
    texture = ctx.device.texture(flat)
    return ctx.plan(
        Copy(texture, flat, name="into the texture"),
        launch.lines("_rows", ctx.height * ctx.channels, texture, rows, name="along the rows"),
        launch.lines("_columns", ctx.columns, rows, ctx.out, name="along the columns"),
    )


def sliding_transpose(ctx: PlanContext) -> Plan:
    launch = Launches(ctx, "double")
    rows = launch.row_sums()
    return ctx.plan(
        launch.row_tiles("_rows", ctx.x, rows, name="along the rows"),
        launch.lines("_columns", ctx.columns, rows, ctx.out, name="along the columns"),
    )


def table(ctx: PlanContext) -> Plan:
    launch, around = Launches(ctx, "float"), 2 * int(ctx.params["radius"])
    lines, columns = (ctx.height + around) * ctx.channels, (ctx.width + around) * ctx.channels
    sums = ctx.device.empty((ctx.height + around, columns), np.float64)
    return ctx.plan(
        launch.lines("_rows", lines, ctx.x, sums, name="sums along the rows"),
        launch.lines("_columns", columns, sums, name="sums along the columns"),
        launch.plane("_squares", sums, ctx.out, name="squares"),
    )


def separable_fused(ctx: PlanContext) -> Plan:
    shared = tile_bytes(ctx.task)
    return ctx.plan(Launches(ctx, "float").plane("", ctx.x, ctx.out, name="both passes", shared=shared))


def _in_one_pass(form: marching.Form, ctx: PlanContext) -> Plan:
    return marching.plan(form, ctx, int(ctx.params["radius"]))


ring = partial(_in_one_pass, "pixels")
double = partial(_in_one_pass, "double")


def columns(ctx: PlanContext) -> Plan:
    return columns_first.plan(ctx, int(ctx.params["radius"]))


def cupyx(device: Device, task: Task) -> Plan:
    """cupyx's separable correlation; integers are summed exactly and rounded by a further kernel, whose cost is
    included."""
    ndimage, x = device.library("cupyx.scipy.ndimage"), task.x
    window, mode = window_of(task), SCIPY_MODES[task.params["border"]]
    out = device.empty(x.shape, x.dtype)
    if x.dtype.kind == "f":
        targets = [device.empty(x.shape, x.dtype), out]
        return Plan(tuple(along_axes(ndimage.uniform_filter1d, x, window, targets, mode)), {"image": out})
    # It sums with integer weights in float64. Sums of 16-bit rows stay below 2^32, those of squares do not.
    last = np.uint32 if x.dtype.itemsize == 1 else np.float64
    targets = [device.empty(x.shape, np.uint32), device.empty(x.shape, last)]
    steps = along_axes(ndimage.correlate1d, x, device.upload(np.ones(window, np.uint32)), targets, mode)
    last_step = rounding(device, "box_round_half_up", targets[-1], window**2, out, "(unsigned long long)")
    return Plan((*steps, last_step), {"image": out})


def cucim(device: Device, task: Task) -> Plan:
    """cuCIM's local mean, two separable correlations; it returns its own memory, and the copy out of it is included."""
    filters, cupy, x = device.library("cucim.skimage.filters"), device.library("cupy"), task.x
    out = device.empty(x.shape, x.dtype)

    def local_mean(window: int, mode: str) -> None:
        cupy.copyto(out, filters.threshold_local(x, window, method="mean", mode=mode))

    call = Call(local_mean, (window_of(task), SCIPY_MODES[task.params["border"]]), name="local mean")
    return Plan((call,), {"image": out})


def cvcuda(device: Device, task: Task) -> Plan:
    """CV-CUDA's average blur."""
    out = device.empty(task.x.shape, task.x.dtype)
    blur = averaged(device, window_of(task), task.params["border"])
    return Plan((Call(blur, (task.x, out), name="blur"),), {"image": out})


def loops(all_cores: bool) -> HostFunction:
    from gpu_ops.filters.box import host

    return host.parallel if all_cores else host.serial


def arguments(task: Task) -> tuple[Any, ...]:
    """The arguments of host functions and peers after the arrays."""
    return task.params["radius"], task.params["border"]
