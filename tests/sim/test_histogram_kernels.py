"""The histogram kernels on the simulated GPU: counts that pass what a byte holds, and how lanes meet at one bin."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from gpu_ops.devices import open_device
from gpu_ops.explaining.xray import xray
from gpu_ops.filters import find_filter
from gpu_ops.filters.histogram.contention import rounds
from gpu_ops.io import sample
from gpu_ops.types import Input
from tests.tasks import on

Array = np.ndarray[Any, Any]
HISTOGRAM = find_filter("histogram1d")
DEFAULTS = {p.name: p.default for p in HISTOGRAM.params}


def _counts(variant: str, x: Array, **knobs: Any) -> Array:
    """The 256 counts of a signal of bytes, found without a fault."""
    device = open_device("sim").session({})
    own = HISTOGRAM.variant(variant)
    task = on(HISTOGRAM, device.upload(x), DEFAULTS, {k.name: k.default for k in own.knobs} | knobs, device.limits)
    plan = own.plan(device, task)
    for _ in range(2):  # what blocks of one launch leave is what those of the next begin with
        assert device.execute(plan).findings == ()
    return device.download(plan.outputs["counts"])


def _alike(n: int, turn: int) -> Array:
    """One level, with another one at every so many-th place."""
    x = np.full(n, 200, np.uint8)
    x[::turn] = 3
    return x


@pytest.mark.parametrize("turn", [10**9, 2, 5, 7])
def test_bytes_of_a_thread_carry(turn: int) -> None:
    """64 threads count 600 samples each, most of one level, in pairs that are alike, that differ, and in between. With
    every fifth or seventh sample of another level, the counts of some lanes of a warp are full before the others'."""
    x = _alike(64 * 600 + 5, turn)
    assert (_counts("bytes", x, blocks=1, loads=1) == np.bincount(x, minlength=256)).all()


@pytest.mark.parametrize("n", [1, 1000, 70_001])
def test_the_first_block_clears_what_all_blocks_add_to(n: int) -> None:
    """Both runs count into the same outputs, which no step clears."""
    x = np.random.default_rng(0).integers(0, 256, n, np.uint8)
    for knobs in ({}, {"block": 64, "blocks": 4, "loads": 4}, {"block": 128, "copies": 1}):
        assert (_counts("lanes", x, **knobs) == np.bincount(x, minlength=256)).all()


def test_bytes_of_a_thread_are_added_before_they_are_full() -> None:
    x = _alike(32 * 1020, 7)
    assert (_counts("private", x, block=32, pixels=1020) == np.bincount(x, minlength=256)).all()


@pytest.mark.parametrize("name", ["constant", "natural", "uniform"])
def test_tags_take_as_many_rounds_as_the_fullest_bin_of_a_warp(name: str) -> None:
    x = {
        "constant": np.full(1000, 7, np.uint8),
        "natural": sample("camera").array[100:102].ravel(),
        "uniform": np.random.default_rng(0).integers(0, 256, 1000, np.uint8),
    }[name]
    by_hand = sum(max(Counter(x[k : k + 32].tolist()).values()) for k in range(0, len(x), 32))
    task = on(HISTOGRAM, x, DEFAULTS, {"block": 64, "pixels": 4})
    assert rounds(task) == by_hand
    found = xray(HISTOGRAM, HISTOGRAM.variant("tagged"), _input(x), {}, {"block": 64, "pixels": 4})
    assert found.totals["shared_store_requests"] == found.predicted["shared_store_requests"]
    assert not found.findings


@pytest.mark.parametrize("variant, block", [("global", 48), ("shared", 64), ("warp", 96)])
def test_collisions_are_those_that_the_samples_let_expect(variant: str, block: int) -> None:
    x = sample("camera").array[100:102].ravel()
    found = xray(HISTOGRAM, HISTOGRAM.variant(variant), _input(x), {"bins": 100}, {"block": block})
    assert found.totals["atomic_collisions"] == found.predicted["atomic_collisions"] > 0


def test_copies_of_all_lanes_have_neither_collisions_nor_bank_conflicts() -> None:
    """Equal samples meet in one bank of a single copy; 32 copies give each lane its own."""
    x = sample("camera").array[100:104].ravel()

    def counted(copies: int) -> tuple[int, int]:
        knobs = {"copies": copies, "block": 64, "blocks": 1}
        totals = xray(HISTOGRAM, HISTOGRAM.variant("lanes"), _input(x), {}, knobs).totals
        return totals.get("atomic_collisions", 0), totals["shared_wavefronts"] - totals["shared_ideal_wavefronts"]

    assert counted(1)[0] > 0 and counted(1)[1] > 0
    assert counted(32) == (0, 0)


def _input(x: Array) -> Input:
    return Input("signal", x, "t", "test", {})
