"""The window without a screen: Qt paints into memory."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import PySide6.QtWidgets  # noqa: E402, F401, I001 - before pyqtgraph, which takes the binding it finds
import pyqtgraph as pg  # noqa: E402
import short_series  # noqa: E402
from fake_engine import make  # noqa: E402

from app.garbage import collect, collected_here  # noqa: E402
from app.views.window.main_window import MainWindow  # noqa: E402

pg.setConfigOptions(imageAxisOrder="row-major")


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
