"""The sectors that lifting in tiles loads and stores: as in traffic.py, from the addresses of every warp."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpu_ops.filters.wavelet.bases import LENGTHS, Array
from gpu_ops.filters.wavelet.counts.traffic import (
    IDLE,
    Access,
    Places,
    access,
    counters,
    given_threshold,
    is_countable,
    limits,
)
from gpu_ops.filters.wavelet.cuda.lifted import pairs_of
from gpu_ops.filters.wavelet.cuda.lifting import End, lifting_of, reach_forward, reach_inverse
from gpu_ops.filters.wavelet.spans import PERIODIC, reach_of
from gpu_ops.task import Task


def of_lifting(task: Task) -> dict[str, int]:
    """The sectors of lifting; {} if conversions or threshold estimates need further kernels."""
    if not is_countable(task):
        return {}
    found = [given_threshold(task)]
    for level in range(1, task.params["levels"] + 1):
        found += [*_forward(task, level), *_inverse(task, level)]
    return counters(found)


class Axis:
    """The parts of an axis of n samples and `half` coefficients that the blocks of a level process, block by block."""

    def __init__(self, task: Task, n: int, half: int, many: int) -> None:
        self.n, self.half, self.many = n, half, many
        self.taps, self.border = LENGTHS[task.params["wavelet"]], task.params["border"]
        self.reach, self.lifting = reach_of(self.taps, self.border), lifting_of(task.params["wavelet"])

    def coefficients(self) -> list[Array]:
        """The coefficients of each piece."""
        return [np.arange(first, min(first + self.many, self.half)) for first in range(0, self.half, self.many)]

    def fetched_samples(self) -> list[Array]:
        """The coefficients that each piece loads, including the boundary extension."""
        span = reach_forward(self.lifting)
        return [
            self._inside(np.arange(2 * (own[0] + span.before), 2 * (own[-1] + span.after) + 2) - self.reach)
            for own in self.coefficients()
        ]

    def _inside(self, places: Array) -> Array:
        ring = self.n + self.n % 2 if self.border == PERIODIC else 2 * self.n
        places = places % ring
        mirrored = self.n - 1 if self.border == PERIODIC else 2 * self.n - 1 - places
        return np.asarray(np.minimum(places, mirrored))

    def samples(self) -> list[Array]:
        """The samples of each piece."""
        return [np.arange(first, min(first + 2 * self.many, self.n)) for first in range(0, self.n, 2 * self.many)]

    def fetched_coefficients(self, end: End) -> list[Array]:
        """The low or the high coefficients for each piece of samples; IDLE where the symmetric border has none."""
        span, found = reach_inverse(self.lifting), []
        for own in self.samples():
            first, last = ((own[at] + self.reach) // 2 for at in (0, -1))
            k = np.arange(first + span.before, last + span.after + 1) - end.shift
            found.append(k % self.half if self.border == PERIODIC else np.where((k >= 0) & (k < self.half), k, IDLE))
        return found


def _axes(task: Task, places: Places, level: int) -> tuple[Axis, Axis]:
    (rows, columns), (half_rows, half) = places.sizes[level - 1], places.sizes[level]
    many = pairs_of(task)
    return Axis(task, rows, half_rows, many[0]), Axis(task, columns, half, many[1])


ONE_ROW = [np.zeros(1, np.int64)]


def _forward(task: Task, level: int) -> Iterator[Access]:
    places = Places(task)
    along, across = _axes(task, places, level)
    image = task.meta.of_kind.rank == 2
    rows = along.fetched_samples() if image else ONE_ROW
    yield access(task, "load", places.approximation(level - 1), rows, across.fetched_samples())
    bands = [places.approximation(level), *(places.bands[level, detail] for detail in places.details)]
    for band in bands:
        yield access(task, "store", band, along.coefficients() if image else ONE_ROW, across.coefficients())


def _inverse(task: Task, level: int) -> Iterator[Access]:
    places = Places(task)
    along, across = _axes(task, places, level)
    image = task.meta.of_kind.rank == 2
    rows = along.samples() if image else ONE_ROW
    yield access(task, "store", places.approximation(level - 1), rows, across.samples())
    low, high = across.lifting.low, across.lifting.high
    for detail, (down, right) in _parts(task, low, high).items():
        memory = places.bands[level, detail] if detail in places.details else places.approximation(level)
        rows = along.fetched_coefficients(down) if image else ONE_ROW
        columns = across.fetched_coefficients(right)
        yield access(task, "load", memory, rows, columns)
        if detail in places.details:
            yield from limits(task, places.thresholds(level, detail), rows, columns)


def _parts(task: Task, low: End, high: End) -> dict[str, tuple[End, End]]:
    """The kind of each band along columns and along rows."""
    if task.meta.of_kind.rank == 1:
        return {"approximation": (low, low), "detail": (low, high)}
    return {
        "approximation": (low, low),
        "horizontal": (high, low),
        "vertical": (low, high),
        "diagonal": (high, high),
    }
