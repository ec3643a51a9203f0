"""The window without a screen: Qt paints into memory."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import PySide6.QtWidgets  # noqa: E402, F401, I001 - before pyqtgraph, which takes the binding it finds
import pyqtgraph as pg  # noqa: E402
import short_series  # noqa: E402
from fake_engine import make  # noqa: E402

from app.views.window.main_window import MainWindow  # noqa: E402

pg.setConfigOptions(imageAxisOrder="row-major")


@pytest.fixture(autouse=True, scope="module")
def short_engines() -> Iterator[None]:
    """Engines of windows end their series of samples soon."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gpu_ops.engine.child._serve", short_series.serve)
        yield


@pytest.fixture
def window(qtbot, engine) -> Iterator[MainWindow]:  # type: ignore[no-untyped-def]
    """A window over the simulated engine that the test's module gives."""
    window = make(qtbot, engine)
    yield window
    engine.end()
    window.controller.cancel()
