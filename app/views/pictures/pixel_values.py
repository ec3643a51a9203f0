"""Paints the values of pixels into them, if they are large enough."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QStaticText, QTextOption

from app.models.pictures.layer import Layer
from app.models.pictures.nonfinite import value_word
from app.models.pictures.viewport import Rect
from app.views.pictures.canvas_frame import CanvasFrame

CELL = 26
"""Screen pixels per image pixel from which on its value may fit into it."""
SMALLEST = 7
"""The height of the smallest font in screen pixels."""
LUMA = np.array([0.299, 0.587, 0.114])
MOST_KNOWN = 4096
"""The number of laid-out texts that a canvas caches."""
FILLED = 0.88
"""The share of a pixel that its value may occupy."""


@lru_cache(4096)
def value_text(value: float) -> str:
    """A value in few characters: integers in full, others with three digits."""
    if not math.isfinite(value):
        return value_word(value)
    text = str(int(value)) if float(value).is_integer() and abs(value) < 1e6 else f"{value:.3g}"
    return text.replace("-", "−")


def seen_pixels(layer: Layer, corner: tuple[float, float], opposite: tuple[float, float]) -> Rect:
    """The pixels of a layer between two data points."""
    (left, top), (right, bottom) = corner, opposite
    return layer.rect.meet(Rect(math.floor(left), math.floor(top), math.ceil(right), math.ceil(bottom)))


def draw_values(painter: QPainter, canvas: CanvasFrame, index: int) -> None:
    """Draw the values of a layer's visible pixels, in black or white, whichever contrasts with the painted pixel;
    nothing if the pixels are too small."""
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
    corner, light = canvas.screen_at(seen.left, seen.top), _lightness(canvas, seen, cell, drawn)
    painter.save()
    painter.setFont(font)
    if canvas.texts_of != (font.toString(), cell):
        canvas.texts_of, canvas.texts = (font.toString(), cell), {}
    known = canvas.texts if len(canvas.texts) < MOST_KNOWN else {}
    for on_light, ink in ((True, QColor(0, 0, 0)), (False, QColor(255, 255, 255))):
        painter.setPen(ink)
        for i, row in enumerate(texts):
            for k, words in enumerate(row):
                if light[i][k] == on_light:
                    text, inner = _laid_out("\n".join(words), font, cell, known)
                    painter.drawStaticText(corner + QPointF(k * cell, i * cell) + inner, text)
    painter.restore()


def _laid_out(
    words: str, font: QFont, cell: float, known: dict[str, tuple[QStaticText, QPointF]]
) -> tuple[QStaticText, QPointF]:
    """The text at the centre of a pixel, and its origin there; laid out once, because many pixels have the same
    value."""
    if words not in known:
        text = QStaticText(words.replace("\n", "<br>"))
        option = QTextOption(Qt.AlignmentFlag.AlignHCenter)
        text.setTextOption(option)
        text.setTextFormat(Qt.TextFormat.RichText if "\n" in words else Qt.TextFormat.PlainText)
        text.prepare(font=font)
        size = text.size()
        known[words] = text, QPointF((cell - size.width()) / 2, (cell - size.height()) / 2)
    return known[words]


def _lightness(canvas: CanvasFrame, seen: Rect, cell: float, drawn: tuple[QImage, int, int]) -> list[list[bool]]:
    """Whether each of the pixels was painted light: at its centre, or if only an edge is visible, there."""
    image, left, top = drawn
    pixels, ratio = image.pixels, canvas.devicePixelRatioF()  # type: ignore[attr-defined]
    corner = canvas.screen_at(seen.left, seen.top)
    across, down = (np.arange(count) + 0.5 for count in (seen.right - seen.left, seen.bottom - seen.top))
    x = np.clip(np.round((corner.x() + across * cell) * ratio) - left, 0, pixels.shape[1] - 1).astype(int)
    y = np.clip(np.round((corner.y() + down * cell) * ratio) - top, 0, len(pixels) - 1).astype(int)
    under = pixels[np.ix_(y, x)]
    found: list[list[bool]] = ((under if under.ndim == 2 else under[..., :3] @ LUMA) > 127).tolist()
    return found


def fitting(plain: QFont, texts: set[str], lines: int, cell: float) -> QFont | None:
    """The largest font, no larger than `plain`, for which the longest of the texts fits into a pixel; None if none
    does."""
    metrics, font = QFontMetricsF(plain), QFont(plain)
    widest = max(metrics.horizontalAdvance(text) for text in texts)
    share = min(1.0, FILLED * cell / widest, FILLED * cell / (lines * metrics.height()))
    size = math.floor(share * metrics.height() * 0.8)
    if size < SMALLEST:
        return None
    font.setPixelSize(size)
    return font
