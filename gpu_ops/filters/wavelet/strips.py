"""Strips of an image or a signal, in which blocks make details twice: their sizes, which the kernels compute as well,
and the sectors that they move."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.filters.kit.support import MOST_BLOCKS
from gpu_ops.filters.wavelet.bases import LENGTHS
from gpu_ops.filters.wavelet.forms import BORDERS, sizes, work_type
from gpu_ops.task import Task

BATCH_BYTES = 32
"""Bytes of a column of the rows of an image between two barriers."""
LEAST_ROWS, RESIDENT = 16, 2
"""The fewest rows of a segment, and blocks a multiprocessor that are worth shorter segments."""
EACH = 4
"""Coefficients a thread of a signal; the kernel says the same."""
SECTOR, WARP = 32, 32
Array = np.ndarray[Any, Any]


class Extents(NamedTuple):
    """Rows and columns of an image or a band; a signal is one row."""

    rows: int
    columns: int


class Strips(NamedTuple):
    """Sizes of what a block of threads has, which the kernels compute as well."""

    taps: int
    periodic: bool
    threads: int
    image: bool

    @classmethod
    def of(cls, task: Task) -> Strips:
        params = task.params
        periodic = params["border"] == BORDERS[0]
        return cls(LENGTHS[params["wavelet"]], periodic, int(task.knobs["block"]), task.meta.of_kind.rank == 2)

    @property
    def reach(self) -> int:
        """Tap t of coefficient k meets sample 2k + t - reach."""
        return self.taps // 2 - 1 if self.periodic else self.taps - 2

    @property
    def there(self) -> int:
        """Coefficients of a strip on the way there."""
        return self.threads if self.image else EACH * self.threads

    @property
    def coefficients(self) -> int:
        """Coefficients of a strip on the way back."""
        return self.threads // 2 if self.image else EACH * self.threads

    @property
    def width(self) -> int:
        """Samples of a strip on the way back."""
        return (self.coefficients - self.taps // 2 + 1 - self.reach % 2) * 2 // 8 * 8

    @property
    def leads(self) -> tuple[int, int]:
        """Samples before the first one that a strip needs, there and back."""
        return -self.reach % 8, (2 - self.reach % 2 - self.taps) % 8

    @property
    def lengths(self) -> tuple[int, int]:
        """Samples of a row of a strip there and back."""
        pairs = zip((self.there, self.coefficients), self.leads, strict=True)
        there, back = (-(-(lead + 2 * each + self.taps - 2) // 8) * 8 for each, lead in pairs)
        return there, back

    def batch(self, itemsize: int) -> int:
        """Rows between two barriers."""
        return BATCH_BYTES // itemsize

    def shared(self, itemsize: int, noise: bool) -> tuple[int, int]:
        """Bytes of shared memory of a block there and back."""
        (there, back), rows = self.lengths, self.batch(itemsize)
        if not self.image:
            return there * itemsize, (back + 2 * self.coefficients) * itemsize
        halves = (2 if noise else 1) * self.there
        return rows * (there + halves) * itemsize, rows * (back + 2 * self.coefficients) * itemsize

    def columns(self, there: bool) -> int:
        """How far strips are apart: coefficients there, samples back."""
        return self.there if there else self.width


def height_of(rows: int, strips: int, most: int, multiprocessors: int) -> int:
    """Rows of a segment: fewer than the `most` asked for where an image would not occupy all multiprocessors, more
    where a grid has no more blocks."""
    while most > LEAST_ROWS and strips * -(-rows // most) < RESIDENT * multiprocessors:
        most //= 2
    return max(most, 1, -(-rows // MOST_BLOCKS))


def extents_of(task: Task) -> list[Extents]:
    """Rows and columns of the approximation at level 0, 1, …"""
    image = task.meta.of_kind.rank == 2
    return [Extents(*shape) if image else Extents(1, *shape) for shape in sizes(task)]


def grid_of(task: Task, level: int, there: bool) -> tuple[int, int, int]:
    """Strips and segments of a launch, and the rows of a segment: of coefficients there, of samples back."""
    strips, extents = Strips.of(task), extents_of(task)
    rows, columns = extents[level if there else level - 1]
    across = -(-columns // strips.columns(there)) * task.meta.channels
    most = int(task.knobs["rows"]) // (2 if there else 1) if strips.image else 1
    height = height_of(rows, across, most, task.limits.multiprocessors)
    return across, -(-rows // height), height


def counters(task: Task) -> Mapping[str, int]:
    """The sectors that a plan loads and stores, where every row of a level is whole sectors: floating images of one
    channel with a given threshold, and warps that meet two rows at most. Of other tasks nothing is said."""
    meta, params, strips = task.meta, task.params, Strips.of(task)
    extents, itemsize = extents_of(task), work_type(task).itemsize
    plain = strips.image and meta.channels == 1 and params["shifts"] == 1 and params["rule"] == "manual"
    whole = all(e.columns * itemsize % SECTOR == 0 and e.columns % 8 == 0 for e in extents[:-1])
    if not (plain and whole and strips.threads >= 4 * WARP and meta.dtype == work_type(task).name):
        return {}
    loads, stores = 0, 1  # one thread stores the threshold
    for level in range(1, len(extents)):
        alone = level == len(extents) - 1
        samples, results = extents[level - 1], extents[level]
        if not alone:
            loads += _samples(task, level, True)
            stores += results.rows * results.columns * itemsize // SECTOR
        across, segments, _ = grid_of(task, level, False)
        loads += _samples(task, level, False) + across * segments * strips.threads // WARP
        loads += 0 if alone else _came_back(task, level)
        stores += samples.rows * samples.columns * itemsize // SECTOR * (itemsize // 4)
    return {"global_load_sectors": loads, "global_store_sectors": stores}


def _segments(task: Task, level: int, there: bool) -> list[tuple[int, int]]:
    """The first row of coefficients of each segment, and how many of them it makes."""
    strips, extents = Strips.of(task), extents_of(task)
    _, segments, height = grid_of(task, level, there)
    rows = extents[level if there else level - 1].rows
    spans = [(k * height, min((k + 1) * height, rows)) for k in range(segments)]
    if there:
        return [(above, below - above) for above, below in spans]
    first = [((above + strips.reach) >> 1) - strips.taps // 2 + 1 for above, _ in spans]
    return [(k, ((below - 1 + strips.reach) >> 1) - k + 1) for k, (_, below) in zip(first, spans, strict=True)]


def _samples(task: Task, level: int, there: bool) -> int:
    """Sectors of the samples of a level: those of a row of each strip, as often as segments load rows."""
    strips, extents, itemsize = Strips.of(task), extents_of(task), work_type(task).itemsize
    columns, half = extents[level - 1].columns, extents[level].columns
    lead, length = strips.leads[0 if there else 1], strips.lengths[0 if there else 1]
    rows = sum(2 * count + strips.taps - 2 for _, count in _segments(task, level, there))
    last = half - 1 if there else (columns - 1 + strips.reach) >> 1
    end = 2 * last - strips.reach + strips.taps
    found = 0
    for strip in range(grid_of(task, level, there)[0]):
        left = 2 * _first(strips, strip, there) - strips.reach - lead
        if left >= 0 and left + length <= columns:
            found += length * itemsize // SECTOR * (itemsize // 4)
        else:
            places = _near(np.arange(left, min(left + length, end)), columns, strips.periodic)
            found += _touched(places, itemsize)
    return rows * found


def _first(strips: Strips, strip: int, there: bool) -> int:
    """The first coefficient of a strip."""
    begin = strip * strips.columns(there)
    return begin if there else ((begin + strips.reach) >> 1) - strips.taps // 2 + 1


def _came_back(task: Task, level: int) -> int:
    """Sectors of the approximation that came back, which half of the threads load, batch by batch."""
    strips, itemsize = Strips.of(task), work_type(task).itemsize
    half, new = extents_of(task)[level].columns, strips.batch(itemsize) // 2
    rows = sum(-(-count // new) * new for _, count in _segments(task, level, False))
    found = 0
    for strip in range(grid_of(task, level, False)[0]):
        places = _first(strips, strip, False) + np.arange(strips.coefficients)
        found += _touched(places % half if strips.periodic else np.clip(places, 0, half - 1), itemsize)
    return rows * found


def _near(places: Array, n: int, periodic: bool) -> Array:
    """Places on an axis of n samples, mapped to inside; a periodic one is even here."""
    at = places % (n if periodic else 2 * n)
    return np.where(at < n, at, 2 * n - 1 - at)


def _touched(places: Array, itemsize: int) -> int:
    """Sectors of a row that warps touch whose lanes access these places in order."""
    at = places * itemsize // SECTOR
    return sum(len(np.unique(at[k : k + WARP])) for k in range(0, len(at), WARP))
