"""Compiled loops: the common code of all filters' CPU variants. Importing this loads Numba.

Numba's disk cache checks one file each. After an edit here, or of a loop that another module calls, delete the callers'
*.nb? files as well.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from llvmlite import ir
from numba import cfunc, int64, njit, prange, typeof, void
from numba.core import event
from numba.extending import intrinsic
from numba.np.numpy_support import as_dtype
from numba.types import Array as ArrayType
from numba.types import CPointer, unliteral

from gpu_ops.progress import aside
from gpu_ops.types import BORDERS

Array = np.ndarray[Any, Any]
F = TypeVar("F", bound=Callable[..., Any])

offset: Any = np.uintp
"""Converts an index to unsigned. A signed index may count from the end, and the test for that prevents
vectorisation."""
ZERO, NEAREST, WRAP = BORDERS.index("zero"), BORDERS.index("nearest"), BORDERS.index("wrap")


class _Compiler(event.Listener):  # type: ignore[misc]
    """Informs the user that a loop is being compiled: once on a machine, it takes seconds."""

    def on_start(self, event: Any) -> None:
        aside("compiling")

    def on_end(self, event: Any) -> None:
        aside("")


event.register("numba:compile", _Compiler())


def compiled(function: F) -> F:
    """Compile a function on its first use and cache it on disk; it releases the interpreter's lock."""
    return njit(cache=True, nogil=True, error_model="numpy")(function)  # type: ignore[no-any-return]


def piece(function: F) -> F:
    """Compile a function that only compiled functions call. Their cache files contain it; Python cannot call it.

    It is compiled for the types of its arguments: Numba itself would compile it once more for each constant argument,
    to the same instructions.
    """
    jit = njit(nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
    resolve = jit.get_call_template
    jit.get_call_template = lambda args, kws: resolve(
        tuple(map(unliteral, args)), {name: unliteral(arg) for name, arg in kws.items()}
    )
    return jit  # type: ignore[no-any-return]


def reordered(function: F) -> F:
    """As `piece`, for sums whose terms the compiler may reorder for vectorisation; the order is the same in every call,
    and NaN and infinity are preserved."""
    loose = {"reassoc", "contract", "nsz"}
    jit = njit(nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath=loose)
    return jit(function)  # type: ignore[no-any-return]


@intrinsic
def given(typing: Any, arguments: Any) -> Any:
    """In a part: the tuple of its arguments."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return context.data_model_manager[arguments.dtype].load_from_data_pointer(builder, values[0])

    return arguments.dtype(arguments), code


@intrinsic
def _call(typing: Any, function: Any, arguments: Any, worker: Any, workers: Any) -> Any:
    """Call a compiled part by its address."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        form = ir.FunctionType(ir.VoidType(), [value.type for value in values[1:]])
        builder.call(builder.inttoptr(values[0], form.as_pointer()), values[1:])
        return context.get_dummy_value()

    return void(int64, int64, int64, int64), code


@njit(cache=True, nogil=True, error_model="numpy", parallel=True)
def _together(function: int, arguments: int, workers: int) -> None:
    for worker in prange(workers):
        _call(function, arguments, np.int64(worker), workers)


class _Part:
    """A part that is compiled for some types of arguments, and memory for passing them."""

    def __init__(self, part: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        types = typeof(arguments)
        self.compiled = cfunc(void(CPointer(types), int64, int64), cache=True, error_model="numpy")(part)
        # In Numba's memory layout: numbers as in C; an array as owner, object, size, bytes of an item, address, shape
        # and
        # strides. Arrays that outlive the call need no owner.
        forms = (f"PPnnP{2 * t.ndim}n" if isinstance(t, ArrayType) else as_dtype(t).char for t in types)
        self.layout = struct.Struct("".join(forms))
        self.memory = ctypes.create_string_buffer(self.layout.size)
        self.address = ctypes.addressof(self.memory)

    def take(self, arguments: tuple[Any, ...]) -> None:
        """Write arguments into the memory."""
        values: list[Any] = []
        for value in arguments:
            if isinstance(value, np.ndarray):
                values += (0, 0, value.size, value.itemsize, value.ctypes.data, *value.shape, *value.strides)
            else:
                values.append(value)
        self.layout.pack_into(self.memory, 0, *values)


_PARTS: dict[Any, _Part] = {}
"""By part and types of its arguments."""
_LOOP: list[Callable[[int, int, int], None]] = []
"""The parallel loop, once it is compiled: Numba's own look-up takes longer than processing a small image."""


def on_all_threads(part: Callable[..., None], arguments: tuple[Any, ...], workers: int) -> None:
    """Call part(arguments, worker, workers) for all workers in parallel; the part begins with `given(arguments)`. An
    array argument of a part may change its dtype from call to call, but neither its rank nor its layout.

    The loop calls `part` by its address and passes on the address of its arguments: compiled into the parallel loop, a
    part would be compiled three more times, and the loop once for all types of arguments. Only one Python thread at a
    time may call this, because Numba's default threading layer aborts the process otherwise.
    """
    types = (part, *[getattr(value, "dtype", type(value)) for value in arguments])
    ready = _PARTS.get(types)
    if ready is None:
        ready = _PARTS[types] = _Part(part, arguments)
        if not _LOOP:
            _LOOP.append(_together.compile((int64, int64, int64)))
    ready.take(arguments)
    _LOOP[0](ready.compiled.address, ready.address, workers)


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
