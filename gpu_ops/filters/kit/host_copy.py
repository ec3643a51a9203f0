"""Copies on several host threads, compiled by Numba: one thread copies at a fraction of the memory bandwidth, and
Python threads wait for the interpreter's lock. Importing this module loads Numba: plans import it when they are
created."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numba import get_num_threads

from gpu_ops.filters.kit.loops import Array, flat, given, offset, on_all_threads

SMALL = 1 << 18
"""Bytes that one thread can copy before other threads have started."""


def _copy_part(arguments: tuple[Any, ...], worker: int, workers: int) -> None:
    """One worker's share of the bytes."""
    target, source = given(arguments)
    begin, end = worker * source.size // workers, (worker + 1) * source.size // workers
    for k in range(offset(begin), offset(end)):
        target[k] = source[k]


def copy(pairs: Iterable[tuple[Array, Array]], threads: int) -> None:
    """Copy each source (second) to its target (first), of one shape and type, on this number of threads or all; small
    arrays, and those that are not C-contiguous, on one."""
    for target, source in pairs:
        if target.nbytes < SMALL or not (target.flags.c_contiguous and source.flags.c_contiguous):
            np.copyto(target, source)
            continue
        arrays = target.view("u1").reshape(-1), flat(source.view("u1"))
        on_all_threads(_copy_part, arrays, min(threads, get_num_threads()))
