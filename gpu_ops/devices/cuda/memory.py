"""Memory that is not simply the device's: page-locked, mapped, managed."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.plan import MemoryKind


def allocate(kind: MemoryKind, shape: tuple[int, ...], dtype: Any, device: int) -> Any:
    """Memory of that kind, uninitialised, on the current device, which is `device`. Mapped memory is given as the array
    that kernels take: the host's own view of it is what it keeps alive."""
    import cupy
    import cupyx

    if kind == "pageable":
        return np.empty(shape, dtype)
    if kind == "managed":
        with cupy.cuda.using_allocator(cupy.cuda.malloc_managed):
            return cupy.empty(shape, dtype)
    pinned = cupyx.empty_pinned(shape, dtype)
    if kind == "pinned":
        return pinned
    # Addresses are the same on both sides: page-locked memory is mapped wherever addressing is unified.
    memory = cupy.cuda.UnownedMemory(pinned.ctypes.data, max(pinned.nbytes, 1), pinned, device)
    return cupy.ndarray(shape, dtype, cupy.cuda.MemoryPointer(memory, 0))
