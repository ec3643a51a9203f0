"""Host and shared memory: pageable, page-locked, mapped and managed."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.plan import MemoryKind


def allocate(kind: MemoryKind, shape: tuple[int, ...], dtype: Any, device: int) -> Any:
    """Uninitialised memory of that kind, on the current device, which is `device`. Mapped memory comes as an array that
    kernels take; that array keeps the host's view of the memory alive."""
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
    # With unified addressing all page-locked memory is mapped, at the same address on both sides.
    memory = cupy.cuda.UnownedMemory(pinned.ctypes.data, max(pinned.nbytes, 1), pinned, device)
    return cupy.ndarray(shape, dtype, cupy.cuda.MemoryPointer(memory, 0))
