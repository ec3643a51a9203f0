"""Plans of the mean filter's first kernels and of cupyx: their steps, and the memory that they allocate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpu_ops.devices.launches import grid1d, grid2d
from gpu_ops.filters.kit.borders import SCIPY_MODES, border_indices
from gpu_ops.filters.kit.library_calls import averaged, on_tensors
from gpu_ops.filters.kit.planning import (
    CTYPES,
    HostFunction,
    PlanContext,
    along_axes,
    block_shape,
    rounding,
    tile_loops,
)
from gpu_ops.filters.kit.rules import blocks_fit
from gpu_ops.input_kinds import Kind
from gpu_ops.params import Value
from gpu_ops.plan import Call, Device, Launch, Plan
from gpu_ops.task import Task


def defines(ctx: PlanContext) -> dict[str, Value]:
    """The defines of all mean kernels."""
    integer = ctx.dtype.kind == "u"
    return {
        "SAMPLE": CTYPES[ctx.dtype.name],
        "ACCUMULATOR": "unsigned int" if integer else CTYPES[ctx.dtype.name],
        "INTEGER": int(integer),
        "BORDER": ctx.border,
        "CHANNELS": ctx.channels,
    }


def window_of(task: Task) -> int:
    """The window's length, or its side."""
    return int(task.params["window"])


def taps(dtype: np.dtype[Any], count: int) -> np.ndarray[Any, Any]:
    """`count` equal taps: 1/count, or 1 for integers, whose sum is divided exactly at the end."""
    return np.ones(count, np.uint32) if dtype.kind == "u" else np.full(count, 1 / count, dtype)


def windows(in_constant: bool, tile: Callable[[Task], int] = lambda task: 0) -> Callable[[PlanContext], Plan]:
    """The plan of a kernel with one output per thread: its taps are in constant or in global memory, its tile takes
    this number of bytes."""

    def plan(ctx: PlanContext) -> Plan:
        block, outputs, window = ctx.knobs["block"], ctx.knobs["outputs"], ctx.params["window"]
        kernel, weights = ctx.kernel(**defines(ctx), OUTPUTS=outputs), taps(ctx.dtype, window**ctx.rank)
        sizes: tuple[Any, ...] = (np.int64(ctx.length),)
        grid, (x, y) = grid1d(ctx.x.size, block * outputs), (block, 1)
        if ctx.rank == 2:
            x, y = block_shape(block)
            grid, sizes = grid2d(ctx.height, ctx.columns, (x, y * outputs)), (np.int32(ctx.height), np.int32(ctx.width))
        buffers = (ctx.x, ctx.out) if in_constant else (ctx.x, ctx.out, ctx.device.upload(weights))
        args, constants = (*buffers, *sizes, np.int32(window)), {"taps": weights} if in_constant else {}
        loops = tile_loops(ctx, x, y, y * outputs, window // 2) if tile(ctx.task) else {}
        launch = Launch(kernel, grid, (x, y, 1), args, tile(ctx.task), constants, name=ctx.variant, loops=loops)
        return ctx.plan(launch)

    return plan


def tile_bytes(task: Task) -> int:
    """Bytes of a block's values with their halo."""
    knobs, meta, reach = task.knobs, task.meta, task.params["window"] - 1
    x, y = block_shape(knobs["block"])
    if meta.of_kind.rank == 1:
        return int((knobs["block"] * knobs["outputs"] + reach * meta.channels) * meta.itemsize)
    return int((y * knobs["outputs"] + reach) * (x + reach * meta.channels) * meta.itemsize)


ROWS_FIT = blocks_fit(
    lambda task: block_shape(task.knobs["block"])[1] * task.knobs["outputs"],
    "a larger block or more outputs per thread",
)


def cupyx(device: Device, task: Task) -> Plan:
    """cupyx's separable correlation; integers are summed exactly and rounded by a further kernel, whose cost is
    included."""
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


def torch_pool(device: Device, task: Task) -> Plan:
    """torch.nn.functional.avg_pool2d of an image; a border other than zero is first copied around the samples."""
    torch, x, border = device.library("torch"), task.x, task.params["border"]
    window, out = task.params["window"], device.empty(x.shape, x.dtype)
    radius = 0 if border != "zero" else window // 2
    places = [device.upload(border_indices(border, -(window // 2), n + window // 2, n)) for n in task.meta.shape[:2]]

    def planes(tensor: Any) -> Any:
        return tensor.reshape(1, *tensor.shape[:2], -1).permute(
            0, 3, 1, 2
        )  # an output in another order is filled wrong

    def pool(samples: Any, means: Any, rows: Any, columns: Any) -> None:
        if border != "zero":
            samples = samples.index_select(0, rows).index_select(1, columns)
        means = planes(means)
        torch.ops.aten.avg_pool2d.out(planes(samples), [window, window], [1, 1], [radius, radius], out=means)

    return Plan((Call(on_tensors(device, pool), (x, out, *places), name="pool"),), {"image": out})


def cvcuda_blur(device: Device, task: Task) -> Plan:
    """CV-CUDA's average blur of an image."""
    out = device.empty(task.x.shape, task.x.dtype)
    blur = averaged(device, window_of(task), task.params["border"])
    return Plan((Call(blur, (task.x, out), name="blur"),), {"image": out})


def loops(kind: Kind) -> Callable[[bool], HostFunction]:
    """Imports the compiled function for signals or for images, on one core or on all."""

    def load(all_cores: bool) -> HostFunction:
        from gpu_ops.filters.mean import host

        if kind == "signal":
            return host.mean1d_parallel if all_cores else host.mean1d_serial
        return host.mean2d_parallel if all_cores else host.mean2d_serial

    return load


def arguments(task: Task) -> tuple[Any, ...]:
    """The arguments of host functions and peers after the arrays."""
    return task.params["window"], task.params["border"]
