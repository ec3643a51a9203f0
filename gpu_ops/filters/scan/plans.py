"""Plans of prefix sums: the launches of each kernel, and the memory that they allocate."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gpu_ops.filters.kit.planning import CTYPES, HostFunction, PlanContext
from gpu_ops.filters.scan.limits import OFFSETS_BLOCK
from gpu_ops.filters.scan.lines import Lines, form, is_exclusive, sum_type
from gpu_ops.params import Value
from gpu_ops.plan import Call, Device, DeviceArray, Launch, Plan, Step
from gpu_ops.task import Task

WARP = 32
BANK_ROW = 128
"""Bytes of one row of all shared memory banks."""
VECTOR_BYTES = 16
"""Bytes of the sums that a thread stores at once."""
REGISTER_VECTORS = 8
"""Vectors that a thread of the variant look_back keeps in registers; the others are in shared memory."""
THREADS_AT_ONCE = 1024
"""Threads per multiprocessor with that number of registers."""
STATUS_WORDS = 8
"""64-bit words by which a tile publishes its aggregate, of which it uses two: see kernels/scan/5_look_back.cu."""


# On the CPU.


def host(all_cores: bool) -> Callable[[Device, Task], Plan]:
    """The plan of the compiled function, which is called with (x, out, lines, exclusive)."""

    def load(device: Device) -> HostFunction:
        from gpu_ops.filters.scan import host

        return host.scan_parallel if all_cores else host.scan_serial

    return partial(_call, load)


def library(module: str, function: HostFunction) -> Callable[[Device, Task], Plan]:
    """The plan of a function that takes a library as its first argument."""
    return partial(_call, lambda device: partial(function, device.library(module)))


def _call(load: Callable[[Device], HostFunction], device: Device, task: Task) -> Plan:
    how = form(task)
    out = device.empty(how.shape, np.dtype(how.dtype))
    arguments = (task.x, out, Lines.of(task.meta), is_exclusive(task))
    return Plan((Call(load(device), arguments, name="scan"),), {task.meta.kind: out})


# On a GPU.


class Scan:
    """The common parts of all kernels' plans: lines, output, defines and arguments."""

    def __init__(self, ctx: PlanContext) -> None:
        self.ctx, self.lines = ctx, Lines.of(ctx.task.meta)
        self.block, self.results = (ctx.knobs["block"], 1, 1), sum_type(ctx.dtype)
        self.out = ctx.empty(self.results)

    def types(self, dtype: np.dtype[Any]) -> dict[str, Value]:
        """The defines for values of a type: those of the input, or the sums of tiles."""
        within = "unsigned int" if dtype.kind == "u" else CTYPES[dtype.name]
        return {"SAMPLE": CTYPES[dtype.name], "RESULT": CTYPES[self.results.name], "ACCUMULATOR": within}

    def sums(self, lines: Lines, tiles: int) -> DeviceArray:
        """Memory for the sums of the tiles of all lines."""
        return self.ctx.device.empty((lines.many, tiles), self.results)

    def plan(self, steps: list[Step]) -> Plan:
        return Plan(tuple(steps), {self.ctx.task.meta.kind: self.out})


def levels(values: int, shared: Callable[[Task, int], int]) -> Callable[[PlanContext], Plan]:
    """The plan of a kernel that scans tiles of `values` values per thread: its launch for the values, launches for the
    sums of tiles until one tile holds them all, and scan_add for each launch but the last. `shared(task, itemsize)` are
    the bytes of shared memory for sums of this size."""

    def plan(ctx: PlanContext) -> Plan:
        made = Scan(ctx)
        steps: list[Step] = []
        _add_level(made, steps, (ctx.x, made.out), made.lines, ctx.knobs["block"] * values, shared)
        return made.plan(steps)

    return plan


def _add_level(
    made: Scan,
    steps: list[Step],
    arrays: tuple[DeviceArray, DeviceArray],
    lines: Lines,
    size: int,
    shared: Callable[[Task, int], int],
    level: int = 0,
) -> None:
    """Scan `lines` of one array into the other, by tiles of `size` values."""
    ctx, tiles = made.ctx, lines.tiles(size)
    dtype = ctx.dtype if level == 0 else made.results
    types = made.types(dtype)
    sums = made.sums(lines, tiles) if tiles > 1 else made.sums(Lines(1, 1, 1), 1)
    exclusive = np.int32(level > 0 or is_exclusive(ctx.task))
    where = np.int64(lines.n), np.int32(lines.step), np.int32(tiles)
    grid, name = (lines.many * tiles, 1, 1), "tiles" if level == 0 else f"sums of tiles, level {level}"
    room = shared(ctx.task, within_bytes(dtype))
    steps.append(Launch(ctx.kernel(**types), grid, made.block, (*arrays, sums, *where, exclusive), room, name=name))
    if tiles == 1:
        return
    offsets = made.sums(lines, tiles)
    _add_level(made, steps, (sums, offsets), Lines(lines.many, tiles, 1), size, shared, level + 1)
    add = ctx.device.kernel(ctx.file, "scan_add", types)
    args = (arrays[1], offsets, *where, np.int32(size))
    steps.append(Launch(add, grid, made.block, args, name="add" if level == 0 else f"add, level {level}"))


def within_bytes(dtype: np.dtype[Any]) -> int:
    """Bytes of a sum within a tile."""
    return 4 if dtype.kind == "u" else dtype.itemsize


def hillis_steele_bytes(task: Task, itemsize: int) -> int:
    """Two buffers of one sum per thread."""
    return int(2 * task.knobs["block"] * itemsize)


def blelloch_bytes(task: Task, itemsize: int) -> int:
    """Two sums per thread."""
    return int(2 * task.knobs["block"] * itemsize)


def padded_bytes(task: Task, itemsize: int) -> int:
    """The same with padding after every row of banks, and once more after every `banks` such rows."""
    last, banks = 2 * task.knobs["block"] - 1, BANK_ROW // itemsize
    return int((last + last // banks + last // banks**2 + 1) * itemsize)


def warp_size(task: Task) -> int:
    """Values of a tile of the variant warp."""
    return int(task.knobs["block"] * task.knobs["items"])


def warp(ctx: PlanContext) -> Plan:
    """Sums of tiles, their offsets, and tiles scanned from there on; only the last one if a line is one tile."""
    made = Scan(ctx)
    lines, types = made.lines, {**made.types(ctx.dtype), "ITEMS": ctx.knobs["items"]}
    tiles = lines.tiles(warp_size(ctx.task))
    sums = made.sums(lines, tiles) if tiles > 1 else made.sums(Lines(1, 1, 1), 1)
    where = np.int64(lines.n), np.int32(lines.step), np.int32(tiles)
    grid, steps = (lines.many * tiles, 1, 1), list[Step]()
    if tiles > 1:
        steps.append(
            Launch(ctx.kernel("_sums", **types), grid, made.block, (ctx.x, sums, *where), name="sums of tiles")
        )
        threads = min(-(-tiles // WARP) * WARP, OFFSETS_BLOCK)
        offsets, a_line = ctx.kernel("_offsets", **types), (lines.many, 1, 1)
        chunks = {"tiles": -(-tiles // threads)}
        steps.append(Launch(offsets, a_line, (threads, 1, 1), (sums, np.int32(tiles)), name="offsets", loops=chunks))
    args = (ctx.x, made.out, sums, *where, np.int32(is_exclusive(ctx.task)))
    steps.append(Launch(ctx.kernel(**types), grid, made.block, args, name="tiles"))
    return made.plan(steps)


def look_back_size(task: Task) -> int:
    """Values of a tile of the variant look_back."""
    return int(task.knobs["block"]) * look_back_vectors(task) * _each(task)


def look_back_vectors(task: Task) -> int:
    """Vectors per thread: the knob's number, halved while half as many suffice for a line, and while there are fewer
    tiles than multiprocessors."""
    lines, a_vector = Lines.of(task.meta), int(task.knobs["block"]) * _each(task)
    vectors = int(task.knobs["vectors"])
    while vectors > 1 and (
        vectors // 2 * a_vector >= lines.n or lines.many * lines.tiles(vectors * a_vector) < task.limits.multiprocessors
    ):
        vectors //= 2
    return vectors


def _each(task: Task) -> int:
    """Values of a vector."""
    return VECTOR_BYTES // sum_type(task.dtype).itemsize


def look_back(ctx: PlanContext) -> Plan:
    """One launch, whose tiles publish their sums in words that no step has to clear."""
    made, task = Scan(ctx), ctx.task
    lines, tiles, vectors = made.lines, made.lines.tiles(look_back_size(task)), look_back_vectors(task)
    inside = min(vectors, REGISTER_VECTORS)
    defines: dict[str, Value] = {
        "IN_REGISTERS": inside,
        "IN_SHARED": vectors - inside,
        "SIDE_BY_SIDE": int(lines.step == 1 and (lines.many == 1 or lines.n % _each(task) == 0)),
        "THREADS": made.block[0],
        "THREADS_AT_ONCE": THREADS_AT_ONCE,
    }
    words, ticket = (ctx.device.upload(np.zeros(n, np.uint64)) for n in (STATUS_WORDS * lines.many * tiles, 1))
    where = np.int64(lines.n), np.int32(lines.step), np.int32(tiles), np.int32(is_exclusive(task))
    args = (ctx.x, made.out, words, ticket, *where)
    kernel, room = ctx.kernel(**made.types(ctx.dtype), **defines), look_back_bytes(task)
    loops = {"tiles before": -(-tiles // WARP)}
    return made.plan([Launch(kernel, (lines.many * tiles, 1, 1), made.block, args, room, name="tiles", loops=loops)])


def look_back_bytes(task: Task) -> int:
    """Shared memory of a block: the vectors that exceed its registers."""
    kept = max(0, look_back_vectors(task) - REGISTER_VECTORS)
    return int(task.knobs["block"]) * kept * _each(task) * within_bytes(task.dtype)
