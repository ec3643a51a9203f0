"""Marks at the bottom of a plot, or of a lane, where curves have NaN or infinite samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QColor, QPalette, QPen

from app.base.theme import SHAPE_CONTRAST, readable
from app.base.tips import set_tip
from app.models.curves.curve import Curve
from app.models.curves.lanes import Array, Lanes
from app.models.pictures.nonfinite import NAN_COLOR
from app.views.curves.x_scale import XScale

HIGH = 0.035
"""The height of a mark, as a share of the plot's or the lane's."""
LEAST = 4
"""Its minimum height in pixels, in a lane that is tall enough."""
WIDE = 3
"""Its width in pixels."""


class GapMarks:
    """Marks for gaps: a gap in a curve of millions of samples is narrower than a pixel."""

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
        size: tuple[int, float],
        lanes: Lanes,
    ) -> None:
        """Mark the NaN and infinite samples of curves in a range of x, on a plot of `size` in pixels whose y is within
        `limits`: at its bottom, or at that of the curve's lane."""
        (low, high), (width, tall) = limits, size
        start, stop = (scale.coordinate(end) for end in range)
        found: dict[float, list[Array]] = {}
        for curve in curves:
            bottom = lanes.bottom(curve.channel) if curve.channel in lanes.order else low
            found.setdefault(bottom, []).append(scale.coordinates(curve.gaps(*range)))
        height = HIGH * (high - low)
        if lanes:
            height = min(1.0, max(HIGH, LEAST * (high - low) / max(tall, 1.0)))
        marks = [(bottom, _apart(np.concatenate(places), start, stop, width)) for bottom, places in found.items()]
        x = np.concatenate([places for _, places in marks]) if marks else np.empty(0)
        y = np.concatenate([np.tile((b, b + height), len(places)) for b, places in marks]) if marks else np.empty(0)
        palette = self._plot.palette()
        ground = palette.color(QPalette.ColorRole.Base)
        pen = QPen(readable(QColor(*NAN_COLOR), (ground,), SHAPE_CONTRAST), WIDE)
        pen.setCosmetic(True)
        self._item.setData(np.repeat(x, 2), y, pen=pen, connect="pairs")
        tip = QCoreApplication.translate("GapMarks", "A mark at the bottom: samples there are NaN or infinite.")
        if lanes:
            tip = QCoreApplication.translate(
                "GapMarks", "A mark at the bottom of a lane: samples of its channel there are NaN or infinite."
            )
        set_tip(self._plot, tip if x.size else "")

    @property
    def places(self) -> np.ndarray:
        """The positions of the marks, in the plot's x."""
        x = self._item.getData()[0]
        return np.empty(0) if x is None else x[::2]


def _apart(x: Array, start: float, stop: float, width: int) -> Array:
    """One position for each of `width` columns that has any gap."""
    if x.size < 2 or stop <= start:
        return x
    columns = np.floor((x - start) * (width / (stop - start)))
    return np.asarray(x[np.unique(columns, return_index=True)[1]])
