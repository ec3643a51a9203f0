"""Minima and maxima of long signals, so that no peak is lost where there are more samples than pixels. No Qt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
READ = 1 << 18
"""The most samples that are scanned one by one."""


class SignalPyramid:
    """Minima and maxima of a signal (N,) or (N, C) in buckets of `first`, `first` × `factor`, … samples. No copy of it.

    `build` computes them (any thread); until then `points` shows single samples. A bucket ignores NaN unless it has no
    other value.

    The first buckets are long because only a reduction of many neighbours runs at the speed of memory: buckets of 128
    take a fifth of the time of buckets of 16. Below them, `points` reads the samples, which is fast enough.
    """

    def __init__(self, array: Array, first: int = 128, factor: int = 16) -> None:
        if array.ndim not in (1, 2) or array.dtype.kind not in "uif":
            raise ValueError(f"a signal is (N,) or (N, C) of real numbers, not {array.shape} of {array.dtype}")
        self.array = array
        self.first, self.factor = first, factor
        self.levels: list[tuple[Array, Array]] = []
        self.complete = len(array) < first * factor
        self._flawed: Array | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of the buckets, without the array."""
        return sum(low.nbytes + high.nbytes for low, high in self.levels)

    def build(self, stop: Callable[[], bool] = lambda: False) -> bool:
        """Compute all buckets. False when `stop` returned True first."""
        levels: list[tuple[Array, Array]] = []
        self._flawed = _flawed(self.array, self.first, stop)
        low = high = self.array
        size = self.first
        while len(low) >= size * self.factor:
            if stop():
                return False
            low, high = _buckets(np.fmin, low, size), _buckets(np.fmax, high, size)
            levels.append((low, high))
            size = self.factor
        self.levels, self.complete = levels, True
        return True

    def points(self, start: int, stop: int, width: int, channel: int = 0) -> tuple[Array, Array]:
        """At most 2 × width points (sample index, value) of samples start…stop (exclusive). Where there are more
        samples, each of `width` columns gives its exact minimum and maximum, both at its middle: the minimum first in
        one column, the maximum first in the next, so that a line through them crosses every column once, not twice."""
        start, stop, width = max(0, start), min(len(self.array), stop), max(1, width)
        signal = self.array if self.array.ndim == 1 else self.array[:, channel]
        if stop <= start:
            return np.empty(0), np.empty(0, signal.dtype)
        if stop - start <= 2 * width:
            return np.arange(start, stop, dtype=np.float64), signal[start:stop]
        edges = start + (stop - start) * np.arange(width + 1) // width
        return self._between(signal, edges, channel)

    def gaps(self, start: int, stop: int, channel: int = 0) -> Array:
        """The indices of samples start…stop (exclusive) that are NaN or infinite; of a long part, the middles of the
        buckets that hold any. Empty until `build` has found those."""
        start, stop = max(0, start), min(len(self.array), stop)
        if self.array.dtype.kind != "f" or stop <= start:
            return np.empty(0)
        if stop - start <= READ:
            part = self.array[start:stop] if self.array.ndim == 1 else self.array[start:stop, channel]
            return np.flatnonzero(~np.isfinite(part)) + float(start)
        if self._flawed is None:
            return np.empty(0)
        first, last = start // self.first, -(-stop // self.first)
        flags = self._flawed[first:last] if self.array.ndim == 1 else self._flawed[first:last, channel]
        middles = (np.flatnonzero(flags) + first + 0.5) * self.first
        return np.asarray(np.clip(middles, start, stop - 1))

    def points_between(self, edges: Array, channel: int = 0) -> tuple[Array, Array]:
        """The same for columns of any width that grow: column k has the samples from edges[k] to edges[k + 1]. The
        edges are different integers in order, within the signal."""
        signal = self.array if self.array.ndim == 1 else self.array[:, channel]
        if len(edges) < 2:
            return edges.astype(np.float64), signal[edges]
        wide = np.diff(edges)
        bounds = [self._size(level) * 2 for level in range(1, len(self.levels) + 1)]
        cuts = [0, *(int(np.searchsorted(wide, bound)) for bound in bounds), len(wide)]
        parts = [edges[a : b + 1] for a, b in zip(cuts, cuts[1:], strict=False) if b > a]
        points = [self._between(signal, part, channel) for part in parts]
        return np.concatenate([x for x, _ in points]), np.concatenate([y for _, y in points])

    def _between(self, signal: Array, edges: Array, channel: int) -> tuple[Array, Array]:
        """The points of columns of about equal widths."""
        if not self.complete:  # coarse on purpose: one sample of each column
            return edges[:-1].astype(np.float64), signal[edges[:-1]]
        low, high = self._extremes(signal, edges, channel)
        x = np.repeat((edges[:-1] + edges[1:] - 1) / 2, 2)
        y = np.stack((low, high), axis=1)
        y[1::2] = y[1::2, ::-1].copy()
        return x, y.ravel()

    def _extremes(self, signal: Array, edges: Array, channel: int) -> tuple[Array, Array]:
        """Minimum and maximum between neighbouring edges: whole buckets from a level, the rest from the samples."""
        columns = int(np.diff(edges).min())
        level = 0
        while level < len(self.levels) and self._size(level + 1) * 2 <= columns:
            level += 1
        if level == 0:
            part, cuts = signal[edges[0] : edges[-1]], edges[:-1] - edges[0]
            return np.fmin.reduceat(part, cuts), np.fmax.reduceat(part, cuts)
        size = self._size(level)
        # Moving the inner edges to bucket borders keeps every sample in exactly one column, at most half a column off.
        whole = np.round(edges / size).astype(np.int64)
        whole[0], whole[-1] = -(-edges[0] // size), edges[-1] // size
        whole[1:-1] = np.clip(whole[1:-1], whole[0], whole[-1] - 1)
        results = []
        for ufunc, buckets in zip((np.fmin, np.fmax), self.levels[level - 1], strict=True):
            one = buckets if buckets.ndim == 1 else buckets[:, channel]
            values = ufunc.reduceat(one[whole[0] : whole[-1]], whole[:-1] - whole[0])
            for at, rest in ((0, signal[edges[0] : whole[0] * size]), (-1, signal[whole[-1] * size : edges[-1]])):
                if len(rest):
                    values[at] = ufunc(values[at], ufunc.reduce(rest))
            results.append(values)
        return results[0], results[1]

    def _size(self, level: int) -> int:
        """Samples in a bucket of a level; level 1 has the first buckets."""
        return int(self.first * self.factor ** (level - 1))


def _flawed(array: Array, size: int, stop: Callable[[], bool]) -> Array | None:
    """Whether each bucket of `size` samples along the first axis has NaN or infinity; None for integers, or when
    `stop` returned True first. Most signals have neither, so whole pieces are checked before single buckets."""
    if array.dtype.kind != "f":
        return None
    flags = np.zeros((-(-len(array) // size), *array.shape[1:]), np.bool_)
    step = max(1, READ // size) * size
    for at in range(0, len(array), step):
        if stop():
            return None
        finite = np.isfinite(array[at : at + step])
        if not finite.all():
            flags[at // size : at // size + -(-len(finite) // size)] = ~_buckets(np.logical_and, finite, size)
    return flags


def _buckets(ufunc: np.ufunc, values: Array, factor: int) -> Array:
    """Extreme of each `factor` values along the first axis; the last bucket may be shorter."""
    whole = len(values) // factor * factor
    result: Array = ufunc.reduce(values[:whole].reshape(-1, factor, *values.shape[1:]), axis=1)
    if whole < len(values):
        result = np.concatenate((result, ufunc.reduce(values[whole:], axis=0)[None]))
    return result
