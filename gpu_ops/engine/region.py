"""Exact statistics of many values, by compiled loops on all cores. Import it only for large regions."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np

from gpu_ops.engine import region_numba as passes

Array = np.ndarray[Any, Any]
Stop = Callable[[], bool]
T = TypeVar("T")

WORKERS = os.cpu_count() or 1
PIECE = 1 << 20
"""Values between two checks of `stop`."""
BUFFER = 1 << 10
"""Values that stay in the L1 cache while all loops process them."""
SAMPLE, MARGIN = 1 << 16, 0.008
"""The median is estimated from SAMPLE random values and searched among the ranks within MARGIN, a share of all values,
around it. It is outside in one of ten thousand cases; then, or where many values are equal, counts of keys find it."""
DIGIT = 16
"""Bits of a key that one counting pass distinguishes."""


class Moments(NamedTuple):
    """Statistics of the finite values, `size` of them: `squares` is the sum of the squared distances from the mean."""

    nan: int
    size: int
    mean: float
    squares: float
    low: float
    high: float
    median: float


NOTHING = Moments(0, 0, math.nan, math.nan, math.nan, math.nan, math.nan)


class _Keys(NamedTuple):
    """The keys of a floating type: `integer` is the type of a key, `ends` are the first and the last finite key."""

    floats: np.dtype[Any]
    integer: np.dtype[Any]
    ends: tuple[Any, Any]

    @property
    def bits(self) -> int:
        return 8 * int(self.integer.itemsize)

    def value(self, key: int) -> float:
        """The value of a key; 0 for both zeros."""
        top = 1 << self.bits - 1
        bits = key ^ top if key & top else ~key & (2 * top - 1)
        return float(np.array(bits, self.integer).view(self.floats)) + 0.0

    def of(self, values: Array) -> Array:
        """The keys of values (n,)."""
        bits = values.view(self.integer)
        last = self.integer.type(self.bits - 1)
        return np.asarray(bits ^ ((0 - (bits >> last)) | self.integer.type(1 << self.bits - 1)))


def _keys(dtype: np.dtype[Any]) -> _Keys:
    integer = np.dtype(f"u{dtype.itemsize}")
    steps = 1 << np.finfo(dtype).nmant  # keys of one exponent; the last exponent has infinity and NaN
    return _Keys(dtype, integer, (integer.type(steps), integer.type((1 << 8 * dtype.itemsize) - steps - 1)))


def _on_all_cores(work: Callable[..., T], stop: Stop, *arrays: Array) -> list[T] | None:
    """The results of `work` for each piece of some arrays (h, w) of one shape, in their order; None when `stop`
    returned True first."""
    height, width = arrays[0].shape
    across = min(width, PIECE)
    down = max(1, PIECE // across)
    corners = [(top, left) for top in range(0, height, down) for left in range(0, width, across)]

    def do(corner: tuple[int, int]) -> T | None:
        if stop():
            return None
        rows, columns = (slice(at, at + n) for at, n in zip(corner, (down, across), strict=True))
        return work(*(array[rows, columns] for array in arrays))

    with ThreadPoolExecutor(min(WORKERS, len(corners))) as pool:
        found = [part for part in pool.map(do, corners) if part is not None]
    return found if len(found) == len(corners) else None


def levels(values: Array, stop: Stop) -> Array | None:
    """How often each level of unsigned integers (h, w) occurs; None when `stop` returned True first."""
    size = int(np.iinfo(values.dtype).max) + 1
    parts = _on_all_cores(lambda part: passes.levels(part, size), stop, values)
    return None if parts is None else np.asarray(np.sum(parts, axis=0))


def distance(one: Array, other: Array, stop: Stop) -> tuple[int, float] | None:
    """How many pairs of finite values two arrays (h, w) have, and the sum of their squared differences; None when
    `stop` returned True first."""
    parts = _on_all_cores(passes.squared_distances, stop, one, other)
    return None if parts is None else (sum(n for n, _ in parts), math.fsum(total for _, total in parts))


def moments(values: Array, stop: Stop) -> Moments | None:
    """The moments of floats (h, w), NaN where no value is finite; None when `stop` returned True first. Mean and
    squares are not finite where the squares of the values overflow."""
    keys, middle = _keys(values.dtype), _middle(values)

    def work(part: Array) -> tuple[Any, Array]:
        found = np.empty(0 if middle[0] == middle[1] else part.size // 4 + BUFFER, keys.integer)
        buffer = np.empty(BUFFER, values.dtype)
        figures = passes.survey(part, buffer, np.empty(BUFFER, keys.integer), keys.ends, middle, found)
        return figures[:-1], found[: max(figures[-1], 0)].copy()

    parts = _on_all_cores(work, stop, values)
    if parts is None:
        return None
    nan, size, mean, squares, below, upto = 0, 0, 0.0, 0.0, 0, 0
    for (lost, count, own, away, *_, less, most), _ in parts:
        delta, share = own - mean, count / max(size + count, 1)
        squares += away + delta * delta * size * share
        mean, size, nan = mean + delta * share, size + count, nan + lost
        below, upto = below + less, upto + most
    if not size:
        return NOTHING._replace(nan=nan)
    ranks = (size - 1) // 2, size // 2
    ends = min(int(part[4]) for part, _ in parts), max(int(part[5]) for part, _ in parts)
    picked = np.concatenate([found for _, found in parts])
    if below <= ranks[0] and ranks[1] < upto and middle[0] == middle[1]:
        at: Sequence[int] | None = [int(middle[0])] * 2
    elif below <= ranks[0] and ranks[1] < upto and picked.size == upto - below:
        places = [rank - below for rank in ranks]
        picked.partition(places)
        at = [int(picked[place]) for place in places]
    else:
        at = _at_ranks(values, ranks, int(keys.ends[0]), keys.bits, stop)
    if at is None:
        return None
    low, high, first, second = (keys.value(key) for key in (*ends, *at))
    return Moments(nan, size, mean, squares, low, high, first if first == second else first / 2 + second / 2)


def _middle(values: Array) -> tuple[Any, Any]:
    """The first and the last key of a range that probably contains the median, from a random sample."""
    keys, generator = _keys(values.dtype), np.random.default_rng(0)
    rows, columns = (generator.integers(0, n, SAMPLE) for n in values.shape)
    sample = keys.of(values[rows, columns])
    sample = np.sort(sample[(sample >= keys.ends[0]) & (sample <= keys.ends[1])])
    if not sample.size:
        return keys.ends[0], keys.ends[0]
    first, last = int((0.5 - MARGIN) * sample.size), int((0.5 + MARGIN) * sample.size)
    return sample[first], sample[min(last, sample.size - 1)]


def _at_ranks(values: Array, ranks: Sequence[int], first: int, bits: int, stop: Stop) -> list[int] | None:
    """The keys at these ranks, among the 2^bits keys from `first` on; None when `stop` returned True first. Each
    counting pass distinguishes DIGIT bits."""
    keys, shift = _keys(values.dtype), max(bits - DIGIT, 0)

    def work(part: Array) -> Array:
        buffers = np.empty(BUFFER, values.dtype), np.empty(BUFFER, keys.integer)
        return np.asarray(passes.count(part, *buffers, keys.integer.type(first), keys.integer.type(shift)))

    parts = _on_all_cores(work, stop, values)
    if parts is None:
        return None
    before = np.concatenate(([0], np.cumsum(np.sum(parts, axis=0))))
    found: dict[int, int] = {}
    bins = {rank: int(np.searchsorted(before, rank, side="right") - 1) for rank in ranks}
    for bin in set(bins.values()):
        inner, own = [rank for rank in ranks if bins[rank] == bin], first + (bin << shift)
        at: list[int] | None = [own] * len(inner)
        if shift:
            at = _at_ranks(values, [rank - int(before[bin]) for rank in inner], own, shift, stop)
        if at is None:
            return None
        found.update(zip(inner, at, strict=True))
    return [found[rank] for rank in ranks]
