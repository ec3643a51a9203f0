"""Reductions: exact references, every variant on hard inputs, the counters of each kernel, and the source's laws."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from lanes import daily_subset
from tasks import on

from gpu_ops.devices.offline import OfflineDevice
from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.launch import Options
from gpu_ops.devices.sim.traces import Tracing
from gpu_ops.errors import ParamError
from gpu_ops.explaining.judging import judge_by_reports
from gpu_ops.explaining.law_counts import recorded_steps
from gpu_ops.explaining.laws import count_steps
from gpu_ops.explaining.xray import xray
from gpu_ops.filters import find_filter
from gpu_ops.filters.kit.loops import flat
from gpu_ops.filters.reduce.exact import exact_sum, reference
from gpu_ops.filters.reduce.figures import FIGURES, UNIT
from gpu_ops.filters.reduce.host import _candidates
from gpu_ops.filters.reduce.peers import cupy_figures
from gpu_ops.filters.reduce.plans import launch_sizes, one_thread_per_sample, one_wave, state_bytes, two_each
from gpu_ops.io import from_array
from gpu_ops.plan import Execution, Launch, Plan
from gpu_ops.running.runner import run_experiment
from gpu_ops.running.verify import full_meta, verify
from gpu_ops.task import Meta, Task
from gpu_ops.types import Experiment, Input, Pick, Run

Array = np.ndarray[Any, Any]
HOSTS = ("serial", "parallel")
KERNELS = ("adjacent", "strided", "sequential", "first_add", "two_phase", "warp_shuffle")
EVERY_KERNEL = (*KERNELS, "one_pass")
"""With the one whose loads are not declared."""
RANDOM = np.random.default_rng(7)


def given(array: Array) -> Input:
    return from_array(array, kind="image" if array.ndim > 2 else "signal", nonfinite="keep")


def task_of(array: Array, **params: Any) -> Task:
    return Task.of(full_meta(given(array)), {"statistic": "all", "compensated": "off", **params}).on(array)


def right(array: Array, **params: Any) -> Array:
    """The reference, (figures,) or (figures, channels)."""
    return reference(task_of(array, **params))["figures"]


def run(array: Array, *variants: str, knobs: dict[str, Any] | None = None, **params: Any) -> list[Run]:
    """The verified run of each variant."""
    input = given(array)
    picks = tuple(Pick(v, "sim" if v in EVERY_KERNEL else "cpu", knobs or {}) for v in variants)
    every = run_experiment(Experiment(f"reduce{2 if array.ndim > 2 else 1}d", input, params, picks, protocol="none"))
    return [one for one in every if one.stage == "verified" or one.failure]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_exact_sums_are_exact(dtype: str) -> None:
    for values in (
        RANDOM.standard_normal(3001) * 10.0 ** RANDOM.integers(-30, 30, 3001),
        np.array([1e30, 1.0, -1e30, 2.0**-140]),
        RANDOM.integers(-9, 9, 50) * float(np.finfo(dtype).smallest_subnormal),
        np.zeros(3),
    ):
        values = values.astype(dtype)
        assert exact_sum(values) == sum(map(Fraction, values.tolist()))


def test_the_reference_is_numpys_and_exact_where_numpy_is_not() -> None:
    levels = RANDOM.integers(0, 65536, (5003, 2), np.uint16)
    expected = [[f(c) for f in (np.sum, np.min, np.max, np.mean, np.var)] for c in levels.T.astype(np.float64)]
    assert np.allclose(right(levels).T, expected, rtol=1e-13, atol=0)
    hard = (1e6 + RANDOM.standard_normal(4001)).astype(np.float32)
    exact = [Fraction(v) for v in hard.tolist()]
    mean = sum(exact) / len(exact)
    variance = sum((v - mean) ** 2 for v in exact) / len(exact)
    assert right(hard)[3] == float(mean) and right(hard)[4] == pytest.approx(float(variance), rel=1e-15)
    assert right(hard, statistic="sum")[0] == math.fsum(hard.tolist())


def test_the_table_names_rows_and_columns_and_has_the_types_of_its_figures() -> None:
    (one,) = run(RANDOM.integers(0, 256, (4, 5, 4), np.uint8), "serial", statistic="all")
    rows, columns = one.forms["figures"].axes
    assert columns.labels == ("red", "green", "blue", "alpha") and rows.labels == FIGURES
    for statistic, dtype in {"sum": "uint64", "min": "uint16", "mean": "float64", "variance": "float64"}.items():
        (one,) = run(np.arange(9, dtype=np.uint16), "serial", statistic=statistic)
        assert one.outputs["figures"].dtype == dtype and one.outputs["figures"].shape == (1,)


@pytest.mark.parametrize("variant", [*HOSTS, "numpy", *EVERY_KERNEL])
def test_a_large_mean_does_not_harm_the_variance(variant: str) -> None:
    hard = (1e6 + RANDOM.standard_normal(20011)).astype(np.float32)
    (one,) = run(hard, variant, statistic="variance")
    exact = float(right(hard, statistic="variance")[0])
    assert one.ok and abs(one.outputs["figures"][0] / exact - 1) < 1e-8
    assert abs(np.mean(hard.astype(np.float64) ** 2) - np.mean(hard, dtype=np.float64) ** 2 - exact) > 1e-6 * exact


def test_a_first_sample_far_from_all_others_costs_one_share_only() -> None:
    """Squares are relative to the first samples of each warp; the table of four colours equals that of each alone."""
    array = RANDOM.standard_normal((300, 70, 4)).astype(np.float32)
    array[0, 0] = 1e7
    (one,) = run(array, "one_pass", statistic="all", knobs={"block": 128, "blocks": 1})
    assert one.ok and not one.findings
    assert np.allclose(one.outputs["figures"], right(array), rtol=1e-12)


@pytest.mark.parametrize("variant", [*HOSTS, *EVERY_KERNEL])
def test_pairs_keep_what_additions_lose(variant: str) -> None:
    """The magnitudes add up to 2e16 times the sum, so that few digits are right without pairs."""
    random = np.random.default_rng(3)
    large = 1e8 * random.standard_normal(1500)
    array = np.concatenate([large, random.random(1501) * 1e-8, -large])
    exact = math.fsum(array.tolist())
    (off,), (pairs,) = (run(array, variant, statistic="sum", compensated=c) for c in ("off", "pairs"))
    assert off.ok and pairs.ok
    assert pairs.errors["figures"].tolerance < 2.1 * UNIT < off.errors["figures"].tolerance / 10
    lost = [abs(float(one.outputs["figures"][0]) - exact) for one in (pairs, off)]
    assert lost[0] < 1e-9 * abs(exact) and lost[1] > 1e-4 * abs(exact)


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
def test_extremes_on_all_threads_are_numpys_wherever_they_lie(dtype: str) -> None:
    """In vectors and in their remainder, with channels that divide a vector and others, and with NaN."""
    for n in (1, 63, 64, 257, 1000):
        for channels in (1, 2, 3):
            x = RANDOM.integers(1, 255, (n, channels)).astype(dtype)
            for place in (0, n // 2, n - 1):
                y = x.copy()
                y[place, -1], y[-1 - place, 0] = 0, 255 if dtype == "uint8" else np.nan
                right = np.stack([y.min(axis=0), y.max(axis=0)], axis=1)
                found = _candidates(flat(y), channels)
                ends = np.stack([found.min(axis=0), found.max(axis=0)], axis=1)
                assert np.array_equal(ends, right, equal_nan=True), (n, channels, place)


class FakeCupy:
    """CuPy's functions that reductions call, by NumPy; its var takes the mean and the differences in the samples' type
    where a type is asked for."""

    uint64, float32, float64 = np.uint64, np.float32, np.float64
    sum, mean, min, max = staticmethod(np.sum), staticmethod(np.mean), staticmethod(np.min), staticmethod(np.max)

    @staticmethod
    def var(values: Array, dtype: Any = None) -> Any:
        kind = np.dtype(np.float64 if dtype is None and values.dtype.kind == "u" else values.dtype)
        mean = np.mean(values, dtype=np.float64).astype(kind)
        apart = values.astype(np.int32) - int(mean) if kind.kind == "u" else values.astype(kind) - mean
        return np.mean(apart * apart, dtype=np.float64)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64"])
def test_variances_by_cupy_are_taken_in_float64(dtype: str) -> None:
    filter, whole = find_filter("reduce1d"), np.iinfo(dtype).max if dtype[0] == "u" else 1.0
    device: Any = SimpleNamespace(library=lambda name: FakeCupy)
    for values in (np.array([0.7] * 7), np.array([0, 1, 1, 1, 0, 1, 1.0])):
        x = (values * whole).astype(dtype)
        task = on(filter, x, {"statistic": "all", "compensated": "off"})
        out = np.zeros(len(FIGURES))
        for step in cupy_figures(device, task, out).steps:
            step.function(*step.args)  # type: ignore[union-attr]
        right = verify(filter, filter.variant("cupy"), from_array(x, "signal"), task, {"figures": out})
        assert right["figures"].ok, (dtype, out)


ODD = [[np.nan], [np.inf], [-np.inf], [np.inf, -np.inf], [np.nan, np.inf]]


@pytest.mark.parametrize("odd", daily_subset(ODD, 2, str))
def test_nan_and_infinity_go_into_the_figures_as_in_numpy(odd: list[float]) -> None:
    array = RANDOM.random((301, 2)).astype(np.float32)
    array[100 : 100 + len(odd), 0] = odd
    with np.errstate(invalid="ignore"):
        expected = [[f(c) for f in (np.sum, np.min, np.max, np.mean, np.var)] for c in array.T.astype(np.float64)]
    for params in ({}, {"compensated": "pairs"}):
        for one in run(array, *HOSTS, "sequential", "warp_shuffle", "one_pass", statistic="all", **params):
            assert one.ok, (odd, one.pick, one.outputs, one.errors)
            assert np.allclose(one.outputs["figures"].T, expected, rtol=1e-6, equal_nan=True)


def test_the_variance_of_one_infinity_is_nan() -> None:
    (alone,) = run(np.array([np.inf]), "sequential", statistic="all")
    assert np.isnan(alone.outputs["figures"][4]) and alone.ok


def test_sums_of_integers_pass_32_bits() -> None:
    array = np.full(70_001, 65535, np.uint16)
    for one in run(array, "serial", "parallel", "numpy", "adjacent", "first_add", "warp_shuffle", statistic="sum"):
        assert one.ok and int(one.outputs["figures"][0]) == 70_001 * 65535 > 2**32, one.pick
    for one in run(array, "serial", "parallel", "sequential", statistic="variance"):
        assert one.ok and one.outputs["figures"][0] == 0, one.pick


@pytest.mark.parametrize("variant", KERNELS)
def test_as_many_launches_as_it_takes_are_right_for_odd_lengths(variant: str) -> None:
    variants = find_filter("reduce1d").variant(variant)
    knobs = {k.name: {"block": 32, "threads": 1024, "items": 4}[k.name] for k in variants.knobs}
    array = RANDOM.integers(0, 65536, (4099, 3), np.uint16)
    (one,) = run(array, variant, statistic="all", knobs=knobs)
    assert one.ok and not one.findings, (one.errors, one.failure)


@pytest.mark.parametrize("shaping", [one_thread_per_sample, two_each, one_wave])
def test_two_thousand_million_samples_end_in_one_block(shaping: Any) -> None:
    task = Task.of(Meta("signal", (2**31 + 1,), "uint8"), {"statistic": "sum"}, {"block": 256, "items": 16})
    sizes = launch_sizes(Task(task.metas, task.params, task.knobs, OfflineDevice("sm_90").limits), shaping)
    assert sizes[0][0] == 2**31 + 1 and sizes[-1][1][0] == 1 and len(sizes) <= 4
    assert all(blocks * block * 2 >= n or shaping is one_wave for n, (blocks, block) in sizes)


def test_input_without_samples_is_refused_in_a_sentence() -> None:
    filter = find_filter("reduce1d")
    with pytest.raises(ParamError, match="without samples has no sum"):
        filter.check(Task.of(Meta("signal", (0,), "float32"), {"statistic": "sum", "compensated": "off"}))
    with pytest.raises(ParamError, match="up to 4,294,967,296 samples of a channel"):
        filter.check(Task.of(Meta("signal", (2**32 + 1,), "uint8"), {"statistic": "sum", "compensated": "off"}))


def test_each_figure_is_judged_on_its_own_scale() -> None:
    """A small channel next to a large one, and a minimum next to a sum."""
    filter, array = find_filter("reduce1d"), RANDOM.random((1000, 2))
    array[:, 1] *= 1e9
    task, table = task_of(array), right(array)
    assert verify(filter, filter.variants[2], given(array), task, {"figures": table})["figures"].ok
    for place in np.ndindex(table.shape):
        wrong = table.copy()
        wrong[place] *= 1 + 1e-9
        error = verify(filter, filter.variants[2], given(array), task, {"figures": wrong})["figures"]
        assert not error.ok and error.worst == place


# What kernels do.


@pytest.mark.parametrize("variant", KERNELS)
def test_counted_loads_are_those_declared(variant: str) -> None:
    filter = find_filter("reduce1d")
    for shape, dtype, knobs in (
        ((1000,), "float32", {"block": 32, "threads": 64, "items": 4}),
        ((257, 3), "uint8", {"block": 64, "threads": 1024, "items": 16}),
        ((1,), "float64", {"block": 128, "threads": 16, "items": 16}),
    ):
        chosen = filter.variant(variant)
        own = {k.name: knobs[k.name] for k in chosen.knobs}
        x = xray(filter, chosen, given((RANDOM.random(shape) * 200).astype(dtype)), {"statistic": "sum"}, own)
        assert x.expected is not None and not x.findings and len(x.kernels) == 1
        counted = {**x.kernels[0].block_loads, "total": x.totals["global_load_threads"]}
        assert counted == {name: getattr(x.expected, name) for name in counted}, (shape, knobs)


def _steps(variant: str, dtype: str) -> list[Any]:
    """What the first warp does in shared memory at the line of the fan-in, store by store, in a block of 256."""
    filter, device = (
        find_filter("reduce1d"),
        SimDevice("sm_75", Options(counters="full", tracing=Tracing(("first",), (0,))), assemble=True),
    )
    session = device.session({})
    array = (RANDOM.random(256) * 200).astype(dtype)
    task = Task.of(given(array).meta, {"statistic": "sum", "compensated": "off"}, {"block": 256}, session.limits)
    plan = filter.variant(variant).plan(session, task.on(session.upload(array)))
    done: Execution = session.execute(plan)
    accesses = [a for t in done.traces if t.file.startswith("reduce/") for a in t.accesses if a.space == "shared"]
    return [a for a in accesses if a.verb == "store"][1:]


def _wavefronts(access: Any) -> int:
    """Passes over 32 banks of 4 bytes that one access of 4 bytes takes."""
    words = {(access.start + o) // 4 for o in access.offsets}
    return max(sum(word % 32 == bank for word in words) for bank in range(32))


def test_the_ladder_of_adjacent_pairs_loses_lanes_and_that_of_strided_places_meets_banks() -> None:
    """Harris' first kernels: active lanes of the first warp, and wavefronts of an access, for s = 1 … 128."""
    assert [len(a.lanes) for a in _steps("adjacent", "uint8")] == [16, 8, 4, 2, 1, 1, 1, 1]
    assert [_wavefronts(a) for a in _steps("strided", "uint16")] == [2, 4, 8, 8, 8, 4, 2, 1]
    assert [_wavefronts(a) for a in _steps("sequential", "uint8")] == [1] * 8
    assert [len(a.lanes) for a in _steps("sequential", "uint8")] == [32, 32, 32, 16, 8, 4, 2, 1]


@pytest.mark.parametrize("dtype", ["uint8", "float64"])
def test_the_host_knows_the_size_of_a_state(dtype: str) -> None:
    """Threads with less shared memory than their states take write out of bounds, which the simulated GPU sees."""
    device = SimDevice("sm_75").session({})
    for statistic in ("sum", "min", "variance", "all"):
        task = task_of(np.ones(513, dtype), statistic=statistic, compensated="pairs")
        task = Task(task.metas, task.params, {"block": 256}, device.limits).on(device.upload(task.x))
        plan = find_filter("reduce1d").variant("sequential").plan(device, task)
        assert not device.execute(plan).findings
        first, second = (step for step in plan.steps if isinstance(step, Launch))
        assert second.shared_bytes == 4 * state_bytes(task) and first.shared_bytes == 256 * state_bytes(task, True)
        less = Plan((replace(first, shared_bytes=first.shared_bytes - 4),), plan.outputs)
        assert [f.kind for f in device.execute(less).findings] != [], statistic


# The source's laws.


def test_recorded_steps_are_those_that_the_simulated_gpu_counts() -> None:
    filter, recorded = find_filter("reduce1d"), recorded_steps()
    assert set(recorded) == {(law.id, n, p) for law in filter.laws for n, p in law.points}
    fan_in, two_phase = filter.laws
    for law, n, p in ((fan_in, 256, 128), (fan_in, 4096, 2048), (two_phase, 256, 16), (two_phase, 16384, 128)):
        assert count_steps(filter, law, n, p) == recorded[law.id, n, p] == law.steps(n, p)


def test_claims_about_the_laws_are_judged_by_the_counts() -> None:
    claims = [claim for claim in find_filter("reduce1d").claims if "laws" in claim.experiment]
    judged = {j.claim.id: j for j in judge_by_reports(claims, {})}
    assert all(j.holds for j in judged.values()) and len(judged) == 3
    assert (
        "S = 31.88, E = 0.25" in judged["S3-sums-256"].result and "S = 13.42, E = 0.84" in judged["S3-sums-256"].result
    )
    one_more = {place: steps + 1 for place, steps in recorded_steps().items()}
    assert [claim.judge(one_more)[1] for claim in claims] == [False, True, False]
    assert [claim.judge({}) for claim in claims] == [("not counted here", None)] * 3
