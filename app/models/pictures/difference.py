"""A − B of two pictures as a picture of its own, computed in a background thread. No widgets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QObject, Signal, Slot

from app.models.experiment.differences import MINUS
from app.models.pictures.difference_levels import DifferenceDisplay, DifferenceFigures, figures_of
from app.models.pictures.difference_style import SCATTERED, DifferenceLook, DifferenceStyle, Measure, measured
from app.models.pictures.layer import Layer, Tone
from app.models.pictures.pair import Pair
from app.models.pictures.pyramid import STRIP, Array, Pyramid
from app.models.results.row_differences import BETWEEN
from app.models.results.view_data import ViewData
from gpu_ops.output_kinds import CHANNEL, Form

SEEN = 500
"""The side, in pixels, of a picture in a pane that single pixels are drawn larger for."""


@dataclass(frozen=True, eq=False)
class Distance:
    """`values` (H, W): a − b, or what else is measured, for several channels in the one that differs most. `most` is
    the largest finite magnitude and `at` the row and column of the first pixel that has it, None where nothing differs;
    `undefined` counts pixels where it is NaN or infinite, and `differing` those where it is not 0, these included."""

    values: Array
    most: float
    undefined: int
    at: tuple[int, int] | None = None
    differing: int = 0

    @property
    def equal(self) -> bool:
        return self.most == 0 and not self.undefined


def distance(
    a: Array,
    b: Array,
    stop: Callable[[], bool] = lambda: False,
    labels: bool = False,
    measure: Measure = "signed",
) -> Distance | None:
    """The difference of two images of one shape (H, W) or (H, W, C), as `measure` says, or 1 where `labels` differ;
    None when `stop` returned True first.

    float64 if one of them is, else float32: neither rounds a difference to zero, and integers of any width are
    subtracted as such. It works strip by strip, so that no whole copy in float64 is needed. ValueError if the shapes
    differ.
    """
    if a.shape != b.shape:
        raise ValueError(f"the shapes differ: {a.shape} and {b.shape}")
    dtype = np.float64 if np.float64 in (a.dtype, b.dtype) else np.float32
    values = np.empty(a.shape[:2], dtype)
    most, at, undefined, differing = 0.0, None, 0, 0
    rows = max(1, STRIP // max(1, a[0].size))
    with np.errstate(invalid="ignore", over="ignore"):
        for top in range(0, len(a), rows):
            if stop():
                return None
            part = slice(top, top + rows)
            one, other = a[part], b[part]
            strip = np.not_equal(one, other).astype(np.float64) if labels else measured(one, other, measure)
            if strip.ndim == 3:
                strip = _furthest(strip)
            values[part] = strip
            sizes: Array = np.abs(strip)
            finite = np.isfinite(sizes)
            differing += int(np.count_nonzero(strip))
            undefined += sizes.size - int(np.count_nonzero(finite))
            if (largest := float(sizes.max(initial=0.0, where=finite))) > most:
                row, column = divmod(int(np.argmax((sizes == largest).reshape(-1))), sizes.shape[1])
                most, at = largest, (top + row, column)
    return Distance(values, most, undefined, at, differing)


def _furthest(strip: Array) -> Array:
    """For each pixel (h, w, C) the value of the channel furthest from 0; NaN where a channel is NaN."""
    index = np.argmax(np.abs(strip), axis=2)  # argmax prefers NaN to any number
    return np.take_along_axis(strip, index[:, :, None], axis=2)[:, :, 0]


Worked = tuple[Distance, Pyramid, Pyramid | None, DifferenceFigures]


def grow_pixels(values: Array, stop: Callable[[], bool] = lambda: False) -> Array | None:
    """Each pixel that differs as a square, as large as can be seen where the whole picture is reduced to the size of a
    pane; of several in one place the furthest from 0. None when `stop` returned True first."""
    reach = max(1, round(1.5 * max(values.shape) / SEEN))
    rows = max(4 * reach, STRIP // values.shape[1])
    known: Array = np.nan_to_num(values, nan=0.0)
    result = np.empty_like(values)
    for top in range(0, len(values), rows):
        if stop():
            return None
        first = max(0, top - reach)
        strip = known[first : top + rows + reach]
        above, below = (_spread(_spread(strip, reach, pick, 0), reach, pick, 1) for pick in (np.maximum, np.minimum))
        inner = slice(top - first, top - first + min(rows, len(values) - top))
        result[top : top + rows] = np.where(above >= -below, above, below)[inner]
    return np.where(np.isnan(values), values, result)


def _spread(values: Array, reach: int, pick: np.ufunc, axis: int) -> Array:
    """At each place the one of the values within `reach` along an axis that `pick` picks, and of 0 beyond the ends."""
    count, side, length = values.shape[axis], 2 * reach + 1, 1
    found = np.moveaxis(np.pad(values, [(reach, reach) if k == axis else (0, 0) for k in range(2)]), axis, 0)
    while 2 * length <= side:  # windows of twice the length, of two that lie side by side
        found, length = pick(found[:-length], found[length:]), 2 * length
    found = pick(found[:count], found[side - length : side - length + count])
    return np.moveaxis(found, 0, axis)


def _work(
    a: Array, b: Array, labels: bool, at: tuple[int, int], look: DifferenceLook, stop: Callable[[], bool]
) -> Worked | None:
    """The distance and all that a view needs to paint it; this runs in a background thread."""
    result = distance(a, b, stop, labels, look.measure)
    figures = None if result is None else figures_of(result.values, result.most, stop)
    if result is None or figures is None:
        return None
    pyramid, larger = Pyramid(result.values, None, at), None
    if look.grow and 0 < result.differing <= SCATTERED * result.values.size:
        squares = grow_pixels(result.values, stop)
        larger = None if squares is None else Pyramid(squares, None, at)
    built = all(each.build(stop) for each in (pyramid, larger) if each is not None)
    return (result, pyramid, larger, figures) if built else None


def _apart(one: str, other: str) -> tuple[str, str]:
    """Two titles without their common ending, such as the variant of two settings."""
    a, b = one.split(BETWEEN), other.split(BETWEEN)
    while min(len(a), len(b)) > 1 and a[-1] == b[-1]:
        a, b = a[:-1], b[:-1]
    return BETWEEN.join(a), BETWEEN.join(b)


class Difference(Pair):
    """Keeps `layer` equal to the difference of two layers.

    `distance` is the result, None until it is known. `display` has the levels of the picture, those set by hand as long
    as the pair and the look of `style` stay, or with `set_hand`. `levelled(level)`: somebody set at which value the
    colour is full, or None that it follows the look again.
    """

    levelled = Signal(object)

    def __init__(self, style: DifferenceStyle | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.style = style or DifferenceStyle(self)
        self.look = self.style.look
        self.layer, self.display = Layer(self), DifferenceDisplay(self.style, self)
        self.style.changed.connect(self._restyle)
        self._fresh = True
        self._hand: float | None = None
        self._settling = False
        self.display.levels_changed.connect(self._tone)
        self.display.levels_changed.connect(self._report_levels)
        self.distance: Distance | None = None
        self._background.finished.connect(self._on_result)

    @property
    def labels(self) -> bool:
        """Whether the pair are labels: a pixel differs or it does not."""
        return all(layer.labelled for layer in self._layers)

    @property
    def unit(self) -> str:
        """The unit of what is measured."""
        own = {"relative": "%", "ulp": "ulp"}.get(self.look.measure)
        return own or (self._layers[0].drawn.unit if self._layers and self._layers[0].drawn is not None else "")

    @property
    def enlarged(self) -> bool:
        """Whether single pixels are drawn larger."""
        return self.layer.larger is not None

    @property
    def place(self) -> tuple[int, int] | None:
        """(x, y) of the largest difference in the input; None where nothing differs."""
        if self.distance is None or self.distance.at is None:
            return None
        (row, column), (top, left) = self.distance.at, self.layer.origin.start or (0, 0)
        return left + column, top + row

    def value(self, x: float, y: float) -> Array | None:
        """What is measured of every channel (C,) at a data point of the input, as exact as float64 is; None where there
        is no difference."""
        pixels = [layer.pixel(x, y) for layer in self._layers]
        if self.distance is None or not all(pixels):
            return None
        one, other = (np.atleast_1d(layer.compared[at]) for layer, at in zip(self._layers, pixels, strict=True))
        return measured(one, other, self.look.measure) if one.shape == other.shape else None

    @Slot()
    def _restyle(self) -> None:
        """Follow another look: levels at once, values after they are computed."""
        before, self.look, self._hand = self.look, self.style.look, None
        with self._settled():
            self.display.restyle()
        if (before.measure, before.grow) != (self.look.measure, self.look.grow):
            self._fresh = True
            self._restart()

    def set_hand(self, level: float | None) -> None:
        """Set at which value the colour is full, also once the difference is known; None follows the look."""
        if level == self._hand:
            return
        self._hand = level
        with self._settled():
            if level is not None:
                self.display.set_levels(-level, level)
            elif self.display.mode == "manual":
                self.display.auto_levels("auto")

    @contextmanager
    def _settled(self) -> Iterator[None]:
        """Changes of the levels inside the block are nobody's choice."""
        before, self._settling = self._settling, True
        try:
            yield
        finally:
            self._settling = before

    @Slot()
    def _report_levels(self) -> None:
        hand = self.display.high if self.display.mode == "manual" else None
        if not self._settling and hand != self._hand:
            self.levelled.emit(hand)

    def _clear(self) -> None:
        self.distance = None
        self.layer.clear()

    def _reset(self, failure: str = "") -> None:
        self._fresh = True
        super()._reset(failure)

    @Slot()
    def _update_title(self) -> None:
        if self._layers:
            one, other = self._layers
            self.layer.set_title(MINUS.join(_apart(one.title, other.title)))
            current = one.current and other.current
            self.layer.set_state(None if current else "stale", "", current)
        super()._update_title()

    def _begin(self, a: Array, b: Array) -> None:
        top, left = self._origin.start or (0, 0)
        labels, look = self.labels, self.look
        self._background.start(lambda stop: _work(a, b, labels, (top, left), look, stop))

    def _refusal(self, a: Array, b: Array) -> str:
        if refusal := super()._refusal(a, b):
            return refusal
        if self.look.measure == "ulp" and not self.labels and (a.dtype != b.dtype or a.dtype.kind != "f"):
            text = self.tr("no units in the last place of {a} and {b}: both must be float32 or both float64")
            return text.format(a=a.dtype.name, b=b.dtype.name)
        return ""

    @Slot(object)
    def _on_result(self, result: Worked) -> None:
        (self.distance, pyramid, larger, figures), self.failure = result, ""
        with self._settled():
            (self.display.set_figures if self._fresh else self.display.follow)(figures)
            if self._fresh and self._hand is not None:
                self.display.set_levels(-self._hand, self._hand)
        self._fresh = False
        self._tone()
        self.layer.drawn = self._drawn(pyramid)
        self.layer.set_pyramid(pyramid, None, self.layer.title, self._origin, larger)
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
        return ViewData(values, form, "" if self.labels else self.unit)

    @Slot()
    def _tone(self) -> None:
        self.layer.set_tone(Tone(self.display.low, self.display.high, self.display.lut))
        self.changed.emit()
