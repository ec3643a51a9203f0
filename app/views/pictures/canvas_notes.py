"""Paints names, notes, other panes' cursors and marks over the pictures of a canvas."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPalette

from app.models.experiment.differences import MINUS
from app.views.parts import draw_mark, draw_tag, mark_size, mark_texts
from app.views.pictures.canvas_frame import CanvasFrame, tag_of
from app.views.pictures.canvas_paint import draw_cross, draw_scale

COVERED = 0.45
"""The maximum share of a picture's height that notes cover; the first of them are the most important."""


def draw_notes(painter: QPainter, canvas: CanvasFrame) -> None:
    """Draw the crosshair of another pane's cursor, the names of compared layers, and notes."""
    metrics, display = canvas.fontMetrics(), canvas.display
    if display.cursor and not canvas.underMouse() and any(canvas.images):
        draw_cross(painter, canvas.screen_at(*display.cursor), metrics.height() / 2)
    gap = metrics.averageCharWidth()
    if canvas.mode == "swipe" and len(canvas.layers) > 1:
        _draw_names(painter, canvas, gap)
    elif canvas.mode == "flicker" or canvas.notes or canvas.meaning:
        corner, name = QPointF(gap, gap), canvas.shown_name() if canvas.mode == "flicker" else ""
        lines = (*(canvas.notes or name).splitlines(), *canvas.meaning.splitlines())
        room = max(1, int(canvas.height() * COVERED / (metrics.height() + gap)))
        for line in lines[:room]:
            draw_tag(painter, corner, line, canvas.width() - 2 * gap, between=MINUS)
            corner += QPointF(0, metrics.height() + gap)
        if canvas.legend is not None and len(lines) + 2 <= room:
            draw_scale(painter, corner, canvas.legend, canvas.width() - 2 * gap)
    _draw_marks(painter, canvas, gap)
    if not canvas.layers or canvas.layers[0].pyramid is None:
        painter.setPen(canvas.palette().color(QPalette.ColorRole.WindowText))
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(canvas.rect(), int(flags), canvas.missing or _tr("No image yet"))
    elif not all(layer.sharp for layer in canvas.layers if layer.pyramid):
        corner = QPointF(canvas.width() - gap, canvas.height() - gap * 3 - 2 * metrics.height())
        draw_tag(painter, corner, _tr("Sharpening…"), canvas.width() - 2 * gap, right=True)


def _draw_names(painter: QPainter, canvas: CanvasFrame, gap: int) -> None:
    """Draw the names of the two pictures of a swipe, each on its own side."""
    names, width = [tag_of(layer) for layer in canvas.layers], canvas.width()
    if not canvas.upright:
        top = min(canvas.side(1).top(), canvas.height() - 2.0 * canvas.fontMetrics().height())
        for name, y in zip(names, (gap, top + gap), strict=True):
            draw_tag(painter, QPointF(gap, y), name, width - 2 * gap)
        return
    edge = canvas.divider * width
    draw_tag(painter, QPointF(gap, gap), names[0], max(edge, width / 2) - 2 * gap)
    draw_tag(painter, QPointF(width - gap, gap), names[1], max(width - edge, width / 2) - 2 * gap, right=True)


def _draw_marks(painter: QPainter, canvas: CanvasFrame, gap: int) -> None:
    """Mark the results of a simulated GPU at the bottom, each on its own side."""
    swipes = canvas.mode == "swipe"
    shown = list(canvas.layers) if swipes else canvas.layers[int(canvas.flickered) :][:1]
    for index, layer in enumerate(shown):
        short, text = mark_texts(layer.origin, layer.shape)
        if not text:
            continue
        beside = swipes and canvas.upright
        room = canvas.width() / (len(shown) if beside else 1) - 2 * gap
        size = mark_size(canvas, text)
        if size.width() > room or size.height() * 6 > canvas.height():  # it would cover the picture of a low pane
            text, size = short, mark_size(canvas, short)
        left = canvas.width() - gap - size.width() if beside and index else gap
        bottom = canvas.side(index).bottom() if swipes and not beside else canvas.height()
        draw_mark(
            painter, QRectF(left, bottom - gap - size.height(), size.width(), size.height()), text, canvas.palette()
        )


def _tr(text: str) -> str:
    return QCoreApplication.translate("ImageCanvas", text)
