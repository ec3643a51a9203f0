"""The addresses that the lanes of a warp access, by formula, and the resulting sectors and wavefronts.

A variant declares its memory instructions as touches, each of which gives, for any thread, the bytes it accesses. From
these follow the counters of a launch without running it, the cost by the rules of older GPUs, and the pictures of a
warp. Buffers are aligned to 256 bytes. Source: S0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_ops.devices.coalescing import HALF, Rule, transactions
from gpu_ops.plan import Space, Verb
from gpu_ops.types import Accesses

Array = np.ndarray[Any, Any]
WARP, SECTOR, BANKS, BANK_BYTES = 32, 32, 32, 4
OLD_BANKS = 16
"""Banks of shared memory before capability 2.0, which served half a warp at a time."""
CHUNK = 1 << 12
"""Warps at a time."""
INACTIVE = -1
"""The address of an inactive lane."""


@dataclass(frozen=True, eq=False)
class Threads:
    """Some warps of a launch with `size` threads per block: the block of each warp (W, 1), and the thread index of each
    lane in the block (W, 32), of which those from `size` on do not exist."""

    block: Array
    thread: Array
    size: int

    @property
    def number(self) -> Array:
        """The global thread index of each lane, (W, 32)."""
        return self.block * self.size + self.thread


@dataclass(frozen=True, eq=False)
class MemoryInstruction:
    """A memory instruction of `nbytes` per lane: `place(threads)` are the offsets in bytes (W, 32) from the beginning
    of the buffer, NOBODY for inactive lanes."""

    space: Space
    verb: Verb
    nbytes: int
    buffer: str
    place: Callable[[Threads], Array]

    def rows(self, threads: Threads) -> Array:
        """Its addresses for these warps, except warps without an active lane."""
        rows = np.where(threads.thread < threads.size, self.place(threads), INACTIVE)
        return rows[(rows >= 0).any(axis=1)]


@dataclass(frozen=True, eq=False)
class Pass:
    """The touches of one launch, in order."""

    blocks: int
    block: int
    instructions: tuple[MemoryInstruction, ...]

    @property
    def warps(self) -> int:
        """Warps of a block."""
        return -(-self.block // WARP)

    def threads(self, first: int, end: int) -> Threads:
        """The warps `first` to `end` - 1 of the launch."""
        number = np.arange(first, end, dtype=np.int64)[:, None]
        return Threads(number // self.warps, number % self.warps * WARP + np.arange(WARP), self.block)

    def chunks(self) -> Iterator[Threads]:
        """All warps of the launch, in groups."""
        total = self.blocks * self.warps
        for first in range(0, total, CHUNK):
            yield self.threads(first, min(first + CHUNK, total))


def only(taking_part: Array, places: Array) -> Array:
    """The addresses of those lanes."""
    return np.where(taking_part, places, INACTIVE)


# What follows


def counters(passes: Sequence[Pass]) -> dict[str, int]:
    """The counters of all launches together, by id."""
    total: Counter[str] = Counter()
    for launch in passes:
        for threads in launch.chunks():
            for touch in launch.instructions:
                total.update(_counted(touch, touch.rows(threads)))
    return dict(total)


def older_counters(passes: Sequence[Pass], rule: Rule) -> dict[str, int]:
    """The global memory transactions of all launches together, and their bytes, by the rule of an older GPU."""
    total: Counter[str] = Counter()
    for launch in passes:
        for threads in launch.chunks():
            for touch in (t for t in launch.instructions if t.space == "global"):
                rows, kind = touch.rows(threads), f"global_{touch.verb}_transaction"
                number, moved = transactions(rows, rows >= 0, touch.nbytes, rule)
                total.update({f"{kind}s": number, f"{kind}_bytes": moved})
    return dict(total)


def _counted(touch: MemoryInstruction, rows: Array) -> dict[str, int]:
    kind = f"{touch.space}_{touch.verb}"
    both = {f"{kind}_requests": len(rows), f"{kind}_threads": int((rows >= 0).sum())}
    if touch.space == "shared":
        found, least = wavefronts(rows, touch.nbytes)
        return {**both, "shared_wavefronts": found, "shared_ideal_wavefronts": least}
    least = int((-(-distinct(rows) * touch.nbytes // SECTOR)).sum())
    return {**both, f"{kind}_sectors": sectors(rows), f"{kind}_ideal_sectors": least}


def distinct(rows: Array) -> Array:
    """The number of distinct addresses per row, NOBODY excluded."""
    ordered = np.sort(rows, axis=1)
    present = ordered >= 0
    present[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    number: Array = present.sum(axis=1)
    return number


def sectors(rows: Array) -> int:
    """Sectors in which accesses of each warp begin, summed."""
    return int(distinct(np.where(rows >= 0, rows // SECTOR, INACTIVE)).sum())


def wavefronts(rows: Array, nbytes: int) -> tuple[int, int]:
    """Wavefronts of shared memory, and the minimum: one for each part of a warp whose words fill the banks."""
    words = max(1, nbytes // BANK_BYTES)
    parts = rows.reshape(-1, WARP // words)
    parts = parts[(parts >= 0).any(axis=1)]
    first = np.where(parts >= 0, parts // BANK_BYTES, INACTIVE)[:, :, None]
    spread = np.where(first >= 0, first + np.arange(words), INACTIVE).reshape(len(parts), -1)
    return int(_fullest(spread, spread % BANKS, BANKS).sum()), len(parts)


def old_wavefronts(rows: Array) -> int:
    """Passes over the 16 banks of compute capability 1.x, one half-warp after the other: different bytes of one word
    are combined."""
    parts = rows.reshape(-1, HALF)
    parts = parts[(parts >= 0).any(axis=1)]
    return int(_fullest(parts, parts // BANK_BYTES % OLD_BANKS, OLD_BANKS).sum())


def _fullest(places: Array, banks: Array, number: int) -> Array:
    """For each row the maximum number of distinct addresses in one bank."""
    order = np.argsort(places, axis=1, kind="stable")
    places, banks = (np.take_along_axis(a, order, axis=1) for a in (places, banks))
    fresh = places >= 0
    fresh[:, 1:] &= places[:, 1:] != places[:, :-1]
    cells = np.arange(len(places))[:, None] * number + banks
    most: Array = np.bincount(cells[fresh], minlength=len(places) * number).reshape(-1, number).max(axis=1, initial=0)
    return most


def cost(touch: MemoryInstruction, threads: Threads, rule: Rule) -> int:
    """The cost of these warps' accesses: sectors or transactions of global memory, wavefronts of shared memory."""
    rows = touch.rows(threads)
    if touch.space == "shared":
        return wavefronts(rows, touch.nbytes)[0] if rule == "today" else old_wavefronts(rows)
    return sectors(rows) if rule == "today" else transactions(rows, rows >= 0, touch.nbytes, rule)[0]


def loads(launch: Pass) -> Accesses:
    """Global loads of threads of a launch, by block."""

    def within(threads: Threads) -> int:
        instructions = (t for t in launch.instructions if (t.space, t.verb) == ("global", "load"))
        return sum(int((touch.rows(threads) >= 0).sum()) for touch in instructions)

    first, inner, last = (
        within(launch.threads(b * launch.warps, (b + 1) * launch.warps))
        for b in (0, launch.blocks // 2, launch.blocks - 1)
    )
    return Accesses(first, inner, last, sum(map(within, launch.chunks())))
