"""The layouts on the simulated GPU: every count is the one that the addresses let expect, under each rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpu_ops.devices.coalescing import Rule
from gpu_ops.devices.compiler import ARCHITECTURES, compile_kernel
from gpu_ops.explaining.sentences import explain
from gpu_ops.explaining.spills import is_straight
from gpu_ops.explaining.xray import XRay, xray
from gpu_ops.filters import find_filter
from gpu_ops.filters.layout import instructions
from gpu_ops.running.runner import run_experiment
from gpu_ops.types import Experiment, Input, Pick

LAYOUT = find_filter("layout")
CASES: list[tuple[str, dict[str, Any]]] = [
    ("order", {}),
    ("order", {"block": 100}),
    ("shifted", {"shift": 1}),
    ("shifted", {"shift": 31, "block": 96}),
    ("swapped", {"block": 100}),
    ("gaps", {"rounds": 4}),
    ("stride", {"stride": 3}),
    ("stride", {"stride": 8, "block": 100}),
    ("packed", {}),
    ("aligned", {"block": 100}),
    ("arrays", {}),
    ("vectors", {"values": 3}),
    ("vectors", {"values": 4, "block": 100}),
    ("vectors", {"values": 8}),
    ("split", {"block": 16}),
    ("shared_stride", {"stride": 4}),
    ("shared_stride", {"stride": 9, "block": 100}),
    ("bytes", {"bytes": "adjacent"}),
    ("bytes", {"bytes": "spread", "block": 100}),
    ("broadcast", {"lane_stride": 0}),
    ("broadcast", {"lane_stride": 4, "block": 48}),
    *(("tiles", {"side": 16, "padding": k}) for k in (0, 1, 2)),
    *(("tiles", {"side": 32, "padding": k}) for k in (0, 1)),
    ("local", {"words": 4}),
    ("local", {"words": 32, "block": 100}),
    ("floats", {"parts": 3}),
    ("doubles", {"parts": 3}),
    ("spills", {"block": 16, "live_values": 32}),
    ("spills", {"block": 100}),
]


def _xray(
    variant: str, knobs: dict[str, Any], coalescing: Rule = "today", dtype: Any = np.float32, n: int = 1003
) -> XRay:
    x = np.random.default_rng(0).random(n, dtype)
    found = xray(LAYOUT, LAYOUT.variant(variant), Input("signal", x, "t", "test", {}), {}, knobs, coalescing=coalescing)
    assert not found.findings
    return found


@pytest.mark.parametrize("rule", ["1.0", "1.2"])
@pytest.mark.parametrize("variant", ["shifted", "swapped", "gaps", "stride", "packed", "arrays", "vectors"])
def test_transactions_are_those_of_the_addresses(variant: str, rule: Rule) -> None:
    """By the rules of older GPUs, with a block whose last warp is a part of one."""
    found = _xray(variant, {"block": 100}, coalescing=rule)
    named = {id for id in found.totals if "_transaction" in id}
    assert len(named) == 4 and {id: found.predicted[id] for id in named} == {id: found.totals[id] for id in named}


@pytest.mark.parametrize("variant", ["order", "shifted", "stride"])
def test_words_of_eight_bytes_take_twice_the_sectors(variant: str) -> None:
    found = _xray(variant, {"block": 100}, dtype=np.float64)
    assert {id: found.totals[id] for id in found.predicted} == found.predicted
    assert found.totals["global_load_ideal_sectors"] > 8 * 31


@pytest.mark.parametrize("variant, knobs", CASES, ids=str)
def test_counts_are_those_of_the_addresses(variant: str, knobs: dict[str, Any]) -> None:
    found = _xray(variant, knobs)
    assert {id: found.totals[id] for id in found.predicted} == found.predicted
    assert found.predicted["global_load_sectors"] > 0
    if found.expected:
        first, inner, last = (found.kernels[0].block_loads[block] for block in ("first", "inner", "last"))
        expected = found.expected
        assert (first, inner, last) == (expected.first, expected.inner, expected.last)
        assert found.totals["global_load_threads"] == expected.total
    counted = {id for id in found.totals if id.startswith(("global_", "shared_", "local_"))}
    assert counted <= set(found.predicted), "nothing is counted that is not predicted"


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_cap_on_registers_spills_and_the_log_counts_it(architecture: str) -> None:
    """A thread of the capped kernel holds more values than it has registers; without the cap it has enough."""
    defines = {"BLOCK": 192, "LIVE": 64}
    capped, free = (
        compile_kernel("layout/16_spills.cu", architecture, {**defines, "REGISTERS": r})
        .entry("layout_spills")
        .resources
        for r in (32, 0)
    )
    for spilled in ("spill_store_bytes", "spill_load_bytes"):
        assert capped[spilled] >= instructions.WORD * (64 - 32) and free[spilled] == 0
    assert capped["registers"] <= 32 < 64 < free["registers"]


def test_spills_move_sectors_that_no_source_line_shows() -> None:
    """A whole block of 24 threads, which is a part of a warp: 3 sectors per word. Its log counts each spill once."""
    found = _xray("spills", {"block": 24, "live_values": 32, "registers": 24}, n=768)
    (kernel,) = found.kernels
    spilled = kernel.resources["spill_store_bytes"] + kernel.resources["spill_load_bytes"]
    assert spilled > 0 and kernel.grid == (1, 1, 1) and "local_sectors" not in found.totals
    assert (found.totals["spill_bytes"], found.totals["spill_sectors"]) == (24 * spilled, 3 * spilled // 4)
    assert f"{3 * spilled / 4 / 768:.3g} sectors per sample" in {s.rule: s.text for s in explain(found)}["spills"]
    free = _xray("spills", {"block": 24, "live_values": 32, "registers": 0}, n=768)
    assert not {"spill_bytes", "spill_sectors"} & set(free.totals)


def test_floats_lose_with_each_part_and_doubles_do_not() -> None:
    """The errors are next to one another in one run, and the memory traffic is the same."""
    x = np.random.default_rng(0).random(500, np.float32)
    picks = tuple(Pick(v, "sim", {"parts": parts}) for v in ("floats", "doubles") for parts in (1, 1000))
    signal = Input("signal", x, "t", "test", {})
    runs = [r for r in run_experiment(Experiment("layout", signal, {}, picks, "none")) if r.errors]
    errors = {(r.pick.variant, r.pick.knobs["parts"]): r.errors["signal"].relative for r in runs}
    assert errors["floats", 1000] > 8 * errors["floats", 1] and errors["doubles", 1000] <= errors["doubles", 1] + 6e-8
    assert errors["floats", 1000] > 8 * errors["doubles", 1000]
    floats, doubles = (_xray(v, {"parts": 3}).totals["global_load_sectors"] for v in ("floats", "doubles"))
    assert floats == doubles


def test_where_branches_decide_spills_are_not_counted() -> None:
    compiled = compile_kernel("layout/16_spills.cu", "sm_75", {"BLOCK": 64, "LIVE": 32, "REGISTERS": 24})
    assert is_straight(compiled, "layout_spills") and not is_straight(compiled, "layout_spills_rest")


def test_the_claims_say_which_rules_of_the_source_still_hold() -> None:
    counted = [claim for claim in LAYOUT.claims if claim.basis == "counted"]
    found = {claim.id.removeprefix("S0-"): claim.judge({}) for claim in counted}
    assert [id for id, (_, holds) in found.items() if not holds] == [
        "shared-bytes",
        "tile-16",
        "block-64",
        "block-192",
    ]
    assert found["figures"][0].startswith("1, 1, 16, 16 transactions of half a warp")
    assert found["arrays"][0].startswith("16 transactions") and "against 3 for" in found["arrays"][0]
    assert found["structures"][0].startswith("36 sectors packed, 16 aligned and read whole, 12")
    assert found["tile-16"][0].startswith("8, 2, 1 wavefronts") and found["tile-32"][0].startswith("32, 1 ")
    assert "768, 600, 768, 768 by 1.0; 960, 800, 1024, 960 on sm_75" in found["block-64"][0]
    assert "have 96 by 1.0, 64 on sm_75" in found["block-192"][0] and "hold 768 of 768 by 1.0" in found["block-192"][0]
