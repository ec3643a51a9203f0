"""Textures: reads of a copied 1D or 2D array, addressed in elements, nearest or linear."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from gpu_ops.devices.launches import check_texture
from gpu_ops.devices.sim.lanes import Array

_HANDLES = itertools.count(1)
_STEPS = 256.0
"""Hardware uses interpolation weights in steps of 1/256."""


class SimTexture:
    """A texture object as a launch argument; `pointer` is its handle. A Copy step into it replaces its content. Raises
    KernelError for arrays, borders and interpolations that textures do not support."""

    def __init__(self, array: Array, border: str, linear: bool) -> None:
        check_texture(array, border, linear)
        self.pointer = next(_HANDLES)
        self.array = np.array(array)
        self.border, self.linear = border, linear

    def refresh(self, source: Array) -> None:
        """Copy an array of the same shape and dtype into it."""
        np.copyto(self.array, source)

    def fetch(self, where: list[Array]) -> Array:
        """The value at coordinates x, or x and y: element i covers i ≤ x < i + 1."""
        axes = [(w, n) for w, n in zip(reversed(where), self.array.shape, strict=True)]
        if not self.linear:
            return self._at([_whole(w) for w, _ in axes])
        lows, shares = zip(*(_neighbours(w) for w, _ in axes), strict=True)
        total: Any = np.float64(0)
        for choice, weight in _weights(shares):
            total = total + weight * self._at([low + side for low, side in zip(lows, choice, strict=True)])
        return np.asarray(total / _STEPS).astype(np.float32)

    def _at(self, places: list[Array]) -> Array:
        """Elements at integer coordinates; beyond an edge, the element at the edge or zero."""
        inside: Any = True
        clipped = []
        for place, size in zip(places, self.array.shape, strict=True):
            inside = inside & (place >= 0) & (place < size)
            clipped.append(np.clip(place, 0, size - 1))
        values = self.array[tuple(clipped)]
        return values if self.border == "nearest" else np.where(inside, values, self.array.dtype.type(0))


def _whole(coordinate: Array) -> Array:
    return coordinate.astype(np.int64) if coordinate.dtype.kind == "i" else np.floor(coordinate).astype(np.int64)


def _neighbours(coordinate: Array) -> tuple[Array, Array]:
    """The lower of the two elements with centres around the coordinate, and the weight of the upper one in 256
    steps."""
    shifted = coordinate.astype(np.float64) - 0.5
    low = np.floor(shifted)
    return low.astype(np.int64), _rounded((shifted - low) * _STEPS)


def _weights(shares: tuple[Array, ...]) -> list[tuple[tuple[int, ...], Array]]:
    """The weight of each neighbour, in steps that add up to 256, as observed on an H200: the product of both shares is
    rounded, and the other three weights follow from it."""
    if len(shares) == 1:
        return [((0,), _STEPS - shares[0]), ((1,), shares[0])]
    down, across = shares
    product = _rounded(down * across / _STEPS)
    return [
        ((0, 0), _STEPS - down - across + product),
        ((0, 1), across - product),
        ((1, 0), down - product),
        ((1, 1), product),
    ]


def _rounded(value: Array) -> Array:
    """Rounded to integer steps, halves up."""
    return np.floor(value + 0.5)
