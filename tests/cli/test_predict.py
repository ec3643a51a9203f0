"""The command that predicts times on a GPU that need not be here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpu_ops.cli import main
from gpu_ops.devices.kernel_source import read_source

MEAN = ["predict", "mean2d", "naive", "shared", "--sample", "noise_image", "--size", "128x128"]


def test_each_variant_has_a_column_and_each_step_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*MEAN, "--gpu", "t4"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("mean2d of noise_image, 128 x 128 uint8; predicted for Tesla T4: 0.288 TB/s")
    assert said[0].endswith("by its data sheet, not measured") and said[1].split() == ["naive", "shared"]
    (predicted,) = [line for line in said if line.startswith("predicted ")]
    assert predicted.count(" to ") == 2 and not [line for line in said if line.startswith("measured")]
    assert any(line.startswith("  shared is ") for line in said)


def test_json_has_the_terms_the_interval_and_what_was_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    job = ["predict", "mean2d", "naive", "--sample", "noise_image", "--size", "256x256", "--dtype", "float32"]
    assert main([*job, "--gpu", "h200", "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    (own,) = found["variants"]
    assert found["gpu"]["model"] == "NVIDIA H200" and found["gpu"]["measured"]
    assert own["low_s"] < own["measured_s"] < own["high_s"] <= 1.6 * own["low_s"]
    assert set(own["terms_s"]) == {"memory", "L2", "L1", "instructions", "latency", "launches"}


def test_another_gpu_is_faster_or_slower(capsys: pytest.CaptureFixture[str]) -> None:
    def high(*words: str) -> float:
        assert main([*MEAN, "--json", "-", *words]) == 0
        return float(json.loads(capsys.readouterr().out)["variants"][0]["high_s"])

    usual = high()
    assert high("--clock", "0.5") > usual > high("--clock", "2")
    assert high("--multiprocessors", "8") > usual


def test_an_edited_kernel_is_predicted_beside_its_origin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = tmp_path / "mine.cu"
    mine.write_text(read_source("mean2d/1_naive.cu").replace("A sum = 0;", "A sum = 0; __syncthreads();"))
    job = ["predict", "mean2d", "naive", "--sample", "noise_image", "--size", "128x128"]
    assert main([*job, "--kernel", str(mine)]) == 0
    assert capsys.readouterr().out.splitlines()[1].split() == ["naive", "naive,", "edited"]


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["--gpu", "h10"], "There is no prediction for 'h10'; choose from t4, a100"),
        (["--bandwidth", "0"], "0 is no factor from 0.05 to 20"),
        (["--clock", "fast"], "invalid _factor value: 'fast'"),
        (["--multiprocessors", "0"], "0 is no number from 1 to 1000"),
        (["--radius", "3"], "--radius"),
    ],
)
def test_what_cannot_be_predicted_is_said(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*MEAN, *words]) == 2
    assert sentence in capsys.readouterr().err


def test_a_variant_without_a_kernel_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", "mean2d", "opencv", "--sample", "noise_image", "--size", "64x64"]) == 2
    assert "opencv has no kernel whose time could be predicted; choose from naive" in capsys.readouterr().err
