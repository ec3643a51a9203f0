"""The window without a screen: Qt paints into memory."""

from __future__ import annotations

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import PySide6.QtWidgets  # noqa: E402, F401, I001 - before pyqtgraph, which takes the binding it finds
import pyqtgraph as pg  # noqa: E402

pg.setConfigOptions(imageAxisOrder="row-major")
