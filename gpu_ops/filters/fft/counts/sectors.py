"""Requests and sectors of global memory of the variant in two passes, from the addresses of its accesses.

Blocks repeat: an address increases by the same number of bytes from block to block, so every 32nd has the same
alignment to 32-byte sectors. The first one may differ, because its column packs two real ones. Extents are powers of
two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_ops.filters.fft.cuda.ways import Blocks

Array = np.ndarray[Any, Any]
WARP, SECTOR = 32, 32
COUNTED = ("global_load_requests", "global_load_sectors", "global_store_requests", "global_store_sectors")
Access = tuple[str, Array]
"""A verb, load or store, and the first byte that each thread of a block accesses, or several rows of these."""


def summed(accesses: Iterator[Access]) -> Array:
    """The counters of COUNTED for some accesses of a block."""
    total = np.zeros(len(COUNTED), np.int64)
    for verb, places in accesses:
        rows = np.atleast_2d(places)
        short = -rows.shape[1] % WARP  # inactive lanes access the same sectors as others do
        lanes = np.pad(rows, ((0, 0), (0, short)), mode="edge").reshape(-1, WARP) // SECTOR
        ordered = np.sort(lanes, axis=1)
        distinct = len(lanes) + int((ordered[:, 1:] != ordered[:, :-1]).sum())
        first = 0 if verb == "load" else 2
        total[first : first + 2] += len(lanes), distinct
    return total


def of_all(accesses: Callable[[int], Iterator[Access]], blocks: int) -> Array:
    """The counters of all blocks of a launch, from those of the blocks 0 … 32."""
    total = summed(accesses(0))
    for block in range(1, min(SECTOR, blocks - 1) + 1):
        alike = 1 + (blocks - 1 - block) // SECTOR
        total += alike * summed(accesses(block))
    return total


def twiddle_accesses(blocks: Blocks, place: Array, itemsize: int) -> Iterator[Access]:
    """The twiddle factors that the stages of fft_stockham.cuh look up, for threads at these positions of their
    lines."""
    bits, done = blocks.n.bit_length() - 1, 0
    while done < bits:
        radix = min(blocks.radix, 1 << (bits - done))
        own, rest = blocks.points // radix, bits - done - (radix.bit_length() - 1)
        for m in range(own if done else 0):
            k = (place + m * (blocks.n // blocks.points)) & ((1 << done) - 1)
            for power in range(radix.bit_length() - 1):
                yield "load", ((k << rest) << power) * itemsize
        done += radix.bit_length() - 1


@dataclass(frozen=True)
class Sizes:
    """The extents of an image, and the bytes of its samples and of real numbers."""

    height: int
    width: int
    sample: int
    real: int

    @property
    def half(self) -> int:
        """The columns between both launches."""
        return self.width // 2


def _points(blocks: Blocks, place: Array, count: int = 0) -> Array:
    """The points of each thread (points, threads), or the first of them."""
    return np.arange(count or blocks.points)[:, None] * (blocks.n // blocks.points) + place


def rows(sizes: Sizes, blocks: Blocks, windowed: bool) -> Array:
    """The counters of the launch over rows."""
    threads = blocks.n // blocks.points
    pair, place = np.divmod(np.arange(threads * blocks.lines), threads)

    def accesses(block: int) -> Iterator[Access]:
        k = _points(blocks, place)
        both = [2 * (block * blocks.lines + pair) + row for row in (0, 1)]
        for row in both:
            yield "load", (row * sizes.width + k) * sizes.sample
            if windowed:
                yield "load", row * sizes.real
        if windowed:
            yield "load", k * sizes.real
        yield from twiddle_accesses(blocks, place, 2 * sizes.real)
        for row in both:
            yield "store", (row * sizes.half + _points(blocks, place, blocks.points // 2)) * 2 * sizes.real

    return of_all(accesses, sizes.height // 2 // blocks.lines)


def columns(sizes: Sizes, blocks: Blocks, down: int, right: int) -> Array:
    """The counters of the launch over columns."""
    height, width, half = sizes.height, sizes.width, sizes.half
    place, lane = np.divmod(np.arange(blocks.n // blocks.points * blocks.lines), blocks.lines)

    def at(row: Array, column: Array) -> Array:
        places: Array = (row + down) % height * width + (column + right) % width
        return places * sizes.real

    def accesses(block: int) -> Iterator[Access]:
        row, column = _points(blocks, place), block * blocks.lines + lane
        yield "load", (row * half + column) * 2 * sizes.real
        yield from twiddle_accesses(blocks, place, 2 * sizes.real)
        yield "store", at(row, column)
        yield "store", at(np.where(column > 0, -row, row), np.where(column > 0, width - column, half))

    return of_all(accesses, half // blocks.lines)
