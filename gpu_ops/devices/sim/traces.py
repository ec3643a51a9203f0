"""Which addresses single warps used: a few warps of a launch are followed, access by access, for whoever wants to see
why a line costs what the counters say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from gpu_ops.devices.sim.lanes import WARP, Array, Lanes, Launched
from gpu_ops.devices.sim.memory import Region, Table
from gpu_ops.devices.sim.sites import Site
from gpu_ops.plan import Access, Space, Trace, Verb

SECTOR = 32
Which = Literal["first", "inner", "last"]
VERBS: dict[str, Verb] = {"reads": "load", "writes": "store", "changes": "atomic"}


@dataclass(frozen=True)
class Tracing:
    """Which warps are followed: of these blocks of the grid these warps, -1 being a block's last; and how many accesses
    each is followed for at one line of the source."""

    blocks: tuple[Which, ...] = ("first", "inner", "last")
    warps: tuple[int, ...] = (0, 1, -1)
    most: int = 64


@dataclass
class _Kept:
    """What is known of one warp at one line: accesses it made, and the first of them."""

    count: int = 0
    accesses: list[Access] = field(default_factory=list)


class Recorder:
    """Follows warps of one launch of a kernel of `file`. `variables` are those of the module, whose elements are not
    known; `shared` are (name, first, last + 1) in a block's shared memory."""

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
        self._kept: dict[tuple[str, int, int, int], _Kept] = {}
        self._launched: Launched | None = None
        self._followed: list[tuple[int, int]] = []

    def note(self, space: Space, lanes: Lanes, site: Site, address: Array) -> None:
        """An access by the lanes; `address` lacks the site's offset."""
        if lanes.launched is not self._launched:
            self._launched, self._followed = lanes.launched, self._of_batch(lanes.launched)
        for row, warp in self._followed:
            running, found = _of_warp(lanes, address, row, warp)
            if not len(running):
                continue
            access: Access | None = None
            for file, line in self._places(site):
                kept = self._kept.setdefault((file, line, lanes.launched.first + row, warp), _Kept())
                kept.count += 1
                if kept.count <= self.tracing.most:
                    access = access or self._access(space, site, running, found.astype(np.int64) + site.offset)
                    kept.accesses.append(access)

    def traces(self) -> tuple[Trace, ...]:
        """What was kept, by line, then by block and warp."""
        if self._launched is None:
            return ()
        x, y, _ = self._launched.grid
        return tuple(
            Trace(file, line, (block % x, block // x % y, block // (x * y)), warp, kept.count, tuple(kept.accesses))
            for (file, line, block, warp), kept in sorted(self._kept.items(), key=lambda item: item[0])
        )

    def _of_batch(self, launched: Launched) -> list[tuple[int, int]]:
        """The followed warps of a batch: (row of the block in it, number in the block)."""
        numbers = block_numbers(launched.grid)
        rows = {numbers[name] - launched.first for name in self.tracing.blocks}
        warps = {w if w >= 0 else launched.warps + w for w in self.tracing.warps}
        return [(r, w) for r in sorted(rows) if 0 <= r < launched.blocks for w in sorted(warps) if w < launched.warps]

    def _places(self, site: Site) -> list[tuple[str, int]]:
        """The line itself and those that call it, each once; line 0 of the kernel's file where there is none."""
        places = [(site.place.file, site.place.line), *site.place.inlined_at]
        return list(dict.fromkeys(p for p in places if p[1])) or [(self.file, 0)]

    def _access(self, space: Space, site: Site, running: Array, address: Array) -> Access:
        name, itemsize, base = self._shared_buffer(address) if space == "shared" else self._buffer(site, address)
        start = base if space == "shared" else base % SECTOR
        lanes, offsets = (tuple(a.tolist()) for a in (running, address - base))
        return Access(space, VERBS[site.verb], site.nbytes, name, itemsize, start, lanes, offsets)

    def _buffer(self, site: Site, address: Array) -> tuple[str, int, int]:
        """Name, bytes of an element and first address of the buffer that the first lane which is in any is in."""
        for one in address.tolist():
            region = self._table.find(site.number, one, one + site.nbytes)
            if region is not None:
                known = all(region is not v for v in self._variables)
                return region.name, region.itemsize if known else 0, region.low
        return "", 0, int(address[0]) // SECTOR * SECTOR

    def _shared_buffer(self, address: Array) -> tuple[str, int, int]:
        first = int(address[0])
        found = next(((n, low) for n, low, high in self._shared if low <= first < high), ("", 0))
        return found[0], 0, found[1]


def _of_warp(lanes: Lanes, address: Array, row: int, warp: int) -> tuple[Array, Array]:
    """The running lanes of one warp, 0 to 31, and their addresses."""
    wide = lanes.wide(address)
    if lanes.index is not None:
        start = (row * lanes.launched.warps + warp) * WARP
        low, high = np.searchsorted(lanes.index, (start, start + WARP))
        return lanes.index[low:high] - start, wide[0, low:high]
    place = slice(warp * WARP, (warp + 1) * WARP)
    running = np.arange(WARP) if lanes.mask is None else np.flatnonzero(lanes.mask[row, place])
    return running, wide[row, place][running]


def block_numbers(grid: tuple[int, int, int]) -> dict[Which, int]:
    """The linear numbers of a grid's first block, of the one in its middle, and of its last."""
    x, y, z = grid
    return {"first": 0, "inner": (z // 2 * y + y // 2) * x + x // 2, "last": x * y * z - 1}
