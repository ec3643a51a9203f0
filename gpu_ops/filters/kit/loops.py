"""Compiled loops: what the CPU variants of all filters share. Importing this loads Numba.

Numba's cache on disk watches one file: after an edit here, or in any module whose loops another one calls, delete
*.nb? beside the callers too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numba import cfunc, int64, njit, prange, typeof, void

from gpu_ops.types import BORDERS

Array = np.ndarray[Any, Any]
F = TypeVar("F", bound=Callable[..., Any])

offset: Any = np.uintp
"""Makes an index unsigned: a signed one may count from the end, and the test for that keeps a loop from being
vectorised."""
ZERO, NEAREST, WRAP = BORDERS.index("zero"), BORDERS.index("nearest"), BORDERS.index("wrap")


def compiled(function: F) -> F:
    """Compiled on first use and kept on disk; runs without the interpreter's lock."""
    return njit(cache=True, nogil=True, error_model="numpy")(function)  # type: ignore[no-any-return]


def piece(function: F) -> F:
    """A part of compiled functions, called from nowhere else: kept with them, with no form of its own for Python."""
    jit = njit(nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
    return jit(function)  # type: ignore[no-any-return]


@njit(cache=True, nogil=True, error_model="numpy", parallel=True)
def _together(part: Any, given: tuple[Any, ...], workers: int) -> None:
    for worker in prange(workers):
        part(given, np.int64(worker), workers)


_PARTS: dict[Any, tuple[Any, Any]] = {}
"""For each part, and the types of what it was given: the part compiled, and the loop that calls it."""


def on_all_threads(part: Callable[..., None], given: tuple[Any, ...], workers: int) -> None:
    """part(given, worker, workers) for each worker, at once. At one place in `given` arrays differ by their dtype only.

    `part` is compiled apart and called by its address: as a piece of the parallel loop it would be compiled thrice
    more. Numba's default threading layer aborts the process when two Python threads are in here at once: call it from
    one at a time.
    """
    kinds = (part, *[getattr(value, "dtype", type(value)) for value in given])
    if kinds not in _PARTS:
        made = cfunc(void(typeof(given), int64, int64), cache=True, error_model="numpy")(part)
        # Called without the search for a loop of these types, which takes longer than a small image.
        _PARTS[kinds] = made, _together.compile((typeof(made), typeof(given), int64))
    made, loop = _PARTS[kinds]
    loop(made, given, workers)


def flat(x: Array) -> Array:
    """An input as one line that nobody writes to, so that loops are compiled once for what may be written to and what
    may not. ValueError where that would take a copy."""
    line = x.reshape(-1, copy=False)
    line.flags.writeable = False
    return line


@piece
def place(position: int, length: int, border: int) -> int:
    """One position as gpu_ops.filters.kit.borders.border_indices maps it."""
    if 0 <= position < length:
        return position
    if border == ZERO:
        return -1
    if border == NEAREST:
        return 0 if position < 0 else length - 1
    if border == WRAP:
        return position % length
    position %= 2 * length
    return position if position < length else 2 * length - 1 - position
