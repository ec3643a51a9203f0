"""Draws a figure of a source without a screen, for the command line."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gpu_ops import window_fault
from gpu_ops.errors import DeviceError

if TYPE_CHECKING:
    from gpu_ops import DrawnFigure

WIDTH = 64
"""Of the picture, in letter heights."""
PASSES = 4
"""Each part may ask for another height once it knows its width."""


def draw(drawn: DrawnFigure, path: str) -> None:
    """Write the picture of a figure, an SVG where the name ends so and else a PNG. Raises DeviceError where the window
    lacks something, InputError where the file cannot be written."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    fault = window_fault()
    if fault:
        raise DeviceError(fault)
    from PySide6.QtCore import Qt
    from PySide6.QtWidgets import QApplication

    from app.base import theme
    from app.shell.faults import quieten_qt
    from app.views.timing.figures_page import FigureSheet

    quieten_qt()
    app = QApplication.instance() or QApplication(["kernelscope"])
    assert isinstance(app, QApplication)
    theme.apply(app, Qt.ColorScheme.Light)
    sheet = FigureSheet()
    sheet.resize(WIDTH * sheet.fontMetrics().height(), 1)
    sheet.show()
    sheet.show_figure(drawn)
    for _ in range(PASSES):
        sheet.resize(sheet.width(), max(sheet.heightForWidth(sheet.width()), sheet.sizeHint().height()))
        app.processEvents()
    sheet.export(path)
    sheet.close()
