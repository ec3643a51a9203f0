"""The cases of the contract, one call each: the full product of choices, both ends of a range, and long cases."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpu_ops.errors import ParamError, grouped
from gpu_ops.input_kinds import INPUT_KINDS, ODD
from gpu_ops.params import Value
from gpu_ops.plan import Limits
from gpu_ops.running.contract.choices import axes_of, values_of
from gpu_ops.task import NO_LIMITS, Meta, Task
from gpu_ops.types import Filter, Variant

ENDS = ("largest", "denormal")
"""Data at the ends of a floating type's range: the largest values that a variant supports, and the smallest."""


@dataclass(frozen=True)
class Case:
    """One call of the contract."""

    shape: tuple[int, ...]
    dtype: str
    data: str
    params: Mapping[str, Value]
    knobs: Mapping[str, Value]

    def __str__(self) -> str:
        settings = ", ".join(f"{k} {grouped(v)}" for k, v in {**self.params, **self.knobs}.items())
        return f"shape {self.shape} {self.dtype} {self.data}, {settings}"


def task_of(filter: Filter, case: Case, limits: Limits = NO_LIMITS) -> Task:
    """The task of a case."""
    meta = Meta(filter.accepts, case.shape, case.dtype, finite=case.data not in ODD)
    return Task.of(meta, case.params, case.knobs, limits)


def fits(filter: Filter, variant: Variant, case: Case, most_work: float) -> bool:
    """Whether a case has no more operations by the variant's or the filter's own count."""
    if math.isinf(most_work):
        return True
    task, operations = task_of(filter, case), variant.counts.operations
    return (operations(task) if operations else filter.work(task).flops) <= most_work


def end_cases(filter: Filter, variant: Variant, limits: Limits) -> list[Case]:
    """Small cases at both ends of the range of each floating type, with parameters as near to the defaults as the
    variant supports: up to two other choices."""
    shapes = (*INPUT_KINDS[filter.accepts].ends, *variant.shapes[-1:])
    defaults: dict[str, Value] = {p.name: p.default for p in filter.params}
    changes = [(p.name, choice) for p in filter.params for choice in (p.tries or p.choices)]
    pairs = itertools.combinations(changes, 2)
    changed = [{**defaults, **dict(c)} for c in (*((change,) for change in changes), *pairs)]
    knobs = {p.name: p.default for p in variant.knobs}
    cases = []
    for dtype in (d for d in filter.dtypes if d.startswith("float")):
        possible = (Case(s, dtype, "largest", p, knobs) for s in shapes for p in (defaults, *changed))
        case = next((c for c in possible if takes(filter, variant, c, limits)), None)
        cases += [replace(case, data=data) for data in ENDS] if case else []
    return cases


def long_cases(filter: Filter, variant: Variant, limits: Limits, most_work: float = math.inf) -> list[Case]:
    """The variant's own trials on a device of these limits, in which every loop of its kernels runs more than once, the
    shortest first. `most_work` excludes those of more operations."""
    params, knobs = ({p.name: p.default for p in group} for group in (filter.params, variant.knobs))
    cases = [
        Case(trial.shape, trial.dtype, trial.data, {**params, **trial.params}, {**knobs, **trial.knobs})
        for trial in variant.trials(limits)
    ]
    cases = [c for c in cases if takes(filter, variant, c, limits)]
    return sorted((c for c in cases if fits(filter, variant, c, most_work)), key=lambda c: math.prod(c.shape))


def all_cases(filter: Filter, variant: Variant, limits: Limits) -> Iterator[Case]:
    """The full product of supported cases."""
    axes = axes_of(filter, variant)
    build = builder(filter, variant, axes)
    for indices in itertools.product(*(range(len(values)) for values in axes.values())):
        case = build(indices)
        if takes(filter, variant, case, limits):
            yield case


def takes(filter: Filter, variant: Variant, case: Case, limits: Limits) -> bool:
    """Whether the filter and the variant support a case; the reason is ignored."""
    if case.data in ODD and np.dtype(case.dtype).kind != "f":
        return False
    task = task_of(filter, case, limits)
    try:
        filter.check(task)
    except ParamError:
        return False
    return not any(rule.test(task) for rule in variant.rules)


def builder(filter: Filter, variant: Variant, axes: Mapping[str, Sequence[Any]]) -> Callable[[Sequence[int]], Case]:
    """A function that returns the case with the i-th choices of each axis."""
    places = {name: place for place, name in enumerate(axes)}
    values, preset = tuple(axes.values()), places.get("preset")
    presets = [] if preset is None else [dict(pairs) for pairs in values[preset]]
    params = [(p.name, places.get(f"param {p.name}")) for p in filter.params]
    knobs = [(p.name, places[f"knob {p.name}"]) for p in variant.knobs]
    shape, dtype, data = (places[name] for name in ("shape", "dtype", "data"))

    def build(indices: Sequence[int]) -> Case:
        chosen = [choices[i] for choices, i in zip(values, indices, strict=True)]
        together = {} if preset is None else presets[indices[preset]]
        own = {name: together[name] if place is None else chosen[place] for name, place in params}
        return Case(chosen[shape], chosen[dtype], chosen[data], own, {name: chosen[place] for name, place in knobs})

    return build


def heavier(filter: Filter, case: Case) -> dict[str, Value]:
    """The integer parameters with the most work: for each the last test value that suits the case."""
    params: dict[str, Value] = {}
    for param in (p for p in filter.params if isinstance(p.default, int)):
        for value in reversed(values_of(param)):
            with suppress(ParamError):
                filter.check(task_of(filter, replace(case, params={**case.params, **params, param.name: value})))
                params[param.name] = value
                break
    return params
