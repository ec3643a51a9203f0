"""Parts of plans whose threads load 16-byte vectors of a row, and their halo, into registers."""

from __future__ import annotations

from collections.abc import Callable

from gpu_ops.filters.kit.rules import NOTHING, Choices, beyond
from gpu_ops.params import Param
from gpu_ops.task import Task
from gpu_ops.types import Counts, Rule

VECTOR_BYTES = 16
WARP = 32
WIDE = (23, 531), (26, 177, 3)
"""Images whose rows are not aligned and longer than the 31 vectors that a warp stores, also of bytes."""
PAIR_BYTES = 24
"""Bytes by which the vectors of two rows, of which a thread has one each, may begin before a row or end after it."""
FREE_THREADS = 256
"""With up to this number of threads per block, each can have the maximum number of registers per thread."""


EDGE_LOADS = Counts(
    uncounted=(
        "threads at the edges load single values, those of unaligned rows words: the counts depend on the compiled code"
    )
)


def rows_knob(default: int, *choices: int) -> Param:
    """The knob for rows per thread: more rows share more loads, and leave fewer registers for each."""
    return Param(
        "rows", default, choices=choices, unit="rows", help="rows per thread; of bytes in unaligned rows at most two"
    )


def vector_of(itemsize: int) -> int:
    """Values of a vector."""
    return VECTOR_BYTES // itemsize


def launch_bound(threads: int) -> int:
    """The threads per block that a kernel is compiled for: more threads leave fewer registers for each."""
    return max(FREE_THREADS, threads)


def rows_aligned(columns: int, itemsize: int) -> int:
    """1 if rows of this number of values are contiguous and begin at multiples of 16 bytes; else 0."""
    return int(columns * itemsize % VECTOR_BYTES == 0)


def row_step(columns: int, itemsize: int) -> int:
    """The bytes by which a row begins later in a vector than the previous row; 0 where rows are aligned."""
    return columns * itemsize % VECTOR_BYTES


def exchanges(columns: int, itemsize: int, across: int) -> int:
    """1 where the lanes of a warp exchange words of unaligned rows: where blocks are whole warps wide; else 0."""
    return int(not rows_aligned(columns, itemsize) and across % WARP == 0)


def values_across(columns: int, itemsize: int, across: int) -> int:
    """Values of a row that a block of `across` threads per row stores. Of lanes that exchange words the last one of a
    warp stores none: it has the vector of the next warp's first lane."""
    lanes = across - across // WARP if exchanges(columns, itemsize, across) else across
    return lanes * vector_of(itemsize)


def in_pairs(columns: int, itemsize: int, channels: int) -> int:
    """1 where threads take two rows of results in which their vectors begin at different bytes: of bytes in rows that
    are not aligned, of channels that fit a word; else 0."""
    return int(itemsize == 1 and channels <= 4 and not rows_aligned(columns, itemsize))


def rows_of(knob: int, paired: int | bool) -> int:
    """Rows per thread. Two pairs of unaligned rows leave too few registers: 2160×3839 RGB took 19.7 µs with one pair
    and 21.6 µs with two on an H200."""
    return min(knob, 2) if paired else knob


def rows_of_bytes(task: Task) -> int:
    """The same for a task whose bytes are in pairs of rows where those are not aligned."""
    meta = task.meta
    return rows_of(task.knobs["rows"], in_pairs(meta.shape[1] * meta.channels, meta.itemsize, meta.channels))


def halo_fits(window: Callable[[Task], int], most: int, never: Choices = NOTHING) -> Rule:
    """The halo of a thread's vector is small enough for registers."""
    return Rule(
        lambda task: beyond(window(task) // 2 * task.meta.channels * task.meta.itemsize, most),
        f"its window reaches over {{found}} bytes on either side, and registers hold at most {most:,}; use the variant "
        "shared",
        never,
    )
