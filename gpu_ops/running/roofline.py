"""The memory bandwidth of a device, measured on that device in the same process: copying, and only reading."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from gpu_ops.devices import open_device
from gpu_ops.devices.instruments import COPY, READ
from gpu_ops.devices.launches import grid1d
from gpu_ops.plan import Call, Copy, Device, DeviceArray, Launch, Plan
from gpu_ops.progress import advance, stop_request
from gpu_ops.running.timing import QUICK, Samples, measure_interleaved

LARGEST = 2 << 30
SAME_SIZE_BELOW = 512 << 20
ROTATION_BYTES = 256 << 20
MOST_COPIES = 64
BLOCK, WORDS = 256, 4
"""Threads per block; 16-byte words per thread of the copy kernel, which its UNROLL must equal."""
CPU_CACHES = 16
"""The most last-level caches that a CPU's buffers fill; larger buffers only take longer."""
CPU_SMALLEST = 256 << 20


@dataclass(frozen=True)
class Roofs:
    """Bytes per second. `copy` counts bytes read and written, `read` bytes read; `nbytes` is the size of one buffer."""

    copy: float
    read: float
    nbytes: int


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
    return _measure(device, nbytes // 16 * 16)


@cache
def roofs_at(device_name: str, nbytes: int) -> Roofs:
    """The roofs with one buffer of `nbytes`, rotated like a filter's own; the large ones from 512 MiB on."""
    large = roofs(device_name)
    if nbytes >= min(SAME_SIZE_BELOW, large.nbytes):
        return large
    return _measure(open_device(device_name), max(nbytes // 16, 1) * 16)


def _measure(device: Device, nbytes: int) -> Roofs:
    total = max(4 * device.limits.l2_bytes, ROTATION_BYTES)
    copies = int(min(max(total // (2 * nbytes), 1), MOST_COPIES))
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
    # Bits that toggle, as those of real data do; zeros can be faster than anything else.
    device.fill(source, 0x5A17C3E9)
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


def _one(step: Any) -> Plan:
    return Plan((step,), {})
