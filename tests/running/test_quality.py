"""SNR, PSNR and SSIM: closed forms, values of scikit-image, a definition written out, and the way into reports."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gpu_ops import Experiment, Input, Pick, add_noise, find_filter, from_array, run_experiment, sample
from gpu_ops.progress import Cancelled, listening
from gpu_ops.report.check import fault_of
from gpu_ops.report.rows import Report, Row
from gpu_ops.running import quality as measuring
from gpu_ops.running.quality import closeness, compare, quality
from gpu_ops.types import Closeness, Quality, Run

ROW, COLUMN = np.indices((40, 57))
CLEAN = ((ROW * 7 + COLUMN * 13) % 256).astype(np.uint8)
OTHER = ((ROW * 7 + COLUMN * 13 + (ROW * COLUMN) % 31) % 256).astype(np.uint8)


# What scikit-image 0.26 gives with gaussian_weights=True, sigma=1.5, use_sample_covariance=False, data_range as here.
SCIKIT_IMAGE = {
    "gray": (CLEAN, OTHER, 13.153813457672985, 0.6376872040493506),
    "uint16": (CLEAN.astype(np.uint16) * 257, OTHER.astype(np.uint16) * 257, 13.153813457672985, 0.6376872040493506),
    "float": (CLEAN / 255.0, OTHER / 255.0, 13.153813457672985, 0.6376872040493506),
    "colours": (
        np.stack([CLEAN, OTHER, CLEAN[::-1]], -1),
        np.stack([OTHER, OTHER, CLEAN[::-1, ::-1]], -1),
        11.18725128271754,
        0.517086251166933,
    ),
    "one window": (CLEAN[:11, :11], OTHER[:11, :11], 24.738343005307392, 0.926476458633961),
}


@pytest.mark.parametrize("case", SCIKIT_IMAGE)
def test_scikit_image_gives_the_same(case: str) -> None:
    clean, other, psnr, ssim = SCIKIT_IMAGE[case]
    found = compare(clean, other, image=True)
    assert found.psnr == pytest.approx(psnr, rel=1e-12) and found.ssim == pytest.approx(ssim, rel=1e-10)


def written_out(clean: np.ndarray, other: np.ndarray, span: float) -> float:
    """SSIM by its definition: an explicit window of 11 × 11 at every position inside."""
    line = np.exp(-(np.arange(-5, 6) ** 2) / (2 * 1.5**2))
    window = np.outer(line, line) / line.sum() ** 2
    c1, c2 = (0.01 * span) ** 2, (0.03 * span) ** 2
    found = []
    for top in range(clean.shape[0] - 10):
        for left in range(clean.shape[1] - 10):
            c = clean[top : top + 11, left : left + 11].astype(float)
            x = other[top : top + 11, left : left + 11].astype(float)
            mc, mx = (window * c).sum(), (window * x).sum()
            vc, vx = (window * (c - mc) ** 2).sum(), (window * (x - mx) ** 2).sum()
            cov = (window * (c - mc) * (x - mx)).sum()
            found.append((2 * mc * mx + c1) * (2 * cov + c2) / ((mc**2 + mx**2 + c1) * (vc + vx + c2)))
    return float(np.mean(found))


@pytest.mark.parametrize("rows", [1, 7, 128])
def test_ssim_is_its_definition_in_bands_of_any_height(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "ROWS", rows)
    clean, other = CLEAN[:25, :20], OTHER[:25, :20]
    assert compare(clean, other, True).ssim == pytest.approx(written_out(clean, other, 255), rel=1e-10)


def test_a_constant_offset_has_closed_forms() -> None:
    clean, other = np.full((20, 20), 100, np.uint8), np.full((20, 20), 110, np.uint8)
    c1 = (0.01 * 255) ** 2
    found = compare(clean, other, True)
    assert found.snr == pytest.approx(20.0) and found.psnr == pytest.approx(20 * math.log10(25.5))
    assert found.ssim == pytest.approx((2 * 100 * 110 + c1) / (100**2 + 110**2 + c1))


def test_a_sine_with_a_tenth_of_another_has_20_dB() -> None:
    t = np.arange(1000) / 1000
    clean = np.sin(2 * np.pi * 5 * t)
    found = compare(clean, clean + 0.1 * np.sin(2 * np.pi * 11 * t), image=False)
    assert found.snr == pytest.approx(20) and found.ssim is None
    assert found.psnr == pytest.approx(10 * math.log10(4 / 0.005), abs=1e-3)  # from -1 to 1


def test_noise_of_a_known_deviation() -> None:
    noisy = add_noise(from_array(np.full((400, 400), 128.0) + np.arange(400)), 25)
    found = closeness(noisy, noisy.array)
    assert found.psnr == pytest.approx(20 * math.log10(399 / 25), abs=0.1)


def test_equal_values_are_infinitely_close() -> None:
    assert compare(CLEAN, CLEAN, True) == Closeness(math.inf, math.inf, pytest.approx(1.0))


def test_alpha_does_not_count() -> None:
    clean = np.dstack([CLEAN, CLEAN, CLEAN, CLEAN])
    other = np.dstack([OTHER, OTHER, OTHER, 255 - CLEAN])
    assert compare(clean, other, True) == compare(clean[..., :3], other[..., :3], True)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nothing_is_told_of_values_that_are_no_numbers(bad: float) -> None:
    clean = CLEAN / 255.0
    other = clean.copy()
    other[3, 4] = bad
    assert compare(clean, other, True) == compare(other, clean, True) == Closeness(None, None, None)


def test_figures_without_a_meaning_are_none() -> None:
    zeros, ones = np.zeros(50), np.ones(50)
    assert compare(zeros, ones, False) == Closeness(None, None, None)
    assert compare(ones, ones + 1, False) == Closeness(pytest.approx(0.0), None, None)
    assert compare(CLEAN[:10], OTHER[:10], True).ssim is None


def test_large_values_overflow_into_none() -> None:
    assert compare(np.full(9, 1e200), np.full(9, -1e200), False) == Closeness(None, None, None)


def test_the_work_can_be_stopped() -> None:
    image = np.zeros((600, 600))
    image[0] = 1
    with pytest.raises(Cancelled), listening(lambda: True):
        compare(image, image + 1, True)


# Runs

MEAN = find_filter("mean2d")
PARAMS = {p.name: p.default for p in MEAN.params}


def noisy_ramp(height: int = 60) -> Input:
    rows, columns = np.indices((height, 80))
    return add_noise(from_array((40 + rows + columns).astype(np.uint8)), 20)


def runs(input: Input, **how: Any) -> list[Run]:
    how = {"protocol": "none", **how}
    picks = (Pick("serial", "cpu"), Pick("parallel", "cpu"))
    return list(run_experiment(Experiment("mean2d", input, {}, picks, **how)))


def test_runs_have_it_after_all_pictures_and_the_same_one_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[bytes] = []
    plain = compare
    monkeypatch.setattr(measuring, "compare", lambda c, x, image: compared.append(x.tobytes()) or plain(c, x, image))
    found = runs(noisy_ramp())
    events = [(r.pick.variant, r.stage, bool(r.quality)) for r in found]
    assert events[-2:] == [("serial", "verified", True), ("parallel", "verified", True)]
    assert len(events) == 6 and not any(known for _, _, known in events[:-2])
    assert len(compared) == 2, "the input and one result: both variants gave the same"
    last = found[-1].quality["image"]
    assert last.before.psnr is not None and last.after.psnr is not None and last.after.psnr > last.before.psnr


def test_it_stays_when_times_come() -> None:
    timed = [r for r in runs(noisy_ramp(), protocol="quick") if r.stage == "timed"]
    assert len(timed) == 2 and all(r.quality["image"].after.ssim for r in timed)


def test_progress_never_goes_back_and_ends_at_the_end() -> None:
    events: list[tuple[int, int]] = []
    experiment = Experiment("mean2d", noisy_ramp(), {}, (Pick("serial", "cpu"),), "none")
    list(run_experiment(experiment, progress=lambda text, done, total: events.append((done, total))))
    shares = [done / total for done, total in events]
    assert shares == sorted(shares) and max(shares) <= 1


def test_there_is_none_without_an_original() -> None:
    assert not any(r.quality for r in runs(sample("chart", size="80x60", dtype="uint8")))


def test_only_outputs_of_the_inputs_form_count() -> None:
    noisy = noisy_ramp()
    assert quality(MEAN, noisy, PARAMS, {"image": noisy.array[:30]}) == {}
    for unlike in ({"kind": "bars"}, {"unit": "rad"}, {"own_scale": True}):
        other = replace(MEAN, outputs=(replace(MEAN.outputs[0], **unlike),))
        assert quality(other, noisy, PARAMS, {"image": noisy.array}) == {}
    assert set(quality(MEAN, noisy, PARAMS, {"image": noisy.array})) == {"image"}
    parts = replace(MEAN, outputs=(MEAN.outputs[0], replace(MEAN.outputs[0], id="noise")))
    assert set(quality(parts, noisy, PARAMS, {"image": noisy.array, "noise": noisy.array})) == {"image"}


def test_a_wrong_result_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpu_ops.running.runner.has_no_errors", lambda run: False)
    assert not any(r.quality for r in runs(noisy_ramp()))


def test_a_right_result_after_a_wrong_one_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpu_ops.running.runner.has_no_errors", lambda run: run.pick.variant != "serial")
    assert [r.pick.variant for r in runs(noisy_ramp()) if r.quality] == ["parallel"]


# Reports


def report(row: Row) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(json.dumps(Report({}, (row,)).to_json(), allow_nan=False))
    return content


def test_a_report_brings_it_back() -> None:
    experiment = Experiment("mean2d", noisy_ramp(), {}, (Pick("serial", "cpu"),), "none")
    row = Row.of(list(run_experiment(experiment))[-1], experiment)
    best = Quality(row.quality["image"].before, Closeness(math.inf, math.inf, None))
    for one in (row, replace(row, quality={"image": best})):
        content = report(one)
        assert fault_of(content) == "" and Report.from_json(content).rows[0].quality == one.quality
    assert report(replace(row, quality={"image": best}))["runs"][0]["quality"]["image"]["after"] == {
        "snr_db": "infinite", "psnr_db": "infinite", "ssim": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    "bad", [3, [], {"image": 3}, {"image": {"before": {}}}, {"image": {"before": {}, "after": {}}}]
)
def test_a_report_with_something_else_in_its_place_is_refused(bad: Any) -> None:
    experiment = Experiment("mean2d", noisy_ramp(12), {}, (Pick("serial", "cpu"),), "none")
    content = report(Row.of(list(run_experiment(experiment))[-1], experiment))
    content["runs"][0]["quality"] = bad
    assert "quality of run 1 is not an object with snr_db, psnr_db, ssim" in fault_of(content)
