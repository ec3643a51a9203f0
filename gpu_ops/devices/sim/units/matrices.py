"""Matrices that the lanes of a warp hold together in registers: where each element is, and their product.

The layouts of mma and ldmatrix are those of the PTX manual. That of wmma is not published, and kernels must not depend
on it: here it is that of mma for tiles of 16 x 8 and 8 x 8, as the machine code of sm_90 loads and stores them.
"""

from __future__ import annotations

import math
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
    """A part of a product of (m, k) and (k, n) in `registers` of each lane."""

    part: Part
    type: str
    shape: tuple[int, int, int]
    registers: int

    @property
    def size(self) -> tuple[int, int]:
        m, n, k = self.shape
        return {"a": (m, k), "b": (k, n), "c": (m, n)}[self.part]

    @property
    def each(self) -> int:
        """Elements of a register."""
        return max(1, 32 // BITS[self.type])

    @property
    def different(self) -> int:
        """The registers that hold all elements; those of wmma after them hold the same again."""
        return math.prod(self.size) // (WARP * self.each)

    def together(self, layout: str) -> int:
        """Elements of a lane that are neighbours in memory with this layout, "row" or "col", and in registers."""
        if layout != ("col" if self.part == "b" else "row"):
            return 1
        return 2 if self.part == "c" else self.each


@lru_cache(256)
def places(fragment: Fragment) -> tuple[Array, Array]:
    """The row and the column (32, n) of the n elements of each lane; several registers may hold one element."""
    lane, at = np.arange(WARP)[:, None], np.arange(fragment.registers * fragment.each)[None, :]
    rows, columns = fragment.size
    register, element = at // fragment.each % fragment.different, at % fragment.each
    group, place = lane // 4, lane % 4
    tall = 1 if fragment.part == "b" or rows % 16 else 2  # a tile has 8 columns, or 8 times as many rows
    if fragment.part == "c":
        pair = max(1, 2 // fragment.each)  # registers of the two neighbours that a lane has in a row
        tile, register = register // (tall * pair), register % (tall * pair)
        across = columns // 8
        column = 2 * place + (element if pair == 1 else register % pair) + 8 * (tile % across)
        return group + 8 * (register // pair) + 8 * tall * (tile // across), column
    deep = (rows if fragment.part == "b" else columns) // (4 * fragment.each)  # registers along the sum
    tile, register = register // (tall * deep), register % (tall * deep)
    outer = group + 8 * (register % tall) + 8 * tall * tile
    inner = place * fragment.each + element + 4 * fragment.each * (register // tall)
    return (inner, outer) if fragment.part == "b" else (outer, inner)


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
