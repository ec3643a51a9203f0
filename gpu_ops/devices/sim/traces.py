"""The addresses that individual warps use. A trace records every access of a few warps of a launch, to explain the
counters of a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from gpu_ops.devices.sim.lanes import WARP, Array, BatchLayout, Lanes
from gpu_ops.devices.sim.memory import Region, Table
from gpu_ops.devices.sim.ptx.sites import Site
from gpu_ops.plan import Access, Space, Trace, Verb

SECTOR = 32
Which = Literal["first", "inner", "last"]
VERBS: dict[str, Verb] = {"reads": "load", "writes": "store", "changes": "atomic"}


@dataclass(frozen=True)
class Tracing:
    """Which warps to trace: these `warps` (-1 is a block's last) of these `blocks` of the grid, and the `most`
    accesses of a warp to record at one line of the source."""

    blocks: tuple[Which, ...] = ("first", "inner", "last")
    warps: tuple[int, ...] = (0, 1, -1)
    most: int = 64


@dataclass
class _Record:
    """The accesses of one warp at one line: their count, and the first of them."""

    count: int = 0
    accesses: list[Access] = field(default_factory=list)


class Recorder:
    """Traces warps of one launch of a kernel of `file`. `variables` are those of the module, whose element size is
    unknown; `shared` are (name, first, last + 1) in a block's shared memory."""

    def __init__(
        self,
        tracing: Tracing,
        file: str,
        table: Table,
        variables: Sequence[Region],
        shared: Sequence[tuple[str, int, int]],
    ) -> None:
        self.tracing, self.file = tracing, file
        self._table, self._variables, self._shared = table, variables, shared
        self._records: dict[tuple[str, int, int, int], _Record] = {}
        self._launched: BatchLayout | None = None
        self._followed: list[tuple[int, int]] = []

    def note(self, space: Space, lanes: Lanes, site: Site, address: Array) -> None:
        """Record an access by the lanes; `address` does not include the site's offset."""
        if lanes.layout is not self._launched:
            self._launched, self._followed = lanes.layout, self._of_batch(lanes.layout)
        for row, warp in self._followed:
            running, addresses = _of_warp(lanes, address, row, warp)
            if not len(running):
                continue
            access: Access | None = None
            for file, line in self._places(site):
                record = self._records.setdefault((file, line, lanes.layout.first + row, warp), _Record())
                record.count += 1
                if record.count <= self.tracing.most:
                    access = access or self._access(space, site, running, addresses.astype(np.int64) + site.offset)
                    record.accesses.append(access)

    def traces(self) -> tuple[Trace, ...]:
        """The traces, in the order of line, block and warp."""
        if self._launched is None:
            return ()
        x, y, _ = self._launched.grid
        return tuple(
            Trace(file, line, (block % x, block // x % y, block // (x * y)), warp, record.count, tuple(record.accesses))
            for (file, line, block, warp), record in sorted(self._records.items(), key=lambda item: item[0])
        )

    def _of_batch(self, layout: BatchLayout) -> list[tuple[int, int]]:
        """The warps of a batch to trace: (row of the block in the batch, number of the warp in the block)."""
        numbers = block_numbers(layout.grid)
        rows = {numbers[name] - layout.first for name in self.tracing.blocks}
        warps = {w if w >= 0 else layout.warps + w for w in self.tracing.warps}
        return [(r, w) for r in sorted(rows) if 0 <= r < layout.blocks for w in sorted(warps) if w < layout.warps]

    def _places(self, site: Site) -> list[tuple[str, int]]:
        """The line and the lines that call it, each once; line 0 of the kernel's file if there is none."""
        places = [(site.place.file, site.place.line), *site.place.inlined_at]
        return list(dict.fromkeys(p for p in places if p[1])) or [(self.file, 0)]

    def _access(self, space: Space, site: Site, running: Array, address: Array) -> Access:
        name, itemsize, base = self._shared_buffer(address) if space == "shared" else self._buffer(site, address)
        start = base if space == "shared" else base % SECTOR
        lanes, offsets = (tuple(a.tolist()) for a in (running, address - base))
        return Access(space, VERBS[site.verb], site.nbytes, name, itemsize, start, lanes, offsets)

    def _buffer(self, site: Site, address: Array) -> tuple[str, int, int]:
        """The buffer that contains the first lane's address inside any: its name, bytes per element and start
        address."""
        for one in address.tolist():
            region = self._table.find(site.number, one, one + site.nbytes)
            if region is not None:
                is_variable = any(region is v for v in self._variables)
                return region.name, 0 if is_variable else region.itemsize, region.low
        return "", 0, int(address[0]) // SECTOR * SECTOR

    def _shared_buffer(self, address: Array) -> tuple[str, int, int]:
        first = int(address[0])
        name, start = next(((n, low) for n, low, high in self._shared if low <= first < high), ("", 0))
        return name, 0, start


def _of_warp(lanes: Lanes, address: Array, row: int, warp: int) -> tuple[Array, Array]:
    """The active lanes (0 to 31) of one warp, and their addresses."""
    wide = lanes.wide(address)
    if lanes.index is not None:
        start = (row * lanes.layout.warps + warp) * WARP
        low, high = np.searchsorted(lanes.index, (start, start + WARP))
        return lanes.index[low:high] - start, wide[0, low:high]
    place = slice(warp * WARP, (warp + 1) * WARP)
    running = np.arange(WARP) if lanes.mask is None else np.flatnonzero(lanes.mask[row, place])
    return running, wide[row, place][running]


def block_numbers(grid: tuple[int, int, int]) -> dict[Which, int]:
    """The linear numbers of a grid's first block, of the block in its middle, and of its last."""
    x, y, z = grid
    return {"first": 0, "inner": (z // 2 * y + y // 2) * x + x // 2, "last": x * y * z - 1}
