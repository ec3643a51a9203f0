"""The command run on another machine's devices, over the fake ssh."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from remote_machines import THERE
from scipy import ndimage

from gpu_ops.cli import main
from gpu_ops.errors import BAD_INPUT, FINE, UNAVAILABLE

COMMAND = ("--remote-command", THERE)


@pytest.fixture
def noise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:  # type: ignore[type-arg]
    monkeypatch.chdir(tmp_path)
    values = np.random.default_rng(2).integers(0, 200, (600, 500)).astype(np.uint8)
    np.save("noise.npy", values)
    return values


@pytest.mark.parametrize("input", ["noise.npy", "gpu-host:{folder}/noise.npy"])
def test_run_there_saves_here(
    noise: np.ndarray, tmp_path: Path, input: str, capsys: pytest.CaptureFixture[str]
) -> None:  # type: ignore[type-arg]
    place = input.format(folder=tmp_path)
    how = ("--window", "5", "--variant", "serial", "--device", "me@gpu-host/cpu", *COMMAND, "--output", "mean.npy")
    assert main(["run", "mean", "--input", place, *how]) == FINE
    exact = ndimage.correlate(noise.astype(float), np.full((5, 5), 1 / 25), mode="reflect")
    np.testing.assert_array_equal(np.load("mean.npy"), np.floor(exact + 0.5))
    said = capsys.readouterr()
    assert "gpu-host/cpu" in said.out and "right" in said.out
    assert "mean.npy holds the result of serial on gpu-host/cpu" in said.err


def test_the_report_names_the_machine(noise: np.ndarray, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[type-arg]
    arguments = ["run", "mean", "--input", "noise.npy", "--remote", "me@gpu-host", "--variant", "serial", *COMMAND]
    assert main([*arguments, "--json", "-"]) == FINE
    report = json.loads(capsys.readouterr().out)
    assert report["provenance"]["remote"] == "gpu-host" and "gpu-host/cpu" in report["provenance"]["devices"]
    assert [row["device"] for row in report["runs"]] == ["gpu-host/cpu"]


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("--device", "gpu-host/cuda:7"), UNAVAILABLE, "gpu-host/cuda:7 is not available"),
        (("--device", "gpu-host/cpu", "other/cpu"), BAD_INPUT, "One run is on one machine"),
        (("--device", "gpu-host/cpu", "cpu"), BAD_INPUT, "One run is on one machine"),
        (("--remote", "-oProxyCommand=x"), BAD_INPUT, "expected one argument"),
        (("--remote", "a b"), UNAVAILABLE, "is no machine for ssh"),
        (("--remote", "gpu-host", "--memory", "9"), BAD_INPUT, "--memory is for devices of this machine"),
    ],
)
def test_what_cannot_be_says_why(
    noise: np.ndarray,  # type: ignore[type-arg]
    arguments: tuple[str, ...],
    code: int,
    sentence: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["run", "mean", "--input", "noise.npy", *arguments, *COMMAND]) == code
    assert sentence in capsys.readouterr().err


def test_other_commands_name_devices_of_this_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "mean1d", "--sample", "noise", "--device", "gpu-host/cpu"]) == UNAVAILABLE
    assert "is on another machine; take it in the window, or with run for one input" in capsys.readouterr().err
    assert main(["engine"]) == BAD_INPUT
    assert main(["engine", "--stdio", "--session", "../x"]) == BAD_INPUT
