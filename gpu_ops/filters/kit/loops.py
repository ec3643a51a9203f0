"""Compiled loops: what the CPU variants of all filters share. Importing this loads Numba.

Numba's cache on disk watches one file: after an edit here, or in any module whose loops another one calls, delete
*.nb? beside the callers too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numba import njit

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


def compiled_parallel(function: F) -> F:
    """The same with prange on all threads. Numba's default threading layer aborts the process when two Python threads
    are inside such functions at once: call them from one at a time."""
    return njit(cache=True, nogil=True, error_model="numpy", parallel=True)(function)  # type: ignore[no-any-return]


@compiled
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
