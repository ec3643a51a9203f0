"""Fourier transforms on the CPU: against SciPy, against the mathematics, and what peaks and phases are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numba
import numpy as np
import pytest
from lanes import choices_today, daily_subset
from tasks import on

from gpu_ops import progress
from gpu_ops.errors import ParamError
from gpu_ops.filters import find_filter
from gpu_ops.filters.fft import peaks
from gpu_ops.filters.fft.counts.radix import WITH_FMA, WITHOUT_FMA
from gpu_ops.filters.fft.cpu import parallel, serial, steps
from gpu_ops.filters.fft.forms import Cut, ring_of
from gpu_ops.filters.fft.limits import peak_tolerance, transform_tolerance
from gpu_ops.filters.fft.mask import transfer
from gpu_ops.filters.fft.windows import COSINES, SCIPY_NAMES, window
from gpu_ops.io import from_array
from gpu_ops.params import check_values
from gpu_ops.progress import Cancelled, listening
from gpu_ops.running.runner import run_experiment
from gpu_ops.running.verify import verify
from gpu_ops.types import Exactness, Experiment, Pick, Run

Array = np.ndarray[Any, Any]
LENGTHS = (1, 2, 3, 7, 64, 97, 1000, 1009, 5003)
PARTS = 7
"""Of the lengths that a transform takes, each with its own day. No factor of any transform, so that each part has all
remainders by 2, 3 and 5."""
WINDOWS = tuple(COSINES)
RATE = 250.0


def noise(*shape: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).standard_normal(shape)


def result(name: str, array: Array, variant: str = "scipy", rate: float | None = None, **params: Any) -> Run:
    """The run of a variant on the CPU, verified."""
    input = from_array(array, find_filter(name).accepts, rate=rate, nonfinite="keep")
    experiment = Experiment(name, input, params, (Pick(variant, "cpu"),), protocol="none")
    run = list(run_experiment(experiment))[-1]
    assert run.ok, (run.failure, run.errors)
    return run


def outputs(name: str, array: Array, variant: str = "scipy", rate: float | None = None, **params: Any) -> Any:
    return result(name, array, variant, rate, **params).outputs


@pytest.mark.parametrize("name", WINDOWS)
def test_windows_are_scipys(name: str) -> None:
    from scipy.signal import get_window  # a second of processor time, which not every worker needs

    for length in LENGTHS:
        assert np.allclose(window(name, length), get_window(SCIPY_NAMES[name], length), atol=1e-15)


@pytest.mark.parametrize("variant", ["numpy", "serial"])
@pytest.mark.parametrize(("name", "shape"), [("fft1d", (1025, 2)), ("fft2d", (19, 23, 3))])
def test_of_a_constant_only_a_few_roundings_of_its_mean_are_left(
    name: str, shape: tuple[int, ...], variant: str
) -> None:
    """NumPy adds interleaved channels sequentially: a hundred roundings of a thousand."""
    filter, x = find_filter(name), np.full(shape, 0.7)
    params = check_values(filter.params, {"result": "spectrum", "detrend": "constant"}, name)
    rounding = np.finfo(np.float64).eps / 2 * float(x[..., 0].sum())
    exact = filter.reference(on(filter, x, params))["spectrum"]
    assert np.abs(exact).max() < rounding / 1000
    assert np.abs(outputs(name, x, variant, **params)["spectrum"]).max() < 8 * rounding


def near_numpy(rows: Any, count: int, length: int, dtype: str) -> None:
    """Transforms of rows are NumPy's, forward and inverse."""
    x = noise(count, length).astype(dtype)
    right = np.fft.rfft(x.astype(np.float64))
    bins = np.empty(right.shape, np.result_type(dtype, np.complex64))
    rows.forward(x, bins)
    near = 16 * float(np.finfo(dtype).eps)
    assert np.abs(bins - right).max() <= near * np.abs(right).max(), (count, length)
    samples = np.empty_like(x)
    rows.inverse(bins, samples)
    assert np.abs(samples - x).max() <= 2 * near * np.abs(x).max(), (count, length)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("length", LENGTHS)
def test_the_compiled_transform_is_numpys_forward_and_inverse(length: int, dtype: str) -> None:
    near_numpy(serial.Rows(length, dtype), 3, length, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_transform_on_all_threads_is_numpys_forward_and_inverse(dtype: str) -> None:
    """Of few rows and of many, in tiles that are full and not, and of long rows in two parts."""
    for length in (1, 2, 7, 15, 97, 360, 1009, 2018, 2187, 4096):
        near_numpy(parallel.Rows(length, dtype), 41, length, dtype)
        near_numpy(parallel.LongRows(length, dtype), 1, length, dtype)


@pytest.mark.parametrize("part", daily_subset(range(PARTS), 0, "part {}".format, 1))
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_transform_of_any_length_is_numpys_forward_and_inverse(dtype: str, part: int) -> None:
    """All lengths first, then each seventh, of which every second, third and fifth has that factor."""
    for length in (*range(1, 1500), *range(1500, 5004, 7))[part::PARTS]:
        near_numpy(parallel.Rows(length, dtype), 33, length, dtype)
        if length % 10 in (3, 4):
            near_numpy(parallel.LongRows(length, dtype), 1, length, dtype)


@pytest.mark.parametrize(
    "form, short", [(serial, False), (parallel, False), (parallel, True)], ids=["serial", "in tiles", "in two parts"]
)
@pytest.mark.parametrize("shape", choices_today(2, [(1, 1, 1), (2, 16, 32), (1, 21, 15), (3, 97, 12), (1, 5, 64)]))
def test_the_compiled_transform_of_planes_is_numpys_forward_and_inverse(
    shape: tuple[int, ...], form: Any, short: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if short:
        monkeypatch.setattr(parallel, "SHORT", 2)
        monkeypatch.setattr(parallel, "LONGEST", 4)
    x = noise(*shape)
    planes, right = form.Planes(shape[1], shape[2], "float64"), np.fft.rfft2(x)
    bins, samples = np.empty(right.shape, np.complex128), np.empty_like(x)
    planes.forward(x, bins)
    assert np.allclose(bins, right, rtol=0, atol=1e-13 * np.abs(right).max())
    planes.inverse(bins, samples)
    assert np.allclose(samples, x, rtol=0, atol=1e-14)


@pytest.mark.parametrize("count, length", [(50, 100), (5, 2018), (2, 6000)])
def test_neither_bands_nor_threads_change_a_bit_of_a_transform(
    count: int, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = noise(count, length).astype(np.float32)
    events: list[float] = []

    def made(threads: int) -> tuple[bytes, bytes]:
        before = numba.get_num_threads()
        numba.set_num_threads(threads)
        rows, bins, samples = parallel.Rows(length, "float32"), np.empty((count, length // 2 + 1), np.complex64), x * 0
        try:
            rows.forward(x, bins)
            spectrum = bins.tobytes()
            rows.inverse(bins, samples)
        finally:
            numba.set_num_threads(before)
        return spectrum, samples.tobytes()

    whole = made(1)
    with monkeypatch.context() as patch, listening(None, events.append):
        patch.setattr(parallel, "BAND", 400)
        patch.setattr(progress, "EVERY", 0.0)
        assert made(numba.get_num_threads()) == whole
    assert len(events) > 4 and events[0] < 1 and events == sorted(events) and events[-1] <= 1


@pytest.mark.parametrize("shape", [(1, 4096), (64, 64)])
def test_a_transform_on_all_threads_can_be_stopped(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "BAND", 256)
    planes, calls = parallel.Planes(*shape, "float32"), []

    def stop() -> bool:
        calls.append(1)
        return len(calls) > 2

    x, bins = noise(1, *shape).astype(np.float32), np.empty((1, shape[0], shape[1] // 2 + 1), np.complex64)
    with listening(stop), pytest.raises(Cancelled):
        planes.forward(x, bins)
    assert len(calls) == 3


@pytest.mark.parametrize("variant", ["serial", "parallel", "numpy", "scipy"])
@pytest.mark.parametrize("length", LENGTHS)
def test_densities_are_scipys(length: int, variant: str) -> None:
    """periodogram of the whole signal, welch and spectrogram of segments: equal within 1e-6 for float32."""
    from scipy import signal

    x = noise(length).astype(np.float32)
    params = {"result": "power density", "window": "Hann", "detrend": "constant"}
    got = outputs("fft1d", x, variant, RATE, **params)["power_density"]
    _, right = signal.periodogram(x.astype(np.float64), RATE, "hann", detrend="constant")
    assert np.abs(got - right).max() <= 1e-6 * max(right.max(), 1e-30)
    if length < 64:
        return
    cut: dict[str, Any] = {"fs": RATE, "nperseg": 50, "noverlap": 12, "detrend": "constant"}
    cut["window"] = signal.get_window("hann", 50)
    params |= {"segment": 50, "overlap": 25}
    got = outputs("fft1d", x, variant, RATE, **params, sides="two")["power_density"]
    right = signal.welch(x.astype(np.float64), **cut, return_onesided=False)[1]
    assert np.abs(got - right).max() <= 1e-6 * right.max()
    run = result("fft1d", x, variant, RATE, **params | {"result": "spectrogram"})
    frequencies, times, right = signal.spectrogram(x.astype(np.float64), **cut)
    assert np.abs(run.outputs["spectrogram"] - right).max() <= 1e-6 * right.max()
    for axis, places in zip(run.forms["spectrogram"].axes, (frequencies, times), strict=True):
        assert np.allclose([axis.at(k) for k in range(len(places))], places)
    assert [axis.unit for axis in run.forms["spectrogram"].axes] == ["Hz", "s"]


@pytest.mark.parametrize("variant", ["serial", "parallel", "scipy"])
def test_parseval_and_linearity(variant: str) -> None:
    for length in (64, 1009):
        x, y = noise(length, seed=2), noise(length, seed=3)
        both = [outputs("fft1d", z, variant, sides="two")["spectrum"] for z in (x, y, 2 * x - 3 * y)]
        assert np.sum(np.abs(both[0]) ** 2) == pytest.approx(length * np.sum(x * x), rel=1e-12)
        assert np.allclose(both[2], 2 * both[0] - 3 * both[1], atol=1e-10)
    image = noise(24, 35)
    spectrum = outputs("fft2d", image, variant)["spectrum"]
    assert np.sum(np.abs(spectrum) ** 2) == pytest.approx(image.size * np.sum(image * image), rel=1e-12)
    density = outputs("fft2d", image, variant, result="power density")["power_density"]
    assert density.sum() == pytest.approx(np.sum(image * image), rel=1e-12)


def test_a_whole_spectrum_is_the_transform_of_complex_numbers() -> None:
    for length in LENGTHS[:-2]:
        x = noise(length, 2)
        run = result("fft1d", x, sides="two", window="Blackman")
        right = np.fft.fft(x * window("Blackman", length)[:, None], axis=0)
        assert np.allclose(run.outputs["spectrum"], right, atol=1e-12)
        assert run.forms["spectrum"].axes[0].period == 1.0
        assert run.forms["spectrum"].axes[0].unit == "cycles/sample"


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_tone_has_its_height_and_is_one_peak(name: str, dtype: str) -> None:
    """Three tones, one exactly on a bin, one anywhere, one half-way; with each window."""
    t = np.arange(2000) / RATE
    tones = ((20.0, 3.0), (50.03, 2.0), (80.0625, 2.5))
    x = sum(height * np.cos(2 * np.pi * f * t + f) for f, height in tones).astype(dtype)
    made = outputs("fft1d", x, rate=RATE, result="magnitude", window=name)
    assert made["magnitude"][160] == pytest.approx(3.0, rel=2e-2 if name == "none" else 1e-3)
    assert made["peak_count"] == 3
    bin = RATE / 2000
    for row, (frequency, height) in zip(made["peaks"], tones, strict=False):
        assert abs(row[0] - frequency) < 0.25 * bin
        assert 0.6 * height < row[1] < 1.05 * height
    assert not made["peaks"][3:].any()


@pytest.mark.parametrize("name", WINDOWS)
def test_peaks_are_the_same_in_both_precisions(name: str) -> None:
    """Of tones in noise, of steps, an impulse, a constant, noise, and a comb of more peaks than the table holds."""
    t = np.arange(3000)
    comb = (t % 60 == 0).astype(float)
    tones = np.sin(0.3 * t) + 0.5 * np.sin(1.1 * t) + 0.3 * np.sin(2.2 * t) + 0.05 * noise(3000)
    impulse = (t == 1700).astype(float)
    known = {"tones": (tones, 3), "steps": (np.sign(tones), None), "impulse": (impulse, 0)}
    known |= {"constant": (np.full(3000, 0.7), 0), "comb": (comb, 29), "noise": (noise(3000), None)}
    for what, (x, count) in known.items():
        for kind in ("magnitude", "power density"):
            params = {"result": kind, "window": name, "detrend": "constant"}
            single, double = (outputs("fft1d", x.astype(d), **params) for d in ("float32", "float64"))
            assert single["peak_count"] == double["peak_count"], what
            assert np.allclose(single["peaks"], double["peaks"], rtol=2e-4, atol=1e-6), what
            if count is not None and kind == "magnitude":
                assert double["peak_count"] == count, what
    assert np.allclose(outputs("fft1d", comb, result="magnitude")["peaks"][:, 0], np.arange(1, 17) / 60)


def test_a_large_mean_hides_no_peak() -> None:
    t = np.arange(600)
    x = (1000 + np.sin(2 * np.pi * 40 * t / 600)).astype(np.float32)
    for name in WINDOWS:
        made = outputs("fft1d", x, result="magnitude", window=name)
        assert made["peak_count"] == 1 and made["peaks"][0] == pytest.approx([40 / 600, 1], rel=1e-3), name
    image = np.tile(x, (50, 1))
    assert outputs("fft2d", image, result="magnitude")["peaks"][0] == pytest.approx([0, 40 / 600, 0.5], rel=1e-3)


def test_peaks_of_several_channels_lie_side_by_side() -> None:
    t = np.arange(512)
    x = np.stack([np.sin(2 * np.pi * 20 * t / 512), np.sin(2 * np.pi * 90 * t / 512)], axis=1)
    made = outputs("fft1d", x, rate=512.0, result="magnitude")
    assert np.allclose(made["peaks"][0], [20, 1, 90, 1]) and made["peak_count"] == 2


def test_a_comparison_that_rounding_decides_leaves_the_peaks_undecided() -> None:
    """A second peak at just a tenth of the first: the reference does not judge what follows it."""
    values = np.full(100, 0.001)
    values[[20, 40, 60]] = 1.0, 0.1, 0.5
    for noise_level, found in ((0.0, [20, 40, 60]), (-1e-9, [20, 60]), (1e-9, [20, 40, 60])):
        assert list(peaks.find1d(values, 2, noise_level)) == found
    t = np.arange(400)
    x = np.cos(2 * np.pi * 20 * t / 400) + 0.1 * np.cos(2 * np.pi * 90 * t / 400)
    task_filter = find_filter("fft1d")
    params = check_values(task_filter.params, {"result": "magnitude"}, "fft1d")
    made = task_filter.reference(on(task_filter, x.astype(np.float32), params))
    assert np.ma.getmaskarray(made["peak_count"]).all()
    assert np.ma.getmaskarray(made["peaks"])[:, 0].tolist() == [False] + [True] * 15


def test_the_phase_of_a_delay_and_of_noise() -> None:
    x = np.zeros(64)
    x[3] = 1
    phase = outputs("fft1d", x, result="phase")["phase"]
    turned = np.angle(np.exp(-2j * np.pi * 3 * np.arange(33) / 64))
    assert np.allclose(np.exp(1j * phase), np.exp(1j * turned))
    tone = np.sin(2 * np.pi * 5 * np.arange(64) / 64).astype(np.float32)
    phase = outputs("fft1d", tone, "serial", result="phase")["phase"]
    assert phase[5] == pytest.approx(-np.pi / 2, abs=1e-5)
    assert not np.delete(phase, 5).any()
    assert outputs("fft1d", -np.ones(8), result="phase")["phase"][0] == pytest.approx(np.pi)


def test_a_wrong_phase_is_found_and_a_whole_turn_is_not() -> None:
    filter, x = find_filter("fft1d"), -np.abs(noise(50))
    params = check_values(filter.params, {"result": "phase"}, "fft1d")
    input = from_array(x)
    right = np.angle(np.fft.rfft(x))
    for turn, ok in ((0.0, True), (2 * np.pi, True), (1e-5, False), (np.pi, False)):
        errors = verify(filter, filter.variant("serial"), input, on(filter, x, params), {"phase": right + turn})
        assert errors["phase"].ok is ok, turn


def test_each_column_of_the_peaks_is_judged_by_itself() -> None:
    """A frequency in cycles per sample is small compared with a height in levels, and must be right as well."""
    filter, x = find_filter("fft1d"), 1e6 * np.cos(2 * np.pi * 40 * np.arange(400) / 400)
    params = check_values(filter.params, {"result": "magnitude"}, "fft1d")
    input = from_array(x)
    task = on(filter, x, params)
    made = {k: np.ma.getdata(v).copy() for k, v in filter.reference(task).items()}
    assert verify(filter, filter.variant("serial"), input, task, made)["peaks"].ok
    made["peaks"][0, 0] = 0.11
    assert not verify(filter, filter.variant("serial"), input, task, made)["peaks"].ok


def test_images_have_their_gratings_as_peaks() -> None:
    y, x = np.mgrid[:96, :128]
    image = 2 * np.cos(2 * np.pi * (10 * y / 96 + 20 * x / 128)) + np.cos(2 * np.pi * (30 * y / 96 - 7 * x / 128)) + 5
    made = outputs("fft2d", image.astype(np.float32), result="magnitude", detrend="constant")
    assert made["peak_count"] == 2
    assert np.allclose(made["peaks"][:2], [[10 / 96, 20 / 128, 1], [30 / 96, -7 / 128, 0.5]], atol=1e-6)
    centred = outputs("fft2d", image, result="magnitude", centred=True)["magnitude"]
    assert centred[48, 64] == pytest.approx(5) and centred[58, 84] == pytest.approx(1)


def test_centred_axes_name_the_same_frequencies() -> None:
    for shape in ((8, 9), (1, 5)):
        image = noise(*shape)
        plain, centred = (result("fft2d", image, centred=c) for c in (False, True))
        places = [[axis.at(k) for k in range(n)] for axis, n in zip(centred.forms["spectrum"].axes, shape, strict=True)]
        assert all(np.allclose(p, np.fft.fftshift(np.fft.fftfreq(len(p)))) for p in places)
        assert np.array_equal(np.fft.fftshift(plain.outputs["spectrum"]), centred.outputs["spectrum"])


@pytest.mark.parametrize("shape", [(16, 16), (9, 20), (1, 7), (33, 5)])
def test_the_radial_profile_is_the_mean_of_each_ring(shape: tuple[int, int]) -> None:
    image = noise(*shape)
    run = result("fft2d", image, "serial", result="radial profile", window="Hann")
    weights = np.multiply.outer(window("Hann", shape[0]), window("Hann", shape[1]))
    density = np.abs(np.fft.fft2(image * weights)) ** 2 / (weights**2).sum()
    fy, fx = np.fft.fftfreq(shape[0])[:, None], np.fft.fftfreq(shape[1])
    radius = np.sqrt(fy * fy + fx * fx) * max(shape)
    for k, value in enumerate(run.outputs["radial"]):
        inside = np.abs(radius - k) < 0.5
        assert value == pytest.approx(density[inside].mean(), rel=1e-9)
    assert run.forms["radial"].axes[0].at(max(shape)) == 1


def test_a_bin_half_way_between_two_rings_belongs_to_the_outer_one() -> None:
    assert ring_of(1, 0, 2, 3) == 2


def test_masks_keep_what_they_say() -> None:
    y, x = np.mgrid[:64, :64]
    slow, fast = np.cos(2 * np.pi * 2 * y / 64), 0.5 * np.cos(2 * np.pi * (20 * x - 6 * y) / 64)
    image = 1 + slow + fast
    kept = {
        "low": ({"high": 0.2}, 1 + slow),
        "high": ({"low": 0.2}, fast),
        "band": ({"low": 0.01, "high": 0.2}, slow),
        "notch": ({"fy": -6 / 64, "fx": 20 / 64, "radius": 0.02}, 1 + slow),
    }
    for shape, (params, right) in kept.items():
        for variant in ("serial", "parallel", "scipy"):
            made = outputs("fft_mask", image, variant, shape=shape, softness=0.01, **params)
            assert np.allclose(made["image"], right, atol=1e-12), shape
            assert np.allclose(made["spectrum"], np.abs(np.fft.fft2(right)) / right.size, atol=1e-14)


def test_the_edge_of_a_mask_is_half_a_period_of_a_cosine() -> None:
    params = {"shape": "low", "high": 0.25, "softness": 0.5}
    line = transfer(params, np.zeros((1, 1), int), np.arange(101), 1, 200)
    assert np.allclose(line, 0.5 + 0.5 * np.cos(2 * np.pi * np.arange(101) / 200))
    hard = transfer({**params, "softness": 0.0}, np.zeros((1, 1), int), np.arange(101), 1, 200)
    assert hard.sum() == 51


def test_integers_come_back_exactly_and_stay_in_range() -> None:
    random = np.random.default_rng(5)
    for dtype in ("uint8", "uint16"):
        image = random.choice([0, np.iinfo(dtype).max], (31, 40, 3)).astype(dtype)
        assert np.array_equal(outputs("fft2d", image, "serial", result="round trip")["image"], image)
        sharp = outputs("fft_mask", image, "serial", shape="low", high=0.3, softness=0.0)["image"]
        assert sharp.dtype == image.dtype and sharp.min() == 0 and sharp.max() == np.iinfo(dtype).max


def test_what_does_not_suit_the_input_is_one_sentence() -> None:
    with pytest.raises(ParamError, match="segment 200 is longer than the signal of 100 samples; choose 1 to 100"):
        result("fft1d", noise(100), result="spectrogram", segment=200)
    with pytest.raises(ParamError, match=r"low 0.3 must be less than high 0.2 for a band; move one"):
        result("fft_mask", noise(9, 9), shape="band", low=0.3, high=0.2)
    with pytest.raises(ParamError, match="1 NaN and 0 infinite values, the first at index 1"):
        result("fft1d", np.array([1.0, np.nan, 2.0]))
    assert outputs("fft1d", noise(5), result="round trip", segment=200)["signal"].shape == (5,)


def test_a_spectrogram_can_be_stopped() -> None:
    x = noise(1 << 20).astype(np.float32)
    calls = []

    def stop() -> bool:
        calls.append(1)
        return len(calls) > 2

    cut = Cut(256, 64, 1 + ((1 << 20) - 256) // 64, 1, 1.0, "Hann", False)
    with listening(stop), pytest.raises(Cancelled):
        steps.cut_segments(x, cut, cut.weights.astype(np.float32), np.empty((1, cut.count, 256), np.float32))
    assert len(calls) == 3


def test_what_the_source_says_of_padding_and_radix_is_counted() -> None:
    found = {claim.id: claim.judge({}) for claim in find_filter("fft_batch2d").claims}
    counted = {claim.id for claim in find_filter("fft_batch2d").claims if claim.basis == "counted"}
    assert {id: holds for id, (_, holds) in found.items() if id in counted} == {
        "S2-padding": False,
        "S2-padding-loads": False,
        "S2-padding-span": True,
        "S2-radix": True,
    }
    assert "480 to 448, least 320" in found["S2-padding"][0] and "2432 to 512, least 384" in found["S2-padding"][0]
    assert "800 to 896" in found["S2-padding-loads"][0]
    assert found["S2-radix"][0] == "84.4 with FMA (radix 64 still gains), 9.19 without (radix 8 still gains)"
    for processor in (WITH_FMA, WITHOUT_FMA):
        best = processor.best_radix(8)
        assert processor.computing(4096, best) == pytest.approx(processor.waiting(4096, 8))


def test_a_variant_widens_only_the_tolerances_that_are_narrower_than_its_own() -> None:
    filter, x = find_filter("fft1d"), np.cos(2 * np.pi * 40 * np.arange(400) / 400).astype(np.float32)
    params = check_values(filter.params, {"result": "magnitude"}, "fft1d")
    task = on(filter, x, params)
    made = {k: np.ma.getdata(v).astype(np.float32) for k, v in filter.reference(task).items()}
    made["peak_count"] = made["peak_count"].astype(np.uint32)
    own = 2 * transform_tolerance(task)
    coarse = replace(filter.variant("registers"), exactness=Exactness(lambda task: own, "coarse"))
    errors = verify(filter, coarse, from_array(x), task, made)
    assert errors["magnitude"].tolerance == own > transform_tolerance(task)
    assert errors["peaks"].tolerance == peak_tolerance(task) > own
