"""The bins of a histogram: the rule that the reference, the CPU and the GPU share.

Bin k contains the values v with edges[k] <= v < edges[k + 1]; the last one includes its upper edge. The edges are those
of numpy.histogram_bin_edges: for an automatic range computed in the samples' own type, for a given one in float64 and
rounded to it. If that type would overflow, or its step among subnormal numbers would be too coarse, they are computed
in float64 nevertheless. A value's bin is found by comparing it with the edges, never by rounding a quotient, so every
variant finds the same one. Compiled loops and kernels compare in the samples' own type, with the bounds: the minimum
value of each bin, and the minimum one above the last bin.

The automatic range is that of the type for integers, 0 to 256 or 65536, so that a bin contains whole levels; for floats
it is from the minimum to the maximum finite sample. If those are one value v, it is v ± max(1/2, |v| / 1024), as
NumPy's for values up to 512.

The luminance of a colour image is that of Rec. 601: (299 R + 587 G + 114 B + 500) // 1000 for integers; for floats
0.299 R + 0.587 G + 0.114 B in float64, clamped to the range of the three and rounded to their type.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_ops.errors import ParamError
from gpu_ops.output_kinds import CHANNEL, Axis, Form
from gpu_ops.task import Task

Array = np.ndarray[Any, Any]

COLOURS = ("red", "green", "blue")
OUTSIDE = ("below the range", "above the range", "not a number")
PERCENTS = (1, 5, 25, 50, 75, 95, 99)
FIGURES = (
    "mean",
    "deviation",
    *("median" if percent == 50 else f"percentile {percent}" for percent in PERCENTS),
    "entropy in bits",
)
MOST = 2**32 - 1
"""The maximum number of samples per channel for 32-bit counts."""


@dataclass(frozen=True, eq=False)
class Bins:
    """How samples are counted. `step` is the number of values of a pixel or sample, of which the first `colours` are
    counted: each in its own histogram, or as one luminance (`grey`). `bounds` (count + 1,) are int32 for integers, else
    in the samples' type. (v - low) · scale is close to a value's bin. `middles` (count,) represent the samples of each
    bin in statistics, and `size` is the largest magnitude among them, or 1. `span` is the range as numpy.histogram
    takes it, in the type in which it computes the edges."""

    count: int
    step: int
    colours: int
    grey: bool
    edges: Array
    bounds: Array
    middles: Array
    low: float
    scale: float
    size: float
    span: tuple[Any, Any]

    @property
    def histograms(self) -> int:
        """The number of histograms."""
        return 1 if self.grey else self.colours

    @property
    def ends(self) -> tuple[float, float]:
        """The range of equalised samples: the first and the last level of the range, or its edges."""
        if self.bounds.dtype.kind == "i":
            return float(self.bounds[0]), float(max(self.bounds[-1] - 1, self.bounds[0]))
        return float(self.edges[0]), float(self.edges[-1])


def bins_of(task: Task) -> Bins:
    """The bins of a task whose meta has the minimum and maximum sample."""
    count, step = task.params["bins"], task.meta.channels
    colours, low, top = colours_of(task), *span(task)
    edges = _edges(low, top, count, task.dtype, own=task.params["range"] == "auto")
    bounds = _bounds(edges, task.dtype)
    middles = _middles(edges, bounds)
    size = float(np.abs(middles).max()) or 1.0
    most = float(np.finfo(task.dtype if task.dtype.kind == "f" else np.float32).max)
    with np.errstate(over="ignore", divide="ignore"):
        scale = min(float(count / np.float64(edges[-1] - edges[0])), most)
    grey = histograms_of(task) < colours
    ends: tuple[Any, Any] = low, top
    if task.params["range"] == "auto" and task.dtype.kind == "f":
        ends = (task.dtype.type(low), task.dtype.type(top))
    return Bins(count, step, colours, grey, edges, bounds, middles, float(edges[0]), scale, size, ends)


def colours_of(task: Task) -> int:
    """The number of values of a pixel or sample that are counted: all but the alpha of an image."""
    channels = task.meta.channels
    return 3 if task.meta.kind == "image" and channels == 4 else channels


def histograms_of(task: Task) -> int:
    """The number of histograms."""
    colours = colours_of(task)
    return 1 if colours == 3 and task.params.get("colours") == "luminance" else colours


def span(task: Task) -> tuple[float, float]:
    """The range of a task: its lowest and its highest edge."""
    if task.params["range"] == "given":
        return float(task.params["low"]), float(task.params["high"])
    if task.dtype.kind == "u":
        return 0.0, float(np.iinfo(task.dtype).max + 1)
    low, high = task.meta.low, task.meta.high
    if low == high:
        half, most = max(0.5, abs(low) / 1024), float(np.finfo(task.dtype).max)
        low, high = max(low - half, -most), min(high + half, most)
    return low, high


def check(task: Task) -> None:
    """Raises ParamError for an empty range, and for more samples than the counts can represent."""
    if task.params["range"] == "given":
        low, high = span(task)
        kind: Any = task.dtype.type if task.dtype.kind == "f" else np.float64
        if not kind(low) < kind(high):
            raise ParamError(
                f"The range from {low:.9g} to {high:.9g} has no width in {task.meta.dtype}: "
                "choose low below high, or range auto."
            )
    samples = task.meta.size // task.meta.channels
    if samples > MOST:
        raise ParamError(
            f"A histogram counts up to {MOST:,} samples of a channel, this input has {samples:,}: take a part."
        )


def _edges(low: float, high: float, count: int, dtype: np.dtype[Any], own: bool) -> Array:
    """(count + 1,) float64, each of them representable in the samples' type if that is floating-point. `own`: NumPy's
    type of an automatic range, that of floating-point samples."""
    # linspace multiplies a step, which may overflow, and which is too coarse among subnormal numbers.
    if own and dtype.kind == "f" and _is_fine(low, high, count, dtype):
        # As histogram_bin_edges does, which refuses ranges that have fewer numbers than bins.
        return np.linspace(dtype.type(low), dtype.type(high), count + 1, dtype=dtype).astype(np.float64)
    factor = 0.5 if np.isinf(high - low) else 2.0**100 if high - low < 2.0**-900 else 1.0
    edges = np.linspace(factor * low, factor * high, count + 1) / factor
    return edges.astype(dtype).astype(np.float64) if dtype.kind == "f" else edges


def _is_fine(low: float, high: float, count: int, dtype: np.dtype[Any]) -> bool:
    """Whether the width of a range and of its bins are normal numbers of a type."""
    kind = np.finfo(dtype)
    return float(dtype.type(low)) < float(dtype.type(high)) and (
        high - low <= float(kind.max) and (high - low) / count >= float(kind.smallest_normal)
    )


def _bounds(edges: Array, dtype: np.dtype[Any]) -> Array:
    if dtype.kind == "u":
        least = np.append(np.ceil(edges[:-1]), np.floor(edges[-1]) + 1)
        whole: Array = np.clip(least, 0, np.iinfo(dtype).max + 1).astype(np.int32)
        return whole
    bounds = edges.astype(dtype)
    with np.errstate(over="ignore"):
        bounds[-1] = np.nextafter(bounds[-1], dtype.type(np.inf))
    return bounds


def _middles(edges: Array, bounds: Array) -> Array:
    """The middle of a bin's levels, if it contains some; else the middle of its edges."""
    middles = edges[:-1] / 2 + edges[1:] / 2
    if bounds.dtype.kind != "i":
        return middles
    return np.where(bounds[1:] > bounds[:-1], (bounds[:-1] + bounds[1:] - 1.0) / 2, middles)


# The forms of the outputs.


def counts_form(task: Task) -> Form:
    """(B,) of one channel, (C, B) of several."""
    low, high = span(task)
    bins, channels = task.params["bins"], _channel_axis(task)
    axis = Axis("value", start=low, step=high / bins - low / bins)
    return Form((*(histograms_of(task) for _ in channels), bins), "uint32", (*channels, axis))


def outside_form(task: Task) -> Form:
    return _table(task, "samples", OUTSIDE, "uint32")


def statistics_form(task: Task) -> Form:
    return _table(task, "figure", FIGURES, "float64")


def _table(task: Task, name: str, rows: tuple[str, ...], dtype: str) -> Form:
    """(rows,) of one channel, (rows, C) of several."""
    channels = _channel_axis(task)
    return Form((len(rows), *(histograms_of(task) for _ in channels)), dtype, (Axis(name, labels=rows), *channels))


def _channel_axis(task: Task) -> tuple[Axis, ...]:
    """The axis of channels; none of a single one."""
    if histograms_of(task) == 1:
        return ()
    return (Axis(CHANNEL, labels=COLOURS if task.meta.kind == "image" else ()),)
