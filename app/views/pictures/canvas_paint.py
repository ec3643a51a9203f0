"""Paints the overlays of a picture: the divider, another pane's cursor, and the borders of bands."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QImage, QPainter, QPainterPath, QPalette, QPen

from app.models.pictures.layer import Tone
from app.models.pictures.pyramid import Array
from app.models.pictures.viewport import Rect
from app.views.parts import draw_tag, number
from app.views.results.reading import band_name, short_band_name
from gpu_ops.output_kinds import Band

HATCHED = 90
"""The opacity of hatches, out of 255."""
DARK_AND_LIGHT = ((QColor(0, 0, 0), 3), (QColor(255, 255, 255), 1))
"""A light line on a dark one is visible on every picture."""


def rgba_image(values: Array) -> QImage:
    """A QImage that owns its RGBA values (H, W, 4) in uint8, with colours that are not premultiplied by alpha."""
    values = np.ascontiguousarray(values, np.uint8)
    height, width = values.shape[:2]
    return QImage(values.data, width, height, values.strides[0], QImage.Format.Format_RGBA8888).copy()


def draw_missing(
    painter: QPainter,
    part: Rect,
    whole: Sequence[int],
    screen_at: Callable[[float, float], QPointF],
    palette: QPalette,
) -> None:
    """Hatch the part of the `whole` picture (H, W) that a result of a `part` does not cover, and frame the covered
    part."""
    around, inner = QPainterPath(), QPainterPath()
    around.addRect(QRectF(screen_at(0, 0), screen_at(whole[1], whole[0])))
    inner.addRect(QRectF(screen_at(part.left, part.top), screen_at(part.right, part.bottom)))
    ink = QColor(palette.color(QPalette.ColorRole.WindowText))
    ink.setAlpha(HATCHED)
    painter.fillPath(around.subtracted(inner), QBrush(ink, Qt.BrushStyle.BDiagPattern))
    painter.setPen(QPen(ink, 1, Qt.PenStyle.DashLine))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPath(around)


def draw_divider(painter: QPainter, area: QRectF, share: float, upright: bool, grip: float) -> None:
    """Draw the divider between two pictures, at a share of the width, or of the height, with a grip of that radius."""
    middle = area.center()
    ends = area.topLeft(), area.bottomLeft() if upright else area.topRight()
    away = QPointF(share * area.width(), 0) if upright else QPointF(0, share * area.height())
    at = QPointF(area.left() + away.x(), middle.y()) if upright else QPointF(middle.x(), area.top() + away.y())
    painter.save()
    for color, width in DARK_AND_LIGHT:
        painter.setPen(QPen(color, width))
        painter.drawLine(ends[0] + away, ends[1] + away)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QColor(0, 0, 0))
    painter.setBrush(QColor(255, 255, 255))
    painter.drawEllipse(at, grip, grip)
    box = QRectF(at.x() - grip, at.y() - grip, 2 * grip, 2 * grip)
    painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), "↔" if upright else "↕")
    painter.restore()


def draw_cross(painter: QPainter, at: QPointF, arm: float) -> None:
    """Draw the cursor of another pane."""
    for color, width in DARK_AND_LIGHT:
        painter.setPen(QPen(color, width))
        painter.drawLine(at - QPointF(arm, 0), at + QPointF(arm, 0))
        painter.drawLine(at - QPointF(0, arm), at + QPointF(0, arm))


def draw_bands(painter: QPainter, bands: Sequence[Band], screen_at: Callable[[float, float], QPointF]) -> None:
    """Draw the borders of a pyramid's bands, and their names, in full or in short form where there is space."""
    line, pad = painter.fontMetrics().height(), painter.fontMetrics().averageCharWidth()
    for band in bands:
        (top, left), (height, width) = band.start[:2], band.shape[:2]
        box = QRectF(screen_at(left, top), screen_at(left + width, top + height))
        for color, wide in DARK_AND_LIGHT:
            color = QColor(color)
            color.setAlpha(150)
            painter.setPen(QPen(color, wide))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(box)
        for name in (band_name(band), short_band_name(band)):
            wide = painter.fontMetrics().horizontalAdvance(name) + 3 * pad
            if box.height() > 1.6 * line and box.width() > wide:
                draw_tag(painter, box.topLeft() + QPointF(pad / 2, pad / 2), name, box.width() - pad)
                break


def draw_scale(painter: QPainter, corner: QPointF, tone: Tone, widest: float) -> None:
    """Draw a colour bar with the minimum, middle and maximum value under it; its upper left is at `corner`. If it is
    wider than `widest`, it is omitted: the tag has the range too."""
    if tone.lut is None:
        return
    metrics = painter.fontMetrics()
    pad = metrics.averageCharWidth()
    texts = [_signed(value) for value in (tone.low, (tone.low + tone.high) / 2, tone.high)]
    room = sum(metrics.horizontalAdvance(text) for text in texts) + 4 * pad
    width, bar = max(room, pad * 24) + 2 * pad, metrics.height() * 0.6
    if width > widest:
        return
    box = QRectF(corner.x(), corner.y(), width, bar + metrics.height() + 1.5 * pad)
    inner = box.adjusted(pad, pad / 2, -pad, -pad / 2)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(0, 0, 0, 170))
    painter.drawRoundedRect(box, pad / 2, pad / 2)
    image = QImage(tone.lut.tobytes(), len(tone.lut), 1, 3 * len(tone.lut), QImage.Format.Format_RGB888)
    painter.drawImage(QRectF(inner.left(), inner.top(), inner.width(), bar), image)
    painter.setPen(QColor(255, 255, 255))
    line = QRectF(inner.left(), inner.bottom() - metrics.height(), inner.width(), metrics.height())
    sides = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignHCenter, Qt.AlignmentFlag.AlignRight
    for text, side in zip(texts, sides, strict=True):
        painter.drawText(line, int(side | Qt.AlignmentFlag.AlignVCenter), text)
    painter.restore()


def _signed(value: float) -> str:
    """A number with its sign, the minus as wide as the plus, and no more digits than fit."""
    value = value if value.is_integer() or abs(value) >= 1e4 else float(f"{value:.4g}")
    return f"+{number(value)}" if value > 0 else number(value)
