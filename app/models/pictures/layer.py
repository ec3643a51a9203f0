"""One picture as panes show it: its array, pyramid, title and verdict. No widgets."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.models.background import Background
from app.models.pictures.display import Display, StatisticsLike, spread_levels
from app.models.pictures.pyramid import Array, Pyramid, quick_range
from app.models.pictures.viewport import Rect
from app.models.pictures.viewport import Tone as Tone
from app.models.results.origin import WHOLE, Origin
from app.models.results.view_data import ViewData

State = Literal["fresh", "stale", "unverified", "wrong", "failed"]
STATES: tuple[State, ...] = ("fresh", "stale", "unverified", "wrong", "failed")
SMALL = 0.25
"""Image pixels per device pixel, above which single pixels are drawn larger where they are to be found."""
LARGE = 1 << 20  # from so many values on, a background thread builds the levels
LEVELS_AFTER_MS = 40
"""They wait for the first picture of a large image, which would otherwise share the interpreter with them."""


class Layer(QObject):
    """Holds an image for any number of views. `larger` is the same image with single pixels drawn larger, where it has
    one. `changed`: paint again; `described`: title or state changed."""

    changed = Signal()
    described = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.pyramid: Pyramid | None = None
        self.larger: Pyramid | None = None
        self.statistics: StatisticsLike | None = None
        self.drawn: ViewData | None = None
        self.title = self.note = ""
        self.origin = WHOLE
        self.state: State | None = None
        self.verdict = ""
        self.current = True
        self.tone: Tone | None = None
        self._background = Background(self)
        self._background.finished.connect(self._on_built)
        self._soon = QTimer(self, singleShot=True, interval=LEVELS_AFTER_MS)
        self._soon.timeout.connect(self._build)

    @property
    def sharp(self) -> bool:
        """False while single pixels represent a large image."""
        return self.pyramid is not None and (self.pyramid.array.size <= LARGE or self.pyramid.complete)

    @property
    def shape(self) -> tuple[int, ...] | None:
        return None if self.pyramid is None else self.pyramid.array.shape

    @property
    def extent(self) -> tuple[int, ...] | None:
        """(H, W) of the input, which the image covers in part or as a whole."""
        return self.origin.whole or (None if self.pyramid is None else self.pyramid.array.shape[:2])

    @property
    def rect(self) -> Rect:
        """The pixels of the input that the image covers."""
        if self.pyramid is None:
            return Rect(0, 0, 0, 0)
        (top, left), (height, width) = self.pyramid.at, self.pyramid.array.shape[:2]
        return Rect(left, top, left + width, top + height)

    def set_drawn(self, drawn: ViewData, title: str, origin: Origin = WHOLE) -> None:
        """Show a result; the cursor may read other values than the picture shows."""
        self.drawn = drawn
        self.set_array(drawn.array, drawn.statistics, title, origin)

    def set_array(self, array: Array, statistics: StatisticsLike | None, title: str, origin: Origin = WHOLE) -> None:
        """Show another image (H, W), (H, W, 3) or (H, W, 4); it is not copied and must not change."""
        p = statistics.percentiles if statistics is not None else None
        top, left = origin.start or (0, 0)
        pyramid = Pyramid(array, (p[0.1], p[50], p[99.9]) if p else None, (top, left))
        self.set_pyramid(pyramid, statistics, title, origin)

    def set_pyramid(
        self,
        pyramid: Pyramid,
        statistics: StatisticsLike | None,
        title: str,
        origin: Origin,
        larger: Pyramid | None = None,
    ) -> None:
        """Show another image by its pyramid, placed as `origin` says; missing levels are built: of a small one
        when they are painted, as most frames need none."""
        self._soon.stop()
        self._background.cancel()
        if self.drawn is not None and self.drawn.array is not pyramid.array:
            self.drawn = None
        self.pyramid, self.larger, self.statistics, self.origin = pyramid, larger, statistics, origin
        self.set_title(title)
        if pyramid.array.size > LARGE and not pyramid.complete:
            self._soon.start()
        self.changed.emit()

    @Slot()
    def _build(self) -> None:
        """Build the missing levels in the background."""
        pyramid = self.pyramid
        if pyramid is not None:
            self._background.start(lambda stop: pyramid if pyramid.build(stop) else None)

    @Slot(object)
    def _on_built(self, _pyramid: object) -> None:
        self.changed.emit()

    def clear(self) -> None:
        """Release the array."""
        self._soon.stop()
        self._background.cancel()
        self.pyramid = self.larger = self.statistics = self.drawn = None
        self.origin = WHOLE
        self.changed.emit()

    def set_title(self, title: str) -> None:
        if title != self.title:
            self.title = title
            self.described.emit()

    def set_note(self, note: str) -> None:
        """Set a remark; empty for none."""
        if note != self.note:
            self.note = note
            self.described.emit()

    def set_state(self, state: State | None, text: str = "", current: bool = True) -> None:
        """Set the verdict on the picture (None for none) and whether it fits the present choice; if not, it is drawn
        faintly."""
        if state is not None and state not in STATES:
            raise ValueError(f"a state is one of {', '.join(STATES)}, not {state}")
        if (state, text, current) != (self.state, self.verdict, self.current):
            self.state, self.verdict, self.current = state, text, current
            self.described.emit()

    def set_tone(self, tone: Tone | None) -> None:
        """Set the layer's own levels and colours; None follows the Display again."""
        self.tone = tone
        self.changed.emit()

    def value(self, x: float, y: float) -> np.ndarray[Any, Any] | None:
        """The pixel at a data point of the input: (1,) or (channels,). None outside the image."""
        pixel = self.pixel(x, y)
        if self.pyramid is None or pixel is None:
            return None
        return np.atleast_1d((self.pyramid.array if self.drawn is None else self.drawn.values)[pixel])

    @property
    def labelled(self) -> bool:
        """Whether the values are labels, which have no order."""
        return self.drawn is not None and self.drawn.labels

    @property
    def compared(self) -> Array:
        """The values (H, W) or (H, W, C) that differences use: those that the cursor reads, but in dB where the picture
        is in dB."""
        assert self.pyramid is not None
        return self.drawn.values if self.drawn is not None and not self.drawn.decade else self.pyramid.array

    def pixel(self, x: float, y: float) -> tuple[int, int] | None:
        """The row and the column of a data point in the image's own array; None outside it."""
        rect = self.rect
        if self.pyramid is None or not (rect.left <= x < rect.right and rect.top <= y < rect.bottom):
            return None
        return int(y) - rect.top, int(x) - rect.left

    def part(self, rect: Rect, values: Array | None = None) -> Array:
        """The image in a rectangle of the input, which the image must cover; or other `values` of its pixels there."""
        assert self.pyramid is not None
        top, left = self.pyramid.at
        return (self.pyramid.array if values is None else values)[
            rect.top - top : rect.bottom - top, rect.left - left : rect.right - left
        ]

    def painted(self, scale: float) -> Pyramid | None:
        """The image to paint at so many image pixels per device pixel: where pixels are small, single ones larger."""
        image = self.larger if self.larger is not None and scale > SMALL else self.pyramid
        if image is not None and image.array.size <= LARGE:
            image.build(scale=scale)
        return image

    def tone_in(self, display: Display) -> Tone:
        """The levels and colours of this image: its own, else the display's."""
        return self.tone or Tone(display.low, display.high, display.lut)


def default_levels(layer: Layer) -> tuple[float, float]:
    """Levels when no input has set any: the range of the statistics, else all of uint8, else the range of a sample."""
    if layer.statistics is not None:
        return layer.statistics.minimum, layer.statistics.maximum
    if layer.pyramid is None or layer.pyramid.array.dtype == np.uint8:
        return 0.0, 255.0
    return spread_levels(*quick_range(layer.pyramid.array))
