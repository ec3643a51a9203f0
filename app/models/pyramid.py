"""Pictures reduced by factors of two, cut to the viewport and mapped to bytes. No Qt.

Rule of reduction: a cell shows the mean of its four pixels – unless, in one-channel images, one pixel is off the mean
of the other three by more than 0.9 of the image's span (0.1 to 99.9 percentile): then it shows that pixel. So a hot
pixel survives every level, while plain noise fades as it should. (Of two pixels, merged where a viewport falls between
levels, the one further from the image's median is the outlier.) A cell that holds NaN is NaN, so NaN survives too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
DTYPES = ("uint8", "uint16", "float32", "float64")
OUTLIER = 0.9  # of the span: less than a full-scale pixel on black, but 5.6 sigma of noise
NAN_COLOR = (255, 0, 255)  # magenta is in none of the colour maps
SMALLEST = 32  # pixels of the longer side where levels end
STRIP = 1 << 17  # values worked on at once: they and their intermediates stay in the second-level cache


@dataclass(frozen=True, eq=False)
class Part:
    """A cut of one level: `array` (h, w[, c]) starts at cell (`x`, `y`) of cells that are `factor` pixels wide."""

    array: Array
    x: int
    y: int
    factor: int


@dataclass(frozen=True, eq=False)
class Sampled:
    """What a viewport shows of an image: `array` (h, w[, c]), one value per device pixel, at (`x`, `y`) in it."""

    array: Array
    x: int
    y: int


class Pyramid:
    """Levels of an image (H, W) or (H, W, 3 | 4). The array is used in place; the levels take a third of its bytes.

    Making one costs nothing. `build` makes the levels and may run in another thread while `view` is asked; until a
    level exists, `sample` picks single pixels from the finest coarser-than-needed data there is.
    `percentiles` (0.1, 50, 99.9) decide what an outlier is; estimated when not given.
    """

    def __init__(self, array: Array, percentiles: tuple[float, float, float] | None = None) -> None:
        if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (3, 4)) or 0 in array.shape:
            raise ValueError(f"an image is (H, W), (H, W, 3) or (H, W, 4), not {array.shape}")
        if array.dtype.name not in DTYPES:
            raise ValueError(f"an image holds {', '.join(DTYPES)}, not {array.dtype}")
        self.levels: list[Array] = [array]
        self.threshold: float | None = None  # colours have no outliers
        self.centre = 0.0
        if array.ndim == 2:
            low, self.centre, high = percentiles or quick_percentiles(array)
            self.threshold = OUTLIER * (high - low)
        self.complete = max(array.shape[:2]) <= SMALLEST

    @property
    def array(self) -> Array:
        return self.levels[0]

    @property
    def nbytes(self) -> int:
        """Bytes that the levels take beside the array."""
        return sum(level.nbytes for level in self.levels[1:])

    def build(self, stop: Callable[[], bool] = lambda: False) -> bool:
        """Make all levels. False when `stop` said so first."""
        while not self.complete:
            level = self._reduced(self.levels[-1], stop)
            if level is None:
                return False
            self.levels.append(level)
            self.complete = max(level.shape[:2]) <= SMALLEST
        return True

    def _reduced(self, source: Array, stop: Callable[[], bool]) -> Array | None:
        """The next level, strip by strip, so that little memory is needed besides."""
        height, width = source.shape[:2]
        result = np.empty((-(-height // 2), -(-width // 2), *source.shape[2:]), source.dtype)
        rows = max(2, STRIP // max(1, width * (source.shape[2] if source.ndim == 3 else 1)) // 2 * 2)
        bias = 1 + len(self.levels) % 2  # integers: halves go down and up in turn, so that levels do not brighten
        for top in range(0, height, rows):
            if stop():
                return None
            strip = _even(source[top : top + rows])
            pairs = strip[0::2], strip[1::2]
            result[top // 2 : (top + rows) // 2] = _merge(
                pairs, lambda a: (a[:, 0::2], a[:, 1::2]), self._limit(4), self.centre, bias
            )
        return result

    def view(self, rect: tuple[float, float, float, float], width: float, height: float) -> Part:
        """The part of `rect` (x, y, width, height in pixels), from the smallest level that has at least
        `width` × `height` cells in it. The cut covers `rect` as far as the image does."""
        x, y, across, down = rect
        level = self._level(min(across / max(width, 1e-9), down / max(height, 1e-9)))
        cells = self.levels[level]
        factor = 1 << level
        left, top = (int(np.clip(np.floor(v / factor), 0, n)) for v, n in zip((x, y), cells.shape[1::-1], strict=True))
        right = int(np.clip(np.ceil((x + across) / factor), left, cells.shape[1]))
        bottom = int(np.clip(np.ceil((y + down) / factor), top, cells.shape[0]))
        return Part(cells[top:bottom, left:right], left, top, factor)

    def _level(self, scale: float) -> int:
        """The coarsest built level whose cells are at most `scale` pixels wide."""
        wanted = int(np.floor(np.log2(scale) + 1e-9)) if scale > 1 else 0
        return min(wanted, len(self.levels) - 1)

    def sample(self, x: float, y: float, scale: float, width: int, height: int) -> Sampled:
        """One value for each device pixel of a viewport of `width` × `height` whose upper left corner lies at
        (x, y) in image pixels, `scale` image pixels per device pixel. What lies beside the image is left out.

        Magnified: the nearest pixel. Reduced: every cell belongs to exactly one device pixel, so none is lost.
        """
        level = self._level(scale)
        cells, factor = self.levels[level], float(1 << level)
        first, last, left = _owned(x / factor, scale / factor, width, cells.shape[1])
        head, tail, top = _owned(y / factor, scale / factor, height, cells.shape[0])
        if not len(first) or not len(head):
            return Sampled(cells[:0, :0], 0, 0)
        if len(first) * len(head) and np.array_equal(first, last) and np.array_equal(head, tail):
            return Sampled(cells[head[:, None], first], left, top)
        cut = cells[:, first[0] : last[-1] + 1]
        columns = first - first[0], last - first[0]
        result = np.empty((len(head), len(first), *cells.shape[2:]), cells.dtype)
        limit, both = self._limit(2), (tail > head)[:, None] & (last > first)
        rows = max(1, STRIP // cut[0].size)
        for at in range(0, len(head), rows):
            strip = slice(at, at + rows)
            result[strip] = _merge(
                (cut[head[strip]], cut[tail[strip]]),
                lambda a: (np.take(a, columns[0], axis=1), np.take(a, columns[1], axis=1)),
                None if limit is None else np.where(both[strip], self._limit(4), limit),
                self.centre,
                2,
            )
        return Sampled(result, left, top)

    def _limit(self, count: int) -> Any:
        """How far one of `count` cells must be off the mean of them all to be an outlier, in the array's type."""
        if self.threshold is None:
            return None
        limit = self.threshold * (count - 1) / count
        dtype = self.array.dtype
        return dtype.type(min(limit, np.iinfo(dtype).max) if dtype.kind == "u" else limit)


def _owned(start: float, step: float, count: int, cells: int) -> tuple[Array, Array, int]:
    """First and last cell of each device pixel that shows any, and the first such pixel."""
    edges = start + step * np.arange(count + 1)
    if step <= 1:  # magnified: the cell under the pixel's centre
        first = last = np.floor(edges[:-1] + step / 2).astype(np.int64)
    else:  # reduced: the cells that start within the pixel; one only where the level is still missing
        bounds = np.ceil(edges).astype(np.int64)
        first, last = bounds[:-1], bounds[1:] - 1
        if step > 2.0001:
            last = first
    inside = np.flatnonzero((last >= 0) & (first < cells))
    if not len(inside):
        return first[:0], first[:0], 0
    first, last = (np.clip(a[inside[0] : inside[-1] + 1], 0, cells - 1) for a in (first, last))
    return first, last, int(inside[0])


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
    """Four cells to one, by the rule of the module. `rows` are the upper and lower cells, `split` tells left from
    right. What is off the mean by more than `limit` stays, unless that is None; of two equally far, what is further
    from `centre`. `bias` (of 4) rounds integers."""
    dtype = rows[0].dtype
    mean: Array
    wide = {"uint8": np.uint16, "uint16": np.uint32}.get(dtype.name)
    with np.errstate(invalid="ignore", over="ignore"):  # infinity minus infinity is NaN, and shown as such
        if wide:
            left, right = split(np.add(*rows, dtype=wide))
            mean = ((left + right + wide(bias)) >> 2).astype(dtype)
        else:
            left, right = split(rows[0] + rows[1])
            mean = (left + right) * dtype.type(0.25)
        if limit is None:
            return mean
        high, low = np.maximum(*split(np.maximum(*rows))), np.minimum(*split(np.minimum(*rows)))
        above, below = high - mean, mean - low
        off = np.nonzero(np.maximum(above, below) > limit)
        if len(off[0]):
            up, down, top, floor = (a[off].astype(np.float64) for a in (above, below, high, low))
            tie = np.abs(up - down) <= 0.01 * (up + down) + (1 if wide else 0)  # rounding splits ties of integers
            mean[off] = np.where(np.where(tie, top - centre >= centre - floor, up > down), top, floor)
    return mean


def quick_sample(array: Array, count: int = 1 << 16) -> Array:
    """About `count` finite values, evenly spread; may be empty."""
    step = max(1, int(np.sqrt(array.shape[0] * array.shape[1] / count)))
    values = array[::step, ::step]
    return values[np.isfinite(values)]


def quick_range(array: Array) -> tuple[float, float]:
    """Minimum and maximum of some 65,536 values: an estimate until exact statistics come. (0, 0) if none is finite."""
    values = quick_sample(array)
    return (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)


def quick_percentiles(array: Array) -> tuple[float, float, float]:
    """0.1, 50 and 99.9 percentile of some 65,536 values."""
    values = quick_sample(array)
    if not values.size:
        return 0.0, 0.0, 0.0
    low, centre, high = np.percentile(values.astype(np.float64), (0.1, 50, 99.9))
    return float(low), float(centre), float(high)


def to_uint8(part: Array, low: float, high: float, lut: Array | None = None) -> Array:
    """Bytes ready to paint: `low` is black (or the first colour), `high` white (or the last), beyond is clipped.

    part (h, w): gray (h, w), or RGBA (h, w, 4) where there is a `lut` (256, 3) or a NaN.
    part (h, w, 3 | 4): RGBA; alpha is not levelled (integers: full scale, floats: 0 to 1). NaN_COLOR marks NaN.
    """
    if part.ndim == 3:
        return _color_bytes(part, low, high)
    nan = None
    if part.dtype.kind == "u":
        entries = _levelled(np.arange(np.iinfo(part.dtype).max + 1, dtype=np.float32), low, high)
        if lut is None:
            return np.take(entries, part)
        return _take_colors(_packed(lut)[entries], part)
    nan = np.isnan(part)
    index = _levelled(part, low, high)
    has_nan = bool(nan.any())
    if lut is None and not has_nan:
        return index
    gray = np.repeat(np.arange(256, dtype=np.uint8)[:, None], 3, axis=1)
    colors = _take_colors(_packed(gray if lut is None else lut), index)
    if has_nan:
        colors[nan] = (*NAN_COLOR, 255)
    return colors


def _levelled(values: Array, low: float, high: float) -> Array:
    """0…255 of values between the levels. Equal levels: black below, middle gray at, white above. NaN: anything."""
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
        result[..., :3] = entries[color]
    else:
        full = 1.0
        result[..., :3] = _levelled(color, low, high)
    if part.shape[2] == 4:
        result[..., 3] = _levelled(part[..., 3].astype(np.float32), 0.0, full)
    if part.dtype.kind == "f":
        result[np.isnan(part).any(axis=2)] = (*NAN_COLOR, 255)
    return result


def difference(a: Array, b: Array) -> Array:
    """a − b as float32, strip by strip, so that float64 needs no whole copy. The shapes must be equal."""
    if a.shape != b.shape:
        raise ValueError(f"the shapes differ: {a.shape} and {b.shape}")
    result = np.empty(a.shape, np.float32)
    rows = max(1, STRIP // max(1, a[0].size))
    with np.errstate(invalid="ignore", over="ignore"):
        for top in range(0, len(a), rows):
            part = slice(top, top + rows)
            result[part] = np.subtract(a[part], b[part], dtype=np.float64)
    return result
