"""The rules of every variant: each is broken by some task, has words of its own, and rules out what it says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product

import pytest
from lanes import variants_today
from tasks import chosen

from gpu_ops.devices.offline import OfflineDevice
from gpu_ops.errors import ParamError
from gpu_ops.filters import FILTERS, find_filter
from gpu_ops.filters.kit.rules import together
from gpu_ops.input_kinds import Shape
from gpu_ops.params import Param, Value, Values
from gpu_ops.running.contract import axes_of, covering_cases, task_of
from gpu_ops.task import Meta, Task
from gpu_ops.types import Filter, Variant

PAIRS = [(f, v) for f in FILTERS for v in f.variants]
EVERY = variants_today(PAIRS, len(PAIRS) // 4)
LEAST = OfflineDevice("sm_75").limits
"""Of the GPU with the least shared memory among those that kernels are compiled for."""
SMALLER = replace(LEAST, shared_bytes=48 << 10)
"""Of one that nobody knows."""
SIZES = (
    *("rows need more than", "a grid has", "a texture has at most", "its segments are short", "its table of"),
    *("two parts in shared memory hold", "do not fit a block", "a block cannot hold rows", "which holds"),
    *("values of a row", "it takes at most 128", "it takes up to 4 channels", "counts take 49,168", "high is at most"),
    *("reaches over more than half", "reaches over 96 bytes", "reaches over 131,072 bytes"),
    *("values of unfinished columns", "exceed the range of float32"),
)
"""Words about inputs that are larger than any of the contract, or settings and GPUs that it does not have: no rule that
says them refuses a case of it."""
SELDOM = {
    "its tile takes": ("wavelet1d shared", "wavelet1d fused", "wavelet2d lifting"),
    "a block cannot hold lines of": ("fft2d fast", "fft_mask fast"),
    "its tiles take": ("wavelet1d levels",),
    "threads have blocks of": ("wavelet1d blocks", "wavelet2d blocks"),
    "CV-CUDA takes 1, 3 or 4 channels": ("box cvcuda", "conv3x3 cvcuda", "mean2d cvcuda"),
    "levels need a larger halo": ("wavelet1d warp_registers",),
    "its window reaches over": tuple(f"transfer1d {variant.id}" for variant in FILTERS.find("transfer1d").variants),
}
"""Words of such rules of some variants, which others say in cases of the contract."""
LARGE = {
    "signal": ((64,), (1 << 27,), (1 << 27, 5), (1 << 20, 256), (1 << 33, 256), (64, 1 << 17)),
    "image": (
        *((64, 64), (65536, 4), (1 << 22, 1), (1, 1 << 26), (1 << 15, 1 << 15)),
        *((20000, 20000, 4), (8_000_000, 9, 4), (1 << 33, 4), (64, 64, 1 << 17)),
    ),
}
USUAL: dict[str, tuple[Shape, ...]] = {"signal": ((4096,),), "image": ((256, 256),)}
"""Sizes at which what a rule says is not about size."""
ODD_NUMBERS = (2, 3, 7, 33, 10**7)


def said(variant: Variant, task: Task) -> list[int]:
    """The places of the rules whose words a refusal has."""
    broken = (place for place, rule in enumerate(variant.rules) if rule.test(task))
    first = next(broken, None)
    if first is None:
        return []
    return [first, *((k for k in broken if variant.rules[k].also) if variant.rules[first].also else ())]


def _values(param: Param) -> Sequence[Value]:
    """The choices, each sixth of many, or the ends of the range and some numbers inside."""
    if param.choices:
        return param.choices[:: 6 if len(param.choices) > 20 else 1]
    low, high = param.low, param.high
    if low is None or high is None or isinstance(param.default, tuple):
        return (param.default,)
    return [param.check(v) for v in (low, high, *ODD_NUMBERS) if low <= v <= high and not (v - low) % (param.step or 1)]


def _changes(params: Sequence[Param], most: int) -> Iterator[Values]:
    """No change, and changes of up to so many of them."""
    for count in range(most + 1):
        for some in combinations(params, count):
            for values in product(*map(_values, some)):
                yield {p.name: value for p, value in zip(some, values, strict=True)}


def changed_tasks(filter: Filter, variant: Variant, shapes: Sequence[Shape], most: int) -> Iterator[Task]:
    """Tasks of inputs of these shapes on a GPU with little shared memory, with at most so many other parameters
    than the defaults, and another knob or all at one end."""
    params, knobs = ({p.name: p.default for p in those} for those in (filter.params, variant.knobs))
    ends = ({k.name: _values(k)[end] for k in variant.knobs} for end in (0, -1))
    changed = [*_changes(variant.knobs, 1), *ends]
    for change in _changes(filter.params, most):
        for shape, dtype, own in product(shapes, filter.dtypes, changed):
            task = Task.of(Meta(filter.accepts, shape, dtype), {**params, **change}, {**knobs, **own}, SMALLER)
            try:
                filter.check(task)
            except ParamError:
                continue
            yield task


@pytest.mark.parametrize("filter, variant", EVERY)
def test_each_rule_is_broken_and_has_words_of_its_own(filter: Filter, variant: Variant) -> None:
    """By a case of every two choices, the rest at random, or by a few choices at a usual size; where it is about
    sizes, by a large input and by none of these."""
    words: list[set[str]] = [set() for _ in variant.rules]
    sizes = (*SIZES, *(text for text, whose in SELDOM.items() if f"{filter.id} {variant.id}" in whose))
    for case in covering_cases(filter, replace(variant, rules=()), LEAST):
        task = task_of(filter, case, LEAST)
        for place in said(variant, task):
            words[place].add(variant.rules[place].said(task))
            assert not any(size in variant.rules[place].said(task) for size in sizes), case
    for task in changed_tasks(filter, variant, USUAL[filter.accepts], 3) if not all(words) else ():
        for place in said(variant, task):
            text = variant.rules[place].said(task)
            words[place] |= set() if any(size in text for size in sizes) else {text}
        if all(words):
            break
    small = [bool(texts) for texts in words]
    for task in changed_tasks(filter, variant, LARGE[filter.accepts], 2) if not all(small) else ():
        for place in said(variant, task):
            words[place].add(variant.rules[place].said(task))
        if all(words):
            break
    for own, met in zip(words, small, strict=True):
        assert own, "no case breaks it"
        assert met or any(size in text for text in own for size in sizes), f"no case of the contract breaks it: {own}"
    assert not [text for own in words for text in own if re.search(r"(?<![\d,.])\d{4}", text)], "long digits"
    assert len(set().union(*words)) == sum(map(len, words)), "two rules have the same words"


@pytest.mark.parametrize("architecture", ["sm_75", "sm_90"])
@pytest.mark.parametrize("filter, variant", EVERY)
def test_what_a_rule_never_takes_breaks_it_or_one_before(filter: Filter, variant: Variant, architecture: str) -> None:
    limits, axes = OfflineDevice(architecture).limits, axes_of(filter, variant)
    met = set()
    for case in covering_cases(filter, replace(variant, rules=()), limits):
        first = next(iter(said(variant, task_of(filter, case, limits))), len(variant.rules))
        for place, rule in enumerate(variant.rules):
            for name, never in rule.never.items():
                if (choice := chosen(case, name, axes[name])) in never:
                    assert first <= place, f"{case} is taken, or refused for another reason"
                    met.add((place, name, choice))
    assert met == {(k, n, v) for k, rule in enumerate(variant.rules) for n, vs in rule.never.items() for v in vs}


def test_the_first_broken_rule_is_said_or_all_that_are_said_together() -> None:
    variant = find_filter("mean2d").variant("packed")
    task = Task.of(Meta("image", (8, 8), "float32"), {"window": 5, "border": "zero"}, {"block": 128, "rows": 2})
    first, second = "it adds bytes, not float32", "it is made for window 3, not 5"
    assert variant.refusal(task) == first
    assert replace(variant, rules=variant.rules[1:]).refusal(task) == second
    assert replace(variant, rules=together(*variant.rules)).refusal(task) == f"{first}; {second}"
    assert replace(variant, rules=()).refusal(task) is None
