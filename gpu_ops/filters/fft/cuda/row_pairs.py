"""Launches over the rows and the columns of real images, as `kernels/include/fft_row_pairs.cuh` expects them: two rows
are one complex line, and columns beyond the middle of the spectrum are the conjugates of others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gpu_ops.filters.fft.cuda.any_length import RADIX, TOGETHER, Line, line_of
from gpu_ops.filters.fft.cuda.launches import Work
from gpu_ops.filters.fft.cuda.passes import ALL, NEEDED, circle
from gpu_ops.filters.fft.cuda.radices import MOST_NUMBERS, halves
from gpu_ops.filters.fft.forms import real_type
from gpu_ops.filters.kit.planning import CTYPES
from gpu_ops.params import Param, Value
from gpu_ops.plan import DeviceArray, Launch
from gpu_ops.task import Task
from gpu_ops.types import Rule

BLOCK = Param(
    "block",
    256,
    choices=(64, 128, 256, 512),
    tries=(64, 256),
    unit="threads",
    help="threads per block of rows; fewer where most multiprocessors would be idle",
)
STRIP = Param(
    "strip",
    8,
    choices=(1, 2, 4, 8, 16),
    tries=(2, 8),
    unit="columns",
    help="neighbouring columns per block; fewer where they do not fit, or where most multiprocessors would be idle",
)
PARTS = Param(
    "parts",
    NEEDED,
    choices=(NEEDED, ALL),
    help="which columns take two launches: those of which a block does not hold eight, or all that are a product",
)
KNOBS = BLOCK, STRIP, RADIX, TOGETHER, PARTS
FEWEST, IN_PARTS = 8, 16
"""The preferred number of neighbouring columns per block, for whole columns and for columns in parts."""
ALIGNED = 16
"""Both halves of a pair begin at a multiple of this number of elements, aligned to a cache line."""


def lines_of(task: Task) -> tuple[Line | None, Line | None]:
    """How rows and columns are transformed; None if they are too long."""
    height, width = task.meta.shape[:2]
    return line_of(width, int(task.knobs["radix"])), line_of(height, int(task.knobs["radix"]))


def _too_long(task: Task) -> int:
    """The length of a row or column that exceeds a block."""
    how = task.knobs, real_type(task).itemsize, task.limits.shared_bytes
    lengths = task.meta.shape[1], task.meta.shape[0]
    fits = (line is not None and line.most_lines(1, *how) for line in lines_of(task))
    return next((n for n, one in zip(lengths, fits, strict=True) if not one), 0)


def lines_fit(other: str) -> Rule:
    """Rows and columns fit into a block; `other` is a variant for longer ones."""
    return Rule(_too_long, f"a block cannot hold lines of {{found}} points with these knobs; use the variant {other}")


def parts_of_columns(task: Task, columns: Line) -> tuple[Line, Line] | None:
    """The two parts of columns of which too few fit into a block; None if columns are whole."""
    how = task.knobs, real_type(task).itemsize, task.limits.shared_bytes
    enough = columns.most_lines(FEWEST, *how) >= FEWEST and task.knobs["parts"] == NEEDED
    radix, whole = int(task.knobs["radix"]), task.params.get("result") == "round trip"
    lengths = None if enough or whole or columns.passes > 1 else halves(columns.length, MOST_NUMBERS, radix)
    lines = [line_of(n, radix) for n in lengths or ()]
    return (lines[0], lines[1]) if lines and lines[0] and lines[1] else None


def operations(times: int, task: Task) -> int:
    """Operations of the transforms of half as many lines as there are rows and columns, this number of times: five per
    point and stage."""
    lines, others = lines_of(task), reversed(task.meta.shape[:2])
    both = ((line, count) for line, count in zip(lines, others, strict=True) if line)
    each = (
        5 * line.passes * line.points * max(line.points.bit_length() - 1, 1) * -(-count // 2) for line, count in both
    )
    return times * task.meta.channels * sum(each)


@dataclass
class RowPairs:
    """The launches of an image in a plan. `file` has kernels named `kernel`_rows, _columns and _inverse."""

    work: Work
    file: str
    kernel: str

    def __post_init__(self) -> None:
        task = self.work.task
        self.height, self.width = task.meta.shape[:2]
        rows, columns = lines_of(task)
        assert rows is not None and columns is not None  # the variant supports the lengths
        self.rows, self.columns = rows, columns
        self.parts = parts_of_columns(task, columns)
        apart = self.apart = self.parts[0].apart * self.parts[1].points if self.parts else columns.apart
        self.pairs = self.height // (2 * apart) * apart + min(self.height % (2 * apart), apart)
        self.pitch = -(-(self.width // 2 + 1) // ALIGNED) * ALIGNED
        self.spectrum = self.work.device.empty((task.meta.channels * self.pairs * 2 * self.pitch,), self.work.dtype)

    def over_rows(self, array: DeviceArray, *more: Any, what: str, inverse: bool = False, **defines: Value) -> None:
        """Samples to spectra of pairs of rows, or the inverse; `more` are the kernel's last arguments."""
        sizes = (np.int32(self.height), np.int32(self.pitch), np.int64(self.pairs), np.int32(self.apart))
        both = (self.spectrum, array) if inverse else (array, self.spectrum)
        wanted = max(int(self.work.task.knobs["block"]) // self.rows.stages.threads, 1)
        part, defines = "inverse" if inverse else "rows", {**defines, "COLUMNS": 0, "INVERSE": int(inverse)}
        defines["SAMPLE"] = CTYPES[self.work.task.dtype.name]
        self._launch(part, self.rows, self.pairs, wanted, both, (*sizes, *more), what, defines)

    def over_columns(self, *arrays: DeviceArray, more: tuple[Any, ...], what: str, **defines: Value) -> None:
        """Columns of the spectra; `more` are the kernel's last arguments."""
        sizes = (*self._sizes, np.int32(self.apart), *more)
        line = self.parts[1] if self.parts else self.columns
        defines = {**defines, "COLUMNS": 3 if self.parts else 1}
        self._over_columns("columns", line, (*arrays, *sizes), what, defines)

    def over_parts(self, name: str, *more: Any, what: str, last: bool = False, **defines: Value) -> None:
        """The first part of columns in two parts, or the last one of the inverse."""
        if self.parts:
            defines = {**defines, "COLUMNS": 4 if last else 2}
            self._over_columns(name, self.parts[0], (self.turns, *self._sizes, *more), what, defines)

    @cached_property
    def turns(self) -> DeviceArray:
        """The twiddle factors of a whole column."""
        return self.work.table(circle, self.height)

    @property
    def _sizes(self) -> tuple[Any, ...]:
        return np.int32(self.width), np.int32(self.pitch), np.int64(self.pairs)

    def _over_columns(self, name: str, line: Line, more: tuple[Any, ...], what: str, defines: dict[str, Value]) -> None:
        count, wanted = self.width // 2 + 1, int(self.work.task.knobs["strip"])
        wanted = max(wanted, IN_PARTS) if self.parts else wanted
        self._launch(name, line, count, wanted, (self.spectrum,), more, what, defines)

    def _launch(
        self,
        part: str,
        line: Line,
        count: int,
        wanted: int,
        arrays: tuple[DeviceArray, ...],
        more: tuple[Any, ...],
        what: str,
        defines: dict[str, Value],
    ) -> None:
        """`count` lines of each channel, `wanted` of them per block."""
        task, device = self.work.task, self.work.device
        item = self.work.real.itemsize
        channels, limits = task.meta.channels, device.limits
        parts = self.height // line.points if defines["COLUMNS"] not in (0, 1) else 1
        while wanted > 1 and 2 * -(-count // wanted) * channels * parts < limits.multiprocessors:
            wanted //= 2
        lines = line.most_lines(wanted, task.knobs, item, limits.shared_bytes)
        defines = {**self.work.defines, **line.defines(lines, task.knobs), **defines}
        kernel = device.kernel(self.file, f"{self.kernel}_{part}", defines)
        grid, block = (-(-count // lines), channels, parts), (line.stages.threads * lines, 1, 1)
        shared = line.shared(lines, task.knobs, item)
        args = (*arrays, *line.tables(self.work), *more)
        early = part != "rows"  # the rows wait for means, and for another run of the plan
        self.work.steps.append(Launch(kernel, grid, block, args, shared, name=what, early=early))
