"""A − B of two pictures as a picture of its own, computed in a background thread. No widgets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from PySide6.QtCore import QObject, Signal, Slot

from app.models.background import Background
from app.models.experiment.differences import MINUS
from app.models.pictures.difference_levels import DifferenceDisplay, DifferenceFigures, figures_of
from app.models.pictures.layer import Layer, Tone
from app.models.pictures.pyramid import STRIP, Array, Pyramid
from app.models.results.origin import Origin
from app.models.results.row_differences import BETWEEN
from app.models.results.view_data import ViewData
from gpu_ops.output_kinds import CHANNEL, Form, subtracted


@dataclass(frozen=True, eq=False)
class Distance:
    """`values` (H, W): a − b; of several channels, that of the channel that differs most. `most` is the largest finite
    |a − b| and `at` the row and column of the first pixel that has it, None where nothing differs; `undefined` counts
    pixels where a − b is NaN or infinite."""

    values: Array
    most: float
    undefined: int
    at: tuple[int, int] | None = None

    @property
    def equal(self) -> bool:
        return self.most == 0 and not self.undefined


def distance(a: Array, b: Array, stop: Callable[[], bool] = lambda: False, labels: bool = False) -> Distance | None:
    """a − b of two images of one shape (H, W) or (H, W, C), or 1 where `labels` differ; None when `stop` returned True
    first.

    float64 if one of them is, else float32: neither rounds a difference to zero, and integers of any width are
    subtracted as such. It works strip by strip, so that no whole copy in float64 is needed. ValueError if the shapes
    differ.
    """
    if a.shape != b.shape:
        raise ValueError(f"the shapes differ: {a.shape} and {b.shape}")
    dtype = np.float64 if np.float64 in (a.dtype, b.dtype) else np.float32
    values = np.empty(a.shape[:2], dtype)
    most, at, undefined, rows = 0.0, None, 0, max(1, STRIP // max(1, a[0].size))
    with np.errstate(invalid="ignore", over="ignore"):
        for top in range(0, len(a), rows):
            if stop():
                return None
            part = slice(top, top + rows)
            one, other = a[part], b[part]
            strip: Array = np.not_equal(one, other).astype(np.float64) if labels else subtracted(one, other)
            if strip.ndim == 3:
                strip = _furthest(strip)
            values[part] = strip
            sizes: Array = np.abs(strip)
            finite = np.isfinite(sizes)
            undefined += sizes.size - int(np.count_nonzero(finite))
            if (largest := float(sizes.max(initial=0.0, where=finite))) > most:
                row, column = divmod(int(np.argmax((sizes == largest).reshape(-1))), sizes.shape[1])
                most, at = largest, (top + row, column)
    return Distance(values, most, undefined, at)


def _furthest(strip: Array) -> Array:
    """For each pixel (h, w, C) the value of the channel furthest from 0; NaN where a channel is NaN."""
    index = np.argmax(np.abs(strip), axis=2)  # argmax prefers NaN to any number
    return np.take_along_axis(strip, index[:, :, None], axis=2)[:, :, 0]


def _work(
    a: Array, b: Array, labels: bool, at: tuple[int, int], stop: Callable[[], bool]
) -> tuple[Distance, Pyramid, DifferenceFigures] | None:
    """The distance and everything that a view needs to paint it; this runs in a background thread."""
    result = distance(a, b, stop, labels)
    figures = None if result is None else figures_of(result.values, result.most, stop)
    if result is None or figures is None:
        return None
    pyramid = Pyramid(result.values, None, at)
    return (result, pyramid, figures) if pyramid.build(stop) else None


def _apart(one: str, other: str) -> tuple[str, str]:
    """Two titles without their common ending, such as the variant of two settings."""
    a, b = one.split(BETWEEN), other.split(BETWEEN)
    while min(len(a), len(b)) > 1 and a[-1] == b[-1]:
        a, b = a[:-1], b[:-1]
    return BETWEEN.join(a), BETWEEN.join(b)


class Difference(QObject):
    """Keeps `layer` equal to the difference of two layers, whenever one of them changes; the latest wins.

    `distance` is the result, None until it is known; `failure` says why there is none. `display` has the levels of the
    picture, those set by hand as long as the pair stays. While it is not `active`, because it is not visible, nothing
    is computed, and pictures that are gone are released. `changed`: one of these, or the title, changed.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.layer, self.display = Layer(self), DifferenceDisplay(self)
        self._fresh = self._active = True
        self.display.levels_changed.connect(self._tone)
        self.distance: Distance | None = None
        self.failure = ""
        self._layers: list[Layer] = []
        self._sources: list[object] = []
        self._origin = Origin()
        self._background = Background(self)
        self._background.finished.connect(self._on_result)
        self._background.failed.connect(self._fail)

    @property
    def labels(self) -> bool:
        """Whether the pair are labels: a pixel differs or it does not."""
        return all(layer.labelled for layer in self._layers)

    @property
    def layers(self) -> tuple[Layer, ...]:
        """A and B; () while there is no pair."""
        return tuple(self._layers)

    @property
    def busy(self) -> bool:
        """Whether the difference is being computed."""
        return self._background.busy

    @property
    def waits_for(self) -> Layer | None:
        """The first layer of the pair that has no picture yet."""
        return next((layer for layer in self._layers if layer.pyramid is None), None)

    @property
    def place(self) -> tuple[int, int] | None:
        """(x, y) of the largest difference in the input; None where nothing differs."""
        if self.distance is None or self.distance.at is None:
            return None
        (row, column), (top, left) = self.distance.at, self.layer.origin.start or (0, 0)
        return left + column, top + row

    def value(self, x: float, y: float) -> Array | None:
        """a − b of every channel (C,) at a data point of the input, as exact as float64 is; None where there is no
        difference."""
        pixels = [layer.pixel(x, y) for layer in self._layers]
        if self.distance is None or not all(pixels):
            return None
        one, other = (np.atleast_1d(layer.compared[at]) for layer, at in zip(self._layers, pixels, strict=True))
        return subtracted(one, other) if one.shape == other.shape else None

    def set_active(self, active: bool) -> None:
        """Start or stop following the pair."""
        if active == self._active:
            return
        self._active = active
        if active:
            self._follow()
        elif self._background.busy:
            self._release()

    def _release(self) -> None:
        """Release pictures that are gone; levels set by hand stay."""
        self._background.cancel()
        self._sources, self.distance, self.failure = [], None, ""
        self.layer.clear()
        self.changed.emit()

    def of(self, layers: Sequence[Layer]) -> None:
        """Follow A and B; with fewer than two layers, follow none and release the arrays."""
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
        self._reset()  # the difference of another pair must not appear under the new names
        self._follow()

    def _reset(self, failure: str = "") -> None:
        self.distance, self.failure, self._fresh = None, failure, True
        self.layer.clear()
        self.changed.emit()

    @Slot()
    def _entitle(self) -> None:
        if self._layers:
            one, other = self._layers
            self.layer.set_title(MINUS.join(_apart(one.title, other.title)))
            current = one.current and other.current
            self.layer.set_state(None if current else "stale", "", current)
        self.changed.emit()

    @Slot()
    def _follow(self) -> None:
        """Start again if a layer has another array; new levels or colours of the same array do not matter."""
        sources = [layer.pyramid for layer in self._layers]
        self._entitle()
        if sources == self._sources:
            return
        if not self._active:
            self._release()
            return
        self._sources = list(sources)
        self._background.cancel()
        if not sources or None in sources:
            self._reset()
            return
        if self._layers[0].origin.exact != self._layers[1].origin.exact:
            self._reset(self._exactness_text())
            return
        a, b, self._origin = in_common(*self._layers)
        if a.shape != b.shape:
            self._reset(self._shape_text(a, b))
            return
        top, left = self._origin.start or (0, 0)
        labels = self.labels
        self._background.start(lambda stop: _work(a, b, labels, (top, left), stop))

    def _exactness_text(self) -> str:
        part = next(layer.title for layer in self._layers if not layer.origin.exact)
        text = self.tr(
            "no difference: {part} was computed from the simulated part alone, because the filter reaches too far;"
            " choose a shorter window or radius"
        )
        return text.format(part=part)

    def _shape_text(self, a: Array, b: Array) -> str:
        text = self.tr("no difference of {a} and {b}: choose two pictures with the same size and number of channels")
        return text.format(a=self._size(a), b=self._size(b))

    def _size(self, array: Array) -> str:
        height, width = array.shape[:2]
        text = self.tr("{width} × {height} × {channels}") if array.ndim == 3 else self.tr("{width} × {height}")
        return text.format(width=width, height=height, channels=array.shape[-1])

    @Slot(object)
    def _on_result(self, result: tuple[Distance, Pyramid, DifferenceFigures]) -> None:
        (self.distance, pyramid, figures), self.failure = result, ""
        (self.display.set_figures if self._fresh else self.display.follow)(figures)
        self._fresh = False
        self._tone()
        self.layer.drawn = self._drawn(pyramid)
        self.layer.set_pyramid(pyramid, None, self.layer.title, self._origin)
        self.changed.emit()

    def _drawn(self, pyramid: Pyramid) -> ViewData | None:
        """The difference on the axes, and with the bands, of the first picture; None where those are not known."""
        first, values = self._layers[0], pyramid.array
        axes = [axis for axis in first.drawn.form.axes if axis.name != CHANNEL] if first.drawn is not None else []
        if first.drawn is None or len(axes) != 2:
            return None
        starts = pyramid.at[0] - first.rect.top, pyramid.at[1] - first.rect.left
        placed = tuple(axis.cut(start) for axis, start in zip(axes, starts, strict=True))
        bands = first.drawn.form.bands if first.shape is not None and values.shape == first.shape[:2] else ()
        form = Form(values.shape, values.dtype.name, placed, bands)
        return ViewData(values, form, "" if self.labels else first.drawn.unit)

    @Slot()
    def _tone(self) -> None:
        self.layer.set_tone(Tone(self.display.low, self.display.high, self.display.lut))
        self.changed.emit()

    @Slot(str)
    def _fail(self, sentence: str) -> None:
        self._reset(sentence)


def in_common(one: Layer, other: Layer) -> tuple[Array, Array, Origin]:
    """The part of the input that both layers cover, and its origin; both as a whole where their inputs differ."""
    assert one.pyramid is not None and other.pyramid is not None
    both, simulated = one.rect.meet(other.rect), one.origin.simulated or other.origin.simulated
    if one.extent != other.extent or one.rect == other.rect or not both.area:
        origin = replace(one.origin, simulated=simulated)
        return one.compared, other.compared, origin
    return (
        one.part(both, one.compared),
        other.part(both, other.compared),
        Origin(simulated, (both.top, both.left), one.extent or ()),
    )
