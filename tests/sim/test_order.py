"""Kernels whose blocks wait for others, in adversarial orders: wrong ones are found, right ones stay right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpu_ops.devices.sim.launch import Options
from gpu_ops.errors import KernelError
from tests.sim.bench import Case, launch
from tests.sim.table import text

SOURCE = text("order.cu")
TILES = 40
VALUES = np.random.default_rng(5).integers(0, 100, TILES * 128).astype(np.int32)
SUMS = np.cumsum(VALUES.reshape(TILES, 128).sum(axis=1)).astype(np.int32)
ORDERS: dict[str, dict[str, Any]] = {
    "usual": {},
    "reverse": {"reverse": True},
    "delayed": {"late": 1},
    "shuffled": {"late": 2},
}
EXPECTED = {"flag_first": SUMS, "ticket_first": SUMS[-1:], "lane_left_out": SUMS, "mailbox": VALUES[:5]}


def _outcome(kernel: str, order: str, right: bool, architecture: str = "sm_75") -> Any:
    ints = [np.zeros(n, np.int32) for n in (TILES, 1, TILES, TILES)]
    defines = {"RIGHT": 1} if right else {}
    case = Case(SOURCE, kernel, (TILES, 1, 1), (128, 1, 1), (VALUES, *ints), defines=defines)
    outcome = launch(case, f"sim:{architecture}", Options(budget=1e6, **ORDERS[order]))
    return outcome, bool((outcome.arrays[1][: len(EXPECTED[kernel])] == EXPECTED[kernel]).all())


@pytest.mark.parametrize("architecture", ["sm_75", "sm_120"])
@pytest.mark.parametrize("kernel", EXPECTED)
def test_right_in_every_order(kernel: str, architecture: str) -> None:
    for order in ORDERS:
        outcome, right = _outcome(kernel, order, True, architecture)
        assert right and outcome.findings == (), order


@pytest.mark.parametrize("kernel", EXPECTED)
def test_wrong_in_an_adversarial_order(kernel: str) -> None:
    found = []
    for order in ("delayed", "shuffled"):
        try:
            found.append(not _outcome(kernel, order, False)[1])
        except KernelError:
            found.append(True)
    assert any(found)


@pytest.mark.parametrize("order", ["delayed", "shuffled"])
def test_an_order_is_the_same_each_time(order: str) -> None:
    first, second = (_outcome("flag_first", order, False)[0].arrays for _ in range(2))
    assert all((a == b).all() for a, b in zip(first, second, strict=True))
