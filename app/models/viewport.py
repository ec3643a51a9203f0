"""What a view shows of an image, kept while the view moves: only what comes into sight is worked out. No widgets."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from PySide6.QtCore import QObject, Signal, Slot

from app.models.background import Background
from app.models.pyramid import GRAY, Array, Pyramid, Sampled, to_uint8

EFFORT = 4 << 20  # some 8 ms: more than that, in each of the panes that paint together, is not done between two frames
Source = tuple[Pyramid, float, int]  # what is sampled, at which scale, from which level
BAND = 1 << 18  # device pixels after which work in another thread asks whether it is still wanted


class Rect(NamedTuple):
    """Device pixels `left` ≤ x < `right`, `top` ≤ y < `bottom` of the grid that is fixed to the image."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def area(self) -> int:
        return max(0, self.right - self.left) * max(0, self.bottom - self.top)

    def meet(self, other: Rect) -> Rect:
        """What is in both; of area 0 where nothing is."""
        left, top = max(self.left, other.left), max(self.top, other.top)
        return Rect(left, top, max(left, min(self.right, other.right)), max(top, min(self.bottom, other.bottom)))

    def without(self, other: Rect) -> list[Rect]:
        """At most four parts that together are what `other` leaves of this."""
        inner = self.meet(other)
        if not inner.area:
            return [self]
        parts = (
            Rect(self.left, self.top, self.right, inner.top),
            Rect(self.left, inner.bottom, self.right, self.bottom),
            Rect(self.left, inner.top, inner.left, inner.bottom),
            Rect(inner.right, inner.top, self.right, inner.bottom),
        )
        return [part for part in parts if part.area]


class Frame(NamedTuple):
    """The device pixels in view, and image pixels for each of them."""

    rect: Rect
    scale: float

    @classmethod
    def around(cls, centre: tuple[float, float], scale: float, width: int, height: int) -> Frame:
        """`width` × `height` device pixels whose middle is at most half a pixel off `centre` (x, y in image pixels)."""
        # The small shift is for odd widths: halves, inexact after a pan or two, shall all be rounded to one side.
        left, top = (math.floor(c / scale - n / 2 + 0.5 + 1e-6) for c, n in zip(centre, (width, height), strict=True))
        return cls(Rect(left, top, left + width, top + height), scale)


@dataclass(frozen=True)
class Tone:
    """Levels, and colours (256, 3) if not gray."""

    low: float
    high: float
    lut: Array | None


@dataclass(frozen=True, eq=False)
class _Kept:
    """What is known of the pixels in `rect`, and what it depends on besides."""

    key: tuple[Any, ...]
    rect: Rect
    sampled: Sampled


class Viewport(QObject):
    """The picture of one view. `sharpened`: what was shown roughly, as it was too much for one frame, is there now."""

    sharpened = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rough = False
        self._values: _Kept | None = None
        self._bytes: _Kept | None = None
        self._wanted: Source | None = None
        self._background = Background(self)
        self._background.finished.connect(self._on_sampled)

    def forget(self) -> None:
        """Let go of everything: another image, or none, will be shown."""
        self._background.cancel()
        self._values = self._bytes = self._wanted = None

    def picture(self, pyramid: Pyramid, frame: Frame, tone: Tone) -> Sampled | None:
        """Bytes of the part of `frame` in which there is image: gray (h, w) or RGBA (h, w, 4). None if there is none.

        The same, byte for byte, whether it is made anew or of the picture before; unless `rough`."""
        values = self._look(pyramid, frame)
        found = values.sampled.array
        if not found.size:
            return None
        lut = tone.lut
        if lut is None and found.ndim == 2 and found.dtype.kind == "f" and np.isnan(found).any():
            lut = GRAY  # all in colour, as NaN is
        key = (values.key, tone.low, tone.high, None if lut is None else lut.tobytes())

        def levelled(rect: Rect) -> Sampled:
            part = _cut(values.sampled, rect)
            return Sampled(to_uint8(part.array, tone.low, tone.high, lut), part.x, part.y)

        self._bytes = _moved(self._bytes, key, frame.rect, levelled)
        return self._bytes.sampled

    def _look(self, pyramid: Pyramid, frame: Frame) -> _Kept:
        """The values in the frame; from a coarser level for now where they are too many."""
        rect, scale = frame
        level = pyramid.level(scale)
        key = (pyramid, scale, level)
        kept = self._values if self._values is not None and self._values.key == key else None
        missing = rect.without(kept.rect) if kept else [rect]
        (top, left), (height, width) = pyramid.at, pyramid.array.shape[:2]
        edges = math.floor(left / scale), math.floor(top / scale)
        image = Rect(*edges, math.ceil((left + width) / scale), math.ceil((top + height) / scale))
        count = sum(part.meet(image).area for part in missing)
        self.rough = count * pyramid.effort(scale, level) > EFFORT
        if self.rough:
            self._request(key, rect)
            coarser = (k for k in range(level + 1, len(pyramid.levels)) if pyramid.levels[k] is not None)
            size = rect.right - rect.left, rect.bottom - rect.top
            rough = pyramid.sample(rect.left, rect.top, scale, *size, next(coarser, level), pick=True)
            return _Kept((*key, "rough"), rect, rough)
        self._wanted = None
        self._background.cancel()
        self._values = _moved(kept, key, rect, lambda part: _sampled(*key, part))
        return self._values

    def _request(self, key: Source, rect: Rect) -> None:
        """Have all of `rect` sampled in another thread, unless that, or a place nearby, is being done already."""
        if self._wanted != key:
            self._wanted = key
            self._background.start(lambda stop: _in_bands(key, rect, stop))

    @Slot(object)
    def _on_sampled(self, kept: _Kept | None) -> None:
        self._wanted = None
        if kept is not None:
            self._values = kept
            self.sharpened.emit()


def _sampled(pyramid: Pyramid, scale: float, level: int, rect: Rect) -> Sampled:
    return pyramid.sample(rect.left, rect.top, scale, rect.right - rect.left, rect.bottom - rect.top, level)


def _in_bands(key: Source, rect: Rect, stop: Callable[[], bool]) -> _Kept | None:
    """All of `rect`; None when `stop` said so first."""
    pieces = []
    rows = max(1, BAND // max(1, rect.right - rect.left))
    for top in range(rect.top, rect.bottom, rows):
        if stop():
            return None
        pieces.append(_sampled(*key, Rect(rect.left, top, rect.right, min(top + rows, rect.bottom))))
    return _Kept(key, rect, _joined(pieces))


def _moved(old: _Kept | None, key: tuple[Any, ...], rect: Rect, make: Callable[[Rect], Sampled]) -> _Kept:
    """What is in `rect`: as far as possible of what is known already, the rest made."""
    if old is None or old.key != key:
        return _Kept(key, rect, make(rect))
    if old.rect == rect:
        return old
    pieces = [make(part) for part in rect.without(old.rect)]
    return _Kept(key, rect, _joined([_cut(old.sampled, rect), *pieces]))


def _cut(sampled: Sampled, rect: Rect) -> Sampled:
    """The part of it that is in `rect`."""
    x, y, array = sampled.x, sampled.y, sampled.array
    part = Rect(x, y, x + array.shape[1], y + array.shape[0]).meet(rect)
    return Sampled(array[part.top - y : part.bottom - y, part.left - x : part.right - x], part.left, part.top)


def _joined(pieces: Sequence[Sampled]) -> Sampled:
    """Pieces that make up a rectangle, in an array of its own."""
    some = [piece for piece in pieces if piece.array.size] or list(pieces[:1])
    left, top = min(piece.x for piece in some), min(piece.y for piece in some)
    right = max(piece.x + piece.array.shape[1] for piece in some)
    bottom = max(piece.y + piece.array.shape[0] for piece in some)
    result = np.empty((bottom - top, right - left, *some[0].array.shape[2:]), some[0].array.dtype)
    for piece in some:
        height, width = piece.array.shape[:2]
        result[piece.y - top : piece.y - top + height, piece.x - left : piece.x - left + width] = piece.array
    return Sampled(result, left, top)
