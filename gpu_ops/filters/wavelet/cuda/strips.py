"""Strips of an image or a signal, in which blocks recompute details: their sizes, which the kernels compute as well,
and the sectors that they load and store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.filters.kit.rules import MOST_BLOCKS
from gpu_ops.filters.wavelet.bases import LENGTHS
from gpu_ops.filters.wavelet.forms import BORDERS, sizes, work_type
from gpu_ops.task import Task

THREADS = {"image": 128, "signal": 256}
"""Threads per block, by kind of input, unless a knob sets it."""
ROWS = 128
"""Rows of a segment of an image, unless a knob sets it."""
BATCH_BYTES = 32
"""Bytes of a column of the rows of an image between two barriers."""
LEAST_ROWS, RESIDENT = 16, 2
"""The minimum rows of a segment, and the blocks per multiprocessor for which segments are shortened."""
EACH = 4
"""Coefficients per thread of a signal; the same constant is in the kernel."""
WHOLE, MOST_LEVELS, SPARE, SPANS = 8, 16, 8, 1024
"""Samples per thread of a tile with all levels, and constants of its kernel: levels, zeros after a window, and the
maximum bytes of its spans."""
SECTOR, WARP = 32, 32
Array = np.ndarray[Any, Any]


class Extents(NamedTuple):
    """Rows and columns of an image or a band; a signal is one row."""

    rows: int
    columns: int


class Strips(NamedTuple):
    """Sizes of a block's data, which the kernels compute as well."""

    taps: int
    periodic: bool
    threads: int
    image: bool

    @classmethod
    def of(cls, task: Task) -> Strips:
        params = task.params
        periodic = params["border"] == BORDERS[0]
        threads = int(task.knobs.get("block", THREADS[task.meta.kind]))
        return cls(LENGTHS[params["wavelet"]], periodic, threads, task.meta.of_kind.rank == 2)

    @property
    def reach(self) -> int:
        """Tap t of coefficient k weights sample 2k + t - reach."""
        return self.taps // 2 - 1 if self.periodic else self.taps - 2

    @property
    def forward_coefficients(self) -> int:
        """Coefficients of a strip of the forward transform."""
        return self.threads if self.image else EACH * self.threads

    @property
    def coefficients(self) -> int:
        """Coefficients of a strip of the inverse transform."""
        return self.threads // 2 if self.image else EACH * self.threads

    @property
    def width(self) -> int:
        """Samples of a strip of the inverse transform."""
        return (self.coefficients - self.taps // 2 + 1 - self.reach % 2) * 2 // 8 * 8

    @property
    def leads(self) -> tuple[int, int]:
        """Samples before the first one that a strip needs, forward and inverse."""
        return -self.reach % 8, (2 - self.reach % 2 - self.taps) % 8

    @property
    def lengths(self) -> tuple[int, int]:
        """Samples of a row of a strip, forward and inverse."""
        pairs = zip((self.forward_coefficients, self.coefficients), self.leads, strict=True)
        forward, inverse = (-(-(lead + 2 * each + self.taps - 2) // 8) * 8 for each, lead in pairs)
        return forward, inverse

    def batch(self, itemsize: int) -> int:
        """Rows between two barriers."""
        return BATCH_BYTES // itemsize

    def shared(self, itemsize: int, noise: bool) -> tuple[int, int]:
        """Bytes of shared memory of a block, forward and inverse."""
        (forward, inverse), rows = self.lengths, self.batch(itemsize)
        if not self.image:
            return forward * itemsize, (inverse + 2 * self.coefficients) * itemsize
        halves = (2 if noise else 1) * self.forward_coefficients
        return rows * (forward + halves) * itemsize, rows * (inverse + 2 * self.coefficients) * itemsize

    def columns(self, forward: bool) -> int:
        """The stride of strips: coefficients forward, samples inverse."""
        return self.forward_coefficients if forward else self.width


def height_of(rows: int, strips: int, most: int, multiprocessors: int) -> int:
    """Rows of a segment: fewer than the `most` requested if an image would not occupy all multiprocessors, more if a
    grid has no more blocks."""
    while most > LEAST_ROWS and strips * -(-rows // most) < RESIDENT * multiprocessors:
        most //= 2
    return max(most, 1, -(-rows // MOST_BLOCKS))


def extents_of(task: Task) -> list[Extents]:
    """Rows and columns of the approximation at level 0, 1, …"""
    image = task.meta.of_kind.rank == 2
    return [Extents(*shape) if image else Extents(1, *shape) for shape in sizes(task)]


def grid_of(task: Task, level: int, forward: bool) -> tuple[int, int, int]:
    """Strips and segments of a launch, and the rows of a segment: of coefficients forward, of samples inverse."""
    strips, extents = Strips.of(task), extents_of(task)
    rows, columns = extents[level if forward else level - 1]
    across = -(-columns // strips.columns(forward)) * task.meta.channels
    most = int(task.knobs.get("rows", ROWS)) // (2 if forward else 1) if strips.image else 1
    height = height_of(rows, across, most, task.limits.multiprocessors)
    return across, -(-rows // height), height


class Windows(NamedTuple):
    """The tile of a signal that has all levels: its samples, and the offsets of windows and details in shared
    memory."""

    length: int
    places: tuple[int, ...]
    size: int


def windows_of(task: Task) -> Windows | None:
    """The tile of a signal whose levels are all in one launch; None if that is impossible: for an image, an estimated
    threshold, a halo larger than half of the tile, a periodic level of an odd number, too little shared memory."""
    params, strips = task.params, Strips.of(task)
    levels, taps = int(params["levels"]), strips.taps
    length, around = WHOLE * strips.threads, 2 * (taps - 1) * ((1 << levels) - 1)
    even = not strips.periodic or all(e.columns % 2 == 0 for e in extents_of(task)[:-1])
    if strips.image or params["rule"] != "manual" or 2 * around > length or levels >= MOST_LEVELS or not even:
        return None
    wanted = [length]
    for _ in range(levels):
        wanted.append(wanted[-1] // 2 + taps // 2 + 6)
    rooms = [wanted[-1]]
    for _ in range(levels):
        rooms.insert(0, 2 * rooms[0] + taps)
    sizes_of = [-(-(room + SPARE) // 8) * 8 for room in (*rooms, *wanted[1:])]
    starts = [sum(sizes_of[:k]) for k in range(len(sizes_of))]
    places = [0] * (2 * MOST_LEVELS)
    places[: levels + 1] = starts[: levels + 1]
    places[MOST_LEVELS + 1 : MOST_LEVELS + 1 + levels] = starts[levels + 1 :]
    found = Windows(length, tuple(places), sum(sizes_of))
    return found if found.size * work_type(task).itemsize + SPANS <= task.limits.shared_bytes else None


def counters(task: Task) -> Mapping[str, int]:
    """The sectors that a plan loads and stores, if every row of a level is whole sectors: floating-point input of one
    channel with a given threshold, signals in tiles with all levels, and warps that access at most two rows of an
    image. {} for other tasks."""
    meta, params, strips = task.meta, task.params, Strips.of(task)
    extents = extents_of(task)
    plain = meta.channels == 1 and params["shifts"] == 1 and params["rule"] == "manual"
    windows = windows_of(task)
    whole = all(e.columns % 8 == 0 for e in (extents[:-1] if windows is None else extents[:1]))
    if not (plain and whole and meta.dtype == work_type(task).name):
        return {}
    if windows is not None:
        return _of_tiles(task, windows)
    return _of_levels(task) if strips.image and strips.threads >= 4 * WARP else {}


def _of_tiles(task: Task, windows: Windows) -> Mapping[str, int]:
    """Sectors of a signal whose tiles have all levels: their windows, a threshold per warp, and every sample stored."""
    strips, (_, columns), itemsize = Strips.of(task), extents_of(task)[0], work_type(task).itemsize
    loads = 0
    for begin in range(0, columns, windows.length):
        first, end = _window(task, begin, min(begin + windows.length, columns))
        places = _near(np.arange(first, end), columns, strips.periodic)
        ahead = first % 8  # lanes begin at a sector boundary
        loads += _sectors_touched(places[: WARP - ahead], itemsize) + _sectors_touched(places[WARP - ahead :], itemsize)
        loads += strips.threads // WARP
    stores = 1 + columns * itemsize // SECTOR * (itemsize // 4)
    return {"global_load_sectors": loads, "global_store_sectors": stores}


def _window(task: Task, begin: int, end: int) -> tuple[int, int]:
    """The samples that a tile of a signal loads, from the first one to the end: computed like the kernel's spans."""
    strips, extents = Strips.of(task), extents_of(task)
    for _ in extents[1:]:
        fours = -(-(end - begin) // 4) * 4
        begin, end = _even(_needed(begin, strips), strips), ((begin + fours - 1 + strips.reach) >> 1) + 1
    for _, half in reversed(extents[1:]):
        if not strips.periodic:
            begin, end = max(begin, 0), min(end, half)
        begin, end = 2 * begin - strips.reach, 2 * (end - 1) - strips.reach + strips.taps
    return begin, end


def _needed(sample: int, strips: Strips) -> int:
    """The first coefficient that a sample needs."""
    return ((sample + strips.reach) >> 1) - strips.taps // 2 + 1


def _even(first: int, strips: Strips) -> int:
    """The even position at or before the first coefficient whose own first coefficient is even as well."""
    even = first - first % 2
    return even - 2 * (_needed(even, strips) % 2)


def _of_levels(task: Task) -> Mapping[str, int]:
    """Sectors of an image: for each level, forward and inverse."""
    strips, extents, itemsize = Strips.of(task), extents_of(task), work_type(task).itemsize
    loads, stores = 0, 1  # one thread stores the threshold
    for level in range(1, len(extents)):
        alone = level == len(extents) - 1
        samples, results = extents[level - 1], extents[level]
        if not alone:
            loads += _samples(task, level, True)
            stores += results.rows * results.columns * itemsize // SECTOR
        across, segments, _ = grid_of(task, level, False)
        loads += _samples(task, level, False) + across * segments * strips.threads // WARP
        loads += 0 if alone else _restored_loads(task, level)
        stores += samples.rows * samples.columns * itemsize // SECTOR * (itemsize // 4)
    return {"global_load_sectors": loads, "global_store_sectors": stores}


def _segments(task: Task, level: int, forward: bool) -> list[tuple[int, int]]:
    """The first row of coefficients of each segment, and how many of them it makes."""
    strips, extents = Strips.of(task), extents_of(task)
    _, segments, height = grid_of(task, level, forward)
    rows = extents[level if forward else level - 1].rows
    spans = [(k * height, min((k + 1) * height, rows)) for k in range(segments)]
    if forward:
        return [(above, below - above) for above, below in spans]
    first = [_needed(above, strips) for above, _ in spans]
    return [(k, ((below - 1 + strips.reach) >> 1) - k + 1) for k, (_, below) in zip(first, spans, strict=True)]


def _samples(task: Task, level: int, forward: bool) -> int:
    """Sectors of the samples of a level: those of a row of each strip, as often as segments load rows."""
    strips, extents, itemsize = Strips.of(task), extents_of(task), work_type(task).itemsize
    columns, half = extents[level - 1].columns, extents[level].columns
    lead, length = strips.leads[0 if forward else 1], strips.lengths[0 if forward else 1]
    rows = sum(2 * count + strips.taps - 2 for _, count in _segments(task, level, forward))
    last = half - 1 if forward else (columns - 1 + strips.reach) >> 1
    end = 2 * last - strips.reach + strips.taps
    found = 0
    for strip in range(grid_of(task, level, forward)[0]):
        left = 2 * _first(strips, strip, forward) - strips.reach - lead
        if left >= 0 and left + length <= columns:
            found += length * itemsize // SECTOR * (itemsize // 4)
        else:
            places = _near(np.arange(left, min(left + length, end)), columns, strips.periodic)
            found += _sectors_touched(places, itemsize)
    return rows * found


def _first(strips: Strips, strip: int, forward: bool) -> int:
    """The first coefficient of a strip."""
    begin = strip * strips.columns(forward)
    return begin if forward else _needed(begin, strips)


def _restored_loads(task: Task, level: int) -> int:
    """Sectors of the approximation of the next level, which half of the threads load, batch by batch."""
    strips, itemsize = Strips.of(task), work_type(task).itemsize
    half, new = extents_of(task)[level].columns, strips.batch(itemsize) // 2
    rows = sum(-(-count // new) * new for _, count in _segments(task, level, False))
    found = 0
    for strip in range(grid_of(task, level, False)[0]):
        places = _first(strips, strip, False) + np.arange(strips.coefficients)
        found += _sectors_touched(places % half if strips.periodic else np.clip(places, 0, half - 1), itemsize)
    return rows * found


def _near(places: Array, n: int, periodic: bool) -> Array:
    """Positions on an axis of n samples, mapped inside; a periodic one is even here."""
    at = places % (n if periodic else 2 * n)
    return np.where(at < n, at, 2 * n - 1 - at)


def _sectors_touched(places: Array, itemsize: int) -> int:
    """Sectors of a row accessed by warps whose lanes access these positions in order."""
    at = places * itemsize // SECTOR
    return sum(len(np.unique(at[k : k + WARP])) for k in range(0, len(at), WARP))
