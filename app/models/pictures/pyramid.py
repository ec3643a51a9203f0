"""Pictures reduced by factors of two, cut to the viewport and mapped to bytes. No Qt.

Rule of reduction: a cell shows the mean of its four pixels – unless, in one-channel images, one pixel is off the mean
of the other three by more than 0.9 of the image's span (0.1 to 99.9 percentile): then it shows that pixel. So a hot
pixel survives every level, while plain noise fades as it should. (Of two pixels, merged where a viewport falls between
levels, the one further from the image's median is the outlier.) A cell that holds NaN is NaN, so NaN survives too.

Device pixels form a grid that is fixed to the image: pixel (i, j) covers the `scale` × `scale` image pixels from
(i · scale, j · scale) on, for any viewport. So a pixel's value does not depend on the viewport.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.models.pictures.nonfinite import painted

Array = np.ndarray[Any, Any]
DRAWN = {
    **dict.fromkeys(("uint8", "uint16", "float32", "float64")),
    **dict.fromkeys(("bool", "int8", "int16", "float16"), np.float32),
    **dict.fromkeys(("int32", "uint32", "int64", "uint64"), np.float64),
}
"""The types of images, each with the type that is drawn in its place; None where that is its own. Adjacent integers
beyond 2^53 look the same: values are read and compared in the image itself."""
PICKED = 2.0001  # cells per device pixel; more mean that a coarser level is missing
OUTLIER = 0.9  # share of the span: less than a full-scale pixel on black, but 5.6 sigma of noise
GRAY = np.repeat(np.arange(256, dtype=np.uint8)[:, None], 3, axis=1)
SMALLEST = 32  # pixels of the longer side where levels end
STRIP = 1 << 18  # values per step: intermediates stay in the cache, and the interpreter costs little
COARSEST = 2.0**62  # image pixels per device pixel: no level is coarser
LARGE = 1 << 22  # from so many values on, level 1 is not stored but computed for the visible part


@dataclass(frozen=True, eq=False)
class Samples:
    """`array` (h, w[, c]) has one value for each device pixel; the first is at (`x`, `y`)."""

    array: Array
    x: int
    y: int


class Pyramid:
    """Levels of an image (H, W) or (H, W, 3 | 4) of any type in DRAWN. The array is used in place; the levels take a
    third of its bytes in the type that is drawn. For a LARGE image they take a twelfth: its level 1 is None and is
    computed from the array where it is visible.

    Creating a pyramid takes no time. `build` computes the levels and may run in another thread while `sample` is
    called; until a level exists, `sample` picks single pixels from the finest coarser-than-needed data there is.
    `percentiles` (0.1, 50, 99.9) decide what an outlier is; they are estimated when not given. `at` is the (row,
    column) of the array's first pixel in the image that it is a part of; `sample` uses that image's coordinates.
    """

    def __init__(
        self, array: Array, percentiles: tuple[float, float, float] | None = None, at: tuple[int, int] = (0, 0)
    ) -> None:
        if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (3, 4)) or 0 in array.shape:
            raise ValueError(f"an image is (H, W), (H, W, 3) or (H, W, 4), not {array.shape}")
        if array.dtype.name not in DRAWN:
            raise ValueError(f"an image holds {', '.join(DRAWN)}, not {array.dtype}")
        self.array, self.at = array, at
        self.dtype = np.dtype(DRAWN[array.dtype.name] or array.dtype)
        self.levels: list[Array | None] = [array]
        self.threshold: float | None = None  # colour images have no outliers
        self.centre = 0.0
        if array.ndim == 2:
            low, self.centre, high = percentiles or quick_percentiles(array)
            self.threshold = OUTLIER * (high - low)
        self.complete = max(array.shape[:2]) <= SMALLEST

    @property
    def nbytes(self) -> int:
        """Bytes of the levels, without the array."""
        return sum(level.nbytes for level in self.levels[1:] if level is not None)

    def build(self, stop: Callable[[], bool] = lambda: False, scale: float = COARSEST) -> bool:
        """Compute all levels, or those for `scale` image pixels per device pixel. False when `stop` returned True
        first."""
        while not self.complete and len(self.levels) <= _level(scale):
            skipped: list[Array | None] = [None] if len(self.levels) == 1 and self.array.size > LARGE else []
            level = self._reduced(len(skipped) + 1, stop)
            if level is None:
                return False
            self.levels += [*skipped, level]  # in one assignment: another thread reads them
            self.complete = max(level.shape[:2]) <= SMALLEST
        return True

    def _reduced(self, times: int, stop: Callable[[], bool]) -> Array | None:
        """The last level halved this many times, strip by strip, which needs little extra memory."""
        source, first = self.levels[-1], len(self.levels)
        assert source is not None
        height, width = source.shape[:2]
        step = 1 << times
        result = np.empty((-(-height // step), -(-width // step), *source.shape[2:]), self.dtype)
        rows = max(step, STRIP // source[0].size // step * step)
        for top in range(0, height, rows):
            if stop():
                return None
            strip = drawn(source[top : top + rows])
            for level in range(first, first + times):
                strip = self._halved(strip, level)
            result[top // step : top // step + len(strip)] = strip
        return result

    def _halved(self, cells: Array, level: int) -> Array:
        """Cells of `level` from those of the level before, which must start at even positions."""
        cells = _even(cells)
        bias = 1 + level % 2  # integers: halves are rounded down and up alternately, so that levels do not brighten
        return _merge((cells[0::2], cells[1::2]), lambda a: (a[:, 0::2], a[:, 1::2]), self._limit(4), self.centre, bias)

    def level(self, scale: float) -> int:
        """The coarsest existing level whose cells are at most `scale` image pixels wide."""
        return min(_level(scale), len(self.levels) - 1)

    def _size(self, level: int) -> tuple[int, int]:
        """Rows and columns of a level."""
        height, width = self.array.shape[:2]
        return -(-height >> level), -(-width >> level)

    def _cells(self, level: int, rows: slice, columns: slice) -> Array:
        """A part of a level, stored or not."""
        stored = self.levels[level]
        if stored is not None:
            return stored[rows, columns]
        finer = (slice(2 * part.start, 2 * part.stop) for part in (rows, columns))
        return self._halved(drawn(self.array[tuple(finer)]), level)

    def effort(self, scale: float, level: int) -> float:
        """Roughly the time that `sample` takes per device pixel, in units of 2 ns; 0 where it only picks values."""
        step = scale / (1 << level)
        if not 1 < step <= PICKED:
            return 0.0
        return 6.0 + (step if self.levels[level] is not None else scale) ** 2

    def sample(
        self, x: int, y: int, scale: float, width: int, height: int, level: int | None = None, pick: bool = False
    ) -> Samples:
        """The values of `width` × `height` device pixels from (`x`, `y`) on, with `scale` image pixels to each; pixels
        outside the image are left out. `level` defaults to `level(scale)`.

        Magnified, or with `pick`: the nearest pixel. Reduced: every cell belongs to exactly one device pixel, so none
        is lost.
        """
        level = self.level(scale) if level is None else level
        rows, columns = self._size(level)
        step = scale / (1 << level)
        below, right = (n / (1 << level) for n in self.at)
        first, last, left = _owned(x, step, width, columns, pick, right)
        head, tail, top = _owned(y, step, height, rows, pick, below)
        result = np.empty((len(head), len(first), *self.array.shape[2:]), self.dtype)
        if not result.size:
            return Samples(result, x, y)
        single = np.array_equal(first, last) and np.array_equal(head, tail)
        across = slice(int(first[0]), int(last[-1]) + 1)
        lines = max(1, int(STRIP / max(1, across.stop - across.start) / step))
        for at in range(0, len(head), lines):
            strip = slice(at, at + lines)
            down = slice(int(head[strip][0]), int(tail[strip][-1]) + 1)
            cells = self._cells(level, down, across)
            places = head[strip] - down.start, tail[strip] - down.start, first - across.start, last - across.start
            picked = _picked(cells, places[0], places[2]) if single else cells
            result[strip] = drawn(picked) if single else self._gathered(drawn(picked), *places)
        return Samples(result, left, top)

    def _gathered(self, cells: Array, head: Array, tail: Array, first: Array, last: Array) -> Array:
        """The cells of rows `head` and `tail` and columns `first` and `last`, merged."""
        limit: Any = self._limit(2)
        if limit is not None:
            limit = np.where((tail > head)[:, None] & (last > first), self._limit(4), limit)
        pairs = cells[head], cells[tail]
        return _merge(pairs, lambda a: (np.take(a, first, axis=1), np.take(a, last, axis=1)), limit, self.centre, 2)

    def _limit(self, count: int) -> Any:
        """How far one of `count` cells must be off their mean to be an outlier, in the type that is drawn."""
        if self.threshold is None:
            return None
        limit = self.threshold * (count - 1) / count
        dtype = self.dtype
        return dtype.type(min(limit, np.iinfo(dtype).max) if dtype.kind == "u" else limit)


def _picked(cells: Array, rows: Array, columns: Array) -> Array:
    """The cells at these rows and columns. Where most rows occur several times, each is gathered once and copied."""
    if len(rows) > len(cells):
        return cells.take(columns, axis=1).take(rows, axis=0)
    return cells[rows[:, None], columns]


def drawn(values: Array) -> Array:
    """The values of an image in the type that is drawn; alpha of converted integers becomes 0 to 1, as that of floats
    is."""
    kind = DRAWN[values.dtype.name]
    if kind is None:
        return values
    result: Array = values.astype(kind)
    if values.ndim == 3 and values.shape[2] == 4 and values.dtype.kind in "ui":  # alpha of bool is 0 or 1 already
        result[..., 3] /= np.iinfo(values.dtype).max
    return result


def _owned(start: int, step: float, count: int, cells: int, pick: bool, at: float) -> tuple[Array, Array, int]:
    """First and last cell of each of `count` device pixels from `start` on that covers any, and the first such pixel.
    `step` is the width of a pixel in cells, `at` the position of the first cell, in cells. The cells of a pixel depend
    only on the pixel's position."""
    pixels = np.arange(start, start + count + 1)
    if step <= 1:  # magnified: the cell under the pixel's centre
        first = last = np.floor((pixels[:-1] + 0.5) * step - at).astype(np.int64)
    else:  # reduced: the cells that start within the pixel; a single one while the level is missing
        bounds = np.ceil(pixels * step - at).astype(np.int64)
        first, last = bounds[:-1], bounds[1:] - 1
        if pick or step > PICKED:
            last = first
    inside = np.flatnonzero((last >= 0) & (first < cells))
    if not len(inside):
        return first[:0], first[:0], start
    first, last = (np.clip(a[inside[0] : inside[-1] + 1], 0, cells - 1) for a in (first, last))
    return first, last, start + int(inside[0])


def _even(strip: Array) -> Array:
    """The strip with its last row and column repeated where their number is odd."""
    odd = [(0, n % 2) for n in strip.shape[:2]] + [(0, 0)] * (strip.ndim - 2)
    return np.pad(strip, odd, mode="edge") if strip.shape[0] % 2 or strip.shape[1] % 2 else strip


def _merge(
    rows: tuple[Array, Array],
    split: Callable[[Array], tuple[Array, Array]],
    limit: Any,
    centre: float,
    bias: int,
) -> Array:
    """Merge four cells into one, by the rule of the module. `rows` are the upper and lower cells, `split` separates
    left from right. A cell that is off the mean by more than `limit` (None for no limit) stays; of two that are equally
    far, the one further from `centre`. `bias` (of 4) rounds integers."""
    dtype = rows[0].dtype
    mean: Array
    wide = {"uint8": np.uint16, "uint16": np.uint32}.get(dtype.name)
    with np.errstate(invalid="ignore", over="ignore"):  # infinity minus infinity is NaN, and shown as such
        if wide:
            left, right = split(np.add(*rows, dtype=wide))
            mean = ((left + right + wide(bias)) >> 2).astype(dtype)
        else:
            left, right = split(rows[0] + rows[1])
            mean = left + right
            mean *= dtype.type(0.25)
        if limit is None:
            return mean
        high, low = np.maximum(*split(np.maximum(*rows))), np.minimum(*split(np.minimum(*rows)))
        above, below = high - mean, mean - low
        off = np.nonzero(np.maximum(above, below, out=above) > limit)
        if len(off[0]):
            top, floor, middle = (a[off].astype(np.float64) for a in (high, low, mean))
            up, down = top - middle, middle - floor
            tie = np.abs(up - down) <= 0.01 * (up + down) + (1 if wide else 0)  # rounding splits ties of integers
            mean[off] = np.where(np.where(tie, top - centre >= centre - floor, up > down), top, floor)
    return mean


def quick_sample(array: Array, count: int = 1 << 16) -> Array:
    """The finite values of about `count` pixels, evenly spread, alpha left out; may be empty."""
    step = max(1, int(np.sqrt(array.shape[0] * array.shape[1] / count)))
    values = array[::step, ::step, :3] if array.ndim == 3 else array[::step, ::step]
    return values[np.isfinite(values)]


def quick_range(array: Array) -> tuple[float, float]:
    """Minimum and maximum of some 65,536 pixels: an estimate until exact statistics come. (0, 0) if none is finite."""
    values = quick_sample(array)
    return (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)


def _level(scale: float) -> int:
    """The level whose cells are the largest of at most `scale` image pixels, if the image has so many."""
    return int(np.floor(np.log2(scale) + 1e-9)) if scale > 1 else 0


def quick_percentiles(array: Array) -> tuple[float, float, float]:
    """0.1, 50 and 99.9 percentile of some 65,536 values."""
    values = quick_sample(array)
    if not values.size:
        return 0.0, 0.0, 0.0
    low, centre, high = np.percentile(values.astype(np.float64), (0.1, 50, 99.9))
    return float(low), float(centre), float(high)


def to_uint8(part: Array, low: float, high: float, lut: Array | None = None) -> Array:
    """Bytes ready to paint: `low` is black (or the first colour), `high` white (or the last); values beyond are
    clipped.

    part (h, w): gray (h, w), or RGBA (h, w, 4) where there is a `lut` (256, 3) or a value that is not finite.
    part (h, w, 3 | 4): RGBA; levels do not apply to alpha (integers: full scale, floats: 0 to 1). NaN and infinity have
    colours of their own.
    """
    part = drawn(part)
    if part.ndim == 3:
        return _color_bytes(part, low, high)
    if part.dtype.kind == "u":
        entries = _levelled(np.arange(np.iinfo(part.dtype).max + 1, dtype=np.float32), low, high)
        if lut is None:
            return np.take(entries, part)
        return _take_colors(_packed(lut)[entries], part)
    index, finite = _levelled(part, low, high), bool(np.isfinite(part).all())
    if lut is None and finite:
        return index
    colors = _take_colors(_packed(GRAY if lut is None else lut), index)
    if not finite:
        painted(colors, part)
    return colors


def _levelled(values: Array, low: float, high: float) -> Array:
    """Values between the levels as 0…255. Equal levels give black below, middle gray at and white above them. NaN gives
    any value."""
    with np.errstate(all="ignore"):
        if not high > low:
            return np.where(values == low, 128, np.where(values > low, 255, 0)).astype(np.uint8)
        work: Array = values - values.dtype.type(low)
        work *= values.dtype.type(255.0 / (high - low))
        work += values.dtype.type(0.5)
        np.clip(work, 0, 255, out=work)
        return work.astype(np.uint8)


def _packed(lut: Array) -> Array:
    """(n, 3) uint8 as n opaque RGBA words."""
    table = np.full((len(lut), 4), 255, np.uint8)
    table[:, :3] = lut
    return table.view(np.uint32)[:, 0]


def _take_colors(words: Array, index: Array) -> Array:
    return np.take(words, index).view(np.uint8).reshape(*index.shape, 4)


def _color_bytes(part: Array, low: float, high: float) -> Array:
    result = np.full((*part.shape[:2], 4), 255, np.uint8)
    color = part[..., :3]
    if part.dtype.kind == "u":
        full = float(np.iinfo(part.dtype).max)
        entries = _levelled(np.arange(full + 1, dtype=np.float32), low, high)
        result[..., :3] = np.take(entries, color)
    else:
        full = 1.0
        result[..., :3] = _levelled(color, low, high)
    if part.shape[2] == 4:
        result[..., 3] = _levelled(part[..., 3].astype(np.float32), 0.0, full)
    if part.dtype.kind == "f" and not np.isfinite(part).all():
        painted(result, part)
    return result
