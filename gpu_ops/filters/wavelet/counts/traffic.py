"""The sectors that the tiles of several levels, and those of lifting, load and store: from the addresses of every warp.

A warp's request touches the 32-byte sectors that contain its lanes' elements. The lanes of a request are in one row, so
a launch is a product of rows and of requests along a row, in which only the row's alignment to sectors matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

import numpy as np

from gpu_ops.filters.kit.planning import block_shape
from gpu_ops.filters.wavelet.bases import LENGTHS, Array
from gpu_ops.filters.wavelet.cuda.levels import Group, groups_of, pieces
from gpu_ops.filters.wavelet.forms import bands_of, pyramid_shape, sizes, work_type
from gpu_ops.filters.wavelet.spans import Span, coefficients_for, positions, samples_for
from gpu_ops.task import Task

SECTOR, WARP, IDLE = 32, 32, -1
THRESHOLD_BYTES, THRESHOLD_THREADS = 8, 256


class Access(NamedTuple):
    """A load or store of a launch: where its rows begin, and for each request along a row the elements of its lanes
    within the row, or IDLE."""

    verb: Literal["load", "store"]
    rows: Array
    requests: Array
    bytes: int

    @property
    def sectors(self) -> int:
        per, found = SECTOR // self.bytes, 0
        for place, many in zip(*np.unique(self.rows % per, return_counts=True), strict=True):
            touched = np.sort(np.where(self.requests == IDLE, IDLE, (self.requests + place) // per), axis=1)
            changes = (np.diff(touched, axis=1) != 0).sum() + (touched[:, 0] != IDLE).sum()
            found += int(many) * int(changes)
        return found


def counters(accesses: Iterable[Access]) -> dict[str, int]:
    """Sectors of loads and stores, by counter."""
    found = {"global_load_sectors": 0, "global_store_sectors": 0}
    for access in accesses:
        found[f"global_{access.verb}_sectors"] += access.sectors
    return found


def in_warps(elements: Array, threads: int) -> Array:
    """The elements that a block's threads along x process in turn, a row per request."""
    turns = -(-elements.size // threads)
    padded = np.full((turns, -(-threads // WARP) * WARP), IDLE, np.int64)
    filled = np.full(turns * threads, IDLE, np.int64)
    filled[: elements.size] = elements
    padded[:, :threads] = filled.reshape(turns, threads)
    return padded.reshape(-1, WARP)


def values(places: Array, channels: int) -> Array:
    """The elements of positions with all channels; of IDLE positions no element."""
    all_channels = places[:, None] * channels + np.arange(channels)
    return np.where(places[:, None] == IDLE, IDLE, all_channels).reshape(-1)


def is_countable(task: Task) -> bool:
    """Whether the plan is the transform alone, with a given threshold, and whole warps along x."""
    params, direct = task.params, task.dtype == work_type(task)
    whole = task.meta.of_kind.rank == 1 or task.knobs["block"] % WARP == 0
    alone = params["rule"] == "manual" and params["shifts"] == 1 and params["result"] == "result"
    return bool(direct and whole and alone)


class Memory(NamedTuple):
    """The position of an approximation or a band: its first element, and the pitch in elements."""

    start: int
    pitch: int


class Places:
    """The memory of a task's approximations and bands."""

    def __init__(self, task: Task) -> None:
        self.task, self.channels = task, task.meta.channels
        rank = task.meta.of_kind.rank
        self.sizes = [size if rank == 2 else (1, *size) for size in sizes(task)]
        self.pitch = pyramid_shape(task)[rank - 1] * self.channels
        self.bands = {(b.level, b.orientation): self._band(b.start) for b in bands_of(task)}
        self.details = ("horizontal", "vertical", "diagonal") if rank == 2 else ("detail",)

    def _band(self, start: tuple[int, ...]) -> Memory:
        row, column = start if len(start) == 2 else (0, *start)
        return Memory(row * self.pitch + column * self.channels, self.pitch)

    def approximation(self, level: int) -> Memory:
        if level == len(self.sizes) - 1:
            return self.bands[level, "approximation"]
        return Memory(0, self.sizes[level][1] * self.channels)

    def thresholds(self, level: int, detail: str) -> int:
        """The address of a band's thresholds, relative to an aligned one."""
        before = 1 + (len(self.sizes) - 1 - level) * len(self.details) + self.details.index(detail)
        return before * self.channels


def given_threshold(task: Task) -> Access:
    """The stores of the threshold for all bands, if it is not estimated."""
    places = Places(task)
    count = (len(places.sizes) - 1) * len(places.details) * places.channels
    requests = in_warps(np.arange(count), THRESHOLD_THREADS)
    return Access("store", np.array([places.channels]), requests, THRESHOLD_BYTES)


class Axis(NamedTuple):
    """The positions of an axis in all blocks at each level of a group, block by block."""

    blocks: list[list[Span]]
    extents: tuple[int, ...]

    def at(self, level: int) -> list[Array]:
        return [positions(spans[level], self.extents[level]) for spans in self.blocks]

    def owned(self, level: int) -> list[Array]:
        """Positions of level 1, 2, … that the block of the last level's piece writes; others are IDLE."""
        many, apart = self.blocks[0][-1].many, len(self.extents) - 1 - level
        found = []
        for spans, places in zip(self.blocks, self.at(level), strict=True):
            first = spans[-1].first
            own = (places >= first << apart) & (places < first + many << apart)
            found.append(np.where(own, places, IDLE))
        return found


def _axis(task: Task, extents: tuple[int, ...], many: int, forward: bool) -> Axis:
    taps, border = LENGTHS[task.params["wavelet"]], task.params["border"]
    of = extents[-1] if forward else extents[0]
    blocks = []
    for first in range(0, of, many):
        spans = [Span(first, min(many, of - first))]
        for n in extents[-2::-1] if forward else extents[:-1]:
            spans.append((samples_for if forward else coefficients_for)(spans[-1], n, taps, border))
        blocks.append(spans[::-1] if forward else spans)
    return Axis(blocks, extents)


def of_levels(task: Task) -> dict[str, int]:
    """The sectors of the variant with several levels per launch; {} if conversions or threshold estimates need further
    kernels."""
    if not is_countable(task):
        return {}
    groups = groups_of(task.params["levels"], task.knobs["together"])
    found = [given_threshold(task)]
    for group in groups:
        found += [*_forward(task, group), *_inverse(task, group)]
    return counters(found)


def _axes(task: Task, group: Group, forward: bool) -> tuple[Axis, Axis]:
    places, many = Places(task), pieces(task, group.together)
    along, across = zip(*places.sizes[group.first : group.last + 1], strict=True)
    if forward:
        many = max(1, many[0] >> group.together), max(1, many[1] >> group.together)
    if task.meta.of_kind.rank == 1:
        return Axis([[Span(0, 1)] * len(along)], along), _axis(task, across, many[1], forward)
    return _axis(task, along, many[0], forward), _axis(task, across, many[1], forward)


def _forward(task: Task, group: Group) -> Iterator[Access]:
    places, (along, across) = Places(task), _axes(task, group, forward=True)
    yield access(task, "load", places.approximation(group.first), along.at(0), across.at(0))
    last = group.together
    yield access(task, "store", places.approximation(group.last), along.at(last), across.at(last))
    for level in range(1, last + 1):
        for detail in places.details:
            band = places.bands[group.first + level, detail]
            rows = along.owned(level) if len(places.details) > 1 else along.at(level)
            yield access(task, "store", band, rows, across.owned(level))


def _inverse(task: Task, group: Group) -> Iterator[Access]:
    places, (along, across) = Places(task), _axes(task, group, forward=False)
    yield access(task, "store", places.approximation(group.first), along.at(0), across.at(0))
    last = group.together
    yield access(task, "load", places.approximation(group.last), along.at(last), across.at(last))
    for level in range(1, last + 1):
        for detail in places.details:
            band = places.bands[group.first + level, detail]
            yield access(task, "load", band, along.at(level), across.at(level))
            yield from limits(task, places.thresholds(group.first + level, detail), along.at(level), across.at(level))


def threads_along(task: Task) -> int:
    """Threads of a block along x."""
    block = int(task.knobs["block"])
    return block if task.meta.of_kind.rank == 1 else block_shape(block)[0]


def access(task: Task, verb: Any, memory: Memory, rows: list[Array], columns: list[Array]) -> Access:
    """Every row of every block by every request along the columns of every block."""
    places = np.concatenate(rows)
    begins = memory.start + places[places != IDLE] * memory.pitch
    threads, channels = threads_along(task), task.meta.channels
    requests = np.concatenate([in_warps(values(of, channels), threads) for of in columns])
    return Access(verb, begins, requests, work_type(task).itemsize)


def limits(task: Task, place: int, rows: list[Array], columns: list[Array]) -> Iterator[Access]:
    """The loads of a band's thresholds in the inverse: one by all threads of a block that load any coefficient, and
    with several channels, that of its channel by each coefficient."""
    threads, channels = threads_along(task), task.meta.channels
    lines = sum(min(of.size, int(task.knobs["block"]) // threads) for of in rows)
    busy = (np.zeros(min(of.size * channels, threads), np.int64) for of in columns)
    yield Access("load", np.full(lines, place), np.concatenate([in_warps(of, threads) for of in busy]), THRESHOLD_BYTES)
    if channels > 1:
        of_channels = [in_warps(values(np.where(of == IDLE, IDLE, 0), channels), threads) for of in columns]
        many = sum(int((of != IDLE).sum()) for of in rows)
        yield Access("load", np.full(many, place), np.concatenate(of_channels), THRESHOLD_BYTES)
