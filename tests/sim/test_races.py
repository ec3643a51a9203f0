"""Races in global memory are found, on their line; correct kernels raise nothing in any order."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_ops.devices.sim.launch import Options
from tests.sim.bench import Case, Outcome, launch
from tests.sim.table import text

SOURCE = text("races.cu")
BLOCKS, N = 6, 6 * 128
UNFENCED = "read-after-write hazard, missing __threadfence()"
RACES = {
    "no_fence": (UNFENCED, "reads sums[0], which block 0 wrote in line 15 and signalled with no __threadfence()"),
    "no_fence_volatile": (UNFENCED, "reads sums[1], which block 1 wrote in line 28"),
    "no_fence_counts": (UNFENCED, "reads sums["),
    "no_fence_chain": (UNFENCED, "reads sums[0], which block 0 wrote in line "),
    "relaxed_chain": (UNFENCED, "reads sums[0], which block 0 wrote in line "),
    "narrow_fence": (UNFENCED, "reads sums[0], which block 0 wrote in line "),
    "within_a_block": (
        "read-after-write hazard in global memory",
        "reads sums[127], which thread 127 wrote with no __syncthreads() in between",
    ),
    "read_then_written": (
        "write-after-read hazard in global memory",
        "writes out[0], which thread 88 read with no __syncthreads() in between",
    ),
    "within_a_warp": ("read-after-write hazard in global memory", "reads sums[1], which thread 1 wrote with no"),
    "read_by_all": ("write-after-read hazard in global memory", "writes out[0], which thread 127 read with no"),
    "less_the_first": ("write-after-read hazard in global memory", "writes out[0], which thread 127 read with no"),
    "in_place": ("write-after-read hazard between blocks", "writes out[128], which block 0 read; nothing orders"),
    "other_block": ("read-after-write hazard between blocks", "reads sums[0], which block 0 wrote in line "),
    "same_element": ("write-after-write hazard in global memory", "writes out[0], as thread"),
}

SHOWN_IN = {"no_fence_counts": {"late": 2}}
"""The order that shows a race, if the usual one does not."""


def _launch(kernel: str, right: bool, architecture: str = "sm_75", **options: object) -> Outcome:
    ints = [np.arange(n, dtype=np.int32) for n in (N, N)] + [np.zeros(n, np.int32) for n in (N, 1, N)]
    case = Case(SOURCE, kernel, (BLOCKS, 1, 1), (128, 1, 1), ints, defines={"RIGHT": 1} if right else {})
    return launch(case, f"sim:{architecture}", Options(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize("architecture", ["sm_75", "sm_120"])
@pytest.mark.parametrize("kernel", RACES)
def test_a_race_is_found(kernel: str, architecture: str) -> None:
    kind, words = RACES[kernel]
    line = next(n for n, line in enumerate(SOURCE.splitlines(), 1) if line.endswith(f"//! {kernel}"))
    outcome = _launch(kernel, False, architecture, **SHOWN_IN.get(kernel, {}))
    here = [f for f in outcome.findings if f.kind == kind and f.line == line]
    assert here, [str(f) for f in outcome.findings]
    assert words in here[0].detail and here[0].severity == "error"


@pytest.mark.parametrize("architecture", ["sm_75", "sm_120"])
@pytest.mark.parametrize("kernel", RACES)
def test_the_corrected_kernel_raises_nothing(kernel: str, architecture: str) -> None:
    for options in ({}, {"reverse": True}, {"late": 1}, {"late": 2}):
        assert _launch(kernel, True, architecture, **options).findings == ()


HEAD = 'extern "C" __global__ void k(int* out, unsigned* count) { const int t = threadIdx.x, i = blockIdx.x * 64 + t; '
BARRIER = """__device__ void grid_sync(unsigned* count, unsigned goal)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1u);
        while (atomicAdd(count, 0u) < goal) {}
        __threadfence();
    }
    __syncthreads();
}
"""
FINE = {
    "a barrier of the grid": f"""{BARRIER}{HEAD} out[i] = i; grid_sync(count, gridDim.x);
        const int next = out[(i + 64) % 256]; grid_sync(count, 2 * gridDim.x); out[i] = next; }}""",
    "threads that end early": f"""{HEAD} __shared__ int box[64]; if (i >= 100) return; box[t] = i; __syncthreads();
        int sum = box[0]; for (int by = 2; by; by /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, by, 4);
        out[i] = sum; }}""",
    "a lock": f"""{HEAD} if (t > 0) return; while (atomicCAS(count, 0u, 1u) != 0) {{}} __threadfence(); out[0] += 1;
        __threadfence(); atomicExch(count, 0u); }}""",
    "a queue": f"{HEAD} const unsigned place = atomicAdd(count, 1u); out[place] = t; }}",
    "a maximum that is looked at first": f"{HEAD} if (*count < t) atomicMax(count, t); out[i] = 1; }}",
    "a sum of the block": f"{HEAD} atomicAdd(&out[i - t], t); __syncthreads(); if (t == 0) out[i] += 1; }}",
    "a pointer into an array": f"{HEAD} int* second = out + 128; if (i < 64) second[i] = second[i + 64] + 1; else "
    "if (i < 128) out[i] = out[i - 64]; }",
}


@pytest.mark.parametrize("name", FINE)
def test_correct_kernels_raise_nothing(name: str) -> None:
    for options in ({}, {"reverse": True}, {"late": 1}, {"late": 2}):
        args = np.zeros(256, np.int32), np.zeros(1, np.uint32)
        outcome = launch(Case(FINE[name], "k", (4, 1, 1), (64, 1, 1), args), options=Options(**options))  # type: ignore[arg-type]
        assert outcome.findings == (), [str(f) for f in outcome.findings]


TOTAL = f"{BARRIER}{HEAD} atomicAdd(&out[5], t); WAIT if (i == 0) out[0] = out[5]; }}"


@pytest.mark.parametrize("architecture", ["sm_75", "sm_120"])
def test_a_sum_of_all_blocks_is_read_after_a_barrier_of_the_grid(architecture: str) -> None:
    args = np.zeros(256, np.int32), np.zeros(1, np.uint32)
    for wait, found in (("grid_sync(count, gridDim.x);", set()), ("", {"read-after-write hazard between blocks"})):
        case = Case(TOTAL.replace("WAIT", wait), "k", (4, 1, 1), (64, 1, 1), args)
        outcome = launch(case, f"sim:{architecture}")
        assert outcome.kinds() == found and (found or outcome.arrays[0][0] == 4 * 63 * 32)


def test_blocks_that_write_the_elements_of_others() -> None:
    text = f"{HEAD} int* half = out + 64; if (blockIdx.x == 0) half[t] += 1; else out[t] = i; }}"
    args = np.zeros(256, np.int32), np.zeros(1, np.uint32)
    assert launch(Case(text, "k", (4, 1, 1), (64, 1, 1), args)).kinds() == {"two blocks write one element"}
