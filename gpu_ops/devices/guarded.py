"""A session with guard memory before and after each array, which reveals writes past an end."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_ops.plan import Device, DeviceArray, MemoryKind

GUARD_BYTES = 1 << 16
"""A multiple of every guaranteed alignment, and as many bytes as one block can write past an end."""
PATTERN = 0xA5


class GuardedSession:
    """Behaves like the session that it wraps; `damaged` says whether a kernel overwrote a guard."""

    def __init__(self, session: Device) -> None:
        self._session = session
        self._guards: list[DeviceArray] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def empty(self, shape: tuple[int, ...], dtype: Any) -> DeviceArray:
        """Uninitialised memory between two guards."""
        nbytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        whole = self._session.empty((GUARD_BYTES + nbytes + GUARD_BYTES,), np.uint8)
        before, inside, after = whole[:GUARD_BYTES], whole[GUARD_BYTES:-GUARD_BYTES], whole[-GUARD_BYTES:]
        for guard in (before, after):
            self._session.fill(guard, PATTERN)
            self._guards.append(guard)
        return inside.view(dtype).reshape(shape)

    def allocate(self, kind: MemoryKind, shape: tuple[int, ...], dtype: Any) -> Any:
        """As `Device.allocate`; only device memory has guards around it."""
        return self.empty(shape, dtype) if kind == "device" else self._session.allocate(kind, shape, dtype)

    def damaged(self) -> bool:
        """Whether a kernel wrote outside its arrays."""
        return any(bool((self._session.download(guard) != PATTERN).any()) for guard in self._guards)
