"""The status line: what runs, how far it is, since when – and nothing that moves when that changes."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMainWindow, QWidget

from app.models.results.results import Results
from app.views.window import status_line
from app.views.window.status_line import StatusLine


@pytest.fixture
def line(qtbot, monkeypatch):
    monkeypatch.setattr(status_line, "PATIENCE_MS", 1)
    monkeypatch.setattr(status_line, "TICK_MS", 1)
    window = QMainWindow()
    window.resize(900, 200)
    qtbot.addWidget(window)
    made = StatusLine(window.statusBar(), Results(window), QAction("Cancel", window))
    window.show()
    qtbot.waitExposed(window)
    yield made


def _places(line: StatusLine) -> list[tuple[int, int]]:
    return [(w.x(), w.width()) for w in (line.busy, line.elapsed, line.progress, line.button, line.state)]


def test_a_run_shows_its_text_part_and_seconds_and_nothing_moves(qtbot, line, monkeypatch) -> None:
    before = _places(line)
    clock = SimpleNamespace(start=lambda: None, isValid=lambda: True, elapsed=lambda: 999)
    monkeypatch.setattr(line, "_clock", clock)
    line.begin()
    line.show_busy("computing serial on cpu")
    qtbot.waitUntil(line.progress.isVisible)
    assert line.button.isVisible() and line.button.isEnabled()
    assert line.progress.maximum() == 0 and line.elapsed.text() == "", "less than a second has passed"
    line.show_progress(500, 4000)
    assert (line.progress.value(), line.progress.maximum(), line.progress.text()) == (500, 4000, "12%")
    clock.elapsed = lambda: 7999
    qtbot.waitUntil(lambda: line.elapsed.text() == "7 s")
    assert _places(line) == before
    line.show_busy("")
    assert not line.progress.isVisible() and not line.button.isVisible() and line.elapsed.text() == ""
    assert _places(line) == before


def test_frames_that_follow_one_another_are_one_job(qtbot, line) -> None:
    """Each change of Cancel would cost its tool buttons memory that Qt never gives back."""
    changes = []
    line._cancel.changed.connect(lambda: changes.append(line._cancel.isEnabled()))
    line._results.playing = True
    for text in ("reading live input", "running", "") * 3:
        line.show_busy(text)
        assert line.busy.text() == "showing frames"
    assert changes == [True] and not line._wait.isActive()
    line._results.playing = False
    line.show_busy("")
    assert changes == [True, False] and line.busy.text() == ""


def test_the_next_job_starts_at_nothing(qtbot, line) -> None:
    line.begin()
    line.show_busy("timing")
    line.show_progress(3, 4)
    line.begin()
    line.show_busy("computing")
    assert line.progress.maximum() == 0 and line.elapsed.text() == ""


def test_progress_does_not_paint_the_window_within_an_answer_of_the_engine(qtbot, line) -> None:
    """QProgressBar.setValue repaints at once, and with it everything in the window that waits for a paint."""
    line.begin()
    line.show_busy("computing")
    qtbot.waitUntil(line.progress.isVisible)
    painted = []

    class Watched(QWidget):
        def paintEvent(self, event) -> None:  # noqa: N802
            painted.append(event)

    widget = Watched(line.progress.window())
    widget.setGeometry(0, 0, 50, 50)
    widget.show()
    qtbot.waitUntil(lambda: bool(painted))
    painted.clear()
    widget.update()
    line.show_progress(1, 2)
    assert not painted and line.progress.value() == 1
    qtbot.waitUntil(lambda: bool(painted))
