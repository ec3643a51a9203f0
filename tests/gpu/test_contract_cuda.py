"""The contract of every CUDA variant on a real GPU."""

from __future__ import annotations

import pytest

from gpu_ops.devices import open_device
from gpu_ops.errors import PeerMissing
from gpu_ops.filters import FILTERS
from gpu_ops.running.contract import all_cases, check_case, covering_cases, long_cases
from gpu_ops.types import Filter, Variant

pytestmark = pytest.mark.gpu
CUDA = [pytest.param(f, v, id=f"{f.id}-{v.id}") for f in FILTERS for v in f.variants if v.device == "cuda"]


@pytest.mark.parametrize("filter, variant", CUDA)
def test_covering_set(cuda: str, filter: Filter, variant: Variant) -> None:
    _skip_what_cannot_run(variant, cuda)
    cases = covering_cases(filter, variant, open_device(cuda).limits)
    assert len(cases) >= 25
    cases += long_cases(filter, variant, open_device(cuda).limits)
    assert [failure for case in cases if (failure := _failure(filter, variant, case, cuda))] == []


@pytest.mark.full
@pytest.mark.parametrize("filter, variant", CUDA)
def test_whole_product(cuda: str, filter: Filter, variant: Variant) -> None:
    _skip_what_cannot_run(variant, cuda)
    cases = all_cases(filter, variant, open_device(cuda).limits)
    assert [failure for case in cases if (failure := _failure(filter, variant, case, cuda))] == []


def _skip_what_cannot_run(variant: Variant, cuda: str) -> None:
    if variant.library:
        pytest.importorskip(variant.library)
    if variant.id == "two_gpus":
        try:
            open_device(cuda).peer()
        except PeerMissing as missing:
            pytest.skip(str(missing))


def _failure(filter: Filter, variant: Variant, case, cuda: str) -> str:
    run = check_case(filter, variant, case, cuda, {})
    if run.failure:
        return f"{case}: {run.failure}"
    return "" if run.ok else f"{case}: {run.errors} {run.notes}"
