"""Folders and several files at once: opened one after the other, in the order in which people count."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine, act
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.models.files.folder import files_in, natural
from gpu_ops import KernelscopeError, load, save
from gpu_ops.engine.messages import Failed, Finished, LoadRequest, Surveyed, SurveyRequest
from gpu_ops.io import survey


class Telling(FakeEngine):
    """Says why a file cannot be loaded, as the engine does."""

    def submit(self, request: Any) -> None:
        if isinstance(request, SurveyRequest):
            self.answered.emit(Surveyed(request.job, survey(request.path)))
            self.answered.emit(Finished(request.job))
            return
        try:
            if isinstance(request, LoadRequest):
                load(request.path, **request.options)
        except KernelscopeError as error:
            self.asked.append(request)
            self.answered.emit(Failed(request.job, str(error)))
        else:
            super().submit(request)


@pytest.fixture
def engine() -> FakeEngine:
    return Telling()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three images, and what is no file of a known type."""
    folder = tmp_path / "frames"
    folder.mkdir()
    for number in (10, 2, 1):
        save(folder / f"f{number}.png", np.full((6, 7), number, np.uint8))
    (folder / "notes.md").write_text("nothing to open")
    (folder / ".hidden.png").write_bytes(b"")
    (folder / "below.png").mkdir()
    return folder


def said(window) -> list[str]:
    return [m.text for m in window.messages.messages()]


def answer(qtbot, window, text: str) -> None:
    """Press the button of a message."""
    button = next(b for row in window.messages.rows for b in row.choice_buttons if b.text() == text)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def title(window) -> str:
    return window.windowTitle().partition(" – ")[0]


def test_files_are_listed_as_people_count(folder: Path) -> None:
    found = files_in(str(folder))
    assert [Path(p).name for p in found.paths] == ["f1.png", "f2.png", "f10.png"] and found.images == 3
    names = ["b", "a10", "A2", "a", "10", "9", "2a", "a2b"]
    assert sorted(names, key=natural) == ["2a", "9", "10", "a", "A2", "a2b", "a10", "b"]
    nothing = files_in(str(folder / "nothing"))
    assert nothing.reason.startswith(f"{folder}/nothing cannot be read") and nothing[:2] == ((), 0)


def test_a_dropped_folder_asks_and_opens_its_files_one_by_one(qtbot, window, folder: Path) -> None:
    window.files.drop([str(folder)])
    assert window.controller.session.input is None
    assert said(window) == ["frames holds 3 files. Open its images as one stack, or its files one by one?"]
    answer(qtbot, window, "One by one")
    assert title(window) == "f1.png (1 of 3)"
    with qtbot.waitActive(window):
        window.activateWindow()
    window.stack.setFocus()
    for key, expected in ((Qt.Key.Key_PageDown, "f2.png (2 of 3)"), (Qt.Key.Key_PageDown, "f10.png (3 of 3)")):
        qtbot.keyClick(QApplication.focusWidget(), key)
        assert title(window) == expected
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_PageUp)
    assert title(window) == "f2.png (2 of 3)"


def test_a_dropped_folder_opens_as_one_stack(qtbot, window, engine, folder: Path) -> None:
    window.files.drop([str(folder)])
    answer(qtbot, window, "As one stack")
    assert [r.path for r in engine.asked if isinstance(r, LoadRequest)] == [str(folder)]


def test_a_folder_of_signals_and_an_empty_one_ask_nothing(window, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text("1\n2\n3\n")
    window.files.drop([str(tmp_path)])
    assert title(window) == "a.txt (1 of 2)" and "2 files" in said(window)[-1]
    empty = tmp_path / "empty"
    empty.mkdir()
    window.files.open_path(str(empty))
    assert "empty holds no file that can be opened; the types are .png" in said(window)[-1]
    assert title(window) == "a.txt (1 of 2)"


def test_the_open_dialog_picks_several_files(window, folder: Path) -> None:
    paths = [str(folder / f"f{n}.png") for n in (1, 2)]
    window.files.chooser = lambda *_: paths
    act(window, "open")
    assert said(window) == ["You opened 2 files. This is the first; Page Down opens the next."]
    act(window, "next_file")
    assert title(window) == "f2.png (2 of 2)" and said(window) == ["File 2 of 2: f2.png."]


def test_the_list_and_the_filter_survive_a_file_that_cannot_be_opened(qtbot, window, engine, folder: Path) -> None:
    (folder / "f2.png").write_bytes(b"no image")
    paths = [str(folder / f"f{n}.png") for n in (1, 2, 10)]
    window.files.drop(paths)
    window.controller.session.set_filter("conv3x3")
    act(window, "next_file")
    qtbot.waitUntil(lambda: title(window) == "f10.png (2 of 2)")
    assert any("f2.png" in text and "removed from the list" in text for text in said(window))
    assert window.controller.session.filter.id == "conv3x3"
    act(window, "previous_file")
    assert title(window) == "f1.png (1 of 2)"


def test_a_folder_among_files_stands_for_its_files(window, folder: Path, tmp_path: Path) -> None:
    save(tmp_path / "first.png", np.zeros((3, 4), np.uint8))
    window.files.drop([str(tmp_path / "first.png"), str(folder)])
    assert [Path(p).name for p in window.files.list.paths] == ["first.png", "f1.png", "f2.png", "f10.png"]
    window.files.open_path(str(folder / "f10.png"))
    assert title(window) == "f10.png (4 of 4)", "a file of the list keeps the list"
