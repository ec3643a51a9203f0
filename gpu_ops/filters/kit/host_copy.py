"""Copies on several threads of the host, compiled by Numba: one thread copies at a fraction of what memory allows, and
threads of Python wait for one another. Importing this module loads Numba: plans import it when they are made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numba import get_num_threads

from gpu_ops.filters.kit.loops import Array, flat, given, offset, on_all_threads

SMALL = 1 << 18
"""Bytes that one thread copies before others have begun."""


def _copy_part(arguments: tuple[Any, ...], worker: int, workers: int) -> None:
    """One worker's share of the bytes."""
    target, source = given(arguments)
    begin, end = worker * source.size // workers, (worker + 1) * source.size // workers
    for k in range(offset(begin), offset(end)):
        target[k] = source[k]


def copy(pairs: Iterable[tuple[Array, Array]], threads: int) -> None:
    """Copy each source (second) to its target (first), of one shape and type, on so many threads or as many as there
    are; small arrays, and those that are not C-contiguous, on one."""
    for target, source in pairs:
        if target.nbytes < SMALL or not (target.flags.c_contiguous and source.flags.c_contiguous):
            np.copyto(target, source)
            continue
        arrays = target.view("u1").reshape(-1), flat(source.view("u1"))
        on_all_threads(_copy_part, arrays, min(threads, get_num_threads()))
