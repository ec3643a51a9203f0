"""A − B of two pictures as a picture of its own, worked out away from the thread of the window. No widgets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Signal, Slot

from app.models.background import Background
from app.models.display import DIVERGING, colors
from app.models.layer import Layer, Tone
from app.models.origin import Origin
from app.models.pyramid import STRIP, Array, Pyramid


@dataclass(frozen=True, eq=False)
class Distance:
    """`values` (H, W): a − b; of several channels, the one that differs most. `most` is the largest finite |a − b|,
    `undefined` counts pixels where it is NaN or infinite."""

    values: Array
    most: float
    undefined: int

    @property
    def equal(self) -> bool:
        return self.most == 0 and not self.undefined


def distance(a: Array, b: Array, stop: Callable[[], bool] = lambda: False) -> Distance | None:
    """a − b of two images of one shape (H, W) or (H, W, C); None when `stop` said so first.

    float64 if one of them is, else float32: neither rounds what differs to zero. Strip by strip, so that no whole copy
    in float64 is needed. ValueError if the shapes differ.
    """
    if a.shape != b.shape:
        raise ValueError(f"the shapes differ: {a.shape} and {b.shape}")
    dtype = np.float64 if np.float64 in (a.dtype, b.dtype) else np.float32
    values = np.empty(a.shape[:2], dtype)
    most, undefined, rows = 0.0, 0, max(1, STRIP // max(1, a[0].size))
    with np.errstate(invalid="ignore", over="ignore"):
        for top in range(0, len(a), rows):
            if stop():
                return None
            part = slice(top, top + rows)
            strip: Array = np.subtract(a[part], b[part], dtype=np.float64)
            if strip.ndim == 3:
                strip = _furthest(strip)
            values[part] = strip
            finite: Any = np.abs(strip[np.isfinite(strip)])
            undefined += strip.size - finite.size
            most = max(most, float(finite.max(initial=0.0)))
    return Distance(values, most, undefined)


def _furthest(strip: Array) -> Array:
    """Of each pixel (h, w, C) the channel furthest from 0, with its sign; NaN where there is one."""
    index = np.argmax(np.abs(strip), axis=2)  # of NaN and numbers, it finds NaN
    return np.take_along_axis(strip, index[:, :, None], axis=2)[:, :, 0]


def _work(a: Array, b: Array, at: tuple[int, int], stop: Callable[[], bool]) -> tuple[Distance, Pyramid, Tone] | None:
    """The distance, and all that a view needs of it: made in its own thread, so that the window's only paints."""
    found = distance(a, b, stop)
    if found is None:
        return None
    pyramid = Pyramid(found.values, None, at)
    tone = Tone(-found.most or -0.5, found.most or 0.5, colors(DIVERGING))
    return (found, pyramid, tone) if pyramid.build(stop) else None


class Difference(QObject):
    """Keeps `layer` the difference of the two layers it is given, whenever one of them changes; the latest wins.

    `found` says how far apart they are, None while that is not known; `failure` why it cannot be. `changed`: any of
    these, or the title, did.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.layer = Layer(self)
        self.found: Distance | None = None
        self.failure = ""
        self._layers: list[Layer] = []
        self._sources: list[object] = []
        self._origin = Origin()
        self._background = Background(self)
        self._background.finished.connect(self._on_found)
        self._background.failed.connect(self._fail)

    def of(self, layers: Sequence[Layer]) -> None:
        """Follow A and B; with fewer than two, follow none and let go of the arrays."""
        wanted = list(layers) if len(layers) == 2 else []
        if wanted == self._layers:
            return
        for layer in set(self._layers):
            layer.changed.disconnect(self._follow)
            layer.described.disconnect(self._entitle)
        self._layers = wanted
        for layer in set(wanted):
            layer.changed.connect(self._follow)
            layer.described.connect(self._entitle)
        self._reset()  # what is of another pair must not stand under the new names
        self._follow()

    def _reset(self, failure: str = "") -> None:
        self.found, self.failure = None, failure
        self.layer.clear()
        self.changed.emit()

    @Slot()
    def _entitle(self) -> None:
        if self._layers:
            one, other = self._layers
            self.layer.set_title(self.tr("{a} − {b}").format(a=one.title, b=other.title))
            current = one.current and other.current
            self.layer.set_state(None if current else "stale", "", current)
        self.changed.emit()

    @Slot()
    def _follow(self) -> None:
        """Start anew if a layer has another array; that its levels were built, or its colours chosen, is nothing."""
        sources = [layer.pyramid for layer in self._layers]
        self._entitle()
        if sources == self._sources:
            return
        self._sources = list(sources)
        self._background.cancel()
        if not sources or None in sources:
            self._reset()
            return
        if self._layers[0].origin.exact != self._layers[1].origin.exact:
            self._reset(self._apart())
            return
        a, b, self._origin = in_common(*self._layers)
        if a.shape != b.shape:
            self._reset(self._unlike(a, b))
            return
        top, left = self._origin.start or (0, 0)
        self._background.start(lambda stop: _work(a, b, (top, left), stop))

    def _apart(self) -> str:
        part = next(layer.title for layer in self._layers if not layer.origin.exact)
        text = self.tr(
            "no difference: {part} is of the simulated part by itself, as the filter reaches too far; choose a shorter"
            " window or radius"
        )
        return text.format(part=part)

    def _unlike(self, a: Array, b: Array) -> str:
        text = self.tr("no difference of {a} and {b}: choose two pictures of the same size and channels")
        return text.format(a=self._size(a), b=self._size(b))

    def _size(self, array: Array) -> str:
        height, width = array.shape[:2]
        text = self.tr("{width} × {height} × {channels}") if array.ndim == 3 else self.tr("{width} × {height}")
        return text.format(width=width, height=height, channels=array.shape[-1])

    @Slot(object)
    def _on_found(self, result: tuple[Distance, Pyramid, Tone]) -> None:
        (self.found, pyramid, self.layer.tone), self.failure = result, ""
        self.layer.set_pyramid(pyramid, None, self.layer.title, self._origin)
        self.changed.emit()

    @Slot(str)
    def _fail(self, sentence: str) -> None:
        self._reset(sentence)


def in_common(one: Layer, other: Layer) -> tuple[Array, Array, Origin]:
    """What both have of one input, and where it lies there; all of them where they are of different inputs."""
    assert one.pyramid is not None and other.pyramid is not None
    both, simulated = one.rect.meet(other.rect), one.origin.simulated or other.origin.simulated
    if one.extent != other.extent or one.rect == other.rect or not both.area:
        origin = replace(one.origin, simulated=simulated)
        return one.pyramid.array, other.pyramid.array, origin
    return one.part(both), other.part(both), Origin(simulated, (both.top, both.left), one.extent or ())
