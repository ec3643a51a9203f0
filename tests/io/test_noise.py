"""Noise as a step of an input: its size, its seed, its place among the other steps, and the clean original."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gpu_ops import Input, add_noise, convert, from_array, load, sample, save
from gpu_ops.cli import main
from gpu_ops.cli.inputs import make_experiment
from gpu_ops.cli.parser import parse
from gpu_ops.errors import InputError, ParamError
from gpu_ops.io import crop, from_origin
from gpu_ops.io.steps.apply import title_of
from gpu_ops.io.steps.noise import BLOCK
from gpu_ops.report.files import read_report
from gpu_ops.types import DTYPES

GRAY = np.full((300, 400), 100.0)


def gray(dtype: str) -> Input:
    return convert(from_array(GRAY, name="gray"), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_noise_is_normal_with_the_given_deviation_and_the_original_is_kept(dtype: str) -> None:
    whole = gray(dtype)
    noisy = add_noise(whole, 12.5, seed=3)
    assert noisy.array.dtype == dtype and noisy.clean is whole.array and (whole.array == 100).all()
    noise = noisy.array - GRAY
    assert abs(noise.mean()) < 0.15 and noise.std() == pytest.approx(12.5, rel=0.01)
    shares = [np.mean(np.abs(noise) < k * 12.5) for k in (1, 2, 3)]
    assert shares == pytest.approx([0.683, 0.954, 0.997], abs=0.02)
    assert abs(np.corrcoef(noise[:, 1:].ravel(), noise[:, :-1].ravel())[0, 1]) < 0.02


def test_integers_round_half_up_and_saturate() -> None:
    values = np.random.Generator(np.random.PCG64(0)).standard_normal(3) * 100
    found = add_noise(from_array(np.array([0, 128, 255], np.uint8)), 100).array
    assert found.tolist() == np.clip(np.floor(values + [0, 128, 255] + 0.5), 0, 255).tolist()
    loud = add_noise(gray("uint8"), 1e9).array
    assert set(np.unique(loud)) == {0, 255}


def test_the_seed_sets_the_noise() -> None:
    first, same, other = (add_noise(gray("float32"), 1, seed).array for seed in (1, 1, 2))
    assert (first == same).all() and (first != other).any()


def test_blocks_leave_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    colour = sample("noise", size="57x33", channels=4, dtype="uint8")
    whole = add_noise(colour, 20).array
    monkeypatch.setattr("gpu_ops.io.steps.noise.BLOCK", 100)
    assert (add_noise(colour, 20).array == whole).all() and BLOCK > 33 * 57


def test_alpha_is_left_alone_and_other_channels_are_not() -> None:
    colour = sample("noise", size="57x33", channels=4, dtype="uint8")
    noisy = add_noise(colour, 20)
    assert (noisy.array[..., 3] == colour.array[..., 3]).all()
    assert all((noisy.array[..., k] != colour.array[..., k]).mean() > 0.9 for k in range(3))
    signal = sample("noise", length=500, channels=4, dtype="float64")
    assert (add_noise(signal, 1).array != signal.array).all()


def test_no_noise_is_the_input_itself() -> None:
    whole = gray("uint8")
    assert add_noise(whole, 0) is whole


def test_nan_stays_and_nothing_else_becomes_one() -> None:
    broken = from_array(np.array([np.nan, 1.0, np.inf, 3e38], np.float32), nonfinite="keep")
    found = add_noise(broken, 1e30)
    assert np.isfinite(found.array).tolist() == [False, True, False, True] and not found.finite


@pytest.mark.parametrize("sigma, seed, words", [(-1, 0, "noise must be a number from 0"), (np.nan, 0, "noise must be"),
                                                (1, -1, "noise_seed must be an integer from 0")])  # fmt: skip
def test_limits(sigma: float, seed: int, words: str) -> None:
    with pytest.raises(ParamError, match=words):
        add_noise(gray("uint8"), sigma, seed)


def test_too_large_for_memory() -> None:
    huge = Input("signal", np.broadcast_to(np.float64(1), (1 << 48,)), "t", "huge", {})
    with pytest.raises(InputError, match="huge with noise does not fit in memory; use a smaller input"):
        add_noise(huge, 1)


# Steps


def again(input: Input) -> Input:
    """The input made from its origin, which went through JSON."""
    made = from_origin(json.loads(json.dumps(input.origin)))
    assert made.origin == input.origin and made.array.dtype == input.array.dtype
    return made


ORDERS = {
    "noise alone": lambda x: add_noise(x, 20, 5),
    "convert, noise": lambda x: add_noise(convert(x, "float32"), 20, 5),
    "noise, convert": lambda x: convert(add_noise(x, 20, 5), "float64"),
    "noise, crop": lambda x: crop(add_noise(x, 20, 5), (10, 20), (30, 40)),
    "crop, noise": lambda x: add_noise(crop(x, (10, 20), (30, 40)), 20, 5),
    "noise twice": lambda x: add_noise(add_noise(x, 20, 5), 10, 6),
}


@pytest.mark.parametrize("order", ORDERS)
def test_every_order_of_steps_can_be_made_again(order: str) -> None:
    found = ORDERS[order](sample("camera"))
    made = again(found)
    np.testing.assert_array_equal(made.array, found.array)
    assert made.clean is not None and found.clean is not None
    np.testing.assert_array_equal(made.clean, found.clean)
    clean = sample("camera").array
    clean = clean[10:40, 20:60] if "crop" in order else clean
    np.testing.assert_array_equal(found.clean, clean)
    assert found.clean.dtype == found.array.dtype


def test_the_part_of_a_noisy_input_has_the_noise_of_the_whole() -> None:
    whole = add_noise(sample("camera"), 20)
    assert (crop(whole, (9, 9), (50, 50)).array == whole.array[9:59, 9:59]).all()
    assert (add_noise(crop(sample("camera"), (9, 9), (50, 50)), 20).array != whole.array[9:59, 9:59]).any()


def test_a_clean_original_from_before_stays_the_clean_one() -> None:
    tones = sample("tones", length=100)
    assert add_noise(tones, 1).clean is tones.clean
    assert title_of(add_noise(add_noise(tones, 0.25), 2)) == "tones + noise σ 0.25 + noise σ 2"


def test_a_file_with_noise_can_be_made_again(tmp_path: Path) -> None:
    save(tmp_path / "a.png", sample("chart", size="30x20", dtype="uint8").array)
    noisy = add_noise(load(tmp_path / "a.png"), 7)
    np.testing.assert_array_equal(again(noisy).array, noisy.array)


# The command line

ONE = ["--device", "cpu", "--variant", "serial"]


def test_a_run_says_its_noise_and_how_close_it_comes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r.json"
    run = ["run", "mean", "--sample", "chart", "--size", "50x40", "--dtype", "uint8"]
    assert main([*run, "--noise", "20", "--noise-seed", "7", *ONE, "--json", str(path)]) == 0
    events = capsys.readouterr().out
    assert "mean2d of chart + noise σ 20, 50 x 40 uint8" in events
    (row,) = read_report(path).rows
    assert row.input["steps"] == [{"step": "noise", "sigma": 20.0, "seed": 7}]
    made = from_origin(row.input)
    expected = add_noise(sample("chart", size="50x40", dtype="uint8"), 20, 7)
    np.testing.assert_array_equal(made.array, expected.array)
    found = row.quality["image"]
    assert f"{found.before.psnr:.2f} → {found.after.psnr:.2f} dB" in events and f"→ {found.after.ssim:.4f}" in events


def test_without_noise_there_is_nothing_to_compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r.json"
    assert main(["run", "mean", "--sample", "ecg", *ONE, "--json", str(path)]) == 0
    events = capsys.readouterr().out
    assert "noise" not in events and "SNR" not in events
    assert "quality" not in json.loads(path.read_text())["runs"][0]


def test_the_type_comes_before_the_noise_and_the_unit_is_that_of_the_type(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    assert (
        main(["run", "mean", "--sample", "camera", "--dtype", "uint8", "--noise", "1.5", *ONE, "--json", str(path)])
        == 0
    )
    (row,) = read_report(path).rows
    assert row.dtype == "uint8" and [s["step"] for s in row.input["steps"]] == ["noise"]


def test_a_sweep_may_be_over_noise() -> None:
    args = parse(["sweep", "mean", "--sample", "ecg", "--over", "noise=10,40", "--noise-seed", "3", *ONE])
    for sigma in (10, 40):
        experiment = make_experiment(args, {"noise": str(sigma)})
        assert experiment.input.origin["steps"] == [{"step": "noise", "sigma": sigma, "seed": 3}]
        np.testing.assert_array_equal(experiment.input.array, add_noise(sample("ecg"), sigma, 3).array)


def test_a_seed_without_noise_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "mean", "--noise-seed", "3", *ONE]) == 2
    assert "add some with --noise SIGMA" in capsys.readouterr().err


def test_an_xray_takes_noise_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["xray", "mean", "naive", "--sample", "chart", "--size", "30x20", "--dtype", "uint8", "--noise", "3"]) == 0
    )
    assert "chart + noise σ 3" in capsys.readouterr().out
