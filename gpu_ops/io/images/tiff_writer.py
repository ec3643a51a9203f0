"""Writes TIFF files with tifffile: uncompressed, with all pages contiguous, so that every reader can map them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import IO, Any

import numpy as np

from gpu_ops.errors import InputError
from gpu_ops.io.images.pixel_size import MILLIMETRES
from gpu_ops.io.inputs import Array
from gpu_ops.io.pieces import write_from
from gpu_ops.progress import advance
from gpu_ops.types import Pixel

TIFF_TYPES = (
    *("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"),
    *("float16", "float32", "float64"),
)
"""The types that tifffile reads back; OpenCV reads all except float16."""
CLASSIC = 2**32
"""Offsets of a classic TIFF have 4 bytes; a longer file is a BigTIFF."""
DIRECTORY = 512
"""The most bytes of the directory of a page, without the description."""
MOST = 2**32 - 1


def write_tiff(
    file: IO[bytes], array: Array, rate: float | None, name: str, pixel: Pixel | None = None, about: str = ""
) -> None:
    """Writes an image (H, W) or (H, W, C) with C = 1, 3 or 4, or a stack (D, H, W) or (D, H, W, C), of TIFF_TYPES.

    An array of three axes is an image where the last one has 1, 3 or 4 elements. `pixel` is the size of a pixel,
    `about` a description in words. Raises InputError for arrays that a TIFF cannot store.
    """
    image = array.ndim == 2 or (array.ndim == 3 and array.shape[2] in (1, 3, 4))
    frames = array[None] if image else array
    if frames.ndim not in (3, 4) or (frames.ndim == 4 and frames.shape[3] not in (1, 3, 4)) or 0 in frames.shape:
        raise InputError(
            f"{name} cannot hold shape {array.shape}; a TIFF is (H, W), (H, W, C), (D, H, W) or (D, H, W, C) with "
            "C = 1, 3 or 4: save as .npy."
        )
    writer = TiffWriter(file, frames.shape[1:], frames.dtype, len(frames), name, pixel, about)
    for frame in frames:
        writer.write_rows(frame)


class TiffWriter:
    """Writes `frames` frames of `shape`, (H, W) or (H, W, C), and `dtype` one after the other into a new file. Frames
    that are not written have the value 0. Raises InputError for a type that a TIFF cannot store, OSError."""

    def __init__(
        self,
        file: IO[bytes],
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        frames: int,
        name: str,
        pixel: Pixel | None = None,
        about: str = "",
    ) -> None:
        import tifffile

        if dtype.name not in TIFF_TYPES:
            raise InputError(f"{name} cannot hold {dtype.name}; convert to {', '.join(TIFF_TYPES)}, or save as .npy.")
        if max(shape[:2]) > MOST or len(shape) not in (2, 3):
            raise InputError(f"{name} cannot hold shape {shape}; save as .npy.")
        self._file, self._shape, self._dtype, self._frames = file, shape, dtype.newbyteorder("<"), frames
        self._done = self._rows = 0
        samples = shape[2] if len(shape) == 3 else 1
        words = about.replace("…", " to ").encode("ascii", "replace").replace(b"\0", b" ")
        length = frames * (math.prod(shape) * dtype.itemsize + DIRECTORY + len(words))
        with tifffile.TiffWriter(file, bigtiff=length >= CLASSIC, byteorder="<") as writer:
            place, _ = writer.write(  # only directories: the values follow later, and are never in memory together
                None,
                shape=(frames, *(shape if samples > 1 else shape[:2])),
                dtype=self._dtype,
                photometric="rgb" if samples in (3, 4) else "minisblack",
                planarconfig="contig" if samples > 1 else None,
                rowsperstrip=shape[0],
                resolution=resolution(pixel),
                resolutionunit=None if resolution(pixel) is None else "centimeter",
                extratags=[(270, 2, len(words) + 1, words + b"\0", False)] if words else (),  # the description: on all
                software=False,
                metadata=None,
                returnoffset=True,
            )
        file.seek(place)

    def write_rows(self, rows: Array) -> None:
        """Write the next rows of the present frame, at most as many as it still lacks."""
        if rows.shape[1:] != self._shape[1:] or self._rows + len(rows) > self._shape[0] or self._done >= self._frames:
            raise ValueError(f"rows of {rows.shape} do not go on with {self._rows} rows of {self._shape}")
        if not self._rows:
            advance(self._done, self._frames)
        write_from(self._file, np.ascontiguousarray(rows, self._dtype).reshape(-1).view(np.uint8))
        self._rows += len(rows)
        if self._rows == self._shape[0]:
            self._rows, self._done = 0, self._done + 1


def resolution(pixel: Pixel | None) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Pixels per centimetre along x and y as fractions of 32-bit integers; None where they do not fit. tifffile's
    own fractions are exact to six digits only in some of its versions."""
    scale = MILLIMETRES.get(pixel.unit) if pixel else None
    if pixel is None or scale is None or not all(1 / MOST < side * scale / 10 < MOST for side in (pixel.y, pixel.x)):
        return None
    exact = [Fraction(10) / (Fraction(repr(side)) * Fraction(repr(scale))) for side in (pixel.x, pixel.y)]
    x, y = (one.limit_denominator(max(1, min(MOST, int(MOST / one)))) for one in exact)
    return (x.numerator, x.denominator), (y.numerator, y.denominator)
