"""One curve of a signal pane: its samples, their rate, and the points of any range. No widgets."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from PySide6.QtCore import QObject, Signal, Slot

from app.models.background import Background
from app.models.curves.extremes import Array, SignalPyramid
from app.models.curves.stroke import Stroke, input_stroke
from app.models.pictures.layer import State
from app.models.results.view_data import INPUT
from gpu_ops.input_kinds import time_axis
from gpu_ops.output_kinds import Axis

LARGE = 1 << 20  # from so many samples on, the buckets are built in a background thread

SAMPLES = time_axis(None)


class Trace(NamedTuple):
    """What a curve shows: values (N,), their axis, a mark next to the name, the stroke, the key of the result, the unit
    of the values, the text of a value by its index where that says more than the value, the line's width in pixels, the
    channel, and the result's name without the channel.
    """

    name: str
    samples: Array
    axis: Axis
    visible: bool = True
    mark: str = ""
    stroke: Stroke = input_stroke()
    key: str = ""
    unit: str = ""
    text_of: Callable[[int], str] | None = None
    width: float = 1
    channel: int = 0
    title: str = ""


class Curve(QObject):
    """Holds a signal (N,), which the legend names while it is `visible`, and which is drawn unless it is `hidden`
    there. `changed`: its points may differ now.

    `sharp` is False while single samples represent a long signal; it becomes True just before `changed`.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.name = self.mark = self.key = self.unit = self.title = ""
        self.channel = 0
        self.axis = SAMPLES
        self.text_of: Callable[[int], str] | None = None
        self.stroke, self.width = input_stroke(), 1.0
        self.visible = self.sharp = self.hidden = False
        self.state: State | None = None
        self.verdict = ""
        self.current = True
        self.pyramid: SignalPyramid | None = None
        self._background = Background(self)
        self._background.finished.connect(self._on_built)

    def set_signal(
        self,
        name: str,
        array: Array,
        axis: Axis,
        visible: bool = True,
        mark: str = "",
        stroke: Stroke = input_stroke(),  # noqa: B008 - a tuple that never changes
        key: str = "",
        unit: str = "",
        text_of: Callable[[int], str] | None = None,
        width: float = 1,
        channel: int = 0,
        title: str = "",
    ) -> None:
        """Show another signal, described as in Trace; its samples are not copied and must not change."""
        if array.ndim != 1:
            raise ValueError(f"a curve is (N,), not {array.shape}")
        if key != self.key:
            self.set_state(None, "", True)  # the verdict was on the previous result
        self.name, self.axis, self.visible, self.mark, self.key = name, axis, visible, mark, key
        self.stroke, self.unit, self.text_of, self.width = stroke, unit, text_of, width
        self.channel, self.title = channel, title
        if self.pyramid is None or not _same(self.pyramid.array, array):
            self._background.cancel()
            self.pyramid = pyramid = SignalPyramid(array)
            self.sharp = array.size <= LARGE
            if self.sharp:
                pyramid.build()
            else:
                self._background.start(lambda stop: pyramid if pyramid.build(stop) else None)

    @Slot(object)
    def _on_built(self, _pyramid: object) -> None:
        self.sharp = True
        self.changed.emit()

    def set_state(self, state: State | None, text: str, current: bool) -> bool:
        """Set the verdict on the curve and whether it fits the present choice. Returns whether anything changed."""
        before = self.state, self.verdict, self.current
        self.state, self.verdict, self.current = state, text, current
        return before != (state, text, current)

    def clear(self) -> None:
        """Release the samples."""
        self._background.cancel()
        self.pyramid, self.visible, self.sharp, self.text_of = None, False, False, None
        self.set_state(None, "", True)

    @property
    def drawn(self) -> bool:
        """Whether it has samples and is to be drawn."""
        return self.visible and not self.hidden and self.pyramid is not None

    @property
    def step(self) -> float:
        """x units per value: seconds of a signal with a rate, else 1."""
        return self.axis.step

    @property
    def begin(self) -> float:
        """x of the first value."""
        return self.axis.start

    @property
    def end(self) -> float:
        """x of the last value."""
        return self.axis.at(len(self.pyramid.array) - 1) if self.pyramid else 0.0

    def points(self, start: float, stop: float, width: int, log: bool = False) -> tuple[Array, Array] | None:
        """Points (x, y) of the range in x units for `width` screen pixels, with one more value at either end. If `log`,
        the pixels have equal widths on a logarithmic axis, and the range is above zero."""
        if self.pyramid is None:
            return None
        size = len(self.pyramid.array)
        first = int(min(max(self.axis.index(start) - 1, 0), size))
        last = int(min(max(self.axis.index(stop) + 2, 0), size))
        if log:
            places = np.geomspace(start, stop, width + 1)
            inner = np.ceil((places - self.axis.start) / self.axis.step - 1e-9).astype(np.int64)
            edges = np.unique(np.clip([first, *inner, last], max(first, self._first_above_zero()), last))
            x, y = self.pyramid.points_between(edges)
        else:
            x, y = self.pyramid.points(first, last, width)
        return x * self.axis.step + self.axis.start, y

    def gaps(self, start: float, stop: float) -> Array:
        """x of the samples from `start` to `stop` that are NaN or infinite, or of the middles of buckets that hold
        any."""
        if self.pyramid is None:
            return np.empty(0)
        size = len(self.pyramid.array)
        first = int(min(max(math.ceil(self.axis.index(start)), 0), size))
        last = int(min(max(math.floor(self.axis.index(stop)) + 1, 0), size))
        return np.asarray(self.pyramid.gaps(first, last) * self.axis.step + self.axis.start)

    def _first_above_zero(self) -> int:
        """The first value whose x is above zero."""
        return max(0, math.floor(self.axis.index(0.0) + 1e-9) + 1)

    @property
    def least(self) -> float:
        """The lowest x above zero."""
        return self.axis.at(self._first_above_zero())

    def value(self, x: float) -> float | None:
        """The value nearest to x; None outside the curve."""
        if self.pyramid is None:
            return None
        index = round(self.axis.index(x))
        return float(self.pyramid.array[index]) if 0 <= index < len(self.pyramid.array) else None


def is_faint(curve: Curve, curves: Sequence[Curve]) -> bool:
    """Whether a curve is drawn faintly among others: a result of an earlier setting, and the input behind results."""
    return not curve.current or (curve.key == INPUT and any(c.visible and c.key != INPUT for c in curves))


def _same(one: Array, other: Array) -> bool:
    """Whether both are the same samples of one array: channels are sliced again for every result but hold the same
    samples. Only an array may be the base, because other memory may later belong to another array."""
    if one is other:
        return True
    whole = isinstance(one.base, np.ndarray) and one.base is other.base
    return whole and one.__array_interface__ == other.__array_interface__
