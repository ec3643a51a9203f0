"""What is set in a window survives its crash: it is kept as one works, and offered at the next start."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from fake_engine import FakeEngine, make
from pytestqt.qtbot import QtBot
from test_session_files import Engine, Place
from test_session_window import said, script_of

from app.models.files.session_view import View
from app.models.files.unfinished import PREFIX, Unfinished
from app.models.settings import Settings
from app.views.window import session_link
from app.views.window.main_window import MainWindow

CRASH = """
import os, signal, sys
from pathlib import Path
from app.models.files.unfinished import Unfinished
Unfinished(Path(sys.argv[1])).keep(sys.stdin.read())
os.kill(os.getpid(), signal.SIGKILL)
"""
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)


@pytest.fixture
def engine(plain_look: None) -> FakeEngine:
    return Engine()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "settings"


def settings(folder: Path) -> Settings:
    return Settings(folder / "window.ini")


def files(folder: Path) -> list[Path]:
    return list(folder.glob(f"{PREFIX}*"))


def crash(folder: Path, text: str) -> None:
    """A process that has kept this session is killed."""
    done = subprocess.run([sys.executable, "-c", CRASH, str(folder)], input=text, text=True, timeout=60)
    assert done.returncode < 0 or sys.platform == "win32"


def crashed(folder: Path, picture: str) -> None:
    """A window with the picture, a mean over 11 pixels in it, has crashed."""
    place = Place(settings(folder))
    place.controller.open_file(picture)
    place.session.set_param("window", 11)
    place.sessions.keep_unfinished(View())
    (kept,) = folder.glob(f"{PREFIX}*.kernelscope")
    text = kept.read_text()
    place.sessions.end()
    crash(folder, text)


def test_only_files_of_processes_that_are_gone_are_left(folder: Path) -> None:
    here, other = Unfinished(folder), Unfinished(folder)
    assert other.left() == []
    here.keep("1")
    here.keep("2")
    assert here.file.read_text() == "2" and other.left() == []
    crash(folder, "3")
    (left,) = other.left()
    assert left.read_text() == "3" and other.is_one(str(left)) and not other.is_one(str(folder / "last.kernelscope"))
    here.end()
    here.keep("4")  # of a timer that was late
    assert not here.file.exists() and other.left() == [left]


def test_a_window_keeps_its_session_as_one_works(
    qtbot: QtBot, picture: str, folder: Path, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_link, "KEPT_MS", 0)
    window = make(qtbot, engine, settings(folder))

    def kept(*names: str) -> object:
        found = [json.loads(file.read_text()) for file in folder.glob(f"{PREFIX}*.kernelscope")]
        for name in names:
            found = [content.get(name) for content in found]
        return found[0] if found else None

    window.context.importing.open(picture)
    qtbot.waitUntil(lambda: kept("filter") == "mean2d")
    session, probe = window.controller.session, window.parts.probe
    session.set_param("window", 11)
    qtbot.waitUntil(lambda: kept("params", "window") == 11)
    session.set_steps(({"step": "invert"},))
    qtbot.waitUntil(lambda: kept("steps") == [{"step": "invert"}])
    window.stack.compare("swipe")
    qtbot.waitUntil(lambda: kept("view", "compare", "mode") == "swipe")
    window.panes.second.setCurrentIndex(0)
    window.panes.second.activated.emit(0)  # as a person chooses
    qtbot.waitUntil(lambda: kept("view", "compare", "second") == window.panes.second.currentData())
    probe.set_tool("profile")
    qtbot.waitUntil(lambda: kept("view", "tool") == "profile")
    window.stack.display.set_colormap("viridis")
    qtbot.waitUntil(lambda: kept("view", "colour_map") == "viridis")
    assert len(files(folder)) == 2  # with its lock
    session.set_param("window", 13)
    window.close()  # before that is kept
    qtbot.wait(20)
    assert not files(folder)


def test_the_next_start_offers_what_a_crash_left(
    qtbot: QtBot, picture: str, folder: Path, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_link, "KEPT_MS", 0)
    crashed(folder, picture)
    window = make(qtbot, engine, settings(folder))
    script_of(window, []).start()
    session = window.controller.session
    assert session.input.name == "camera"  # not at once: what was open may be what crashed
    (message,) = [m for m in window.messages.messages() if m.choices]
    assert "ended without being closed" in message.text and "holiday.png" in message.text
    message.choices["Open this session"]()
    assert session.input.name == "holiday.png" and session.params["window"] == 11 and not window.context.sessions.path
    qtbot.waitUntil(lambda: not Unfinished(folder).left())  # this window's own file has it now
    assert len(files(folder)) == 2
    window.close()
    qtbot.wait(20)
    assert not files(folder)


def test_one_that_is_opened_and_closed_at_once_is_the_last_session(
    qtbot: QtBot, picture: str, folder: Path, engine: FakeEngine
) -> None:
    crashed(folder, picture)
    window = make(qtbot, engine, settings(folder))
    script_of(window, []).start()
    (message,) = [m for m in window.messages.messages() if m.choices]
    message.choices["Open this session"]()
    assert len(Unfinished(folder).left()) == 1  # until this window keeps it
    window.close()
    assert not files(folder) and "holiday.png" in (folder / "last.kernelscope").read_text()


def test_a_start_with_a_file_offers_it_as_well_and_it_can_be_deleted(
    qtbot: QtBot, picture: str, folder: Path, engine: FakeEngine
) -> None:
    crashed(folder, picture)
    window: MainWindow = make(qtbot, engine, settings(folder))
    script_of(window, ["--sample", "ecg"]).start()
    assert window.controller.session.input.name == "ecg"
    (message,) = [m for m in window.messages.messages() if m.choices]
    message.choices["Delete it"]()
    assert Unfinished(folder).left() == []


def test_a_clean_start_asks_nothing(qtbot: QtBot, picture: str, folder: Path, engine: FakeEngine) -> None:
    first = make(qtbot, engine, settings(folder))
    first.context.importing.open(picture)
    first.close()
    second = make(qtbot, Engine(), settings(folder))
    script_of(second, []).start()
    assert second.controller.session.input.name == "holiday.png"
    assert not [m for m in second.messages.messages() if m.choices]


def test_a_damaged_one_is_named_and_goes(qtbot: QtBot, folder: Path, engine: FakeEngine) -> None:
    crash(folder, "{")
    window = make(qtbot, engine, settings(folder))
    script_of(window, []).start()
    assert "damaged" in said(window)[-1] and window.controller.session.input.name == "camera"
    assert Unfinished(folder).left() == []
