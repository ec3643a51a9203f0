"""The contract of every CPU variant, and what each variant of any device supports."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from itertools import product

import numpy as np
import pytest
from lanes import daily_subset, of_one_kind, variants_today
from recording import Recording, plan_of
from tasks import chosen

from gpu_ops.devices import open_device
from gpu_ops.devices.offline import OfflineDevice
from gpu_ops.filters import FILTERS
from gpu_ops.input_kinds import ODD
from gpu_ops.params import Param
from gpu_ops.plan import Launch
from gpu_ops.running.contract import (
    Case,
    all_cases,
    axes_of,
    case_data,
    check_case,
    covering_cases,
    end_cases,
    heavier,
    long_cases,
    takes,
    values_of,
)
from gpu_ops.running.contract.covering import Pairs
from gpu_ops.types import DTYPES, Filter, Variant

OPTIONAL = {"skimage": find_spec("skimage") is None}
"""Libraries that the product does not bring, whose functions do few of a filter's settings; whether one is missing."""
CPU = [
    pytest.param(
        *(f, v),
        id=f"{f.id}-{v.id}",
        marks=(
            pytest.mark.skipif(OPTIONAL.get(v.library, False), reason="not installed"),
            *([] if of_one_kind(f, v) else [pytest.mark.thorough]),
        ),
    )
    for f in FILTERS
    for v in f.variants
    if v.device == "cpu"
]
TYPES, PARTS = max(len(f.dtypes) for f in FILTERS), 2
SHARES = list(product(range(TYPES), range(PARTS)))
"""Types of samples, for each of which all loops are compiled anew, and parts of the cases of a type. Each pair has its
own day in the default lane."""
EVERY = [(f, v) for f in FILTERS for v in f.variants]


def _failure(filter: Filter, variant: Variant, case: Case) -> str:
    run = check_case(filter, variant, case, "cpu", {})
    if run.failure:
        return f"{case}: {run.failure}"
    return "" if run.ok else f"{case}: {run.errors} {run.notes}"


@pytest.mark.parametrize("place, part", daily_subset(SHARES, 1, "type {0[0]}-part {0[1]}".format))
@pytest.mark.parametrize("filter, variant", CPU)
def test_covering_set(filter: Filter, variant: Variant, place: int, part: int) -> None:
    cases = covering_cases(filter, variant, open_device("cpu").limits)
    assert len(cases) >= (10 if variant.library in OPTIONAL else 25)
    dtype = filter.dtypes[place % len(filter.dtypes)]
    cases = [case for case in cases if case.dtype == dtype][part::PARTS]
    assert [failure for case in cases if (failure := _failure(filter, variant, case))] == []


@pytest.mark.parametrize("dtype", daily_subset([d for d in DTYPES if d.startswith("float")], 1, str))
@pytest.mark.parametrize("filter, variant", CPU)
def test_both_ends_of_the_range(filter: Filter, variant: Variant, dtype: str) -> None:
    limits = open_device("cpu").limits
    cases = end_cases(filter, variant, limits)
    refused = {dtype for rule in variant.rules for dtype in rule.never.get("dtype", ())}
    floats = sum(d.startswith("float") and d not in refused for d in filter.dtypes)
    assert len(cases) == 2 * floats or variant.library in OPTIONAL
    heavy = [replace(case, params={**case.params, **heavier(filter, case)}) for case in cases]
    cases += [case for case in heavy if variant.library not in OPTIONAL or takes(filter, variant, case, limits)]
    cases = [case for case in cases if case.dtype == dtype]
    assert [failure for case in cases if (failure := _failure(filter, variant, case))] == []


@pytest.mark.full
@pytest.mark.parametrize("filter, variant", CPU)
def test_whole_product(filter: Filter, variant: Variant) -> None:
    cases = all_cases(filter, variant, open_device("cpu").limits)
    assert [failure for case in cases if (failure := _failure(filter, variant, case))] == []


@pytest.mark.parametrize("filter, variant", variants_today(EVERY, len(EVERY) // 4))
def test_the_covering_set_covers_every_supported_choice(filter: Filter, variant: Variant) -> None:
    limits = OfflineDevice("sm_90").limits
    cases = covering_cases(filter, variant, limits)
    axes = axes_of(filter, variant)
    refused = {dtype for rule in variant.rules for dtype in rule.never.get("dtype", ())}
    for name, values in axes.items():
        missing = set(values) - {chosen(case, name, values) for case in cases}
        never = {value for rule in variant.rules for value in rule.never.get(name, ())}
        if name == "data" and {"float32", "float64"} & set(filter.dtypes) <= refused:
            never |= set(ODD)
        assert missing <= never | ({(1,)} if filter.id == "mean1d" else set()), name


def test_cases_are_the_same_every_time() -> None:
    filter = FILTERS[0]
    limits = OfflineDevice("sm_90").limits
    first = covering_cases(filter, filter.variants[0], limits)
    assert first == covering_cases(filter, filter.variants[0], limits)
    assert (case_data(first[0], 1) == case_data(first[0], 1)).all()


def test_a_case_has_thousands_separators() -> None:
    case = Case((3,), "uint8", "random", {"window": 4095, "border": "wrap", "level": 0.5}, {"block": 1024})
    assert str(case) == "shape (3,) uint8 random, window 4,095, border wrap, level 0.5, block 1,024"


def test_the_row_that_covers_most_open_pairs_comes_first() -> None:
    filter = FILTERS[0]
    pairs = Pairs(filter, axes_of(filter, filter.variants[0]), np.random.default_rng(0))
    drawn = pairs.random.integers(pairs.lengths, size=(20, len(pairs.lengths)))
    for row in drawn[:10]:
        pairs.close(row)

    def closed(row: np.ndarray) -> int:
        before, kept = pairs.open.sum(), pairs.open.copy()
        pairs.close(row)
        after, pairs.open = pairs.open.sum(), kept
        return int(before - after)

    counts = [closed(row) for row in pairs.most_first(pairs.all()[0], drawn)]
    assert counts == sorted(counts, reverse=True) and len(set(counts)) > 1


def test_pairs_of_kept_choices_are_open_again() -> None:
    filter = FILTERS[0]
    pairs = Pairs(filter, axes_of(filter, filter.variants[0]), np.random.default_rng(0))
    every = pairs.all()
    pairs.open[:] = False
    again = pairs.open_again(every, [[length - 1] for length in pairs.lengths])
    ends = set((pairs.starts + pairs.lengths - 1).tolist())
    assert [tuple(p) for p in again] == [tuple(p) for p in every if set(p.tolist()) <= ends] != []
    assert pairs.open.sum() == len(again)


OF_KERNELS = [(f, v) for f in FILTERS for v in f.variants if v.kernels]
MORE_LAUNCHES = {"packed"}
"""Variants whose long cases take more launches; no loop of their kernels depends on the length."""
LONG = [(f, v) for f, v in OF_KERNELS if v.trials(OfflineDevice("sm_90").limits) and v.id not in MORE_LAUNCHES]
FEW_BLOCKS = {"one_pass": {"states"}}
"""Loops that one multiprocessor cannot run more than once: its few blocks are fewer than threads of the last one."""
SHORT_LINES = {("fft1d", "fast"): {"values of fft_peaks_largest"}, ("fft1d", "three_step"): {"lines"}}
"""Loops that lines which a block can hold are too short for; and that of the means of more segments than a grid has
blocks in y, which four_step tries in the same kernel, since segments of 1024 samples would be too many."""


def _loops(filter: Filter, variant: Variant, cases: list[Case], device: OfflineDevice) -> dict[str, int]:
    """How often each loop of a variant runs in these cases, at most."""
    most: dict[str, int] = {}
    for case in cases:
        plan = plan_of(filter, variant, case, device)
        for name, count in (pair for s in plan.steps if isinstance(s, Launch) for pair in s.loops.items()):
            most[name] = max(count, most.get(name, 0))
    return most


@pytest.mark.parametrize("multiprocessors", [1, 132])
@pytest.mark.parametrize("filter, variant", LONG, ids=lambda value: value.id)
def test_long_cases_run_every_loop_more_than_once(filter: Filter, variant: Variant, multiprocessors: int) -> None:
    device = Recording("sm_90")
    device.limits = replace(device.limits, multiprocessors=multiprocessors)
    most = _loops(filter, variant, long_cases(filter, variant, device.limits), device)
    once = FEW_BLOCKS.get(variant.id, set()) if multiprocessors == 1 else set()
    once = once | SHORT_LINES.get((filter.id, variant.id), set())
    assert most and {name for name, count in most.items() if count < 2} == once


@pytest.mark.thorough
@pytest.mark.parametrize("filter, variant", OF_KERNELS, ids=lambda value: value.id)
def test_loops_that_need_no_long_case_run_more_than_once_in_others(filter: Filter, variant: Variant) -> None:
    device = Recording("sm_90")
    cases = covering_cases(filter, variant, device.limits)
    most = _loops(filter, variant, cases, device)
    assert (filter, variant) in LONG or all(count > 1 for count in most.values())


NUMBERS = [
    pytest.param(f, p, id=f"{f.id}-{p.name}")
    for f in FILTERS
    for p in f.params
    if isinstance(p.default, int | float) and not isinstance(p.default, bool) and not p.choices
]


@pytest.mark.parametrize("filter, param", NUMBERS)
def test_numbers_have_two_values_that_are_not_trivial(filter: Filter, param: Param) -> None:
    """Zero, one and the limits hide faults that others show, such as a notch at the wrong place."""
    variant = filter.variants[0]
    tried = {dict(case.params)[param.name] for case in covering_cases(filter, variant, open_device("cpu").limits)}
    assert len(tried - {0, param.low, param.high}) >= 2 or (filter.id, param.name) in FEW_CHOICES
    assert tried >= set(values_of(param)) or filter.presets


FEW_CHOICES = {("mean2d", "window"), ("conv3x3", "offset")}
"""Its fast variants have a window or two, so that more of them would be refused; presets set the offset."""
