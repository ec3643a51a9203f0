"""The experiment as a command and as a program: both run, and run just that."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, act, make
from PySide6.QtWidgets import QApplication

import gpu_ops as ks
from app.models.experiment.experiment_text import command_text, python_text, reason_against, results_before
from app.models.experiment.session import Session
from gpu_ops import Experiment, Pick, apply_steps, load, run_experiment, sample, save
from gpu_ops.cli import main
from gpu_ops.engine.shared import SharedArray, SharedInput, Statistics
from gpu_ops.types import Input

NOTHING = Statistics(0, 1, 0.5, {}, (0,) * 256, 0, 0)
STEPS = ({"step": "crop", "start": [2, 3], "shape": [20, 30]}, {"step": "noise", "sigma": 5.0, "seed": 3})


def session_of(input: Input) -> Session:
    """A session with that input."""
    session = Session()
    array = SharedArray("none", input.array.shape, input.array.dtype.name)
    session.set_input(SharedInput(input.kind, array, input.axes, input.name, input.origin, input.rate, True, NOTHING))
    return session


def report_of(line: str, path: Path) -> list[dict[str, Any]]:
    """The runs of a command."""
    words = shlex.split(line)
    assert words[0] == "kernelscope" and main([*words[1:], "--json", str(path)]) == 0
    return list(json.loads(path.read_text())["runs"])


@pytest.fixture
def stack(tmp_path: Path) -> Input:
    path = tmp_path / "a stack; of 'three'.npy"
    save(path, np.random.default_rng(0).random((3, 40, 50), dtype=np.float32))
    return load(path, frame=2)


def test_a_command_runs_what_is_on_the_screen(qtbot, stack: Input, tmp_path: Path, capsys) -> None:
    session = session_of(stack)
    session.set_filter("conv3x3")
    session.set_params(
        {**session.params, "kernel": (0.0, -1.0, 0.0, -1.0, 5.0, -1.0, 0.0, -1.0, 0.0), "border": "wrap"}
    )
    session.set_picks(("serial", "parallel"))
    session.set_steps((*STEPS, {"step": "invert", "off": True}))
    runs = report_of(command_text(session), tmp_path / "report.json")
    assert [(r["variant"], r["device"], r["ok"]) for r in runs] == [("serial", "cpu", True), ("parallel", "cpu", True)]
    assert tuple(runs[0]["params"]["matrix"]) == session.params["matrix"] and runs[0]["params"]["border"] == "wrap"
    assert runs[0]["input"]["choices"] == {"frame": 2} and runs[0]["shape"] == [20, 30]
    assert runs[0]["input"]["steps"] == apply_steps(stack, STEPS).origin["steps"]


def test_variants_whose_knobs_differ_have_a_line_each(qtbot, tmp_path: Path, capsys) -> None:
    session = session_of(sample("noise", size="47x33", seed=4))
    session.set_devices(("sim",))
    session.set_picks(("naive", "shared", "serial"))
    session.set_knobs("naive", {"block": 128})
    session.set_knobs("shared", {"block": 256})
    knobs = [{k.name for k in session.filter.variant(v).knobs} for v in ("naive", "shared")]
    lines = command_text(session).split("\n")
    assert len(lines) == (2 if "block" in knobs[0] & knobs[1] else 1)
    seen = [r for line in lines for r in report_of(line, tmp_path / "report.json")]
    for run in seen:
        asked = session.shown.pick(run["variant"])
        assert run["ok"] and run["device"] == asked.device
        assert all(run["knobs"][k] == v for k, v in asked.knobs.items() if k in run["knobs"])
    assert {run["variant"] for run in seen} == {"naive", "shared", "serial"}
    assert seen[0]["input"]["seed"] == 4 and seen[0]["shape"] == [33, 47]


def test_a_program_runs_what_is_on_the_screen(qtbot, stack: Input, capsys) -> None:
    session = session_of(stack)
    session.set_picks(("serial", "scipy"))
    session.set_params({"window": 7, "border": "nearest"})
    session.set_steps(STEPS)
    names: dict[str, Any] = {}
    exec(python_text(session), names)
    verified = [line.split()[0] for line in capsys.readouterr().out.splitlines() if "verified True" in line]
    assert list(dict.fromkeys(verified)) == ["serial", "scipy"]
    np.testing.assert_array_equal(names["input"].array, apply_steps(stack, STEPS).array)
    experiment = names["experiment"]
    assert (experiment.filter, dict(experiment.params)) == ("mean2d", {"window": 7, "border": "nearest"})
    assert [(p.variant, p.device) for p in experiment.picks] == [("serial", "cpu"), ("scipy", "cpu")]
    right = ks.apply("mean", apply_steps(stack, STEPS), variant="serial", window=7, border="nearest")
    np.testing.assert_array_equal(names["image"], right)
    assert [len(places) for places in names["image_axes"]] == list(right.shape)


@pytest.mark.parametrize("filter", [f.id for f in ks.FILTERS if f.accepts == "signal"])
def test_a_program_ends_in_arrays_with_their_axes(qtbot, filter: str, capsys) -> None:
    session = session_of(sample("noise", length=512))
    session.set_filter(filter)
    session.set_picks(("serial",))
    preset = {"fft1d": {"result": "magnitude"}, "wavelet1d": {"result": "parts"}, "fft_batch1d": {"points": 64}}
    session.set_params({**session.params, **preset.get(filter, {})})
    names: dict[str, Any] = {}
    text = python_text(session)
    exec(text.replace("params, picks)", "params, picks, 'none')"), names)  # without the seconds of measuring
    for output in session.filter.given(session.params):
        assert isinstance(names[output.id], np.ndarray), output.id
        axes = names[f"{output.id}_axes"]
        assert [len(places) for places in axes] == list(names[output.id].shape)
    drawn = {"plot": lambda x, y: np.broadcast_shapes(x.shape, y.shape[:1]), "stairs": np.ravel}
    lines = [line[2:].split(" of ")[0] for line in text.splitlines() if line.startswith("# plt.")]
    for line in lines:
        exec(line, {**names, "plt": SimpleNamespace(**drawn)})
    assert lines or filter in ("reduce1d",)


@pytest.mark.skipif(shutil.which("bash") is None, reason="the quotes are those of bash and zsh")
def test_a_pasted_command_names_a_file_with_control_characters_and_runs_nothing(qtbot, tmp_path: Path) -> None:
    path = tmp_path / "a\n'touch hacked'\n\x1b[201~\r\\x41\x7f\x85µ$(id)`id`.npy"
    save(path, np.zeros((4, 5), np.float32))
    session = session_of(load(path))
    session.set_picks(("serial",))
    line = command_text(session)
    assert line.isprintable() and str(tmp_path) in line
    script = f"kernelscope() {{ printf '%s\\0' \"$@\"; }}\n{line}"
    words = subprocess.run(["bash", "-c", script], capture_output=True, cwd=tmp_path).stdout.split(b"\0")
    assert os.fsencode(path) in words and [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_name_ends_no_command_of_windows(qtbot, tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "a&calc|b^(c).npy"
    save(path, np.zeros((4, 5), np.float32))
    session = session_of(load(path))
    session.set_picks(("serial",))
    monkeypatch.setattr("sys.platform", "win32")
    line = command_text(session)
    assert f'"--input={path}"' in line or f'--input "{path}"' in line
    assert "--variant serial" in line


@pytest.fixture
def result(stack: Input) -> Input:
    """A mean of a noisy frame, whose edge is sharpened after."""
    noisy = apply_steps(stack, STEPS)
    picks = (Pick("parallel", "cpu"),)
    *_, run = run_experiment(Experiment("mean2d", noisy, {"window": 5, "border": "wrap"}, picks, "none", checks="off"))
    origin = {"result": "mean2d", "output": "image", "variant": "parallel", "device": "cpu", "params": dict(run.params)}
    origin |= {"knobs": {}, "of": noisy.origin, "steps": []}
    return Input("image", run.outputs["image"], "yx", "made", origin)


def test_a_result_takes_two_commands_that_make_it_again(qtbot, result: Input, tmp_path, monkeypatch, capsys) -> None:
    session = session_of(result)
    session.set_picks(("serial",))
    session.set_params({"window": 3})
    monkeypatch.chdir(tmp_path)
    comment, first, second = command_text(session).split("\n")
    assert comment == "# The input is a result, so it takes 2 commands: those before the last make mean2d-1.npy."
    assert results_before(session) == 1 and main(shlex.split(first)[1:]) == 0
    np.testing.assert_array_equal(np.load("mean2d-1.npy"), result.array)
    (run,) = report_of(second, tmp_path / "report.json")
    assert run["ok"] and run["params"]["window"] == 3 and run["input"]["path"] == "mean2d-1.npy"


def test_a_program_makes_a_result_again(qtbot, result: Input, capsys) -> None:
    session = session_of(result)
    session.set_picks(("serial",))
    names: dict[str, Any] = {}
    exec(python_text(session), names)
    np.testing.assert_array_equal(names["input"].array, result.array)


def test_a_signal_that_is_a_result_keeps_kind_and_rate(qtbot, tmp_path, monkeypatch, capsys) -> None:
    origin = {"result": "mean1d", "output": "signal", "variant": "serial", "device": "cpu", "params": {"window": 5}}
    origin |= {"knobs": {}, "rate": 360.0, "of": {"generator": "noise", "length": 300, "channels": 3}}
    session = session_of(Input("signal", np.zeros((300, 3), np.float32), "tc", "made", origin, 360.0))
    monkeypatch.chdir(tmp_path)
    session.set_picks(("serial",))
    _, first, second = command_text(session).split("\n")
    assert main(shlex.split(first)[1:]) == 0
    (run,) = report_of(second, tmp_path / "report.json")
    assert run["ok"] and run["shape"] == [300, 3] and "--rate=360.0" in second and run["filter"] == "mean1d"


def test_what_no_command_makes(qtbot, result: Input) -> None:
    middle = replace(result, origin={**result.origin, "start": [4, 4]})
    assert command_text(session_of(middle)) == "" and "'start': [4, 4]" in python_text(session_of(middle))
    assert "Copy as Python gives a" in reason_against(session_of(middle), program=False)
    edited = replace(result, origin={**result.origin, "edits": "abc"})
    assert python_text(session_of(edited)) == "" and "kernel of your own" in reason_against(session_of(edited), True)


def test_an_input_from_nowhere_has_no_text(qtbot) -> None:
    session = session_of(sample("noise", size="9x9"))
    original = session.original
    assert original is not None
    session.set_input(SharedInput("image", original.array, "yx", "result", {"result": "mean2d"}, None, True, NOTHING))
    assert command_text(session) == python_text(session) == ""


def test_the_menu_copies_them_or_says_why_not(qtbot, stack: Input) -> None:
    window = make(qtbot, FakeEngine())
    window.context.controller._engine.show(stack)
    for action, beginning in (
        ("copy_command", "kernelscope run mean2d --input="),
        ("copy_python", "import gpu_ops as ks"),
    ):
        act(window, action)
        assert QApplication.clipboard().text().replace("--input ", "--input=").startswith(beginning)
        assert "on the clipboard" in window.messages.current().text
    window.context.controller._engine.show(Input("image", stack.array, "yx", "made", {"result": "mean2d"}))
    act(window, "copy_command")
    assert "neither a file nor a sample" in window.messages.current().text
