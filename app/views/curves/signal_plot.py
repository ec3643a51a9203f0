"""Creates the plot of a signal pane, names its axes and colours it."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

import pyqtgraph as pg
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QPalette, QPen
from PySide6.QtWidgets import QWidget

from app.models.ticks import PREFIXED
from app.views.results.reading import name_of
from gpu_ops.output_kinds import Axis


def calm_plot(parent: QWidget) -> pg.PlotWidget:
    """A plot with grid lines at the labels only; range, mouse and keys are left to its owner."""
    translate, plot = QCoreApplication.translate, pg.PlotWidget(parent)
    plot.setObjectName("signalPlot")
    plot.setAccessibleName(translate("SignalPane", "Curves"))
    plot.setAccessibleDescription(
        translate(
            "SignalPane",
            "Plus and minus zoom, 0 fits, 1 shows sample by sample, arrows pan, Shift+arrows move the cursor",
        )
    )
    plot.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    item, gap = plot.getPlotItem(), parent.fontMetrics().averageCharWidth()
    item.setMenuEnabled(False)
    item.hideButtons()
    item.layout.setContentsMargins(gap, gap, 2 * gap, 0)
    item.showGrid(x=True, y=True, alpha=0.2)
    for side in ("left", "bottom"):
        item.getAxis(side).enableAutoSIPrefix(side == "bottom")
        item.getAxis(side).setStyle(maxTickLevel=0)  # lines at the labels only: clearer, and three times as fast
    box = item.getViewBox()
    box.setMouseEnabled(x=False, y=False)  # the pane handles wheel, drag and keys as an image's does
    box.disableAutoRange()
    box.setDefaultPadding(0)
    return plot


def label(item: pg.PlotItem, across: Axis, unit: str, log: bool) -> None:
    """Name the axes of a plot: what lies across, and the unit of the values."""
    name, bottom, left = name_of(across), item.getAxis("bottom"), item.getAxis("left")
    prefixed = across.unit in PREFIXED and not log
    # Turning prefixes off is not enough: pyqtgraph then keeps the factor of the last range that had one.
    ranges = None if prefixed else ((0.0, 0.0),)
    # pyqtgraph takes both for HTML, and units are what the heading of a table says.
    title, across_unit = escape(name[:1].upper() + name[1:], quote=False), escape(across.unit, quote=False) or None
    bottom.setLabel(title, units=across_unit, siPrefixEnableRanges=ranges)
    bottom.enableAutoSIPrefix(prefixed)
    left.setLabel(escape(unit, quote=False))
    left.showLabel(bool(unit))


def recolour(plot: pg.PlotWidget, lines: Iterable[tuple[pg.InfiniteLine, int]], palette: QPalette) -> None:
    """Give a plot and its vertical lines, each with its width, the colours of a palette."""
    plot.setBackground(palette.color(QPalette.ColorRole.Base))
    text = palette.color(QPalette.ColorRole.Text)
    for side in ("left", "bottom"):
        axis = plot.getPlotItem().getAxis(side)
        axis.setPen(text)
        axis.setTextPen(text)
    for line, width in lines:
        line_pen = QPen(palette.color(QPalette.ColorRole.Highlight), width)
        line_pen.setCosmetic(True)
        line.setPen(line_pen)
