"""Copies of every kind of host memory over their size: to the device, to the host, and both at once; and what it costs
to page-lock existing memory."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_ops.devices.instruments import COPY
from gpu_ops.devices.launches import grid1d
from gpu_ops.errors import KernelError, KernelscopeError
from gpu_ops.explaining.transfers.catalogue import DIRECTIONS, HOST_KINDS, MANAGED, REGISTERED, Direction
from gpu_ops.explaining.transfers.meter import Meter
from gpu_ops.explaining.transfers.sweep import Point
from gpu_ops.filters.transfer.strategies import touch
from gpu_ops.host import free_memory
from gpu_ops.plan import Copy, Device, DeviceArray, HostTask, Launch, MemoryKind, Plan, Prefetch, Step
from gpu_ops.progress import advance

Array = np.ndarray[Any, Any]
SIZES = tuple(1 << power for power in range(12, 31, 2))
"""From 4 KiB to 1 GiB."""
BUFFER = 4 << 20
"""Bytes of one of the pinned buffers through which staged copies go."""
RING, THREADS = 3, 8
BLOCK, WORDS = 256, 4
"""Threads of a block, and 16-byte words of a thread, of the kernel that copies mapped and managed memory."""
AT_ONCE = 4
"""Memory that a point takes on either side, as a multiple of its size."""
LOCKINGS = 5
"""How often memory is registered."""
SEED = 1 << 20
"""Different values of the data that is copied; longer ones repeat them."""


@dataclass(frozen=True, eq=False)
class Copies:
    """The steps that copy `source` to the device memory `x`, and the device memory `y` to `target`, which the host
    reads as `seen`. `before` moves managed pages to where they are copied from."""

    up: Sequence[Step]
    down: Sequence[Step]
    x: DeviceArray
    seen: Array
    before: Plan | None = None

    def plan(self, direction: Direction) -> Plan:
        """The plan of a direction. Both at once are in streams of their own."""
        steps = {"to device": self.up, "to host": self.down, "both": _alternating(self.up, self.down)}
        return Plan(tuple(steps[direction]), {})


def points(meter: Meter, notes: list[str], sizes: Sequence[int] = SIZES) -> Iterator[Point]:
    """A point for each kind, size and direction; `notes` says what is left out. What was measured was right: the bytes
    that arrived are compared."""
    for done, (kind, nbytes) in enumerate(cases := [(k, n) for k in HOST_KINDS for n in sizes]):
        advance(done, len(cases))
        if meter.measures and AT_ONCE * nbytes > (free := min(free_memory(), meter.session.free_bytes())):
            needed = f"{nbytes >> 20} MiB of {kind} memory are left out: they take {AT_ONCE} times as much"
            notes.append(f"{needed}, and {free >> 20} MiB are free.")
            continue
        try:
            yield from _of_size(meter, kind, nbytes)
        except KernelscopeError as error:
            notes.append(f"{kind}, {nbytes:,} bytes: {error}")


def _of_size(meter: Meter, kind: str, nbytes: int) -> list[Point]:
    data = _data(nbytes) if meter.measures else np.empty(nbytes // 4, np.uint32)
    copies = copies_of(meter.session, kind, data, fill=meter.measures)
    directions = DIRECTIONS[: 2 if kind in MANAGED else 3]  # not everywhere may the host access it beside a kernel
    times = [meter.time(copies.plan(direction), copies.before) for direction in directions]
    if meter.measures:
        check(meter.session, copies, data)
    about = {"memory": kind, "nbytes": nbytes}
    return [{**about, "direction": one, "time": seconds} for one, seconds in zip(directions, times, strict=True)]


def _data(nbytes: int) -> Array:
    values = np.random.default_rng(nbytes).integers(1, 1 << 32, min(nbytes // 4, SEED), np.uint32)
    return np.resize(values, nbytes // 4)


def check(device: Device, copies: Copies, data: Array) -> None:
    """Raises KernelError where the bytes that were copied are not those of the data."""
    if not (np.array_equal(device.download(copies.x), data) and np.array_equal(copies.seen, data)):
        raise KernelError("the copied bytes differ from the source; the time is worth nothing")


def copies_of(device: Device, kind: str, data: Array, fill: bool = True) -> Copies:
    """The copies of `data` (N,) uint32 with a kind of host memory; without `fill` the memory stays as it is."""
    shape, dtype = data.shape, data.dtype
    memory: MemoryKind = {"staged": "pageable", "prefetched": "managed"}.get(kind, kind)  # type: ignore[assignment]
    source, target = (device.allocate(memory, shape, dtype) for _ in range(2))
    seen = [device.host_view(array) if memory in ("mapped", "managed") else array for array in (source, target)]
    x, y = device.empty(shape, dtype), device.empty(shape, dtype)
    if fill:
        device.download(data, out=seen[0])
        device.upload(data, out=y)
    if kind == "staged":
        ring = _Ring(device, data.nbytes)
        return Copies(list(ring.fill(x, source)), list(ring.empty(target, y)), x, seen[1])
    if memory not in ("mapped", "managed"):
        return Copies([Copy(x, source, "upload", 1)], [Copy(target, y, "download", 2)], x, seen[1])
    up, down = _launch(device, x, source, "load", 1), _launch(device, target, y, "store", 2)
    if kind == "mapped":
        return Copies([up], [down], x, seen[1])
    ahead = [Prefetch(source, "device", "prefetch source", 1)] if kind == "prefetched" else []
    back = [Prefetch(target, "host", "prefetch target", 2)] if kind == "prefetched" else []
    read = HostTask(touch, (seen[1], False), "host reads", tuple(step.name for step in back), (seen[1],))
    write = HostTask(touch, (seen[0], True), "host writes", writes=(seen[0],))
    return Copies([*ahead, up], [*back, read], x, seen[1], Plan((write, down), {}))


def _launch(device: Device, target: DeviceArray, source: DeviceArray, name: str, stream: int) -> Launch:
    """A kernel that copies between the device and host memory which it accesses over the bus."""
    words = np.int64(target.nbytes // 16)
    kernel = device.kernel(COPY.source, COPY.name, COPY.defines)
    grid = grid1d(int(words), BLOCK * WORDS)
    return Launch(kernel, grid, (BLOCK, 1, 1), (source, target, words), name=name, stream=stream)


class _Ring:
    """Pinned buffers through which threads of the host and a copy engine hand on pageable memory, in parts."""

    def __init__(self, device: Device, nbytes: int) -> None:
        from gpu_ops.filters.kit.host_copy import copy  # loads Numba

        self._copy = copy
        values = min(BUFFER, nbytes) // 4
        self._buffers = [[device.allocate("pinned", (values,), np.uint32) for _ in range(RING)] for _ in range(2)]
        self._parts = [slice(start, min(start + values, nbytes // 4)) for start in range(0, nbytes // 4, values)]

    def fill(self, x: DeviceArray, source: Array) -> Iterator[Step]:
        """The host fills a buffer while the one before is copied to the device."""
        for number, part in enumerate(self._parts):
            buffer = self._buffers[0][number % RING][: part.stop - part.start]
            after = (f"upload {number - RING}",) if number >= RING else ()
            pair = (buffer, source[part])
            yield HostTask(self._copy, ([pair], THREADS), f"fill {number}", after, pair[1:], pair[:1])
            yield Copy(x[part], buffer, f"upload {number}", 1 + number % RING)

    def empty(self, target: Array, y: DeviceArray) -> Iterator[Step]:
        """The host empties a buffer while the ones behind are copied from the device."""
        many = len(self._parts)
        for number in range(many + RING - 1):
            if number < many:
                part = self._parts[number]
                buffer = self._buffers[1][number % RING][: part.stop - part.start]
                yield Copy(buffer, y[part], f"download {number}", 1 + RING + number % RING)
            if 0 <= (done := number - RING + 1) < many:
                part = self._parts[done]
                pair = target[part], self._buffers[1][done % RING][: part.stop - part.start]
                yield HostTask(
                    self._copy, ([pair], THREADS), f"empty {done}", (f"download {done}",), pair[1:], pair[:1]
                )


def _alternating(up: Sequence[Step], down: Sequence[Step]) -> list[Step]:
    """Both in turns: the host comes to each as early as it can."""
    longest = max(len(up), len(down))
    return [step for k in range(longest) for one in (up, down) for step in one[k : k + 1]]


def locking_points(meter: Meter, sizes: Sequence[int] = REGISTERED) -> Iterator[Point]:
    """A point for each size: the time of a copy to the device while the memory is pageable and when it is registered,
    and the `locking` time, for registering and unregistering it once."""
    for done, nbytes in enumerate(sizes):
        advance(done, len(sizes))
        x = meter.session.empty((nbytes,), np.uint8)
        times = {kind: _upload(meter, kind, nbytes, x) for kind in ("pageable", "registered")}
        yield {"nbytes": nbytes, **times, "locking": _locking(meter, nbytes)}


def _upload(meter: Meter, kind: str, nbytes: int, x: object) -> float:
    source = meter.session.allocate(kind, (nbytes,), np.uint8)  # type: ignore[arg-type]
    if meter.measures:
        source[:] = 1  # memory that was never written has no pages of its own
    return meter.time(Plan((Copy(x, source, "upload", 1),), {}))


def _locking(meter: Meter, nbytes: int) -> float:
    if not meter.measures:
        return 1.0 if meter.rates is None else meter.rates.lock_latency + nbytes / meter.rates.locking
    found = []
    for _ in range(LOCKINGS):
        array = np.ones(nbytes, np.uint8)
        start = time.perf_counter()
        meter.session.register(array)
        meter.session.unregister(array)
        found.append(time.perf_counter() - start)
    return statistics.median(found)
