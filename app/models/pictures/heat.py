"""A plane of values reduced to the pixels of any part of it, with an independent zoom along either axis. No Qt.

Rule of reduction: a pixel shows the largest of its values, so that a narrow line stays visible; NaN if one of them is.
Every visible value belongs to exactly one pixel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]
SMALLEST = 1024
"""Both sides of the last level are at most this long."""


class Level(NamedTuple):
    """Reduced values: each covers `tall` × `wide` values of the plane."""

    values: Array
    tall: int = 1
    wide: int = 1


class Heat:
    """Values (H, W) of float32 or float64, used in place. `levels` halve the longer side again and again; they take as
    many bytes as the values. Until `build` has computed them (in any thread), `sample` picks single values."""

    def __init__(self, values: Array) -> None:
        if values.ndim != 2 or values.dtype.kind != "f" or not values.size:
            raise ValueError(f"a plane is (H, W) of floats, not {values.shape} of {values.dtype}")
        self.values = values
        self.levels = [Level(values)]
        self.complete = max(values.shape) <= SMALLEST

    def build(self, stop: Callable[[], bool] = lambda: False) -> bool:
        """Compute all levels. False when `stop` returned True first."""
        levels = self.levels[:1]
        while max((last := levels[-1]).values.shape) > SMALLEST:
            if stop():
                return False
            axis = int(last.values.shape[1] > last.values.shape[0])
            levels.append(Level(_halved(last.values, axis), last.tall << (1 - axis), last.wide << axis))
        self.levels, self.complete = levels, True
        return True

    def sample(self, rows: Array, columns: Array) -> Array:
        """The values of pixels: `rows` (h + 1) and `columns` (w + 1) are the positions of their edges, evenly spaced
        and increasing, where value k extends from k to k + 1. They are within the plane, or half a pixel beyond it."""
        tall, wide = (float(edges[1] - edges[0]) for edges in (rows, columns))
        fine = (level for level in self.levels if level.tall <= max(tall, 1.0) and level.wide <= max(wide, 1.0))
        level = min(fine, key=lambda level: level.values.size)
        edges = rows / level.tall, columns / level.wide
        down, across = (_seen(e, n) for e, n in zip(edges, level.values.shape, strict=True))
        result = _reduced(level.values[down, across], 0, edges[0] - down.start, not self.complete)
        return _reduced(result, 1, edges[1] - across.start, not self.complete)


def _seen(edges: Array, count: int) -> slice:
    """The range of values that pixels with these edges cover."""
    return slice(max(0, min(int(np.floor(edges[0])), count - 1)), max(1, min(int(np.ceil(edges[-1])) + 1, count)))


def _halved(values: Array, axis: int) -> Array:
    """The larger of every two neighbours; the last value itself where their number is odd."""
    part: list[Any] = [slice(None), slice(None)]
    part[axis] = slice(0, None, 2)
    first = values[tuple(part)]
    part[axis] = slice(1, None, 2)
    second = values[tuple(part)]
    result = np.array(first)
    part[axis] = slice(0, second.shape[axis])
    np.maximum(result[tuple(part)], second, out=result[tuple(part)])
    return result


def _reduced(values: Array, axis: int, edges: Array, picked: bool) -> Array:
    """The largest value between neighbouring edges, along an axis; the value at the edge where pixels are smaller than
    values, or where values are only `picked`."""
    count = values.shape[axis]
    if picked or edges[1] - edges[0] <= 1:
        places = np.floor((edges[:-1] + edges[1:]) / 2).astype(np.int64)
        return np.take(values, np.clip(places, 0, count - 1), axis=axis)
    starts = np.clip(np.ceil(edges).astype(np.int64), 0, count)
    part = slice(int(starts[0]), int(starts[-1]))
    cut = values[part] if axis == 0 else values[:, part]
    return np.asarray(np.maximum.reduceat(cut, np.minimum(starts[:-1], starts[-1] - 1) - starts[0], axis=axis))
