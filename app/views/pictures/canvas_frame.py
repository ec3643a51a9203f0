"""The content and geometry of a canvas of pictures: its state, without painting and without events."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import Literal

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QFont, QGlyphRun, QImage
from PySide6.QtWidgets import QWidget

from app.models.pictures.display import Display
from app.models.pictures.layer import Layer, Tone
from app.models.pictures.pyramid import Array
from app.models.pictures.viewport import Frame
from app.views.parts import state_words

Mode = Literal["single", "swipe", "flicker"]
Runs = dict[bool, QGlyphRun]
Cells = list[tuple[bool, QRectF, str]]


@dataclass(frozen=True, eq=False)
class Laid:
    """Laid out values: the array that they are of, what else they depend on, their font, and the glyphs on light and on
    dark pixels, placed from the corner of the first pixel. Where the font lacks a letter, `cells` are the single texts
    instead, each in its box."""

    values: Array
    key: tuple[object, ...]
    font: QFont
    runs: Runs
    cells: Cells


class CanvasFrame(QWidget):
    """The layers, the notes over them, the divider of a swipe, and the screen position of every data point.

    `images` are the pictures painted last, one for each layer, with their place on the device. `laid` are the values
    that were painted into the pixels of each layer, see `app.views.pictures.pixel_values`.
    """

    def __init__(self, display: Display, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.display = display
        self.layers: list[Layer] = []
        self.images: list[tuple[QImage, int, int] | None] = []
        self.mode: Mode = "single"
        self.divider, self.upright = 0.5, True
        self.flickered = False
        self.notes, self.missing = "", ""
        self.legend: Tone | None = None
        self.overlay: QImage | None = None
        self.meaning = ""
        self.laid: dict[int, Laid] = {}

    def shown_name(self) -> str:
        """The title of the visible layer, with its verdict unless the result is correct."""
        return tag_of(self.layers[int(self.flickered)]) if self.layers else ""

    # Geometry

    def _frame(self) -> Frame:
        """The visible device pixels. They are on a grid fixed to the image, so that panning moves the picture by whole
        pixels; it may differ from the Display's exact centre by up to half a pixel."""
        ratio = self.devicePixelRatioF()
        size = round(self.width() * ratio), round(self.height() * ratio)
        return Frame.around(self.display.centre, self.display.scale / ratio, *size)

    def data_at(self, point: QPointF) -> tuple[float, float]:
        """The data point painted at a screen point."""
        (rect, scale), ratio = self._frame(), self.devicePixelRatioF()
        return (rect.left + point.x() * ratio) * scale, (rect.top + point.y() * ratio) * scale

    def pixel_at(self, point: QPointF) -> tuple[float, float]:
        """The data point at the centre of the device pixel under a screen point."""
        (rect, scale), ratio = self._frame(), self.devicePixelRatioF()
        x, y = (floor(v * ratio) + 0.5 for v in (point.x(), point.y()))
        return (rect.left + x) * scale, (rect.top + y) * scale

    def screen_at(self, x: float, y: float) -> QPointF:
        """The screen point at which a data point is painted."""
        (rect, scale), ratio = self._frame(), self.devicePixelRatioF()
        return QPointF((x / scale - rect.left) / ratio, (y / scale - rect.top) / ratio)

    # The divider

    def side(self, index: int) -> QRectF:
        """The rectangle of a swipe that shows the first or the second picture."""
        whole, part = QRectF(self.rect()), QRectF(self.rect())
        if self.upright:
            edge = self.divider * whole.width()
            (part.setRight if index == 0 else part.setLeft)(edge)
        else:
            edge = self.divider * whole.height()
            (part.setBottom if index == 0 else part.setTop)(edge)
        return part

    def near_divider(self, point: QPointF) -> bool:
        """Whether a point is on the divider of two pictures."""
        away = point.x() - self.divider * self.width() if self.upright else point.y() - self.divider * self.height()
        return self.mode == "swipe" and abs(away) <= self.fontMetrics().averageCharWidth()

    def set_divider(self, share: float) -> None:
        """Set the divider's position, as a share of the width, or of the height."""
        self.divider = min(1.0, max(0.0, share))
        self.update()

    def set_upright(self, upright: bool) -> None:
        """Divide two pictures by a vertical line, or by a horizontal one."""
        self.upright = upright
        self.update()


def tag_of(layer: Layer) -> str:
    """The title of a layer, with its verdict unless the result is correct."""
    verdict = "" if layer.state in (None, "fresh") else state_words(layer.state)
    return " · ".join(text for text in (layer.title, verdict) if text)
