"""Expected work of scans: thread-level global loads, additions, and wavefronts of shared memory.

With B threads per block, tiles of S values and lines of n values, T = ceil(n / S): a launch of tiles loads n values per
line; adding offsets loads n sums and, in each of the B threads of T blocks, an offset. The sums of tiles are lines of T
values, for which the same holds. The variant warp loads values twice, T sums, and B offsets per tile.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from gpu_ops.filters.scan.lines import Lines
from gpu_ops.filters.scan.plans import BANK_ROW, WARP, warp_size
from gpu_ops.task import Task
from gpu_ops.types import Accesses


def by_levels(values: int) -> Callable[[Task], Accesses]:
    """The loads of a kernel with tiles of `values` values per thread, and of scan_add."""

    def count(task: Task) -> Accesses:
        lines, block = Lines.of(task.meta), task.knobs["block"]
        size, n, total = block * values, lines.n, 0
        while n > size:
            tiles = -(-n // size)
            total += n + tiles * block + n
            n = tiles
        return _account(lines, size, lines.many * (total + n))

    return count


def warp(task: Task) -> Accesses:
    """The loads of the variant warp."""
    lines, size = Lines.of(task.meta), warp_size(task)
    tiles = lines.tiles(size)
    a_line = lines.n if tiles == 1 else 2 * lines.n + tiles + tiles * task.knobs["block"]
    return _account(lines, size, lines.many * a_line)


def _account(lines: Lines, size: int, total: int) -> Accesses:
    """For the blocks of the first launch, of one tile each."""
    tiles = lines.tiles(size)

    def block(index: int) -> int:
        return min(size, lines.n - index % tiles * size)

    blocks = lines.many * tiles
    return Accesses(block(0), block(blocks // 2), block(blocks - 1), total)


def doubling_additions(size: int) -> int:
    """Additions of a tile by Hillis and Steele: step d adds in all threads but the first d."""
    return sum(size - d for d in _powers(size))


def tree_additions(size: int) -> int:
    """Additions of a tile by Blelloch: a node of the tree adds once in the up-sweep and once in the down-sweep."""
    return 2 * (size - 1)


def tree_wavefronts(size: int, itemsize: int) -> tuple[int, int]:
    """The wavefronts of the loads and stores in a tree over a tile without padding, and the minimum.

    The nodes of a level are 2 d values apart, which uses 1 / gcd(2 d, banks) of the banks. A warp accesses 4 bytes per
    lane at once; 8 bytes take two halves, of 16 lanes and 16 banks of 8 bytes each. A node takes two loads and a store
    in the up-sweep, two of each in the down-sweep.
    """
    lanes = banks = min(WARP, BANK_ROW // itemsize)
    taken = fewest = 0
    for d in _powers(size):
        nodes = size // (2 * d)
        in_reach = banks // math.gcd(2 * d, banks)
        whole, rest = divmod(nodes, lanes)
        taken += 7 * (whole * -(-lanes // in_reach) + -(-rest // in_reach))
        fewest += 7 * (whole + (rest > 0))
    return taken, fewest


def _powers(size: int) -> list[int]:
    """1, 2, 4 … below a size."""
    return [1 << k for k in range((size - 1).bit_length())]
