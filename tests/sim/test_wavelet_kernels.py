"""The wavelet kernels on the simulated GPU, one by one: coefficients against PyWavelets for every kind of length,
reconstruction, the median, the rules of thresholds."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from lanes import choices_today

from gpu_ops.devices import open_device
from gpu_ops.devices.sim.device import SimDevice
from gpu_ops.devices.sim.launch import Options
from gpu_ops.filters import find_filter
from gpu_ops.filters.wavelet.finest import finest_of
from gpu_ops.filters.wavelet.forms import bands_of
from gpu_ops.filters.wavelet.rules import figures_of
from gpu_ops.types import Filter
from tests.tasks import on

LENGTHS = (1, 2, 3, 7, 64, 97, 130)
SHAPES = ((1, 7), (64, 3), (33, 97), (17, 16, 3), (30, 66), (19, 41, 4))
WAVELETS = ("haar", "db4", "sym8", "bior4.4", "rbio1.3")
BORDERS = ("periodization", "symmetric")
VARIANTS = ("global", "constant", "shared")
SIGNALS = (*VARIANTS, "scatter")
EXACT = {"float32": 1e-6, "float64": 1e-12}
"""Of the largest coefficient of a band."""

Array = np.ndarray[Any, Any]


def _run(filter: Filter, variant: str, x: Array, **changed: Any) -> dict[str, Array]:
    """All outputs, without a fault; levels are not checked, so that short signals can have several."""
    params = {p.name: p.default for p in filter.params} | {"result": "parts"} | changed
    device = open_device("sim").session({})
    task = on(filter, device.upload(x), params, {"block": 64}, device.limits)
    plan = filter.variant(variant).plan(device, task)
    executed = device.execute(plan)
    assert executed.findings == ()
    return {name: device.download(array) for name, array in plan.outputs.items()}


def _bands(filter: Filter, x: Array, pyramid: Array, params: Mapping[str, Any]) -> list[Array]:
    task = on(filter, x, {p.name: p.default for p in filter.params} | dict(params))
    return [pyramid[band.part] for band in bands_of(task)]


def _alike(found: Array, expected: Array, x: Array) -> bool:
    """Details of constants are rounding errors of either side, so the samples are part of the scale."""
    largest = max(float(np.abs(expected).max()), float(np.abs(x).max()))
    return found.shape == expected.shape and float(np.abs(found - expected).max()) <= EXACT[x.dtype.name] * largest


def _signal(n: int, dtype: str = "float64") -> Array:
    return np.random.default_rng(n).normal(size=n).astype(dtype)


@pytest.mark.parametrize("dtype, wavelet, border", choices_today(2, EXACT, WAVELETS, BORDERS))
def test_coefficients_and_reconstruction_of_signals(dtype: str, wavelet: str, border: str) -> None:
    import pywt

    filter = find_filter("wavelet1d")
    for place, n in enumerate(LENGTHS):
        x = _signal(n, dtype)
        params = {"wavelet": wavelet, "border": border, "levels": 3, "rule": "manual", "value": 0.0}
        found = _run(filter, SIGNALS[place % 4], x, **params)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # short signals have more levels than it advises
            expected = pywt.wavedec(x.astype(np.float64), wavelet, border, 3)
        bands = _bands(filter, x, found["coefficients"], params)
        assert [_alike(a, b, x) for a, b in zip(bands, expected, strict=True)] == [True] * 4, n
        assert np.abs(found["signal"] - x).max() <= 10 * EXACT[dtype] * np.abs(x).max(), n


@pytest.mark.parametrize("wavelet, border", choices_today(2, WAVELETS, BORDERS))
def test_coefficients_and_reconstruction_of_images(wavelet: str, border: str) -> None:
    import pywt

    filter = find_filter("wavelet2d")
    for variant, shape in zip(VARIANTS * 2, SHAPES, strict=True):
        x = np.random.default_rng(1).normal(size=shape)
        params = {"wavelet": wavelet, "border": border, "levels": 2, "rule": "manual", "value": 0.0}
        found = _run(filter, variant, x, **params)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            first, *levels = pywt.wavedec2(x, wavelet, border, 2, axes=(0, 1))
        expected = [first, *(band for level in levels for band in level)]
        bands = _bands(filter, x, found["coefficients"], params)
        assert [_alike(a, b, x) for a, b in zip(bands, expected, strict=True)] == [True] * 7, shape
        assert np.abs(found["image"] - x).max() <= 1e-11, shape


@pytest.mark.parametrize("variant, loads", [("global", 3), ("constant", 1)])
def test_loads_of_the_first_level(variant: str, loads: int) -> None:
    """A pair takes a sample a tap, and two taps where they are in global memory."""
    filter = find_filter("wavelet1d")
    params = {p.name: p.default for p in filter.params} | {"levels": 1, "rule": "manual"}
    device = SimDevice(options=Options(counters="full")).session({})
    task = on(filter, device.upload(_signal(257)), params, {"block": 64}, device.limits)
    executed = device.execute(filter.variant(variant).plan(device, task))
    lines = [line for line in executed.lines if line.kernel == f"wavelet_{variant}_forward_rows"]
    assert sum(line.counts.get("global_load_threads", 0) for line in lines) == loads * 8 * 129


@pytest.mark.parametrize("dtype", EXACT)
@pytest.mark.parametrize("count", (1, 2, 3, 255, 256, 5000))
def test_the_noise_is_the_exact_median_of_each_channel(count: int, dtype: str) -> None:
    """Haar's finest details of pairs (0, d) are d / sqrt(2), whatever their size: from denormal to large ones."""
    filter = find_filter("wavelet1d")
    random = np.random.default_rng(count)
    sizes = random.normal(size=(count, 2)) * 10.0 ** random.integers(-44, 30, (count, 2))
    sizes[: count // 3] = sizes[0]  # some are equal
    x = np.zeros((2 * count, 2), dtype)
    x[1::2] = sizes
    found = _run(filter, "global", x, wavelet="haar", levels=1, rule="universal")
    details = found["coefficients"][count:].astype(np.float64)
    assert np.array_equal(found["figures"][0], np.median(np.abs(details), axis=0) / NormalDist().inv_cdf(0.75))


@pytest.mark.parametrize("rule", ("manual", "universal", "BayesShrink", "SURE"))
def test_thresholds_of_every_band_and_channel(rule: str) -> None:
    """More coefficients than a block sorts, and than a block takes; the reference's rules, from the same pyramid."""
    filter = find_filter("wavelet1d")
    n = np.arange(9001.0)[:, None]
    x = np.sin(n / 70 + [0, 1]) * [3, 0] + np.random.default_rng(5).normal(size=(9001, 2)) * [0.3, 2]
    params = {"wavelet": "sym8", "levels": 3, "rule": rule, "value": 0.25, "border": "symmetric"}
    found = _run(filter, "constant", x, **params)
    task = on(filter, x, {p.name: p.default for p in filter.params} | params)
    expected = figures_of(found["coefficients"], bands_of(task), finest_of(task), rule, 0.25, len(x))
    assert found["figures"] == pytest.approx(expected, rel=1e-9)


def test_without_noise_nothing_is_removed() -> None:
    filter = find_filter("wavelet1d")
    x = np.full(300, 0.5)  # its products with taps are exact, so that no detail is a rounding error
    for rule in ("universal", "BayesShrink", "SURE"):
        found = _run(filter, "global", x, wavelet="haar", levels=2, rule=rule)
        assert np.array_equal(found["figures"], np.zeros(3)) and np.abs(found["signal"] - x).max() < 1e-15


@pytest.mark.parametrize("how", ("soft", "hard", "garrote"))
def test_shrinking(how: str) -> None:
    """As pywt.threshold, away from the threshold itself."""
    import pywt

    filter = find_filter("wavelet1d")
    x = _signal(64)
    params = {"wavelet": "haar", "levels": 1, "rule": "manual", "value": 0.4, "threshold": how}
    found = _run(filter, "global", x, **params)
    average, details = pywt.dwt(x, "haar", "periodization")
    expected = pywt.idwt(average, pywt.threshold(details, 0.4, how), "haar", "periodization")
    assert np.abs(found["signal"] - expected).max() < 1e-14
    assert np.abs(found["noise"] - (x - expected)).max() < 1e-14


def test_shifts_are_averaged() -> None:
    filter = find_filter("wavelet2d")
    x = np.random.default_rng(3).normal(size=(6, 9, 3))
    params = {"wavelet": "haar", "levels": 2, "rule": "manual", "value": 0.5}
    found = _run(filter, "global", x, shifts=5, **params)
    each = [_run(filter, "global", np.roll(x, (s, s), (0, 1)), **params)["image"] for s in range(5)]
    expected = np.mean([np.roll(y, (-s, -s), (0, 1)) for s, y in enumerate(each)], axis=0)
    assert np.abs(found["image"] - expected).max() < 1e-14


def test_integers_are_rounded_and_stay_in_range() -> None:
    filter = find_filter("wavelet2d")
    x = np.where(np.random.default_rng(4).random((16, 24)) < 0.5, 255, 0).astype(np.uint8)
    params = {"wavelet": "db4", "levels": 1, "rule": "manual", "value": 90.0, "threshold": "soft"}
    found = _run(filter, "global", x, **params)
    exact = _run(filter, "global", x.astype(np.float64), **params)["image"]
    assert exact.min() < -0.5 and exact.max() > 255.5
    assert np.array_equal(found["image"], np.clip(np.floor(exact + 0.5), 0, 255))
    assert math.isclose(float(np.abs(found["noise"] - (x - exact)).max()), 0, abs_tol=1e-3)
