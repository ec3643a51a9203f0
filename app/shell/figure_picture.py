"""Draws a source's figure, or timelines, without a screen, for the command line."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from gpu_ops import window_fault
from gpu_ops.errors import DeviceError
from gpu_ops.explaining.spans import Timeline
from gpu_ops.explaining.transfers.sweep import TransferSweep

if TYPE_CHECKING:
    from app.views.timeline.grid_sheet import GridSheet
    from app.views.timeline.sheet import TimelineSheet
    from app.views.timing.figures_page import FigureSheet
    from gpu_ops import DrawnFigure

WIDTH = 64
"""Width of the picture in letter heights."""
PASSES = 4
"""Layout passes: parts may need another height once their width is known."""


def draw(drawn: DrawnFigure | tuple[Timeline, ...] | tuple[TransferSweep, str] | str, path: str) -> None:
    """Write the picture of a figure, of timelines of one filter, or of a part of a sweep over streams and chunks: an
    SVG where the name ends so, else a PNG; or HTML as a PDF. Raises DeviceError where the window lacks something,
    InputError where the file cannot be written."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    fault = window_fault()
    if fault:
        raise DeviceError(fault)
    from PySide6.QtCore import Qt
    from PySide6.QtWidgets import QApplication

    from app.base import theme
    from app.shell.faults import quieten_qt

    quieten_qt()
    app = QApplication.instance() or QApplication(["kernelscope"])
    assert isinstance(app, QApplication)
    theme.apply(app, Qt.ColorScheme.Light)
    if isinstance(drawn, str):
        from app.views.picture_pdf import write_pdf

        write_pdf(drawn, path)
        return
    sheet = _sheet(drawn)
    sheet.resize(WIDTH * sheet.fontMetrics().height(), 1)
    sheet.show()
    for _ in range(PASSES):
        sheet.resize(sheet.width(), max(sheet.heightForWidth(sheet.width()), sheet.sizeHint().height()))
        app.processEvents()
    sheet.export(path)
    sheet.close()


def _sheet(drawn: Any) -> FigureSheet | TimelineSheet | GridSheet:
    if not isinstance(drawn, tuple):
        return _figure(drawn)
    return _grid(*drawn) if isinstance(drawn[0], TransferSweep) else _timelines(drawn)


def _grid(sweep: TransferSweep, part: str) -> GridSheet:
    from app.views.timeline.grid_sheet import GridSheet

    sheet = GridSheet()
    sheet.show_sweep(sweep, part)
    return sheet


def _figure(drawn: DrawnFigure) -> FigureSheet:
    from app.views.timing.figures_page import FigureSheet

    sheet = FigureSheet()
    sheet.show_figure(drawn)
    return sheet


def _timelines(found: tuple[Timeline, ...]) -> TimelineSheet:
    from app.controllers.timeline import Timelines
    from app.views.timeline.sheet import TimelineSheet
    from gpu_ops import FILTERS

    titles = {v.id: v.title for v in FILTERS.find(found[0].filter).variants}
    sheet = TimelineSheet()
    sheet.show_timelines(Timelines({one.variant: one for one in found}, {}, titles), "", True)
    return sheet
