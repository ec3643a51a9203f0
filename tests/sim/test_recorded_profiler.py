"""The simulated GPU's counts are those that Nsight Compute had of the same launches on an H200.

All launches: python -m tests.sim.recorded_profiler."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from gpu_ops.devices.sass import disassembler
from gpu_ops.errors import DeviceError
from tests.sim.recorded_profiler import Case, compared, recorded

EQUAL = 0.95
"""The least share of launches whose four counts are equal: 242 of 253 were, of a random choice of cases."""
SMALL, EVERY = 50_000, 6
"""Cases with at most so many samples, of which every sixth is simulated."""
DRIFTED = Case("histogram1d", "private", "float32", (100003,), "reflect")
"""Lanes of a warp that leave the search for their bin at different times, in a loop with atomics."""
UNROLLED = Case("reduce1d", "warp_shuffle", "uint8", (100003,), "reflect")
"""A warp with lanes that have a pass more than others, in a loop that the assembler unrolls."""
PAIRED = Case("histogram2d", "warp", "float64", (129, 127, 3), "zero")
"""Loads of 64 bits by some lanes of a warp, of which two halves are served together where no bank has two words."""


@pytest.fixture
def disassembled() -> None:
    """Skips where there is no machine code."""
    try:
        disassembler.program()
    except DeviceError as error:
        pytest.skip(str(error))


def small() -> list[Case]:
    return [case for case in recorded() if math.prod(case.shape) <= SMALL][::EVERY]


@pytest.mark.thorough
@pytest.mark.usefixtures("disassembled")
def test_most_recorded_launches_have_the_counts_of_nsight_compute() -> None:
    found = list(compared(small()))
    assert len(found) > 20 and len({one.kernel for one in found}) > 15
    apart = [one for one in found if one.apart]
    assert len(apart) <= (1 - EQUAL) * len(found), "\n".join(map(str, apart))


@pytest.mark.thorough
@pytest.mark.usefixtures("disassembled")
@pytest.mark.parametrize(
    "case", [DRIFTED, UNROLLED, PAIRED], ids=["atomics without a reader", "an unrolled loop", "pairs"]
)
def test_lanes_are_together_where_they_are_on_the_gpu(case: Case) -> None:
    assert not [str(one) for one in compared([case]) if one.apart]


def test_launches_of_all_filters_are_recorded() -> None:
    launches = Counter(case.filter for case, steps in recorded().items() for _ in steps)
    assert launches.total() > 600 and len(launches) >= 12, launches
