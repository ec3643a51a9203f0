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


def test_what_each_limit_brings_adds_up_to_the_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*MEAN, "--gpu", "h100", "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    (step,), (naive, shared) = found["steps"], found["variants"]
    assert (step["from"], step["to"], step["unknown"]) == ("naive", "shared", "")
    seconds = [(one["low_s"] * one["high_s"]) ** 0.5 for one in (naive, shared)]
    assert sum(part["change_s"] for part in step["parts"]) == pytest.approx(seconds[1] - seconds[0])
    for one, whole in zip((naive, shared), seconds, strict=True):
        assert sum(one["shares_s"].values()) == pytest.approx(whole)
    counted = {part["limit"]: part["counted"] for part in step["parts"]}
    assert counted["launches"] == [1, 1] and counted["instructions"][0] > counted["instructions"][1]


def test_an_xray_can_have_the_times_of_several_gpus(capsys: pytest.CaptureFixture[str]) -> None:
    xray = ["xray", *MEAN[1:], "--predict", "h100", "t4"]
    assert main(xray) == 0
    said = capsys.readouterr().out
    for model in ("NVIDIA H100 80GB HBM3", "Tesla T4"):
        assert f"mean2d of noise_image, 128 x 128 uint8; predicted for {model}" in said
    assert said.count("\nnaive → shared ") == 2 and "Global loads fall" in said
    assert main([*xray, "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["gpu"]["id"] for one in found["predictions"]] == ["h100", "t4"]
    assert {"before", "after", "sentences"} <= found.keys()
    for one in found["predictions"]:
        assert main([*MEAN, "--gpu", one["gpu"]["id"], "--json", "-"]) == 0
        assert json.loads(capsys.readouterr().out) == one, "as the command predict has it"
    assert main([*xray[:-1], "h10"]) == 2
    assert "There is no prediction for 'h10'" in capsys.readouterr().err
