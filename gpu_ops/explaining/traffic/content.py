"""The traffic of a variant and the footprint of an element as data, and as JSON. Nothing here runs anything."""

from __future__ import annotations

import base64
import zlib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

Array = np.ndarray[Any, Any]
Measure = Literal["requests", "sectors", "shared"]
MEASURES: tuple[Measure, ...] = ("requests", "sectors", "shared")
SECTOR = 32
MORE = ("textures", "shared_loads", "unpainted")
"""Numbers of a Traffic."""
Extents = tuple[int, int, int]
Places = tuple[tuple[str, int], ...]


@dataclass(frozen=True, eq=False)
class LineTraffic:
    """What one line of a kernel's source fetches of the input: `counts` has, by measure, how often each element is
    asked for, or each sector is fetched. `places` are (file, line) of the line, then of those that it was inlined
    at."""

    kernel: str
    places: Places
    counts: Mapping[Measure, Array]


@dataclass(frozen=True, eq=False)
class Traffic:
    """What a variant fetches. `shape` is that of the input, whose elements have `itemsize` bytes; `requests` count by
    element (n,), the warps' requests that ask for it; `sectors` by sector of 32 bytes, the warps' requests that fetch
    it; `shared` by element, the threads' reads of cells of shared memory with a copy of it. `elsewhere` are the counts
    of other memory: fetches of sectors of other buffers, and reads of cells that hold anything else. `textures` are the
    requests of textures, which have no known sectors; of those `unpainted` interpolate or convert, and belong to no
    single element. `shared_loads` are the threads' loads from shared memory, of which one of several values counts
    once."""

    variant: str
    shape: tuple[int, ...]
    itemsize: int
    lines: tuple[LineTraffic, ...]
    elsewhere: Mapping[Measure, int] = field(default_factory=dict)
    textures: int = 0
    shared_loads: int = 0
    unpainted: int = 0

    def painted(self, measure: Measure, place: tuple[str, int] | None = None) -> Array:
        """The counts of each element, in the input's shape: by one line with all that it calls, or by all lines."""
        total = np.zeros(int(np.prod(self.shape, dtype=np.int64)), np.int64)
        for line in self.lines:
            if measure in line.counts and (place is None or place in line.places):
                counts = line.counts[measure]
                if measure == "sectors":
                    counts = np.repeat(counts, SECTOR // self.itemsize)[: len(total)]
                total += counts
        return total.reshape(self.shape)

    def total(self, measure: Measure, place: tuple[str, int] | None = None) -> int:
        """The sum of the counts of a measure."""
        lines = [line for line in self.lines if measure in line.counts and (place is None or place in line.places)]
        return sum(int(line.counts[measure].sum(dtype=np.int64)) for line in lines)

    def places(self, file: str = "") -> list[tuple[str, int]]:
        """The lines that fetch anything of the input, of one file or of all."""
        found = {place for line in self.lines for place in line.places if file in ("", place[0])}
        return sorted(found)


@dataclass(frozen=True)
class FootprintRead:
    """One element of the input (its flat index), loaded at a line of a kernel by a thread of a block; `count` such
    loads. `own`: by the thread that stored the result."""

    element: int
    kernel: str
    file: str
    line: int
    block: Extents
    thread: Extents
    own: bool
    count: int = 1


@dataclass(frozen=True)
class Footprint:
    """What made one element of a result (flat index `index`): the thread that stored it, at a line of a kernel, the
    `elements` of the input (flat indices, in order), and the `reads` that fetched them. `own_reads` are the loads by
    that thread from global memory, and `shared_reads` from shared memory, for all its `results` together. `blocks`:
    blocks of all launches that took part. `passed`: other elements (flat indices, in order) that were read on the way
    without any effect on the result, because they cancel in sums or share a word."""

    index: int
    kernel: str
    file: str
    line: int
    block: Extents
    thread: Extents
    warp: int
    elements: tuple[int, ...]
    reads: tuple[FootprintRead, ...]
    own_reads: int
    shared_reads: int
    blocks: int
    itemsize: int
    passed: tuple[int, ...] = ()
    results: int = 1

    @property
    def sectors(self) -> dict[tuple[str, int], tuple[int, ...]]:
        """The numbers of the sectors of the input that hold the elements, by the line that fetched them."""
        found: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
        for read in self.reads:
            found[read.file, read.line].add(read.element * self.itemsize // SECTOR)
        return {place: tuple(sorted(numbers)) for place, numbers in sorted(found.items())}


# JSON


def small(counts: Array) -> Array:
    """Counts in the smallest type that holds them, because they travel."""
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0))))


def traffic_dict(traffic: Traffic) -> dict[str, Any]:
    """The traffic of a variant as JSON; counts are compressed, see `_packed`."""
    lines = [
        {"kernel": line.kernel, "places": line.places, "counts": {m: _packed(c) for m, c in line.counts.items()}}
        for line in traffic.lines
    ]
    about = {"variant": traffic.variant, "shape": traffic.shape, "itemsize": traffic.itemsize}
    more = {"elsewhere": dict(traffic.elsewhere), **{name: getattr(traffic, name) for name in MORE}}
    return {**about, "lines": lines, **more}


def traffic_of(content: Mapping[str, Any]) -> Traffic:
    """The traffic of a variant from JSON."""
    lines = tuple(
        LineTraffic(
            line["kernel"],
            tuple((str(file), int(number)) for file, number in line["places"]),
            {measure: _unpacked(counts) for measure, counts in line["counts"].items()},
        )
        for line in content["lines"]
    )
    about = (content["variant"], tuple(content["shape"]), content["itemsize"])
    return Traffic(*about, lines, dict(content["elsewhere"]), *(content[name] for name in MORE))


def footprint_dict(footprint: Footprint) -> dict[str, Any]:
    """A footprint as JSON."""
    return asdict(footprint)


def footprint_of(content: Mapping[str, Any]) -> Footprint:
    """A footprint from JSON."""
    reads = tuple(
        FootprintRead(**{**one, "block": tuple(one["block"]), "thread": tuple(one["thread"])})
        for one in content["reads"]
    )
    lists = {name: tuple(content[name]) for name in ("block", "thread", "elements", "passed")}
    return Footprint(**{**content, **lists, "reads": reads})


def _packed(counts: Array) -> dict[str, Any]:
    """Counts (n,) as text: the bytes in the smallest type, compressed."""
    own = small(counts)
    return {"type": own.dtype.str, "data": base64.b64encode(zlib.compress(own.tobytes(), 1)).decode("ascii")}


def _unpacked(content: Mapping[str, Any]) -> Array:
    return np.frombuffer(zlib.decompress(base64.b64decode(content["data"])), content["type"])
