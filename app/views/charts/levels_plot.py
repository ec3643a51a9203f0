"""The coefficients of a signal's pyramid in rows, one row for each band, each as wide as the signal."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QCoreApplication, QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPalette, QPen

from app.models.results.view_data import Array, ViewData
from app.views.charts.frame import Frame
from app.views.charts.plot_area import Plot
from app.views.parts import number
from app.views.results.reading import band_name, reading_text, values_text
from gpu_ops.output_kinds import Axis, Band

translate = QCoreApplication.translate
ROOM = 0.42
"""The height of a row's largest coefficient, as a share of the row's."""


class LevelsPlot(Plot):
    """Coarse bands above, fine ones below; each row is scaled to its own largest coefficient. Coefficient k of n is at
    the share k / n of the signal's length, which is twice the number of finest details."""

    aspect = 0.9

    def axis(self, drawn: ViewData) -> Axis:
        return Axis("sample")

    def extent(self, drawn: ViewData) -> tuple[float, float, float]:
        return 0.0, 2.0 * max((band.shape[0] for band in drawn.form.bands), default=1), 2.0

    def _bands(self, drawn: ViewData) -> list[Band]:
        return sorted(drawn.form.bands, key=lambda band: (-band.level, band.start))

    def rows(self, drawn: ViewData) -> list[str]:
        return [band_name(band) for band in self._bands(drawn)]

    def paint(self, painter: QPainter, frame: Frame, drawn: ViewData, scale: str) -> None:
        bands, whole = self._bands(drawn), self.extent(drawn)[1]
        tall = frame.box.height() / max(1, len(bands))
        for row, band in enumerate(bands):
            middle = frame.box.top() + (row + 0.5) * tall
            values = _first_channel(drawn.array[band.part])
            largest = float(np.abs(values).max(initial=0.0, where=np.isfinite(values)))
            painter.setPen(QPen(frame.colours.grid, 1))
            painter.drawLine(QPointF(frame.box.left(), middle), QPointF(frame.box.right(), middle))
            series = frame.colours.series[(band.orientation != "approximation") * 2]
            painter.setPen(QPen(series.colour, 1))
            self._draw(painter, frame, values / (largest or 1.0) * ROOM * tall, middle, whole)
            painter.setPen(frame.palette.color(QPalette.ColorRole.PlaceholderText))
            word = translate("Bands", "± {value}").format(value=number(float(f"{largest:.4g}")))
            if frame.letters.height() * 2.2 < tall:
                wide = frame.letters.horizontalAdvance(word)
                place = QPointF(frame.box.right() - wide, middle - 0.5 * tall + frame.letters.height())
                ground = QColor(frame.palette.color(QPalette.ColorRole.Base))
                ground.setAlpha(200)
                high = frame.letters.height()
                painter.fillRect(QRectF(place.x() - 3, place.y() - 0.8 * high, wide + 6, high), ground)
                painter.drawText(place, word)

    def _draw(self, painter: QPainter, frame: Frame, heights: Array, middle: float, whole: float) -> None:
        """A line from the lowest to the highest value in each column of pixels, or one line per coefficient."""
        count = len(heights)
        step = whole / max(1, count)
        first, last = max(0, int(frame.across[0] / step)), min(count, math.ceil(frame.across[1] / step))
        cut = np.nan_to_num(heights[first:last])
        columns = max(1, int(frame.box.width()))
        if len(cut) > columns:
            starts = np.linspace(0, len(cut), columns, endpoint=False).astype(int)
            high: Array = np.maximum(np.maximum.reduceat(cut, starts), 0)
            low: Array = np.minimum(np.minimum.reduceat(cut, starts), 0)
            places: Array = (first + starts + 0.5) * step
        else:
            high, low, places = np.maximum(cut, 0), np.minimum(cut, 0), (np.arange(first, last) + 0.5) * step
        for place, top, bottom in zip(places.tolist(), high.tolist(), low.tolist(), strict=True):
            x = frame.x(place)
            painter.drawLine(QPointF(x, middle - top), QPointF(x, middle - bottom))

    def _at(self, drawn: ViewData, place: float, row: float) -> tuple[Band, int] | None:
        bands = self._bands(drawn)
        if not 0 <= int(row) < len(bands):
            return None
        band = bands[int(row)]
        index = math.floor(place / self.extent(drawn)[1] * band.shape[0])
        return (band, index) if 0 <= index < band.shape[0] else None

    def spot(self, drawn: ViewData, place: float, row: float) -> tuple[float, float] | None:
        spot = self._at(drawn, place, row)
        if spot is None:
            return None
        step = self.extent(drawn)[1] / spot[0].shape[0]
        return spot[1] * step, (spot[1] + 1) * step

    def text(self, drawn: ViewData, place: float, row: float) -> str:
        spot = self._at(drawn, place, row)
        if spot is None:
            return ""
        band, index = spot
        where = translate("Bands", "{band}, coefficient {index}, near sample {sample}")
        middle = int((index + 0.5) * self.extent(drawn)[1] / band.shape[0])
        where = where.format(band=band_name(band), index=number(index), sample=number(middle))
        return reading_text(where, values_text(drawn.values[band.part][index], drawn.unit))


def _first_channel(values: Array) -> Array:
    """The first of several channels; the plot draws it, and the cursor reads all of them."""
    return values if values.ndim == 1 else values[:, 0]
