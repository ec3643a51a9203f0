"""How often each byte of global memory is fetched, by line of the source: requests, sectors, and reads of shared memory
that holds a copy of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from gpu_ops.devices.sim.lanes import WARP, Array, Lanes
from gpu_ops.devices.sim.memory import Region, Table, address_of
from gpu_ops.devices.sim.ptx.emit import BlockCode, Code
from gpu_ops.devices.sim.ptx.program import SIZES, Instruction, Place
from gpu_ops.devices.sim.ptx.sites import Site
from gpu_ops.devices.sim.requests import Requests
from gpu_ops.devices.sim.traffic.following import Follower, Touch

Measure = Literal["requests", "sectors", "shared"]
MEASURES: tuple[Measure, ...] = ("requests", "sectors", "shared")
SECTOR_BITS = 5
ALIASES = frozenset({"mov", "cvt", "cvta", "selp"})
"""Instructions that keep a value, or choose one of two."""


class TrafficMaps:
    """The counts of one launch, for each place in the source and each allocation by its base address: `requests` of
    warps that ask for each element, and fetches of each sector (n,); `shared` has the reads by threads of a cell of
    shared memory with a copy of each element. `other` are reads of cells that hold something else, by place. `writers`
    and `readers` are the blocks that wrote and read each element last, −1 for none. Of the `textures` whose elements
    lanes get as they are, `requests` count too, and `texture_requests` is the number of them."""

    def __init__(self, code: Code, table: Table, textures: Sequence[Array] = ()) -> None:
        self.requests: dict[tuple[Place, int], Array] = {}
        self.sectors: dict[tuple[Place, int], Array] = {}
        self.shared: dict[tuple[Place, int], Array] = {}
        self.other: dict[Place, int] = {}
        self.writers: dict[int, Array] = {}
        self.readers: dict[int, Array] = {}
        self.itemsizes: dict[int, int] = {}
        self.texture_requests = 0
        self._table, self._textures = table, textures
        uses_shared = any(site.space in ("shared", "generic") for site in code.sites)
        self._copies = Copies(code.numbers, self._read_copies) if uses_shared else None

    wants_values = False

    def valued(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        """Values do not matter."""

    def by_measure(self) -> dict[Measure, dict[tuple[Place, int], Array]]:
        """All counts."""
        return {"requests": self.requests, "sectors": self.sectors, "shared": self.shared}

    def requested(self, made: Requests, site: Site, weight: float) -> None:
        """Count the requests of a load."""
        if site.verb != "reads":
            return
        rows, times = (made.rows[:, :1] if made.even else made.rows), round(made.times * weight)
        low, high = int(rows.min()), int(rows.max()) + made.nbytes
        region = self._table.find(site.number, low, high)
        if region is not None:
            self._count(rows, made.nbytes, site, region, times)
            return
        for one in self._table.regions:
            inside = (rows >= one.low) & (rows < one.high)
            if inside.any():
                self._count(np.where(inside, rows, -1), made.nbytes, site, one, times)
                rows = np.where(inside, -1, rows)  # arguments may overlap, and each address counts once

    def _count(self, rows: Array, nbytes: int, site: Site, region: Region, times: int) -> None:
        """Count addresses in a region; −1 for one outside."""
        size, key = region.itemsize, (site.place, region.base)
        first = distinct_in_rows(rows // size) - region.base // size
        for by in range(max(1, nbytes // size)):
            _add(self.requests, key, first[first >= 0] + by, elements_of(region), times)
        found = distinct_in_rows(rows >> SECTOR_BITS) - (region.base >> SECTOR_BITS)
        _add(self.sectors, key, found[found >= 0], -(-len(region.data) >> SECTOR_BITS), times)

    def accessed(self, space: str, lanes: Lanes, site: Site, address: Array) -> None:
        """Note who writes, and follow copies."""
        if self._copies is not None:
            self._copies.accessed(space, lanes, site, address)
        if space == "global":
            where = lanes.active(address).astype(np.int64) + site.offset
            region = self._table.find(site.number, int(where.min()), int(where.max()) + site.nbytes)
            if region is not None:
                blocks = lanes.layout.first + lanes.flat // lanes.layout.width
                _own(self.readers if site.verb == "reads" else self.writers, region, where, site.nbytes, blocks)
                self.itemsizes[region.base] = region.itemsize

    def fetched(self, lanes: Lanes, site: Site, address: Array, nbytes: int, channels: int) -> None:
        """Count the requests of a fetch from a texture, and follow copies."""
        if self._copies is not None:
            self._copies.fetched(lanes, site, address, nbytes, channels)
        self.texture_requests += lanes.warps
        where, warps = lanes.active(address), lanes.flat // WARP
        for array in self._textures:
            first = (where - address_of(array)) // nbytes
            inside = (first >= 0) & (first < array.size)
            if inside.any():
                asked = np.unique(warps[inside] * array.size + first[inside]) % array.size
                for by in range(channels):
                    _add(self.requests, (site.place, address_of(array)), asked + by, array.size, 1)

    def shuffled(self, source: Array, lanes: Lanes) -> None:
        """Follow copies."""
        if self._copies is not None:
            self._copies.shuffled(source, lanes)

    def ran(self, block: BlockCode, lanes: Lanes) -> None:
        """Follow copies."""
        if self._copies is not None:
            self._copies.ran(block, lanes)

    def end_batch(self) -> None:
        """Forget what the batch held."""
        if self._copies is not None:
            self._copies.end_batch()

    def _read_copies(self, place: Place, origins: Array, nbytes: int) -> None:
        """Count reads by threads of cells of so many bytes, see `Copies`."""
        held = np.abs(origins[origins != 0])
        if len(held) < len(origins):
            self.other[place] = self.other.get(place, 0) + len(origins) - len(held)
        plain = origins[origins > 0]
        for region in self._table.regions:
            key, size = (place, region.base), region.itemsize
            for by in range(0, max(size, nbytes), size):  # all elements of a wide copy
                inside = (plain if by else held) + by
                inside = inside[(inside >= region.low) & (inside < region.high)]
                if len(inside):
                    _add(self.shared, key, (inside - region.base) // size, elements_of(region), 1)
            held, plain = (one[(one < region.low) | (one >= region.high)] for one in (held, plain))  # each counts once


class Copies(Follower):
    """Follows values that are copied from global to shared memory: a number is the address that a value was loaded
    from, the negative one if it has another number of bytes now, 0 if it was computed. `read(place, numbers, bytes)` is
    called for every read of shared memory."""

    def __init__(self, numbers: Mapping[str, int], read: Callable[[Place, Array, int], None]) -> None:
        super().__init__(numbers)
        self._read = read
        self._shared: Array | None = None

    def end_batch(self) -> None:
        super().end_batch()
        self._shared = None

    def _held(self, last: int) -> Array:
        """The origins of all bytes of shared memory, (blocks, bytes), at least `last` of them."""
        assert self.layout is not None
        have = 0 if self._shared is None else self._shared.shape[1]
        if have < last:
            grown = np.zeros((self.layout.blocks, max(last, 2 * have)), np.int64)
            if self._shared is not None:
                grown[:, :have] = self._shared
            self._shared = grown
        assert self._shared is not None
        return self._shared

    def load(self, touch: Touch, by: int, nbytes: int) -> Array:
        if touch.space in ("global", "texture"):
            return touch.address + by
        if touch.space != "shared":
            return np.zeros(len(touch.at), np.int64)
        assert self.layout is not None
        held = self._held(int(touch.address.max()) + by + nbytes)
        origins: Array = held[touch.at // self.layout.width, touch.address + by]
        self._read(touch.site.place, origins, nbytes)
        return origins

    def store(self, touch: Touch, by: int, nbytes: int, values: Array) -> None:
        if touch.space == "shared":
            assert self.layout is not None
            held, rows = self._held(int(touch.address.max()) + by + nbytes), touch.at // self.layout.width
            for byte in range(nbytes):
                held[rows, touch.address + by + byte] = np.where(values > 0, values + byte, values)

    def combined(self, line: Instruction, at: Array, sources: list[Array]) -> Array:
        if line.op[0] not in ALIASES:
            return np.zeros(len(at), np.int64)
        first = sources[0] if line.op[0] != "selp" else np.where(sources[0] == 0, sources[1], sources[0])
        resized = line.op[0] == "cvt" and SIZES.get(line.op[-1]) != SIZES.get(line.op[-2])
        return -np.abs(first) if resized else first

    def part(self, number: Array, by: int, size: int) -> Array:
        return np.where(number > 0, number + by, 0)

    def packed(self, parts: list[Array], size: int) -> Array:
        """A wide value is a copy where its parts are neighbours."""
        each, whole = size // len(parts), parts[0] > 0
        for place, part in enumerate(parts[1:], 1):
            whole &= part == parts[0] + place * each
        return np.where(whole, parts[0], 0)


def distinct_in_rows(rows: Array) -> Array:
    """The different numbers of each row, those of all rows together."""
    if (rows[:, 1:] < rows[:, :-1]).any():
        rows = np.sort(rows, axis=1)
    fresh = np.ones(rows.shape, np.bool_)
    fresh[:, 1:] = rows[:, 1:] != rows[:, :-1]
    return rows[fresh]


def _add(maps: dict[tuple[Place, int], Array], key: tuple[Place, int], index: Array, size: int, times: int) -> None:
    """Count an element each time that its index occurs."""
    found = maps.get(key)
    if found is None:
        found = maps[key] = np.zeros(size, np.int64)
    if len(index):
        low = int(index.min())
        counts = np.bincount(index - low)
        found[low : low + len(counts)] += counts * times


def _own(owners: dict[int, Array], region: Region, where: Array, nbytes: int, blocks: Array) -> None:
    """Note the blocks that access the elements of a region at these addresses."""
    own = owners.get(region.base)
    if own is None:
        own = owners[region.base] = np.full(elements_of(region), -1, np.int32)
    first = (where - region.base) // region.itemsize
    for by in range(max(1, nbytes // region.itemsize)):
        own[first + by] = blocks


def elements_of(region: Region) -> int:
    """The number of elements in the allocation of a region."""
    return -(-len(region.data) // region.itemsize)
