"""Paints overlays on spectra and on the pictures next to them: frequencies at the edges, and waves."""

from __future__ import annotations

import math

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QGradient, QLinearGradient, QPainter, QPen

from app.models.pictures.wave import Wave
from app.models.ticks import ticks
from app.views.charts.frame import short
from app.views.eliding import shortest_needed
from app.views.parts import draw_tag, number
from app.views.pictures.canvas_paint import DARK_AND_LIGHT
from app.views.pictures.image_canvas import ImageCanvas
from app.views.results.reading import name_of
from gpu_ops.output_kinds import Axis

CREST = QColor("#e69f00")
"""The colour of a wave's crests; its troughs are transparent."""
STRENGTH = 150
"""The opacity of crests, out of 255."""
FINEST = 3.0
"""The minimum distance of crests in screen pixels: finer stripes would alias."""
translate = QCoreApplication.translate


def wave_text(wave: Wave, drawn: bool = True) -> str:
    """A description of a wave: "wavelength 12.3 px, direction 34°", and advice if it is not `drawn`."""
    if not wave.frequency:
        return translate("Spectra", "zero frequency: the mean of all pixels")
    text = translate("Spectra", "wavelength {length} px, direction {angle}°").format(
        length=number(float(f"{wave.length:.4g}")), angle=number(round(wave.direction))
    )
    return text if drawn else translate("Spectra", "{wave}\nzoom in to see its stripes").format(wave=text)


def spacing(wave: Wave, canvas: ImageCanvas) -> float:
    """The distance of crests in screen pixels."""
    return wave.length / canvas.display.scale


def draw_wave(painter: QPainter, canvas: ImageCanvas, wave: Wave) -> None:
    """Draw a wave as translucent stripes over the picture, with a text that describes it."""
    layer = canvas.layers[0] if canvas.layers else None
    if layer is None or layer.pyramid is None:
        return
    rect, fine = layer.rect, spacing(wave, canvas)
    area = QRectF(canvas.screen_at(rect.left, rect.top), canvas.screen_at(rect.right, rect.bottom))
    visible = bool(wave.frequency) and fine >= FINEST
    if visible:
        stripes = QLinearGradient(canvas.screen_at(*wave.crest()), canvas.screen_at(*wave.next_crest()))
        stripes.setSpread(QGradient.Spread.RepeatSpread)
        for step in range(17):
            colour = QColor(CREST)
            colour.setAlphaF(STRENGTH / 255 * (0.5 + 0.5 * math.cos(2 * math.pi * step / 16)))
            stripes.setColorAt(step / 16, colour)
        painter.fillRect(area.intersected(QRectF(canvas.rect())), stripes)
    gap = canvas.fontMetrics().averageCharWidth()
    corner = QPointF(gap, gap)
    for text in wave_text(wave, visible or not wave.frequency).splitlines():
        draw_tag(painter, corner, text, canvas.width() - 2 * gap)
        corner += QPointF(0, 1.3 * canvas.fontMetrics().height())


def draw_frequencies(painter: QPainter, canvas: ImageCanvas) -> None:
    """Draw the numbers of both axes at the lower and the left edge of a spectrum, and lines through zero."""
    layer = canvas.layers[int(canvas.flickered)] if canvas.layers else None
    if layer is None or layer.drawn is None or len(layer.drawn.form.axes) < 2:
        return
    rect, (down, across) = layer.rect, layer.drawn.form.axes[:2]
    picture = QRectF(canvas.screen_at(rect.left, rect.top), canvas.screen_at(rect.right, rect.bottom))
    area = picture.intersected(QRectF(canvas.rect()))
    line, gap = canvas.fontMetrics().height(), canvas.fontMetrics().averageCharWidth()
    if area.width() < 20 * gap or area.height() < 6 * line:
        return
    x_at, y_at = (_Places(axis, canvas, upright) for axis, upright in ((across, False), (down, True)))
    _draw_zero(painter, area, x_at.screen(0.0), y_at.screen(0.0))
    bottom = area.bottom() - line - gap / 2
    title = _titled(across)
    room = canvas.fontMetrics().horizontalAdvance(title) + 7 * gap
    free = area.left()
    for place in x_at.ticks(area.left() + 8 * gap, area.right() - room, int(area.width() / (11 * gap))):
        half = canvas.fontMetrics().horizontalAdvance(short(place)) / 2 + gap
        if x_at.screen(place) - half >= free:  # a number that would overlap the previous one is omitted
            _tag_at(painter, QPointF(x_at.screen(place), bottom), short(place))
            free = x_at.screen(place) + half
    for place in y_at.ticks(area.top() + 2 * line, area.bottom() - 2.5 * line, int(area.height() / (4 * line))):
        draw_tag(painter, QPointF(area.left() + gap / 2, y_at.screen(place) - line / 2), short(place), 12 * gap)
    letters, half_width = canvas.fontMetrics(), area.width() / 2
    titles = [shortest_needed((_titled(axis), name_of(axis)), letters, half_width - 2 * gap) for axis in (across, down)]
    draw_tag(painter, QPointF(area.right() - gap / 2, bottom), titles[0], half_width, right=True)
    draw_tag(painter, QPointF(area.left() + gap / 2, area.top() + gap / 2), titles[1], half_width)


def _titled(axis: Axis) -> str:
    """The name of an axis and its unit."""
    return f"{name_of(axis)} ({axis.unit})" if axis.unit else name_of(axis)


class _Places:
    """The mapping between the positions of an axis and the screen: value k is drawn from pixel k to k + 1."""

    def __init__(self, axis: Axis, canvas: ImageCanvas, upright: bool) -> None:
        self._axis, self._canvas, self._upright = axis, canvas, upright

    def screen(self, place: float) -> float:
        at = self._axis.index(place) + 0.5
        return self._canvas.screen_at(0, at).y() if self._upright else self._canvas.screen_at(at, 0).x()

    def ticks(self, first: float, last: float, most: int) -> list[float]:
        """Round positions between two screen coordinates."""
        ends = [QPointF(0, v) if self._upright else QPointF(v, 0) for v in (first, last)]
        places = [self._axis.at(self._canvas.data_at(p)[int(self._upright)] - 0.5) for p in ends]
        return ticks(min(places), max(places), most)


def _draw_zero(painter: QPainter, area: QRectF, x: float, y: float) -> None:
    """Draw faint lines through zero frequency."""
    for colour, wide in DARK_AND_LIGHT:
        faint = QColor(colour)
        faint.setAlpha(90)
        painter.setPen(QPen(faint, wide, Qt.PenStyle.SolidLine))
        if area.left() <= x <= area.right():
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
        if area.top() <= y <= area.bottom():
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))


def _tag_at(painter: QPainter, middle: QPointF, text: str) -> None:
    """Draw a tag with this point at the middle of its upper edge."""
    width = painter.fontMetrics().horizontalAdvance(text) + 2 * painter.fontMetrics().averageCharWidth()
    draw_tag(painter, middle - QPointF(width / 2, 0), text, width + 2)
