"""The statistics of a region: of the input and of each result there. No Qt."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from app.models.results.view_data import INPUT, Array
from gpu_ops.output_kinds import subtracted

STRIP = 1 << 16
"""Values per step, after which a background thread checks whether to stop."""
MANY = 1 << 21
"""From so many values on, a compiled loop on all cores is worth loading."""
COMPILED = ("uint8", "uint16", "float32", "float64")
"""The types for which there is a compiled loop."""
Stop = Callable[[], bool]


def _never() -> bool:
    return False


@dataclass(frozen=True, eq=False)
class Sampled:
    """The input, or a result on the grid of the input: `values` (h, w), (h, w, C), (n,) or (n, C), which
    begin at `start` of the input. `channels` are the names of C channels, one empty name where there are none;
    `current` says whether it fits the present choice."""

    key: str
    title: str
    values: Array
    start: tuple[int, ...]
    channels: tuple[str, ...] = ("",)
    unit: str = ""
    current: bool = True


@dataclass(frozen=True)
class Figures:
    """Statistics of some values. All but the three counts are of finite values, NaN where there are none; `low`, `high`
    and a `median` that is one of the values are int for integers, because float is not exact beyond 2^53; `deviation`
    is the population's (divided by n). `rms_difference` is the root mean square difference from the input; None for the
    input itself."""

    count: int
    mean: float
    deviation: float
    low: float
    median: float
    high: float
    nan: int = 0
    infinite: int = 0
    rms_difference: float | None = None


@dataclass(frozen=True)
class FigureRow:
    """The statistics of one channel of a result."""

    key: str
    title: str
    channel: str
    unit: str
    current: bool
    figures: Figures


def size_of(sources: Sequence[Sampled], start: Sequence[int], shape: Sequence[int]) -> int:
    """How many values `figure_rows` reads."""
    return sum(part.size for source in sources if (part := part_of(source, start, shape)) is not None)


def part_of(source: Sampled, start: Sequence[int], shape: Sequence[int]) -> Array | None:
    """The values (…, C) of a part of the input that a source covers; None where it covers nothing of that part."""
    cut = tuple(slice(low, high) for low, high in _common(source, start, shape))
    if any(part.stop <= part.start for part in cut):
        return None
    inner = tuple(slice(part.start - at, part.stop - at) for part, at in zip(cut, source.start, strict=True))
    values = source.values[inner]
    return values[..., None] if values.ndim == len(cut) else values


def _common(source: Sampled, start: Sequence[int], shape: Sequence[int]) -> list[tuple[int, int]]:
    """Along each axis the start and the end of the part that a source covers."""
    axes = zip(start, shape, source.start, source.values.shape, strict=False)
    return [(max(at, first), min(at + n, first + count)) for at, n, first, count in axes]


def figure_rows(
    sources: Sequence[Sampled], start: Sequence[int], shape: Sequence[int], stop: Stop = _never
) -> list[FigureRow] | None:
    """A row for each channel of each source, for the part of the input from `start` on; None when `stop` returned True
    first. Where a source covers only some of the part, its row is of those values."""
    rows: list[FigureRow] = []
    base = next((source for source in sources if source.key == INPUT), None)
    for source in sources:
        part = part_of(source, start, shape)
        for place, channel in enumerate(source.channels):
            figures = NOTHING
            if part is not None and place < part.shape[-1]:
                rms_difference = None
                if base is not None and source is not base:
                    rms_difference = _rms_difference(source, base, place, _common(source, start, shape), stop)
                found = figures_of(part[..., place], stop)
                if found is None:
                    return None
                figures = replace(found, rms_difference=rms_difference)
            rows.append(FigureRow(source.key, source.title, channel, source.unit, source.current, figures))
    return None if stop() else rows


NOTHING = Figures(0, math.nan, math.nan, math.nan, math.nan, math.nan)
"""The statistics of no values."""


def _rms_difference(
    source: Sampled, base: Sampled, place: int, common: Sequence[tuple[int, int]], stop: Stop
) -> float | None:
    """The root mean square difference of a channel from the input, over pairs of finite values; None where the two do
    not have the same channels."""
    if len(source.channels) != len(base.channels):
        return None
    start, shape = [low for low, _ in common], [high - low for low, high in common]
    one, other = part_of(source, start, shape), part_of(base, start, shape)
    if one is None or other is None or one.shape != other.shape:
        return None
    found = _distance(one[..., place], other[..., place], stop)
    if found is None:
        return None
    count, total = found
    return math.sqrt(total / count) if count else math.nan


def _distance(one: Array, other: Array, stop: Stop) -> tuple[int, float] | None:
    """How many pairs of finite values there are, and the sum of their squared differences."""
    if _many(one) and _many(other):
        from gpu_ops.engine import region

        return region.distance(_flat(one), _flat(other), stop)
    total, count = 0.0, 0
    for a, b in zip(_strips(one), _strips(other), strict=True):
        if stop():
            return None
        with np.errstate(over="ignore"):
            away: Any = subtracted(a, b)
            finite = np.isfinite(away)
            away = away if finite.all() else away[finite]
            total, count = total + float(np.dot(away, away)), count + away.size
    return count, total


def _many(values: Array) -> bool:
    return values.size >= MANY and values.dtype.name in COMPILED and values.ndim <= 2


def _flat(values: Array) -> Array:
    """The values as (h, w)."""
    return values[None] if values.ndim == 1 else values


def figures_of(values: Array, stop: Stop = _never) -> Figures | None:
    """The statistics of values of any shape; None when `stop` returned True first."""
    if not values.size:
        return NOTHING
    if values.dtype == np.bool_:
        values = values.view(np.uint8)
    if values.dtype.kind == "f" and _many(values):
        return _of_many(values, stop)
    if values.dtype.kind == "u" and values.dtype.itemsize <= 2:
        return _of_levels(values, stop)
    return _of_reals(values, stop)


def _strips(values: Array) -> Iterator[Array]:
    """The values as flat strips of about STRIP values, in order."""
    rows = max(1, STRIP // max(1, values[0].size))
    for top in range(0, len(values), rows):
        yield values[top : top + rows].reshape(-1)


def _of_levels(values: Array, stop: Stop) -> Figures | None:
    """Statistics of integers with few levels, from the counts of the levels; exact."""
    counts = _levels(values, stop)
    if counts is None:
        return None
    found = np.flatnonzero(counts)
    number, total = counts[found], int(counts.sum())
    mean = int(number @ found) / total
    deviation = math.sqrt(float(number @ (found - mean) ** 2) / total)
    ends = np.searchsorted(np.cumsum(number), [(total - 1) // 2 + 1, total // 2 + 1])
    lower, upper = (int(value) for value in found[ends])
    median = upper if upper == lower else (lower + upper) / 2
    return Figures(total, mean, deviation, int(found[0]), median, int(found[-1]))


def _levels(values: Array, stop: Stop) -> Array | None:
    """The counts of the levels."""
    if _many(values):
        from gpu_ops.engine import region

        return region.levels(_flat(values), stop)
    counts = np.zeros(np.iinfo(values.dtype).max + 1, np.int64)
    for strip in _strips(values):
        if stop():
            return None
        counts += np.bincount(strip, minlength=counts.size)
    return counts


def _of_many(values: Array, stop: Stop) -> Figures | None:
    """Statistics of many floats; where squares overflow, those of _of_reals."""
    from gpu_ops.engine import region

    found = region.moments(_flat(values), stop)
    if found is None or not (found.size == 0 or math.isfinite(found.mean + found.squares)):
        return None if found is None else _of_reals(values, stop)
    deviation = math.sqrt(max(found.squares, 0.0) / found.size) if found.size else math.nan
    infinite = values.size - found.size - found.nan
    return Figures(values.size, found.mean, deviation, found.low, found.median, found.high, found.nan, infinite)


def _of_reals(values: Array, stop: Stop) -> Figures | None:
    """Statistics of floats and wide integers: one pass for mean and deviation, and a partial sort for the median."""
    real, size = np.empty(values.size, values.dtype), 0
    nan, mean, squares = 0, 0.0, 0.0
    for strip in _strips(values):
        if stop():
            return None
        finite = np.isfinite(strip)
        if not finite.all():
            nan += int(np.count_nonzero(np.isnan(strip)))
            strip = strip[finite]
        real[size : size + strip.size] = strip
        mean, squares = _joined(size, mean, squares, strip)
        size += strip.size
    if not size:
        return replace(NOTHING, count=values.size, nan=nan, infinite=values.size - nan)
    real = real[:size]
    low, high = real.min().item(), real.max().item()
    deviation = math.sqrt(max(squares, 0.0) / size)
    if not math.isfinite(mean + squares):  # squares of the largest numbers overflow
        peak = max(abs(low), abs(high))
        small = real / real.dtype.type(peak)
        mean, deviation = (float(f(small, dtype=np.float64)) * peak for f in (np.mean, np.std))
    infinite = values.size - size - nan
    return Figures(values.size, mean, deviation, low, _median(real), high, nan, infinite)


def _joined(size: int, mean: float, squares: float, strip: Array) -> tuple[float, float]:
    """The mean of `size` values and the sum of their squared distances from it, after adding more values. Every strip
    has its own mean, so that large values of small deviation lose no precision (Chan, Golub and LeVeque, 1979)."""
    if not strip.size:
        return mean, squares
    with np.errstate(over="ignore", invalid="ignore"):
        wide = strip.astype(np.float64)
        own = float(wide.mean())
        wide -= own
        delta = np.float64(own) - mean
        share = strip.size / (size + strip.size)
        return float(mean + delta * share), float(squares + np.dot(wide, wide) + delta * delta * size * share)


def _median(real: Array) -> float:
    """The median of finite values, which are reordered in place."""
    middle = real.size // 2
    real.partition(middle)
    upper: float = real[middle].item()
    lower: float = upper if real.size % 2 else real[:middle].max().item()
    return upper if upper == lower else lower / 2 + upper / 2
