"""Paints overlays in a picture's axis coordinates: handles of parameters, and marks."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, QSizeF
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen

from app.models.pictures.handles import Handle
from app.models.results.marks import Marked
from app.views.parts import draw_tag, number
from app.views.pictures.image_canvas import ImageCanvas
from app.views.results.reading import quantity, with_unit

translate = QCoreApplication.translate
HANDLE, CHOSEN = QColor("#56b4e9"), QColor("#f0e442")
"""The colours of handles, and of the one selected by keys."""
MARK = QColor("#e69f00")


def screen_of(canvas: ImageCanvas, y: float, x: float) -> QPointF | None:
    """The screen point of a position on the axes of what a canvas shows; None if that is no result."""
    layer = canvas.layers[0] if canvas.layers else None
    if layer is None or layer.drawn is None:
        return None
    down, across = layer.drawn.form.axes[:2]
    return canvas.screen_at(layer.rect.left + across.index(x) + 0.5, layer.rect.top + down.index(y) + 0.5)


def draw_handles(painter: QPainter, canvas: ImageCanvas, handles: Sequence[Handle], chosen: Handle) -> None:
    """Draw rings with a grip each, points with their mirror images, and the values of the selected handle."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for handle in (*(h for h in handles if h != chosen), chosen):
        path = _path(canvas, handle)
        # A dark line under the coloured one is visible on every picture.
        for colour, wide in ((QColor(0, 0, 0), 3.5), (CHOSEN if handle == chosen else HANDLE, 1.5)):
            painter.setPen(QPen(colour, wide))
            painter.drawPath(path)
    corner = QPointF(canvas.width() - canvas.fontMetrics().averageCharWidth(), canvas.fontMetrics().averageCharWidth())
    for line in (_value_text(chosen), translate("Handles", "drag, or Alt+arrows; H: next")):
        draw_tag(painter, corner, line, 0.7 * canvas.width(), right=True)
        corner += QPointF(0, 1.3 * canvas.fontMetrics().height())


def draw_marks(painter: QPainter, canvas: ImageCanvas, marked: Marked) -> None:
    """Draw a circle at each mark of the first channel, and its label where it covers nothing."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    letters, spots = canvas.fontMetrics(), [(mark, screen_of(canvas, mark.y, mark.x)) for mark in marked.marks]
    size, boxes = 0.35 * letters.height(), list[QRectF]()
    seen = [(m, at) for m, at in spots if m.channel == 0 and at is not None and canvas.rect().contains(at.toPoint())]
    for _, spot in seen:
        for colour, wide in ((QColor(0, 0, 0), 3.5), (MARK, 1.5)):
            painter.setPen(QPen(colour, wide))
            painter.drawEllipse(spot, size, size)
        boxes.append(QRectF(spot - QPointF(size, size), spot + QPointF(size, size)))
    for mark, spot in seen:
        text, corner = quantity(float(f"{mark.label:.5g}"), marked.unit), spot + QPointF(1.4 * size, -1.5 * size)
        box = QRectF(corner, QSizeF(letters.horizontalAdvance(text) + 2 * letters.averageCharWidth(), 3 * size))
        if not any(box.intersects(other) for other in boxes):
            boxes.append(box)
            draw_tag(painter, corner, text, box.width() + 1)


def _path(canvas: ImageCanvas, handle: Handle) -> QPainterPath:
    """The outline of a handle: a ring with a grip on its right, or a cross in a circle; and its mirror image."""
    path, grip = QPainterPath(), 0.35 * canvas.fontMetrics().height()
    for sign in (1, -1) if handle.mirrored else (1,):
        y, x = sign * handle.y, sign * handle.x
        middle, reach = screen_of(canvas, y, x), handle.radius or 0.0
        side, top = screen_of(canvas, y, x + reach), screen_of(canvas, y - reach, x)
        if middle is None or side is None or top is None:
            break
        if handle.radius is None:
            path.addEllipse(middle, grip, grip)
            for arm in (QPointF(grip, 0), QPointF(0, grip)):
                path.moveTo(middle - arm)
                path.lineTo(middle + arm)
        else:
            path.addEllipse(middle, side.x() - middle.x(), middle.y() - top.y())
            path.addRect(QRectF(side - QPointF(grip, grip) / 2, side + QPointF(grip, grip) / 2))
    return path


def _value_text(handle: Handle) -> str:
    """The parameters of a handle with their values."""
    values = (handle.y, handle.x) if handle.radius is None else (handle.radius,)
    words = [f"{name} {number(value)}" for name, value in zip(handle.names, values, strict=True)]
    return with_unit(", ".join(words), handle.unit)
