"""Bars over an axis: counts between edges, of one channel or several."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QCoreApplication, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from app.base.theme import Series
from app.models.results.view_data import Array, ViewData
from app.views.charts.frame import Frame
from app.views.charts.plot_area import Plot
from app.views.parts import number
from app.views.results.reading import channel_names, name_of, reading_text, values_text, with_unit
from gpu_ops.output_kinds import Axis

translate = QCoreApplication.translate
LOGARITHMIC = "logarithmic"
APART = 4
"""The smallest width in pixels at which bars have gaps between them."""
COLOURS = {"red": 3, "green": 2, "blue": 0, "alpha": 7}
"""The indices of channel colours among the theme's series."""
EMPTY = 0.8
"""The lowest value of a logarithmic axis of counts: a little below one."""


class BarsPlot(Plot):
    """Bars of counts. Where there are more bars than pixels, each pixel shows the tallest one."""

    def axis(self, drawn: ViewData) -> Axis:
        return drawn.form.axes[-1]

    def extent(self, drawn: ViewData) -> tuple[float, float, float]:
        axis = self.axis(drawn)
        return axis.at(0), axis.at(drawn.array.shape[-1]), axis.step

    def limits(self, drawn: ViewData, scale: str) -> tuple[float, float]:
        array = drawn.array[np.isfinite(drawn.array)]
        low, high = float(array.min(initial=0)), float(array.max(initial=0))
        if self.log(scale):
            least = float(array.min(initial=1.0, where=array > 0)) * EMPTY
            return math.log10(least), math.log10(max(high, 10 * least)) + 0.05
        return low, high + 0.05 * (high - low)

    def log(self, scale: str) -> bool:
        return scale == LOGARITHMIC

    def value_title(self, drawn: ViewData) -> str:
        return drawn.unit or translate("Bars", "count")

    def named(self, drawn: ViewData) -> bool:
        return len(channel_names(drawn)) > 1

    def paint(self, painter: QPainter, frame: Frame, drawn: ViewData, scale: str) -> None:
        counts, names = np.atleast_2d(drawn.array), channel_names(drawn)
        for values, series in zip(counts, _looks(frame, names), strict=True):
            fill = QColor(series.colour)
            if len(counts) > 1:
                fill.setAlpha(45)
            edges, heights = self._columns(frame, self.axis(drawn), values)
            self._fill(painter, frame, edges, heights, fill, apart=len(counts) == 1)
            if len(counts) > 1:
                self._outline(painter, frame, edges, heights, QPen(series.colour, 1.5, series.dash))
        if len(names) > 1:
            _name_channels(painter, frame, names)

    def _columns(self, frame: Frame, axis: Axis, values: Array) -> tuple[Array, Array]:
        """Edges (n + 1,) along x in pixels, and the heights (n,) between them, of the visible bars."""
        first = max(0, math.floor(axis.index(frame.across[0])))
        last = min(len(values), math.ceil(axis.index(frame.across[1])))
        cut = values[first:last].astype(np.float64)
        places = axis.start + axis.step * np.arange(first, last + 1)
        most = max(1, int(2 * frame.box.width()))
        if len(cut) > most:
            starts = np.linspace(0, len(cut), most, endpoint=False).astype(int)
            cut, places = np.maximum.reduceat(cut, starts), np.append(places[starts], places[-1])
        if frame.log:
            cut = np.log10(np.maximum(cut, 1e-300))
        edges = frame.box.left() + (places - frame.across[0]) / (frame.across[1] - frame.across[0]) * frame.box.width()
        return edges, np.clip(np.nan_to_num(cut), frame.upward[0], frame.upward[1])

    def _fill(self, painter: QPainter, frame: Frame, edges: Array, heights: Array, fill: QColor, apart: bool) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        ground = frame.y(0.0 if frame.upward[0] < 0 < frame.upward[1] and not frame.log else frame.upward[0])
        wide = len(heights) and (edges[-1] - edges[0]) / len(heights) >= APART
        if wide and apart:
            for left, right, height in zip(edges, edges[1:], heights, strict=False):
                top = frame.y(float(height))
                painter.drawRect(QRectF(QPointF(left + 0.5, top), QPointF(right - 0.5, ground)).normalized())
            return
        points = _steps(frame, edges, heights)
        if points:
            painter.drawPolygon(QPolygonF([QPointF(edges[0], ground), *points, QPointF(edges[-1], ground)]))

    def _outline(self, painter: QPainter, frame: Frame, edges: Array, heights: Array, pen: QPen) -> None:
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF(_steps(frame, edges, heights)))

    def _bin(self, drawn: ViewData, place: float) -> int | None:
        index = math.floor(self.axis(drawn).index(place))
        return index if 0 <= index < drawn.array.shape[-1] else None

    def spot(self, drawn: ViewData, place: float, row: float) -> tuple[float, float] | None:
        index, axis = self._bin(drawn, place), self.axis(drawn)
        return None if index is None else (axis.at(index), axis.at(index + 1))

    def text(self, drawn: ViewData, place: float, row: float) -> str:
        index, axis = self._bin(drawn, place), self.axis(drawn)
        if index is None:
            return ""
        if axis.labels:
            where = axis.labels[index]
        else:
            where = translate("Bars", "bin {index}, {name} {low} … {high}").format(
                index=number(index),
                name=name_of(axis),
                low=number(axis.at(index)),
                high=with_unit(number(axis.at(index + 1)), axis.unit),
            )
        rows, names = np.atleast_2d(drawn.values), channel_names(drawn)
        unit = drawn.unit if len(names) == 1 and drawn.read is None else ""
        texts = [_count_text(row, index, unit, drawn.read is not None) for row in rows]
        return reading_text(
            where, ", ".join(" ".join(t for t in (n, w) if t) for n, w in zip(names, texts, strict=True))
        )


def _count_text(row: Array, index: int, unit: str, summed: bool) -> str:
    """A count with its share of the total, and with the cumulative share where bars show sums."""
    text, total = values_text(row[index], unit), float(row.sum(dtype=np.float64))
    if not (total > 0 and np.isfinite(total) and row.min() >= 0):
        return text
    share, below = (
        number(float(f"{100 * float(part.sum(dtype=np.float64)) / total:.3g}"))
        for part in (row[index : index + 1], row[: index + 1])
    )
    words = (
        translate("Bars", "{count} ({share} %, {below} % up to here)")
        if summed
        else translate("Bars", "{count} ({share} %)")
    )
    return words.format(count=text, share=share, below=below)


def _looks(frame: Frame, names: list[str]) -> list[Series]:
    """The look of each channel; a channel that is named after a colour has the nearest colour."""
    series = frame.colours.series
    return [series[COLOURS.get(name, place % len(series))] for place, name in enumerate(names)]


def _steps(frame: Frame, edges: Array, heights: Array) -> list[QPointF]:
    """The line along the tops of bars."""
    tops = frame.box.bottom() - (heights - frame.upward[0]) / (frame.upward[1] - frame.upward[0]) * frame.box.height()
    xs, ys = np.repeat(edges, 2)[1:-1], np.repeat(tops, 2)
    return [QPointF(x, y) for x, y in zip(xs.tolist(), ys.tolist(), strict=True)]


def _name_channels(painter: QPainter, frame: Frame, names: list[str]) -> None:
    """Draw a legend of the channels above the plot, from its right end, as far as it fits."""
    pad, line = frame.letters.averageCharWidth(), frame.letters.height()
    right, y = frame.box.right(), frame.box.top() - 0.8 * line
    painter.setClipping(False)
    for name, series in zip(reversed(names), reversed(_looks(frame, names)), strict=True):
        left = right - frame.letters.horizontalAdvance(name) - 5 * pad
        if left < 0:
            return
        painter.setPen(QPen(series.colour, 2, series.dash))
        painter.drawLine(QPointF(left, y), QPointF(left + 4 * pad, y))
        painter.setPen(frame.palette.text().color())
        painter.drawText(QPointF(left + 5 * pad, y + 0.3 * line), name)
        right = left - 2 * pad
