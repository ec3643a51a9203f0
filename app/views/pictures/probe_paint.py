"""Paints the region, the line of a profile and the scale bar over a picture."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from app.models.pictures.probe import GRIPS, Grip, Line, Probe
from app.models.pictures.scale_bar import scale_bar
from app.models.pictures.viewport import Rect
from app.views.parts import mark_size, mark_texts, number
from app.views.pictures.canvas_paint import DARK_AND_LIGHT, draw_cross
from app.views.pictures.image_canvas import ImageCanvas
from app.views.results.probe_sources import shows
from app.views.results.reading import with_unit
from gpu_ops.types import Pixel

WIDEST = 0.3
"""The maximum share of a picture's width that a scale bar covers."""
VEIL = QColor(0, 0, 0, 170)
Place = Callable[[float, float], QPointF]


def box_of(rect: Rect, screen_at: Place) -> QRectF:
    """A region on the screen."""
    return QRectF(screen_at(rect.left, rect.top), screen_at(rect.right, rect.bottom))


def grip_points(box: QRectF) -> dict[Grip, QPointF]:
    """The centre of each grip of a region on the screen."""
    across, down = (box.left(), box.center().x(), box.right()), (box.top(), box.center().y(), box.bottom())
    return {(y, x): QPointF(across[x + 1], down[y + 1]) for y, x in GRIPS}


def draw_probe(painter: QPainter, canvas: ImageCanvas, probe: Probe) -> None:
    """Draw the measured shapes in a picture, with grips if their tool is active."""
    if not shows(canvas, probe.extent):
        return
    side = 0.5 * canvas.fontMetrics().height()
    if probe.region is not None:
        _draw_region(painter, box_of(probe.region, canvas.screen_at), side, probe.tool == "region")
    if probe.line is not None:
        _draw_line(painter, probe.line, canvas, side, probe.tool == "profile")
        if probe.mark is not None:
            draw_cross(painter, canvas.screen_at(*probe.mark), side)


def _draw_region(painter: QPainter, box: QRectF, side: float, gripped: bool) -> None:
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for colour, width in DARK_AND_LIGHT:
        painter.setPen(QPen(colour, width))
        painter.drawRect(box)
    if gripped:
        painter.setPen(QPen(QColor(0, 0, 0), 1))
        painter.setBrush(QColor(255, 255, 255))
        small = min(box.width(), box.height()) < 4 * side
        for (y, x), point in grip_points(box).items():
            if not small or (y and x):  # a small region has space for the corner grips only
                painter.drawRect(QRectF(point.x() - side / 2, point.y() - side / 2, side, side))


def _draw_line(painter: QPainter, line: Line, canvas: ImageCanvas, side: float, gripped: bool) -> None:
    """Draw the line; its first end is a filled circle, its second one a ring."""
    one, other = canvas.screen_at(line.x0, line.y0), canvas.screen_at(line.x1, line.y1)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for colour, width in DARK_AND_LIGHT:
        painter.setPen(QPen(colour, width))
        painter.drawLine(one, other)
    reach = side * (0.6 if gripped else 0.4)
    for point, filled in ((one, True), (other, False)):
        for colour, width in DARK_AND_LIGHT:
            painter.setPen(QPen(colour, width))
            painter.setBrush(QColor(255, 255, 255) if filled else Qt.BrushStyle.NoBrush)
            painter.drawEllipse(point, reach, reach)


def draw_scale_bar(painter: QPainter, canvas: ImageCanvas, extent: tuple[int, ...], pixel: Pixel, width: int) -> None:
    """Draw a bar of a round length that suits a picture of that width, at the lower right, above the mark of a
    simulated result there."""
    bar = scale_bar(pixel.x, pixel.unit, canvas.display.scale, WIDEST * width)
    if bar is None or not shows(canvas, extent):
        return
    metrics = canvas.fontMetrics()
    gap, text = metrics.averageCharWidth(), with_unit(number(bar.length), bar.unit)
    wide = max(bar.width, metrics.horizontalAdvance(text)) + 2 * gap
    tall = metrics.height() + gap
    bottom = canvas.height() - gap - _marked_height(canvas, gap)
    box = QRectF(canvas.width() - gap - wide, bottom - tall, wide, tall)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(VEIL)
    painter.drawRoundedRect(box, gap / 2, gap / 2)
    painter.setPen(QColor(255, 255, 255))
    painter.drawText(QRectF(box.left(), box.top(), box.width(), metrics.height()), Qt.AlignmentFlag.AlignCenter, text)
    thick = max(2.0, gap / 3)
    middle, y = box.center().x(), box.bottom() - gap / 3 - thick
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.fillRect(QRectF(middle - bar.width / 2, y, bar.width, thick), QColor(255, 255, 255))


def _marked_height(canvas: ImageCanvas, gap: int) -> int:
    """The height that the mark of a simulated result covers at the lower right, if two results share a pane."""
    if canvas.mode != "swipe" or len(canvas.layers) < 2 or not canvas.upright:
        return 0
    text = mark_texts(canvas.layers[1].origin, canvas.layers[1].shape)[1]
    return mark_size(canvas, text).height() + gap if text else 0
