"""Textures and surfaces: reads of an array by coordinates, nearest or linear, and writes by bytes."""

from __future__ import annotations

import itertools
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from gpu_ops.devices.images import Sampling
from gpu_ops.devices.sim.lanes import Array
from gpu_ops.devices.sim.memory import address_of
from gpu_ops.errors import KernelError

_HANDLES = itertools.count(1)
_STEPS = 256.0
"""Hardware uses interpolation weights in steps of 1/256."""
_FRACTIONS = 2.0**21
"""Normalized coordinates have 21 bits after the point, as observed on an H200."""
_LARGEST = 65535.0
"""The steps of an interpolated fraction."""
IMAGES: WeakValueDictionary[int, SimTexture] = WeakValueDictionary()
"""All textures and surfaces by their handles, which kernels may also read from memory."""


class SimTexture:
    """A texture or surface object as a launch argument; `pointer` is its handle. A Copy step into it replaces its
    content. Raises KernelError for arrays that it cannot be over."""

    def __init__(self, array: Array, sampling: Sampling) -> None:
        sampling.check(array.shape, array.dtype)
        self.pointer = next(_HANDLES)
        self.sampling = sampling
        self.array = array if sampling.surface or sampling.memory else np.array(array)
        self.extents = sampling.extents(array.shape)
        IMAGES[self.pointer] = self

    @property
    def _cells(self) -> Array:
        """The array as (layers, …, channels)."""
        shape = self.array.shape
        return self.array.reshape(self.sampling.layers(shape), *self.extents, self.sampling.channels(shape))

    def refresh(self, source: Array) -> None:
        """Copy an array of the same shape and dtype into it."""
        np.copyto(self.array, source)

    @property
    def _in_steps(self) -> bool:
        """Whether results are whole steps of 1 / 65535, as observed on an H200."""
        return self.sampling.linear and self.sampling.fraction and self.array.dtype.kind == "u"

    # Reads of a texture

    def fetch(self, where: list[Array], layer: Array | None = None) -> list[Array]:
        """The four components at coordinates x, y, z: element i covers i ≤ x < i + 1. Those that the texture lacks are
        0, the last one 1."""
        if self.sampling.cube and len(where) == 3:
            where, layer = _face(where)
        axes = self._axes(where, layer)
        layers = self._layer(layer)
        if not self.sampling.linear:
            return self._components(self._at(layers, [_whole(w) for w in axes]))
        lows, shares = zip(*(_neighbours(w) for w in axes), strict=True)
        total: Any = np.float64(0)
        for choice, weight in _weights(shares):
            places = [low + side for low, side in zip(lows, choice, strict=True)]
            total = total + weight[..., None] * self._at(layers, places)
        total = total / _STEPS
        if self._in_steps:
            total = _rounded(total) / _LARGEST
        return self._components(np.asarray(total).astype(np.float32))

    def addresses(self, where: list[Array], layer: Array | None) -> Array | None:
        """The address of the element that `fetch` gives as it is, −1 beyond an edge that reads as zero; None where it
        interpolates or converts."""
        narrow = self.array.dtype.kind == "i" and self.array.dtype.itemsize < 4 or self.array.dtype == np.float16
        if self.sampling.linear or self.sampling.fraction or self.sampling.cube or narrow:
            return None
        indices, inside = self._indices([_whole(w) for w in self._axes(where, layer)])
        cells = self._cells
        number = np.ravel_multi_index((*np.broadcast_arrays(self._layer(layer), *indices),), cells.shape[:-1])
        found = address_of(self.array) + number * (cells.shape[-1] * cells.dtype.itemsize)
        return np.where(inside, found, -1) if self._empty_outside else found

    def gather(self, where: list[Array], layer: Array | None, component: int) -> list[Array]:
        """A component of the four elements around the coordinates: lower left, lower right, upper right, upper left,
        where rows count down."""
        (row, _), (column, _) = map(_neighbours, self._axes(where, layer))
        layers, corners = self._layer(layer), ((1, 0), (1, 1), (0, 1), (0, 0))
        found = [self._components(self._at(layers, [row + down, column + right])) for down, right in corners]
        return [four[component] for four in found]

    def _axes(self, where: list[Array], layer: Array | None) -> list[Array]:
        """The coordinates in elements, slowest axis first. Raises KernelError where the texture has other axes."""
        if len(where) != len(self.extents) or (layer is not None) != self.sampling.layered:
            have, want = self._kind(len(self.extents), self.sampling.layered), self._kind(len(where), layer is not None)
            raise KernelError(f"reads a {want} texture, and the argument is {have}; give an array of its axes")
        if not self.sampling.normalized:
            return where[::-1]
        steps = [np.floor(w.astype(np.float64) * _FRACTIONS) for w in where[::-1]]
        return [step * n / _FRACTIONS for step, n in zip(steps, self.extents, strict=True)]

    @staticmethod
    def _kind(axes: int, layered: bool) -> str:
        return f"{axes}D{' layered' if layered else ''}"

    def _layer(self, layer: Array | None) -> Array:
        most = self.sampling.layers(self.array.shape) - 1
        return np.zeros((1, 1), np.int64) if layer is None else np.clip(layer.astype(np.int64), 0, most)

    def _at(self, layer: Array, places: list[Array]) -> Array:
        """Elements (…, channels) at integer coordinates; beyond an edge by the border."""
        indices, inside = self._indices(places)
        values = self._numbers(self._cells[(layer, *indices)])
        within = np.broadcast_to(inside, values.shape[:-1])[..., None]
        return np.where(within, values, 0) if self._empty_outside else values

    @property
    def _empty_outside(self) -> bool:
        return self.sampling.border == "border" or (self.sampling.memory and len(self.extents) == 1)

    def _indices(self, places: list[Array]) -> tuple[list[Array], Array]:
        """The indices of the elements at integer coordinates, by the border, and which coordinates are inside."""
        inside: Any = np.True_
        indices = []
        for place, size in zip(places, self.extents, strict=True):
            inside = inside & (place >= 0) & (place < size)
            if self.sampling.border == "wrap":
                place = place % size
            elif self.sampling.border == "mirror":
                place = np.where((place // size) % 2, size - 1 - place % size, place % size)
            indices.append(np.clip(place, 0, size - 1))
        return indices, np.asarray(inside)

    def _numbers(self, values: Array) -> Array:
        """Elements as the kernel gets them: fractions of the largest integer, and halves as float32."""
        if values.dtype.kind == "f":
            return values.astype(np.float32)
        if not self.sampling.fraction:
            return values
        largest = np.iinfo(values.dtype).max
        if self._in_steps:
            return values.astype(np.float64) * (_LARGEST // largest)
        return np.maximum(values.astype(np.float32) / np.float32(largest), np.float32(-1))

    def _components(self, values: Array) -> list[Array]:
        zero = np.zeros((1, 1), values.dtype)
        own = [values[..., n] for n in range(values.shape[-1])]
        return [*own, *(zero,) * (3 - len(own)), zero + values.dtype.type(1)][:4]

    # Surfaces

    def cells_at(self, where: list[Array], layer: Array | None, nbytes: int, mode: str) -> tuple[Array, Array]:
        """The index of each access in `bytes_of(nbytes)`, and which are inside. x counts bytes. Raises KernelError
        where the surface has other axes."""
        if len(where) != len(self.extents) or (layer is not None) != self.sampling.layered:
            have, want = self._kind(len(self.extents), self.sampling.layered), self._kind(len(where), layer is not None)
            raise KernelError(f"accesses a {want} surface, and the argument is {have}; give an array of its axes")
        width = self.extents[-1] * self.array.dtype.itemsize * self.sampling.channels(self.array.shape)
        sizes = [*self.extents[:-1], width // nbytes]
        places = [w.astype(np.int64) for w in where[::-1]]
        inside: Any = (places[-1] % nbytes == 0) & (self._layer(layer) == (0 if layer is None else layer))
        places[-1] = places[-1] // nbytes
        index = self._layer(layer)
        for place, size in zip(places, sizes, strict=True):
            inside = inside & (place >= 0) & (place < size)
            index = index * size + np.clip(place, 0, size - 1)
        return index, np.asarray(inside | (mode == "clamp"))

    def bytes_of(self, nbytes: int) -> Array:
        """Its memory in pieces of so many bytes, (n, nbytes)."""
        return self.array.reshape(-1).view(np.uint8).reshape(-1, nbytes)


def _face(where: list[Array]) -> tuple[list[Array], Array]:
    """The normalized coordinates in a face of a cube map, and the face, of a direction (x, y, z)."""
    x, y, z = (w.astype(np.float64) for w in where)
    axes = [np.abs(x), np.abs(y), np.abs(z)]
    largest = np.maximum(np.maximum(*axes[:2]), axes[2])
    is_x = axes[0] == largest
    is_y = ~is_x & (axes[1] == largest)
    face = np.where(is_x, x < 0, np.where(is_y, 2 + (y < 0), 4 + (z < 0)))
    across = np.where(is_x, np.where(x < 0, z, -z), np.where(is_y | (z >= 0), x, -x))
    down = np.where(is_y, np.where(y < 0, -z, z), -y)
    return [(along / largest + 1) / 2 for along in (across, down)], face


def _whole(coordinate: Array) -> Array:
    return coordinate.astype(np.int64) if coordinate.dtype.kind in "iu" else np.floor(coordinate).astype(np.int64)


def _neighbours(coordinate: Array) -> tuple[Array, Array]:
    """The lower of the two elements with centres around the coordinate, and the weight of the upper one in 256
    steps."""
    shifted = coordinate.astype(np.float64) - 0.5
    low = np.floor(shifted)
    return low.astype(np.int64), _rounded((shifted - low) * _STEPS)


def _weights(shares: tuple[Array, ...]) -> list[tuple[tuple[int, ...], Array]]:
    """The weight of each neighbour, in steps that add up to 256, as observed on an H200: it divides first between
    planes, then between columns, then between rows; each time one part is rounded and the other is the rest."""
    if len(shares) == 1:
        return [((0,), _STEPS - shares[0]), ((1,), shares[0])]
    down, across = shares[-2:]
    planes = [((), np.float64(_STEPS))] if len(shares) == 2 else [((0,), _STEPS - shares[0]), ((1,), shares[0])]
    weights: list[tuple[tuple[int, ...], Array]] = []
    for plane, part in planes:
        right = _rounded(part * across / _STEPS)
        left = part - right
        low, top = _rounded(right * down / _STEPS), _rounded(left * (_STEPS - down) / _STEPS)
        weights += [((*plane, 0, 0), top), ((*plane, 0, 1), right - low)]
        weights += [((*plane, 1, 0), left - top), ((*plane, 1, 1), low)]
    return weights


def _rounded(value: Array) -> Array:
    """Rounded to integer steps, halves up."""
    return np.floor(value + 0.5)
