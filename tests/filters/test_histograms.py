"""Histograms: the rule of the bins against NumPy, statistics and equalised samples, bad input, and every variant."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from gpu_ops.devices.offline import OfflineDevice
from gpu_ops.errors import ParamError
from gpu_ops.filters import find_filter
from gpu_ops.filters.histogram.bins import FIGURES, bins_of
from gpu_ops.filters.histogram.gpu import bin_line
from gpu_ops.io import sample
from gpu_ops.running.runner import run_experiment
from gpu_ops.running.verify import full_meta
from gpu_ops.task import Task
from gpu_ops.types import Experiment, Input, Pick, Run

Array = np.ndarray[Any, Any]
LETTERS = {"signal": ("t", "tc"), "image": ("", "yx", "yxc")}


def given(array: Array) -> Input:
    """An image of two or three dimensions, or a signal of one."""
    kind: Any = "image" if array.ndim > 1 else "signal"
    return Input(kind, array, LETTERS[kind][array.ndim - 1], "test", {}, finite=bool(np.isfinite(array).all()))


def right(array: Array, **params: Any) -> dict[str, Array]:
    """The reference's outputs."""
    input = given(array)
    filter = find_filter("histogram", input.kind)
    values = {p.name: p.default for p in filter.params} | params
    task = Task.of(full_meta(input), values)
    filter.check(task)
    return filter.reference(task.on(array))


def run(array: Array, *variants: str, device: str = "cpu", **params: Any) -> list[Run]:
    """The verified run of each variant."""
    input = given(array)
    filter = find_filter("histogram", input.kind)
    picks = tuple(Pick(v, device) for v in variants)
    every = run_experiment(Experiment(filter.id, input, params, picks, protocol="none"))
    return [one for one in every if one.stage == "verified" or one.failure]


def samples(dtype: str, shape: tuple[int, ...], seed: int = 0) -> Array:
    random = np.random.default_rng(seed)
    if dtype.startswith("uint"):
        return random.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)
    return (random.standard_normal(shape) * 3).astype(dtype)


@pytest.mark.parametrize("bins", [16, 100, 256, 1000, 4096])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64"])
@pytest.mark.parametrize("span", [None, (0.1, 0.7), (-3.0, 200.25), (10, 11)])
def test_counts_are_numpys(dtype: str, bins: int, span: tuple[float, float] | None) -> None:
    array = samples(dtype, (41, 67))
    if dtype.startswith("uint"):
        array //= 1 if span is None else 3
    params = {"bins": bins} if span is None else {"bins": bins, "range": "given", "low": span[0], "high": span[1]}
    made = right(array, **params)
    top = float(np.iinfo(dtype).max + 1) if dtype.startswith("uint") else 0.0
    ends = span or ((0.0, top) if top else None)  # of floats NumPy finds the range itself, and edges in their type
    counts, edges = np.histogram(array, bins, ends)
    assert np.array_equal(made["counts"], counts)
    assert list(made["outside"]) == [np.sum(array < edges[0]), np.sum(array > edges[-1]), 0]
    task = Task.of(full_meta(given(array)), {"range": "auto", "low": 0.0, "high": 1.0, "bins": bins, **params})
    assert np.array_equal(bins_of(task).edges, edges)


def test_every_variant_has_the_counts_of_numpys_own_range() -> None:
    array = np.linspace(-1.7, 900.1, 256 * 16).astype(np.float32).reshape(64, -1)  # each 16th on an edge, or beside it
    counts, _ = np.histogram(array, 255)
    assert not np.array_equal(counts, np.histogram(array, 255, (float(array.min()), float(array.max())))[0])
    runs = run(array, "serial", "parallel", "numpy", bins=255) + run(array, "shared", "lanes", device="sim", bins=255)
    for one in runs:
        assert one.ok and np.array_equal(one.outputs["counts"], counts), (one.pick, one.failure)


def test_edges_are_numpys_wherever_it_has_some() -> None:
    random = np.random.default_rng(6)
    for dtype, bins in itertools.product((np.float32, np.float64), (16, 255, 4096)):
        for exponent in range(-30, 30, 4):
            array = (random.standard_normal(9) * 10.0**exponent).astype(dtype)
            task = Task.of(full_meta(given(array)), {"range": "auto", "bins": bins})
            assert np.array_equal(bins_of(task).edges, np.histogram_bin_edges(array, bins)), (dtype, bins, exponent)


def test_a_bin_holds_its_lower_edge_and_the_last_one_both() -> None:
    array = np.array([0, 0.25, 0.5, 0.75, 1, 0.2499999], np.float32)
    counts = right(array, bins=16)["counts"]
    assert counts[0] == 1 and counts[4] == 1 and counts[3] == 1 and counts[8] == 1 and counts[15] == 1
    assert right(np.array([254, 255], np.uint8))["counts"].tolist()[-2:] == [1, 1]


@pytest.mark.parametrize("value", [0.0, 0.7, -1e6, 3e38, 1e-45])
def test_a_constant_lies_inside_a_range_of_some_width(value: float) -> None:
    array = np.full((5, 7), value, np.float32)
    made = right(array, result="statistics")
    assert made["counts"].sum() == 35 and np.count_nonzero(made["counts"]) == 1
    mean, deviation, *_, entropy = made["statistics"]
    assert mean == pytest.approx(value, abs=max(1.0, abs(value)) / 250) and deviation == entropy == 0


def test_what_lies_outside_is_counted_and_not_a_number_apart() -> None:
    array = np.array([-1, 0, 0.5, 1, 2, 3, np.nan, np.inf, -np.inf], np.float32)
    made = right(array, bins=16, range="given", low=0.0, high=1.0, result="statistics")
    assert made["counts"].sum() == 3 and made["outside"].tolist() == [2, 3, 1]
    none = right(np.full((3, 4), np.nan, np.float32), result="equalised")
    assert none["counts"].sum() == 0 and none["outside"].tolist() == [0, 0, 12]
    assert np.isnan(none["statistics"]).all() and np.isnan(none["equalised"]).all()


def test_statistics_of_levels_are_numpys() -> None:
    array = samples("uint8", (60, 50)) // 2
    found = dict(zip(FIGURES, right(array, result="statistics")["statistics"], strict=True))
    assert found["mean"] == pytest.approx(array.mean()) and found["deviation"] == pytest.approx(array.std())
    for percent in (1, 5, 25, 50, 75, 95, 99):
        name = "median" if percent == 50 else f"percentile {percent}"
        assert found[name] == np.percentile(array, percent, method="inverted_cdf")
    share = np.unique(array, return_counts=True)[1] / array.size
    assert found["entropy in bits"] == pytest.approx(-np.sum(share * np.log2(share)))


def test_statistics_of_floats_are_numpys_but_for_half_a_bin() -> None:
    array = samples("float32", (4000,))
    found = dict(zip(FIGURES, right(array, bins=4096, result="statistics")["statistics"], strict=True))
    half = (array.max() - array.min()) / 8192 * 1.001
    assert abs(found["mean"] - array.mean()) <= half and abs(found["deviation"] - array.std()) <= half
    assert abs(found["percentile 95"] - np.percentile(array, 95, method="inverted_cdf")) <= half


@pytest.mark.parametrize("name", ["camera", "ascent", "aero"])
def test_bytes_are_equalised_as_opencv_does(name: str) -> None:
    import cv2

    array = sample(name).array
    made = right(array, result="equalised")["equalised"].astype(int)
    assert np.abs(made - cv2.equalizeHist(array)).max() <= 1  # it scales in float32
    assert np.mean(made == cv2.equalizeHist(array)) > 0.99


def test_a_picture_of_one_bin_stays_as_it_is() -> None:
    array = np.full((4, 5), 77, np.uint8)
    assert np.array_equal(right(array, result="equalised")["equalised"], array)


def test_equalising_keeps_the_order_and_what_lies_outside() -> None:
    array = samples("float32", (3000,))
    made = right(array, result="equalised", bins=64, range="given", low=-2.0, high=5.0)["equalised"]
    assert (np.diff(made[np.argsort(array)]) >= 0).all()
    outside = (array < -2) | (array > 5)
    assert outside.any() and np.array_equal(made[outside], array[outside]) and not np.array_equal(made, array)
    assert made[~outside].min() == -2 and made[~outside].max() == 5


def test_colours_are_counted_each_and_alpha_is_not() -> None:
    array = samples("uint8", (20, 30, 4))
    made = right(array, result="equalised")
    assert made["counts"].shape == (3, 256) and made["outside"].shape == (3, 3) and made["statistics"].shape == (10, 3)
    for c in range(3):
        alone = right(np.ascontiguousarray(array[..., c]), result="equalised")
        assert np.array_equal(made["counts"][c], alone["counts"])
        assert np.array_equal(made["equalised"][..., c], alone["equalised"])
    assert np.array_equal(made["equalised"][..., 3], array[..., 3])


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64"])
def test_luminance_is_that_of_rec_601(dtype: str) -> None:
    array = samples(dtype, (20, 30, 3))
    weighted = array.astype(np.float64) @ (0.299, 0.587, 0.114)
    gray = np.floor(weighted + 0.5 + 1e-9).astype(dtype) if dtype.startswith("uint") else weighted.astype(dtype)
    made = right(array, colours="luminance", range="given", low=0.0, high=300.0)
    assert np.array_equal(made["counts"], right(gray, range="given", low=0.0, high=300.0)["counts"])


def test_equalised_luminance_adds_the_same_to_all_colours() -> None:
    array = samples("uint8", (20, 30, 3)) // 4 + 90
    made = right(array, colours="luminance", result="equalised")["equalised"].astype(int)
    inside = ((made > 0) & (made < 255)).all(axis=2)
    change = (made - array)[inside]
    assert inside.sum() > 100 and (change == change[:, :1]).all() and len(np.unique(change)) > 20


def test_alpha_leaves_the_range_of_floats_alone() -> None:
    array = samples("float32", (9, 11, 4))
    array[..., 3] = 100
    meta = full_meta(given(array))
    assert (meta.low, meta.high, meta.largest) == (array[..., :3].min(), array[..., :3].max(), 100)
    assert right(array)["counts"].sum() == 3 * 99


@pytest.mark.parametrize("low, high", [(5.0, 5.0), (5.0, 4.0), (1.0, 1.0 + 1e-9)])
def test_a_range_without_width_is_refused(low: float, high: float) -> None:
    with pytest.raises(ParamError, match=r"has no width in float32: choose low below high, or range auto\.$"):
        right(samples("float32", (3, 4)), range="given", low=low, high=high)


def test_more_bins_than_a_block_holds_are_refused_in_a_sentence() -> None:
    filter = find_filter("histogram2d")
    params = {p.name: p.default for p in filter.params} | {"bins": 4096}
    task = Task.of(given(samples("uint8", (8, 8, 3))).meta, params, {"block": 128, "pixels": 16})
    (reason,) = [filter.variant("shared").refusal(Task(task.metas, params, task.knobs, OfflineDevice("sm_75").limits))]
    assert reason == "its counts take 65,580 bytes of shared memory, a block has 65,536"


def odd(dtype: str) -> Array:
    """Samples on the edges of bins, near them, and where floats leave the range or are none."""
    if dtype.startswith("uint"):
        return samples(dtype, (37, 53))
    edges = np.linspace(-1, 2, 101).astype(dtype)
    near = [edges, np.nextafter(edges, dtype_of(dtype, 9)), np.nextafter(edges, dtype_of(dtype, -9))]
    rest = np.array([np.nan, np.inf, -np.inf, -0.0, 1e-30], dtype)
    return np.concatenate([*near, rest, np.zeros(12, dtype)]).reshape(-1, 16)


def dtype_of(dtype: str, value: float) -> Any:
    return np.dtype(dtype).type(value)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64"])
@pytest.mark.parametrize("bins", [100, 4096])
def test_every_variant_counts_exactly_on_the_edges(dtype: str, bins: int) -> None:
    params = {"bins": bins, "range": "given", "low": -1.0, "high": 2.0, "result": "equalised"}
    for one in run(odd(dtype), "serial", "parallel", **params) + run(odd(dtype), "global", device="sim", **params):
        assert one.ok, (one.pick, one.errors, one.failure)
    (by_numpy,) = run(odd(dtype), "numpy", **(params | {"result": "statistics"}))
    assert by_numpy.ok, by_numpy.errors


@pytest.mark.parametrize("array", [np.float32([1, 1 + 2**-23]), np.float64([-1.7e308, 1.7e308])])
def test_bins_narrower_than_the_numbers_and_the_widest_range(array: Array) -> None:
    array = np.resize(array, (6, 5))
    for one in run(array, "serial", "parallel", "numpy", bins=100):
        assert one.ok and one.outputs["counts"].sum() == 30, (one.pick, one.errors)


def test_many_samples_count_exactly_on_all_threads() -> None:
    array = np.random.default_rng(1).integers(0, 256, (2051, 1999), np.uint8)
    (one,) = run(array, "parallel")
    assert one.ok and np.array_equal(one.outputs["counts"], np.bincount(array.reshape(-1), minlength=256))


def test_the_axis_says_the_edges() -> None:
    array = samples("float32", (50, 60, 3))
    (one,) = run(array, "serial", bins=16, result="statistics")
    channel, axis = one.forms["counts"].axes
    assert channel.labels == ("red", "green", "blue")
    assert (axis.at(0), axis.at(16)) == pytest.approx((array.min(), array.max()))
    assert one.forms["statistics"].axes[0].labels == FIGURES


@pytest.mark.parametrize("count", [1, 3, 255, 256, 1000, 1024, 4096])
@pytest.mark.parametrize("low, high", [(0.0, 65536.0), (-5.5, 70000.25), (1000.0, 60000.5), (100.3, 20000.7)])
def test_the_line_of_16_bit_samples_is_right_for_every_level(count: int, low: float, high: float) -> None:
    params = {"bins": count, "range": "given", "low": low, "high": high}
    input = given(np.arange(65536, dtype=np.uint16))
    filter = find_filter("histogram", input.kind)
    bins = bins_of(Task.of(full_meta(input), {p.name: p.default for p in filter.params} | params))
    line = bin_line(bins)
    assert line is not None
    levels, (slope, offset) = np.arange(65536), line
    found = np.clip((levels * slope + offset) >> 32, -1, count)
    assert np.array_equal(found, np.searchsorted(bins.bounds, levels, side="right") - 1)


def test_there_is_no_line_where_bins_are_narrower_than_levels() -> None:
    params = {"bins": 4096, "range": "given", "low": 0.0, "high": 1000.0}
    input = given(np.arange(1000, dtype=np.uint16))
    filter = find_filter("histogram", input.kind)
    assert bin_line(bins_of(Task.of(full_meta(input), {p.name: p.default for p in filter.params} | params))) is None
