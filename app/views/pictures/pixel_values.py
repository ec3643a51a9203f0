"""Paints the values of pixels into them, where they are large enough: all of a picture's with one call of Qt for each
ink, and laid out only when something changes."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QGlyphRun, QImage, QPainter, QRawFont

from app.models.pictures.layer import Layer
from app.models.pictures.nonfinite import value_word
from app.models.pictures.viewport import Rect
from app.views.pictures.canvas_frame import CanvasFrame, Cells, Laid, Runs

Array = np.ndarray[Any, Any]
CELL = 26
"""Screen pixels per image pixel from which on its value may fit into it."""
SMALLEST = 7
"""The height of the smallest font in screen pixels."""
LUMA = np.array([0.299, 0.587, 0.114])
FILLED = 0.88
"""The share of a pixel that its value may take."""
INKS = {True: QColor(0, 0, 0), False: QColor(255, 255, 255)}
"""On light pixels, and on dark ones."""


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
    return layer.rect.intersection(Rect(math.floor(left), math.floor(top), math.ceil(right), math.ceil(bottom)))


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
    light, values = _lightness(canvas, seen, cell, drawn), layer.compared
    key = (seen, cell, painter.font().toString(), light.tobytes())
    laid = canvas.laid.get(index)
    if laid is None or laid.values is not values or laid.key != key:
        font, runs, cells = _laid_out(painter.font(), layer.part(seen, values), cell, light)
        laid = canvas.laid[index] = Laid(values, key, font, runs, cells)
    corner = canvas.screen_at(seen.left, seen.top)
    painter.save()
    painter.setFont(laid.font)
    for on_light, run in laid.runs.items():
        painter.setPen(INKS[on_light])
        painter.drawGlyphRun(corner, run)
    for on_light, box, text in laid.cells:
        painter.setPen(INKS[on_light])
        painter.drawText(box.translated(corner), Qt.AlignmentFlag.AlignCenter, text)
    painter.restore()


def _laid_out(plain: QFont, values: Array, cell: float, light: Array) -> tuple[QFont, Runs, Cells]:
    """The values (H, W) or (H, W, C) in the middle of their pixels, those of channels below one another."""
    rows, columns = values.shape[:2]
    lines = values.reshape(rows, columns, -1).shape[2]
    texts = list(map(value_text, values.reshape(-1).tolist()))
    lengths = np.fromiter(map(len, texts), np.intp, len(texts))
    letters = "".join(texts)
    metrics = QFontMetricsF(plain)
    font = fitting(plain, float(_Letters(metrics, letters, lengths).widths.max()), lines, cell)
    if font is None:
        return plain, {}, []
    metrics = QFontMetricsF(font)
    placed, raw, high = _Letters(metrics, letters, lengths), QRawFont.fromFont(font), metrics.height()
    row, column, line = (axis.reshape(-1) for axis in np.indices((rows, columns, lines)))
    left = (column + 0.5) * cell - placed.widths / 2
    top = (row + 0.5) * cell + (line - lines / 2) * high
    on_light = np.repeat(light.reshape(-1), lines)
    glyphs = np.array([(raw.glyphIndexesForString(letter) or [0])[0] for letter in placed.kinds])[placed.kind]
    if not glyphs.all():
        boxes = zip(on_light.tolist(), left.tolist(), top.tolist(), placed.widths.tolist(), texts, strict=True)
        return font, {}, [(on, QRectF(x, y, w + 1, high), text) for on, x, y, w, text in boxes]
    x = placed.offsets + np.repeat(left, lengths)
    y, on = (np.repeat(value, lengths) for value in (top + metrics.ascent(), on_light))
    return font, {ink: _run(raw, glyphs[on == ink], x[on == ink], y[on == ink]) for ink in INKS}, []


def _run(raw: QRawFont, glyphs: Array, x: Array, y: Array) -> QGlyphRun:
    run = QGlyphRun()
    run.setRawFont(raw)
    run.setGlyphIndexes(glyphs.tolist())
    run.setPositions(list(map(QPointF, x.tolist(), y.tolist())))
    return run


class _Letters:
    """The letters of all texts in one sequence: the `kinds` of letters, of each letter the index of its `kind` and its
    offset in its text, and the `widths` of the texts."""

    def __init__(self, metrics: QFontMetricsF, letters: str, lengths: Array) -> None:
        codes, self.kind = np.unique(np.frombuffer(letters.encode("utf-32-le"), np.uint32), return_inverse=True)
        self.kinds = list(map(chr, codes.tolist()))
        wide = np.array([metrics.horizontalAdvance(letter) for letter in self.kinds])[self.kind]
        ends, last = np.cumsum(wide), np.cumsum(lengths) - 1
        starts = np.concatenate(([0.0], ends[last[:-1]]))
        self.widths = ends[last] - starts
        self.offsets = ends - wide - np.repeat(starts, lengths)


def _lightness(canvas: CanvasFrame, seen: Rect, cell: float, drawn: tuple[QImage, int, int]) -> Array:
    """Whether each of the pixels (H, W) was painted light: in its middle, or where only an edge is visible, there."""
    image, left, top = drawn
    pixels, ratio = image.pixels, canvas.devicePixelRatioF()  # type: ignore[attr-defined]
    corner = canvas.screen_at(seen.left, seen.top)
    across, down = (np.arange(count) + 0.5 for count in (seen.right - seen.left, seen.bottom - seen.top))
    x = np.clip(np.round((corner.x() + across * cell) * ratio) - left, 0, pixels.shape[1] - 1).astype(int)
    y = np.clip(np.round((corner.y() + down * cell) * ratio) - top, 0, len(pixels) - 1).astype(int)
    under = pixels[np.ix_(y, x)]
    light: Array = (under if under.ndim == 2 else under[..., :3] @ LUMA) > 127
    return light


def fitting(plain: QFont, widest: float, lines: int, cell: float) -> QFont | None:
    """The largest font, no larger than `plain`, in which a text as wide as `widest` in the plain one fits into a pixel,
    and so many lines; None if none does."""
    height, font = QFontMetricsF(plain).height(), QFont(plain)
    share = min(1.0, FILLED * cell / widest, FILLED * cell / (lines * height))
    size = math.floor(share * height * 0.8)
    if size < SMALLEST:
        return None
    font.setPixelSize(size)
    return font
