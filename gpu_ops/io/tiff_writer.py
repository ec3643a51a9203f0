"""Writes TIFF files: uncompressed, one strip a page, so that every reader can map them."""

from __future__ import annotations

import math
import struct
from fractions import Fraction
from typing import IO, Any

import numpy as np

from gpu_ops.errors import InputError
from gpu_ops.io.inputs import Array
from gpu_ops.io.pieces import write_from
from gpu_ops.io.pixel_size import MILLIMETRES
from gpu_ops.progress import advance
from gpu_ops.types import Pixel

TIFF_TYPES = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "float64")
SHORT, LONG, RATIONAL, LONG8, ASCII = 3, 4, 5, 16, 2
SIZES = {SHORT: 2, LONG: 4, RATIONAL: 8, LONG8: 8, ASCII: 1}
CODES = {SHORT: "H", LONG: "I", RATIONAL: "I", LONG8: "Q"}
FORMATS = {"u": 1, "i": 2, "f": 3}
GRAY, RGB, OPACITY, NONE, CENTIMETRE = 1, 2, 2, 1, 3
CLASSIC = 2**32
"""Offsets of a classic TIFF have 4 bytes; a longer file is a BigTIFF."""
MOST = 2**32 - 1
FIRST = 16
"""Where the first directory begins."""
Entry = tuple[int, int, tuple[int, ...] | bytes]


def write_tiff(
    file: IO[bytes], array: Array, rate: float | None, name: str, pixel: Pixel | None = None, about: str = ""
) -> None:
    """Writes an image (H, W) or (H, W, C) with C = 1, 3 or 4, or a stack (D, H, W) or (D, H, W, C), of TIFF_TYPES.

    An array of three axes is an image where the last one has 1, 3 or 4 elements. `pixel` is the size of a pixel,
    `about` a description in words. Raises InputError for what a TIFF cannot hold.
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
        writer.write(frame)


class TiffWriter:
    """Writes `frames` frames of `shape`, (H, W) or (H, W, C), and `dtype` one after the other. A file whose writer got
    fewer frames is no TIFF. Raises InputError for a type that a TIFF cannot hold, OSError."""

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
        if dtype.name not in TIFF_TYPES:
            raise InputError(f"{name} cannot hold {dtype.name}; convert to {', '.join(TIFF_TYPES)}, or save as .npy.")
        if max(shape[:2]) > MOST or len(shape) not in (2, 3):
            raise InputError(f"{name} cannot hold shape {shape}; save as .npy.")
        self._file, self._shape, self._dtype, self._frames = file, shape, dtype.newbyteorder("<"), frames
        self._about = (
            about.replace("…", " to ").encode("ascii", "replace").replace(b"\0", b" ") + b"\0" if about else b""
        )
        self._ratios = _ratios(pixel)
        self._bytes = math.prod(shape) * dtype.itemsize
        self._gap = -self._bytes % 8
        self._big = False
        self._big = FIRST + frames * (len(self._directory(0, 0, 0)) + self._bytes + self._gap) >= CLASSIC
        self._head = len(self._directory(0, 0, 0))
        self._done = self._rows = 0
        header = ("<2sHHHQ", b"II", 43, 8, 0, FIRST) if self._big else ("<2sHI8x", b"II", 42, FIRST)
        file.write(struct.pack(*header))

    def write(self, frame: Array) -> None:
        """The next frame."""
        if frame.shape != self._shape or self._done >= self._frames:
            raise ValueError(f"a frame of {frame.shape} is not one of {self._frames} of {self._shape}")
        self.write_rows(frame)

    def write_rows(self, rows: Array) -> None:
        """The next rows of the present frame, as many as it still lacks at most."""
        if rows.shape[1:] != self._shape[1:] or self._rows + len(rows) > self._shape[0] or self._done >= self._frames:
            raise ValueError(f"rows of {rows.shape} do not go on with {self._rows} rows of {self._shape}")
        if not self._rows:
            each = self._head + self._bytes + self._gap
            start = FIRST + self._done * each
            last = self._done == self._frames - 1
            advance(self._done, self._frames)
            self._file.write(self._directory(start, start + self._head, 0 if last else start + each))
        write_from(self._file, np.ascontiguousarray(rows, self._dtype).reshape(-1).view(np.uint8))
        self._rows += len(rows)
        if self._rows == self._shape[0]:
            self._file.write(bytes(self._gap))
            self._rows, self._done = 0, self._done + 1

    def _entries(self, data: int) -> list[Entry]:
        """Tags in ascending order: number, type, values."""
        samples = self._shape[2] if len(self._shape) == 3 else 1
        offset = LONG8 if self._big else LONG
        entries: list[Entry] = [
            (256, LONG, (self._shape[1],)),
            (257, LONG, (self._shape[0],)),
            (258, SHORT, (self._dtype.itemsize * 8,) * samples),
            (259, SHORT, (NONE,)),
            (262, SHORT, (RGB if samples > 1 else GRAY,)),
            (273, offset, (data,)),
            (277, SHORT, (samples,)),
            (278, LONG, (self._shape[0],)),
            (279, offset, (self._bytes,)),
            (339, SHORT, (FORMATS[self._dtype.kind],) * samples),
        ]
        if self._about:
            entries.append((270, ASCII, self._about))
        if samples == 4:
            entries.append((338, SHORT, (OPACITY,)))
        if self._ratios:
            entries += [(282, RATIONAL, self._ratios[1]), (283, RATIONAL, self._ratios[0]), (296, SHORT, (CENTIMETRE,))]
        return sorted(entries, key=lambda entry: entry[0])

    def _directory(self, start: int, data: int, next: int) -> bytes:
        """The directory of a page that begins at `start`, with the values that do not fit into its entries."""
        entries = self._entries(data)
        count, width, entry = ("<Q", 8, "<HHQ") if self._big else ("<H", 4, "<HHI")
        head = struct.pack(count, len(entries))
        place = start + len(head) + len(entries) * (4 + 2 * width) + width
        place += -place % 8
        rest = b""
        for tag, type, values in entries:
            packed = values if isinstance(values, bytes) else struct.pack(f"<{len(values)}{CODES[type]}", *values)
            head += struct.pack(entry, tag, type, len(packed) // SIZES[type])
            if len(packed) > width:
                head += (place + len(rest)).to_bytes(width, "little")
                rest += packed + bytes(-len(packed) % 8)
            else:
                head += packed.ljust(width, b"\0")
        head += next.to_bytes(width, "little")
        return head + bytes(-len(head) % 8) + rest


def _ratios(pixel: Pixel | None) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Pixels a centimetre along y and x as fractions of 32-bit integers; None where a TIFF cannot say it."""
    scale = MILLIMETRES.get(pixel.unit) if pixel else None
    if pixel is None or scale is None:
        return None
    found = []
    for side in (pixel.y, pixel.x):
        if not 0 < side * scale < math.inf:
            return None
        exact = Fraction(10) / (Fraction(repr(side)) * Fraction(repr(scale)))
        near = exact.limit_denominator(max(1, min(MOST, int(MOST / exact)))) if exact <= MOST else Fraction(0)
        if not 0 < near.numerator <= MOST:
            return None
        found.append((near.numerator, near.denominator))
    return found[0], found[1]
