"""The window without a screen: Qt paints into memory."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import PySide6.QtWidgets  # noqa: E402, F401, I001 - before pyqtgraph, which takes the binding it finds
import pyqtgraph as pg  # noqa: E402
import short_series  # noqa: E402
from fake_engine import make  # noqa: E402
from live import pause  # noqa: E402
from PySide6.QtCore import Qt  # noqa: E402
from PySide6.QtWidgets import QApplication  # noqa: E402
from pytestqt.qtbot import QtBot  # noqa: E402

from app.base import theme
from app.shell.window import collect, collected_here  # noqa: E402
from app.views.window.main_window import MainWindow  # noqa: E402
from gpu_ops import save  # noqa: E402

pg.setConfigOptions(imageAxisOrder="row-major")


PATIENCE_MS = 60_000
"""How long a state that stays, or a signal, may take to come on a machine that does other work."""
QUIET_MS = 20
"""The pause after the last change, which each settled state of a window waits for: no test needs a longer one."""


class PatientBot(QtBot):
    """Waits as long as a loaded machine needs, where a test says no time. One that waits some milliseconds gets what
    they lead to: timers that are due, and events that wait."""

    def waitUntil(self, callback: Callable[[], bool | None], *, timeout: int = PATIENCE_MS) -> None:  # noqa: N802
        super().waitUntil(callback, timeout=timeout)

    def waitSignal(self, signal: Any, *, timeout: int = PATIENCE_MS, **how: Any) -> Any:  # noqa: N802
        return super().waitSignal(signal, timeout=timeout, **how)

    def waitExposed(self, widget: Any, *, timeout: int = PATIENCE_MS) -> Any:  # noqa: N802
        return super().waitExposed(widget, timeout=timeout)

    def wait(self, ms: int) -> None:
        pause(ms)


@pytest.fixture
def qtbot(qapp: object, request: pytest.FixtureRequest) -> QtBot:
    """In the place of pytest-qt's own."""
    return PatientBot(request)


@pytest.fixture(autouse=True, scope="module")
def short_engines() -> Iterator[None]:
    """Engines of windows end their series of samples soon, and pictures are timed soon after the last change."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.controllers.queue.QUIET_MS", QUIET_MS)
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


@pytest.fixture
def plain_look(qapp: QApplication) -> Iterator[None]:
    """The window may look another way until the test ends."""
    yield
    theme.apply(qapp, Qt.ColorScheme.Light)


@pytest.fixture
def picture(tmp_path: Path) -> str:
    """The file of a picture of 40 x 50 pixels."""
    path = tmp_path / "holiday.png"
    save(path, np.random.default_rng(1).integers(0, 255, (40, 50), np.uint8))
    return str(path)
