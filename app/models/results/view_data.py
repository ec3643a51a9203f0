"""A result as the engine sends it, and as a view draws it. No widgets."""

from __future__ import annotations

import colorsys
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from app.models.pictures.display import Levels
from app.models.results.origin import WHOLE, Origin
from gpu_ops.engine.shared import SharedInput, SharedResult, Statistics
from gpu_ops.engine.statistics import statistics
from gpu_ops.input_kinds import time_axis
from gpu_ops.output_kinds import OUTPUT_KINDS, Axis, Form

Array = np.ndarray[Any, Any]
DECIBEL, PERCENT = "dB", "%"
LABEL_COLOURS, GOLDEN = 1021, (5**0.5 - 1) / 2
"""Labels that differ by a multiple of LABEL_COLOURS have the same colour."""
SQUARE = "²"
"""The marker of squared values in a unit."""
TIMES = tuple(time_axis(rate).name for rate in (1.0, None))
"""The names of an axis of time, in seconds or in samples."""
INPUT = "input"
"""The key of the input among the variants."""


@dataclass(frozen=True, eq=False)
class OutputData:
    """One output of a variant, or the input: the engine's description, the array and its origin."""

    result: SharedResult
    array: Array
    origin: Origin = WHOLE


@dataclass(frozen=True, eq=False)
class ViewData:
    """What a view draws: an array with its form and the unit of its values. `read` holds the values for the cursor
    where they differ from the drawn ones, in `read_unit`; `levels` are black and white where they do not follow from
    the values. `decade` is the dB of a factor of ten in the values that the cursor reads; 0 where dB do not apply.
    `labels` says that the values are labels, drawn as colours."""

    array: Array
    form: Form
    unit: str = ""
    statistics: Statistics | None = None
    read: Array | None = None
    levels: Levels | None = None
    text: str = ""
    read_unit: str = ""
    decade: float = 0.0
    labels: bool = False

    @property
    def values(self) -> Array:
        """The values that the cursor reads."""
        return self.array if self.read is None else self.read

    @property
    def values_unit(self) -> str:
        """The unit of the values that the cursor reads."""
        return self.read_unit if self.decade else self.unit


def named(shown: OutputData, input: SharedInput | None) -> OutputData:
    """A result with the input's channel names, if it has as many channels and no names of its own."""
    labels = input.facts.labels if input is not None else ()
    form = shown.result.form.named(labels)
    return shown if form is shown.result.form else replace(shown, result=replace(shown.result, form=form))


# Computed arrays have their own memory: the result's may be released while the view still draws.


def unchanged_view(shown: OutputData) -> ViewData:
    """The result itself; nothing is computed."""
    result = shown.result
    return ViewData(shown.array, result.form, result.unit, result.statistics, text=result.text)


def decibels(shown: OutputData) -> ViewData:
    """The magnitudes of a spectrum in dB. Zero would be minus infinity: the picture, but not the cursor, shows the
    smallest magnitude that the dtype can distinguish from the largest."""
    linear = magnitudes(shown)
    read, kind = linear.values, np.finfo(linear.values.dtype)
    largest = float(np.max(read, initial=0.0, where=np.isfinite(read)))
    array = np.maximum(read, max(largest * float(kind.eps) ** (20 / linear.decade), float(kind.tiny)))
    np.log10(array, out=array)
    array *= linear.decade
    figures = statistics(array)
    levels = figures.percentiles[1], figures.maximum
    return _seen(replace(linear, array=array, unit=DECIBEL, statistics=figures, read=read, levels=levels))


def magnitudes(shown: OutputData) -> ViewData:
    """The magnitudes of a spectrum; of a whole period, with zero frequency in the middle."""
    (array, form), result = centred(shown), shown.result
    drawn = ViewData(np.abs(array), form, result.unit, result.statistics, text=result.text)
    return _seen(replace(drawn, read_unit=result.unit, decade=decade(result.unit)))


def decade(unit: str) -> float:
    """The dB of a factor of ten: 10 of squares, such as powers and their densities, else 20."""
    return 10.0 if SQUARE in unit else 20.0


def filled(table: Array) -> int:
    """The number of rows of a table (R,) or (R, C) up to the last nonzero one."""
    rows = np.flatnonzero(table.reshape(len(table), -1).any(axis=1))
    return int(rows[-1]) + 1 if len(rows) else 0


def filled_rows(shown: OutputData) -> ViewData:
    """A table. Where its rows have numbers instead of names, unused rows at the end are left out: their count depends
    on the values."""
    drawn = unchanged_view(shown)
    if drawn.form.axes[0].labels:
        return drawn
    rows = filled(shown.array)
    array, form = np.array(shown.array[:rows]), drawn.form.cut((slice(0, rows),))
    return replace(
        drawn, array=array, form=form, text=OUTPUT_KINDS[shown.result.kind].summarise(array, form, drawn.unit)
    )


def over_frequencies(shown: OutputData) -> ViewData:
    """Values over frequencies, unchanged; whole periods have zero frequency in the middle."""
    (array, form), result = centred(shown), shown.result
    array = np.array(array) if array is shown.array else array
    return _seen(ViewData(array, form, result.unit, result.statistics, text=result.text))


def in_decibels(shown: OutputData) -> ViewData:
    """Values over frequencies that are in dB already: levels from the lowest to the highest."""
    drawn = over_frequencies(shown)
    figures = shown.result.statistics or statistics(drawn.array)
    return replace(drawn, statistics=figures, levels=(figures.minimum, figures.maximum))


def phases(shown: OutputData) -> ViewData:
    """The phases of a complex spectrum, in radians from -π to π."""
    array, form = centred(shown)
    angles = np.angle(array)
    return _seen(ViewData(angles, form, "rad", statistics(angles), levels=(-np.pi, np.pi), text=shown.result.text))


def centred(shown: OutputData) -> tuple[Array, Form]:
    """A spectrum with zero in the middle of every axis that covers a whole period: its second half has the negative
    frequencies."""
    array, axes = shown.array, list(shown.result.form.axes)
    for place, axis in enumerate(axes):
        if turned := _beyond(axis, array.shape[place]):
            array = np.roll(array, turned, place)
            axes[place] = replace(axis, start=axis.start - turned * axis.step)
    return array, replace(shown.result.form, axes=tuple(axes))


def _beyond(axis: Axis, count: int) -> int:
    """How many of the last elements of an axis are beyond half its period; 0 where it does not cover a whole period."""
    if not axis.period or abs(count * axis.step) < axis.period * (1 - 0.5 / count):
        return 0
    places = np.arange(count) * axis.step + axis.start
    return int(np.count_nonzero(places >= axis.period / 2 - 1e-9 * axis.period))


def cumulative(shown: OutputData) -> ViewData:
    """Cumulative counts from the first bar on, in percent of the channel's total; the cursor reads the counts."""
    sums = np.cumsum(shown.array, axis=-1, dtype=np.float64)
    share = 100 * sums / np.maximum(sums[..., -1:], 1e-300)
    return ViewData(share, shown.result.form, PERCENT, read=np.array(shown.array), text=shown.result.text)


def each_band(shown: OutputData) -> ViewData:
    """Coefficients of a pyramid, each band divided by its own maximum, so that the finest are as visible as the
    coarsest. The cursor reads the coefficients themselves."""
    array = np.zeros(shown.array.shape, np.float32)
    for band in shown.result.form.bands:
        part = shown.array[band.part].astype(np.float32)
        largest = float(np.abs(part).max(initial=0.0, where=np.isfinite(part)))
        array[band.part] = part / (largest or 1.0)
    result = shown.result
    read, levels = np.array(shown.array), (-1.0, 1.0)
    return _seen(ViewData(array, result.form, result.unit, statistics(array), read, levels, result.text))


def around_zero(shown: OutputData) -> ViewData:
    """Values of either sign, with zero in the middle of the levels; of integers only where one is negative."""
    figures = shown.result.statistics or statistics(shown.array)
    most = float(max(abs(figures.minimum), abs(figures.maximum)))
    one_sided = shown.array.dtype.kind == "i" and figures.minimum >= 0
    return replace(unchanged_view(shown), array=np.array(shown.array), levels=None if one_sided else (-most, most))


def labelled(shown: OutputData) -> ViewData:
    """Labels (H, W) as colours, which differ between neighbouring numbers; 0, the background, is black."""
    labels = np.array(shown.array)
    wide = labels if labels.dtype.itemsize == 8 else labels.astype(np.int64)
    places = np.where(wide == 0, 0, 1 + np.mod(wide, LABEL_COLOURS)).astype(np.intp)
    return replace(unchanged_view(shown), array=label_colours()[places], read=labels, labels=True)


@cache
def label_colours() -> Array:
    """(LABEL_COLOURS + 1, 3) uint8: black, then hues at steps of the golden ratio, cycling through three strengths."""
    strengths = (1.0, 1.0), (0.5, 1.0), (0.9, 0.6)
    found = (colorsys.hsv_to_rgb(k * GOLDEN % 1, *strengths[k % 3]) for k in range(LABEL_COLOURS))
    return np.array([(0, 0, 0), *(tuple(round(255 * part) for part in colour) for colour in found)], np.uint8)


def coefficients(shown: OutputData) -> ViewData:
    """Coefficients of a pyramid, unchanged; integers as float32."""
    return _seen(replace(unchanged_view(shown), array=_floats(shown.array), read=np.array(shown.array)))


def _seen(drawn: ViewData) -> ViewData:
    """The channels that a picture shows: one or three; of two channels the first, of more the first three. The cursor
    reads all of them."""
    if drawn.form.rank < 2 or drawn.array.ndim < 3 or drawn.array.shape[2] == 3:
        return drawn
    array = drawn.array[:, :, :3] if drawn.array.shape[2] > 3 else drawn.array[:, :, 0]
    return replace(drawn, array=np.ascontiguousarray(array), read=drawn.values)


def _floats(array: Array) -> Array:
    return array.astype(array.dtype if array.dtype.kind == "f" else np.float32)
