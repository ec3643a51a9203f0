"""One result as it came, and as it is drawn. No widgets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from app.models.display import Levels
from app.models.origin import WHOLE, Origin
from gpu_ops.engine.messages import SharedResult, Statistics
from gpu_ops.engine.statistics import statistics
from gpu_ops.output_kinds import Axis, Form

Array = np.ndarray[Any, Any]
DECIBEL = "dB"
INPUT = "input"
"""What the input goes by among the variants."""


@dataclass(frozen=True, eq=False)
class Shown:
    """One output of a variant, or the input: what the engine says of it, its array, and what it is of."""

    result: SharedResult
    array: Array
    origin: Origin = WHOLE


@dataclass(frozen=True, eq=False)
class Drawn:
    """What a view draws: an array with its form and the unit of its values. `read` is what is read at the cursor where
    that is not what is drawn; `levels` are black and white where they are not those of the values."""

    array: Array
    form: Form
    unit: str = ""
    statistics: Statistics | None = None
    read: Array | None = None
    levels: Levels | None = None
    text: str = ""

    @property
    def values(self) -> Array:
        """What is read at the cursor."""
        return self.array if self.read is None else self.read


# What is worked out has memory of its own: the result's may be gone while it is still drawn.


def as_it_is(shown: Shown) -> Drawn:
    """Nothing is worked out."""
    result = shown.result
    return Drawn(shown.array, result.form, result.unit, result.statistics, text=result.text)


def decibels(shown: Shown) -> Drawn:
    """The magnitudes of a spectrum, 20 · log10, in dB. Of nothing it would be minus infinity: there the smallest
    magnitude stands that the dtype tells from the largest."""
    array, form = centred(shown)
    drawn = Drawn(np.abs(array), form, DECIBEL, text=shown.result.text)
    largest = float(np.max(drawn.array, initial=0.0, where=np.isfinite(drawn.array)))
    least = max(largest * float(np.finfo(drawn.array.dtype).eps), float(np.finfo(drawn.array.dtype).tiny))
    array = np.maximum(drawn.array, least)
    np.log10(array, out=array)
    array *= 20
    figures = statistics(array)
    levels = figures.percentiles[1], figures.maximum
    return _seen(replace(drawn, array=array, statistics=figures, levels=levels))


def magnitudes(shown: Shown) -> Drawn:
    """The magnitudes of a spectrum, zero frequency in the middle where it is whole."""
    array, form = centred(shown)
    return _seen(Drawn(np.abs(array), form, shown.result.unit, shown.result.statistics, text=shown.result.text))


def phases(shown: Shown) -> Drawn:
    """The phases of a complex spectrum, in radians from -π to π."""
    array, form = centred(shown)
    angles = np.angle(array)
    return _seen(Drawn(angles, form, "rad", statistics(angles), levels=(-np.pi, np.pi), text=shown.result.text))


def centred(shown: Shown) -> tuple[Array, Form]:
    """A spectrum with zero in the middle of every axis that goes once around: what lies beyond half a period is the
    same as what lies as far below zero."""
    array, axes = shown.array, list(shown.result.form.axes)
    for place, axis in enumerate(axes):
        if turned := _beyond(axis, array.shape[place]):
            array = np.roll(array, turned, place)
            axes[place] = replace(axis, start=axis.start - turned * axis.step)
    return array, replace(shown.result.form, axes=tuple(axes))


def _beyond(axis: Axis, count: int) -> int:
    """How many of the last elements of an axis lie beyond half its period; 0 of one that does not go once around."""
    if not axis.period or abs(count * axis.step) < axis.period * (1 - 0.5 / count):
        return 0
    places = np.arange(count) * axis.step + axis.start
    return int(np.count_nonzero(places >= axis.period / 2 - 1e-9 * axis.period))


def each_band(shown: Shown) -> Drawn:
    """Coefficients of a pyramid, every band by its own largest: the finest are seen beside the coarsest. What is read
    are the coefficients."""
    array = np.zeros(shown.array.shape, np.float32)
    for band in shown.result.form.bands:
        part = shown.array[band.part].astype(np.float32)
        largest = float(np.abs(part).max(initial=0.0, where=np.isfinite(part)))
        array[band.part] = part / (largest or 1.0)
    result = shown.result
    read, levels = np.array(shown.array), (-1.0, 1.0)
    return _seen(Drawn(array, result.form, result.unit, statistics(array), read, levels, result.text))


def coefficients(shown: Shown) -> Drawn:
    """Coefficients of a pyramid as they are; float32 where they are integers."""
    return _seen(replace(as_it_is(shown), array=_floats(shown.array), read=np.array(shown.array)))


def _seen(drawn: Drawn) -> Drawn:
    """A picture shows one channel or three colours: of two the first, of more the first three. All of them are read."""
    if drawn.form.rank < 2 or drawn.array.ndim < 3 or drawn.array.shape[2] == 3:
        return drawn
    array = drawn.array[:, :, :3] if drawn.array.shape[2] > 3 else drawn.array[:, :, 0]
    return replace(drawn, array=np.ascontiguousarray(array), read=drawn.values)


def _floats(array: Array) -> Array:
    return array.astype(array.dtype if array.dtype.kind == "f" else np.float32)
