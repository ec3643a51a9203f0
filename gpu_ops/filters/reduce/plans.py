"""Plans of reductions: the launches of each kernel until one block remains, and their loads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpu_ops.filters.kit.planning import CTYPES, HostFunction, PlanContext
from gpu_ops.filters.reduce.figures import SPREADS, STATISTICS, is_compensated, levels, samples, table_form, wanted
from gpu_ops.filters.reduce.peers import cub_figure, cupy_figures
from gpu_ops.plan import Call, Device, DeviceArray, Launch, Plan
from gpu_ops.task import Task
from gpu_ops.types import Accesses

WARP = 32
WAVES = 8
"""The maximum blocks per multiprocessor of the shuffle kernel: about as many as are resident."""
READ_BYTES = 16
"""Bytes that a thread of the one-pass kernel loads at once, for each channel."""
Shape = tuple[int, int]
"""Blocks of a channel, and threads of a block."""
Shaping = Callable[[Task, int, bool], Shape]
"""The shape of a launch over this number of values of a channel, samples in the first launch and partial results in the
others."""


def table_on(device: Device, task: Task) -> DeviceArray:
    """Memory for the statistics."""
    form = table_form(task)
    return device.empty(form.shape, np.dtype(form.dtype))


# On the CPU.


def host(all_cores: bool) -> Callable[[Device, Task], Plan]:
    """The plan of a compiled loop."""

    def plan(device: Device, task: Task) -> Plan:
        from gpu_ops.filters.reduce import host

        out, statistic = table_on(device, task), task.params["statistic"]
        function = host.reduce_parallel if all_cores else host.reduce_serial
        call = Call(function, (task.x, out, task.meta.channels, statistic, is_compensated(task)), name="reduce")
        return Plan((call,), {"figures": out})

    return plan


def library(module: str, function: HostFunction) -> Callable[[Device, Task], Plan]:
    """The plan of a CPU library: `function` is called with (module, x, out, channels, names of the statistics)."""

    def plan(device: Device, task: Task) -> Plan:
        out = table_on(device, task)
        args = (device.library(module), task.x, out, task.meta.channels, wanted(task))
        return Plan((Call(function, args, name="reduce"),), {"figures": out})

    return plan


def by_cub(device: Device, task: Task) -> Plan:
    """The plan of CUB."""
    return cub_figure(device, task, table_on(device, task))


def by_cupy(device: Device, task: Task) -> Plan:
    """The plan of CuPy."""
    return cupy_figures(device, task, table_on(device, task))


# On a GPU: the shapes of launches.


def one_thread_per_sample(task: Task, n: int, first: bool) -> Shape:
    """One thread per sample."""
    block = _enough(n, task.knobs["block"])
    return -(-n // block), block


def two_each(task: Task, n: int, first: bool) -> Shape:
    """One thread per two samples."""
    block = _enough(-(-n // 2), task.knobs["block"])
    return -(-n // (2 * block)), block


def chosen_threads(task: Task, n: int, first: bool) -> Shape:
    """The knob's number of threads, at most one per sample, in blocks of at most 256; then one block for their partial
    results."""
    threads = _enough(samples(task), task.knobs["threads"])
    block = min(threads, 256)
    return (threads // block, block) if first else (1, _enough(n, block))


def _enough(n: int, most: int) -> int:
    """The smallest power of two of threads for n numbers, at most `most`."""
    return int(min(1 << levels(n), most))


def one_wave(task: Task, n: int, first: bool) -> Shape:
    """A thread per `each` samples, in no more blocks than are resident at once."""
    block = int(task.knobs["block"])
    return min(-(-n // (block * int(task.knobs["items"]))), WAVES * task.limits.multiprocessors), block


SHARED_OUT = (chosen_threads, one_wave)
"""Shapes whose threads combine their samples in a loop."""


def launch_sizes(task: Task, shaping: Shaping) -> list[tuple[int, Shape]]:
    """The number of samples or partial results of a channel per launch, and its shape; the last one has one block."""
    n, found = samples(task), list[tuple[int, Shape]]()
    while True:
        shape = shaping(task, n, not found)
        found.append((n, shape))
        if shape[0] == 1:
            return found
        n = shape[0]


def kernels(shaping: Shaping) -> Callable[[PlanContext], Plan]:
    """The plan of a kernel that is launched on samples, and then on its own partial results."""
    narrow = shaping not in SHARED_OUT  # a block has so few samples that 32 bits can represent their sum
    by_warp = shaping is one_wave  # warps exchange data through shared memory, not single threads

    def plan(ctx: PlanContext) -> Plan:
        task, device, channels = ctx.task, ctx.device, ctx.task.meta.channels
        out, source, steps = table_on(device, task), ctx.x, []
        sizes = launch_sizes(task, shaping)
        for level, (n, (blocks, block)) in enumerate(sizes):
            first = level == 0
            total, part = state_bytes(task), state_bytes(task, narrow and first)
            # A single block writes the statistics, and no partial result.
            partial = device.empty((blocks * channels, total // 4), np.uint32) if blocks > 1 else out
            steps.append(
                Launch(
                    ctx.kernel(**defines(task, first, narrow)),
                    (blocks, channels, 1),
                    (block, 1, 1),
                    (source, partial, out, np.int64(n), np.int64(samples(task))),
                    part * (block // WARP if by_warp else block),
                    name="samples" if first else f"states of {n} blocks",
                    loops={"samples": -(-n // (blocks * block))} if first and shaping in SHARED_OUT else {},
                )
            )
            source = partial
        return Plan(tuple(steps), {"figures": out})

    return plan


def one_pass(ctx: PlanContext) -> Plan:
    """One launch over all channels, whose last block combines the partial results of all blocks."""
    task, device = ctx.task, ctx.device
    out, channels, block = table_on(device, task), task.meta.channels, int(ctx.knobs["block"])
    blocks = one_pass_blocks(task)
    partial = device.empty((blocks * channels, state_bytes(task) // 4), np.uint32)
    ticket = device.upload(np.zeros(1, np.uint32))
    threads = {"THREADS": block, "THREADS_AT_ONCE": max(block, _threads_at_once(task))}
    kernel = ctx.kernel(**defines(task, True, False), CHANNELS=channels, LOADS=_rounds_of_reads(task), **threads)
    args = (ctx.x, partial, out, ticket, np.int64(samples(task)))
    room = state_bytes(task) * (block // WARP)
    a_round = blocks * block * _rounds_of_reads(task) * (READ_BYTES // task.meta.itemsize)
    loops = {"rounds": samples(task) // a_round, "states": -(-blocks // block)}
    launch = Launch(kernel, (blocks, 1, 1), (block, 1, 1), args, room, name="samples", loops=loops)
    return Plan((launch,), {"figures": out})


def one_pass_blocks(task: Task) -> int:
    """The knob's number of blocks per multiprocessor, but no more than are resident at once and have samples."""
    block, reads = int(task.knobs["block"]), -(-samples(task) * task.meta.itemsize // READ_BYTES)
    at_once = min(int(task.knobs["blocks"]), max(1, _threads_at_once(task) // block))
    return min(-(-reads // block), at_once * task.limits.multiprocessors)


def _rounds_of_reads(task: Task) -> int:
    """The number of loads in flight per thread, over all channels."""
    return max(1, int(task.knobs["loads"]) // task.meta.channels)


def _threads_at_once(task: Task) -> int:
    """Resident threads per multiprocessor of the one-pass kernel: with few loads in flight and one accumulator, a
    thread needs so few registers that occupancy is full."""
    keeps_more = task.params["statistic"] in SPREADS or is_compensated(task) or task.meta.channels > 1
    return 1024 if keeps_more or int(task.knobs["loads"]) > 2 else 2048


def defines(task: Task, first: bool, narrow: bool) -> dict[str, Any]:
    """The defines of a kernel; settings that make no difference have one value, so that it is compiled once."""
    whole = task.dtype.kind == "u"
    return {
        "SAMPLE": CTYPES[task.meta.dtype],
        "INTEGER": int(whole),
        "STATISTIC": STATISTICS.index(task.params["statistic"]),
        "COMPENSATED": int(is_compensated(task)),
        "FIRST": int(first),
        "NARROW": int(narrow and first and whole),
    }


def state_bytes(task: Task, narrow: bool = False) -> int:
    """Bytes of a partial result, with the layout of kernels/reduce/reduce.cuh."""
    statistic, whole = task.params["statistic"], task.dtype.kind == "u"
    adding = 16 if is_compensated(task) else 4 if whole and narrow else 8
    extreme = max(4, task.meta.itemsize)
    spread = 16 if whole else 24
    if statistic == "all":
        return (16 if is_compensated(task) else 8) + 2 * extreme + spread
    return {"sum": adding, "mean": adding, "min": extreme, "max": extreme, "variance": spread}[statistic]


# Expected loads.


def accesses(shaping: Shaping) -> Callable[[Task], Accesses]:
    """Loads from global memory: each sample once, and each partial result of a block once more. Blocks are those of the
    first launch."""

    def count(task: Task) -> Accesses:
        sizes = launch_sizes(task, shaping)
        blocks = sizes[0][1][0]
        first, inner, last = (loads_of_block(task, shaping, index) for index in (0, blocks // 2, blocks - 1))
        return Accesses(first, inner, last, task.meta.channels * sum(n for n, _ in sizes))

    return count


def loads_of_block(task: Task, shaping: Shaping, index: int) -> int:
    """Loads of one block of the first launch."""
    n, (blocks, block) = launch_sizes(task, shaping)[0]
    if shaping in (one_thread_per_sample, two_each):
        per_block = block if shaping is one_thread_per_sample else 2 * block
        return min(n, (index + 1) * per_block) - index * per_block
    rounds, rest = divmod(n, blocks * block)
    return rounds * block + min(max(rest - index * block, 0), block)
