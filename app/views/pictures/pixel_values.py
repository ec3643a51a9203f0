"""Paints the values of pixels into them, where they are large enough."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from app.models.pictures.layer import Layer
from app.models.pictures.nonfinite import value_word
from app.models.pictures.viewport import Rect
from app.views.pictures.canvas_frame import CanvasFrame

CELL = 20
"""Screen pixels of an image pixel from which its value may have room in it."""
SMALLEST = 7
"""Screen pixels of the smallest letters."""
LUMA = np.array([0.299, 0.587, 0.114])
FILLED = 0.88
"""The share of a pixel that its value may take."""


def value_text(value: float) -> str:
    """A value in few letters: integers whole, others with three digits."""
    if not math.isfinite(value):
        return value_word(value)
    text = str(int(value)) if float(value).is_integer() and abs(value) < 1e6 else f"{value:.3g}"
    return text.replace("-", "−")


def seen_pixels(layer: Layer, corner: tuple[float, float], opposite: tuple[float, float]) -> Rect:
    """The pixels of a layer between two data points."""
    (left, top), (right, bottom) = corner, opposite
    return layer.rect.meet(Rect(math.floor(left), math.floor(top), math.ceil(right), math.ceil(bottom)))


def draw_values(painter: QPainter, canvas: CanvasFrame, index: int) -> None:
    """Draw the values of a layer's visible pixels, in black or white, whichever stands out from what was painted of
    the pixel; nothing where pixels are too small for them."""
    layer, drawn, cell = canvas.layers[index], canvas.images[index], 1 / canvas.display.scale
    if cell < CELL or drawn is None:
        return
    ends = canvas.data_at(QPointF(0, 0)), canvas.data_at(QPointF(canvas.width(), canvas.height()))
    seen = seen_pixels(layer, *ends)
    if not seen.area:
        return
    values = layer.part(seen, layer.compared)
    channels = values.reshape(*values.shape[:2], -1)
    texts = [[[value_text(float(v)) for v in pixel] for pixel in row] for row in channels]
    font = fitting(painter.font(), {t for row in texts for pixel in row for t in pixel}, channels.shape[2], cell)
    if font is None:
        return
    painter.save()
    painter.setFont(font)
    image, left, top = drawn
    pixels, ratio = image.pixels, canvas.devicePixelRatioF()  # type: ignore[attr-defined]
    for i, row in enumerate(texts):
        for k, words in enumerate(row):
            box = QRectF(
                canvas.screen_at(seen.left + k, seen.top + i), canvas.screen_at(seen.left + k + 1, seen.top + i + 1)
            )
            x, y = round(box.center().x() * ratio) - left, round(box.center().y() * ratio) - top
            under = pixels[min(max(y, 0), len(pixels) - 1), min(max(x, 0), pixels.shape[1] - 1)]
            light = float(under) if np.ndim(under) == 0 else float(under[:3] @ LUMA)
            painter.setPen(QColor(0, 0, 0) if light > 127 else QColor(255, 255, 255))
            painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), "\n".join(words))
    painter.restore()


def fitting(plain: QFont, texts: set[str], lines: int, cell: float) -> QFont | None:
    """The largest font, no larger than `plain`, whose longest of the texts fits into a pixel; None if none does."""
    metrics, font = QFontMetricsF(plain), QFont(plain)
    widest = max(metrics.horizontalAdvance(text) for text in texts)
    share = min(1.0, FILLED * cell / widest, FILLED * cell / (lines * metrics.height()))
    size = math.floor(share * metrics.height() * 0.8)
    if size < SMALLEST:
        return None
    font.setPixelSize(size)
    return font
