"""Numbers at the ends of their range: what is judged wrong, what a variant refuses, and what the references make."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tasks import of, on

from gpu_ops import Experiment, Pick, from_array, run_experiment
from gpu_ops.cli import main
from gpu_ops.filters import FILTERS, find_filter
from gpu_ops.filters.kit.ranges import with_headroom
from gpu_ops.running.verify import full_meta, verify
from gpu_ops.task import Task
from gpu_ops.types import Input, Run, Variant

TOP = {dtype: float(np.finfo(dtype).max) for dtype in ("float32", "float64")}
WHOLE = {"mean1d serial", "mean1d scipy", "mean2d serial", "mean2d scipy"}
"""Means that are summed in float64: they hold for all of float32."""


def ran(filter: str, variant: str, input: Input, checks: str = "full", **params: object) -> Run:
    experiment = Experiment(filter, input, params, (Pick(variant, "cpu"),), "none", checks=checks)  # type: ignore[arg-type]
    return list(run_experiment(experiment))[-1]


def constant(filter: str, value: float, dtype: str) -> Input:
    shape = (65,) if filter == "mean1d" else (9, 11)
    return from_array(np.full(shape, value, dtype), kind=find_filter(filter).accepts)


@pytest.mark.parametrize("checks", ["full", "sample"])
@pytest.mark.parametrize("dtype", TOP)
def test_what_is_rounded_among_denormal_numbers_is_right(dtype: str, checks: str) -> None:
    step = float(np.finfo(dtype).smallest_subnormal)
    input = from_array((np.arange(200) % 7 * step).astype(dtype), kind="signal")
    filter = find_filter("mean1d")
    run = ran("mean1d", "serial", input, checks, window=5, border="zero")
    assert run.ok and run.errors["signal"].scale == float(np.finfo(dtype).smallest_normal)
    off = {"signal": run.outputs["signal"] + np.float64(40 * step).astype(dtype)}
    task = Task.of(input.meta, run.params)
    assert not verify(filter, filter.variant("serial"), input, task, off, checks)["signal"].ok  # type: ignore[arg-type]


def test_nothing_is_added_to_zeros() -> None:
    """Of an input of zeros the scale is no 1: what comes out must be 0."""
    input, filter = constant("mean1d", 0.0, "float32"), find_filter("mean1d")
    run = ran("mean1d", "serial", input, window=5)
    assert run.ok
    off = {"signal": run.outputs["signal"] + np.float32(1e-9)}
    task = Task.of(input.meta, run.params)
    assert not verify(filter, filter.variant("serial"), input, task, off)["signal"].ok


def test_samples_are_judged_by_the_scale_of_input_and_result() -> None:
    tiny = (np.arange(20 * 30).reshape(20, 30) * 1e-42).astype(np.float32)
    full, sample = (
        ran("conv3x3", "serial", from_array(tiny, kind="image"), checks, offset=4.0) for checks in ("full", "sample")
    )
    assert full.ok and sample.ok
    assert full.errors["image"].scale == pytest.approx(sample.errors["image"].scale) == 4.0


@pytest.mark.parametrize("checks", ["full", "sample"], ids=["whole", "strips"])
def test_an_offset_that_a_second_pass_removes_is_of_the_scale(checks: str) -> None:
    """Without the signs that make them cancel, both passes add it."""
    small = (np.random.default_rng(2).random((20, 30)) * 1e-3).astype(np.float32)
    turned = (0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0)
    run = ran("conv3x3", "serial", from_array(small, kind="image"), checks, matrix=turned, offset=4.0, passes=2)
    assert run.ok and run.errors["image"].scale == pytest.approx(8.0, abs=0.01)
    assert run.errors["image"].max > 1e-8
    levels = from_array(np.full((20, 30), 7, np.uint8), kind="image")
    params = {"matrix": turned, "offset": 4000.0, "passes": 2}
    assert ran("conv3x3", "serial", levels, checks, **params).errors["image"].scale == 255.0


@pytest.mark.parametrize(("filter", "variant"), [("mean1d", "parallel"), ("mean2d", "parallel"), ("conv3x3", "serial")])
@pytest.mark.parametrize("dtype", TOP)
def test_outside_of_its_range_a_variant_refuses(filter: str, variant: str, dtype: str) -> None:
    run = ran(filter, variant, constant(filter, 0.9 * TOP[dtype], dtype))
    assert run.failure_kind == "unsupported" and run.ok is None and not run.outputs
    assert run.failure.startswith("it holds for values up to ") and run.failure.endswith(": scale the input down")
    known = find_filter(filter).variant(variant)
    most = known.largest(of(find_filter(filter), dtype, run.params))  # type: ignore[misc]
    assert f"up to {most:.4g}, this input has {0.9 * TOP[dtype]:.4g}" in run.failure
    assert ran(filter, variant, constant(filter, 0.99 * most, dtype)).ok


def test_what_is_summed_in_a_wider_type_holds_for_all() -> None:
    for name in WHOLE:
        filter, variant = name.split()
        assert ran(filter, variant, constant(filter, TOP["float32"], "float32")).ok
    assert all(ran("box", v, constant("box", TOP["float32"], "float32"), radius=30).ok for v in ("serial", "parallel"))


@pytest.mark.parametrize("params", [{"window": 63}, {"window": 5}])
def test_references_of_means_are_finite_wherever_their_samples_are(params: dict[str, int]) -> None:
    for id, shape in (("mean1d", (301,)), ("mean2d", (70, 80))):
        x = np.random.default_rng(1).uniform(-0.97, 0.97, shape)
        for border in ("reflect", "zero"):
            given = {**params, "border": border}
            (large,) = find_filter(id).reference(on(find_filter(id), x * TOP["float64"], given)).values()
            (small,) = find_filter(id).reference(on(find_filter(id), x * (TOP["float64"] * 2.0**-40), given)).values()
            np.testing.assert_array_equal(large, small * 2.0**40)


def test_a_reference_of_a_convolution_is_finite_where_its_result_is() -> None:
    x = np.random.default_rng(1).uniform(-0.9, 0.9, (12, 13))
    params = {"matrix": (1.0,) * 9, "divisor": 9.0, "offset": 0.0, "border": "reflect", "passes": 2}
    conv = find_filter("conv3x3")
    large = conv.reference(on(conv, x * TOP["float64"], params))["image"]
    small = find_filter("conv3x3").reference(on(find_filter("conv3x3"), x * (TOP["float64"] * 2.0**-40), params))[
        "image"
    ]
    np.testing.assert_array_equal(large, small * 2.0**40)


def test_headroom_is_for_float64_near_its_end_only() -> None:
    for array in (np.array([3.0, -5.0]), np.full(4, TOP["float32"], np.float32), np.zeros(0), np.array([np.inf, 1.0])):
        same, factor = with_headroom(array, 100)
        assert same is array and factor == 1
    scaled, factor = with_headroom(np.array([TOP["float64"], -np.inf, np.nan, 2.0**900]), 100)
    assert factor == 128 and scaled[0] * 100 < np.inf and scaled[3] == 2.0**893
    assert scaled[1] == -np.inf and np.isnan(scaled[2])
    assert with_headroom(np.array([1.0, -TOP["float64"]]), 3)[1] == 8


def test_the_largest_magnitude_is_looked_at_once_and_of_floats_only(monkeypatch: pytest.MonkeyPatch) -> None:
    input = from_array(np.array([1.0, -7.5, np.nan, -np.inf]), kind="signal", nonfinite="keep")
    assert full_meta(input).largest == 7.5 and input.meta.largest == 0
    monkeypatch.setattr("gpu_ops.running.verify._largest", None)
    assert full_meta(input).largest == 7.5
    assert full_meta(from_array(np.array([1, 200], np.uint8), kind="signal")).largest == 0


def test_the_list_tells_the_ranges(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "mean1d", "--json", "-"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)["filters"]
    ranges = {v["id"]: v["largest"] for v in listed["variants"]}
    assert ranges["serial"].keys() == {"float64"} and ranges["scan"].keys() == {"float32", "float64"}
    assert ranges["parallel"]["float32"] == pytest.approx(TOP["float32"] / 7)


SMALL = {"mean1d": {"window": 5}, "mean2d": {"window": 5}, "box": {"radius": 4}}
COUNTS = {
    "layout": 2,
    "mean1d": 5,
    "mean2d": 25,
    "box": 121,
    "fft1d": 32 * 4096**1.5,
    "fft2d": 32 * 4096**1.5,
    "fft_mask": 32 * 4096**1.5,
    "fft_batch1d": 32 * 4096**1.5,
    "fft_batch2d": 32 * 4096**1.5,
    "reduce1d": 2 * 4096,
    "reduce2d": 2 * 4096,
    "scan1d": 4096,
    "scan2d": 64,
    "wavelet1d": 7**4,
    "wavelet2d": 7**8,
}
"""What a sum of samples of one size may come to, in those samples. Bluestein's method multiplies transforms of N values
by sequences whose transforms reach √N; a level of db4 may make a value 7 times as large, forward and inverse; a
reduction leaves half of the range for the differences that its pairs take."""
LATTICE = 30.5
"""Times as large as coefficients are the values of the rotations of db4's lattice, which independent warps compute:
along each axis of an image forward and inverse, at each level of a signal forward and once inverse."""
ROTATE = ("warp_registers", "warp_strips", "warp_recomputed", "two_levels")


def variants() -> list[tuple[str, Variant]]:
    """Those of transfers have the ranges of other filters."""
    return [(f.id, v) for f in FILTERS for v in f.variants if f.id != "conv3x3" and not f.end_to_end]


@pytest.mark.parametrize(("filter", "variant"), variants(), ids=lambda v: v if isinstance(v, str) else v.id)
def test_ranges_are_not_narrower_than_sums_need(filter: str, variant: Variant) -> None:
    """A stated range cannot hide a failure: of the type it leaves out what a sum of all that is added takes."""
    if variant.largest is None:
        return
    given = find_filter(filter)
    params = {p.name: p.default for p in given.params} | SMALL.get(filter, {})
    knobs = {k.name: k.default for k in variant.knobs}
    turns = 4 if filter == "wavelet2d" else int(params.get("levels", 0)) + 1
    count = COUNTS[filter] * (LATTICE**turns if variant.id in ROTATE else 1)
    for dtype in find_filter(filter).dtypes:
        if dtype.startswith("float"):
            most = variant.largest(of(find_filter(filter), dtype, params, knobs))
            tile = 16384 if (variant.id, dtype) == ("scan", "float64") else 8
            assert most >= TOP[dtype] / (count + tile)
