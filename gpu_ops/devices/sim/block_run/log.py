"""What changed at each step: the values of cells after any step are those of the nearest kept state before it, and
what was written since."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
KEPT_BYTES = 8 << 20
"""The maximum number of bytes of the states that are kept of one log."""


@dataclass(frozen=True, eq=False)
class Cells:
    """The writes to `size` cells, such as the registers of all lanes: step k (from 1) wrote `values[ends[k - 1] :
    ends[k]]` as raw bits to the cells `cells[…]`, in order. `ends` (steps + 1,), `cells` (writes,), `values`
    (writes,)."""

    size: int
    ends: Array
    cells: Array
    values: Array

    @property
    def steps(self) -> int:
        return len(self.ends) - 1

    def at(self, step: int) -> tuple[Array, Array]:
        """The bits of all cells (size,) after a step, and whether each was written until then (size,). Cells that were
        not are 0. Raises IndexError for a step that there is not."""
        if not 0 <= step <= self.steps:
            raise IndexError(f"step {step} of {self.steps}")
        place = step // self._every
        values, written = self._states[place][0].copy(), self._states[place][1].copy()
        self._write(values, written, place * self._every, step)
        return values, written

    def changed(self, step: int) -> Array:
        """The cells that a step wrote (n,); none before the first."""
        return self.cells[self.ends[step - 1] : self.ends[step]] if step else self.cells[:0]

    def _write(self, values: Array, written: Array, after: int, step: int) -> None:
        """Apply the steps after one of them, up to another. A later write to a cell replaces an earlier one."""
        part = slice(int(self.ends[after]), int(self.ends[step]))
        values[self.cells[part]] = self.values[part]
        written[self.cells[part]] = True

    @cached_property
    def _every(self) -> int:
        """The number of steps between two states that are kept: as many as states, unless those were too large."""
        most = max(KEPT_BYTES // max(self.size * (self.values.itemsize + 1), 1), 1)
        return max(-(-self.steps // most), math.isqrt(self.steps), 1)

    @cached_property
    def _states(self) -> list[tuple[Array, Array]]:
        states = [(np.zeros(self.size, self.values.dtype), np.zeros(self.size, np.bool_))]
        for start in range(0, self.steps - self._every + 1, self._every):
            values, written = states[-1][0].copy(), states[-1][1].copy()
            self._write(values, written, start, start + self._every)
            states.append((values, written))
        return states


class CellLog:
    """Collects the writes of Cells."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        self.count = 0
        self._ends, self._cells, self._values = [0], list[Array](), list[Array]()

    def note(self, cells: Array, values: Array) -> None:
        """Note writes of the present step."""
        if len(cells):
            self._cells.append(cells.astype(np.int32))
            self._values.append(values.astype(self.dtype))
            self.count += len(cells)

    def end_step(self) -> None:
        """What is noted from now on belongs to the next step."""
        self._ends.append(self.count)

    def all_cells(self) -> Array:
        """All cells that were written, each once, in order."""
        return np.unique(np.concatenate([np.zeros(0, np.int32), *self._cells]))

    def cells(self, size: int) -> Cells:
        """All of it, about `size` cells. Writes after the last ended step are left out."""
        joined = (
            np.concatenate([np.zeros(0, dtype), *parts])[: self._ends[-1]]
            for dtype, parts in ((np.int32, self._cells), (self.dtype, self._values))
        )
        return Cells(size, np.array(self._ends, np.int64), *joined)
