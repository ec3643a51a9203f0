"""The plot of a signal pane before anything is in it."""

from __future__ import annotations

import pyqtgraph as pg
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QWidget


def calm_plot(parent: QWidget) -> pg.PlotWidget:
    """A plot that leaves range, mouse and keys to its owner, with grid lines at the labels only."""
    translate, plot = QCoreApplication.translate, pg.PlotWidget(parent)
    plot.setObjectName("signalPlot")
    plot.setAccessibleName(translate("SignalPane", "Curves"))
    plot.setAccessibleDescription(
        translate(
            "SignalPane",
            "Plus and minus zoom, 0 fits, 1 shows sample by sample, arrows pan, Shift and arrows move the cursor",
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
        item.getAxis(side).setStyle(maxTickLevel=0)  # lines at the labels only: calmer, and thrice as fast
    box = item.getViewBox()
    box.setMouseEnabled(x=False, y=False)  # wheel, drag and keys are handled by the pane, like those of images
    box.disableAutoRange()
    box.setDefaultPadding(0)
    return plot
