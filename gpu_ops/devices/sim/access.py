"""Loads, stores and atomics of global and constant memory, for many lanes at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.devices.sim.atomics import update
from gpu_ops.devices.sim.findings import Findings, frame_places, say
from gpu_ops.devices.sim.lanes import Array, Lanes, bits
from gpu_ops.devices.sim.memory import NO_OWNER, Region, Table
from gpu_ops.devices.sim.ptx.sites import Site
from gpu_ops.devices.sim.races import Races


class GlobalMemory:
    """The memory that the blocks of a launch may reach. Bounds and alignment are always checked; `checks` adds
    uninitialised reads, several blocks that write one element, and `races`."""

    def __init__(self, table: Table, findings: Findings, races: Races | None) -> None:
        self.table, self.findings, self.races = table, findings, races
        self.checks = races is not None

    def load(self, lanes: Lanes, site: Site, address: Array, dtype: Any, count: int) -> list[Array]:
        """The elements at `address`, in the lanes' frame; zero for invalid addresses."""
        address = lanes.fill_inactive(address)
        region = self._region(lanes, site, address)
        if region is None:
            return self._scattered_load(lanes, site, address, dtype, count)
        index = (address + (site.offset - region.base)) >> (site.nbytes.bit_length() - 1)
        if self.checks and region.allocation is not None and region.allocation.written is not None:
            self._check_initialised(lanes, site, address, region)
        if self.races is not None:
            if region.track is not None:
                self.races.load(lanes, site, region, lanes.active(index) * site.nbytes)
            if site.is_ordered:
                self.races.signal(lanes, reads=True, writes=False)
        loaded = region.view(dtype, count).take(index, axis=0)
        return [loaded[..., k] for k in range(count)] if count > 1 else [loaded]

    def store(self, lanes: Lanes, site: Site, address: Array, dtype: Any, values: list[Array]) -> None:
        """Store the values; lanes with invalid addresses store nothing. If several lanes write to one address, the last
        one wins."""
        count = len(values)
        address = lanes.fill_inactive(address)
        region = self._region(lanes, site, address)
        if region is None:
            for part, selection in self._valid_parts(lanes, site, address):
                self.store(part, site, lanes.cut(address, selection), dtype, [lanes.cut(v, selection) for v in values])
            return
        index = (address + (site.offset - region.base)) >> (site.nbytes.bit_length() - 1)
        flat = lanes.active(index)
        active = [lanes.active(v) for v in values]
        stored = np.stack(active, axis=-1) if count > 1 else active[0]
        region.view(dtype, count)[flat] = stored
        self._wrote(lanes, site, region, flat, stored)

    def atomic(
        self,
        lanes: Lanes,
        site: Site,
        address: Array,
        dtype: Any,
        operation: str,
        values: list[Array],
        needs_result: bool,
    ) -> Array | None:
        """One atomic operation for each lane. Returns the old values if `needs_result`."""
        address = lanes.fill_inactive(address)
        region = self._region(lanes, site, address)
        if region is None:
            result = np.zeros(lanes.shape, dtype)
            for part, selection in self._valid_parts(lanes, site, address):
                cut = [lanes.cut(v, selection) for v in values]
                old = self.atomic(part, site, lanes.cut(address, selection), dtype, operation, cut, needs_result)
                if old is not None:
                    result[np.broadcast_to(selection, lanes.shape)] = part.active(old)
            return result if needs_result else None
        index = (address + (site.offset - region.base)) >> (site.nbytes.bit_length() - 1)
        flat = lanes.active(index)
        if self.races is not None:
            if site.releases:
                self.races.fence(lanes)
            self.races.signal(lanes, reads=True, writes=True)
            if region.track is not None:
                self.races.atomic(lanes, site, region, flat * site.nbytes, not needs_result, operation == "add")
        old = update(region.view(dtype, 1), flat, operation, tuple(lanes.active(v) for v in values), needs_result)
        if self.checks and region.allocation is not None and region.allocation.written is not None:
            self._check_initialised(lanes, site, address, region)
        return None if old is None else lanes.spread(old, 0)

    def _region(self, lanes: Lanes, site: Site, address: Array) -> Region | None:
        """The region that contains all of these addresses, all of them aligned; None if there is no such region."""
        low, high = int(address.min()) + site.offset, int(address.max()) + site.offset
        region = self.table.find(site.number, low, high + site.nbytes)
        if region is None or site.nbytes == 1:
            return region
        if address.size == 1:
            return region if low % site.nbytes == 0 else None
        shared_bits = int(np.bitwise_or.reduce(address + site.offset, axis=None))
        return None if shared_bits & (site.nbytes - 1) else region

    # Addresses of several regions, or outside all

    def _valid_parts(self, lanes: Lanes, site: Site, address: Array) -> list[tuple[Lanes, Array]]:
        """The lanes, split by the region that they address. Lanes outside all regions or not aligned are reported."""
        where = np.broadcast_to(address, lanes.shape) + site.offset
        misaligned = (where & (site.nbytes - 1)) != 0
        rest = ~misaligned if lanes.mask is None else lanes.mask & ~misaligned
        parts = []
        for region in self.table.regions:
            selection = rest & (where >= region.low) & (where <= region.high - site.nbytes)
            if selection.any():
                part = lanes.subset(selection)
                assert part is not None
                parts.append((part, selection))
                rest = rest & ~selection
        flat = where.reshape(-1)
        self.findings.add(
            "out of bounds",
            site.place,
            lanes,
            np.flatnonzero(rest),
            lambda at: f"{site.verb} {self.table.nearest(int(flat[at]), site.nbytes)}",
        )
        self.findings.add(
            "misaligned",
            site.place,
            lanes,
            frame_places(lanes, misaligned),
            lambda at: f"{site.verb} {self.table.nearest(int(flat[at]), site.nbytes)}, not a multiple of {site.nbytes}",
        )
        return parts

    def _scattered_load(self, lanes: Lanes, site: Site, address: Array, dtype: Any, count: int) -> list[Array]:
        results = [np.zeros(lanes.shape, dtype) for _ in range(count)]
        for part, selection in self._valid_parts(lanes, site, address):
            for result, loaded in zip(
                results, self.load(part, site, lanes.cut(address, selection), dtype, count), strict=True
            ):
                result[selection] = part.active(loaded)
        return results

    # Checks

    def _check_initialised(self, lanes: Lanes, site: Site, address: Array, region: Region) -> None:
        allocation = region.allocation
        assert allocation is not None and allocation.written is not None
        first = address + (site.offset - allocation.base)
        missing = ~allocation.written[first]
        if missing.any():
            wide = np.broadcast_to(first, lanes.shape).reshape(-1)
            self.findings.add(
                "uninitialised read",
                site.place,
                lanes,
                frame_places(lanes, missing),
                lambda at: (
                    f"{site.verb} {region.elements(int(wide[at]) + region.base, site.nbytes)} before it is written"
                ),
            )

    def _wrote(self, lanes: Lanes, site: Site, region: Region, index: Array, stored: Array) -> None:
        """Record which bytes are initialised now, and which thread wrote each element."""
        start = index * site.nbytes
        allocation = region.allocation
        if allocation is not None and allocation.written is not None:
            for byte in range(site.nbytes):
                allocation.written[start + byte] = True
        if self.races is not None:
            if site.releases:
                self.races.fence(lanes)
            if site.is_ordered:
                self.races.signal(lanes, reads=False, writes=True)
            if region.track is not None:
                self.races.store(lanes, site, region, start)
        if not self.checks or site.is_ordered:
            return
        if region.owners is None:
            region.owners = np.full(-(-len(region.data) // region.itemsize), NO_OWNER, np.int32)
        shift = lanes.layout.thread_bits
        mine = lanes.active(lanes.rows + lanes.layout.first << shift | lanes.threads).astype(np.int32)
        elements = start // region.itemsize
        for step in range(max(1, site.nbytes // region.itemsize)):
            before = region.owners[elements + step]
            foreign = (before != NO_OWNER) & ((before ^ mine) >> shift != 0)
            region.owners[elements + step] = mine
            after = region.owners[elements + step]
            clash = np.flatnonzero(foreign | (after != mine))
            if len(clash):
                at_once = (after[clash] ^ mine[clash]) >> shift != 0
                apart = foreign[clash] | at_once
                two = apart if region.track is None else at_once  # `races` knows what orders the earlier ones
                self._two_blocks(lanes, site, region, elements, clash[two], before, after, foreign)
                if not apart.all():
                    self._two_threads(lanes, site, region, index, clash[~apart], after, stored)

    def _two_blocks(
        self,
        lanes: Lanes,
        site: Site,
        region: Region,
        elements: Array,
        clash: Array,
        before: Array,
        after: Array,
        foreign: Array,
    ) -> None:
        if len(clash):
            first = int(clash[0])
            rival = int(before[first] if foreign[first] else after[first]) >> lanes.layout.thread_bits
            text = (
                f"writes {region.name}[{int(elements[first])}], which block {rival} writes as well; "
                "the final value depends on timing"
            )
            self.findings.add("two blocks write one element", site.place, lanes, lanes.places[clash], say(text))

    def _two_threads(
        self, lanes: Lanes, site: Site, region: Region, index: Array, clash: Array, after: Array, stored: Array
    ) -> None:
        """Report threads of one block that write different values to one element at once."""
        kept = region.view(stored.dtype.type, stored.shape[1] if stored.ndim > 1 else 1)[index[clash]]
        differs = np.asarray(bits(kept) != bits(stored[clash]))
        clash = clash[differs.any(axis=-1) if differs.ndim > 1 else differs]
        if len(clash):
            first = int(clash[0])
            rival = int(after[first]) & ((1 << lanes.layout.thread_bits) - 1)
            what = region.elements(int(index[first]) * site.nbytes + region.base, site.nbytes)
            text = f"writes {what}, as thread {rival} does at the same time with another value"
            kind = "write-after-write hazard in global memory"
            self.findings.add(kind, site.place, lanes, lanes.places[clash], say(text))
