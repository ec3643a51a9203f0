"""A plane of values in colours over two axes of different units, such as time and frequency. It fills its area."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Slot
from PySide6.QtGui import QImage, QPainter, QPalette, QPen
from PySide6.QtWidgets import QWidget

from app.models.background import Background
from app.models.curves.span import AxisView
from app.models.pictures.display import Display
from app.models.pictures.heat import Heat
from app.models.pictures.layer import LARGE, Tone
from app.models.pictures.plane import Plane, Range
from app.models.pictures.pyramid import GRAY, to_uint8
from app.models.results.marks import Marked
from app.models.results.view_data import TIMES, Array, ViewData
from app.models.ticks import PREFIXED, ticks
from app.views.charts.chart import Chart
from app.views.charts.frame import FAINT, Frame, Side, axis_side, short
from app.views.parts import draw_tag, number
from app.views.pictures.canvas_paint import DARK_AND_LIGHT
from app.views.results.reading import drawn_text, place_text, quantity, reading_text
from gpu_ops.output_kinds import CHANNEL, Axis

LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


def horizontal_axis(drawn: ViewData) -> int:
    """The index of the horizontal axis: time where there is one, else the second."""
    return next((place for place, axis in enumerate(drawn.form.axes[:2]) if axis.name in TIMES), 1)


def limits(drawn: ViewData) -> tuple[Range, Range]:
    """The ranges of the axes across and upward, from the outer edges of the first and last values, and their steps."""
    across = horizontal_axis(drawn)
    ranges = []
    for place in (across, 1 - across):
        axis, count = drawn.form.axes[place], drawn.array.shape[place]
        ranges.append((axis.at(-0.5), axis.at(count - 0.5), axis.step))
    return ranges[0], ranges[1]


class HeatArea(Chart):
    """Paints one plane; both ranges and the cursor are those of its Plane, levels and colours those of its Display."""

    least = 24, 11

    def __init__(self, plane: Plane, display: Display, parent: QWidget | None = None) -> None:
        super().__init__(plane, parent, "heatArea")
        self.display = display
        self.drawn: ViewData | None = None
        self.heat: Heat | None = None
        self.image: QImage | None = None
        self._key: tuple[Any, ...] = ()
        self._building = Background(self)
        self._building.finished.connect(self._on_built)
        self.item.showGrid(x=False, y=False)
        for side in ("left", "bottom"):
            self.item.getAxis(side).setStyle(tickLength=4)
        for signal in (display.levels_changed, display.colormap_changed):
            signal.connect(self.refresh)
        self.set_missing("")

    # What is shown

    def show_drawn(self, drawn: ViewData | None, scale: str, current: bool) -> None:
        """Paint this; `current` says whether it fits the present choice."""
        self.current = current
        if drawn is not self.drawn:
            self._building.cancel()
            self.drawn, self.heat = drawn, None
            if drawn is not None:
                self.heat = heat = Heat(_upright(drawn))
                if heat.values.size <= LARGE:
                    heat.build()
                else:
                    self._building.start(lambda stop: heat if heat.build(stop) else None)
        self.set_missing(self.missing)
        self.refresh()

    def show_marks(self, marked: Marked) -> None:
        """Mark positions in the plane, those with the highest numbers first."""
        ranked = sorted(marked.marks, key=lambda mark: -mark.label)
        swapped = self.drawn is not None and not horizontal_axis(self.drawn)
        places = [(mark.y, mark.x) if swapped else (mark.x, mark.y) for mark in ranked]
        words = [quantity(float(f"{mark.label:.5g}"), marked.unit) for mark in ranked]
        self.show_tags([(*place, text) for place, text in zip(places, words, strict=True)])

    @Slot(object)
    def _on_built(self, _heat: object) -> None:
        self.viewport().update()

    def _axes(self) -> tuple[Axis, Axis]:
        """The axes across and upward."""
        assert self.drawn is not None
        across = horizontal_axis(self.drawn)
        return self.drawn.form.axes[across], self.drawn.form.axes[1 - across]

    def value_text(self) -> str:
        """The value at the group's cursor, with its time and its frequency."""
        if self.drawn is None or self.plane.cursor is None:
            return ""
        axes, across = self._axes(), horizontal_axis(self.drawn)
        index = tuple(math.floor(a.index(p) + 0.5) for a, p in zip(axes, self.plane.cursor, strict=True))
        place = index if across == 0 else index[::-1]
        if not all(0 <= i < n for i, n in zip(place, self.drawn.values.shape, strict=False)):
            return ""
        places = ", ".join(_place(axis, i) for axis, i in zip(axes, index, strict=True))
        return reading_text(places, drawn_text(self.drawn, self.drawn.values[place]))

    # Geometry

    def tone(self) -> Tone:
        return Tone(self.display.low, self.display.high, self.display.lut)

    def _marks(self, height: float) -> list[tuple[float, str]]:
        """The numbers next to the scale of colours."""
        figures = self.drawn.statistics if self.drawn is not None else None
        lowest, highest = (figures.minimum, figures.maximum) if figures else (self.display.low, self.display.high)
        return scale_marks(self.tone(), lowest, highest, int(height / (2.2 * self.fontMetrics().height())))

    # As a chart

    def margins(self) -> tuple[float, float]:
        """The scale of colours is at the right, its unit above it."""
        metrics, marks = self.fontMetrics(), self._marks(self.height()) if self.drawn is not None else []
        beside = max((metrics.horizontalAdvance(word) for _, word in marks), default=0)
        return 1.4 * metrics.height(), beside + 5.5 * metrics.averageCharWidth()

    def left(self, frame: Frame) -> Side:
        if self.drawn is None:
            return Side(())
        return axis_side(self._axes()[1], frame.upward, frame.tall)

    def bottom(self, frame: Frame) -> Side:
        if self.drawn is None:
            return Side(())
        return axis_side(self._axes()[0], frame.across, frame.wide)

    def paint(self, painter: QPainter, frame: Frame) -> None:
        assert self.drawn is not None
        self._render(frame.box)
        if self.image is not None:
            painter.setOpacity(1.0 if self.current else FAINT)
            painter.drawImage(frame.box.topLeft(), self.image)
            painter.setOpacity(1.0)
        marks = self._marks(frame.box.height())
        draw_colour_scale(painter, frame, self.tone(), marks, self.drawn.unit)
        self._paint_notes(painter, frame, self.drawn)

    def _paint_notes(self, painter: QPainter, frame: Frame, drawn: ViewData) -> None:
        """Paint the cursor, the index of the channel if there are several, and whether all values are included."""
        box, pad = frame.box, self.fontMetrics().averageCharWidth()
        if self.plane.cursor is not None:
            painter.setClipRect(box)
            at = frame.point(*self.plane.cursor)
            for colour, wide in DARK_AND_LIGHT:
                painter.setPen(QPen(colour, wide))
                painter.drawLine(QPointF(at.x(), box.top()), QPointF(at.x(), box.bottom()))
                painter.drawLine(QPointF(box.left(), at.y()), QPointF(box.right(), at.y()))
            painter.setClipping(False)
        painter.setPen(QPen(frame.colours.muted, 1))
        painter.drawRect(box)
        channels = _channels(drawn)
        if channels > 1:
            text = self.tr("channel 1 of {count}").format(count=number(channels))
            draw_tag(painter, box.topLeft() + QPointF(pad, pad), text, box.width() - 2 * pad)
        if self.heat is not None and not self.heat.complete:
            corner = QPointF(box.right() - pad, box.top() + pad)
            draw_tag(painter, corner, self.tr("Sharpening…"), box.width() - 2 * pad, right=True)

    def _render(self, box: QRectF) -> None:
        """Compute the picture of the visible part, unless it is cached."""
        assert self.heat is not None
        ratio = self.devicePixelRatioF()
        size = max(1, round(box.width() * ratio)), max(1, round(box.height() * ratio))
        spans = [(span.start, span.stop) for span in (self.plane.x, self.plane.y)]
        tone = self.tone()
        key = (self.heat, self.heat.complete, size, *spans, tone.low, tone.high, self.display.colormap)
        if key == self._key and self.image is not None:
            return
        across, up = (
            _edges(axis, span, count)
            for axis, span, count in zip(self._axes(), (self.plane.x, self.plane.y), size, strict=True)
        )
        pixels = np.ascontiguousarray(to_uint8(self.heat.sample(up, across)[::-1], tone.low, tone.high, tone.lut))
        kind = QImage.Format.Format_Grayscale8 if pixels.ndim == 2 else QImage.Format.Format_RGBX8888
        self.image = QImage(pixels.data, size[0], size[1], pixels.strides[0], kind)
        self.image.setDevicePixelRatio(ratio)
        self.image.pixels = pixels  # type: ignore[attr-defined]  # the QImage does not own its bytes
        self._key = key


def _place(axis: Axis, index: int) -> str:
    """A position along an axis, with its unit, or without one with the axis's name."""
    return quantity(axis.at(index), axis.unit) if axis.unit in PREFIXED else place_text(axis, index)


def _channels(drawn: ViewData) -> int:
    """How many channels a plane has."""
    counts = (n for axis, n in zip(drawn.form.axes, drawn.values.shape, strict=True) if axis.name == CHANNEL)
    return next(counts, 1)


def _upright(drawn: ViewData) -> Array:
    """The values (H, W) of the first channel, with the horizontal axis as their second."""
    values = drawn.array if drawn.array.ndim == 2 else drawn.array[:, :, 0]
    return values if horizontal_axis(drawn) == 1 else values.T


def _edges(axis: Axis, span: AxisView, count: int) -> Array:
    """The edges of so many pixels in a span, in units of values. They are on a grid that is fixed to the axis, so that
    a pan moves all pixels without changing them, at most half a pixel off."""
    pixel = (span.stop - span.start) / count
    places = (round(span.start / pixel) + np.arange(count + 1)) * pixel
    return np.asarray((places - axis.start) / axis.step + 0.5)


def scale_marks(tone: Tone, lowest: float, highest: float, most: int) -> list[tuple[float, str]]:
    """The numbers of the scale of colours: both ends, and round numbers between them. An end is marked where its colour
    also represents all values beyond it."""
    room = (tone.high - tone.low) / max(2, most)
    low = ("≤ " if lowest < tone.low else "") + short(float(f"{tone.low:.4g}"))
    high = ("≥ " if highest > tone.high else "") + short(float(f"{tone.high:.4g}"))
    inner = [v for v in ticks(tone.low, tone.high, most) if tone.low + room < v < tone.high - room]
    return [(tone.low, low), *((value, short(value)) for value in inner), (tone.high, high)]


def draw_colour_scale(painter: QPainter, frame: Frame, tone: Tone, marks: list[tuple[float, str]], unit: str) -> None:
    """Draw the scale of colours next to the plane, the lowest at the bottom, with its numbers, and the unit above."""
    line, pad = frame.letters.height(), frame.letters.averageCharWidth()
    bar = QRectF(frame.box.right() + 1.5 * pad, frame.box.top(), 2 * pad, frame.box.height())
    table = GRAY if tone.lut is None else tone.lut
    image = QImage(table[::-1].tobytes(), 1, len(table), 3, QImage.Format.Format_RGB888)
    painter.drawImage(bar, image)
    painter.setPen(QPen(frame.palette.color(QPalette.ColorRole.Text), 1))
    for value, word in marks:
        y = bar.bottom() - (value - tone.low) / (tone.high - tone.low) * bar.height()
        painter.drawLine(QPointF(bar.right(), y), QPointF(bar.right() + 0.4 * pad, y))
        painter.drawText(QRectF(bar.right() + 0.8 * pad, y - line / 2, 20 * pad, line), LEFT, word)
    painter.drawText(QRectF(bar.left(), 0, 20 * pad, 1.3 * line), LEFT, unit)
    painter.setPen(QPen(frame.colours.muted, 1))
    painter.drawRect(bar)
