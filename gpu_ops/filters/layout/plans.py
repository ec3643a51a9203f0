"""Plans of the layouts: the launches of each kernel, the steps that pack and unpack, and the memory they allocate."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gpu_ops.filters.kit.planning import CTYPES, HostFunction, PlanContext
from gpu_ops.filters.layout import instructions
from gpu_ops.params import Value
from gpu_ops.plan import DeviceArray, Launch, Plan
from gpu_ops.task import Task

# On the CPU.


def loops(all_cores: bool) -> HostFunction:
    from gpu_ops.filters.layout.host import scale_serial

    return scale_serial


def numpy_scale(numpy: Any, x: DeviceArray, out: DeviceArray, gain: Any, offset: Any) -> None:
    """Two passes over the array, one for the product and one for the sum."""
    with numpy.errstate(invalid="ignore", over="ignore"):
        numpy.multiply(x, gain, out=out)
        numpy.add(out, offset, out=out)


def scalars(task: Task) -> tuple[Any, Any]:
    """Gain and offset in the type of the samples."""
    return task.dtype.type(task.params["gain"]), task.dtype.type(task.params["offset"])


# On a GPU.


def _launch(
    ctx: PlanContext,
    args: tuple[Any, ...],
    threads: int,
    part: str = "",
    name: str = "scale",
    shared: int = 0,
    /,
    **defines: Value,
) -> Launch:
    """A launch of the variant's kernel, or of the one with the suffix `part`, with at least this number of threads."""
    block = int(ctx.knobs["block"])
    grid = (instructions.blocks(threads, block), 1, 1)
    return Launch(
        ctx.kernel(part, SAMPLE=CTYPES[ctx.dtype.name], **defines), grid, (block, 1, 1), args, shared, name=name
    )


def _arguments(ctx: PlanContext) -> tuple[Any, ...]:
    """x, y, the number of values, gain and offset."""
    return (ctx.x, ctx.out, np.int64(ctx.task.meta.size), *scalars(ctx.task))


def direct(ctx: PlanContext) -> Plan:
    """One thread per value."""
    return ctx.plan(_launch(ctx, _arguments(ctx), ctx.task.meta.size))


def shifted(ctx: PlanContext) -> Plan:
    """The first `leading_threads` threads have no value."""
    leading_threads = instructions.leading_threads(ctx.task)
    return ctx.plan(_launch(ctx, (*_arguments(ctx), np.int32(leading_threads)), ctx.task.meta.size + leading_threads))


def knobbed(knob: str, each: Callable[[Task], int] = lambda task: 1) -> Callable[[PlanContext], Plan]:
    """The plan of a kernel with one more argument, the value of a knob, and this number of values per thread."""

    def plan(ctx: PlanContext) -> Plan:
        threads = instructions.blocks(ctx.task.meta.size, each(ctx.task))
        return ctx.plan(_launch(ctx, (*_arguments(ctx), np.int32(ctx.knobs[knob])), threads))

    return plan


def vectors(ctx: PlanContext) -> Plan:
    each = ctx.knobs["values"]
    return ctx.plan(_launch(ctx, _arguments(ctx), instructions.blocks(ctx.task.meta.size, each), VALUES=each))


def records(part: str, words: int, name: str) -> Callable[[PlanContext], Plan]:
    """A step that packs this number of words per value, and the step that reads them."""

    def plan(ctx: PlanContext) -> Plan:
        n = ctx.task.meta.size
        memory = ctx.device.empty((words * n,), np.uint32)
        first = (ctx.x, memory, np.int64(n), *scalars(ctx.task))
        return ctx.plan(_launch(ctx, first, n, part, name), _launch(ctx, (memory, ctx.out, np.int64(n)), n))

    return plan


def split(ctx: PlanContext) -> Plan:
    n, m = ctx.task.meta.size, instructions.records(ctx.task)
    halves, results = (ctx.device.empty((m * instructions.VALUES_OF_RECORD,), np.float32) for _ in range(2))
    return ctx.plan(
        _launch(ctx, (ctx.x, halves, np.int64(n)), 2 * m, "_part", "split"),
        _launch(ctx, (halves, results, np.int64(m), *scalars(ctx.task)), m),
        _launch(ctx, (results, ctx.out, np.int64(n)), 2 * m, "_join", "join"),
    )


def shared_stride(ctx: PlanContext) -> Plan:
    args = (*_arguments(ctx), np.int32(ctx.knobs["stride"]))
    return ctx.plan(_launch(ctx, args, ctx.task.meta.size, "", "scale", shared_stride_bytes(ctx.task)))


def shared_stride_bytes(task: Task) -> int:
    """The words of a block, and the padding between them."""
    return int(instructions.WORD * task.knobs["block"] * task.knobs["stride"])


def single_bytes(ctx: PlanContext) -> Plan:
    shared, spread = instructions.WORD * ctx.knobs["block"], int(ctx.knobs["bytes"] == "spread")
    return ctx.plan(_launch(ctx, _arguments(ctx), ctx.task.meta.size, "", "scale", shared, SPREAD=spread))


def broadcast(ctx: PlanContext) -> Plan:
    args, shared = (
        (*_arguments(ctx), np.int32(ctx.knobs["lane_stride"])),
        2 * instructions.WORD * instructions.table_size(ctx.task),
    )
    return ctx.plan(_launch(ctx, args, ctx.task.meta.size, "", "scale", shared))


def tiles(ctx: PlanContext) -> Plan:
    side, padding = ctx.knobs["side"], ctx.knobs["padding"]
    kernel = ctx.kernel(SIDE=side, PADDING=padding)
    grid = (instructions.blocks(ctx.task.meta.size, side * side), 1, 1)
    shared = instructions.WORD * side * (side + padding)
    return ctx.plan(Launch(kernel, grid, (side, side, 1), _arguments(ctx), shared, name="scale"))


def local(ctx: PlanContext) -> Plan:
    words = ctx.knobs["words"]
    start = np.int32(ctx.knobs["start"] % words)
    return ctx.plan(_launch(ctx, (*_arguments(ctx), start), ctx.task.meta.size, WORDS=words))


def spills(ctx: PlanContext) -> Plan:
    """Whole blocks, which have no branch, and one thread per value for the rest."""
    n, block = ctx.task.meta.size, int(ctx.knobs["block"])
    each, whole = instructions.values_per_block(ctx.task), instructions.whole_blocks(ctx.task)
    kernel = partial(ctx.kernel, BLOCK=block, LIVE=ctx.knobs["live_values"], REGISTERS=ctx.knobs["registers"])
    first, numbers, steps = each * whole, scalars(ctx.task), list[Launch]()
    if whole:
        args = (ctx.x, ctx.out, *numbers)
        steps.append(Launch(kernel(), (whole, 1, 1), (block, 1, 1), args, name="scale"))
    if n > first:
        rest = (ctx.x, ctx.out, np.int64(first), np.int64(n), *numbers)
        grid = (instructions.blocks(n - first, block), 1, 1)
        steps.append(Launch(kernel("_rest"), grid, (block, 1, 1), rest, name="rest"))
    return ctx.plan(*steps)


def summed(kind: type[np.floating[Any]]) -> Callable[[PlanContext], Plan]:
    """A sum of the offset and of equal parts of the product, in numbers of that type."""

    def plan(ctx: PlanContext) -> Plan:
        parts = ctx.knobs["parts"]
        part, offset = kind(ctx.params["gain"] / parts), kind(ctx.params["offset"])
        args = (ctx.x, ctx.out, np.int64(ctx.task.meta.size), part, offset, np.int32(parts))
        return ctx.plan(_launch(ctx, args, ctx.task.meta.size))

    return plan
