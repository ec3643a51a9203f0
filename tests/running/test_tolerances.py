"""Verdicts that can fail: what a tolerance allows is small, and twice as much is wrong, for every variant."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from lanes import few

from gpu_ops import from_array
from gpu_ops.devices.offline import OfflineDevice
from gpu_ops.errors import ParamError
from gpu_ops.filters import FILTERS, find_filter
from gpu_ops.filters.reduce.figures import UNIT
from gpu_ops.params import Values
from gpu_ops.running.runner import nothing_judged, run_experiment
from gpu_ops.running.verify import full_meta, reference, verify
from gpu_ops.task import Task
from gpu_ops.types import MOST_SHARE, Error, Experiment, Filter, Input, Output, Pick, Variant

Array = np.ndarray[Any, Any]
LIMITS = OfflineDevice("sm_90").limits
ASKING = ("result", "statistic", "compensated", "rule", "passes")
"""Parameters that say which outputs there are, or how their values are made."""
MATRIX = (0.1, 0.7, -0.3, 0.9, 2.1, -1.1, 0.2, 0.4, -0.6)


def input_of(filter: Filter, dtype: str, shape: tuple[int, ...] = ()) -> Input:
    random = np.random.default_rng(11)
    shape = shape or ((24, 40) if filter.accepts == "image" else (120,))
    values = random.random(shape) * (1.0 if dtype.startswith("float") else np.iinfo(dtype).max)
    return from_array(values.astype(dtype), kind=filter.accepts)


def settings_of(filter: Filter) -> Iterator[Values]:
    """The defaults, with each choice of what says which outputs there are."""
    defaults = {p.name: p.default for p in filter.params}
    if "levels" in defaults:
        defaults["levels"] = 1
    asking = [p for p in filter.params if p.name in ASKING]
    for choices in product(*(p.choices for p in asking)):
        yield defaults | {p.name: choice for p, choice in zip(asking, choices, strict=True)}
    if filter.id == "conv3x3":
        yield defaults | {"matrix": MATRIX, "passes": 2}


def right_outputs(filter: Filter, input: Input, task: Task) -> dict[str, Array]:
    """The reference in the types of the outputs."""
    return {o.id: stored(o, task, reference(filter, input, task)[o.id]) for o in filter.given(task.params)}


def stored(output: Output, task: Task, values: Array) -> Array:
    kind = np.dtype(output.form(task).dtype)
    values = np.ma.getdata(values)
    return (np.floor(values + 0.5) if kind.kind == "u" and values.dtype.kind == "f" else values).astype(kind)


def twice_off(output: Output, task: Task, array: Array, place: int, error: Error) -> Array:
    """The output with one element off by twice what is allowed for it, or by the next number where that is less."""
    scales = output.scales(task, error.tolerance) if output.scales else None
    if scales is None and output.kind == "table" and output.own_scale and array.ndim == 2:
        largest = np.maximum(np.nanmax(np.abs(array), axis=0), np.finfo(np.float32).smallest_normal)
        largest = np.minimum(largest, output.most(task)) if output.most else largest
        scales = np.broadcast_to(largest, array.shape)
    by = 2 * error.tolerance * (error.scale if scales is None else float(scales.reshape(-1)[place]))
    wrong = array.copy()
    flat = wrong.reshape(-1)
    if array.dtype.kind == "u":
        step = int(by) + 1
        flat[place] = int(flat[place]) - step if int(flat[place]) >= step else int(flat[place]) + step
    else:
        flat[place] += by
        if flat[place] == array.reshape(-1)[place]:
            flat[place] = np.nextafter(array.reshape(-1)[place], array.dtype.type(np.inf))
    return wrong


def check_variant(filter: Filter, variant: Variant, input: Input, params: Values) -> None:
    task = Task.of(full_meta(input), params, {k.name: k.default for k in variant.knobs}, LIMITS)
    right, where = right_outputs(filter, input, task), (filter.id, variant.id, input.array.dtype, params)
    expected = reference(filter, input, task)
    for output in filter.given(params):
        array = right[output.id]
        error = verify(filter, variant, input, task, right)[output.id]
        assert error.ok and error.judges, (where, output.id, error)
        sure = np.flatnonzero(
            ~np.ma.getmaskarray(expected[output.id]) & np.isfinite(np.ma.getdata(expected[output.id]))
        )
        for place in {sure[0], sure[len(sure) // 2], sure[-1]} if len(sure) else ():
            wrong = right | {output.id: twice_off(output, task.on(input.array), array, place, error)}
            found = verify(filter, variant, input, task, wrong)[output.id]
            assert not found.ok, (where, output.id, place, found)


@pytest.mark.parametrize("usual", few([True, False], True), ids=lambda usual: "ends" if usual else "others")
@pytest.mark.parametrize("filter", FILTERS, ids=lambda f: f.id)
def test_twice_what_a_variant_may_lose_is_wrong_and_little(filter: Filter, usual: bool) -> None:
    """Variants of one tolerance are one: a reference is not compared with itself once more for each. By default the
    first and the last type of samples are tried."""
    ends = {filter.dtypes[0], filter.dtypes[-1]}
    for dtype in (d for d in filter.dtypes if (d in ends) == usual):
        input = input_of(filter, dtype)
        for params in settings_of(filter):
            task = Task.of(full_meta(input), params, {}, LIMITS)
            try:
                filter.check(task)
            except ParamError:
                continue
            seen = set()
            for variant in filter.variants:
                own = Task.of(task.meta, params, {k.name: k.default for k in variant.knobs}, LIMITS)
                if variant.refusal(own) is None:
                    tolerance = variant.exactness.tolerance(own) if variant.exactness else None
                    if tolerance not in seen:
                        check_variant(filter, variant, input, params)
                    seen.add(tolerance)


ROUNDED = [
    ("wavelet2d", {"wavelet": "db4", "levels": 2, "rule": "manual", "value": 20.0}),
    ("wavelet2d", {"wavelet": "sym8", "levels": 1, "border": "symmetric", "shifts": 2}),
    ("fft_mask", {}),
    ("conv3x3", {"matrix": MATRIX}),
    ("conv3x3", {"matrix": MATRIX, "passes": 2}),
]


def verdict(filter: Filter, input: Input, params: Values, change: Any, variant: str = "serial") -> dict[str, Error]:
    """The errors of the reference after a change, in the types of the outputs."""
    values = {p.name: p.default for p in filter.params} | dict(params)
    chosen = filter.variant(variant)
    task = Task.of(full_meta(input), values, {k.name: k.default for k in chosen.knobs}, LIMITS)
    made = {
        o.id: change(np.ma.getdata(reference(filter, input, task)[o.id])).astype(o.form(task).dtype)
        for o in filter.given(values)
    }
    return verify(filter, chosen, input, task, made)


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
@pytest.mark.parametrize("id, params", ROUNDED, ids=[f"{id}-{k}" for k, (id, _) in enumerate(ROUNDED)])
def test_integers_that_are_cut_off_instead_of_rounded_are_wrong(id: str, params: Values, dtype: str) -> None:
    """Half of them are one level too low."""
    filter, results = find_filter(id), {"fft_mask": "image", "wavelet2d": "image", "conv3x3": "image"}
    input, name = input_of(filter, dtype, (96, 128)), results[id]
    assert verdict(filter, input, params, lambda x: np.floor(x + 0.5))[name].ok
    assert verdict(filter, input, params, lambda x: np.ceil(x - 0.5))[name].ok, "halves may be rounded either way"
    assert not verdict(filter, input, params, np.floor)[name].ok
    assert not verdict(filter, input, params, np.ceil)[name].ok


@pytest.mark.parametrize("checks", ["full", "sample"])
def test_an_image_of_zeros_is_wrong_whatever_two_passes_magnify(checks: Any) -> None:
    filter, input = find_filter("conv3x3"), input_of(find_filter("conv3x3"), "uint8", (80, 90))
    params = {p.name: p.default for p in filter.params} | {"matrix": tuple(28.25 * m for m in (1,) * 9), "passes": 2}
    for matrix, right in (((28.2,) * 9, False), ((0.0,) * 9, True)):
        task = Task.of(full_meta(input), params | {"matrix": matrix}, {}, LIMITS)
        zeros = {"image": np.zeros_like(input.array)}
        assert verify(filter, filter.variant("serial"), input, task, zeros, checks)["image"].ok is right


@pytest.mark.parametrize("checks", ["full", "sample"])
def test_where_a_half_is_rounded_to_in_the_first_of_two_passes_decides_no_verdict(checks: Any) -> None:
    """2.3 · 5 is 11.5 but for its rounding: 12 and then 27.6, or 11 and then 25.3. Libraries may go either way."""
    filter, input = find_filter("conv3x3"), from_array(np.full((40, 50), 5, np.uint8), kind="image")
    matrix = (0.0, 0.0, 0.0, 0.0, 2.3, 0.0, 0.0, 0.0, 0.0)
    params = {p.name: p.default for p in filter.params} | {"matrix": matrix, "passes": 2}
    task = Task.of(full_meta(input), params, {}, LIMITS)
    for level, right in ((28, True), (25, True), (22, False), (31, False)):
        made = {"image": np.full_like(input.array, level)}
        assert verify(filter, filter.variant("serial"), input, task, made, checks)["image"].ok is right, level
    picks = tuple(Pick(variant, "cpu") for variant in ("serial", "parallel", "scipy", "opencv"))
    runs = {r.pick.variant: r for r in run_experiment(Experiment("conv3x3", input, params, picks, protocol="none"))}
    assert len(runs) == 4 and all(run.ok for run in runs.values())


@pytest.mark.parametrize("id", ["fft1d", "fft2d"])
def test_a_phase_of_a_large_value_is_judged_closely(id: str) -> None:
    """For float32 an error of 0.01 rad is wrong there, and right at a value that is small compared with the largest."""
    filter = find_filter(id)
    shape = (64, 96) if filter.accepts == "image" else (1000,)
    x = np.random.default_rng(3).normal(size=shape).astype(np.float32)
    input, name = from_array(x, kind=filter.accepts), "phase"
    params = {"result": "phase", **({"centred": False} if filter.accepts == "image" else {})}
    assert verdict(filter, input, params, lambda phase: phase)[name].ok
    assert not verdict(filter, input, params, lambda phase: phase + 0.01)[name].ok
    sizes = np.abs(np.fft.fft2(x) if x.ndim == 2 else np.fft.rfft(x))
    most = np.unravel_index(np.argmax(sizes), sizes.shape)

    def turned(phase: Array) -> Array:
        phase = phase.copy()
        phase[most] += 1e-4
        return phase

    assert not verdict(filter, input, params, turned)[name].ok


@pytest.mark.parametrize("length", [1000, 100_000])
def test_a_peak_one_bin_away_is_wrong(length: int) -> None:
    filter, t = find_filter("fft1d"), np.arange(length)
    input = from_array(np.sin(2 * np.pi * 0.4321 * t).astype(np.float32), kind="signal")
    for bins, right in ((0.0, True), (1.0, False)):

        def moved(values: Array, bins: float = bins) -> Array:
            return values + np.array([[bins / length, 0.0]]) * (values > 0) if values.shape == (16, 2) else values

        assert verdict(filter, input, {"result": "magnitude"}, moved)["peaks"].ok is right


@cache
def far_from_zero(count: int) -> Input:
    """Samples far from zero compared with their differences."""
    return from_array(1e9 + np.random.default_rng(5).normal(size=count), kind="signal")


@pytest.mark.parametrize("variant", ["serial", "parallel", "one_pass", "two_phase"])
def test_a_variance_far_from_zero_is_judged(variant: str) -> None:
    filter, input = find_filter("reduce1d"), far_from_zero(2_000_000)
    right = verdict(filter, input, {"statistic": "variance"}, lambda x: x, variant)["figures"]
    assert right.ok and right.judges
    assert not verdict(filter, input, {"statistic": "variance"}, lambda x: x * 1.03, variant)["figures"].ok
    assert not verdict(filter, input, {"statistic": "variance"}, lambda x: x * 0.0, variant)["figures"].ok


def test_variances_far_from_zero_are_right_on_the_cpu() -> None:
    input = from_array(np.sort(far_from_zero(100_000).array), kind="signal")
    picks = tuple(Pick(variant, "cpu") for variant in ("serial", "parallel", "numpy"))
    params = {"statistic": "variance", "compensated": "off"}
    runs = {r.pick.variant: r for r in run_experiment(Experiment("reduce1d", input, params, picks, protocol="none"))}
    assert all(run.ok for run in runs.values()), {id: run.errors for id, run in runs.items()}


def cancelling(n: int) -> Array:
    """Large numbers whose sum is small, and which a plain sum in their order does not find."""
    half = 1e8 * np.random.default_rng(9).normal(size=n // 2)
    x = np.concatenate([half, -half]) + np.random.default_rng(8).normal(size=2 * (n // 2))
    return np.random.default_rng(7).permutation(x)


@pytest.mark.parametrize("statistic", ["sum", "mean", "all"])
def test_compensated_sums_are_judged_as_such(statistic: str) -> None:
    """A plain sum of numbers that cancel is wrong where it should be compensated, and right where it need not be."""
    filter, x = find_filter("reduce1d"), cancelling(20_000)
    input = from_array(x, kind="signal")
    params = {"statistic": statistic, "compensated": "pairs"}
    plain = {"sum": sum(x.tolist()), "mean": sum(x.tolist()) / x.size}
    row = ("sum", "min", "max", "mean").index("sum") if statistic == "all" else 0

    def plainly(figures: Array) -> Array:
        figures = figures.copy()
        figures[row] = plain["mean" if statistic == "mean" else "sum"]
        return figures

    for how, right in (("off", True), ("pairs", False)):
        assert verdict(filter, input, params | {"compensated": how}, plainly)["figures"].ok is right
    picks = tuple(Pick(variant, device) for variant, device in (("serial", "cpu"), ("parallel", "cpu")))
    for run in run_experiment(Experiment("reduce1d", input, params, picks, protocol="none")):
        assert run.ok is not False, (run.pick.variant, run.errors)
    compensated = verdict(filter, input, params | {"statistic": "sum"}, lambda x: x)["figures"]
    assert compensated.tolerance == 2 * UNIT and compensated.tolerance * compensated.scale < 1e-10


@pytest.mark.parametrize("value", [0.1, 1e9 + 0.3, 0.0])
def test_a_variance_of_equal_samples_is_judged(value: float) -> None:
    input, filter = from_array(np.full(1001, value), kind="signal"), find_filter("reduce1d")
    params = {"statistic": "variance", "compensated": "off"}
    picks = tuple(Pick(variant, "cpu") for variant in ("serial", "parallel", "numpy"))
    runs = {r.pick.variant: r for r in run_experiment(Experiment("reduce1d", input, params, picks, protocol="none"))}
    assert all(run.ok for run in runs.values()), {id: run.errors for id, run in runs.items()}
    small = 1e-6 * value**2 + 1e-300
    assert not verdict(filter, input, params, lambda x: x + small)["figures"].ok
    total = verdict(filter, input, params | {"statistic": "sum"}, lambda x: x)["figures"]
    assert total.ok and total.judges


def test_a_run_whose_tolerance_says_nothing_is_not_called_right() -> None:
    """A float64 holds the distances of such samples from their mean hardly at all."""
    x = 1e14 + np.random.default_rng(5).random(1000)
    params = {"statistic": "variance", "compensated": "off"}
    experiment = Experiment("reduce1d", from_array(x, kind="signal"), params, (Pick("serial", "cpu"),), protocol="none")
    run = list(run_experiment(experiment))[-1]
    assert run.ok is None and not run.errors["figures"].judges
    assert any("not judged" in note and f"{100 * MOST_SHARE:.2g} %" in note for note in run.notes)
    assert nothing_judged({"figures": Error(0.0, 0.0, (0,), 1.0, 1e-3, 1e-3)}) == ()


def test_a_level_of_0_db_is_judged() -> None:
    """A constant at full scale: its only level is 0, which is not the size of what may be wrong."""
    full = from_array(np.ones((1, 1), np.float32))
    experiment = Experiment("fft2d", full, {"result": "level"}, (Pick("serial", "cpu"),), "none")
    *_, last = run_experiment(experiment)
    assert last.ok and last.errors["level"].judges
