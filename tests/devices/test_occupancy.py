"""Occupancy against cases worked out by hand from the public rules."""

from __future__ import annotations

from typing import Any

import pytest

from gpu_ops.devices.limits import SHARED_KIB
from gpu_ops.devices.occupancy import MULTIPROCESSORS, by_block_size, is_known, occupancy
from gpu_ops.errors import DeviceError

KIB = 1024

CASES = {
    # Few registers: warps are the limit.
    ("sm_75", 256, 32, 0): (4, 32, "warps"),
    ("sm_80", 256, 32, 0): (8, 64, "warps"),
    ("sm_86", 256, 32, 0): (6, 48, "warps"),
    ("sm_86", 1024, 32, 0): (1, 32, "warps"),
    # Small blocks: there is room for so many only.
    ("sm_75", 32, 16, 0): (16, 16, "blocks"),
    ("sm_90", 32, 16, 0): (32, 32, "blocks"),
    ("sm_120", 32, 16, 0): (24, 24, "blocks"),
    ("sm_90", 20, 16, 0): (32, 32, "blocks"),
    **{(f"sm_{n}", 32, 16, 0): (16, 16, "blocks") for n in (86, 87)},
    **{(f"sm_{n}", 32, 16, 0): (24, 24, "blocks") for n in (89, 121)},
    **{(f"sm_{n}", 32, 16, 0): (32, 32, "blocks") for n in (80, 100, 103)},
    # One thread more than a warp is a warp more.
    ("sm_86", 33, 16, 0): (16, 32, "blocks"),
    ("sm_86", 97, 16, 0): (12, 48, "warps"),
    # Registers go to warps by 256; each quarter has 16,384.
    ("sm_80", 256, 64, 0): (4, 32, "registers"),
    ("sm_80", 256, 33, 0): (6, 48, "registers"),
    ("sm_80", 96, 40, 0): (16, 48, "registers"),
    ("sm_80", 256, 255, 0): (1, 8, "registers"),
    ("sm_75", 1024, 65, 0): (0, 0, "registers"),
    ("sm_86", 128, 48, 0): (10, 40, "registers"),
    ("sm_86", 128, 40, 0): (12, 48, "warps"),
    # Shared memory: the system takes 1 KiB a block since 8.0, in units of 128 bytes; before, units of 256.
    ("sm_90", 128, 32, 48 * KIB): (4, 16, "shared memory"),
    ("sm_90", 128, 32, 227 * KIB): (1, 4, "shared memory"),
    ("sm_86", 128, 32, 9 * KIB): (10, 40, "shared memory"),
    ("sm_86", 128, 32, 9 * KIB + 1): (9, 36, "shared memory"),
    ("sm_75", 64, 32, 48 * KIB): (1, 2, "shared memory"),
    ("sm_75", 64, 32, 4 * KIB + 1): (15, 30, "shared memory"),
    # Barriers: a multiprocessor has 64, a block one or, with numbers of their own, up to 16.
    ("sm_90", 64, 32, 0, 16): (4, 8, "barriers"),
    ("sm_90", 64, 32, 0, 9): (7, 14, "barriers"),
    ("sm_90", 64, 32, 0, 1): (32, 64, "warps"),
}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_blocks_that_fit(case: tuple[Any, ...]) -> None:
    found = occupancy(*case)
    assert (found.blocks, found.warps, found.limiter) == CASES[case]
    assert found.most == MULTIPROCESSORS[int(case[0][3:])].warps and found.share == found.warps / found.most


@pytest.mark.parametrize("number", MULTIPROCESSORS)
def test_a_block_may_use_all_shared_memory_that_it_can_opt_in_to(number: int) -> None:
    assert occupancy(f"sm_{number}", 128, 32, SHARED_KIB[number] * KIB).blocks == 1
    assert occupancy(f"sm_{number}", 128, 32, SHARED_KIB[number] * KIB + 1).blocks == 0


def test_every_block_size() -> None:
    found = by_block_size("sm_80", 40, 0)
    assert list(found) == list(range(32, 1025, 32))
    assert found[96] == occupancy("sm_80", 96, 40, 0)
    assert found[1024].warps == 32


def test_what_is_not_known_is_said() -> None:
    assert is_known("sm_90a") and not is_known("sm_999") and not is_known("sim")
    assert occupancy("sm_90a", 128, 32, 0) == occupancy("sm_90", 128, 32, 0)
    with pytest.raises(DeviceError, match="sm_999 is not known; choose from sm_75"):
        occupancy("sm_999", 128, 32, 0)
