"""The visible part of an image, cached while the view moves: only new pixels are computed. No widgets."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from PySide6.QtCore import QObject, Signal, Slot

from app.models.background import Background
from app.models.pictures.pyramid import GRAY, PICKED, Array, Pyramid, Samples, to_uint8

EFFORT = 4 << 20  # some 8 ms: the limit of each pane per frame, when several panes paint together
Source = tuple[Pyramid, float, int]  # pyramid, scale, level
PICKS = 1 << 14
"""Values picked from all over a large image in one frame; each is a miss of the cache, mostly a fault of a page too."""
BAND = 1 << 18  # device pixels after which a background thread checks whether to stop


class Rect(NamedTuple):
    """Device pixels `left` ≤ x < `right`, `top` ≤ y < `bottom` of the grid that is fixed to the image."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def area(self) -> int:
        return max(0, self.right - self.left) * max(0, self.bottom - self.top)

    def intersection(self, other: Rect) -> Rect:
        """The intersection; of area 0 where there is none."""
        left, top = max(self.left, other.left), max(self.top, other.top)
        return Rect(left, top, max(left, min(self.right, other.right)), max(top, min(self.bottom, other.bottom)))

    def without(self, other: Rect) -> list[Rect]:
        """This rectangle minus `other`, in at most four parts."""
        inner = self.intersection(other)
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
        # The small shift is for odd widths: their halves, inexact after a pan or two, must all round the same way.
        left, top = (math.floor(c / scale - n / 2 + 0.5 + 1e-6) for c, n in zip(centre, (width, height), strict=True))
        return cls(Rect(left, top, left + width, top + height), scale)


@dataclass(frozen=True)
class Tone:
    """Levels, and colours (256, 3) unless gray."""

    low: float
    high: float
    lut: Array | None


@dataclass(frozen=True, eq=False)
class _Cache:
    """Computed pixels of `rect`, and the key of everything else that they depend on."""

    key: tuple[Any, ...]
    rect: Rect
    samples: Samples


class Viewport(QObject):
    """The picture of one view. `sharpened`: a picture that was too much for one frame, and rough, is sharp now; or one
    that shows the image before (`behind`) has its own pixels now."""

    sharpened = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rough = self.behind = False
        self._values: _Cache | None = None
        self._before: _Cache | None = None
        self._bytes: _Cache | None = None
        self._request_key: Source | None = None
        self._background = Background(self, urgent=True)
        self._background.finished.connect(self._on_sample)

    def forget(self) -> None:
        """Clear the cache: the view will show another image, or none."""
        self._background.cancel()
        self._values = self._before = self._bytes = self._request_key = None

    def renew(self) -> None:
        """Clear the cache for another image in the place of this one, whose pixels may be shown until then."""
        values, before = self._values, self._before
        self.forget()
        self._before = before if values is None else _Cache(_place(*values.key[:2]), values.rect, values.samples)

    def picture(self, pyramid: Pyramid, frame: Frame, tone: Tone) -> Samples | None:
        """Bytes of the part of `frame` that the image covers: gray (h, w) or RGBA (h, w, 4). None if it covers none.

        Cached and new pictures are equal byte for byte, unless `rough`."""
        values = self._look(pyramid, frame)
        values_array = values.samples.array
        if not values_array.size:
            return None
        lut = tone.lut
        if (
            lut is None
            and values_array.ndim == 2
            and values_array.dtype.kind == "f"
            and not np.isfinite(values_array).all()
        ):
            lut = GRAY  # NaN and infinity have colours, so the whole picture is RGBA
        key = (values.key, tone.low, tone.high, None if lut is None else lut.tobytes())

        def convert(rect: Rect) -> Samples:
            part = _cut(values.samples, rect)
            return Samples(to_uint8(part.array, tone.low, tone.high, lut), part.x, part.y)

        self._bytes = _move(self._bytes, key, frame.rect, convert)
        return self._bytes.samples

    def _look(self, pyramid: Pyramid, frame: Frame) -> _Cache:
        """The values in the frame; from a coarser level for now if there are too many."""
        rect, scale = frame
        level = pyramid.level(scale)
        key = (pyramid, scale, level)
        cache = self._values if self._values is not None and self._values.key == key else None
        missing = rect.without(cache.rect) if cache else [rect]
        (top, left), (height, width) = pyramid.at, pyramid.array.shape[:2]
        edges = math.floor(left / scale), math.floor(top / scale)
        image = Rect(*edges, math.ceil((left + width) / scale), math.ceil((top + height) / scale))
        count = sum(part.intersection(image).area for part in missing)
        before, many = self._before, count > PICKS and scale > PICKED * (1 << level)
        self.behind = before is not None and many and (before.key, before.rect) == (_place(pyramid, scale), rect)
        if self.behind and before is not None:
            self._request(key, rect)
            return before
        self._before = None
        self.rough = count * pyramid.effort(scale, level) > EFFORT
        if self.rough:
            self._request(key, rect)
            coarser = (k for k in range(level + 1, len(pyramid.levels)) if pyramid.levels[k] is not None)
            size = rect.right - rect.left, rect.bottom - rect.top
            rough = pyramid.sample(rect.left, rect.top, scale, *size, next(coarser, level), pick=True)
            return _Cache((*key, "rough"), rect, rough)
        self._request_key = None
        self._background.cancel()
        self._values = _move(cache, key, rect, lambda part: _sample(*key, part))
        return self._values

    def _request(self, key: Source, rect: Rect) -> None:
        """Sample all of `rect` in a background thread, unless one already does so for this scale and level."""
        if self._request_key != key:
            self._request_key = key
            self._background.start(lambda stop: _in_bands(key, rect, stop))

    @Slot(object)
    def _on_sample(self, cache: _Cache | None) -> None:
        self._request_key = None
        if cache is not None:
            self._values = cache
            self.sharpened.emit()


def _place(pyramid: Pyramid, scale: float) -> tuple[Any, ...]:
    """What two images have in common where the pixels of one may be shown for the other."""
    return pyramid.at, pyramid.array.shape, pyramid.dtype, scale


def _sample(pyramid: Pyramid, scale: float, level: int, rect: Rect) -> Samples:
    return pyramid.sample(rect.left, rect.top, scale, rect.right - rect.left, rect.bottom - rect.top, level)


def _in_bands(key: Source, rect: Rect, stop: Callable[[], bool]) -> _Cache | None:
    """All of `rect`, band by band; None when `stop` returned True first."""
    pieces = []
    rows = max(1, BAND // max(1, rect.right - rect.left))
    for top in range(rect.top, rect.bottom, rows):
        if stop():
            return None
        pieces.append(_sample(*key, Rect(rect.left, top, rect.right, min(top + rows, rect.bottom))))
    return _Cache(key, rect, _join(pieces))


def _move(old: _Cache | None, key: tuple[Any, ...], rect: Rect, make: Callable[[Rect], Samples]) -> _Cache:
    """The pixels of `rect`: from the cache as far as possible, the rest computed."""
    if old is None or old.key != key:
        return _Cache(key, rect, make(rect))
    if old.rect == rect:
        return old
    pieces = [make(part) for part in rect.without(old.rect)]
    return _Cache(key, rect, _join([_cut(old.samples, rect), *pieces]))


def _cut(samples: Samples, rect: Rect) -> Samples:
    """The part of the samples that is in `rect`."""
    x, y, array = samples.x, samples.y, samples.array
    part = Rect(x, y, x + array.shape[1], y + array.shape[0]).intersection(rect)
    return Samples(array[part.top - y : part.bottom - y, part.left - x : part.right - x], part.left, part.top)


def _join(pieces: Sequence[Samples]) -> Samples:
    """Combine pieces that make up a rectangle into a new array."""
    some = [piece for piece in pieces if piece.array.size] or list(pieces[:1])
    left, top = min(piece.x for piece in some), min(piece.y for piece in some)
    right = max(piece.x + piece.array.shape[1] for piece in some)
    bottom = max(piece.y + piece.array.shape[0] for piece in some)
    result = np.empty((bottom - top, right - left, *some[0].array.shape[2:]), some[0].array.dtype)
    for piece in some:
        height, width = piece.array.shape[:2]
        result[piece.y - top : piece.y - top + height, piece.x - left : piece.x - left + width] = piece.array
    return Samples(result, left, top)
