"""What plans share whose threads fetch vectors of 16 bytes of a row, and what lies beside them, into registers."""

from __future__ import annotations

import numpy as np

from gpu_ops.params import Param
from gpu_ops.types import Meta

VECTOR_BYTES = 16
FREE_THREADS = 256
"""Threads a block up to which a thread may have all the registers that an instruction can name."""
MOST_BLOCKS = 65535
"""A grid's blocks in y."""
BLOCK = Param("block", 128, 16, 1024, 16, unit="threads", help="threads a block")


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


def halo_fits(meta: Meta, window: int, most: int) -> str | None:
    """None, or why what a window needs beside a thread's vector is too much to keep in registers."""
    halo = window // 2 * meta.channels * np.dtype(meta.dtype).itemsize
    if halo > most:
        return f"its window reaches over {halo} bytes on either side, and registers are for {most}"
    return None


def blocks_fit(rows: int, rows_per_block: int) -> str | None:
    """None, or why an image has too many rows for a grid's blocks in y."""
    if -(-rows // rows_per_block) > MOST_BLOCKS:
        return f"{rows} rows need more than {MOST_BLOCKS} blocks; use a larger block or more rows a thread"
    return None
