"""Shared memory of a batch of blocks, with checks for accesses out of bounds, uninitialised reads, and hazards."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.devices.sim.atomics import update
from gpu_ops.devices.sim.clusters import Clusters
from gpu_ops.devices.sim.findings import WITHIN, Findings, frame_places, say
from gpu_ops.devices.sim.hazards import RIVALS, THREAD, AccessLog, SharedAccess
from gpu_ops.devices.sim.lanes import Array, BatchLayout, Lanes, bits
from gpu_ops.devices.sim.ordering import BlockOrder
from gpu_ops.devices.sim.ptx.sites import Site
from gpu_ops.errors import counted

_UNWRITTEN = 0xFF  # NaN as a float


class SharedMemory(BlockOrder):
    """`nbytes` for each block, of which those from `user_bytes` on are the system's and zero; `unit` is the smallest
    access of the kernel, `names` are (name, first, last + 1). Files of the `library` are CUDA's own headers: they rely
    on how hardware orders the accesses of one warp."""

    def __init__(
        self,
        layout: BatchLayout,
        nbytes: int,
        unit: int,
        names: tuple[tuple[str, int, int], ...],
        findings: Findings,
        checks: bool,
        user_bytes: int | None = None,
        library: frozenset[str] = frozenset(),
        clustered: bool = False,
    ) -> None:
        super().__init__(layout, checks)
        self.nbytes, self.unit, self.names, self.findings = nbytes, unit, names, findings
        self.data = np.full((self.blocks, -(-max(nbytes, 1) // 16) * 16), _UNWRITTEN, np.uint8)
        units = self.data.shape[1] // unit
        self.trails = {kind: AccessLog(units, self.blocks) for kind in RIVALS} if checks else {}
        self.written = np.zeros((1, units), np.bool_)
        self.all_written = not checks
        self.library = library
        self.clusters = Clusters(layout, units) if clustered else None
        if user_bytes is not None:
            self.data[:, user_bytes:] = 0
            self.written[:, user_bytes // unit :] = True
        self.pending_copies: Array | None = None  # units that an asynchronous copy will write, (blocks, units)

    # Barriers

    def barrier(self, rows: Array | None) -> None:
        """All threads of these blocks (None: of all blocks) have met."""
        self.time += 1
        if rows is None:
            self.block_start[:] = self.time
            self.uneven = False
            for log in self.trails.values():
                log.forget()
        else:
            self.block_start[rows] = self.time
            self.uneven = True
        self.start = int(self.block_start.min())
        if not self.all_written:
            self.all_written = bool(self.written[:, : self.nbytes // self.unit].all())

    # Accesses

    def load(self, lanes: Lanes, site: Site, address: Array, dtype: Any, count: int) -> list[Array]:
        """The elements at `address` (bytes, in the lanes' frame); zero for addresses out of bounds."""
        address, wrong = self._checked(lanes, site, address, np.dtype(dtype).itemsize * count)
        self._check_valid_lanes(lanes, site, address, wrong, np.dtype(dtype).itemsize * count, "read")
        view, index = self._view(dtype, count), self._index(address, dtype, count)
        if not lanes.packed and index.shape[0] == 1:
            loaded = view[:, index[0]]
        else:
            loaded = view.reshape(-1, *view.shape[2:])[index + lanes.rows * view.shape[1]]
        if wrong is not None:
            loaded = np.where(wrong[..., None] if count > 1 else wrong, view.dtype.type(0), loaded)
        return [loaded[..., k] for k in range(count)] if count > 1 else [loaded]

    def store(self, lanes: Lanes, site: Site, address: Array, dtype: Any, values: list[Array]) -> None:
        """Store the values; lanes with addresses out of bounds store nothing."""
        count = len(values)
        nbytes = np.dtype(dtype).itemsize * count
        address, wrong = self._checked(lanes, site, address, nbytes)
        if wrong is not None:
            valid = lanes.subset(~wrong)
            if valid is None:
                return
            address, values = lanes.cut(address, ~wrong), [lanes.cut(v, ~wrong) for v in values]
            lanes = valid
        if self.checks:
            self._check_access(lanes, site, address, nbytes, "write")
        view, index = self._view(dtype, count), self._index(address, dtype, count)
        if not lanes.packed and lanes.mask is None and index.shape[0] == 1 and index.shape[1] > 1:
            wide = [np.broadcast_to(v, lanes.shape) for v in values]
            stored = np.stack(wide, axis=-1) if count > 1 else wide[0]
            view[:, index[0]] = stored
            back = view[:, index[0]] if self.checks else stored
        else:
            rows, places = lanes.active(lanes.rows), lanes.active(index)
            active = [lanes.active(v) for v in values]
            stored = np.stack(active, axis=-1) if count > 1 else active[0]
            view[rows, places] = stored
            back = view[rows, places] if self.checks else stored
        if self.checks:
            differs = bits(stored) != bits(back)
            if differs.any() and not site.waits:
                self._overwritten(lanes, site, differs.any(axis=-1) if count > 1 else differs)

    def announce(self, lanes: Lanes, site: Site, address: Array, nbytes: int) -> tuple[Lanes, Array | None] | None:
        """Check an asynchronous copy when it starts: the lanes with a valid address, and where those are if some are
        not valid; None without any."""
        checked, wrong = self._checked(lanes, site, address, nbytes)
        valid = lanes if wrong is None else lanes.subset(~wrong)
        if valid is None:
            return None
        if self.checks:
            touch = self._look_for_rivals(valid, site, checked if wrong is None else lanes.cut(checked, ~wrong), nbytes)
            if self.pending_copies is None:
                self.pending_copies = np.zeros((self.blocks, self.data.shape[1] // self.unit), np.bool_)
            self.pending_copies[self._rows(touch), touch.units] = True
        return valid, None if wrong is None else ~wrong

    def complete_copy(self, lanes: Lanes, site: Site, address: Array, dtype: Any, values: list[Array]) -> None:
        """Store the values of an announced copy."""
        if self.pending_copies is not None:
            nbytes = np.dtype(dtype).itemsize * len(values)
            touch = self._touch(lanes, address + address.dtype.type(site.offset), nbytes)
            self.pending_copies[self._rows(touch), touch.units] = False
        self.store(lanes, site, address, dtype, values)

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
        address, wrong = self._checked(lanes, site, address, np.dtype(dtype).itemsize)
        self._check_valid_lanes(lanes, site, address, wrong, np.dtype(dtype).itemsize, "atomic")
        view = self._view(dtype, 1)
        flat = lanes.active(self._index(address, dtype, 1) + lanes.rows * view.shape[1])
        right = slice(None) if wrong is None else ~lanes.active(wrong)
        operands = tuple(lanes.active(v)[right] for v in values)
        old = update(view.reshape(-1), flat[right], operation, operands, needs_result)
        if old is None:
            return None
        result = np.zeros(len(flat), old.dtype)
        result[right] = old
        return lanes.spread(result, 0)

    def _view(self, dtype: Any, count: int) -> Array:
        whole = self.data.view(dtype)
        return whole.reshape(self.blocks, -1, count) if count > 1 else whole

    @staticmethod
    def _index(address: Array, dtype: Any, count: int) -> Array:
        shift = (np.dtype(dtype).itemsize * count).bit_length() - 1
        return address.astype(np.int64) >> shift

    def _checked(self, lanes: Lanes, site: Site, address: Array, nbytes: int) -> tuple[Array, Array | None]:
        """The address with the site's offset, 0 where it is invalid, and where that is. Inactive lanes are always
        valid."""
        address = lanes.fill_inactive(address)
        if site.offset:
            address = address + address.dtype.type(site.offset)
        bad = None
        if int(address.min()) < 0 or int(address.max()) + nbytes > self.nbytes:
            bad = (address < 0) | (address > self.nbytes - nbytes)
            self._report(lanes, site, bad, address, "out of bounds", nbytes)
        if nbytes > 1 and int(np.bitwise_or.reduce(address, axis=None)) & (nbytes - 1):
            off = (address & (nbytes - 1)) != 0
            self._report(lanes, site, off if bad is None else off & ~bad, address, "misaligned", nbytes)
            bad = off if bad is None else bad | off
        if bad is None:
            return address, None
        return np.where(bad, 0, address).astype(address.dtype), np.broadcast_to(bad, lanes.shape)

    def _report(self, lanes: Lanes, site: Site, bad: Array, address: Array, kind: str, nbytes: int) -> None:
        wide = np.broadcast_to(address, lanes.shape).reshape(-1)

        def detail(place: int) -> str:
            at = int(wide[place])
            what = f"{counted(nbytes, 'byte')} at byte {at} of shared memory"
            if kind == "misaligned":
                return f"{site.verb} {what}, which is not a multiple of {nbytes}"
            return f"{site.verb} {what}, but a block has {counted(self.nbytes, 'byte')}"

        self.findings.add(kind, site.place, lanes, frame_places(lanes, bad), detail)

    def name(self, byte: int) -> str:
        """The variable that contains a byte, and the byte's offset in it."""
        for name, first, last in self.names:
            if first <= byte < last:
                return f"byte {byte - first} of {name}"
        return f"byte {byte} of shared memory"

    # Checks

    def _touch(self, lanes: Lanes, address: Array, nbytes: int) -> SharedAccess:
        units = address.astype(np.int64) >> (self.unit.bit_length() - 1)
        if lanes.same_in_all_blocks and address.shape[0] == 1 and not self.uneven:
            places, threads = lanes.in_a_block
            selection = units[0][places] if units.size > 1 else np.full(len(places), units[0, 0])
            rows = None
        else:
            places = lanes.places
            selection, threads = lanes.active(units), lanes.active(lanes.threads)
            rows = lanes.active(lanes.rows)
        each = max(1, nbytes // self.unit)
        if each > 1:
            selection = (selection[:, None] + np.arange(each)).reshape(-1)
            threads, places = np.repeat(threads, each), np.repeat(places, each)
            rows = None if rows is None else np.repeat(rows, each)
        return SharedAccess(selection, threads, rows, places)

    def _check_valid_lanes(
        self, lanes: Lanes, site: Site, address: Array, wrong: Array | None, nbytes: int, kind: str
    ) -> None:
        """As `_check_access`, without the lanes whose address is invalid."""
        valid = lanes if wrong is None else lanes.subset(~wrong)
        if self.checks and valid is not None:
            self._check_access(valid, site, address if wrong is None else lanes.cut(address, ~wrong), nbytes, kind)

    def _check_access(self, lanes: Lanes, site: Site, address: Array, nbytes: int, kind: str) -> None:
        """Check for hazards, and for uninitialised elements."""
        touch = self._look_for_rivals(lanes, site, address, nbytes, kind)
        if not self.all_written:
            self._check_initialised(lanes, site, touch, kind)
        if self.pending_copies is not None and kind != "write":
            self._check_pending_copies(lanes, site, touch)

    def _look_for_rivals(
        self, lanes: Lanes, site: Site, address: Array, nbytes: int, kind: str = "write"
    ) -> SharedAccess:
        """Check an access for conflicts with other threads since the last barrier, and record it."""
        self.time += 1
        touch = self._touch(lanes, address, nbytes)
        if site.releases:
            self.fence(lanes)
        if site.is_ordered or kind == "atomic":
            self.signal(lanes, released=kind != "read", learned=site.waits or kind == "atomic")
        if site.waits:  # its author expects accesses of other threads
            return touch
        if self.clusters is not None:
            self.clusters.check(lanes, site, touch, kind, self)
            if lanes.visitors is not None:
                return touch
        if site.is_ordered:
            kind = f"volatile {kind}"
        for rival in RIVALS[kind]:
            log = self.trails[rival]
            if log.newest >= self.start:
                places, others, same_warp = log.others(touch, self.block_start, self._ordered_until)
                self._hazard(lanes, site, touch, places, others, same_warp, kind, rival)
        self.trails[kind].note(touch, self.time)
        return touch

    def cluster_barrier(self, rows: Array) -> None:
        """All threads of the clusters of these blocks have met."""
        assert self.clusters is not None
        self.barrier(None if len(rows) == self.blocks else rows)
        self.clusters.start[rows] = self.time

    @staticmethod
    def _rows(touch: SharedAccess) -> Any:
        """The blocks of a touch, for arrays with a row per block."""
        return slice(None) if touch.rows is None else touch.rows

    def _places(self, lanes: Lanes, touch: SharedAccess, which: Array) -> Array:
        """These lanes of a touch as indices of the flattened frame, each once: of every block where all blocks do the
        same."""
        places = np.unique(touch.places[which])
        if touch.rows is not None:
            return places
        return np.asarray((np.arange(self.blocks)[:, None] * lanes.shape[1] + places).reshape(-1))

    def _check_pending_copies(self, lanes: Lanes, site: Site, touch: SharedAccess) -> None:
        """Report accesses to units of an asynchronous copy that was not waited for: it may be complete or not."""
        assert self.pending_copies is not None
        pending_copies = self.pending_copies[self._rows(touch), touch.units]
        early = np.flatnonzero(pending_copies if touch.rows is not None else pending_copies.any(axis=0))
        if len(early):
            name = self.name(int(touch.units[early[0]]) * self.unit)
            text = f"{site.verb} {name} without waiting for its copy (cp.async.wait_group, then a barrier)"
            where = self._places(lanes, touch, early)
            self.findings.add("read before its copy is complete", site.place, lanes, where, say(text))

    def _check_initialised(self, lanes: Lanes, site: Site, touch: SharedAccess, kind: str) -> None:
        if touch.rows is not None and self.written.shape[0] == 1:
            self.written = np.repeat(self.written, self.blocks, axis=0)
        rows = self._rows(touch)
        if kind == "write":
            self.written[rows, touch.units] = True
            return
        written_units = self.written[rows, touch.units]
        if written_units.all():
            return
        missing = np.flatnonzero(~(written_units if touch.rows is not None else written_units.all(axis=0)))
        self.findings.add(
            "uninitialised read",
            site.place,
            lanes,
            self._places(lanes, touch, missing),
            lambda place: f"{site.verb} {self.name(int(touch.units[missing[0]]) * self.unit)} before it is written",
        )

    def _hazard(
        self,
        lanes: Lanes,
        site: Site,
        touch: SharedAccess,
        places: Array,
        others: Array,
        same_warp: Array,
        kind: str,
        rival: str,
    ) -> None:
        if not len(places):
            return
        kind, rival_name = kind.removeprefix("volatile "), rival.removeprefix("volatile ")
        did = {"read": "read", "write": "wrote", "atomic": "changed"}[rival_name]
        size = len(touch.units)
        for within in (False, True):
            selection = np.flatnonzero(same_warp == within)
            if not len(selection) or (within and site.place.file in self.library):
                continue
            first = selection[0]
            missing = "__syncwarp()" if within else "barrier" if self.order.used else "__syncthreads()"
            title = f"{kind}-after-{rival_name} hazard" + (WITHIN if within else "")
            text = (
                f"{site.verb} {self.name(int(touch.units[places[first] % size]) * self.unit)}, which thread "
                f"{int(others[first]) & THREAD} {did} with no {missing} in between"
            )
            alike = touch.rows is None and self.trails[rival].last.shape[0] == 1
            if touch.rows is not None or alike:
                where = self._places(lanes, touch, places[selection])
            else:  # every block has its own stamps
                where = np.unique(touch.places[places[selection] % size] + places[selection] // size * lanes.shape[1])
            span = int(others[first]) >> 16, self.time
            self.findings.add(title, site.place, lanes, where, say(text), span=span)

    def _overwritten(self, lanes: Lanes, site: Site, different: Array) -> None:
        """Lanes of one instruction wrote different values to one address: the final value depends on timing."""
        places = lanes.places[different.reshape(-1)]
        text = f"{site.verb} where another thread writes another value at the same time"
        self.findings.add("write-after-write hazard", site.place, lanes, places, lambda place: text)
