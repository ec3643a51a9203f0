"""How kernels read and write images: textures and surfaces, the same for every device."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from gpu_ops.errors import KernelError, plain

BORDERS = ("clamp", "border", "wrap", "mirror")
CELLS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "float32")
OPTIONS = (*BORDERS, "point", "linear", "normalized", "fraction", "layered", "cube", "vector", "memory")


@dataclass(frozen=True)
class Handle:
    """An address on the device as a launch argument, such as that of a function."""

    pointer: int


@dataclass(frozen=True)
class Sampling:
    """A texture or a `surface` over an array (N,), (H, W) or (D, H, W): `layered` puts a first axis of layers before,
    `vector` a last one of 1, 2 or 4 channels after. Beyond the edges: the edge (clamp), zero (border), the image again
    (wrap) or its mirror image. `linear` interpolates floats with weights of 8 bits. Coordinates count elements, or from
    0 to 1 if `normalized`; `fraction` reads integers as fractions of the largest. A texture of `memory` is over the
    array itself, without a copy: of a 1D array by tex1Dfetch. The layers of a `cube` are its faces +x, -x, +y, -y, +z
    and -z."""

    border: str = "clamp"
    linear: bool = False
    normalized: bool = False
    fraction: bool = False
    layered: bool = False
    vector: bool = False
    memory: bool = False
    surface: bool = False
    cube: bool = False

    def extents(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The extents of a layer: (N,), (H, W) or (D, H, W)."""
        return tuple(shape[int(self.layered) : len(shape) - int(self.vector)])

    def layers(self, shape: Sequence[int]) -> int:
        return shape[0] if self.layered else 1

    def channels(self, shape: Sequence[int]) -> int:
        return shape[-1] if self.vector else 1

    def check(self, shape: Sequence[int], dtype: Any) -> None:
        """Raises KernelError for an array that it cannot be over."""
        extents = self.extents(shape)
        kind, size = "surface" if self.surface else "texture", " x ".join(map(str, shape))
        if dtype.name not in CELLS:
            raise KernelError(f"A {kind} has cells of {', '.join(CELLS)}, not of {dtype.name}.")
        if not 1 <= len(extents) <= (2 if self.layered or self.memory else 3):
            raise KernelError(
                f"A {kind} is 1D, 2D or 3D, and 1D or 2D in layers or over memory; the array of {size} leaves "
                f"{len(extents)} axes."
            )
        if self.channels(shape) not in (1, 2, 4):
            raise KernelError(f"A {kind} of vectors has 1, 2 or 4 channels on its last axis, not {shape[-1]}.")
        if self.cube and (self.layers(shape) != 6 or len(extents) != 2 or extents[0] != extents[1] or self.surface):
            raise KernelError(f"A cube map is a texture of 6 square faces, such as 6x64x64, not of {size}.")
        is_float = dtype.kind == "f"
        if self.linear and not (is_float or self.fraction):
            raise KernelError(f"Linear interpolation takes floats or fractions, not {dtype.name}; add fraction.")
        if self.fraction and (is_float or dtype.itemsize > 2):
            raise KernelError(f"Fractions are of integers of 8 or 16 bits, not of {dtype.name}; leave fraction out.")
        if self.border in ("wrap", "mirror") and not self.normalized:
            raise KernelError(f"The border {self.border} takes normalized coordinates; add normalized.")
        if self.memory and len(extents) == 1 and (self.linear or self.normalized or self.border != "clamp"):
            raise KernelError("A texture over 1D memory is read by whole indices; leave linear and borders out.")


def sampling_of(words: Sequence[str], surface: bool) -> Sampling:
    """The sampling with these of OPTIONS. Raises KernelError, which names them, for others."""
    for word in words:
        if word not in OPTIONS:
            raise KernelError(f"A texture has no option {word!r}; choose from {', '.join(OPTIONS)}.")
    border = next((w for w in words if w in BORDERS), "clamp")
    flags = {name: name in words for name in ("linear", "fraction", "vector", "memory", "cube")}
    flags |= {name: name in words or flags["cube"] for name in ("normalized", "layered")}
    return Sampling(border, surface=surface, **flags)


def no_variable(source: str, name: str, known: Iterable[str]) -> str:
    """The message for a __device__ variable that a program does not have."""
    names = ", ".join(known) or "none"
    return f"{source} has no __device__ variable {plain(name, 60)} that its kernels use (found: {names})."
