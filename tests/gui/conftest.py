"""The window without a screen: Qt paints into memory."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import PySide6.QtWidgets  # noqa: E402, F401, I001 - before pyqtgraph, which takes the binding it finds
import pyqtgraph as pg  # noqa: E402
import short_series  # noqa: E402

pg.setConfigOptions(imageAxisOrder="row-major")


@pytest.fixture(autouse=True, scope="module")
def short_engines() -> Iterator[None]:
    """Engines of windows end their series of samples soon."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gpu_ops.engine.child._serve", short_series.serve)
        yield
