"""What the time of a launch depends on, against figures worked out by hand: distinct sectors, and dependent chains."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.launch import Options, WaitingBlocks
from gpu_ops.plan import Launch, Plan

FILE = "tests/costs.cu"
SOURCE = """
extern "C" __global__ void same(const float* x, float* y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < 4; ++k) s += x[threadIdx.x + 8 * k];
    y[i] = s;
}
extern "C" __global__ void independent(const float* x, float* y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] + x[i + n] + x[i + 2 * n];
}
extern "C" __global__ void chased(const int* x, int* y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[x[x[i]]];
}
extern "C" __global__ void turns(const int* x, int* y, int n)
{
    int i = threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < n; ++k) i = x[i];
    y[blockIdx.x * blockDim.x + threadIdx.x] = i;
}
extern "C" __global__ void guarded(const float* x, float* y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float a = i < n ? x[i] : 0.0f, b = i + n < 2 * n ? x[i + 32] : 0.0f;
    y[i] = a + b;
}
extern "C" __global__ void columns(const float* x, float* y)
{
    y[threadIdx.x] = x[32 * threadIdx.x];
}
extern "C" __global__ void divided(const int* x, int* y, int n) { y[threadIdx.x] = x[threadIdx.x] % n; }
extern "C" __global__ void divided_64(const long long* x, long long* y, long long n)
{
    y[threadIdx.x] = x[threadIdx.x] / n;
}
extern "C" __global__ void multiplied(const int* x, int* y, int n) { y[threadIdx.x] = x[threadIdx.x] * n; }
extern "C" __global__ void unrolled(const float* x, float* y, int n)
{
    float s = 0;
    for (int k = 0; k < n; ++k) s = fmaf(s, x[threadIdx.x], 1.5f);
    y[threadIdx.x] = s;
}
extern "C" __global__ void uneven(const int* x, int* y, int n)
{
    int i = threadIdx.x;
    if (threadIdx.x < 32)
#pragma unroll 1
        for (int k = 0; k < n; ++k) i = x[i];
    y[threadIdx.x] = i;
}
extern "C" __global__ void waits(volatile int* flags, int* y)
{
    if (blockIdx.x > 0) while (flags[blockIdx.x - 1] == 0) { }
    flags[blockIdx.x] = 1;
    y[blockIdx.x] = 1;
}
"""


def counts(kernel: str, *args: Any, grid: int = 1, block: int = 32, **options: Any) -> dict[str, int]:
    """The counts of one launch with its costs."""
    how = {"checks": "off", "counters": "full", "costs": True, **options}
    session = SimDevice("sm_90", Options(**how), assemble=True).session({FILE: SOURCE})
    given = tuple(np.int32(a) if type(a) is int else a if np.isscalar(a) else session.upload(a) for a in args)
    launch = Launch(session.kernel(FILE, kernel, {}), (grid, 1, 1), (block, 1, 1), given)
    return dict(session.execute(Plan((launch,), {})).counters)


def test_a_sector_that_a_block_loads_again_is_counted_once_for_it_and_once_for_its_batch() -> None:
    x, y = np.zeros(64, np.float32), np.zeros(128, np.float32)
    found = counts("same", x, y, grid=4)
    assert found["global_load_sectors"] == 4 * 4 * 4  # four loads of four sectors in each of four blocks
    assert found["block_load_sectors"] == 4 * 7  # 32 + 3 * 8 floats
    assert found["batch_load_sectors"] == 7
    assert found["block_store_sectors"] == found["batch_store_sectors"] == 16


def test_independent_loads_are_one_wait_and_dependent_ones_are_several() -> None:
    x, y = np.zeros(128, np.float32), np.zeros(32, np.float32)
    assert counts("independent", x, y, 32)["path_loads"] == 1
    numbers, out = np.arange(32, dtype=np.int32), np.zeros(64, np.int32)
    assert counts("chased", numbers, out)["path_loads"] == 3
    assert counts("turns", numbers, out, 7, grid=2)["path_loads"] == 2 * 7


def test_lines_are_those_that_each_request_touches() -> None:
    x, y = np.zeros(1024, np.float32), np.zeros(32, np.float32)
    found = counts("columns", x, y)
    assert (found["global_load_lines"], found["global_load_sectors"]) == (32, 32)
    assert (found["global_store_lines"], found["global_store_sectors"]) == (1, 4)


def test_instructions_are_those_of_the_machine_code() -> None:
    x, y = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    wide = np.arange(32, dtype=np.int64) + (1 << 40)  # smaller ones are divided as 32 bits
    simple, divided = counts("multiplied", x, y, 3), counts("divided", x, y, 3)
    called = counts("divided_64", wide, np.zeros(32, np.int64), np.int64(3))
    assert simple["issued"] <= simple["warp_instructions"] and "unit_special" not in simple
    assert divided["issued"] > simple["issued"] + 15 and divided["unit_special"] >= 3
    assert divided["path_cycles"] > simple["path_cycles"] + 80
    assert called["issued"] > divided["issued"] + 30  # a subroutine


def test_a_loop_that_the_assembler_unrolls_counts_once() -> None:
    x, y = np.zeros(32, np.float32), np.zeros(32, np.float32)
    turns = counts("unrolled", x, y, 400)["issued"] - counts("unrolled", x, y, 200)["issued"]
    assert 200 <= turns < 400  # one instruction a turn, and its share of those of the loop


def test_the_path_is_that_of_the_longest_warp_of_each_block() -> None:
    x, y = np.arange(256, dtype=np.int32), np.zeros(256, np.int32)
    alone, beside = counts("uneven", x, y, 50, block=32), counts("uneven", x, y, 50, block=256)
    assert alone["path_loads"] == beside["path_loads"] == 50
    assert beside["path_cycles"] == alone["path_cycles"]


def test_predicated_loads_are_in_flight_together() -> None:
    x, y = np.zeros(128, np.float32), np.zeros(32, np.float32)
    assert counts("guarded", x, y, 32)["path_loads"] == 1


@pytest.mark.parametrize("only", [1, 2])
def test_a_few_batches_stand_for_all(only: int) -> None:
    blocks = 4096
    x, y = np.zeros(3 * 32 * blocks, np.float32), np.zeros(32 * blocks, np.float32)
    whole = counts("independent", x, y, 32 * blocks, grid=blocks)
    part = counts("independent", x, y, 32 * blocks, grid=blocks, counters="sample", only=only)
    kept = [name for name in whole if not name.startswith(("block_loads", "launches"))]
    assert {name: part[name] for name in kept} == {name: whole[name] for name in kept} | {
        "warp_instructions": whole["warp_instructions"]
    }


def test_blocks_that_wait_for_one_another_are_refused() -> None:
    flags, y = np.zeros(512, np.int32), np.zeros(512, np.int32)
    with pytest.raises(WaitingBlocks, match="waits: its blocks wait for one another"):
        counts("waits", flags, y, grid=512, counters="sample", only=1)


def test_waiting_for_other_blocks_is_no_work() -> None:
    few, many = (counts("waits", np.zeros(n, np.int32), np.zeros(n, np.int32), grid=n) for n in (64, 128))
    assert many["issued"] == pytest.approx(2 * few["issued"], rel=0.1)
    assert many["path_cycles"] == pytest.approx(2 * few["path_cycles"], rel=0.1)
