"""The part of an array that a block writes, as a picture of rows and columns. No widgets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gpu_ops.devices.sim.block_run.run import Buffer, as_type

Array = np.ndarray[Any, Any]
WRAP = 64
"""Elements of a row of an array with one axis."""


class Written:
    """The smallest rectangle of `buffer` that has all cells which the block ever writes; an array with one axis is
    wrapped into rows of WRAP cells. `shape` is that of the rectangle. Where elements are larger than cells, as complex
    ones are, cells are shown, two for each element."""

    def __init__(self, buffer: Buffer) -> None:
        self.buffer, cells = buffer, buffer.cells
        dtype = np.dtype(buffer.dtype)
        self._parts = 2 if dtype.kind == "c" else 1
        self.dtype = {"complex64": "<u8", "complex128": "<f8"}.get(buffer.dtype, dtype.str)
        ever = np.unique(cells.cells).astype(np.int64)
        self._pitch = self._row_pitch()
        self._first = 0
        if not self._pitch:  # one row, cut where the block begins
            self._pitch, self._first = WRAP, int(ever.min()) if len(ever) else 0
        rows, columns = np.divmod(ever - self._first, self._pitch)
        self.top, self.left = (int(a.min()) if len(a) else 0 for a in (rows, columns))
        bottom, right = (int(a.max()) if len(a) else 0 for a in (rows, columns))
        self.shape = bottom - self.top + 1, right - self.left + 1
        self._ever = set(ever.tolist())
        values = self._typed(cells.at(cells.steps)[0][ever])
        finite = values[np.isfinite(values)]
        self._range = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
        self.changed: Array = np.zeros(0, np.int64)
        self.go_to(0)

    def _row_pitch(self) -> int:
        """The cells from a row to the next; 0 for an array of one row."""
        shape, strides = self.buffer.shape, self.buffer.strides
        return max(strides[0], 1) if len(shape) > 1 and shape[0] > 1 else 0

    def _typed(self, bits: Array) -> Array:
        """Cells as numbers; of complex numbers of 8 bytes the magnitude."""
        if self.buffer.dtype == "complex64":
            return np.abs(np.ascontiguousarray(bits).view(np.complex64)).astype(np.float64)
        return as_type(bits, self.dtype).astype(np.float64)

    def go_to(self, step: int) -> None:
        """Show the state after a step."""
        cells = self.buffer.cells
        step = min(step, cells.steps)
        self._bits, self._known = cells.at(step)
        self.changed = np.unique(cells.changed(step)).astype(np.int64)

    def places(self, cells: Array) -> Iterator[tuple[int, int]]:
        """The row and the column of cells in the rectangle."""
        rows, columns = np.divmod(np.asarray(cells, np.int64) - self._first, self._pitch)
        return zip((rows - self.top).tolist(), (columns - self.left).tolist(), strict=True)

    def _grid(self) -> Array:
        """The number of the cell at each place; -1 outside the array."""
        rows, columns = np.indices(self.shape)
        cells = (rows + self.top) * self._pitch + columns + self.left + self._first
        return np.where(cells < self.buffer.cells.size, cells, -1)

    def levels(self) -> tuple[Array, Array]:
        """A grey level of 8 bits for each place, and whether it is written (rows, columns)."""
        cells = self._grid()
        values, known = self._typed(self._bits[cells.ravel()]).reshape(self.shape), self._known[cells] & (cells >= 0)
        low, high = self._range
        share = np.nan_to_num((values - low) / ((high - low) or 1.0), nan=0.0, posinf=1.0, neginf=0.0)
        return (40 + 215 * np.clip(share, 0, 1)).astype(np.uint8), known

    def element(self, row: int, column: int) -> tuple[str, float | None]:
        """The element at a place, such as out[3][4], and its value if it is written; "" where the block never
        writes."""
        cell = int(self._grid()[row, column])
        if cell not in self._ever:
            return "", None
        value = float(self._typed(self._bits[cell : cell + 1])[0]) if self._known[cell] else None
        index, rest = [], cell
        for stride in self.buffer.strides:
            index.append(rest // max(stride, 1))
            rest %= max(stride, 1)
        return self.buffer.name + "".join(f"[{at}]" for at in index), value
