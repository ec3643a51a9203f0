"""The window without a screen: Qt paints into memory."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import PySide6.QtWidgets  # noqa: E402, F401, I001 - before pyqtgraph, which takes the binding it finds
import pyqtgraph as pg  # noqa: E402
import short_series  # noqa: E402
from fake_engine import make  # noqa: E402
from PySide6.QtWidgets import QApplication  # noqa: E402
from pytestqt.qtbot import QtBot  # noqa: E402

from app.garbage import collect, collected_here  # noqa: E402
from app.views.window.main_window import MainWindow  # noqa: E402

pg.setConfigOptions(imageAxisOrder="row-major")


PATIENCE_MS = 60_000
"""How long a state that stays, or a signal, may take to come on a machine that does other work."""
ROUNDS = 5
"""Turns of Qt's loop after which what a change of size or content leads to has come, however long each turn takes."""


class PatientBot(QtBot):
    """Waits as long as a loaded machine needs. A test that waits some milliseconds gets what they lead to: timers that
    are due, and events that wait."""

    def waitUntil(self, callback: Callable[[], bool | None], *, timeout: int = 0) -> None:  # noqa: N802
        super().waitUntil(callback, timeout=max(timeout, PATIENCE_MS))

    def waitSignal(self, signal: Any, *, timeout: int = 0, **how: Any) -> Any:  # noqa: N802
        return super().waitSignal(signal, timeout=max(timeout, PATIENCE_MS), **how)

    def waitExposed(self, widget: Any, *, timeout: int = 0) -> Any:  # noqa: N802
        return super().waitExposed(widget, timeout=max(timeout, PATIENCE_MS))

    def wait(self, ms: int) -> None:
        super().wait(ms)
        for _ in range(ROUNDS):
            QApplication.processEvents()


@pytest.fixture
def qtbot(qapp: object, request: pytest.FixtureRequest) -> QtBot:
    """In the place of pytest-qt's own."""
    return PatientBot(request)


@pytest.fixture(autouse=True, scope="module")
def short_engines() -> Iterator[None]:
    """Engines of windows end their series of samples soon."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gpu_ops.engine.child._serve", short_series.serve)
        yield


@pytest.fixture(autouse=True, scope="package")
def no_garbage_in_threads(qapp: object) -> Iterator[None]:
    """As in the program, what is left of windows ends in the thread of the tests: a thread of a pool, also of a test of
    another folder, would leave Qt with timers of objects that are gone."""
    with collected_here():
        yield
        gc.collect()


@pytest.fixture(autouse=True)
def garbage_between_tests() -> Iterator[None]:
    """Few tests run Qt's loop long enough to collect."""
    yield
    collect()


@pytest.fixture
def window(qtbot, engine) -> Iterator[MainWindow]:  # type: ignore[no-untyped-def]
    """A window over the simulated engine that the test's module gives."""
    window = make(qtbot, engine)
    yield window
    engine.end()
    window.controller.cancel()
