"""What plans share whose threads fetch vectors of 16 bytes of a row, and what lies beside them, into registers."""

from __future__ import annotations

from collections.abc import Callable

from gpu_ops.filters.kit.support import Support
from gpu_ops.params import Param
from gpu_ops.task import Task

VECTOR_BYTES = 16
FREE_THREADS = 256
"""Threads a block up to which a thread may have all the registers that an instruction can name."""


def rows_knob(default: int, *choices: int) -> Param:
    """The knob of rows a thread: more share more, and leave fewer registers to each."""
    return Param("rows", default, choices=choices, unit="rows", help="rows a thread")


def vector_of(itemsize: int) -> int:
    """Values of a vector."""
    return VECTOR_BYTES // itemsize


def launch_bound(threads: int) -> int:
    """The threads a block that a kernel is compiled for: more of them leave each fewer registers."""
    return max(FREE_THREADS, threads)


def rows_aligned(columns: int, itemsize: int) -> int:
    """1 where rows of so many values begin at multiples of 16 bytes, one after the other in memory; else 0."""
    return int(columns * itemsize % VECTOR_BYTES == 0)


def halo_fits(window: Callable[[Task], int], most: int) -> Support:
    """Whether what a window needs beside a thread's vector is little enough to keep in registers."""

    def rule(task: Task) -> str | None:
        halo = window(task) // 2 * task.meta.channels * task.meta.itemsize
        if halo <= most:
            return None
        return f"its window reaches over {halo} bytes on either side, and registers are for {most}"

    return rule
