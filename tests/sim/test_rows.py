"""Kernels that fetch vectors of 16 bytes, on the simulated GPU: the shapes that the contract leaves out."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from lanes import daily_subset
from row_cases import Named, all_row_cases

from gpu_ops.devices import open_device
from gpu_ops.filters import find_filter
from gpu_ops.running.contract import check_case, takes
from gpu_ops.running.runner import run_experiment
from gpu_ops.task import Meta, Task
from gpu_ops.types import Experiment, Input, Pick

CASES = all_row_cases()
PARTS = 7
"""Of the cases of a variant, each with its own day in the default lane."""
VARIANTS = sorted({(filter, variant) for filter, variant, _ in CASES})


def _failures(cases: Iterable[Named], device: str) -> list[str]:
    found = []
    for filter_id, variant_id, case in cases:
        filter = find_filter(filter_id)
        run = check_case(filter, filter.variant(variant_id), case, device, {})
        if not run.ok or run.findings:
            found.append(f"{case}: {run.failure} {run.errors} {[str(f) for f in run.findings]}")
    return found


@pytest.mark.parametrize("part", daily_subset(range(PARTS), 1, "part {}".format))
@pytest.mark.parametrize("name", VARIANTS, ids="-".join)
def test_every_case_is_right_and_without_a_finding(name: tuple[str, str], part: int) -> None:
    cases = [c for c in CASES if c[:2] == name][part::PARTS]
    assert cases
    assert _failures(cases, "sim") == []


@pytest.mark.parametrize(
    "filter_id, variant_id, shape, dtype, params, knobs, words",
    [
        (
            "mean1d",
            "vector",
            (5000,),
            "uint8",
            {"window": 131},
            {},
            "65 bytes on either side, and registers hold at most 64",
        ),
        ("mean1d", "vector", (500, 4), "float64", {"window": 7}, {}, "96 bytes on either side"),
        ("mean1d", "scan", (5000,), "float64", {"window": 4095}, {"block": 128}, "use a larger block"),
        (
            "mean2d",
            "rows",
            (9, 9, 3),
            "float64",
            {"window": 7},
            {},
            "72 bytes on either side, and registers hold at most 48",
        ),
        ("mean2d", "rows", (4 * 65535 + 1, 1), "uint8", {}, {"block": 32}, "more than 65,535 blocks"),
    ],
)
def test_what_the_contract_does_not_meet_is_refused_too(
    filter_id: str,
    variant_id: str,
    shape: tuple[int, ...],
    dtype: str,
    params: dict[str, int],
    knobs: dict[str, int],
    words: str,
) -> None:
    filter = find_filter(filter_id)
    variant = filter.variant(variant_id)
    values = {p.name: params.get(p.name, p.default) for p in filter.params}
    chosen = {p.name: knobs.get(p.name, p.default) for p in variant.knobs}
    reason = variant.refusal(Task.of(Meta(filter.accepts, shape, dtype), values, chosen, open_device("sim").limits))
    assert reason is not None and words in reason


def test_every_case_is_supported() -> None:
    limits = open_device("sim").limits
    for filter_id, variant_id, case in CASES:
        filter = find_filter(filter_id)
        assert takes(filter, filter.variant(variant_id), case, limits), str(case)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "filter_id, variant_id, shape, params",
    [
        ("mean1d", "vector", (997,), {"window": 7}),
        ("mean2d", "rows", (23, 96), {"window": 5}),
        ("mean2d", "rows", (19, 45, 3), {"window": 3}),
        ("conv3x3", "rows", (23, 83), {}),
    ],
)
def test_nan_and_infinity_reach_their_windows_only(
    filter_id: str, variant_id: str, shape: tuple[int, ...], params: dict[str, int], dtype: str
) -> None:
    array = np.random.default_rng(1).random(shape).astype(dtype)
    flat = array.reshape(-1)
    flat[[0, flat.size // 2, flat.size - 1]] = np.nan
    flat[flat.size // 3] = np.inf
    filter = find_filter(filter_id)
    made = Input(filter.accepts, array, ("t" if len(shape) == 1 else "yxc")[: len(shape)], "", {}, finite=False)
    values = {p.name: params.get(p.name, p.default) for p in filter.params}
    run = list(run_experiment(Experiment(filter_id, made, values, (Pick(variant_id, "sim"),), protocol="none")))[-1]
    assert run.ok, run.errors
    assert run.findings == ()


def test_the_scan_refuses_what_is_not_finite() -> None:
    filter = find_filter("mean1d")
    array = np.full(99, np.nan, np.float32)
    run = list(
        run_experiment(
            Experiment(
                "mean1d",
                Input("signal", array, "t", "", {}, finite=False),
                {"window": 5, "border": "zero"},
                (Pick("scan", "sim", {"block": 128}),),
                protocol="none",
            )
        )
    )[-1]
    assert run.failure_kind == "unsupported" and "NaN" in run.failure
    assert filter.variant("scan").exactness
