"""The bandwidth of each memory of a device, measured on that device in the same process: copying, and only reading; and
the latency of a launch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import numpy as np

from gpu_ops.devices import open_device
from gpu_ops.devices.data_sheets import peak_of
from gpu_ops.devices.instruments import COPY, EMPTY, READ, reading
from gpu_ops.devices.launches import grid1d
from gpu_ops.plan import Call, Copy, Device, DeviceArray, Launch, Plan
from gpu_ops.progress import advance, stop_request
from gpu_ops.running.timing import QUICK, Samples, measure_interleaved, rotated

LARGEST = 2 << 30
SAME_SIZE_BELOW = 512 << 20
BLOCK, WORDS = 256, 4
"""Threads per block; 16-byte words per thread of the copy kernel, which its UNROLL must equal."""
FILLED = 0x5A17C3E9
"""Bits that toggle, as those of real data do; zeros can be faster than anything else."""
UNROLL = 4
"""16-byte words that a thread reads before it uses the first."""
CPU_CACHES = 16
"""The most last-level caches that a CPU's buffers fill; larger buffers only take longer."""
CPU_SMALLEST = 256 << 20
LEVEL_BLOCKS, LEVEL_BLOCK = 2, 512
"""Blocks per multiprocessor, and threads per block, of the kernel that reads a slice again and again. Of L2 the slice
and its copy take at most a half, because each half of it may keep its own; where that is too little for two blocks on a
multiprocessor there is one."""
LEVEL_SECONDS, GUESSED = 5e-4, {"L2": 4e12, "L1": 1.6e13, "shared": 1.6e13}
"""The approximate time of one launch of that kernel, and the bytes per second that its passes are chosen by."""

Level = Literal["L2", "L1", "shared"]


@dataclass(frozen=True)
class Roofs:
    """Bytes per second. `copy` counts bytes read and written, `read` bytes read; `nbytes` is the size of one buffer.
    `l2_copy` and `l2_read` are those of buffers that stay in L2, `l1_read` and `shared_read` those of all
    multiprocessors together. `launch` and `graph_launch` are the seconds from one empty kernel to the next, in a stream
    and in a CUDA graph; `l2_bytes` is the size of L2. They are None for a CPU. `peak` is the copy and read bandwidth by
    the data sheet, None for a device that is not in the table."""

    copy: float
    read: float
    nbytes: int
    l2_copy: float | None = None
    l2_read: float | None = None
    l1_read: float | None = None
    shared_read: float | None = None
    launch: float | None = None
    graph_launch: float | None = None
    l2_bytes: int | None = None
    peak: float | None = None


@cache
def roofs(device_name: str) -> Roofs:
    """The roofs of a device, with buffers of min(2 GiB, a quarter of the free memory). Raises Cancelled when the
    listener stops the work; the next call measures them again."""
    device = open_device(device_name)
    if device.kind == "sim":
        device.sampler((), "stream")  # raises for a simulated GPU, which has no time, before gigabytes are filled
    nbytes = min(LARGEST, device.free_bytes() // 4)
    if device.kind == "cpu":
        nbytes = min(nbytes, max(CPU_CACHES * device.limits.l2_bytes, CPU_SMALLEST))
    found = _measure(device, nbytes // 16 * 16)
    if device.kind != "cuda":
        return found
    known: dict[str, Any] = _levels(device)
    return replace(found, **known, l2_bytes=device.limits.l2_bytes, peak=peak_of(str(device.describe()["model"])))


@cache
def roofs_at(device_name: str, nbytes: int) -> Roofs:
    """The roofs with one buffer of `nbytes`, rotated like a filter's own; the large ones from 512 MiB on."""
    large = roofs(device_name)
    if nbytes >= min(SAME_SIZE_BELOW, large.nbytes):
        return large
    return _measure(open_device(device_name), max(nbytes // 16, 1) * 16)


def _measure(device: Device, nbytes: int) -> Roofs:
    copies = rotated(device.limits.l2_bytes, nbytes)
    pairs = []
    for k in range(copies):
        advance(k, 2 * copies)
        pairs.append(_buffers(device, nbytes))
    candidates = _gpu_plans(device, pairs) if device.kind == "cuda" else _cpu_plans(pairs)
    samplers: dict[str, Samples] = {name: device.sampler(plans, "stream") for name, plans in candidates.items()}
    medians: dict[str, float] = {}
    for name, timing in measure_interleaved(samplers, QUICK, stop=stop_request()):
        medians[name] = timing.median
        advance(len(samplers) + len(medians), 2 * len(samplers))
    fastest_copy = min(seconds for name, seconds in medians.items() if name != "read")
    return Roofs(2 * nbytes / fastest_copy, nbytes / medians["read"], nbytes)


def _buffers(device: Device, nbytes: int) -> tuple[DeviceArray, DeviceArray]:
    source, target = (device.empty((nbytes // 4,), np.uint32) for _ in range(2))
    device.fill(source, FILLED)
    device.fill(target, 0)
    return source, target


def _gpu_plans(device: Device, pairs: list[tuple[DeviceArray, DeviceArray]]) -> dict[str, list[Plan]]:
    """A copy kernel with 16-byte accesses, the driver's own copy, and a kernel that only reads."""
    copy = device.kernel(COPY.source, COPY.name, COPY.defines)
    read = device.kernel(READ.source, READ.name, READ.defines)
    sink = device.empty((1,), np.uint32)
    words = np.int64(pairs[0][0].nbytes // 16)
    grid = grid1d(int(words), BLOCK * WORDS)
    plans: dict[str, list[Plan]] = {"copy": [], "driver copy": [], "read": []}
    for source, target in pairs:
        plans["copy"].append(_one(Launch(copy, grid, (BLOCK, 1, 1), (source, target, words), name="copy")))
        plans["driver copy"].append(_one(Copy(target, source)))
        plans["read"].append(_one(Launch(read, grid, (BLOCK, 1, 1), (source, sink, words), name="read")))
    return plans


def _cpu_plans(pairs: list[tuple[DeviceArray, DeviceArray]]) -> dict[str, list[Plan]]:
    """NumPy's copy on one core, and compiled loops on all cores."""
    from gpu_ops.running.host_memory import copy_parallel, sum_parallel

    return {
        "copy": [_one(Call(copy_parallel, pair, name="copy")) for pair in pairs],
        "one-core copy": [_one(Copy(target, source)) for source, target in pairs],
        "read": [_one(Call(sum_parallel, (source,), name="read")) for source, _ in pairs],
    }


def _levels(device: Device) -> dict[str, float]:
    """The roofs above DRAM by field of Roofs, and the latencies of a launch."""
    empty = _one(Launch(device.kernel(EMPTY.source, EMPTY.name, EMPTY.defines), (1, 1, 1), (1, 1, 1), (), name="empty"))
    samplers: dict[str, Samples] = {
        "launch": device.sampler([empty], "stream"),
        "graph_launch": device.sampler([empty], "hot"),
    }
    nbytes: dict[str, int] = {}
    levels: tuple[tuple[str, Level, bool], ...] = (
        ("l2_copy", "L2", True),
        ("l2_read", "L2", False),
        ("l1_read", "L1", False),
        ("shared_read", "shared", False),
    )
    for name, level, copies in levels:
        reads = Reads.of(device, level, copies)
        samplers[name], nbytes[name] = device.sampler([reads.plan(device)], "stream"), reads.moved
    timings = dict(measure_interleaved(samplers, QUICK, stop=stop_request()))
    return {name: nbytes[name] / t.median if name in nbytes else t.median for name, t in timings.items()}


@dataclass(frozen=True)
class Reads:
    """A launch whose blocks read their slices of a buffer `passes` times out of a level, or copy them within it. Slices
    have `words` of 16 bytes; L2 has one slice, which all blocks walk together."""

    level: Level
    copies: bool
    blocks: int
    threads: int
    words: int
    passes: int

    @classmethod
    def of(cls, device: Device, level: Level, copies: bool) -> Reads:
        """The launch that measures a device's roof: its slices fit into the level."""
        blocks, words = LEVEL_BLOCKS * device.limits.multiprocessors, LEVEL_BLOCK * UNROLL
        if level == "L2":
            half = device.limits.l2_bytes // 2 // (1 + copies)
            blocks = blocks if 16 * words * blocks <= half else device.limits.multiprocessors
            words *= blocks * max(half // 2 // (16 * words * blocks), 1)
        once = cls(level, copies, blocks, LEVEL_BLOCK, words, 1)
        return replace(once, passes=max(int(GUESSED[level] * LEVEL_SECONDS / once.moved), 1))

    @property
    def buffer(self) -> int:
        """The 16-byte words of all slices."""
        return self.words * (1 if self.level == "L2" else self.blocks)

    @property
    def moved(self) -> int:
        """The bytes that the level delivers and takes."""
        return 16 * self.buffer * self.passes * (1 + self.copies)

    def plan(self, device: Device) -> Plan:
        """Its outputs are the `source`, the `target` of copies, and a fold for each thread."""
        source, target = (
            device.empty((4 * size,), np.uint32) for size in (self.buffer, self.buffer if self.copies else 1)
        )
        device.fill(source, FILLED)
        return self.plan_on(device, source, target)

    def plan_on(self, device: Device, source: DeviceArray, target: DeviceArray) -> Plan:
        """The plan on memory that is there."""
        instrument = reading(self.level, self.copies, UNROLL)
        folds = device.empty((self.blocks * self.threads,), np.uint32)
        launch = Launch(
            device.kernel(instrument.source, instrument.name, instrument.defines),
            (self.blocks, 1, 1),
            (self.threads, 1, 1),
            (source, target, folds, np.int64(self.words), np.int32(self.passes)),
            16 * self.words if self.level == "shared" else 0,
            name=f"read {self.level}",
        )
        return Plan((launch,), {"source": source, "target": target, "folds": folds})


def _one(step: Any) -> Plan:
    return Plan((step,), {})
