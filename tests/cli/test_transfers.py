"""The command of sweeps of transfers: tables, files, and what cannot be done."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpu_ops.cli import main
from gpu_ops.explaining.transfers import of_input
from gpu_ops.explaining.transfers.rates import rates_named

SMALL = ["--sample", "noise", "--size", "64x48", "--device", "sim"]
THREE = ["--h2d", "12", "--d2h", "12", "--kernel-rate", "400"]


def test_streams_and_chunks_are_a_table(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_input, "CHUNKS", (1, 2, 3, 4, 6, 8))
    assert main(["transfers", "streams", *SMALL, "--only", "time"]) == 0
    said = capsys.readouterr().out
    assert "Time, the shortest with 3 streams, 8 chunks" in said and "Overlap" not in said
    (three,) = [line.split() for line in said.splitlines() if line.strip().startswith("3 ")]
    assert three == ["3", "3", "2", "1.67", "1.5", "1.33", "1.25"]
    assert "a step on the whole input as long as the others" in said


def test_registering_is_predicted_kept_and_shown_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r.json"
    assert main(["transfers", "registering", *THREE, "--locking-rate", "4", "--json", str(path)]) == 0
    said = capsys.readouterr().out
    assert "Predicted from 12 GB/s to the device" in said and "250 µs for each lock and its bytes at 4 GB/s." in said
    content = json.loads(path.read_text())
    assert content["schema"] == "kernelscope-transfers/1" and content["rates"]["locking"] == 4e9
    assert main(["transfers", "registering", "--report", str(path)]) == 0
    assert capsys.readouterr().out == said
    assert main(["transfers", "memory", "--report", str(path)]) == 2
    assert "has the sweep registering, not memory" in capsys.readouterr().err


def test_rates_of_a_recorded_machine_may_be_changed(capsys: pytest.CaptureFixture[str]) -> None:
    line, download = ["timeline", "transfer", "pinned", *SMALL], rates_named("h100").download / 1e9
    assert main([*line, "--rates", "h100"]) == 0
    assert "(recorded on NVIDIA H100 80GB HBM3)" in capsys.readouterr().out
    assert main([*line, "--rates", "h100", "--h2d", "12"]) == 0
    said = capsys.readouterr().out
    assert f"from 12 GB/s to the device, {download:.4g} GB/s to the host" in said and "changed by flags" in said


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["memory", "--device", "sim"], "give --rates MACHINE, or --h2d"),
        (["memory", "--rates", "h1000"], "(did you mean h100?); choose from h100"),
        (["streams", "--only", "speed"], "streams has no part 'speed'; choose from time, overlap."),
        (["residency", "--only", "time"], "residency has no part 'time'; leave --only out."),
        (["streams", "--device", "cpu"], "name cuda:N, or sim for the model, as the device"),
        (["streams", "--h2d", "0"], "Argument --h2d: 0 is not a number above 0"),
        (["streams", "--speed", "3"], "Unrecognized arguments: --speed 3. All flags: kernelscope transfers --help"),
        (["streams", "--report", "h9"], "There is no recorded sweep streams of 'h9'"),
        (["streams", "--report", "none.json"], "none.json cannot be read (No such file or directory)"),
    ],
)
def test_a_mistake_is_one_sentence(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["transfers", *words]) == 2
    said = capsys.readouterr().err
    assert sentence in said and len(said.splitlines()) == 1


def test_help_of_a_timeline_has_the_flags_of_transfers_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["timeline", "--help"]) == 0
    said = capsys.readouterr().out
    assert "--repeats" in said and "--rates" in said and "--threshold" not in said and "--wavelet" not in said
