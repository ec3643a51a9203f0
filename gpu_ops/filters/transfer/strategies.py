"""The strategies to bring an input to the device and the result back: kinds of host memory, chunks and streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from gpu_ops.filters.transfer.pipeline import Array, Chunk, Pipeline, in_stream, pieces
from gpu_ops.filters.transfer.workload import Workload
from gpu_ops.plan import DEFAULT_STREAM, Copy, Device, DeviceArray, Fill, HostTask, MemoryKind, Plan, Prefetch, Step
from gpu_ops.task import Task

Strategy = Callable[[Device, Task, Workload], Plan]
Interruption = Callable[[Device, int], Step]
"""A step that the host enqueues, or carries out, behind each chunk; the number is the chunk's."""
PAGE = 4096
CHUNK_BYTES = 4 << 20
"""A copy of this size runs at full speed, and the first and the last one, beside which nothing runs, are short."""
STREAMS = 3
"""One each for an upload, a kernel and a download at a time."""


def whole(kind: MemoryKind) -> Strategy:
    """Upload, kernel and download of the whole input, one after the other, with host memory of this kind."""

    def plan(device: Device, task: Task, workload: Workload) -> Plan:
        pipeline = Pipeline(device, task, workload)
        source, target = pipeline.host(kind)
        return pipeline.plan(list(_depth_first(pipeline, source, target, 1)), target)

    return plan


def streamed(kind: MemoryKind = "pinned", graph: bool = False, interruption: Interruption | None = None) -> Strategy:
    """Chunks in streams, as many of both as the knobs say, with an interruption behind each chunk."""

    def plan(device: Device, task: Task, workload: Workload) -> Plan:
        count, streams = task.knobs["chunks"], task.knobs["streams"]
        pipeline = Pipeline(device, task, workload, workload.bands(task, count), streams)
        source, target = pipeline.host(kind)
        order = _breadth_first if task.knobs.get("order") == "breadth first" else _depth_first
        steps = list(order(pipeline, source, target, streams, interruption))
        blocking = any(step.stream == DEFAULT_STREAM for step in steps)
        return pipeline.plan(steps, target, graph=graph, blocking=blocking)

    return plan


def fast(device: Device, task: Task, workload: Workload) -> Plan:
    """Chunks of CHUNK_BYTES in three streams, as one graph; an input of two chunks or less whole."""
    count = _chunks(task)
    pipeline = Pipeline(device, task, workload, workload.bands(task, count if count > 2 else 1), STREAMS)
    source, target = pipeline.host("pinned")
    return pipeline.plan(list(_depth_first(pipeline, source, target, STREAMS)), target, graph=True)


def _chunks(task: Task) -> int:
    """How many chunks of CHUNK_BYTES a task has."""
    return max(1, min(-(-task.meta.nbytes // CHUNK_BYTES), task.meta.shape[0]))


def both(device: Device, task: Task, workload: Workload) -> Plan:
    """The upper half on a device and the lower one on its peer, from the middle outwards: chunks of CHUNK_BYTES, and on
    each device three streams. Both chunks in the middle take their halo from the other device, all others from the
    host."""
    bands = workload.bands(task, max(2, _chunks(task)))
    half = len(bands) // 2
    upper = Pipeline(device, task, workload, bands[:half][::-1], STREAMS)
    lower = Pipeline(device.peer(), task, workload, bands[half:], STREAMS, first=half + 1)
    source, target = upper.host("pinned")
    steps = list(_middle(upper, lower, source, target))
    for place in range(1, len(bands) - half):
        for pipeline, base in ((upper, 1), (lower, STREAMS + 1)):
            for chunk in pipeline.chunks[place : place + 1]:
                steps += _one(pipeline, chunk, source, target, base + place % STREAMS)
    peer_streams = frozenset(range(STREAMS + 1, 2 * STREAMS + 1))
    return upper.plan(steps, target, peer_streams=peer_streams)


def _middle(upper: Pipeline, lower: Pipeline, source: Array, target: Array) -> Iterator[Step]:
    """The chunks above and below the middle: each device uploads its own rows, and sends what the other one needs."""
    above, below, mine, other = upper.chunks[0], lower.chunks[0], 1, STREAMS + 1
    middle, last, first = below.band.start, above.band.high, below.band.low
    yield from upper.upload(above, source, mine, high=middle)
    yield from lower.upload(below, source, other, low=middle)
    down, up = "halo to the second GPU", "halo to the first GPU"
    if first < middle < last:
        sent = above.x[first - above.band.low : middle - above.band.low]
        yield Copy(below.x[: middle - first], sent, down, mine)
        sent = below.x[middle - first : last - first]
        yield Copy(above.x[middle - above.band.low :], sent, up, other)
    yield from upper.launches(above, mine, (up,) if middle < last else ())
    yield from lower.launches(below, other, (down,) if first < middle else ())
    yield upper.download(above, target, mine)
    yield lower.download(below, target, other)


def _one(pipeline: Pipeline, chunk: Chunk, source: Array, target: Array, stream: int) -> Iterator[Step]:
    """All steps of a chunk, in one stream."""
    yield from pipeline.upload(chunk, source, stream)
    yield from pipeline.launches(chunk, stream)
    yield pipeline.download(chunk, target, stream)


def _depth_first(
    pipeline: Pipeline, source: Array, target: Array, streams: int, interruption: Interruption | None = None
) -> Iterator[Step]:
    """All steps of a chunk, then those of the next one."""
    for place, chunk in enumerate(pipeline.chunks):
        stream = place % streams + 1
        yield from pipeline.upload(chunk, source, stream)
        yield from pipeline.launches(chunk, stream)
        if interruption is not None:
            yield interruption(pipeline.device, chunk.number)
        yield pipeline.download(chunk, target, stream)


def _breadth_first(
    pipeline: Pipeline, source: Array, target: Array, streams: int, interruption: Interruption | None = None
) -> Iterator[Step]:
    """The uploads of as many chunks as there are streams, then their launches, then their downloads."""
    for first in range(0, len(pipeline.chunks), streams):
        group = list(enumerate(pipeline.chunks[first : first + streams], start=1))
        for stream, chunk in group:
            yield from pipeline.upload(chunk, source, stream)
        for stream, chunk in group:
            yield from pipeline.launches(chunk, stream)
        for stream, chunk in group:
            yield pipeline.download(chunk, target, stream)


def on_default_stream(device: Device, number: int) -> Step:
    """A fill of one element in the default stream."""
    return Fill(device.empty((1,), np.uint8), 0, f"default stream {number}", DEFAULT_STREAM)


def beside(what: str) -> Interruption:
    """A call of the driver that `Device.driver_call` knows."""

    def interruption(device: Device, number: int) -> Step:
        return HostTask(device.driver_call, (what,), f"{what} {number}", synchronizes=True)

    return interruption


def staged(device: Device, task: Task, workload: Workload) -> Plan:
    """Pageable memory through a ring of pinned buffers, which threads of the host fill and empty."""
    rows, buffers = task.meta.shape[0], task.knobs["buffers"]
    row_bytes = max(task.meta.nbytes // rows, 1)
    count = max(1, -(-rows // max(task.knobs["chunk"] * (1 << 20) // row_bytes, 1)))
    pipeline = Pipeline(device, task, workload, workload.bands(task, min(count, rows)), buffers)
    source, target = pipeline.host("pageable")
    return pipeline.plan(list(Staging(pipeline, source, target, buffers, task.knobs["threads"]).steps()), target)


def mapped(device: Device, task: Task, workload: Workload) -> Plan:
    """No copies: the kernel loads from pinned host memory and stores into it, over the bus."""
    return _shared(device, task, workload, "mapped", lambda x, out, launches: launches)


def managed(device: Device, task: Task, workload: Workload) -> Plan:
    """Managed memory: the driver migrates pages where they are accessed, or ahead of that where `prefetch` is set. The
    host accesses every page of the input before, and of the result afterwards."""

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
    """A plan on memory that host and device share."""
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
    """A device whose `empty` gives memory of another kind."""

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


class Staging:
    """The steps of the chunks of a pipeline, each through one of `buffers` pairs of pinned buffers and in a stream of
    its own. `threads` threads of the host fill a buffer while the copies and kernels of earlier chunks run, and empty
    one when its download has ended."""

    def __init__(self, pipeline: Pipeline, source: Array, target: Array, buffers: int, threads: int) -> None:
        from gpu_ops.filters.transfer.host import copy  # loads Numba

        self._copy = copy
        self._pipeline, self._source, self._target, self._many = pipeline, source, target, buffers
        self._threads = threads
        most = max(chunk.band.high - chunk.band.low for chunk in pipeline.chunks)
        rows, device = source.shape[1:], pipeline.device
        pinned = partial(device.allocate, "pinned", (most, *rows), source.dtype)
        self._ring = [(pinned(), pinned()) for _ in range(min(buffers, len(pipeline.chunks)))]

    def steps(self) -> Iterator[Step]:
        """In the order of their enqueueing."""
        chunks, behind = self._pipeline.chunks, self._many - 1
        for place, chunk in enumerate(chunks):
            yield from self._forward(place, chunk)
            if place >= behind:
                yield self._empty(place - behind, chunks[place - behind])
        for place in range(max(0, len(chunks) - behind), len(chunks)):
            yield self._empty(place, chunks[place])

    def _forward(self, place: int, chunk: Chunk) -> Iterator[Step]:
        """Fill a buffer, copy it, launch, and copy the result into the buffer beside it."""
        slot = place % self._many
        band, (pinned, result) = chunk.band, self._ring[slot]
        rows = pinned[: band.high - band.low]
        earlier = (f"upload {chunk.number - self._many}",) if place >= self._many else ()
        pairs = [(rows[to], self._source[where]) for to, where in pieces(band.low, band.high, len(self._source))]
        reads = tuple(source for _, source in pairs)
        yield HostTask(self._copy, (pairs, self._threads), chunk.named("fill"), earlier, reads, (rows,))
        yield Copy(chunk.x, rows, chunk.named("upload"), slot + 1)
        yield from self._pipeline.launches(chunk, slot + 1)
        yield Copy(result[: band.stop - band.start], chunk.out[band.inner], chunk.named("download"), slot + 1)

    def _empty(self, place: int, chunk: Chunk) -> Step:
        """Copy a result from its pinned buffer to where it belongs."""
        band, result = chunk.band, self._ring[place % self._many][1]
        pair = self._target[band.start : band.stop], result[: band.stop - band.start]
        return HostTask(
            self._copy, ([pair], self._threads), chunk.named("empty"), (chunk.named("download"),), pair[1:], pair[:1]
        )
