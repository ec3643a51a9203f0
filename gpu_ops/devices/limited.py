"""A session that may allocate only a given number of bytes, whatever its device has."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gpu_ops.errors import DeviceMemoryError
from gpu_ops.plan import Device, DeviceArray, MemoryKind


@dataclass
class Allowance:
    """The bytes that sessions may allocate together, and how many of them are left."""

    nbytes: int
    left: int = field(init=False)

    def __post_init__(self) -> None:
        self.left = self.nbytes


class LimitedSession:
    """Behaves like the session that it wraps, and counts what is allocated. Frees are not counted: the session lives as
    long as one plan, and a plan keeps its memory."""

    def __init__(self, session: Device, allowance: Allowance) -> None:
        self._session, self._allowance = session, allowance

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def upload(self, array: np.ndarray[Any, Any], out: DeviceArray | None = None) -> DeviceArray:
        """As `Device.upload`."""
        if out is None:
            self._take(array.shape, array.dtype)
        return self._session.upload(array, out)

    def empty(self, shape: tuple[int, ...], dtype: Any) -> DeviceArray:
        """Uninitialised memory. Raises DeviceMemoryError where it exceeds the rest of the limit."""
        self._take(shape, dtype)
        return self._session.empty(shape, dtype)

    def pitched(self, rows: int, columns: int, dtype: Any) -> DeviceArray:
        """As `Device.pitched`."""
        self._take((rows, columns), dtype)
        return self._session.pitched(rows, columns, dtype)

    def allocate(self, kind: MemoryKind, shape: tuple[int, ...], dtype: Any) -> Any:
        """As `Device.allocate`; only device memory is counted."""
        return self.empty(shape, dtype) if kind == "device" else self._session.allocate(kind, shape, dtype)

    def _take(self, shape: tuple[int, ...], dtype: Any) -> None:
        needed = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        allowed = self._allowance
        if needed > allowed.left:
            raise DeviceMemoryError(
                f"{self._session.name} may hold {allowed.nbytes:,} bytes, of which {allowed.left:,} are left, and this "
                f"needs {needed:,} more. Use a smaller input, or allow more."
            )
        allowed.left -= needed
