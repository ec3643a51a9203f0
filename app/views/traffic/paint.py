"""Paints the traffic and the footprint of a variant over a picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QImage, QPainter, QPen

from app.models.pictures.pyramid import Array
from app.models.traffic.recorded import sector_spans
from app.views.pictures.canvas_paint import DARK_AND_LIGHT
from app.views.pictures.image_canvas import ImageCanvas
from gpu_ops.explaining.traffic.content import Footprint

LARGE = 9.0
"""Screen pixels per picture's pixel from which a footprint is visible in place; smaller ones are shown enlarged too."""
CELL, AROUND, SHARE = 13.0, 2, 0.55
"""An enlarged pixel in screen pixels, the pixels around the footprint, and the largest share of the picture's side."""
SECTOR_FILL, SECTOR_LINE = QColor(255, 140, 0, 110), QColor(255, 140, 0)
MADE = QColor(255, 0, 200)
VEIL = QColor(20, 20, 20, 235)


@dataclass(frozen=True, eq=False)
class Painted:
    """What is painted for one variant: the colours of the part of the picture that begins at `start` (row, column), and
    the footprint of `place`, with `channels` values per pixel. Where there is no footprint, `read` are the elements of
    the input that the warp of the place reads with it."""

    image: QImage | None
    start: tuple[int, int]
    shape: tuple[int, int]
    footprint: Footprint | None = None
    place: tuple[int, ...] = ()
    channels: int = 1
    counts: Array | None = None
    read: tuple[int, ...] = ()

    @property
    def pixels(self) -> list[tuple[int, int]]:
        """The pixels of the footprint as (row, column) of the whole picture, each once."""
        elements = self.read if self.footprint is None else self.footprint.elements
        flat = np.unique(np.asarray(elements, np.int64) // self.channels)
        rows, columns = np.divmod(flat, self.shape[1])
        return [(int(r) + self.start[0], int(c) + self.start[1]) for r, c in zip(rows, columns, strict=True)]

    @property
    def spans(self) -> list[tuple[int, float, float]]:
        """The sectors of the footprint as (row, first column, last + 1) of the whole picture."""
        if self.footprint is None:
            return []
        top, left = self.start
        each = self.channels
        found = sector_spans(self.footprint, self.shape[1] * each)
        return [(row + top, first / each + left, last / each + left) for row, first, last in found]


def draw_traffic(painter: QPainter, canvas: ImageCanvas, painted: Painted) -> None:
    """Tint the picture, and draw the footprint over it."""
    top, left = painted.start
    height, width = painted.shape
    area = QRectF(canvas.screen_at(left, top), canvas.screen_at(left + width, top + height))
    if painted.image is not None:
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, area.width() < width)
        painter.drawImage(area, painted.image, QRectF(painted.image.rect()))
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
    if not painted.place or (painted.footprint is None and not painted.read):
        return
    one = canvas.screen_at(1, 1) - canvas.screen_at(0, 0)
    if one.x() >= LARGE:
        _draw_footprint(painter, painted, lambda x, y: canvas.screen_at(x, y))
        return
    box = _bounds(painted)
    where = QRectF(canvas.screen_at(box[1], box[0]), canvas.screen_at(box[3], box[2])).adjusted(-3, -3, 3, 3)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for colour, thick in DARK_AND_LIGHT:
        painter.setPen(QPen(colour, thick))
        painter.drawRect(where)
    _draw_enlarged(painter, canvas, painted, box, where)


def _bounds(painted: Painted) -> tuple[int, int, int, int]:
    """The rows and columns around the footprint: first row, first column, last + 1."""
    pixels = [*painted.pixels, (painted.place[0], painted.place[1])]
    rows, columns = [r for r, _ in pixels], [c for _, c in pixels]
    return min(rows) - AROUND, min(columns) - AROUND, max(rows) + 1 + AROUND, max(columns) + 1 + AROUND


def _draw_enlarged(
    painter: QPainter, canvas: ImageCanvas, painted: Painted, box: tuple[int, int, int, int], where: QRectF
) -> None:
    """Draw the footprint larger, in the corner that is farthest from it."""
    top, left, bottom, right = box
    side = SHARE * min(canvas.width(), canvas.height())
    cell = min(CELL, side / max(bottom - top, right - left))
    width, height, gap = cell * (right - left), cell * (bottom - top), canvas.fontMetrics().averageCharWidth()
    x = gap if where.center().x() > canvas.width() / 2 else canvas.width() - gap - width
    y = gap if where.center().y() > canvas.height() / 2 else canvas.height() - gap - height
    frame = QRectF(x, y, width, height)
    painter.fillRect(frame.adjusted(-3, -3, 3, 3), VEIL)
    painter.save()
    painter.setClipRect(frame)
    if painted.image is not None:
        source = QRectF(left - painted.start[1], top - painted.start[0], right - left, bottom - top)
        painter.drawImage(frame, painted.image, source)
    _draw_footprint(painter, painted, lambda a, b: QPointF(x + (a - left) * cell, y + (b - top) * cell))
    painter.restore()
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(QColor(255, 255, 255), 1))
    painter.drawRect(frame.adjusted(-3, -3, 3, 3))


def _draw_footprint(painter: QPainter, painted: Painted, at: object) -> None:
    """Draw the sectors as bars, the pixels of the footprint as outlines, and the pixel that they make."""
    assert callable(at)
    for row, first, last in painted.spans:
        bar = QRectF(at(first, row + 0.3), at(last, row + 0.7))
        painter.setPen(QPen(SECTOR_LINE, 1))
        painter.setBrush(QBrush(SECTOR_FILL))
        painter.drawRect(bar)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for row, column in painted.pixels:
        box = QRectF(at(column, row), at(column + 1, row + 1)).adjusted(0.5, 0.5, -0.5, -0.5)
        for colour, thick in DARK_AND_LIGHT:
            painter.setPen(QPen(colour, thick))
            painter.drawRect(box)
    row, column = painted.place[:2]
    painter.setPen(QPen(MADE, 3))
    painter.drawRect(QRectF(at(column, row), at(column + 1, row + 1)).adjusted(1.5, 1.5, -1.5, -1.5))
