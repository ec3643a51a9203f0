"""Expected thread-level global loads of the 3×3 kernels, including edge blocks and partial blocks.

A thread whose neighbours are all inside the image, or are mapped into it, loads nine values, and nine weights if those
are in global memory. With border zero it loads neither a neighbour outside the image nor its weight. So a block's loads
are the product of the neighbours of its rows and those of its columns. Two passes load twice.
"""

from __future__ import annotations

from collections.abc import Callable

from gpu_ops.task import Task
from gpu_ops.types import Accesses


def per_tap(loads: int, skips: bool = True) -> Callable[[Task], Accesses]:
    """Access counts of a kernel with this number of loads per neighbour; `skips` tells whether it skips neighbours
    outside the image with border zero."""

    def count(task: Task) -> Accesses:
        meta, params, knobs = task.meta, task.params, task.knobs
        zero = skips and params["border"] == "zero"
        rows = _neighbours(meta.shape[0], 1, knobs["block_y"], zero)
        columns = _neighbours(meta.shape[1] * meta.channels, meta.channels, 32, zero)
        inner = rows[len(rows) // 2] * columns[len(columns) // 2]
        total = params["passes"] * sum(rows) * sum(columns)
        return Accesses(*(loads * n for n in (rows[0] * columns[0], inner, rows[-1] * columns[-1], total)))

    return count


def _neighbours(n: int, step: int, per_block: int, zero: bool) -> list[int]:
    """The number of neighbours along a line of n values, the value itself included, for each block; with `zero` those
    outside are not counted."""
    counts = []
    for first in range(0, n, per_block):
        last = min(first + per_block, n)
        outside = max(0, min(last, step) - first) + max(0, last - max(first, n - step))
        counts.append(3 * (last - first) - (outside if zero else 0))
    return counts
