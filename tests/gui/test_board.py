"""How results are laid out and compared is part of undo and of the session file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, act, make
from PySide6.QtWidgets import QComboBox
from result_rows import row
from simulated_rows import bring

from app.models.experiment.board import Board
from app.models.experiment.differences import DifferenceOf
from app.models.pictures.difference_style import DifferenceLook
from app.views.window.main_window import INPUT, MainWindow
from app.views.window.session_link import view_of
from gpu_ops import KernelscopeError, from_array

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")
PICTURE = np.random.default_rng(3).integers(0, 200, (60, 80), np.uint8)
KEPT = DifferenceOf("serial", INPUT)


@pytest.fixture
def engine(qapp) -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def window(qtbot, engine: FakeEngine) -> MainWindow:
    """A picture, two means of it, and the difference of one from it."""
    window = make(qtbot, engine)
    engine.show(from_array(PICTURE))
    window.controller.session.set_picks(("serial", "parallel"))
    bring(window, engine, row("serial", "cpu", None), PICTURE + np.uint8(3))
    bring(window, engine, row("parallel", "cpu", None), PICTURE)
    window.controller.session.keep_difference(KEPT)
    qtbot.waitUntil(lambda: pane(window).difference.distance is not None)
    return window


def pane(window: MainWindow) -> Any:
    return window.panes.differences[KEPT]


def choose(box: QComboBox, value: object) -> None:
    box.setCurrentIndex(box.findData(value))
    box.activated.emit(box.currentIndex())


def entry(window: MainWindow, text: str) -> Any:
    pager = window.panes.pager
    pager.fill_menu()
    return next(action for action in pager.menu.actions() if action.text() == text)


def saved(window: MainWindow, tmp_path: Path) -> Path:
    path = tmp_path / "a.kernelscope"
    session = window.controller.session
    session.original = session.input = replace(session.input, origin={"generator": "camera"})
    window.parts.context.sessions.save(str(path), view_of(window.parts))
    return path


def test_the_number_of_panes_is_one_step_of_undo(window: MainWindow) -> None:
    pager = window.panes.pager
    assert pager.wanted == 0 and entry(window, "As many as are large enough").isChecked()
    entry(window, "2 panes at once").trigger()
    assert pager.most == 2 and entry(window, "2 panes at once").isChecked()
    entry(window, "One pane at once").trigger()
    act(window, "undo")
    assert pager.most == 2 == window.controller.session.choice.board.panes
    act(window, "undo")
    assert pager.wanted == 0
    act(window, "redo")
    assert pager.most == 2
    window.controller.session.set_filter("conv3x3")
    assert pager.most == 2, "it suits every filter"


def test_the_pages_count_results_and_differences_apart(window: MainWindow) -> None:
    pager = window.panes.pager
    entry(window, "2 panes at once").trigger()
    words = [pager.words.text()]
    for _ in range(2):
        pager.turn(1)
        words.append(pager.words.text())
    assert words == ["result 1 of 2", "result 2 of 2", "difference 1 of 1"]


def test_the_look_of_differences_is_undone(qtbot, window: MainWindow) -> None:
    bar, board = window.panes.styles, lambda: window.controller.session.choice.board
    choose(bar.gain, 8.0)
    choose(bar.measure, "absolute")
    assert board().look == DifferenceLook("absolute", 99.5, 8.0)
    act(window, "undo")
    assert bar.measure.currentData() == "signed" and bar.gain.currentData() == 8.0
    act(window, "undo")
    assert board().look == DifferenceLook() == window.panes.differing.look and bar.gain.currentData() == 1.0
    act(window, "redo")
    qtbot.waitUntil(lambda: pane(window).difference.display.high == pytest.approx(3 / 8))


def test_levels_set_by_hand_are_one_step_and_end_with_the_look(qtbot, window: MainWindow) -> None:
    display, board = pane(window).difference.display, lambda: window.controller.session.choice.board
    automatic = display.high
    for level in (0.5, 1.0, 1.5):
        display.set_levels(-level, level)
    assert board().level(KEPT.key) == 1.5
    act(window, "undo")
    assert board().levels == () and display.high == automatic and display.mode == "auto"
    act(window, "redo")
    assert (display.low, display.high, display.mode) == (-1.5, 1.5, "manual")
    choose(window.panes.styles.gain, 2.0)
    assert board().levels == () and display.mode == "auto"
    act(window, "undo")
    assert display.high == 1.5
    display.auto_levels("range")
    assert board().levels == ()


def test_a_session_keeps_them(qtbot, window: MainWindow, tmp_path: Path) -> None:
    entry(window, "4 panes at once").trigger()
    choose(window.panes.styles.gain, 4.0)
    pane(window).difference.display.set_levels(-2.5, 2.5)
    path = saved(window, tmp_path)
    content = json.loads(path.read_text())["board"]
    assert content["panes"] == 4 and content["difference"]["gain"] == 4.0
    assert content["difference"]["levels"] == [{"first": "serial", "second": "input", "level": 2.5}]
    found = read(path, window)
    assert (
        found.choice.board
        == window.controller.session.choice.board
        == Board(4, DifferenceLook(gain=4.0), ((KEPT.key, 2.5),))
    )
    session = window.controller.session
    session.set_board(Board())
    assert window.panes.pager.wanted == 0 and pane(window).difference.display.mode == "auto"
    session.set_board(found.choice.board)
    assert window.panes.pager.most == 4 and pane(window).difference.display.high == 2.5


def read(path: Path, window: MainWindow) -> Any:
    from app.models.files.session_file import read_session

    return read_session(str(path), window.parts.context.sessions.offered)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"panes": 5}, "board.panes must be one of 0, 1, 2, 4, 6, 9, not 5"),
        ({"difference": {"gain": 3}}, "board.difference.gain must be one of 1, 2, 4, 8, 16, 32, not 3"),
        ({"difference": {"measure": "log"}}, "board.difference.measure must be one of signed, absolute"),
        ({"difference": {"levels": [{"first": "x", "second": "input", "level": 1}]}}, "first must be one of"),
        ({"outputs": [{"result": "serial", "output": "phase"}]}, "output must be one of image, not 'phase'"),
    ],
)
def test_what_a_file_may_not_say_is_refused(window: MainWindow, tmp_path: Path, change: Any, words: str) -> None:
    path = saved(window, tmp_path)
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | {"board": change}))
    with pytest.raises(KernelscopeError, match=words):
        read(path, window)
    path.write_text(json.dumps({k: v for k, v in content.items() if k != "board"}))
    assert read(path, window).choice.board == Board(), "files of earlier versions have none"
