"""Compiled loops: what the CPU variants of all filters share. Importing this loads Numba.

Numba's cache on disk watches one file each. After an edit here, or of a loop that another module calls, delete the
*.nb? files beside the callers as well.
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
"""Makes an index unsigned. A signed index may count from the end, and the test for that prevents vectorisation."""
ZERO, NEAREST, WRAP = BORDERS.index("zero"), BORDERS.index("nearest"), BORDERS.index("wrap")


def compiled(function: F) -> F:
    """Compile a function on its first use and cache it on disk; it releases the interpreter's lock."""
    return njit(cache=True, nogil=True, error_model="numpy")(function)  # type: ignore[no-any-return]


def piece(function: F) -> F:
    """Compile a function that only compiled functions call. Their cache files contain it; Python cannot call it."""
    jit = njit(nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
    return jit(function)  # type: ignore[no-any-return]


@njit(cache=True, nogil=True, error_model="numpy", parallel=True)
def _together(part: Any, arguments: tuple[Any, ...], workers: int) -> None:
    for worker in prange(workers):
        part(arguments, np.int64(worker), workers)


_PARTS: dict[Any, tuple[Any, Any]] = {}
"""By part and types of its arguments: the compiled part, and the loop that calls it."""


def on_all_threads(part: Callable[..., None], arguments: tuple[Any, ...], workers: int) -> None:
    """Call part(arguments, worker, workers) for all workers in parallel. An array argument of a part may change its
    dtype from call to call, but neither its rank nor its layout.

    The loop calls `part` by its address: compiled into the parallel loop, it would be compiled three more times. Only
    one Python thread at a time may call this, because Numba's default threading layer aborts the process otherwise.
    """
    types = (part, *[getattr(value, "dtype", type(value)) for value in arguments])
    if types not in _PARTS:
        function = cfunc(void(typeof(arguments), int64, int64), cache=True, error_model="numpy")(part)
        # Numba's own search for the loop of these types takes longer than a small image.
        _PARTS[types] = function, _together.compile((typeof(function), typeof(arguments), int64))
    function, loop = _PARTS[types]
    loop(function, arguments, workers)


def flat(x: Array) -> Array:
    """A read-only view of an input with one axis, so that each loop is compiled for read-only inputs alone. Raises
    ValueError where the view would need a copy."""
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
