"""The command run on another machine's devices, over the fake ssh."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from remote_machines import ROOT, THERE
from scipy import ndimage

from gpu_ops.cli import main
from gpu_ops.errors import BAD_INPUT, FINE, UNAVAILABLE
from gpu_ops.report.machines import same_machine

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


def _report(path: str = "there.json") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(path).read_text())
    return found


SITE = """
from dataclasses import replace

import small_machine
from gpu_ops.running import timing

small_machine.make_small()
for name, rule in timing.RULES.items():
    timing.RULES[name] = replace(rule, cap_seconds=rule.cap_seconds / 60)
"""


@pytest.fixture
def timed(tmp_path: Path) -> tuple[str, ...]:
    """The flags of a small job, and of an engine there that measures as on a machine with a small cache."""
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(SITE)
    command = THERE.replace(f"PYTHONPATH={ROOT}", f"PYTHONPATH={folder}:{ROOT / 'tests'}:{ROOT}")
    assert command != THERE
    job = ("--sample", "noise_image", "--size", "48x40", "--variant", "serial", "opencv", "--quick")
    return (*job, "--remote-command", command)


@pytest.mark.parametrize("how", ["bench", pytest.param("sweep", marks=pytest.mark.thorough)])
def test_times_are_taken_there_and_named_so(
    how: str,
    noise: np.ndarray,  # type: ignore[type-arg]
    timed: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
) -> None:  # type: ignore[type-arg]
    more = ("--over", "window=3,5") if how == "sweep" else ()
    there = (*timed, "--device", "me@gpu-host/cpu", "--json", "there.json")
    if how == "sweep":
        assert main([how, "mean", *there, *more, "--budget", "0"]) == FINE
        assert "call again with --json there.json to go on" in capsys.readouterr().err
        assert not _report()["runs"]
    assert main([how, "mean", *there, *more]) == FINE
    said, report = capsys.readouterr(), _report()
    assert said.out.count("opencv") >= 2 and "gpu-host/cpu: copy" in said.out
    rows = report["runs"]
    assert {row["device"] for row in rows} == {"gpu-host/cpu"} and len(rows) == (4 if more else 2)
    assert all(row["stages"]["kernel"]["n"] and row["ok"] and row["share"] for row in rows)
    assert report["provenance"]["remote"] == "gpu-host"
    assert report["provenance"]["devices"]["gpu-host/cpu"]["roofs"]["copy_bytes_s"] > 0
    if how == "sweep":
        assert report["provenance"]["earlier"] == [], "nothing was measured before"
        times = [row["stages"]["kernel"]["median_s"] for row in rows]
        assert main([how, "mean", *there, *more]) == FINE  # nothing is measured again
        assert [row["stages"]["kernel"]["median_s"] for row in _report()["runs"]] == times
        assert _report()["provenance"]["devices"]["gpu-host/cpu"]["roofs"]
        assert main([how, "mean", *timed, "--device", "cpu", *more, "--json", "there.json"]) == BAD_INPUT
        assert "there.json was measured on another machine; choose another file" in capsys.readouterr().err
        assert _report()["runs"] == report["runs"]


def test_a_report_is_of_one_machine() -> None:
    own = {"cpu": "Xeon", "threads": 16, "devices": {"cpu": {"model": "Xeon"}}}
    there = {"remote": "gpu-host", "cpu": "Xeon", "threads": 16, "devices": {"gpu-host/cpu": {"model": "Xeon"}}}
    begun = {key: value for key, value in there.items() if key not in ("cpu", "threads")}  # nothing has run there yet
    assert same_machine(there, begun) and same_machine(there, there)
    for other in (own, {**there, "remote": "elsewhere"}, {**there, "cpu": "EPYC"}, {**there, "threads": 32}):
        assert not same_machine(there, other)
    assert not same_machine(begun, own)


@pytest.mark.thorough
def test_a_file_that_is_there_is_timed_there(
    noise: np.ndarray,  # type: ignore[type-arg]
    timed: tuple[str, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    np.save("small.npy", noise[:40, :48])
    place = ("--input", f"gpu-host:{tmp_path}/small.npy", "--remote", "gpu-host", "--quick", "--variant", "opencv")
    over = ("--over", "dtype=uint8,float32", "--baseline", "opencv")
    assert main(["sweep", "mean", *place, *over, *timed[-2:], "--json", "-"]) == FINE
    rows = json.loads(capsys.readouterr().out)["runs"]
    assert [(row["device"], row["dtype"], row["shape"]) for row in rows] == [
        ("gpu-host/cpu", dtype, [40, 48]) for dtype in ("uint8", "float32")
    ]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("bench", "--device", "gpu-host/sim"), "counts the same on every machine and has no times"),
        (("sweep", "--over", "window=3", "--remote", "gpu-host", "--gpu", "sm_90"), "--gpu needs no other machine"),
        (("bench", "--remote", "gpu-host", "--device-memory", "9"), "--device-memory is for devices of this machine"),
        (("bench", "--device", "gpu-host/cpu", "cpu"), "One run is on one machine"),
    ],
)
def test_what_is_not_timed_there_says_why(
    arguments: tuple[str, ...], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command, *more = arguments
    assert main([command, "mean", "--sample", "noise_image", *more, *COMMAND]) == BAD_INPUT
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "step"),
    [
        ("bench mean --input {0}", "add --remote gpu-host"),
        ("run mean --input {0} {0} --output-dir out", "copy it with: scp gpu-host:data/a.npy ."),
        ("xray mean1d naive --input {0}", "copy it with: scp gpu-host:data/a.npy ."),
    ],
)
def test_a_file_of_another_machine_is_not_looked_for_here(
    command: str, step: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command.format("gpu-host:data/a.npy").split()) == BAD_INPUT
    said = f"gpu-host:data/a.npy does not exist here; if it is a file of the machine gpu-host, {step}"
    assert said in " ".join(capsys.readouterr().err.split())


def test_other_commands_name_devices_of_this_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["timeline", "transfer", "--sample", "camera", "--device", "gpu-host/cpu"]) == UNAVAILABLE
    assert "is on another machine; take it in the window, or with run, bench or sweep" in capsys.readouterr().err
    assert main(["engine"]) == BAD_INPUT
    assert main(["engine", "--stdio", "--session", "../x"]) == BAD_INPUT
