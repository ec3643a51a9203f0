"""Other outputs of results in panes of their own, beside the present one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, act, make
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox
from test_board import PICTURE, read, saved
from test_walk_through import Walk, engine, walk  # noqa: F401

from app.models.experiment.board import MOST_OUTPUT_PANES, Board, OutputOf
from app.views.window.main_window import MainWindow
from gpu_ops import from_array

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


@pytest.fixture
def window(qtbot) -> MainWindow:
    made = FakeEngine()
    window = make(qtbot, made)
    made.show(from_array(PICTURE))
    session = window.controller.session
    session.set_filter("wavelet2d")
    session.set_picks(("serial", "parallel"))
    return window


def choose(box: QComboBox, value: object) -> None:
    box.setCurrentIndex(box.findData(value))
    box.activated.emit(box.currentIndex())


def offer(window: MainWindow, text: str) -> Any:
    return next(action for action in window.stack.bar.menu.actions() if action.text() == text)


def test_an_output_gets_a_pane_and_is_asked_for_in_one_step(qtbot, window: MainWindow) -> None:
    session, also = window.controller.session, window.stack.sides.also
    assert window.stack.bar.beside.isVisible() and also.isHidden()
    offer(window, "Coefficients").trigger()
    assert session.params["result"] == "parts" and session.output.id == "image"
    assert session.choice.board.outputs == (OutputOf("serial", "coefficients"),) and also.isVisible()
    (pane,) = window.output_panes.panes.values()
    assert pane.words.text() == "no result yet" and pane.isVisible()
    act(window, "undo")
    assert session.params["result"] == "result" and also.isHidden() and not session.choice.board.outputs
    act(window, "redo")
    (pane,) = window.output_panes.panes.values()
    choose(pane.result, "parallel")
    (pane,) = window.output_panes.panes.values()
    choose(pane.output, "noise")
    (pane,) = window.output_panes.panes.values()
    assert pane.pane == OutputOf("parallel", "noise") and pane.output.currentText() == "Noise"
    session.set_param("result", "result")
    assert "do not ask for Noise" in pane.words.text()
    qtbot.mouseClick(pane.close_button, Qt.MouseButton.LeftButton)
    assert also.isHidden()
    act(window, "undo")
    assert also.isVisible()
    session.set_filter("mean2d")
    assert also.isHidden() and session.choice.board == Board() and not window.stack.bar.beside.isVisible()


def test_what_no_run_gives_at_once_is_not_offered(window: MainWindow) -> None:
    window.controller.session.set_filter("fft2d")
    phase = offer(window, "Phase")
    assert not phase.isEnabled() and phase.toolTip().startswith("No run gives Spectrum and Phase at once")


def test_there_are_no_more_panes_than_have_room(window: MainWindow) -> None:
    session = window.controller.session
    for id in ("serial", "parallel"):
        for output in ("noise", "coefficients", "figures"):
            session.set_board(session.choice.board.with_output(OutputOf(id, output)))
    assert len(window.output_panes.panes) == MOST_OUTPUT_PANES
    session.set_picks(("serial",))
    assert list(window.output_panes.panes) == [OutputOf("serial", "figures")], "of results that are shown"


def test_a_session_keeps_the_panes(window: MainWindow, tmp_path: Path) -> None:
    offer(window, "Noise").trigger()
    path = saved(window, tmp_path)
    assert json.loads(path.read_text())["board"]["outputs"] == [{"result": "serial", "output": "noise"}]
    assert read(path, window).choice.board.outputs == (OutputOf("serial", "noise"),)


@pytest.mark.thorough
def test_a_picture_its_coefficients_and_its_noise(walk: Walk) -> None:  # noqa: F811
    window, outputs = walk.window, walk.window.output_panes
    walk.open("camera")
    walk.filter("wavelet2d")
    for title in ("Coefficients", "Figures"):
        offer(window, title).trigger()
    walk.qtbot.waitUntil(lambda: not walk.controller.busy)
    walk.qtbot.waitUntil(lambda: all(pane.view is not None and pane.view.walk for pane in outputs.panes.values()))
    assert {type(pane.view).__name__ for pane in outputs.panes.values()} == {"PictureView", "CellView"}
    walk.qtbot.waitUntil(lambda: all(pane.view.state("serial") == "fresh" for pane in outputs.panes.values()))
    first = next(iter(outputs.panes.values()))
    shown = window.stack.shown("serial", "coefficients")
    np.testing.assert_array_equal(first.view.grid.pane("serial").layer.drawn.values, shown.array)
    assert window.panes.pane("serial").layer.state == "fresh"
