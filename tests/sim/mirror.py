"""A kernel that mirrors each block's samples in shared memory, with its barrier and without, run step by step."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.devices.sim.block_run.recording import Recording
from gpu_ops.devices.sim.block_run.run import BlockRun
from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.plan import Launch
from tests.sim.bench import FILE

MIRROR = """
extern "C" __global__ void mirror(const float* __restrict__ x, float* __restrict__ out, int n) {
    __shared__ float tile[96];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = i < n ? x[i] : 0.0f;
    tile[threadIdx.x] = value * 2.0f;
    BARRIER
    if (i >= n) return;
    if (threadIdx.x % 3 == 0) {
        out[i] = tile[blockDim.x - 1 - threadIdx.x];
    } else {
        for (int turn = 0; turn < threadIdx.x % 5; ++turn) value = value * x[turn] + 1.0f;
        out[i] = tile[threadIdx.x] + value;
    }
}
"""
ORDERED = MIRROR.replace("BARRIER", "__syncthreads();")
RACY = MIRROR.replace("BARRIER", "")
N = 170
BARRIER_LINE = 7


def recorded(
    text: str, place: tuple[int, int, int] = (0, 0, 0), order: int = 0, threads: int = 90, **more: Any
) -> BlockRun:
    """One block of mirror on 170 samples in two blocks of so many threads."""
    session = SimDevice().session({FILE: text})
    x, out = session.upload(np.arange(N, dtype=np.float32)), session.empty((N,), np.float32)
    one = Launch(session.kernel(FILE, "mirror"), (2, 1, 1), (threads, 1, 1), (x, out, np.int32(N)))
    return session.record_block(one, Recording(place, order, **more))
