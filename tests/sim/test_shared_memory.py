"""What the simulated GPU says of shared memory where blocks differ and where a kernel has several variables."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from gpu_ops.devices import open_device
from gpu_ops.devices.sim.shared import SharedMemory
from tests.sim.bench import FILE, Case, launch

SOURCE = """
extern "C" __global__ void k(float* out, volatile int* flag, int n) {
    __shared__ float first[64];
    __shared__ float second[64];
    __shared__ float third[64];
    const int t = threadIdx.x, other = (t + 32) % 64;
    first[t] = t;
    second[t] = 2 * t;
#if SOME == 2
    __syncthreads();
#endif
#if SOME == 1
    if (blockIdx.x % 2 == MEETS) {
        __syncthreads();
        *flag = 1;
    } else {  // these blocks wait for the others, and their own threads for nobody
        while (*flag == 0);
    }
#endif
    out[blockIdx.x * 64 + t] = READS[other];
}
"""


def findings(some: int, reads: str = "second", meets: int = 0):  # type: ignore[no-untyped-def]
    args = np.zeros(4 * 64, np.float32), np.zeros(1, np.int32), np.int32(256)
    return launch(
        Case(SOURCE, "k", (4, 1, 1), (64, 1, 1), args, defines={"SOME": some, "READS": reads, "MEETS": meets})
    ).findings


@pytest.mark.parametrize("meets", [0, 1])
def test_a_barrier_of_some_blocks_orders_nothing_in_the_others(meets: int) -> None:
    (hazard,) = findings(some=1, meets=meets)
    assert hazard.kind == "read-after-write hazard" and hazard.block == (1 - meets, 0, 0)
    assert hazard.count == 2 * 64, "half of the blocks"


def test_lanes_of_all_blocks_are_counted_where_all_blocks_do_the_same() -> None:
    (hazard,) = findings(some=0)
    assert hazard.count == 4 * 64 and (hazard.block, hazard.thread) == ((0, 0, 0), (0, 0, 0))


def test_uninitialised_reads_of_all_blocks_are_counted() -> None:
    (unwritten,) = findings(some=2, reads="third")
    assert unwritten.kind == "uninitialised read" and unwritten.count == 4 * 64


def test_a_barrier_of_all_blocks_orders_everything() -> None:
    assert findings(some=2) == ()


def test_a_finding_names_the_variable_that_is_meant() -> None:
    for reads in ("first", "second"):
        (hazard,) = findings(some=0, reads=reads)
        assert f"reads byte 128 of {reads}, which thread 32 wrote" in hazard.detail


@pytest.mark.parametrize("names", [(("a", 0, 8), ("b", 8, 16)), (("b", 8, 16), ("a", 0, 8))])
def test_a_byte_belongs_to_the_variable_around_it(names: tuple[tuple[str, int, int], ...]) -> None:
    memory = SimpleNamespace(names=names)
    found = [SharedMemory.name(memory, byte) for byte in (0, 7, 8, 15, 16)]  # type: ignore[arg-type]
    assert found == ["byte 0 of a", "byte 7 of a", "byte 0 of b", "byte 7 of b", "byte 16 of shared memory"]


VARIABLES = """
__constant__ float weights[4];
__device__ int counter;
extern "C" __global__ void k(float* out) {
    __shared__ float box[64];
    box[threadIdx.x] = weights[threadIdx.x & 3] + counter;
    __syncthreads();
    out[threadIdx.x] = box[63 - threadIdx.x];
}
"""


def test_shared_variables_have_no_memory_of_the_device() -> None:
    kernel = open_device("sim").session({FILE: VARIABLES}).kernel(FILE, "k")
    assert set(kernel.variables) == {"weights", "counter"}
