"""Launches of foreign kernels have the counts that Nsight Compute had of them on an H200, or are said to depend on the
thread that comes first.

All launches: python -m tests.sim.recorded_foreign."""

from __future__ import annotations

import pytest

from gpu_ops.devices.sass import disassembler
from gpu_ops.errors import DeviceError
from tests.sim.recorded_foreign import compared, recorded

EVERY = 40
"""Of the launches every so many is simulated."""
WIDE = {"sgemm_vectorized"}
TURNS = {"sum_by_cas", "kmeans_update", "bfs_level"}
"""Atomic operations that are tried again, in the source and by the assembler, and flags that other blocks write."""


@pytest.fixture(autouse=True)
def disassembled() -> None:
    """Skips where there is no machine code."""
    try:
        disassembler.program()
    except DeviceError as error:
        pytest.skip(str(error))


@pytest.mark.thorough
def test_launches_have_the_counts_of_nsight_compute() -> None:
    found = list(compared(recorded()[::EVERY]))
    assert len(found) >= 4
    assert not [str(one) for one in found if one.apart and not one.unknown]


@pytest.mark.thorough
def test_parts_of_a_warp_are_served_together_as_on_the_gpu() -> None:
    found = list(compared(one for one in recorded() if one.kernel in WIDE))
    assert found and not [str(one) for one in found if one.apart]


@pytest.mark.thorough
def test_counts_that_depend_on_which_thread_comes_first_are_said_to_be_unknown() -> None:
    found = list(compared(one for one in recorded() if one.kernel in TURNS))
    assert {one.launch.kernel for one in found if one.unknown and one.apart} == TURNS
