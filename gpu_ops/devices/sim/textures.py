"""Textures: reads of a copied 1D or 2D array, addressed in elements, nearest or linear."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from gpu_ops.devices.sim.lanes import Array
from gpu_ops.errors import KernelError

_HANDLES = itertools.count(1)
_STEPS = 256.0
"""Hardware weighs neighbours in 1/256."""


class SimTexture:
    """A texture object as a launch argument; `pointer` is its handle. Raises KernelError for what textures are not."""

    def __init__(self, array: Array, border: str, linear: bool) -> None:
        if border not in ("nearest", "zero"):
            raise KernelError(f"A texture addressed in elements has border nearest or zero, not {border}.")
        if array.ndim not in (1, 2) or array.dtype.name not in ("uint8", "uint16", "float32"):
            raise KernelError(
                f"A texture takes 1D or 2D uint8, uint16 or float32, not {array.ndim}D {array.dtype.name}."
            )
        if linear and array.dtype.name != "float32":
            raise KernelError("Linear interpolation takes float32; convert the input or read the nearest element.")
        self.pointer = next(_HANDLES)
        self.array = np.array(array)
        self.border, self.linear = border, linear

    def fetch(self, where: list[Array]) -> Array:
        """The value at coordinates x, or x and y: element i covers i ≤ x < i + 1."""
        axes = [(w, n) for w, n in zip(reversed(where), self.array.shape, strict=True)]
        if not self.linear:
            return self._at([_whole(w) for w, _ in axes])
        corners = [_neighbours(w) for w, _ in axes]
        total: Any = np.float64(0)
        for choice in itertools.product((0, 1), repeat=len(corners)):
            weight: Any = np.float64(1)
            for side, (_, share) in zip(choice, corners, strict=True):
                weight = weight * (share if side else 1 - share)
            places = [low + side for side, (low, _) in zip(choice, corners, strict=True)]
            total = total + weight * self._at(places)
        return np.asarray(total).astype(np.float32)

    def _at(self, places: list[Array]) -> Array:
        """Elements at whole places; beyond the edges the edge's, or zero."""
        inside: Any = True
        held = []
        for place, size in zip(places, self.array.shape, strict=True):
            inside = inside & (place >= 0) & (place < size)
            held.append(np.clip(place, 0, size - 1))
        found = self.array[tuple(held)]
        return found if self.border == "nearest" else np.where(inside, found, self.array.dtype.type(0))


def _whole(coordinate: Array) -> Array:
    return coordinate.astype(np.int64) if coordinate.dtype.kind == "i" else np.floor(coordinate).astype(np.int64)


def _neighbours(coordinate: Array) -> tuple[Array, Array]:
    """The lower of the two elements whose centres lie around it, and the share of the upper one in 1/256."""
    shifted = coordinate.astype(np.float64) - 0.5
    low = np.floor(shifted)
    share = np.rint((shifted - low) * _STEPS) / _STEPS
    return low.astype(np.int64), share
