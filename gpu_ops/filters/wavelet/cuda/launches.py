"""Launches of the wavelet kernels: sizes of an input as rows and columns, addresses in memory, grids, samples.

A signal is an image of one row. Sizes along x are counted in values, which are columns times channels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.filters.kit.planning import CTYPES, block_shape
from gpu_ops.filters.kit.rules import MOST_BLOCKS, not_with
from gpu_ops.filters.wavelet import forms
from gpu_ops.params import Value
from gpu_ops.plan import Device, DeviceArray, Launch
from gpu_ops.task import Meta, Task


class Shape(NamedTuple):
    """The input's rows, columns and channels, and along how many axes it is transformed."""

    rows: int
    columns: int
    channels: int
    rank: int

    @classmethod
    def of(cls, meta: Meta) -> Shape:
        rank = meta.of_kind.rank
        rows, columns = meta.shape[:2] if rank == 2 else (1, meta.shape[0])
        return cls(rows, columns, meta.channels, rank)


class Plane(NamedTuple):
    """Rows of values in memory, with a pitch of `pitch` values."""

    values: DeviceArray
    pitch: int


def plane(array: DeviceArray, rows: int, width: int, pitch: int = 0, start: int = 0) -> Plane:
    """The rows of `width` values that begin at value `start` of an array, with a pitch of `pitch` values (0:
    contiguous). It contains no value beyond them."""
    apart = pitch or width
    return Plane(array.reshape(-1)[start : start + (rows - 1) * apart + width], apart)


def int64(*numbers: int) -> tuple[Any, ...]:
    return tuple(np.int64(n) for n in numbers)


def lines_of(kernel: Any, lines: int, each: int, shape: Shape) -> dict[str, int]:
    """The trip count of the loop in which a block of a kernel continues with other lines, `each` at a time, because a
    grid has no more blocks. A signal is one line."""
    return {f"lines of {kernel.name}": -(-lines // (each * MOST_BLOCKS))} if shape.rank > 1 else {}


@dataclass(frozen=True)
class Lines:
    """Launches with one thread per value of lines; `kind` is the type of coefficients, `block` the threads per
    block."""

    device: Device
    kind: np.dtype[Any]
    shape: Shape
    block: int

    @property
    def real(self) -> str:
        """The C type of coefficients."""
        return CTYPES[self.kind.name]

    @property
    def threads(self) -> tuple[int, int]:
        """Threads of a block along x and y."""
        return (self.block, 1) if self.shape.rank == 1 else block_shape(self.block)

    def kernel(self, file: str, part: str = "", **defines: Value) -> Any:
        """Kernel wavelet_FILE_part of a file that all variants use."""
        name = f"wavelet_{file}_{part}" if part else f"wavelet_{file}"
        return self.device.kernel(f"wavelet/{file}.cu", name, {"REAL": self.real, **defines})

    def over(
        self,
        kernel: Any,
        lines: int,
        width: int,
        args: tuple[Any, ...],
        name: str,
        shared: int = 0,
        constants: Mapping[str, Any] | None = None,
    ) -> Launch:
        """One thread per value of `width` values of lines. If the lines exceed a grid, a thread processes several."""
        x, y = self.threads
        grid = (max(1, -(-width // x)), min(max(1, -(-lines // y)), MOST_BLOCKS), 1)
        loops = lines_of(kernel, lines, y, self.shape)
        return Launch(kernel, grid, (x, y, 1), args, shared, constants or {}, name=name, loops=loops)


@dataclass(frozen=True)
class Samples:
    """The steps between samples of the input's type and the transform, which computes in another type if it must."""

    lines: Lines
    dtype: np.dtype[Any]

    def shift(self, x: DeviceArray, y: DeviceArray, by: int) -> Launch:
        """x shifted by so many columns and rows, in the type of coefficients."""
        name = f"shift by {by}" if by else f"to {self.lines.kind.name}"
        return self._launch("shift", (x, y), self._moved(by), name)

    def add(self, y: DeviceArray, total: DeviceArray, by: int) -> Launch:
        """Add a result, shifted back, to the sum; that of shift 0 initialises it."""
        return self._launch("add", (y, total), (*self._moved(by), np.int32(by == 0)), f"add shift {by}")

    def finish(self, total: DeviceArray, out: DeviceArray, shifts: int) -> Launch:
        """The mean in the input's type."""
        return self._launch("finish", (total, out), (self.lines.kind.type(shifts),), f"to {self.dtype.name}")

    def removed(self, x: DeviceArray, total: DeviceArray, noise: DeviceArray, shifts: int) -> Launch:
        """The difference between the input and the mean."""
        return self._launch("removed", (x, total, noise), (self.lines.kind.type(shifts),), "what was removed")

    def _moved(self, by: int) -> tuple[Any, ...]:
        rows, columns, _, rank = self.lines.shape
        return int64(by % rows if rank == 2 else 0, by % columns)

    def _launch(self, part: str, arrays: tuple[Any, ...], more: tuple[Any, ...], name: str) -> Launch:
        rows, columns, channels, _ = self.lines.shape
        integer = int(self.dtype.kind == "u")
        kernel = self.lines.kernel("samples", part, SAMPLE=CTYPES[self.dtype.name], INTEGER=integer)
        args = (*arrays, *int64(rows, columns), np.int32(channels), *more)
        return self.lines.over(kernel, rows, columns * channels, args, name)


def counted(task: Task, filtering: int) -> int:
    """This number of operations of filters, and those of the other kernels: of all shifts, per coefficient a
    comparison, and the work of the rule: a radix step per byte for the noise, a square for BayesShrink, the steps of a
    sort for SURE."""
    size, params = math.prod(forms.pyramid_shape(task)), task.params
    each = 1 + (0 if params["rule"] == "manual" and params["result"] == "result" else 2 * task.dtype.itemsize)
    each += {"BayesShrink": 4, "SURE": 45 + 2 * math.ceil(math.log2(size + 1))}.get(params["rule"], 0)
    return filtering + int(params["shifts"]) * each * size


def largest(task: Task) -> float:
    """The largest magnitude for which neither a coefficient nor the sum over the shifts overflows."""
    return forms.largest(task) / int(task.params["shifts"])


RESULT_ALONE = not_with("result", "parts", words="it returns the result alone, without coefficients")
