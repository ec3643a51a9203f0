"""Kernels that fetch vectors of 16 bytes, on a real GPU: the shapes that the contract leaves out, and larger ones."""

from __future__ import annotations

import pytest
from row_cases import all_row_cases

from gpu_ops.filters import find_filter
from gpu_ops.running.contract import Case, check_case

pytestmark = pytest.mark.gpu
LARGE = (
    ("mean1d", "vector", (1_000_003,), {"window": 5}, {"block": 128, "vectors": 2}),
    ("mean1d", "scan", (1_000_003,), {"window": 1023}, {"block": 512}),
    ("mean1d", "scan", (1_000_003,), {"window": 4095}, {"block": 1024}),
    ("mean2d", "rows", (1031, 1021), {"window": 3}, {"block": 128, "rows": 4}),
    ("mean2d", "rows", (1024, 1024), {"window": 7}, {"block": 128, "rows": 4}),
)


def _failure(filter_id: str, variant_id: str, case: Case, device: str) -> str:
    filter = find_filter(filter_id)
    run = check_case(filter, filter.variant(variant_id), case, device, {})
    return "" if run.ok else f"{case}: {run.failure} {run.errors}"


def test_row_cases(cuda: str) -> None:
    assert [failure for named in all_row_cases() if (failure := _failure(*named, cuda))] == []


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64"])
@pytest.mark.parametrize("filter_id, variant_id, shape, params, knobs", LARGE)
def test_large_inputs(cuda: str, filter_id: str, variant_id: str, shape, params, knobs, dtype: str) -> None:
    for border in ("reflect", "wrap"):
        case = Case(shape, dtype, "random", {**params, "border": border}, knobs)
        assert _failure(filter_id, variant_id, case, cuda) == ""
