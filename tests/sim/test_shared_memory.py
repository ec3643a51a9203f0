"""What the simulated GPU says of shared memory where blocks differ and where a kernel has several variables."""

from __future__ import annotations

import numpy as np

from tests.sim.bench import Case, launch

SOURCE = """
extern "C" __global__ void k(float* out, int n) {
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
    if (blockIdx.x % 2 == 0) __syncthreads();  // the odd blocks go on without
#endif
    out[blockIdx.x * 64 + t] = READS[other];
}
"""


def findings(some: int, reads: str = "second"):  # type: ignore[no-untyped-def]
    args = np.zeros(4 * 64, np.float32), np.int32(256)
    return launch(Case(SOURCE, "k", (4, 1, 1), (64, 1, 1), args, defines={"SOME": some, "READS": reads})).findings


def test_a_barrier_of_some_blocks_orders_nothing_in_the_others() -> None:
    (hazard,) = findings(some=1)
    assert hazard.kind == "read-after-write hazard" and hazard.block == (1, 0, 0)
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
