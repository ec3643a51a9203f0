"""Marks at the bottom of a plot where curves have samples that are no finite numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QColor, QPalette, QPen

from app.models.curve import Curve
from app.models.nonfinite import NAN_COLOR
from app.theme import SHAPE_CONTRAST, readable
from app.views.results.x_scale import XScale

HIGH = 0.035
"""The height of a mark, as a share of the plot's."""
WIDE = 3
"""Its width in pixels."""


class GapMarks:
    """A gap in a curve of millions of samples is narrower than a pixel; its mark is not."""

    def __init__(self, plot: pg.PlotWidget) -> None:
        self._plot, self._item = plot, pg.PlotCurveItem()
        self._item.setZValue(2)
        plot.getPlotItem().addItem(self._item, ignoreBounds=True)

    def draw(
        self,
        curves: Sequence[Curve],
        range: tuple[float, float],
        scale: XScale,
        limits: tuple[float, float],
        width: int,
    ) -> None:
        """Mark the samples of curves in a range of x that are no finite numbers, on a plot whose y is within `limits`;
        `width` is its width in pixels."""
        places = [scale.coordinates(curve.gaps(*range)) for curve in curves]
        x = np.concatenate(places) if places else np.empty(0)
        start, stop = (scale.coordinate(end) for end in range)
        if x.size > 1 and stop > start:  # one mark a pixel is enough
            columns = np.floor((x - start) * (width / (stop - start)))
            x = x[np.unique(columns, return_index=True)[1]]
        low, high = limits
        y = np.tile((low, low + HIGH * (high - low)), len(x))
        palette = self._plot.palette()
        ground = palette.color(QPalette.ColorRole.Base)
        pen = QPen(readable(QColor(*NAN_COLOR), (ground,), SHAPE_CONTRAST), WIDE)
        pen.setCosmetic(True)
        self._item.setData(np.repeat(x, 2), y, pen=pen, connect="pairs")
        told = QCoreApplication.translate("GapMarks", "A mark at the bottom: samples there are NaN or infinite.")
        self._plot.setToolTip(told if x.size else "")

    @property
    def places(self) -> np.ndarray:
        """Where the marks are, in the plot's own x."""
        x = self._item.getData()[0]
        return np.empty(0) if x is None else x[::2]
