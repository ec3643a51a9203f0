"""Matrices that the lanes of a warp hold together in registers: where each element is, and their product.

The layouts of mma and ldmatrix are those of the PTX manual. That of wmma is not published, and kernels must not depend
on it: here it is the one with which the machine code of sm_90 accesses memory, four lanes for each row of eight.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from gpu_ops.devices.sim.lanes import WARP, Array

Part = Literal["a", "b", "c"]
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "s8": 8, "u8": 8, "f32": 32, "s32": 32, "f64": 64}
"""The bits of an element of each type."""


@dataclass(frozen=True)
class Fragment:
    """A part of a product of (m, k) and (k, n) in `registers` of each lane. `order` is that of its elements in memory,
    "row" or "col"; `opaque`: wmma's layout."""

    part: Part
    type: str
    shape: tuple[int, int, int]
    registers: int
    order: str
    opaque: bool

    @property
    def size(self) -> tuple[int, int]:
        m, n, k = self.shape
        return {"a": (m, k), "b": (k, n), "c": (m, n)}[self.part]

    @property
    def each(self) -> int:
        """Elements of a register."""
        return max(1, 32 // BITS[self.type])

    @property
    def along(self) -> str:
        """Whether a lane has neighbours of a row or of a column, in wmma's layout; only those of 16 bits are turned."""
        return self.order if BITS[self.type] == 16 else "col" if self.part == "b" else "row"

    @property
    def pair(self) -> int:
        """Elements of a lane that are neighbours, in wmma's layout."""
        return max(self.each, 2) if self.part == "c" else self.each

    @property
    def distinct(self) -> int:
        """Elements of a lane that are not held twice."""
        return min(self.registers * self.each, self.size[0] * self.size[1] // WARP)


@lru_cache(256)
def places(fragment: Fragment) -> tuple[Array, Array]:
    """The row and the column (32, n) of the n elements of each lane; several lanes may hold one element."""
    lane, at = np.arange(WARP)[:, None], np.arange(fragment.registers * fragment.each)[None, :]
    rows, columns = fragment.size
    if fragment.opaque:
        pair, unit = fragment.pair, at // fragment.pair
        lines, length = (rows, columns) if fragment.along == "row" else (columns, rows)
        parts = length // (4 * pair)
        far = lane // 4 + 8 * (unit // parts) % lines
        near = lane % 4 * pair + at % pair + 4 * pair * (unit % parts)
        return (far, near) if fragment.along == "row" else (near, far)
    register, element = at // fragment.each, at % fragment.each
    group, place = lane // 4, lane % 4
    if fragment.part == "c":
        if fragment.each == 2:
            return group + 8 * register, 2 * place + element
        return group + 8 * (register // 2), 2 * place + register % 2
    inner = place * fragment.each + element
    if fragment.part == "a":
        deep = register // 2 if rows == 16 else register
        return group + (8 * (register % 2) if rows == 16 else 0), inner + 4 * fragment.each * deep
    return inner + 4 * fragment.each * register, group + 0 * register


def numbers(fragment: Fragment, registers: list[Array]) -> Array:
    """The matrix (warps, rows, columns) in the registers (warps, 32) of a fragment, as float64 or int64."""
    raw = np.ascontiguousarray(np.stack(registers, axis=-1))
    kind = fragment.type
    if kind == "f16":
        values = raw.view(np.float16)
    elif kind == "bf16":
        values = (raw.view(np.uint16).astype(np.uint32) << np.uint32(16)).view(np.float32)
    elif kind == "tf32":
        values = (raw.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    else:
        values = raw.view({"s8": "i1", "u8": "u1", "f32": "f4", "s32": "i4", "f64": "f8"}[kind])
    whole = np.zeros((len(raw), *fragment.size), np.int64 if values.dtype.kind in "iu" else np.float64)
    row, column = places(fragment)
    whole[:, row, column] = values
    return whole


def registers_of(fragment: Fragment, whole: Array) -> list[Array]:
    """The registers (warps, 32) of a matrix, as int32 or float64."""
    row, column = places(fragment)
    kind = {"f16": "f2", "f32": "f4", "s32": "i4", "f64": "f8"}[fragment.type]
    values = np.ascontiguousarray(whole[:, row, column].astype(kind))
    packed = values if kind == "f8" else values.view(np.int32)
    return [np.ascontiguousarray(packed[..., n]) for n in range(fragment.registers)]


def product(fragments: dict[str, Fragment], operands: dict[str, list[Array]], saturate: bool) -> list[Array]:
    """The registers of a · b + c. Sums are exact to float64 and rounded once: hardware rounds floats in an order that
    is not published."""
    a, b, c = (numbers(fragments[name], operands[name]) for name in "abc")
    whole: Any = a @ b + c
    if fragments["d"].type == "s32":
        whole = np.clip(whole, -(1 << 31), (1 << 31) - 1) if saturate else whole.astype(np.int32)
    return registers_of(fragments["d"], whole)
