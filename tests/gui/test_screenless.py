"""The window's command where there is no display: the experiment runs, with a table and a picture."""

from __future__ import annotations

import os
import subprocess
import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fake_engine import FakeEngine
from PySide6.QtGui import QImage
from result_rows import row as timed
from simulated_rows import SIM, ready, simulated
from test_saving_window import row_of

from app.main import _parse, main
from app.shell import screenless
from app.shell.window import Script
from gpu_ops import from_array, sample
from gpu_ops.doctor import window_needs
from gpu_ops.engine.client_jobs import EarlyAnswers
from gpu_ops.engine.messages import RunUpdate, Surveyed, SurveyRequest
from gpu_ops.io.opening import Survey

ROOT = Path(__file__).parents[2]
DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")


class FakeClient:
    """An engine's client that only notes its start."""

    def __init__(self, answers: EarlyAnswers, early: None) -> None:
        self.answers, self.early, self.started = answers, early, False

    def start(self) -> None:
        self.started = True


@pytest.fixture
def no_display(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in DISPLAYS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("app.shell.faults.quieten_qt", lambda: None)


@pytest.mark.parametrize(
    "words, picture",
    [
        ([], "kernelscope-camera.png"),
        (["--sample", "ecg"], "kernelscope-ecg.png"),
        (["/data/a scan.tif"], "kernelscope-a scan.png"),
    ],
)
def test_the_experiment_runs_and_one_line_says_why_there_is_no_window(
    monkeypatch: pytest.MonkeyPatch, capsys, no_display: None, words: list[str], picture: str
) -> None:
    seen = []
    monkeypatch.setattr("app.shell.window.show", lambda args, report: seen.append((args.screenshot, report)) or 0)
    assert main(words) == 0
    assert seen == [(picture, screenless.report)] and os.environ["QT_QPA_PLATFORM"] == "offscreen"
    said = capsys.readouterr().err
    assert "There is no display here" in said and picture in said and "ssh -X" in said and said.count("\n") == 1


def test_a_display_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch, capsys, no_display: None) -> None:
    monkeypatch.setenv("DISPLAY", ":4711")
    monkeypatch.setattr(window_needs, "library_fault", lambda names, load=None: "")
    monkeypatch.setattr(window_needs, "_answers", lambda name: False)
    monkeypatch.setattr("app.shell.window.show", lambda args, report: 0)
    assert main([]) == 0
    assert "The display does not answer (DISPLAY=:4711), so the experiment runs" in capsys.readouterr().err


def test_a_named_picture_is_drawn_as_before(monkeypatch: pytest.MonkeyPatch, capsys, no_display: None) -> None:
    seen = []
    monkeypatch.setattr("gpu_ops.engine.client.EngineClient", FakeClient)

    def show(args: Namespace, early: tuple[FakeClient, EarlyAnswers], opened: None) -> int:
        seen.append((args.screenshot, early[0].started, early[0].answers is early[1], opened))
        return 0

    monkeypatch.setattr("app.shell.window.show", show)
    assert main(["--screenshot", "out.png"]) == 0
    assert seen == [("out.png", True, True, None)] and capsys.readouterr().err == ""


def test_without_the_libraries_of_qt_the_table_comes_from_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys, no_display: None
) -> None:
    """As in a bare container."""

    def load(name: str) -> None:
        if "libEGL" in name:
            raise OSError(f"{name}: cannot open shared object file: No such file or directory")

    seen = []
    monkeypatch.setattr(window_needs, "_load", load)
    monkeypatch.setattr("gpu_ops.cli.main", lambda words: seen.append(words) or 0)
    assert main(["--sample", "camera"]) == 0
    said = capsys.readouterr().err
    assert "no display here" in said and "sudo apt install libegl1" in said and said.count("\n") == 1
    words = ["--filter", "conv3x3", "--set", "passes=2", "--step", "gray", "--variant", "serial"]
    monkeypatch.delenv("QT_QPA_PLATFORM")
    assert main(["a.tif", "--frame", "2", "--device", "cpu", *words]) == 0
    assert seen == [
        ["bench", "mean", "--quick", "--sample", "camera"],
        ["bench", "conv3x3", "--quick", "--input", "a.tif", "--frame=2", "--step", "gray", "--passes=2"]
        + ["--variant", "serial", "--device", "cpu"],
    ]
    for named in (["reference", "serial"], ["reference"]):  # nothing times the reference
        monkeypatch.delenv("QT_QPA_PLATFORM")
        assert main(["--variant", *named]) == 0
    assert seen[2:] == [
        ["bench", "mean", "--quick", "--sample", "camera", "--variant", "serial"],
        ["run", "mean", "--sample", "camera", "--variant", "reference"],
    ]
    monkeypatch.delenv("QT_QPA_PLATFORM")
    assert main(["walk.kernelscope"]) == 4
    assert "walk.kernelscope is a session, which only the window opens" in capsys.readouterr().err


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


def report(window) -> int:
    return screenless.report(window.controller.session, window.controller.results)


def test_the_device_cpu_ticks_the_variants_for_the_cpu(window, engine) -> None:
    ready(engine, SIM)
    engine.show(sample("noise", size="30x20"))
    session = window.controller.session
    device = session.device
    Script(window.controller, window, _parse(["--device", "cpu"]))._choose()
    assert session.choice.picks and session.device == device
    assert {session.filter.variant(id).device for id in session.choice.picks} == {"cpu"}


def test_choices_wait_for_the_input(window, engine) -> None:
    """Else the filter is that of another kind of input, which may lack the named variants."""
    ready(engine, SIM)
    script = Script(window.controller, window, _parse(["--sample", "camera", "--filter", "box", "--variant", "ring"]))
    script._next()  # as when the engine is ready
    assert window.controller.session.filter.id != "box" and not window.messages.current()
    engine.show(sample("noise", size="30x20"))
    script._next()
    assert (window.controller.session.filter.id, window.controller.session.choice.picks) == ("box", ("ring",))


def test_the_table_has_times_and_counts_apart(window, engine, capsys) -> None:
    ready(engine, SIM)
    engine.show(sample("noise", size="30x20"))
    for row in (timed("serial", "cpu", 2e-3), simulated("naive", ok=True)):
        engine.answered.emit(RunUpdate(1, window.controller.queue.generation, "verified", row, {}))
    assert report(window) == 0
    text = capsys.readouterr().out
    assert text.startswith("mean2d of noise, 30 x 20 float32; window 3")
    times, counts = text.split("\n\n")[:2]
    assert "serial" in times and "2 ms" in times and "naive" not in times
    assert "counted, never timed" in counts and "naive" in counts and "507k" in counts


def test_a_wrong_result_is_the_exit_code(window, engine, capsys) -> None:
    engine.show(from_array(sample("camera").array))
    row = replace(row_of(window), ok=False)
    engine.answered.emit(RunUpdate(1, window.controller.queue.generation, "verified", row, {}))
    assert report(window) == 3 and "WRONG" in capsys.readouterr().out


def test_a_file_that_asks_is_a_sentence_where_nobody_can_answer(
    monkeypatch: pytest.MonkeyPatch, window, engine, tmp_path: Path, capsys
) -> None:
    drawn: list[bool] = []
    monkeypatch.setattr(Script, "_draw", lambda self: drawn.append(True))
    monkeypatch.setattr(window.controller, "start", lambda: None)
    script = Script(window.controller, window, _parse(["/x/two.npz", "--screenshot", str(tmp_path / "out.png")]))
    script.start()
    survey = Survey("a NumPy archive", (), allowed={"member": ("a", "b")}, asks=True)
    request = next(r for r in engine.asked if isinstance(r, SurveyRequest))
    engine.answered.emit(Surveyed(request.job, survey))
    said = capsys.readouterr().err
    assert "/x/two.npz can be read in several ways; say which with --member" in said and drawn and script.code == 2
    holed = np.ones((4, 5))
    holed[1, 1] = np.nan
    np.save(tmp_path / "nan.npy", holed)
    window.controller.open_file(str(tmp_path / "nan.npy"))
    assert "--nonfinite zero replaces them" in capsys.readouterr().err


@pytest.mark.thorough  # a process of its own
def test_the_first_command_of_the_page_without_a_display(tmp_path: Path) -> None:
    env = {name: value for name, value in os.environ.items() if name not in DISPLAYS}
    command = [sys.executable, "-m", "app.main", "--sample", "camera"]
    done = subprocess.run(
        command, cwd=tmp_path, env={**env, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("mean2d of camera, 512 x 512 uint8") and "serial" in done.stdout
    assert done.stderr.count("\n") == 1 and "There is no display here" in done.stderr
    assert QImage(str(tmp_path / "kernelscope-camera.png")).width() == 1280
