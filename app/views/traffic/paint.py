"""Paints the traffic and the footprint of a variant over a picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen

from app.models.pictures.pyramid import Array
from app.models.traffic.recorded import runs, sector_spans
from app.views.pictures.canvas_paint import DARK_AND_LIGHT
from app.views.pictures.image_canvas import ImageCanvas
from app.views.traffic.marks import (
    ON_VEIL,
    VEIL,
    Entry,
    draw_chosen,
    draw_element,
    draw_entry,
    draw_passed,
    draw_sector,
    entries,
    entry_width,
    scale_entry,
)
from gpu_ops.explaining.traffic.content import Footprint, Measure

LARGE = 9.0
"""Screen pixels per picture's pixel from which a footprint is visible in place; smaller ones are shown enlarged too."""
CELL, AROUND, SHARE = 13.0, 2, 0.42
"""The least size of an enlarged pixel in screen pixels, which else is that of a letter; the pixels around the
footprint; and the largest share of the picture's side."""
BEYOND = 4
"""Pixels beyond the footprint whose reads without effect are enlarged too."""
At = Callable[[float, float], QPointF]


@dataclass(frozen=True, eq=False)
class Painted:
    """What is painted for one variant: the colours of the part of the picture that begins at `start` (row, column), and
    the footprint of `place`, with `channels` values per pixel. The colours go from 0 to `top` of the `measure`. Where
    there is no footprint, `read` are the elements of the input that the warp of the place reads with it."""

    image: QImage | None
    start: tuple[int, int]
    shape: tuple[int, int]
    footprint: Footprint | None = None
    place: tuple[int, ...] = ()
    channels: int = 1
    counts: Array | None = None
    measure: Measure = "sectors"
    top: int = 0
    read: tuple[int, ...] = ()

    @cached_property
    def pixels(self) -> list[tuple[int, int]]:
        """The pixels of the footprint as (row, column) of the whole picture, each once."""
        rows, columns = np.divmod(self._flat, self.shape[1])
        return [(int(r) + self.start[0], int(c) + self.start[1]) for r, c in zip(rows, columns, strict=True)]

    @property
    def _flat(self) -> Array:
        elements = self.read if self.footprint is None else self.footprint.elements
        return np.unique(np.asarray(elements, np.int64) // self.channels)

    @cached_property
    def passed(self) -> list[tuple[int, int, int]]:
        """The pixels that were read without effect as (row, first column, last + 1) of the whole picture."""
        read = self.footprint.passed if self.footprint is not None else ()
        flat = np.setdiff1d(np.asarray(read, np.int64) // self.channels, self._flat)
        (top, left), width = self.start, self.shape[1]
        return [(a // width + top, a % width + left, b % width + 1 + left) for a, b in runs(flat.tolist(), width)]

    @cached_property
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
    full = canvas.window().isFullScreen()  # there the window has no bar with the scale and the legend
    scale = [scale_entry(painted.measure, painted.top)] if painted.top else []
    if not painted.place or (painted.footprint is None and not painted.read):
        if full:
            _draw_legend(painter, canvas, scale, QRectF(area.center(), QSizeF()), None)
        return
    one, frame = canvas.screen_at(1, 1) - canvas.screen_at(0, 0), None
    box = _bounds(painted)
    where = QRectF(canvas.screen_at(box[1], box[0]), canvas.screen_at(box[3], box[2])).adjusted(-3, -3, 3, 3)
    if one.x() >= LARGE:
        _draw_footprint(painter, painted, canvas.screen_at)
    else:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for colour, thick in DARK_AND_LIGHT:
            painter.setPen(QPen(colour, thick))
            painter.drawRect(where)
        frame = _draw_enlarged(painter, canvas, painted, box, where)
    if full:
        _draw_legend(
            painter, canvas, [*(entries(bool(painted.passed)) if painted.footprint else ()), *scale], where, frame
        )


def _bounds(painted: Painted) -> tuple[int, int, int, int]:
    """The rows and columns around the footprint, with what was read near it: first row, first column, last + 1."""
    pixels = [*painted.pixels, (painted.place[0], painted.place[1])]
    rows, columns = [r for r, _ in pixels], [c for _, c in pixels]
    top, left, bottom, right = min(rows), min(columns), max(rows) + 1, max(columns) + 1
    near = [one for one in painted.passed if one[1] < right + BEYOND and one[2] > left - BEYOND]
    near = [one for one in near if top - BEYOND <= one[0] < bottom + BEYOND]
    return (
        min([top, *(row for row, _, _ in near)]) - AROUND,
        min([left, *(max(first, left - BEYOND) for _, first, _ in near)]) - AROUND,
        max([bottom, *(row + 1 for row, _, _ in near)]) + AROUND,
        max([right, *(min(last, right + BEYOND) for _, _, last in near)]) + AROUND,
    )


def _corner(canvas: ImageCanvas, size: QSizeF, away: QPointF) -> QRectF:
    """A rectangle in the corner of the canvas that is farthest from a point."""
    gap = canvas.fontMetrics().averageCharWidth()
    x = gap if away.x() > canvas.width() / 2 else canvas.width() - gap - size.width()
    y = gap if away.y() > canvas.height() / 2 else canvas.height() - gap - size.height()
    return QRectF(QPointF(x, y), size)


def _draw_enlarged(
    painter: QPainter, canvas: ImageCanvas, painted: Painted, box: tuple[int, int, int, int], where: QRectF
) -> QRectF:
    """Draw the footprint larger, in the corner that is farthest from it."""
    top, left, bottom, right = box
    side = SHARE * min(canvas.width(), canvas.height())
    cell = min(max(CELL, canvas.fontMetrics().height()), side / max(bottom - top, right - left))
    frame = _corner(canvas, QSizeF(cell * (right - left), cell * (bottom - top)), where.center())
    x, y = frame.x(), frame.y()
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
    return frame


def _draw_legend(
    painter: QPainter, canvas: ImageCanvas, shown: list[Entry], where: QRectF, frame: QRectF | None
) -> None:
    """Draw what marks and colours mean: in the corner farthest from `where` the footprint is, above or below the
    enlarged one, or in the corner beyond."""
    gap, line = canvas.fontMetrics().averageCharWidth(), painter.fontMetrics().height()
    width = min(
        max((entry_width(painter.fontMetrics(), one) for one in shown), default=0.0), canvas.width() - 2.0 * gap
    )
    area = _corner(canvas, QSizeF(width, line * len(shown)), where.center())
    if frame is not None:
        below = frame.center().y() < canvas.height() / 2
        near = area.translated(0, (frame.height() + gap) * (1 if below else -1))
        area.moveTop(canvas.height() - gap - area.height() if below else gap)
        area = area if near.intersects(where) else near
    painter.fillRect(area.adjusted(-3, -3, 3, 3), VEIL)
    for place, one in enumerate(shown):
        draw_entry(painter, one, area.topLeft() + QPointF(0, place * line), width, ON_VEIL)


def _draw_footprint(painter: QPainter, painted: Painted, at: At) -> None:
    """Draw the sectors as bars, the pixels of the footprint as outlines, hatches on those that were read without
    effect, and the pixel that they make."""
    for row, first, last in painted.spans:
        draw_sector(painter, QRectF(at(first, row + 0.3), at(last, row + 0.7)))
    for row, first, last in painted.passed:
        draw_passed(painter, QRectF(at(first, row), at(last, row + 1)))
    for row, column in painted.pixels:
        draw_element(painter, QRectF(at(column, row), at(column + 1, row + 1)).adjusted(0.5, 0.5, -0.5, -0.5))
    row, column = painted.place[:2]
    draw_chosen(painter, QRectF(at(column, row), at(column + 1, row + 1)).adjusted(0.5, 0.5, -0.5, -0.5))
