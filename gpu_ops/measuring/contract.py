"""Every variant against its filter's reference, over awkward shapes, all dtypes, parameters, knobs and data.

The tests and `kernelscope run FILTER --kernel mine.cu` use the same cases.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpu_ops.errors import ParamError
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.measuring.runner import run_experiment
from gpu_ops.params import Param, Value
from gpu_ops.plan import Limits
from gpu_ops.task import NO_LIMITS, Meta, Task
from gpu_ops.types import Experiment, Filter, Input, Pick, Run, Variant

Array = np.ndarray[Any, Any]
DATA = ("random", "constant", "extremes", "impulse")
ENDS = ("largest", "denormal")
"""Data at the ends of a floating type's range: the largest values that a variant supports, and the smallest."""
TRIES = 40
SIMULATED_WORK = 1_000_000
"""The most operations of a case on a simulated GPU, which takes seconds for them."""


@dataclass(frozen=True)
class Case:
    """One call of the contract."""

    shape: tuple[int, ...]
    dtype: str
    data: str
    params: Mapping[str, Value]
    knobs: Mapping[str, Value]

    def __str__(self) -> str:
        settings = ", ".join(f"{k} {v}" for k, v in {**self.params, **self.knobs}.items())
        return f"shape {self.shape} {self.dtype} {self.data}, {settings}"


def covering_cases(
    filter: Filter, variant: Variant, limits: Limits, seed: int = 0, most_work: int | None = None
) -> list[Case]:
    """Cases in which every supported pair of choices (shape and dtype, border and block, …) occurs at least once.

    `most_work` leaves out cases of more operations by the variant's or the filter's own count: a simulated GPU takes
    minutes for them.
    """
    work = math.inf if most_work is None else most_work
    axes = _axes(filter, variant)
    random = np.random.default_rng(seed)
    lengths = np.array([len(values) for values in axes.values()])
    starts = np.cumsum(lengths) - lengths
    owner = np.repeat(np.arange(len(axes)), lengths)
    open_pairs = owner[:, None] < owner[None, :]
    both = np.triu_indices(len(axes), 1)
    build = _builder(filter, variant, axes)
    cases: list[Case] = []

    def meet(pair: Array, drawn: Array) -> bool:
        """Take a supported case with the pair, which covers most of the pairs that are open."""
        open_pairs[tuple(pair)] = False  # also where no supported case has both
        drawn[:, owner[pair]] = pair - starts[owner[pair]]
        for indices in _most_first(drawn, starts, open_pairs, both):
            case = build(indices.tolist())
            if unsupported(filter, variant, case, limits) is None and _work(filter, variant, case) <= work:
                cases.append(case)
                open_pairs[np.ix_(starts + indices, starts + indices)] = False
                return True
        return False

    shape = TRIES, len(axes)
    pairs = [pair for pair in np.argwhere(open_pairs)]
    missed = [p for p in pairs if open_pairs[tuple(p)] and not meet(p, random.integers(lengths, size=shape))]
    # A variant that takes few settings is seldom met by chance: the second time only what it may take is drawn.
    kept = _not_refused(variant, axes)
    missed = [pair for pair in missed if all(place - starts[owner[place]] in kept[owner[place]] for place in pair)]
    open_pairs[tuple(np.array(missed, int).reshape(-1, 2).T)] = True
    for pair in missed:
        if open_pairs[tuple(pair)]:
            meet(pair, np.stack([random.choice(places, TRIES) for places in kept], axis=1))
    return cases


def _not_refused(variant: Variant, axes: Mapping[str, Sequence[Any]]) -> list[list[int]]:
    """The places of the choices of each axis that no refusal of the variant always rules out."""
    never = {name: {v for r in variant.refuses for v in r.never.get(name, ())} for name in axes}
    return [[i for i, value in enumerate(values) if value not in never[name]] for name, values in axes.items()]


def _most_first(tries: Array, starts: Array, open_pairs: Array, both: tuple[Array, ...]) -> Array:
    """Those rows of indices first that have most open pairs of choices; rows that have the same stay in their order.
    `both` are the places of all pairs in a row."""
    first, second = both
    places = tries + starts
    covered = open_pairs[places[:, first], places[:, second]].sum(axis=1)
    return tries[np.argsort(-covered, kind="stable")]


def each_setting(cases: Sequence[Case]) -> list[Case]:
    """A few of these cases, in which every dtype, kind of data, number of axes, and value of a parameter or knob that
    one of them has occurs at least once, and those with the fewest and the most elements."""
    by_size = sorted(cases, key=lambda case: math.prod(case.shape))
    ends = {id(by_size[0]): {"smallest"}, id(by_size[-1]): {"largest"}}
    return _covering([(case, _settings(case) | ends.get(id(case), set())) for case in cases])


def _covering(cases: Sequence[tuple[Case, set[Any]]]) -> list[Case]:
    """Cases that together have every value: that which has most of the missing ones first."""
    missing = set().union(*(values for _, values in cases))
    chosen: list[Case] = []
    while missing:
        case, values = max(cases, key=lambda pair: len(missing & pair[1]))
        chosen.append(case)
        missing -= values
    return chosen


def _settings(case: Case) -> set[Any]:
    plain = ("dtype", case.dtype), ("data", case.data), ("axes", len(case.shape))
    return {*plain, *case.params.items(), *case.knobs.items()}


def task_of(filter: Filter, case: Case, limits: Limits = NO_LIMITS) -> Task:
    """The task of a case."""
    return Task.of(Meta(filter.accepts, case.shape, case.dtype), case.params, case.knobs, limits)


def _work(filter: Filter, variant: Variant, case: Case) -> int:
    task = task_of(filter, case)
    return variant.operations(task) if variant.operations else filter.work(task).flops


def end_cases(filter: Filter, variant: Variant, limits: Limits) -> list[Case]:
    """Small cases at both ends of the range of each floating type, with parameters as near to the defaults as the
    variant takes: one other choice, or two."""
    shapes = (*INPUT_KINDS[filter.accepts].ends, *variant.shapes[-1:])
    defaults: dict[str, Value] = {p.name: p.default for p in filter.params}
    changes = [(p.name, choice) for p in filter.params for choice in (p.tries or p.choices)]
    pairs = itertools.combinations(changes, 2)
    changed = [{**defaults, **dict(c)} for c in (*((change,) for change in changes), *pairs)]
    knobs = {p.name: p.default for p in variant.knobs}
    cases = []
    for dtype in (d for d in filter.dtypes if d.startswith("float")):
        possible = (Case(s, dtype, "largest", p, knobs) for s in shapes for p in (defaults, *changed))
        case = next((c for c in possible if unsupported(filter, variant, c, limits) is None), None)
        cases += [replace(case, data=data) for data in ENDS] if case else []
    return cases


def all_cases(filter: Filter, variant: Variant, limits: Limits) -> Iterator[Case]:
    """The whole product of supported cases."""
    axes = _axes(filter, variant)
    build = _builder(filter, variant, axes)
    for indices in itertools.product(*(range(len(values)) for values in axes.values())):
        case = build(indices)
        if unsupported(filter, variant, case, limits) is None:
            yield case


def unsupported(filter: Filter, variant: Variant, case: Case, limits: Limits) -> str | None:
    """None, or why the filter or the variant refuses the case."""
    task = task_of(filter, case, limits)
    try:
        filter.check(task)
    except ParamError as error:
        return str(error)
    return variant.refusal(task)


def check_case(
    filter: Filter, variant: Variant, case: Case, device: str, edits: Mapping[str, str], again: bool = True
) -> Run:
    """Run one case, whole and verified; and `again`, on a simulated GPU in another order."""
    most = math.inf
    if variant.largest is not None and case.data == "largest":
        most = variant.largest(task_of(filter, case))
    array = case_data(case, seed=len(str(case)), most=most)
    axes = INPUT_KINDS[filter.accepts].axes[array.ndim]
    input = Input(filter.accepts, array, axes, "contract", {"generator": "contract", "steps": []})
    pick = Pick(variant.id, device, case.knobs, edits)
    experiment = Experiment(filter.id, input, case.params, (pick,), protocol="none")
    return list(run_experiment(experiment, again=again))[-1]


def case_data(case: Case, seed: int, most: float = math.inf) -> np.ndarray[Any, Any]:
    """The case's array: random, one constant, only the largest and smallest values, or one impulse; for floats also the
    largest finite values up to `most`, and denormal ones."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(case.dtype)
    if case.data in ENDS:
        return _end_data(case, random, most)
    largest = float(np.iinfo(dtype).max) if dtype.kind == "u" else 1.0
    if case.data == "random":
        low = 0.0 if dtype.kind == "u" else -1.0
        return (low + (largest - low) * random.random(case.shape)).astype(dtype)
    if case.data == "constant":
        return np.full(case.shape, 0.7 * largest).astype(dtype)
    if case.data == "extremes":
        return np.where(random.random(case.shape) < 0.8, largest, 0).astype(dtype)
    array = np.zeros(case.shape, dtype)
    array.reshape(-1)[array.size // 2] = largest
    return array


def _end_data(case: Case, random: np.random.Generator, most: float) -> np.ndarray[Any, Any]:
    kind = np.finfo(case.dtype)
    if case.data == "denormal":
        return (random.integers(-4000, 4000, case.shape) * float(kind.smallest_subnormal)).astype(case.dtype)
    largest = kind.dtype.type(min(most, float(kind.max)))
    if float(largest) > most:
        largest = np.nextafter(largest, kind.dtype.type(0))
    return np.where(random.random(case.shape) < 0.9, largest, 0).astype(case.dtype)


def _axes(filter: Filter, variant: Variant) -> dict[str, Sequence[Any]]:
    shapes = (*INPUT_KINDS[filter.accepts].shapes, *variant.shapes)
    axes: dict[str, Sequence[Any]] = {"shape": shapes, "dtype": filter.dtypes, "data": DATA}
    preset_names = _preset_names(filter)
    if preset_names:
        axes["preset"] = settings_of(filter)
    axes.update({f"param {p.name}": values_of(p) for p in filter.params if p.name not in preset_names})
    axes.update({f"knob {p.name}": values_of(p) for p in variant.knobs})
    return axes


def _builder(filter: Filter, variant: Variant, axes: Mapping[str, Sequence[Any]]) -> Callable[[Sequence[int]], Case]:
    """What makes the case with the i-th choices of each axis."""
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


def _preset_names(filter: Filter) -> frozenset[str]:
    """The parameters that the filter's presets set together."""
    return frozenset(name for values in filter.presets.values() for name in values)


def settings_of(filter: Filter) -> tuple[tuple[tuple[str, Value], ...], ...]:
    """Settings of the parameters that presets set, as (name, value) pairs: every preset, all parameters at their
    lowest, all at their highest, and fractions that all differ."""
    params = [p for p in filter.params if p.name in _preset_names(filter)]
    settings = [tuple((p.name, p.check(values[p.name])) for p in params) for values in filter.presets.values()]
    custom = [(p.low for p in params), (p.high for p in params), (_fraction(p) for p in params)]
    for numbers in custom:
        pairs = zip(params, numbers, strict=True)
        settings.append(tuple((p.name, p.check(_repeat(p, number))) for p, number in pairs))
    return tuple(settings)


def heavier(filter: Filter, case: Case) -> dict[str, Value]:
    """The whole-number parameters with the most work: of each the last test value that suits the case."""
    params: dict[str, Value] = {}
    for param in (p for p in filter.params if isinstance(p.default, int)):
        for value in reversed(values_of(param)):
            with suppress(ParamError):
                filter.check(task_of(filter, replace(case, params={**case.params, **params, param.name: value})))
                params[param.name] = value
                break
    return params


def _fraction(param: Param) -> Value:
    """A fraction; for a tuple, fractions of both signs that all differ."""
    if isinstance(param.default, tuple):
        return tuple(d + 0.37 * (i - 3) - 0.1 * i * i % 1.3 for i, d in enumerate(param.default))
    return float(param.default) + 0.7


def _repeat(param: Param, value: Any) -> Any:
    """The value once for each number of a tuple parameter; else the value."""
    return (value,) * len(param.default) if isinstance(param.default, tuple) and not isinstance(value, tuple) else value


def values_of(param: Param) -> tuple[Value, ...]:
    """Values worth testing: those the parameter names, every choice, or the limits, the default and one between."""
    if param.tries:
        return param.tries
    if param.choices:
        return param.choices
    if isinstance(param.default, bool):
        return (False, True)
    if isinstance(param.default, str | tuple) or param.low is None or param.high is None:
        return (param.default,)
    between = (max(param.low, 1) * param.high) ** 0.5
    if isinstance(param.default, int):
        step = int(param.step or 1)
        between = int(param.low + (between - param.low) // step * step)
    values = [param.check(v) for v in (param.low, param.default, between, param.high)]
    return tuple(dict.fromkeys(values))
