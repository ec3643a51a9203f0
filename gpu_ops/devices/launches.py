"""Checks of a launch before it runs, the same for every device that runs kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gpu_ops.devices.compiler import Compiled, Entry, KernelParam
from gpu_ops.errors import KernelError, counted
from gpu_ops.plan import Launch, Limits

GRID_LIMITS = (2**31 - 1, 65535, 65535)
PITCH = 512
"""Without a driver, the pitch is a multiple of this many bytes."""
STATIC_SHARED, CONSTANTS = 48 << 10, 64 << 10
"""The maximum number of bytes of each that a kernel may declare, on every architecture."""


def check_launch(launch: Launch, entry: Entry, limits: Limits) -> None:
    """Raises KernelError if the grid, block, shared memory or arguments do not fit the kernel or the device."""
    name = entry.name
    threads = int(np.prod(launch.block))
    allowed = min(entry.max_threads or limits.threads_per_block, limits.threads_per_block)
    if min(launch.block) < 1 or threads > allowed or launch.block[2] > 64:
        raise KernelError(
            f"{name}: a block of {_by(launch.block)} = {threads:,} threads; allowed are 1 to {allowed:,}."
        )
    if any(not 1 <= g <= limit for g, limit in zip(launch.grid, GRID_LIMITS, strict=True)):
        raise KernelError(f"{name}: a grid of {_by(launch.grid)} blocks; allowed are 1 to {_by(GRID_LIMITS)}.")
    shared = launch.shared_bytes + entry.resources.get("shared_bytes", 0)
    if shared > limits.shared_bytes:
        raise KernelError(
            f"{name}: {shared:,} bytes of shared memory per block; this device has {limits.shared_bytes:,}."
        )
    check_arguments(name, launch.args, entry.params)


def check_arguments(name: str, args: Sequence[Any], params: Sequence[KernelParam]) -> None:
    """Raises KernelError if arguments do not match the compiled kernel's parameters in number, kind or size."""
    if len(args) != len(params):
        types = ", ".join(p.type for p in params)
        kinds = ", ".join(_kind(a) for a in args)
        takes = counted(len(params), "argument")
        raise KernelError(f"{name} takes {takes} ({types}); the launch gives {len(args)} ({kinds}).")
    for place, (arg, param) in enumerate(zip(args, params, strict=True), start=1):
        if not _fits(arg, param):
            raise KernelError(
                f"{name}: argument {place} is {_kind(arg)}, the kernel declares {param.type} ({param.nbytes} bytes)."
            )


def _fits(arg: Any, param: KernelParam) -> bool:
    if not isinstance(arg, np.generic):
        return param.nbytes == 8 and not param.type.startswith("f")
    if param.type == "ptr" or arg.dtype.itemsize != param.nbytes:
        return False
    return (arg.dtype.kind == "f") == param.type.startswith("f") or param.type.startswith("b")


def _kind(arg: Any) -> str:
    return arg.dtype.name if isinstance(arg, np.generic) else "None" if arg is None else "array"


def _by(numbers: Sequence[int]) -> str:
    return " x ".join(f"{number:,}" for number in numbers)


def check_texture(array: Any, border: str, linear: bool) -> None:
    """Raises KernelError for an array, border or interpolation that textures do not support."""
    if border not in ("nearest", "zero"):
        raise KernelError(f"A texture addressed in elements has border nearest or zero, not {border}.")
    if array.ndim not in (1, 2) or array.dtype.name not in ("uint8", "uint16", "float32"):
        raise KernelError(f"A texture takes 1D or 2D uint8, uint16 or float32, not {array.ndim}D {array.dtype.name}.")
    if linear and array.dtype.name != "float32":
        raise KernelError("Linear interpolation takes float32; convert the input or read the nearest element.")


def check_refresh(name: str, shape: tuple[int, ...], dtype: Any, source: Any) -> None:
    """Raises KernelError if `source` cannot fill a texture of that shape and dtype."""
    if source.shape != shape or source.dtype != dtype:
        raise KernelError(
            f"{name} copies {_by(source.shape)} {source.dtype.name} into a texture of {_by(shape)} {dtype.name};"
            " give an array of the texture's shape and dtype."
        )


def check_gaps(name: str, source: Any) -> None:
    """Raises KernelError if `source` is not contiguous, because a texture is filled row after row."""
    if not source.flags.c_contiguous:
        raise KernelError(f"{name} copies an array with gaps or out of order into a texture; give a contiguous one.")


def grid1d(elements: int, per_block: int) -> tuple[int, int, int]:
    """Blocks along x that cover `elements`."""
    return (max(1, -(-elements // per_block)), 1, 1)


def grid2d(rows: int, columns: int, per_block: tuple[int, int]) -> tuple[int, int, int]:
    """Blocks of (columns, rows) `per_block` that cover an image; x is the column."""
    return (max(1, -(-columns // per_block[0])), max(1, -(-rows // per_block[1])), 1)


def check_variables(name: str, static_shared: int, constants: Mapping[str, int]) -> None:
    """Raises KernelError if a kernel declares too much shared or constant memory, as the assembler does."""
    if static_shared > STATIC_SHARED:
        raise KernelError(
            f"{name} declares {static_shared:,} bytes of shared memory; allowed are {STATIC_SHARED:,}: for more, use"
            " extern __shared__ and let the launch set its size."
        )
    if sum(constants.values()) > CONSTANTS:
        raise KernelError(
            f"{name}: {sum(constants.values()):,} bytes of __constant__ memory; allowed are {CONSTANTS:,}: for more, "
            "pass an array to the launch."
        )


def check_constants(compiled: Compiled, constants: Mapping[str, np.ndarray[Any, Any]]) -> None:
    """Raises KernelError for a symbol the file does not declare, or a value larger than the symbol."""
    for symbol, value in constants.items():
        known = {**compiled.variables, **compiled.constants}
        if symbol not in known:
            names = ", ".join(known) or "none"
            words = "declares no __constant__ or __device__ variable"
            raise KernelError(f"{compiled.source} {words} {symbol} that its kernels use (found: {names}).")
        capacity = known[symbol]
        if value.nbytes > capacity:
            raise KernelError(f"{compiled.source}: {symbol} holds {capacity:,} bytes, the plan has {value.nbytes:,}.")
