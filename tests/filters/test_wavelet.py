"""Wavelet denoising: coefficients and results against PyWavelets, the rules against their definitions, bad input."""

from __future__ import annotations

import itertools
import math
import re
from statistics import NormalDist
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import pywt
import tasks
from lanes import choices_today, daily_subset, few
from numba import get_num_threads, set_num_threads

from gpu_ops import sample
from gpu_ops.devices import open_device
from gpu_ops.errors import ParamError
from gpu_ops.filters.wavelet import WAVELET1D, WAVELET2D, bases, forms, rules
from gpu_ops.filters.wavelet.cpu import host, parallel
from gpu_ops.filters.wavelet.cpu.estimates import median
from gpu_ops.filters.wavelet.cpu.host import Serial
from gpu_ops.filters.wavelet.cpu.parallel import Parallel
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.params import check_values
from gpu_ops.progress import Cancelled, listening
from gpu_ops.running.runner import run_experiment
from gpu_ops.task import Task
from gpu_ops.types import Experiment, Filter, Input, Pick

Array = np.ndarray[Any, Any]

WAVELETS = ("haar", "db4", "sym8", "bior4.4", "rbio1.3", "bior3.1", "coif2")
LENGTHS = (1, 2, 3, 7, 64, 97, 130)
SIZES = ((1, 1), (2, 1), (7, 64), (33, 17), (19, 23, 3))
CPU = ("serial", "parallel", "pywt")
EXACT = {"float32": 1e-6, "float64": 1e-12}
RANDOM = np.random.default_rng(5)


def filter_of(x: Array, image: bool | None = None) -> Filter:
    return WAVELET2D if x.ndim > 1 and image is not False else WAVELET1D


def task_of(filter: Filter, x: Array, **params: Any) -> Task:
    return tasks.on(filter, x, check_values(filter.params, params, filter.id))


def made(filter: Filter, variant: str, x: Array, **params: Any) -> dict[str, Array]:
    """The outputs of a variant on the CPU."""
    device = open_device("cpu")
    plan = filter.variant(variant).plan(device, task_of(filter, x, **params))
    device.execute(plan)
    return {name: np.array(array) for name, array in plan.outputs.items()}


def result(filter: Filter, variant: str, x: Array, **params: Any) -> Array:
    return made(filter, variant, x, **params)[filter.accepts]


def experiment(filter: Filter, x: Array, **params: Any) -> Any:
    """Run the plain variant on an array as a person would."""
    axes = INPUT_KINDS[filter.accepts].axes[x.ndim]
    input = Input(filter.accepts, x, axes, "test", {}, finite=bool(np.isfinite(x).all()))
    values = check_values(filter.params, params, filter.id)
    return list(run_experiment(Experiment(filter.id, input, values, (Pick("serial", "cpu"),), protocol="none")))[-1]


def test_names_and_lengths_are_those_of_pywavelets() -> None:
    offered = r"haar|(db|sym)([2-9]|1\d|20)|coif[1-5]|(bior|rbio)\d\.\d"
    known = pywt.wavelist(kind="discrete")
    assert sorted(bases.NAMES) == sorted(name for name in known if re.fullmatch(offered, name))
    for name, length in bases.LENGTHS.items():
        assert {len(taps) for taps in pywt.Wavelet(name).filter_bank} == {length}
        assert all((a == b).all() for a, b in zip(bases.taps_of(name), pywt.Wavelet(name).filter_bank, strict=True))


def test_sizes_are_those_of_pywavelets() -> None:
    for n, length in itertools.product(range(1, 300), sorted(set(bases.LENGTHS.values()))):
        assert forms.most_levels(n, length) == max(1, pywt.dwt_max_level(n, length))
        for border in forms.BORDERS:
            assert forms.coefficients_of(n, length, border) == pywt.dwt_coeff_len(n, length, border)


@pytest.mark.parametrize("border", forms.BORDERS)
@pytest.mark.parametrize("shape", [(97,), (64,), (61, 40), (32, 50)], ids=str)
def test_the_pyramid_is_that_of_coeffs_to_array(shape: tuple[int, ...], border: str) -> None:
    x = RANDOM.standard_normal(shape)
    coefficients = (pywt.wavedec2 if x.ndim == 2 else pywt.wavedec)(x, "db2", border, 3)
    expected, _ = pywt.coeffs_to_array(coefficients, 0)
    filter = filter_of(x)
    for variant in CPU:
        given = made(filter, variant, x, wavelet="db2", border=border, levels=3, result="parts")["coefficients"]
        np.testing.assert_allclose(given, expected, atol=1e-12)


def transforms(filter: Filter, x: Array, loops: type, **params: Any) -> tuple[float, float]:
    """The largest error of a band's coefficients, relative to the band's largest, and of the samples got back."""
    task = task_of(filter, x, rule="manual", value=0, **params)
    pyramid, back = np.zeros(forms.pyramid_shape(task), x.dtype), np.empty_like(x)
    transform = loops(task)
    transform.forward(x, pyramid)
    worst, approximation, bands = 0.0, x.astype(np.float64), list(forms.bands_of(task))
    for _ in range(params["levels"]):
        how = params["wavelet"], params["border"]
        if filter is WAVELET1D:
            approximation, *details = pywt.dwt(approximation, *how, axis=0)
        else:
            approximation, details = pywt.dwt2(approximation, *how, axes=(0, 1))
        scale = max(np.abs(a).max() for a in (approximation, *details))
        for detail in reversed(details):
            worst = max(worst, float(np.abs(pyramid[bands.pop().part] - detail).max() / scale))
    worst = max(worst, float(np.abs(pyramid[bands.pop().part] - approximation).max() / scale))
    transform.backward(pyramid, np.zeros(forms.figures_form(task).shape), back)
    return worst, float(np.abs(back - x).max() / np.abs(x).max())


@pytest.mark.parametrize("border, dtype, loops", choices_today(3, forms.BORDERS, EXACT, [Serial, Parallel]))
def test_coefficients_are_those_of_pywavelets_for_every_length(loops: type, dtype: str, border: str) -> None:
    cases = [(WAVELET1D, (n,)) for n in LENGTHS] + [(WAVELET1D, (97, 3))] + [(WAVELET2D, size) for size in SIZES]
    for (filter, shape), wavelet in itertools.product(cases, WAVELETS):
        extent = min(INPUT_KINDS[filter.accepts].spatial(shape))
        for levels in {1, forms.most_levels(extent, bases.LENGTHS[wavelet])}:
            x = RANDOM.standard_normal(shape).astype(dtype)
            error, back = transforms(filter, x, loops, wavelet=wavelet, border=border, levels=levels)
            assert error < EXACT[dtype], (shape, wavelet, levels)
            assert back < 10 * EXACT[dtype], (shape, wavelet, levels)


@pytest.mark.parametrize("loops", [Serial, Parallel])
def test_every_wavelet_gives_the_samples_back(loops: type) -> None:
    x = RANDOM.standard_normal(203)
    for wavelet, border in itertools.product(bases.NAMES, forms.BORDERS):
        _, back = transforms(WAVELET1D, x, loops, wavelet=wavelet, border=border, levels=2)
        assert back < 1e-9, (wavelet, border)  # PyWavelets' own taps of long filters are no better


@pytest.mark.parametrize("shape", [(1,), (2,), (5000, 2), (1, 5), (2, 3), (40, 61, 3)], ids=str)
@pytest.mark.parametrize("dtype", EXACT)
def test_the_median_is_exact(shape: tuple[int, ...], dtype: str) -> None:
    filter = WAVELET1D if shape[0] == 5000 or len(shape) == 1 else WAVELET2D
    task = task_of(filter, np.empty(shape, dtype), levels=1)
    band = forms.bands_of(task)[-1]
    for values in (RANDOM.standard_normal, np.zeros, lambda s: RANDOM.integers(-2, 3, s) * 1e-30):
        pyramid = np.asarray(values(forms.pyramid_shape(task))).astype(dtype)
        planes = pyramid.reshape(*pyramid.shape[: len(band.shape)], -1)
        for channel in range(planes.shape[-1]):
            expected = np.median(np.abs(planes[band.part][..., channel].astype(np.float64)))
            assert median(pyramid, band, channel) == expected


def test_rules_are_their_definitions() -> None:
    sizes, noise = np.abs(RANDOM.standard_normal(300) * (1 + 3 * (RANDOM.random(300) < 0.1))), 0.9
    assert rules.threshold_of("manual", sizes, noise, 7.5, 1000) == 7.5
    assert rules.threshold_of("universal", sizes, noise, 7.5, 1000) == noise * math.sqrt(2 * math.log(1000))
    expected = noise**2 / math.sqrt((sizes**2).mean() - noise**2)
    assert rules.threshold_of("BayesShrink", sizes, noise, 7.5, 1000) == pytest.approx(expected)
    assert rules.bayes(0.5 * sizes, 20.0) == 0.5 * sizes.max(), "a band of less variance than the noise goes whole"

    def risk(t: float) -> float:
        return sizes.size - 2 * (sizes <= t).sum() + (np.minimum(sizes, t) ** 2).sum() / noise**2

    best = rules.threshold_of("SURE", sizes, noise, 7.5, 1000)
    grid = np.linspace(0, noise * math.sqrt(2 * math.log(sizes.size)), 5001)
    assert 0 < best <= grid[-1] and best in sizes
    assert all(risk(best) <= risk(t) + 1e-9 for t in grid)
    assert rules.sure(np.array([3.0]), 1.0) == 0, "no single coefficient is removed"
    assert {rules.threshold_of(rule, sizes, 0.0, 7.5, 1000) for rule in forms.RULES[1:]} == {0.0}


def test_thresholds_are_those_of_pywavelets() -> None:
    details = RANDOM.standard_normal((40, 30)) * 3
    for how in forms.THRESHOLDS:
        given = rules.shrunk(details, 1.3, how)
        np.testing.assert_allclose(given, pywt.threshold(details, 1.3, how), atol=1e-14)
        for variant in CPU:
            denoised = result(
                WAVELET2D, variant, details, wavelet="haar", levels=1, rule="manual", value=1.3, threshold=how
            )
            expected = pywt.dwt2(details, "haar")
            expected = (expected[0], tuple(pywt.threshold(d, 1.3, how) for d in expected[1]))
            np.testing.assert_allclose(denoised, pywt.idwt2(expected, "haar"), atol=1e-12)


def test_a_hard_threshold_removes_what_lies_at_it() -> None:
    assert rules.shrunk(np.array([2.0, -2.0, 2.0 + 1e-13, 2.1]), 2.0, "hard").tolist() == [0, 0, 0, 2.1]
    pairs = np.tile([0.0, 4.0], 16)  # every detail is 4 / sqrt(2), in any order of summation
    for variant in CPU:
        for dtype in ("float32", "float64"):
            flat = result(
                WAVELET1D,
                variant,
                pairs.astype(dtype),
                **{"wavelet": "haar", "levels": 1},
                rule="manual",
                value=4 / math.sqrt(2),
                threshold="hard",
            )
            assert np.abs(flat - 2).max() < 1e-6


ODD = [
    (wavelet, border, shape)
    for wavelet, border in (*(("haar", b) for b in forms.BORDERS), ("bior1.3", "periodization"))
    for shape in ((33, 21), (17, 40), (33,), (1,), (1, 5))
]


@pytest.mark.parametrize("wavelet, border, shape", few(ODD, ("haar", "symmetric", (33, 21))))
def test_the_noise_is_scikit_images_where_an_odd_axis_makes_zeros(
    wavelet: str, border: str, shape: tuple[int, ...]
) -> None:
    x = np.random.default_rng(4).normal(size=shape)
    details = np.abs(pywt.dwtn(x, wavelet, border)["d" * x.ndim])
    some = details[details > 1e-12]  # as estimate_sigma, which compares with 0
    right = np.median(some) / NormalDist().inv_cdf(0.75) if some.size else 0.0
    params = {"wavelet": wavelet, "levels": 1, "border": border, "rule": "universal", "result": "parts"}
    filter = filter_of(x)
    found = {v: made(filter, v, x, **params)["figures"] for v in ("serial", "parallel", "pywt")}
    found["reference"] = filter.reference(task_of(filter, x, **params))["figures"]
    picks = tuple(Pick(v, "sim") for v in ("global", "recomputed_blocks"))
    input = Input(filter.accepts, x, "yx"[-x.ndim :] if x.ndim > 1 else "t", "noise", {})
    for run in run_experiment(Experiment(filter.id, input, params, picks[:1], protocol="none", checks="off")):
        found[run.pick.variant] = run.outputs["figures"]
    for variant, figures in found.items():
        assert figures[0] == pytest.approx(right, rel=1e-12, abs=1e-12), variant
    plain = Experiment(filter.id, input, {**params, "result": "result"}, picks, protocol="none")
    assert all(run.ok for run in list(run_experiment(plain))[-2:])


def psnr(clean: Array, x: Array) -> float:
    span = float(clean.max() - clean.min())
    return 10 * math.log10(span**2 / float(np.mean((x - clean) ** 2)))


def plainly(x: Array, rule: str, levels: int, border: str) -> Array:
    """What a person writes with PyWavelets and, of BayesShrink, what scikit-image's denoise_wavelet does."""
    coefficients = pywt.wavedecn(x, "db4", border, levels)
    noise = np.median(np.abs(coefficients[-1]["d" * x.ndim])) / NormalDist().inv_cdf(0.75)
    for level in coefficients[1:]:
        for key, d in level.items():
            small = max((d * d).mean() - noise**2, np.finfo(d.dtype).eps)
            t = noise * math.sqrt(2 * math.log(x.size)) if rule == "universal" else noise**2 / math.sqrt(small)
            level[key] = pywt.threshold(d, t, "soft")
    return np.asarray(pywt.waverecn(coefficients, "db4", border))[tuple(slice(n) for n in x.shape)]


@pytest.mark.parametrize(
    "id", daily_subset(["blocks", "bumps", "heavisine", "doppler", "camera", "ascent", "aero"], 3, str)
)
def test_quality_is_that_of_pywavelets_and_scikit_image(id: str) -> None:
    entry = sample(id)
    clean = entry.array.astype(np.float64)
    clean /= clean.max()
    x = clean + RANDOM.normal(0, 0.1, clean.shape)
    filter = filter_of(x)
    for rule, border in itertools.product(("universal", "BayesShrink"), forms.BORDERS):
        expected = psnr(clean, plainly(x, rule, 4, border))
        assert expected > psnr(clean, x) + 1
        for variant, dtype in itertools.product(("parallel", "pywt"), EXACT):
            denoised = result(filter, variant, x.astype(dtype), rule=rule, border=border)
            assert abs(psnr(clean, denoised) - expected) < 0.05
    sure = result(filter, "parallel", x, rule="SURE")
    assert psnr(clean, sure) > psnr(clean, x) + 1


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    x, threads = RANDOM.standard_normal((90, 77)).astype(np.float32), get_num_threads()
    first = [result(WAVELET2D, "parallel", x, rule=rule, levels=2) for rule in forms.RULES]
    try:
        set_num_threads(1)
        second = [result(WAVELET2D, "parallel", x, rule=rule, levels=2) for rule in forms.RULES]
    finally:
        set_num_threads(threads)
    for a, b in zip(first, second, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


@pytest.mark.parametrize("variant, loops", [("serial", host), ("parallel", parallel)])
@pytest.mark.parametrize("shape", [(5003,), (70, 61, 3)], ids=str)
def test_long_work_goes_in_bands_and_can_be_stopped(
    monkeypatch: pytest.MonkeyPatch, variant: str, loops: ModuleType, shape: tuple[int, ...]
) -> None:
    x = RANDOM.standard_normal(shape)
    filter = WAVELET1D if len(shape) == 1 else WAVELET2D
    whole = result(filter, variant, x, levels=2, threshold="hard")
    monkeypatch.setattr(loops, "BAND", 500)
    with listening(lambda: False):
        assert (result(filter, variant, x, levels=2, threshold="hard") == whole).all()
    with listening(lambda: True), pytest.raises(Cancelled):
        result(filter, variant, x, levels=2, threshold="hard")


def test_shifts_are_averaged() -> None:
    x = RANDOM.standard_normal((33, 40))
    expected = np.mean(
        [np.roll(result(WAVELET2D, "pywt", np.roll(x, (k, k), (0, 1)), levels=2), (-k, -k), (0, 1)) for k in range(3)],
        axis=0,
    )
    for variant in CPU:
        np.testing.assert_allclose(result(WAVELET2D, variant, x, levels=2, shifts=3), expected, atol=1e-12)


def test_parts_belong_together() -> None:
    x = RANDOM.integers(0, 256, (40, 50, 3)).astype(np.uint8)
    for variant in CPU:
        parts = made(WAVELET2D, variant, x, rule="SURE", levels=2, result="parts")
        assert parts["image"].dtype == np.uint8 and parts["noise"].dtype == np.float32
        restored = x - parts["noise"]
        assert (parts["image"] == np.clip(np.floor(restored + 0.5), 0, 255)).mean() > 0.999
        task = task_of(WAVELET2D, x, rule="SURE", levels=2, result="parts")
        expected = rules.figures_of(
            parts["coefficients"], forms.bands_of(task), forms.bands_of(task)[-1], "SURE", 0, 2000
        )
        np.testing.assert_allclose(parts["figures"], expected, rtol=1e-12)
        assert parts["figures"].shape == (7, 3) and len(forms.figures_form(task).axes[0].labels) == 7


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64"])
def test_a_constant_stays(dtype: str) -> None:
    x = np.full((31, 40), 200, dtype)
    for variant, rule in itertools.product(CPU, forms.RULES[1:]):
        assert np.abs(result(WAVELET2D, variant, x, rule=rule, levels=1).astype(np.float64) - 200).max() < 1e-3


@pytest.mark.parametrize("n", [1, 2])
def test_one_and_two_samples_have_one_level(n: int) -> None:
    x = np.arange(1.0, n + 1)
    for variant, border in itertools.product(CPU, forms.BORDERS):
        np.testing.assert_allclose(result(WAVELET1D, variant, x, border=border, levels=1, rule="manual", value=0), x)
    with pytest.raises(
        ParamError, match=rf"levels 2 is too many for a signal of {n} samples with db4 .8 taps.; choose 1"
    ):
        experiment(WAVELET1D, x, levels=2)


def test_bad_values_are_sentences() -> None:
    x = np.ones((20, 300), np.float32)
    words = (
        "levels 4 is too many for an image whose shorter side is 20 pixels with db4 .8 taps.; choose 1 level, a shorter"
    )
    with pytest.raises(ParamError, match=words):
        experiment(WAVELET2D, x)
    assert experiment(WAVELET2D, x, wavelet="haar").ok
    with pytest.raises(ParamError, match="value must be a number from 0 to"):
        experiment(WAVELET2D, x, value=-0.5)
    with pytest.raises(ParamError, match="wavelet must be one of haar, db2"):
        experiment(WAVELET2D, x, wavelet="db1")
    x[3, 4] = np.nan
    with pytest.raises(ParamError, match="wavelet2d takes finite values only"):
        experiment(WAVELET2D, x, levels=1)
