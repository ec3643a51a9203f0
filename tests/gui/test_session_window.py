"""Sessions in a whole window: what it shows comes back, by menu, drop, command line and at the next start."""

from __future__ import annotations

import argparse
import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, act, make
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from test_belonging import finish, run
from test_files import drop
from test_session_files import Engine, Place

from app.main import _check, _is_session, _parse
from app.models.curves.lanes import choice_of
from app.models.experiment.experiment_text import command_text
from app.models.files.session_view import View
from app.models.pictures.probe import Line
from app.models.pictures.viewport import Rect
from app.models.settings import Settings
from app.shell.window import Script
from app.views.window.main_window import MainWindow
from app.views.window.panels import TABLE
from app.views.window.session_link import OFFERED, view_of
from gpu_ops import KernelscopeError, save

CROP = {"step": "crop", "start": [4, 6], "shape": [30, 34]}


@pytest.fixture
def engine(plain_look: None) -> FakeEngine:
    return Engine()


def again(qtbot: QtBot, path: str) -> MainWindow:
    """The session in a window of its own, over an engine of its own."""
    window = make(qtbot, Engine())
    window.context.importing.open(path)
    return window


def said(window: MainWindow) -> list[str]:
    return [message.text for message in window.messages.messages()]


def saved(window: MainWindow, path: Path) -> str:
    """The session, saved by the menu's entry."""
    window.files.target = lambda *_: str(path)
    act(window, "save_session_as")
    return str(path)


def test_the_whole_window_comes_back(qtbot: QtBot, window: MainWindow, picture: str, tmp_path: Path) -> None:
    parts, session = window.parts, window.controller.session
    window.context.importing.open(picture)
    session.set_picks(("serial", "naive"))
    session.set_steps((CROP,))
    finish(window, run(window))
    window.controller._engine.do_steps()
    window.stack.compare("swipe")
    window.panes.set_pair("serial", "naive")
    parts.probe.set_extent((30, 34))
    parts.probe.set_line(Line(1.5, 2.0, 20.0, 25.0))
    parts.probe.set_region(Rect(3, 4, 13, 24))
    parts.probe.set_tool("region")
    parts.probe.set_scale_bar(False)
    window.context.display.set_levels(20, 99)
    window.context.display.set_colormap("magma")
    parts.docks.toggle("xray")
    parts.docks.turn_to(TABLE)
    window.context.xray.choose("shared")
    window.context.xray.compare_with("naive")
    expected = view_of(parts)
    assert expected.mode == "swipe" and expected.tab == "table" and expected.levels == "manual"
    path = saved(window, tmp_path / "walk.kernelscope")
    assert "Saved walk.kernelscope" in said(window)[-1] and window.windowTitle().endswith(
        "walk.kernelscope – Kernelscope"
    )
    other = again(qtbot, path)
    assert other.parts.probe.region is None  # the steps are still to be done
    other.controller._engine.do_steps()
    found = view_of(other.parts)
    assert found == expected and said(other) == [] and other.parts.docks.is_open("xray")
    keys = [[w.controller.session.shown.key(v) for v in ("serial", "naive")] for w in (window, other)]
    assert keys[0] == keys[1] and other.controller.session.steps == session.steps
    assert [Path(p).name for p in other.context.settings.recent] == ["walk.kernelscope", "holiday.png"]


def test_one_channel_alone_comes_back(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    save(tmp_path / "leads.npy", np.random.default_rng(2).random((200, 3)))
    window.context.importing.open(str(tmp_path / "leads.npy"), {"rate": 100.0})
    assert window.controller.session.input.kind == "signal"
    choice_of(window.stack).show_all(True)
    choice_of(window.stack).show_only(2)
    window.parts.probe.set_extent((200,))
    window.parts.probe.set_span((20, 60))
    other = again(qtbot, saved(window, tmp_path / "leads.kernelscope"))
    choice = choice_of(other.stack)
    assert (choice.only, choice.stacked, other.parts.probe.span) == (2, True, (20, 60))
    assert other.controller.session.input.rate == 100 and view_of(other.parts) == view_of(window.parts)


def test_large_type_and_its_panels_come_back(qtbot: QtBot, window: MainWindow, picture: str, tmp_path: Path) -> None:
    window.context.importing.open(picture)
    path = saved(window, tmp_path / "plain.kernelscope")
    window.look.set_presenter(True)
    large = saved(window, tmp_path / "large.kernelscope")
    other = again(qtbot, large)
    assert other.look.presenter and other.actions_by_id["presenter"].isChecked()
    other.context.importing.open(path)
    assert not other.look.presenter


def test_a_session_is_dropped_chosen_or_picked_again(window: MainWindow, picture: str, tmp_path: Path) -> None:
    window.context.importing.open(picture)
    window.controller.session.set_param("window", 9)
    path = saved(window, tmp_path / "a.kernelscope")
    session, asked = window.controller.session, []

    def wait(do: Any) -> None:
        window.controller.open_sample("ecg")
        assert session.input.kind == "signal" and window.context.sessions.path == ""
        do()
        assert session.params["window"] == 9 and window.context.sessions.path == path

    wait(lambda: drop(window, [path]))
    window.files.chooser = lambda parent, title, folder, kinds: asked.append(kinds) or path
    wait(lambda: act(window, "open_session"))
    assert "*.kernelscope" in asked[0]
    window.parts.recent.fill()
    wait(next(a for a in window.parts.recent.actions if a.data() == path).trigger)


def test_save_goes_to_the_open_session_and_else_asks(window: MainWindow, picture: str, tmp_path: Path) -> None:
    asked: list[str] = []
    assert not window.actions_by_id["save_session"].isEnabled()
    window.context.importing.open(picture)
    window.files.target = lambda parent, title, proposed, kinds: asked.append(proposed) or ""
    act(window, "save_session")
    assert Path(asked[0]).name == "holiday.kernelscope" and said(window) == [] and window.context.sessions.path == ""
    window.files.target = lambda *_: str(tmp_path / "b")
    act(window, "save_session")
    first = json.loads((tmp_path / "b.kernelscope").read_text())
    window.files.target = lambda *_: pytest.fail("nobody is asked again")
    window.controller.session.set_param("window", 7)
    act(window, "save_session")
    second = json.loads((tmp_path / "b.kernelscope").read_text())
    assert {k for k in first if k != "view" and first[k] != second[k]} == {"params"} and second["params"]["window"] == 7
    window.files.target = lambda *_: str(tmp_path / "b.json")
    act(window, "save_session_as")
    assert "does not end in .kernelscope" in said(window)[-1] and not (tmp_path / "b.json").exists()
    image = QImage(8, 6, QImage.Format.Format_RGB888)
    image.fill(QColor("teal"))
    QApplication.clipboard().setImage(image)
    act(window, "paste_image")
    saved(window, tmp_path / "c.kernelscope")
    assert "The input was pasted" in said(window)[-1] and not (tmp_path / "c.kernelscope").exists()


def test_a_file_that_moved_is_chosen_in_the_message(qtbot: QtBot, window, picture: str, tmp_path: Path) -> None:
    window.context.importing.open(picture)
    path = saved(window, tmp_path / "a.kernelscope")
    Path(picture).rename(tmp_path / "b.png")
    window.controller.open_sample("ecg")
    window.context.importing.open(path)
    assert "was not found at its path" in said(window)[-1] and window.controller.session.input.name == "ecg"
    window.files.chooser = lambda *_: ""
    button = window.messages.rows[0].choice_buttons[0]
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert window.controller.session.input.name == "ecg"
    window.files.chooser = lambda *_: str(tmp_path / "b.png")
    window.context.importing.open(path)
    qtbot.mouseClick(window.messages.rows[0].choice_buttons[0], Qt.MouseButton.LeftButton)
    assert window.controller.session.input.name == "b.png" and not window.messages.rows[0].choice_buttons


def test_what_does_not_fit_the_window_is_said(qtbot: QtBot, window, picture: str, tmp_path: Path) -> None:
    window.context.importing.open(picture)
    window.parts.probe.set_extent((40, 50))
    window.parts.probe.set_region(Rect(30, 30, 50, 40))
    path = Path(saved(window, tmp_path / "a.kernelscope"))
    content = path.read_text()
    layout = content.split('"layout": "')[1].split('"')[0]
    path.write_text(content.replace(layout, "AAAA").replace("[30, 30, 50, 40]", "[30, 30, 51, 40]"))
    before = bytes(window.docks.layout().data())
    window.context.importing.open(str(path))
    texts = said(window)[1:]
    assert len(texts) == 2 and "panels stay where they are" in texts[0] and "lies outside" in texts[1]
    assert bytes(window.docks.layout().data()) == before and not window.parts.probe.any


def test_closing_keeps_the_last_session(qtbot: QtBot, picture: str, tmp_path: Path, engine: FakeEngine) -> None:
    settings = Settings(tmp_path / "settings" / "window.ini")
    window = make(qtbot, engine, settings)
    window.context.importing.open(picture)
    window.controller.session.set_steps((CROP,))
    window.close()  # while the steps are done
    last = Place(Settings(tmp_path / "settings" / "window.ini"))
    last.sessions.offered = OFFERED
    last.sessions.open_last()
    assert last.session.steps == (CROP,) and last.sessions.path == "" and last.name == "holiday.png"


# The command line


def script_of(window: MainWindow, words: list[str]) -> Script:
    args = _parse(words)
    _check(args)
    return Script(window.controller, window, args)


def test_a_session_on_the_command_line(window: MainWindow, picture: str, tmp_path: Path) -> None:
    window.context.importing.open(picture)
    window.controller.session.set_param("window", 11)
    path = saved(window, tmp_path / "a.kernelscope")
    window.controller.open_sample("ecg")
    script_of(window, [path]).start()
    session = window.controller.session
    assert session.params["window"] == 11
    (tmp_path / "bad.kernelscope").write_text("{")
    script_of(window, [str(tmp_path / "bad.kernelscope")]).start()
    assert session.input.name == "camera" and "damaged" in said(window)[-1]
    for words, what in (
        (["--step", "invert"], "--step"),
        (["--filter", "box"], "--filter"),
        (["--set", "window=3"], "--set"),
        (["--frame", "1"], "--frame"),
    ):
        with pytest.raises(KernelscopeError, match=f"{what} .*session"):
            _check(_parse([path, *words]))
    assert _is_session(argparse.Namespace(file="A.KernelScope")) and not _is_session(argparse.Namespace(file=None))


def test_steps_on_the_command_line(window: MainWindow, picture: str) -> None:
    script = script_of(
        window, [picture, "--step", "crop start=4,6 shape=30,34", "--step", "invert", "--set", "window=7"]
    )
    script.start()
    script._choose()
    finish(window, run(window))
    window.controller._engine.do_steps()
    session = window.controller.session
    assert session.steps == (CROP, {"step": "invert"}) and session.params["window"] == 7
    assert session.input.array.shape == (30, 34)
    for words, reason in (
        (["--step", "sharpen"], "There is no step 'sharpen'"),
        (["--step", "crop start=1,2,3"], "start must be"),
        (["--step", "rotate angle=3", "--filter", "mean1d"], "rotate takes an image"),
    ):
        with pytest.raises(KernelscopeError, match=reason):
            _check(_parse([picture, *words]))


def test_a_bare_start_begins_with_the_last_session(qtbot: QtBot, picture: str, tmp_path: Path, engine) -> None:
    path = tmp_path / "settings" / "window.ini"
    last = Place(Settings(path))
    last.controller.open_file(picture)
    last.sessions.keep_last(View())
    window = make(qtbot, engine, Settings(path))
    for words, name in (([], "holiday.png"), (["--filter", "box"], "camera"), (["--sample", "ecg"], "ecg")):
        script_of(window, words).start()
        assert window.controller.session.input.name == name


def test_a_copied_command_is_the_same_experiment_in_the_window(window: MainWindow, picture: str) -> None:
    """The words of *Copy as command*, with --filter and --set where the window has these."""
    window.context.importing.open(picture)
    session = window.controller.session
    session.set_filter("conv3x3")
    session.set_param("matrix", (0.0, -1.0, 0.0, -1.0, 5.0, -1.0, 0.0, -1.0, 0.0))
    session.set_param("border", "wrap")
    session.set_picks(("serial", "parallel"))
    session.set_steps((CROP, {"step": "noise", "sigma": 2.5, "seed": 3}))
    origin, expected = session.original.origin, [session.shown.key(v) for v in session.choice.picks]
    steps, words = session.steps, shlex.split(command_text(session))
    assert words[:3] == ["kernelscope", "run", "conv3x3"] and words[3] == "--input"
    rest = words[5 : words.index("--device")]
    events = [w for word in rest for w in (["--set", word[2:]] if word.startswith("--") and "=" in word else [word])]
    window.controller.open_sample("ecg")
    assert session.filter.accepts == "signal" and session.steps == ()
    script = script_of(window, [words[4], "--filter", "conv3x3", *events])
    script.start()
    script._choose()
    assert session.original.origin == origin and session.steps == steps
    assert [session.shown.key(v) for v in session.choice.picks] == expected
