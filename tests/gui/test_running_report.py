"""A report that runs, from the window: what varies is asked, the engine counts and writes, and Cancel stops it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, make
from PySide6.QtWidgets import QLabel
from simulated_rows import NO_CUDA, SIM, ready

from app.models.xray.drafts import Draft
from app.views.dialogs.running_report import RunningReportDialog
from app.views.window.main_window import MainWindow
from gpu_ops import Input, from_array
from gpu_ops.devices.kernel_source import read_source
from gpu_ops.engine.about import activity, segments_of_request
from gpu_ops.engine.kernel_messages import PageRequest
from gpu_ops.engine.messages import Failed, Finished, Progress
from gpu_ops.engine.xrays import answer_page
from gpu_ops.progress import Cancelled
from gpu_ops.types import Pick

FILE = "mean1d/1_naive.cu"
SIGNAL = from_array(np.arange(300, dtype=np.float32), kind="signal", name="<i>x</i>.npy")


class Channel:
    """What `answer_page` needs of the engine's channel; it is cancelled after so many announcements."""

    def __init__(self, most: int = 1000) -> None:
        self.said, self.most = list[str](), most

    def input(self, shared: Any) -> Input:
        return SIGNAL

    def middle(self, whole: Input) -> tuple[Input, tuple[int, ...]]:
        return whole, ()

    def announce(self, text: str) -> None:
        self.said.append(text)
        if len(self.said) > self.most:
            raise Cancelled


@pytest.fixture
def engine(qtbot) -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def window(qtbot, engine: FakeEngine) -> MainWindow:
    return make(qtbot, engine)


def opened(window: MainWindow, engine: FakeEngine) -> RunningReportDialog:
    ready(engine, NO_CUDA, SIM)
    engine.show(SIGNAL)
    engine.end()
    window.controller.session.set_picks(["serial", "naive", "scan"])
    engine.end()
    window.actions_by_id["export_running_report"].trigger()
    (dialog,) = window.findChildren(RunningReportDialog)
    return dialog


def test_the_dialog_asks_what_varies_and_the_engine_writes(
    qtbot, window: MainWindow, engine: FakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    action, target = window.actions_by_id["export_running_report"], tmp_path / "a.html"
    assert not action.isEnabled() and "there is no input yet" in action.toolTip()
    monkeypatch.setattr(window.files, "target", lambda *asked: str(target))
    dialog = opened(window, engine)
    assert list(dialog.rows) == ["window", "border", "block", "outputs"]
    assert [name for name, (box, _) in dialog.rows.items() if box.isChecked()] == ["window", "block"]
    dialog.rows["window"][1].setText("3, 5")
    dialog.rows["block"][1].setText("128, 256")
    assert dialog.state.text() == "8 combinations." and dialog.save.isEnabled()
    dialog.predicted.click()
    window.context.xray.drafts.put(
        draft := Draft("mean1d", "naive", {FILE: "// mine"}, path="/there/own.cu", saved="// mine")
    )
    window.context.xray.edit(draft)
    dialog.save.click()
    request = engine.asked[-1]
    assert request.names == {FILE: "own.cu"} and request.picks[0].edits == {FILE: "// mine"}
    assert isinstance(request, PageRequest) and request.path == str(target)
    assert request.over == {"window": ("3", "5"), "block": ("128", "256")} and "window" not in request.params
    assert [pick.variant for pick in request.picks] == ["naive", "scan"] and request.gpu.id == "h100"
    assert request.params["border"] == "reflect"
    assert activity(request) == "counted mean1d for a.html"
    assert list(segments_of_request(request)) == list(request.input.segments) != []
    engine.answered.emit(Progress(request.job, "counting combination 3 of 8: naive", 1, 4))
    assert "combination 3 of 8" in window.findChild(QLabel, "busy").text()
    target.write_text("the page")
    engine.answered.emit(Finished(request.job))
    assert "Saved a.html" in window.messages.current().text


def test_values_that_cannot_be_say_why(qtbot, window: MainWindow, engine: FakeEngine) -> None:
    dialog = opened(window, engine)
    dialog.rows["window"][1].setText(" , ")
    assert "window has no values" in dialog.state.text() and not dialog.save.isEnabled()
    dialog.rows["window"][1].setText(", ".join(str(n) for n in range(3, 800, 2)))
    assert "a page holds 400; name fewer values or variants" in dialog.state.text() and not dialog.save.isEnabled()
    for box, _ in dialog.rows.values():
        box.setChecked(False)
    dialog.reject()
    assert not any(isinstance(request, PageRequest) for request in engine.asked)


def test_a_variant_with_a_kernel_is_needed(qtbot, window: MainWindow, engine: FakeEngine) -> None:
    opened(window, engine).reject()
    window.controller.session.set_picks(["serial"])
    engine.end()
    action = window.actions_by_id["export_running_report"]
    assert not action.isEnabled() and "no ticked variant has a kernel" in action.toolTip()


def request(path: Path, picks: tuple[Pick, ...] = (Pick("naive", "cpu"),), **over: tuple[str, ...]) -> Any:
    return PageRequest(1, SIGNAL, "mean1d", {}, picks, over, "sm_75", str(path))


def test_the_engine_says_how_far_it_is_and_can_be_cancelled(tmp_path: Path) -> None:
    channel, path = Channel(), tmp_path / "a.html"
    answer_page(channel, request(path, window=("3", "5")))
    assert channel.said == [f"counting combination {n} of 2: 1 naive" for n in (1, 2)]
    assert path.read_text().count("mean1d/1_naive.cu") == 1 and "<i>x" not in path.read_text()
    path.unlink()
    with pytest.raises(Cancelled):
        answer_page(Channel(1), request(path, window=("3", "5")))
    assert not path.exists()


@pytest.mark.thorough
def test_an_edited_kernel_has_its_own_name(tmp_path: Path) -> None:
    """Only the edited variant's: the other one is the shipped kernel."""
    path = tmp_path / "a.html"
    picks = Pick("naive", "cpu", edits={FILE: f"// mine\n{read_source(FILE)}"}), Pick("constant", "cpu")
    answer_page(Channel(), replace(request(path, picks), names={FILE: "own.cu"}))
    text = path.read_text()
    assert FILE not in text and "own.cu of naive" in text and "1 naive, edited: " in text
    assert "mean1d/2_constant.cu" in text and "2 constant, edited" not in text


def test_a_failure_is_a_message(qtbot, window: MainWindow, engine: FakeEngine, monkeypatch: Any) -> None:
    monkeypatch.setattr(window.files, "target", lambda *asked: "/nowhere/a.html")
    opened(window, engine).save.click()
    engine.answered.emit(Failed(engine.asked[-1].job, "a.html cannot be written."))
    assert window.messages.current().kind == "error" and "a.html cannot" in window.messages.current().text
