"""The contract of every kernel of the product, and of kernels that are wrong on purpose, on the simulated GPU.

The default lane tries every setting of some variants a day, the largest shape in both orders of blocks, long cases of a
few, and a wrong kernel of each family of filters. The thorough one tries, of all variants, some shapes and pairs of
choices a day, some of them in both orders, and every setting, the ends of the range and wrong kernels in turns of three
days; the full one tries the rest. Two thirds of the time go to compiling and reading what was compiled, once for each
set of defines that cases have.
"""

from __future__ import annotations

from functools import cache
from math import prod

import pytest
from lanes import daily_subset, few, of_one_kind, variants_today
from wrong import RACES, WRONG, Wrong, find_wrong

from gpu_ops.devices import open_device
from gpu_ops.filters import FILTERS, find_filter
from gpu_ops.running.contract import (
    SIMULATED_WORK,
    Case,
    check_case,
    covering_cases,
    each_setting,
    end_cases,
    long_cases,
)
from gpu_ops.types import Filter, Run, Variant

MOST = 12
"""Cases of a kernel at most, evenly from longer sets. A real GPU runs whole sets."""
PARTS = 3
"""Of these cases, each with its own day in the thorough lane."""
BOTH_WAYS = 3
"""One case in so many runs in both orders of blocks."""
STEP = 7
"""Between the cases that a wrong kernel meets one after the other. A set begins with its smallest shapes, in which few
faults show."""
A_DAY = 8
"""Variants that the default lane tries a day."""
PAIRS = [(f, v) for f in FILTERS for v in f.variants if v.device == "cuda" and not v.library]
A_THIRD = -(-len(PAIRS) // 3)
KERNELS = [pytest.param(f, v, id=f"{f.id}-{v.id}") for f, v in PAIRS]
LONG_WORK = 25 * SIMULATED_WORK
"""The most operations of a long case, of which a real GPU runs all."""
LONG = [(f, v) for f, v in PAIRS if long_cases(f, v, open_device("sim").limits, LONG_WORK)]
QUICK = [(f, v) for f, v in LONG if v.id in ("lanes", "one_pass", "look_back") and of_one_kind(f, v)]
SELDOM = ["histogram1d.bytes.carry_lost", "histogram1d.private.flushed_late", "scan1d.warp.chunk_forgotten"]
"""Faults that only many samples show."""
FAULTS = {
    "past_the_end": "out of bounds",
    "strides_of_two": "out of bounds",
    "missing_barrier": "read-after-write hazard",
    "missing_fence": "read-after-write hazard, missing __threadfence()",
    "early_ticket": "read-after-write hazard between blocks",
    "missing_last_barrier": "read-after-atomic hazard",
    "one_try": "write-after-write hazard",
    "groups_overlap": "write-after-write hazard within a warp",
    "half_a_halo": "uninitialised read",
    "last_line_lost": "uninitialised read",
    "last_row_lost": "uninitialised read",
    "wrong_word": "uninitialised read",
    "third_level_lost": "uninitialised read",
    "scatter_race": "two blocks write one element",
    "no_atomics": "two blocks write one element",
}
"""What is seen besides the wrong result, where anything is. With another fault the result alone is wrong."""
FIRST = {find_filter(wrong.filter).family: wrong for wrong in reversed(WRONG) if wrong.name not in SELDOM}
FIRST |= {find_filter(wrong.filter).family: wrong for wrong in WRONG if wrong.name in RACES and wrong.fault in FAULTS}
"""A wrong kernel of each family; of those with races one of these, which only the simulated GPU rejects for sure."""


BY_KIND = [wrong for wrong in WRONG if wrong.fault == "nan_above"]
"""Wrong for NaN."""


@cache
def _cases(filter: str, variant: str) -> list[Case]:
    """Cases that cover pairs of choices, for all tests of a kernel."""
    found = find_filter(filter)
    return covering_cases(found, found.variant(variant), open_device("sim").limits, most_work=SIMULATED_WORK)


def _long(filter: Filter, variant: Variant, most_work: float = SIMULATED_WORK) -> list[Case]:
    return long_cases(filter, variant, open_device("sim").limits, most_work)


def _failure(filter: Filter, variant: Variant, case: Case, again: bool = True) -> str:
    run = check_case(filter, variant, case, "sim", {}, again)
    if run.failure or run.findings:
        return f"{case}: {run.failure} {[str(f) for f in run.findings]}"
    return "" if run.ok else f"{case}: {run.errors} {run.notes}"


@pytest.mark.parametrize("filter, variant", variants_today(PAIRS, A_DAY, A_THIRD))
def test_every_setting(filter: Filter, variant: Variant) -> None:
    cases = sorted(each_setting(_cases(filter.id, variant.id)), key=lambda case: prod(case.shape))
    assert len(cases) >= 4
    failures = [_failure(filter, variant, case, again=case is cases[-1]) for case in cases]
    assert [failure for failure in failures if failure] == []


@pytest.mark.parametrize("part", daily_subset(range(PARTS), 0, "part {}".format, 1))
@pytest.mark.parametrize("filter, variant", KERNELS)
def test_covering_set(filter: Filter, variant: Variant, part: int) -> None:
    cases = _cases(filter.id, variant.id)
    count = min(len(cases), MOST)
    assert len(cases) >= 25
    cases = [cases[k * len(cases) // count] for k in range(part, count, PARTS)]
    failures = [_failure(filter, variant, case, k % BOTH_WAYS == 0) for k, case in enumerate(cases)]
    assert [failure for failure in failures if failure] == []


@pytest.mark.parametrize("filter, variant", variants_today(PAIRS, 0, A_THIRD))
def test_both_ends_of_the_range(filter: Filter, variant: Variant) -> None:
    cases = end_cases(filter, variant, open_device("sim").limits)
    takes_floats = not any("float32" in rule.never.get("dtype", ()) for rule in variant.rules)
    assert bool(cases) == takes_floats
    assert [failure for case in cases if (failure := _failure(filter, variant, case))] == []


@pytest.mark.parametrize("wrong", few(WRONG, *FIRST.values(), *BY_KIND, more=len(WRONG) // 3), ids=lambda w: w.name)
def test_a_wrong_kernel_is_rejected_and_its_fault_named(wrong: Wrong) -> None:
    filter = find_filter(wrong.filter)
    variant = filter.variant(wrong.variant)
    edits = {wrong.file: wrong.text()}
    cases = _cases(filter.id, variant.id)
    cases = [case for first in range(STEP) for case in cases[first::STEP]]
    cases += _long(filter, variant)
    kinds: set[str] = set()
    rejected: list[Run] = []
    for case in cases:
        run = check_case(filter, variant, case, "sim", edits)
        rejected += [run] if run.ok is False else []
        kinds |= {f.kind for f in run.findings}
        if rejected and FAULTS.get(wrong.fault) in {*kinds, None}:
            break
    assert rejected, "no case of the contract tells it from a right one"
    assert FAULTS[wrong.fault] in kinds if wrong.fault in FAULTS else not kinds


@pytest.mark.parametrize("name", few(SELDOM, "histogram1d.bytes.carry_lost", "scan1d.warp.chunk_forgotten"))
def test_long_cases_see_faults_in_loops_that_others_run_through_once(name: str) -> None:
    wrong = find_wrong(name)
    filter = find_filter(wrong.filter)
    variant = filter.variant(wrong.variant)
    edits = {wrong.file: wrong.text()}
    assert any(check_case(filter, variant, case, "sim", edits).ok is False for case in _long(filter, variant))


@pytest.mark.parametrize("filter, variant", few(LONG, *QUICK, more=len(LONG) // 3), ids=lambda value: value.id)
def test_long_cases(filter: Filter, variant: Variant) -> None:
    cases = _long(filter, variant, LONG_WORK)
    assert cases
    assert [failure for case in cases if (failure := _failure(filter, variant, case, again=False))] == []


def test_races_are_named_as_hazards() -> None:
    faults = {find_wrong(name).fault for name in RACES}
    late = {"does_not_wait", "first_window_only", "lane_left_out"}  # a wrong result shows these
    assert late < faults and all("hazard" in FAULTS[fault] for fault in faults - late)
