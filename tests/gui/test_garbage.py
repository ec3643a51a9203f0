"""Objects of Qt end in the thread of the window."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject

from app.shell import window as garbage


class Turning(QObject):
    """It has a timer that runs, and refers to itself."""

    def __init__(self) -> None:
        super().__init__()
        self.me = self
        self.startTimer(10_000)


@pytest.fixture
def deaths() -> Iterator[list[threading.Thread]]:
    """The threads in which one object of Qt, which nobody has any more, has ended."""
    gc.collect()
    threads: list[threading.Thread] = []
    weakref.finalize(Turning(), lambda: threads.append(threading.current_thread()))
    yield threads
    gc.collect()


def _made_elsewhere() -> list[list[int]]:
    """Objects of another thread, enough for Python to collect there."""
    kept: list[list[int]] = []
    thread = threading.Thread(target=lambda: kept.extend([] for _ in range(200_000)))
    thread.start()
    thread.join()
    return kept


def test_what_nobody_has_ends_in_the_loop_of_this_thread(qtbot, monkeypatch, deaths: list[threading.Thread]) -> None:
    monkeypatch.setattr(garbage, "INTERVAL_MS", 1)
    with garbage.collected_here():
        made = _made_elsewhere()
        assert deaths == [] and made
        qtbot.waitUntil(lambda: deaths == [threading.main_thread()])


def test_python_itself_collects_again_afterwards() -> None:
    before = gc.isenabled()
    try:
        gc.enable()
        with garbage.collected_here():
            assert not gc.isenabled()
        assert gc.isenabled()
    finally:
        if not before:
            gc.disable()


def test_generations_are_collected_as_python_would(monkeypatch: pytest.MonkeyPatch) -> None:
    collected: list[int] = []
    monkeypatch.setattr(gc, "collect", collected.append)
    monkeypatch.setattr(gc, "get_threshold", lambda: (700, 10, 10))
    for count in ((0, 11, 11), (701, 0, 11), (701, 11, 0), (701, 11, 11)):
        monkeypatch.setattr(gc, "get_count", lambda count=count: count)
        garbage.collect()
    assert collected == [0, 1, 2]
    monkeypatch.setattr(gc, "get_threshold", lambda: (0, 10, 10))  # somebody has switched collection off
    garbage.collect()
    assert collected == [0, 1, 2]
