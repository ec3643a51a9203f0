"""The strategies to copy an input to the device and the result back: kinds of host memory, chunks and streams."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from gpu_ops.filters.kit.bands import Band, part_task
from gpu_ops.filters.kit.pipeline import (
    CHUNK_BYTES,
    STREAMS,
    Array,
    Chunk,
    FromHost,
    Sink,
    Source,
    ToHost,
    Work,
    chunks_of,
    depth_first,
    in_stream,
)
from gpu_ops.filters.kit.staging import FromBuffers, ToBuffers, copied_from, copied_to
from gpu_ops.filters.transfer.workload import Workload
from gpu_ops.plan import DEFAULT_STREAM, Copy, Device, DeviceArray, Fill, HostTask, MemoryKind, Plan, Prefetch, Step
from gpu_ops.task import Task

Strategy = Callable[[Device, Task, Workload], Plan]
Interruption = Callable[[Device, int], Step]
"""A step that the host enqueues, or executes, after each chunk; the argument is the chunk's number."""
PAGE = 4096


def _chunks(
    device: Device, task: Task, workload: Workload, bands: Sequence[Band], slots: int, first: int = 1, base: int = 1
) -> list[Chunk]:
    """Chunks of a task in this number of streams, of which `base` is the first one; `first` is the number of the first
    chunk."""
    inner = workload.task(task)

    def make(rows: int) -> tuple[DeviceArray, Plan]:
        x = device.empty((rows, *task.meta.shape[1:]), task.dtype)
        plan = workload.variant.plan(device, part_task(inner, rows).on(x))
        return x, Plan(plan.steps, {workload.filter.id: plan.outputs[workload.output.id]})

    return chunks_of(bands, slots, make, first=first, base=base)


def _host(device: Device, task: Task, workload: Workload, kind: MemoryKind) -> tuple[Array, dict[str, Array]]:
    """Host memory of a kind: one array with the input, and one for the result."""
    source, target = (device.allocate(kind, task.meta.shape, task.dtype) for _ in range(2))
    return device.download(task.x, out=source), {workload.filter.id: target}


def _work(task: Task, workload: Workload) -> Work:
    """The kernel's launches on a chunk, repeated as the task requests."""
    many = task.params["repeats"]

    def namer(chunk: Chunk, place: int) -> Callable[[str], str]:
        again = f" launch {place + 1}" if many > 1 else ""
        return lambda name: f"{chunk.named(name or workload.variant.id)}{again}"

    return lambda chunk: [step for k in range(many) for step in chunk.steps(namer(chunk, k))]


def whole(kind: MemoryKind) -> Strategy:
    """Upload, kernel and download of the whole input, one after the other, with host memory of this kind."""

    def plan(device: Device, task: Task, workload: Workload) -> Plan:
        chunks = _chunks(device, task, workload, workload.bands(task, 1), 1)
        source, targets = _host(device, task, workload, kind)
        return Plan(tuple(depth_first(chunks, FromHost(source), ToHost(targets), _work(task, workload))), targets)

    return plan


def streamed(kind: MemoryKind = "pinned", graph: bool = False, interruption: Interruption | None = None) -> Strategy:
    """Chunks in streams, with the knobs' numbers of both, and the `interruption`, if any, after each chunk."""

    def plan(device: Device, task: Task, workload: Workload) -> Plan:
        count, streams = task.knobs["chunks"], task.knobs["streams"]
        chunks = _chunks(device, task, workload, workload.bands(task, count), streams)
        source, targets = _host(device, task, workload, kind)
        launches = _work(task, workload)

        def work(chunk: Chunk) -> list[Step]:
            return [*launches(chunk), *([] if interruption is None else [interruption(device, chunk.number)])]

        order = _breadth_first if task.knobs.get("order") == "breadth first" else depth_first
        steps = tuple(order(chunks, FromHost(source), ToHost(targets), work))
        blocking = any(step.stream == DEFAULT_STREAM for step in steps)
        return Plan(steps, targets, graph=graph, blocking=blocking)

    return plan


def fast(device: Device, task: Task, workload: Workload) -> Plan:
    """Chunks of CHUNK_BYTES in three streams, as one graph; an input of at most two chunks is copied whole."""
    count = _count(task)
    chunks = _chunks(device, task, workload, workload.bands(task, count if count > 2 else 1), STREAMS)
    source, targets = _host(device, task, workload, "pinned")
    steps = depth_first(chunks, FromHost(source), ToHost(targets), _work(task, workload))
    return Plan(tuple(steps), targets, graph=True)


def _count(task: Task) -> int:
    """The number of chunks of CHUNK_BYTES in a task."""
    return max(1, min(-(-task.meta.nbytes // CHUNK_BYTES), task.meta.shape[0]))


def both(device: Device, task: Task, workload: Workload) -> Plan:
    """The upper half on a device and the lower one on its peer, from the middle outwards: chunks of CHUNK_BYTES, and on
    each device three streams. Both chunks in the middle take their halo from the other device by a peer copy, all
    others from the host."""
    bands = workload.bands(task, max(2, _count(task)))
    half = len(bands) // 2
    upper = _chunks(device, task, workload, bands[:half][::-1], STREAMS)
    lower = _chunks(device.peer(), task, workload, bands[half:], STREAMS, first=half + 1, base=STREAMS + 1)
    memory, targets = _host(device, task, workload, "pinned")
    source, sink, work = FromHost(memory), ToHost(targets), _work(task, workload)
    steps = list(_middle(upper[0], lower[0], source, sink, work))
    for place in range(1, len(bands) - half):
        for chunk in (*upper[place : place + 1], *lower[place : place + 1]):
            steps += depth_first([chunk], source, sink, work)
    peer_streams = frozenset(range(STREAMS + 1, 2 * STREAMS + 1))
    return Plan(tuple(steps), targets, peer_streams=peer_streams)


def _middle(above: Chunk, below: Chunk, source: FromHost, sink: Sink, work: Work) -> Iterator[Step]:
    """The chunks above and below the middle: each device uploads its own rows, and sends the halo rows that the other
    one needs."""
    middle, last, first = below.band.start, above.band.high, below.band.low
    yield from source.upload(above, high=middle)
    yield from source.upload(below, low=middle)
    down, up = "halo to the second GPU", "halo to the first GPU"
    if first < middle < last:
        sent = above.x[first - above.band.low : middle - above.band.low]
        yield Copy(below.x[: middle - first], sent, down, above.stream)
        sent = below.x[middle - first : last - first]
        yield Copy(above.x[middle - above.band.low :], sent, up, below.stream)
    yield from _after(work(above), up if middle < last else "")
    yield from _after(work(below), down if first < middle else "")
    yield from sink.download(above)
    yield from sink.download(below)


def _after(steps: Iterable[Step], name: str) -> Iterator[Step]:
    """The steps, of which the first one waits for the step of that name, if given."""
    first, *others = steps
    yield replace(first, after=(name,)) if name else first
    yield from others


def _breadth_first(chunks: Sequence[Chunk], source: Source, sink: Sink, work: Work) -> Iterator[Step]:
    """The uploads of as many chunks as there are streams, then their launches, then their downloads."""
    streams = max(chunk.slot for chunk in chunks) + 1
    for first in range(0, len(chunks), streams):
        group = chunks[first : first + streams]
        for steps in (source.upload, work, sink.download):
            for chunk in group:
                yield from steps(chunk)


def on_default_stream(device: Device, number: int) -> Step:
    """A fill of one element in the default stream."""
    return Fill(device.empty((1,), np.uint8), 0, f"default stream {number}", DEFAULT_STREAM)


def beside(what: str) -> Interruption:
    """A call of the driver that `Device.driver_call` accepts."""

    def interruption(device: Device, number: int) -> Step:
        return HostTask(device.driver_call, (what,), f"{what} {number}", synchronizes=True)

    return interruption


def staged(device: Device, task: Task, workload: Workload) -> Plan:
    """Pageable memory through a ring of pinned buffers, which host threads fill and empty."""
    rows, buffers, threads = task.meta.shape[0], task.knobs["buffers"], task.knobs["threads"]
    row_bytes = max(task.meta.nbytes // rows, 1)
    count = max(1, -(-rows // max(task.knobs["chunk"] * (1 << 20) // row_bytes, 1)))
    chunks = _chunks(device, task, workload, workload.bands(task, min(count, rows)), buffers)
    source, targets = _host(device, task, workload, "pageable")
    source_side = FromBuffers(device, chunks, copied_from(source, threads))
    sink = ToBuffers(device, chunks, copied_to(targets, threads))
    return Plan(tuple(depth_first(chunks, source_side, sink, _work(task, workload))), targets)


def mapped(device: Device, task: Task, workload: Workload) -> Plan:
    """No copies: the kernel loads from pinned host memory and stores into it, over the bus."""
    return _shared(device, task, workload, "mapped", lambda x, out, launches: launches)


def managed(device: Device, task: Task, workload: Workload) -> Plan:
    """Managed memory: the driver migrates pages on access, or prefetches them if `prefetch` is set. The host accesses
    every page of the input before, and of the result afterwards."""

    def around(x: DeviceArray, out: DeviceArray, launches: list[Step]) -> list[Step]:
        source, target = device.host_view(x), device.host_view(out)
        write = HostTask(touch, (source, True), "host writes input", writes=(source,))
        read = HostTask(touch, (target, False), "host reads result", (launches[-1].name,), (target,))
        if task.knobs["prefetch"] == "no":
            return [write, *launches, read]
        back = Prefetch(out, "host", "prefetch result", 1)
        ahead = [Prefetch(x, "device", "prefetch input", 1), Prefetch(out, "device", "prefetch space", 1)]
        read = HostTask(touch, (target, False), "host reads result", (back.name,), (target,))
        return [write, *ahead, *launches, back, read]

    return _shared(device, task, workload, "managed", around)


def _shared(
    device: Device,
    task: Task,
    workload: Workload,
    kind: MemoryKind,
    around: Callable[[DeviceArray, DeviceArray, list[Step]], list[Step]],
) -> Plan:
    """A plan on memory shared by host and device."""
    x = device.allocate(kind, task.meta.shape, task.dtype)
    device.download(task.x, out=device.host_view(x))
    inner = workload.variant.plan(_Allocating(device, kind), workload.task(task).on(x))
    out = inner.outputs[workload.output.id]
    many = task.params["repeats"]
    launches = [step for k in range(1, many + 1) for step in in_stream(inner.steps, 1, partial(_numbered, k, workload))]
    return Plan(tuple(around(x, out, launches)), {workload.filter.id: device.host_view(out)})


def _numbered(number: int, workload: Workload, name: str) -> str:
    return f"{name or workload.variant.id} {number}"


class _Allocating:
    """A device whose `empty` allocates memory of another kind."""

    def __init__(self, device: Device, kind: MemoryKind) -> None:
        self._device, self._kind = device, kind

    def __getattr__(self, name: str) -> Any:
        return getattr(self._device, name)

    def empty(self, shape: tuple[int, ...], dtype: Any) -> DeviceArray:
        return self._device.allocate(self._kind, shape, dtype)


def touch(array: Array, write: bool) -> None:
    """Access every page of an array."""
    pages = array.reshape(-1).view(np.uint8)[::PAGE]
    if write:
        pages[:] = pages.copy()
    else:
        pages.max(initial=0)
