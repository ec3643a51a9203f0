"""Plans of the layouts: the launches of each kernel, the steps that pack and unpack, and the memory they take."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gpu_ops.filters.kit.planning import CTYPES, HostFunction, Job
from gpu_ops.filters.layout import touches
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
    job: Job,
    args: tuple[Any, ...],
    threads: int,
    part: str = "",
    name: str = "scale",
    shared: int = 0,
    /,
    **defines: Value,
) -> Launch:
    """A launch of the variant's kernel, or of the one with the suffix `part`, with so many threads at least."""
    block = int(job.knobs["block"])
    grid = (touches.blocks(threads, block), 1, 1)
    return Launch(
        job.kernel(part, SAMPLE=CTYPES[job.dtype.name], **defines), grid, (block, 1, 1), args, shared, name=name
    )


def _arguments(job: Job) -> tuple[Any, ...]:
    """x, y, the number of values, gain and offset."""
    return (job.x, job.out, np.int64(job.task.meta.size), *scalars(job.task))


def direct(job: Job) -> Plan:
    """A thread a value."""
    return job.plan(_launch(job, _arguments(job), job.task.meta.size))


def shifted(job: Job) -> Plan:
    """The first `back` threads have no value."""
    back = touches.back(job.task)
    return job.plan(_launch(job, (*_arguments(job), np.int32(back)), job.task.meta.size + back))


def knobbed(knob: str, each: Callable[[Task], int] = lambda task: 1) -> Callable[[Job], Plan]:
    """The plan of a kernel with one more argument, the value of a knob, and so many values a thread."""

    def plan(job: Job) -> Plan:
        threads = touches.blocks(job.task.meta.size, each(job.task))
        return job.plan(_launch(job, (*_arguments(job), np.int32(job.knobs[knob])), threads))

    return plan


def vectors(job: Job) -> Plan:
    each = job.knobs["values"]
    return job.plan(_launch(job, _arguments(job), touches.blocks(job.task.meta.size, each), VALUES=each))


def records(part: str, words: int, name: str) -> Callable[[Job], Plan]:
    """A step that packs so many words a value, and the one that reads them."""

    def plan(job: Job) -> Plan:
        n = job.task.meta.size
        memory = job.device.empty((words * n,), np.uint32)
        first = (job.x, memory, np.int64(n), *scalars(job.task))
        return job.plan(_launch(job, first, n, part, name), _launch(job, (memory, job.out, np.int64(n)), n))

    return plan


def split(job: Job) -> Plan:
    n, m = job.task.meta.size, touches.records(job.task)
    halves, results = (job.device.empty((m * touches.VALUES_OF_RECORD,), np.float32) for _ in range(2))
    return job.plan(
        _launch(job, (job.x, halves, np.int64(n)), 2 * m, "_part", "split"),
        _launch(job, (halves, results, np.int64(m), *scalars(job.task)), m),
        _launch(job, (results, job.out, np.int64(n)), 2 * m, "_join", "join"),
    )


def shared_stride(job: Job) -> Plan:
    args = (*_arguments(job), np.int32(job.knobs["stride"]))
    return job.plan(_launch(job, args, job.task.meta.size, "", "scale", shared_stride_bytes(job.task)))


def shared_stride_bytes(task: Task) -> int:
    """The words of a block, and those between them."""
    return int(touches.WORD * task.knobs["block"] * task.knobs["stride"])


def single_bytes(job: Job) -> Plan:
    shared, spread = touches.WORD * job.knobs["block"], int(job.knobs["bytes"] == "spread")
    return job.plan(_launch(job, _arguments(job), job.task.meta.size, "", "scale", shared, SPREAD=spread))


def broadcast(job: Job) -> Plan:
    args, shared = (*_arguments(job), np.int32(job.knobs["apart"])), 2 * touches.WORD * touches.table_size(job.task)
    return job.plan(_launch(job, args, job.task.meta.size, "", "scale", shared))


def tiles(job: Job) -> Plan:
    side, extra = job.knobs["side"], job.knobs["extra"]
    kernel = job.kernel(SIDE=side, EXTRA=extra)
    grid = (touches.blocks(job.task.meta.size, side * side), 1, 1)
    shared = touches.WORD * side * (side + extra)
    return job.plan(Launch(kernel, grid, (side, side, 1), _arguments(job), shared, name="scale"))


def local(job: Job) -> Plan:
    words = job.knobs["words"]
    turn = np.int32(job.knobs["turn"] % words)
    return job.plan(_launch(job, (*_arguments(job), turn), job.task.meta.size, WORDS=words))


def spills(job: Job) -> Plan:
    """Whole blocks, which have no branch, and a thread a value for the rest."""
    n, block = job.task.meta.size, int(job.knobs["block"])
    each, whole = touches.held_by_block(job.task), touches.whole_blocks(job.task)
    kernel = partial(job.kernel, BLOCK=block, HELD=job.knobs["held"], REGISTERS=job.knobs["registers"])
    first, numbers, steps = each * whole, scalars(job.task), list[Launch]()
    if whole:
        args = (job.x, job.out, *numbers)
        steps.append(Launch(kernel(), (whole, 1, 1), (block, 1, 1), args, name="scale"))
    if n > first:
        rest = (job.x, job.out, np.int64(first), np.int64(n), *numbers)
        grid = (touches.blocks(n - first, block), 1, 1)
        steps.append(Launch(kernel("_rest"), grid, (block, 1, 1), rest, name="rest"))
    return job.plan(*steps)


def summed(kind: type[np.floating[Any]]) -> Callable[[Job], Plan]:
    """A sum of the offset and of equal parts of the product, in numbers of that type."""

    def plan(job: Job) -> Plan:
        parts = job.knobs["parts"]
        part, offset = kind(job.params["gain"] / parts), kind(job.params["offset"])
        args = (job.x, job.out, np.int64(job.task.meta.size), part, offset, np.int32(parts))
        return job.plan(_launch(job, args, job.task.meta.size))

    return plan
