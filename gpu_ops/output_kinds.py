"""Kinds of output: which arrays each allows, how two results are compared, which values enter its statistics, and a
summary line."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from gpu_ops.errors import KernelError, counted, signed

Array = np.ndarray[Any, Any]
ViewKind = Literal["image", "signal", "spectrum", "bars", "pyramid", "number", "table", "timeline"]

CHANNEL = "channel"
"""The name of an axis of channels."""
TIME = ("time", "s")
"""The name and the unit of an axis of times."""
SQUARE = "unit²"
"""A placeholder for the square of the input's unit in the unit of an output, such as "unit²/Hz"."""
OF_INPUT: tuple[ViewKind, ...] = ("image", "signal", "spectrum")
"""Kinds of output whose values have the unit of the input unless the filter names one."""


@dataclass(frozen=True)
class Axis:
    """One axis of an array. Element k is at `start` + k · `step`, in `unit`, which is empty for plain numbers; a bar
    extends from there to the next one. If there are `labels`, each element has a name instead. Positions that differ by
    `period` are equivalent, such as frequencies that differ by the sampling rate; 0 for an axis that is not
    periodic."""

    name: str
    unit: str = ""
    start: float = 0.0
    step: float = 1.0
    labels: tuple[str, ...] = ()
    period: float = 0.0

    def at(self, index: float) -> float:
        """The position of an element, in the axis's unit; `index` may be fractional."""
        return self.start + self.step * index

    def places(self, count: int) -> Array:
        """The positions of the first `count` elements, in the axis's unit, or their labels."""
        return np.array(self.labels[:count]) if self.labels else self.start + self.step * np.arange(count)

    def index(self, place: float) -> float:
        """The element at position `place`."""
        return (place - self.start) / self.step

    def text(self, index: float) -> str:
        """An element's position as text: "frequency 12.5 Hz"."""
        if self.labels:
            return self.labels[int(index)]
        value = self.at(index)
        return " ".join(t for t in (self.name, signed(value), self.unit) if t)

    def cut(self, start: int) -> Axis:
        """The axis from element `start` on."""
        labels = self.labels[start:]
        return Axis(self.name, self.unit, self.at(start), self.step, labels, self.period)


@dataclass(frozen=True)
class Band:
    """A band of a pyramid's array: the coefficients of one level and orientation. Level 1 is the finest. The
    orientation is approximation or detail for signals, and approximation, horizontal, vertical or diagonal for
    images."""

    level: int
    orientation: str
    start: tuple[int, ...]
    shape: tuple[int, ...]

    @property
    def part(self) -> tuple[slice, ...]:
        """Its slices in the array."""
        return tuple(slice(a, a + n) for a, n in zip(self.start, self.shape, strict=True))


@dataclass(frozen=True)
class Form:
    """The form of an output's array: its shape, its dtype, an Axis for each dimension, and the bands of a pyramid. If
    known, `label` is the name of the only channel of an array without a channel axis, and `unit` that of the input's
    values."""

    shape: tuple[int, ...]
    dtype: str
    axes: tuple[Axis, ...]
    bands: tuple[Band, ...] = ()
    label: str = ""
    unit: str = ""

    @property
    def rank(self) -> int:
        """The number of axes, the channel axis excluded."""
        return sum(axis.name != CHANNEL for axis in self.axes)

    def channels_last(self, array: Array) -> Array:
        """An array of this form with its channel axis, if any, moved to the end."""
        places = [place for place, axis in enumerate(self.axes) if axis.name == CHANNEL]
        return np.moveaxis(array, places, [-1] * len(places)) if places else array

    @property
    def width_first(self) -> tuple[int, ...]:
        """The extents in display order: x before y."""
        y_first = self.rank == 2 and self.axes[0].name.split()[-1:] == ["y"]
        return (*self.shape[1::-1], *self.shape[2:]) if y_first else self.shape

    def named(self, labels: Sequence[str]) -> Form:
        """The form with these channel names, if their number matches and the form has no names yet."""
        own = [place for place, axis in enumerate(self.axes) if axis.name == CHANNEL and not axis.labels]
        if len(own) != 1 or self.shape[own[0]] != len(labels):
            return self
        axes = tuple(replace(axis, labels=tuple(labels)) if k in own else axis for k, axis in enumerate(self.axes))
        return replace(self, axes=axes)

    def described(self, labels: Sequence[str], units: Sequence[str], start: float) -> Form:
        """The form with the metadata of a signal: the names of its channels, the unit of its values if all channels
        share one, and time axes that begin `start` seconds later."""
        form, common = self.named(labels), units[0] if len(set(units)) == 1 else ""
        timed = ((axis, (axis.name, axis.unit) == TIME) for axis in form.axes)
        axes = tuple(replace(axis, start=axis.start + start) if times else axis for axis, times in timed)
        alone = len(labels) == 1 and all(axis.name != CHANNEL for axis in axes)
        return replace(form, axes=axes, label=labels[0] if alone else "", unit=common)

    def unit_of(self, kind: ViewKind, unit: str, own: str = "") -> str:
        """The unit of an output's values: `unit` as the filter declares it, with the input's unit inserted if that is
        known; `own` is that of one channel."""
        known = own or self.unit
        if not known or (not unit and kind not in OF_INPUT):
            return unit
        if not unit:
            return known
        return unit.replace(SQUARE, f"({known})²" if set(known) & set("/·* ²³^") else f"{known}²")

    def cut(self, part: tuple[slice, ...]) -> Form:
        """The form of a part along the first axes."""
        rest = self.shape[len(part) :]
        extents = (len(range(*p.indices(n))) for p, n in zip(part, self.shape, strict=False))
        starts = [p.indices(n)[0] for p, n in zip(part, self.shape, strict=False)] + [0] * len(rest)
        axes = tuple(axis.cut(start) for axis, start in zip(self.axes, starts, strict=True))
        return replace(self, shape=(*extents, *rest), axes=axes, bands=() if part else self.bands)

    def begin_at(self, place: tuple[int, ...]) -> Form:
        """The same with axes that begin at these elements, for a part of a larger array."""
        starts = (*place, *(0,) * (len(self.axes) - len(place)))
        return replace(self, axes=tuple(axis.cut(start) for axis, start in zip(self.axes, starts, strict=True)))


@dataclass(frozen=True)
class Marks:
    """How to draw the rows of a table as marks over the outputs `over`, whichever of them is shown. `x` names the
    column with the position along a curve's axis, and `y` the height; over a picture they are the positions along the
    second and the first axis. The number in the column `label`, or else in `x`, is written next to a mark. Rows of
    zeros are unused. A table of several channels has the columns of each channel in turn, their names followed by
    numbers."""

    over: tuple[str, ...]
    x: str
    y: str
    label: str = ""

    def columns(self, form: Form) -> list[tuple[int, int, int]]:
        """The columns of x, y and label in a table of that form, for each channel; [] if one is missing."""
        stems = [re.sub(r" \d+$", "", name) for name in form.axes[-1].labels]
        x, y, label = ([k for k, s in enumerate(stems) if s == n] for n in (self.x, self.y, self.label or self.x))
        return list(zip(x, y, label, strict=False))


REAL = ("uint8", "uint16", "float32", "float64")
WHOLE = ("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64")
COMPLEX = ("complex64", "complex128")
NUMBERS = ("bool", *WHOLE, "float16", "float32", "float64")
"""What an image may contain: all real numbers, and bool for masks."""
TABLE_FILES, NUMBER_FILES = (".csv", ".npy", ".json"), (".txt", ".npy", ".json")
IMAGE_FILES = (".png", ".npy", ".tif", ".zarr", ".h5")
SIGNAL_FILES = (".npy", ".wav", ".flac", ".csv", ".txt", ".h5")
CURVE, PICTURE = "plt.plot({axes}[0], {array})", "plt.imshow({array}, cmap='gray')"
BARS = "plt.stairs({array}) of one channel"


def whole_array(array: Array) -> Array | None:
    """All values, for statistics."""
    return array


def colours(array: Array) -> Array | None:
    """An image without its alpha channel, which is not a brightness."""
    return array[..., :3] if array.ndim == 3 and array.shape[2] == 4 else array


def magnitudes(array: Array) -> Array | None:
    """The magnitudes of complex values; other values unchanged."""
    return np.abs(array) if array.dtype.kind == "c" else array


def nothing(array: Array) -> Array | None:
    """None: a few numbers of different meaning have no common statistics."""
    return None


@dataclass(frozen=True)
class OutputKind:
    """Everything that holds for all outputs of a kind.

    `dtypes` and `ranks` are those that the array may have. `figures(array)` gives the values for statistics, or None.
    `formats` are the file extensions that can store one, the default first. `summarise(array, form, unit)` is a
    one-line summary. `heard` means that a sound output can play it. Errors are absolute differences in every kind: the
    modulus of the difference of complex values, exact for integers; see `difference`.
    """

    id: ViewKind
    dtypes: tuple[str, ...]
    ranks: tuple[int, ...]
    formats: tuple[str, ...]
    figures: Callable[[Array], Array | None]
    summarise: Callable[[Array, Form, str], str]
    finite: bool = field(default=False)
    heard: bool = field(default=False)
    drawn: str = field(default="")

    @property
    def by_ends(self) -> bool:
        """Whether the summary of an array is that of its lowest and its highest finite value."""
        return self.summarise is summarise_values

    @property
    def stack_formats(self) -> tuple[str, ...]:
        """The file extensions that can store many of them as the frames of a stack, the default first."""
        return tuple(suffix for suffix in (".npy", ".tif", ".zarr", ".h5") if suffix in self.formats)

    def fault(self, dtype: str, rank: int) -> str:
        """Why an array cannot be of this kind, as the end of a sentence; "" if it can."""
        if dtype not in self.dtypes:
            return f"{dtype}, and {self.title} holds {', '.join(self.dtypes)}"
        if rank not in self.ranks:
            return f"of {rank} dimensions, and {self.title} has {' or '.join(map(str, self.ranks))}"
        return ""

    @property
    def title(self) -> str:
        """The kind in a sentence."""
        return f"{'an' if self.id[0] in 'aeiou' else 'a'} {self.id}"


def difference(expected: Array, actual: Array) -> Array:
    """Absolute differences in float64: exact of integers, the modulus of complex ones; 0 where both are the same NaN or
    infinity, infinite where only one is. Raises KernelError for a dtype that is no number."""
    for array in (expected, actual):
        if array.dtype.kind not in "buifc":
            raise KernelError(f"A result of {array.dtype} cannot be judged; give integers, floats or complex numbers.")
    if expected.dtype.kind in "bui" and actual.dtype.kind in "bui":
        return np.abs(subtracted(expected, actual))
    kind: Any = np.complex128 if "c" in (expected.dtype.kind, actual.dtype.kind) else np.float64
    a, b = expected.astype(kind), actual.astype(kind)
    with np.errstate(invalid="ignore", over="ignore"):
        result: Array = np.abs(a - b)
    odd = ~np.isfinite(result)
    if odd.any():
        same = _alike(a.real, b.real) & _alike(a.imag, b.imag) if kind is np.complex128 else _alike(a, b)
        result[odd] = np.where(same[odd], 0.0, np.inf)
    return result


def _alike(a: Array, b: Array) -> Array:
    return np.asarray((a == b) | (np.isnan(a) & np.isnan(b)))


def subtracted(a: Array, b: Array) -> Array:
    """a − b of real numbers in float64, rounded once: two different integers of any width never give 0, and nothing
    overflows. bool counts as 0 and 1; infinity minus infinity is NaN."""
    if {a.dtype.kind, b.dtype.kind} - {"u", "i"} or max(a.dtype.itemsize, b.dtype.itemsize) < 8:
        with np.errstate(invalid="ignore", over="ignore"):
            return np.asarray(np.subtract(a, b, dtype=np.float64))
    (high, low), (other_high, other_low) = _halves(a), _halves(b)
    return np.asarray((high - other_high) * 2.0**32 + (low - other_low))


def _halves(array: Array) -> tuple[Array, Array]:
    """Integers as h · 2^32 + l, both in float64, which represents them and their differences exactly."""
    wide = array if array.dtype.itemsize == 8 else array.astype(np.int64)
    return (wide >> 32).astype(np.float64), (wide & 0xFFFFFFFF).astype(np.float64)


def largest_magnitude(array: Array) -> float:
    """The largest finite magnitude of an array; 0 for an empty one. Integers are exact."""
    if not array.size:
        return 0.0
    if array.dtype.kind in "bui":
        return max(abs(float(array.max())), abs(float(array.min())))
    sizes = np.abs(array)
    finite = np.isfinite(sizes)
    sizes = sizes if finite.all() else sizes[finite]
    return float(sizes.max()) if sizes.size else 0.0


def _extent(form: Form) -> str:
    return " × ".join(map(str, form.width_first))


def _with_unit(value: Any, unit: str) -> str:
    if isinstance(value, complex):
        sign = "−" if math.copysign(1.0, value.imag) < 0 else "+"
        number = f"{signed(value.real)} {sign}{abs(value.imag):.6g}i"
    else:
        number = signed(value)
    return f"{number} {unit}".strip()


def summarise_values(array: Array, form: Form, unit: str) -> str:
    """Size, dtype and range of an image, a signal or a spectrum."""
    sizes = np.abs(array) if array.dtype.kind == "c" else array
    found = _range(sizes)
    what = "magnitudes " if array.dtype.kind == "c" else ""
    if found is None:
        return f"{_extent(form)} {form.dtype}, nothing finite"
    ends = (signed(int(end) if sizes.dtype.kind in "bui" else float(end)) for end in found)
    span = f"{what}{' … '.join(ends)} {unit}".strip()
    return f"{_extent(form)} {form.dtype}, {span}"


def _range(values: Array) -> tuple[Any, Any] | None:
    """The lowest and the highest finite value; None where there is none. Finite values are gathered only where there
    are others: for a large picture that takes longer than all the rest of a run on a GPU."""
    if not values.size:
        return None
    with np.errstate(invalid="ignore"):
        low, high = values.min(), values.max()
    if np.isfinite(low) and np.isfinite(high):
        return low, high
    return _range(values[np.isfinite(values)])


def summarise_bars(array: Array, form: Form, unit: str) -> str:
    """The number of bars, their axis, and their total."""
    axis, bins = form.axes[-1], form.shape[-1]
    span = f"{signed(axis.at(0))} … {signed(axis.at(bins))} {axis.unit}".strip()
    return f"{counted(bins, 'bar')} over {axis.name} {span}, {array.sum():.9g} {unit}".strip()


def summarise_bands(array: Array, form: Form, unit: str) -> str:
    """The number of levels of a pyramid."""
    levels = len({band.level for band in form.bands})
    return f"{counted(levels, 'level')}, {counted(len(form.bands), 'band')}, {_extent(form)} {form.dtype}"


def summarise_number(array: Array, form: Form, unit: str) -> str:
    """The number with its unit."""
    return _with_unit(array[()].item(), unit)


def summarise_table(array: Array, form: Form, unit: str) -> str:
    """The rows by name, or their number if there are many."""
    rows = array.reshape(len(array), math.prod(array.shape[1:]))
    if rows.shape[1] == 1 and len(rows) <= 8:
        return ", ".join(
            f"{form.axes[0].text(k)} {_with_unit(v.item(), unit)}" for k, v in enumerate(rows[:, 0], start=0)
        )
    return f"{counted(rows.shape[0], 'row')} of {rows.shape[1]}"


def summarise_spans(array: Array, form: Form, unit: str) -> str:
    """The number of spans, and the time from the first start to the last end."""
    if not len(array):
        return "no activity"
    return f"{counted(len(array), 'span')} in {_with_unit(array[:, 1].max() - array[:, 0].min(), 's')}"


OUTPUT_KINDS: Mapping[str, OutputKind] = {
    kind.id: kind
    for kind in (
        OutputKind("image", NUMBERS, (2, 3), IMAGE_FILES, colours, summarise_values, drawn=PICTURE),
        OutputKind("signal", REAL, (1, 2), SIGNAL_FILES, whole_array, summarise_values, heard=True, drawn=CURVE),
        OutputKind(
            "spectrum",
            ("float32", "float64", *COMPLEX),
            *((1, 2, 3), (".npy", ".csv"), magnitudes, summarise_values),
            drawn="plt.plot({axes}[0], abs({array})) of one dimension, plt.imshow(abs({array})) of two",
        ),
        OutputKind(
            "bars", (*WHOLE, "float32", "float64"), (1, 2), TABLE_FILES, whole_array, summarise_bars, True, drawn=BARS
        ),
        OutputKind("pyramid", (*WHOLE, "float32", "float64"), (1, 2, 3), (".npy",), whole_array, summarise_bands),
        OutputKind("number", (*WHOLE, "float32", "float64", *COMPLEX), (0,), NUMBER_FILES, nothing, summarise_number),
        OutputKind("table", (*WHOLE, "float32", "float64"), (1, 2), TABLE_FILES, nothing, summarise_table),
        OutputKind("timeline", ("float64",), (2,), TABLE_FILES, nothing, summarise_spans, True),
    )
}
"""By id. Bars are counts, (B,) or (C, B) with channels; the last axis has their positions. A timeline is (S, 4): start
and end in seconds, stream, bytes."""
