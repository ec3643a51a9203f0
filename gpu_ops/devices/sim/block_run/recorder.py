"""Records what each step of a block changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gpu_ops.devices.sim.batch import Batch
from gpu_ops.devices.sim.block_run.accesses import Access, AccessLog
from gpu_ops.devices.sim.block_run.log import Array, CellLog
from gpu_ops.devices.sim.block_run.run import ENDED, Buffer
from gpu_ops.devices.sim.counters import Counters
from gpu_ops.devices.sim.lanes import WARP, Lanes, bits, whole_mask
from gpu_ops.devices.sim.memory import Region
from gpu_ops.devices.sim.ptx.emit import BlockCode, Code
from gpu_ops.devices.sim.ptx.sites import Site
from gpu_ops.devices.sim.scheduling.groups import Group
from gpu_ops.errors import KernelError

MOST_WRITES = 2_500_000
"""Writes of one log that are recorded: about 30 MB."""
WORD = 4


class Enough(Exception):
    """All steps that were asked for are recorded."""


class StepRecorder(Counters):
    """Takes the accesses of one block in place of counting them. `most` steps are recorded; then it raises Enough, as
    it does when a log is full. `regions` are the arrays among the arguments with their arrays."""

    def __init__(self, code: Code, batch: Batch, regions: Sequence[tuple[Region, Array]], most: int) -> None:
        super().__init__(code, (1, 1, 1))
        self.layout, self.memory, self.table, self.most = batch.layout, batch.shared, batch.memory.table, most
        self.arguments = {id(region): array for region, array in regions}
        self.before = [(region, region.data.copy()) for region, _ in regions]
        self.words = batch.shared.data[0].view(np.uint32)
        self.last_words = self.words.copy()
        self.last_places = np.zeros(self.layout.width, np.int32)
        self.places, self.registers = CellLog(np.int32), CellLog(np.uint64)
        self.shared, self.writers = CellLog(np.uint32), CellLog(np.int32)
        self.buffers: dict[int, tuple[Region, CellLog]] = {}
        self.at, self.masks, self.waited, self.opens = list[int](), list[Array](), list[bool](), list[int]()
        self.accesses = AccessLog()
        self._pending: list[tuple[Site, Array]] = []

    # Reported by the scheduler

    def begin(self) -> None:
        """A step begins. Raises Enough if it is one too many."""
        if len(self.at) >= self.most or self.registers.count >= MOST_WRITES:
            raise Enough
        self._pending.clear()

    def end(self, code: BlockCode, lanes: Lanes, waits: bool, groups: Mapping[int, Array], alive: Array) -> None:
        """The step of these lanes has ended. `groups` are the lanes (1, width) at each place; the registers that it
        set are noted already."""
        self.at.append(code.block.number)
        mask = whole_mask(lanes)[0]
        weights = np.uint32(1) << np.arange(WARP, dtype=np.uint32)
        self.masks.append((mask.reshape(-1, WARP) * weights).sum(axis=1, dtype=np.uint32))
        self.waited.append(waits)
        if code.block.end == "barrier" and not waits:
            self.opens.append(len(self.at))
        self._note_places(groups, alive)
        changed = np.flatnonzero(self.words != self.last_words)
        self.shared.note(changed, self.words[changed])
        self.last_words[changed] = self.words[changed]
        for site, addresses in self._pending:
            self._note_stored(site, addresses)
        stored = (log for _, log in self.buffers.values())
        for log in (self.places, self.registers, self.shared, self.writers, *stored):
            log.end_step()

    def note_registers(self, code: BlockCode, group: Group) -> None:
        """Note the registers that a block of code has set for its lanes."""
        lanes, width = group.lanes, self.layout.width
        threads = lanes.active(lanes.threads)
        for number in code.gives:
            value = group.frame.values[number]
            if value is not None:
                self.registers.note(number * width + threads, bits(lanes.active(value)).astype(np.uint64))

    def _note_places(self, groups: Mapping[int, Array], alive: Array) -> None:
        places = self.last_places.copy()
        for place, mask in groups.items():
            places[mask[0]] = place
        places[~alive[0]] = ENDED
        changed = np.flatnonzero(places != self.last_places)
        self.places.note(changed, places[changed])
        self.last_places = places

    # Reported by memory

    def count_block(self, block: BlockCode, lanes: Lanes) -> None:
        """Blocks are not counted."""

    def count_branch(self, block: BlockCode, lanes: Lanes, choice: Array) -> None:
        """Branches are not counted."""

    def texture_access(self, lanes: Lanes, site: Site) -> None:
        """Textures have no addresses."""

    def constant_access(self, lanes: Lanes, site: Site, address: Array) -> None:
        """Constants never change."""

    def local_access(self, lanes: Lanes, site: Site, address: Array) -> None:
        """Local memory is that of one thread."""

    def global_access(self, lanes: Lanes, site: Site, address: Array, to: Array | None = None) -> None:
        """Note an access to global memory; `address` does not include the site's offset."""
        threads, addresses = self._of(lanes, site, address)
        first = int(addresses[0])
        region = self.table.find(site.number, first, first + site.nbytes)
        name, low = (region.name, region.low) if region is not None else ("", 0)
        self._note_access(Access("global", site.verb, site.nbytes, name, threads, addresses - low))
        if site.verb != "reads":
            self._pending.append((site, addresses))

    def shared_access(
        self, lanes: Lanes, site: Site, address: Array, source: Array | None = None, bypass: bool = False
    ) -> None:
        """Note an access to shared memory; `address` does not include the site's offset."""
        threads, addresses = self._of(lanes, site, address)
        self._note_access(Access("shared", site.verb, site.nbytes, "", threads, addresses))
        if site.verb != "reads":
            each = max(site.nbytes // WORD, 1)
            words = (addresses[:, None] // WORD + np.arange(each)).reshape(-1)
            inside = (words >= 0) & (words < len(self.words))
            self.writers.note(words[inside], np.repeat(threads // WARP, each)[inside])

    @staticmethod
    def _of(lanes: Lanes, site: Site, address: Array) -> tuple[Array, Array]:
        return lanes.active(lanes.threads), lanes.active(address).astype(np.int64) + site.offset

    def _note_access(self, access: Access) -> None:
        self.accesses.note(len(self.at) + 1, access)

    # Device memory

    def _note_stored(self, site: Site, addresses: Array) -> None:
        """Note what is now where lanes have stored."""
        low, high = int(addresses.min()), int(addresses.max()) + site.nbytes
        whole = self.table.find(site.number, low, high)
        for region in [whole] if whole is not None else self.table.regions:
            inside = addresses[(addresses >= region.low) & (addresses + site.nbytes <= region.high)]
            if len(inside):
                unit = self._unit(region)
                each = max(site.nbytes // unit, 1)
                cells = ((inside[:, None] - region.low) // unit + np.arange(each)).reshape(-1)
                if id(region) not in self.buffers:
                    log = CellLog(np.uint64)
                    for _ in range(len(self.at) - 1):
                        log.end_step()
                    self.buffers[id(region)] = region, log
                self.buffers[id(region)][1].note(cells, self._cells_of(region, unit)[cells])

    def _unit(self, region: Region) -> int:
        """Bytes of a cell: those of an element, or of a half of a large one."""
        return min(region.itemsize, 8) if id(region) in self.arguments else WORD

    @staticmethod
    def _cells_of(region: Region, unit: int) -> Array:
        data = region.data[region.low - region.base : region.high - region.base]
        return data[: len(data) // unit * unit].view(f"u{unit}")

    def check_complete(self) -> None:
        """Raises KernelError if the block has changed device memory in a way that is not recorded, such as through a
        surface."""
        stored = [np.zeros(0, np.int64)]  # addresses: arguments may be parts of one allocation
        for region, log in self.buffers.values():
            unit = self._unit(region)
            stored.append((log.all_cells()[:, None] * unit + np.arange(unit) + region.low).reshape(-1))
        noted = np.concatenate(stored)
        for region, before in self.before:
            changed = np.flatnonzero(before != region.data) + region.base
            changed = changed[(changed >= region.low) & (changed < region.high)]
            if not np.isin(changed, noted).all():
                raise KernelError(
                    f"The block writes {region.name} through an instruction whose addresses are not recorded, such as "
                    "a store to a surface; choose a variant that stores through pointers."
                )

    def made_buffers(self) -> tuple[Buffer, ...]:
        """The device memory that was written, arguments first."""
        made = []
        for key, (region, log) in self.buffers.items():
            array, unit = self.arguments.get(key), self._unit(region)
            cells = log.cells((region.high - region.low) // unit)
            if array is None:
                made.append(Buffer(region.name, f"u{unit}", (cells.size,), (1,), cells))
            else:
                strides = tuple(s // unit for s in array.strides)
                made.append(Buffer(region.name, array.dtype.name, array.shape, strides, cells))
        return tuple(made)
