"""Paints the handles of a mask over a spectrum."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen

from app.models.pictures.mask import UNIT, Handle
from app.views.parts import draw_tag, number
from app.views.pictures.image_canvas import ImageCanvas
from app.views.results.reading import with_unit

translate = QCoreApplication.translate
HANDLE, CHOSEN = QColor("#56b4e9"), QColor("#f0e442")
"""The colours of handles, and of the one that keys move."""


def screen_of(canvas: ImageCanvas, fy: float, fx: float) -> QPointF | None:
    """The screen point of a frequency; None where the canvas shows no spectrum."""
    drawn = canvas.layers[0].drawn if canvas.layers else None
    if drawn is None:
        return None
    down, across = drawn.form.axes[:2]
    return canvas.screen_at(across.index(fx) + 0.5, down.index(fy) + 0.5)


def draw_handles(painter: QPainter, canvas: ImageCanvas, handles: Sequence[Handle], chosen: Handle) -> None:
    """Draw rings with a grip each, points with their mirror images, and the values of the chosen handle."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for handle in (*(h for h in handles if h != chosen), chosen):
        path = _path(canvas, handle)
        # A dark line under the coloured one is visible on every picture.
        for colour, wide in ((QColor(0, 0, 0), 3.5), (CHOSEN if handle == chosen else HANDLE, 1.5)):
            painter.setPen(QPen(colour, wide))
            painter.drawPath(path)
    corner = QPointF(canvas.width() - canvas.fontMetrics().averageCharWidth(), canvas.fontMetrics().averageCharWidth())
    for line in (_value_text(chosen), translate("Mask", "drag, or Alt+arrows; H: next")):
        draw_tag(painter, corner, line, 0.7 * canvas.width(), right=True)
        corner += QPointF(0, 1.3 * canvas.fontMetrics().height())


def _path(canvas: ImageCanvas, handle: Handle) -> QPainterPath:
    """The outline of a handle: a ring with a grip at its right, or a cross in a circle; and its mirror image."""
    path, grip = QPainterPath(), 0.35 * canvas.fontMetrics().height()
    for sign in (1, -1) if handle.mirrored else (1,):
        fy, fx = sign * handle.fy, sign * handle.fx
        middle, reach = screen_of(canvas, fy, fx), handle.radius or 0.0
        side, top = screen_of(canvas, fy, fx + reach), screen_of(canvas, fy - reach, fx)
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
    values = (handle.fy, handle.fx) if handle.radius is None else (handle.radius,)
    words = [f"{name} {number(value)}" for name, value in zip(handle.names, values, strict=True)]
    return with_unit(", ".join(words), UNIT)
