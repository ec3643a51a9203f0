"""PNG images at every bit depth. Their chunks and checksums are checked before any decoder runs.

Large plain images are decoded with libdeflate if that is loaded (`png_fast`). OpenCV decodes all others, large ones
directly into the memory that the caller provides.
"""

from __future__ import annotations

import math
import os
import struct
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from gpu_ops.errors import InputError
from gpu_ops.input_kinds import IMAGE_CHANNELS
from gpu_ops.io.codec import codec
from gpu_ops.io.images import pixel_size, png_fast, stored
from gpu_ops.io.images.jpeg_bmp import EXIF, check_dense, damaged, decode, swap_channels, upright
from gpu_ops.io.images.orientation import find_orientation
from gpu_ops.io.images.tiff_writer import TIFF_TYPES
from gpu_ops.io.inputs import Array, check_limit
from gpu_ops.io.memory import LARGE, empty
from gpu_ops.io.opening import Decoded, Opening
from gpu_ops.io.pieces import PIECE, read_whole
from gpu_ops.progress import advance
from gpu_ops.types import Facts, Pixel

MAGIC = b"\x89PNG\r\n\x1a\n"
HEADER_END = 33
"""The end of the header chunk, which is the first chunk."""
# Channels by the header's colour type: gray, RGB, palette, gray with alpha (read as RGBA), RGBA.
CHANNELS = {0: 1, 2: 3, 3: 3, 4: 4, 6: 4}
SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
GRAY, RGB, PALETTE, GRAY_ALPHA = 0, 2, 3, 4
DEFLATED = 1032
"""The maximum number of bytes per compressed byte of a PNG."""
NOTED = (b"IHDR", b"tRNS", b"eXIf", b"pHYs")
PICTURE = (b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND")
EVERY = 64
"""Chunks between two reports of progress."""
UNLIKELY = 16
"""This many random bytes do not occur in any picture."""


def read_png(opening: Opening) -> Decoded:
    """(H, W), (H, W, 3) or (H, W, 4) as uint8, or uint16 for 16-bit files; gray with alpha, or with a transparent gray,
    becomes RGBA. Rotated upright if the file has an orientation. Of an animation it reads the still picture."""
    return decode_png(read_whole(opening.path), opening.name, opening.limit, opening.path)


def decode_png(data: bytes, name: str, limit: int, path: Path | None = None) -> Decoded:
    """The picture of a PNG in memory, at most `limit` values; `path` is the file of a large one. Raises InputError."""
    png = _scan(data, name)
    width, height = struct.unpack(">II", png.header[:8])
    depth, colour = png.header[8:10]
    key = _transparent_gray(png.transparent, colour, depth)
    channels = 4 if key is not None or (png.transparent is not None and CHANNELS[colour] == 3) else CHANNELS[colour]
    check_limit(name, width * height * channels, limit)
    check_dense(data, name, width, height, height * width * depth * SAMPLES[colour] // 8 // DEFLATED)
    steps = [stored.PALETTE] if colour == PALETTE else [stored.GRAY_ALPHA] if colour == GRAY_ALPHA else []
    steps += [stored.stretch_step(depth)] if colour == GRAY and depth < 8 else []
    steps += [stored.GRAY_ALPHA] if key is not None else []
    shape = (height, width) if channels == 1 or key is not None else (height, width, channels)
    dtype = np.dtype(np.uint16 if depth == 16 else np.uint8)
    array = None
    if path is not None and math.prod(shape) * dtype.itemsize >= LARGE:
        array = _decode_large(path, name, data, png, shape, dtype)
    if array is None:
        image = data if png.whole else b"".join((MAGIC, *png.picture))
        array = decode(image, name, "PNG", (height, width), False)
    if key is not None:
        array = stored.from_gray_key(array, key)
    decoded, turned = upright(array, png.orientation, steps), png.orientation >= 5
    return decoded._replace(facts=Facts(pixel=pixel_size.png_pixel(png.pixel, turned)))


def _transparent_gray(chunk: bytes | None, colour: int, depth: int) -> int | None:
    """The gray value that a gray PNG declares transparent; None without one."""
    if chunk is None or colour != GRAY or len(chunk) != 2:
        return None
    most = (1 << depth) - 1
    value = int.from_bytes(chunk, "big") & most
    return value * (255 // most) if depth < 8 else value


class _Png(NamedTuple):
    """The parts of a PNG: its header, the contents of the chunks of transparency (None without one) and of the size of
    a pixel. `picture` has all chunks of the picture; `whole` says that the file has no others. Only these are decoded:
    notes and profiles take time and memory, and can be damaged."""

    header: bytes
    transparent: bytes | None
    orientation: int
    pixel: bytes
    picture: list[memoryview]
    whole: bool


def _scan(data: bytes, name: str) -> _Png:
    """The parts of a PNG. Raises InputError unless each chunk of the picture is there once, and in order."""
    seen: dict[bytes, bytes] = {}
    picture: list[memoryview] = []
    last = b""
    for kind, chunk in chunks(data, name):
        if kind == last == b"IDAT":  # most chunks by far
            picture.append(chunk)
            continue
        if kind in PICTURE:
            if kind in seen:
                raise damaged(name, "PNG")
            picture.append(chunk)
        elif kind[:1].isupper() or not kind.isalpha():  # an unknown critical chunk
            raise damaged(name, "PNG")
        if kind in (*NOTED, *PICTURE):
            seen[kind] = bytes(chunk[8:-4]) if kind in NOTED else b""
        last = kind
    header = seen.get(b"IHDR", b"")
    if len(header) != 13 or header[9] not in CHANNELS or b"IDAT" not in seen or bytes(picture[0][4:8]) != b"IHDR":
        raise damaged(name, "PNG")
    orientation = find_orientation(seen.get(b"eXIf", b"").removeprefix(EXIF))
    whole = len(MAGIC) + sum(map(len, picture)) == len(data)
    return _Png(header, seen.get(b"tRNS"), orientation, seen.get(b"pHYs", b""), picture, whole)


def chunks(data: bytes, name: str) -> Iterator[tuple[bytes, memoryview]]:
    """(type, whole chunk) one by one; checksums detect flipped bits, and lengths missing bytes."""
    view = memoryview(data)
    place, head, checksum = len(MAGIC), struct.Struct(">I4s"), zlib.crc32
    for number in count():
        if number % EVERY == 0:
            advance(place, len(data))
        if place + 12 > len(data):
            raise InputError(f"{name} is cut short: its last part is missing; copy or save it again.")
        length, kind = head.unpack_from(data, place)
        end = place + 12 + length
        if end > len(data):
            raise InputError(f"{name} is cut short: {end - len(data):,} bytes are missing; copy or save it again.")
        if checksum(view[place + 4 : end - 4]) != int.from_bytes(view[end - 4 : end], "big"):
            raise damaged(name, "PNG")
        yield kind, view[place:end]
        if kind == b"IEND":
            return
        place = end


def make_chunk(kind: bytes, *pieces: bytes | memoryview) -> bytes:
    """A complete chunk of this type with the content in pieces."""
    content = b"".join((kind, *pieces))
    return struct.pack(">I", len(content) - 4) + content + struct.pack(">I", zlib.crc32(content))


def _decode_large(
    path: Path, name: str, data: bytes, png: _Png, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Array | None:
    """The picture of a checked PNG, decoded into the memory that the caller provides. None where neither decoder can do
    so, and the usual decoder is needed. Raises InputError."""
    array = empty(shape, dtype)[0]
    if png_fast.decode(png.header, png.picture, array):
        return array
    if sys.platform != "linux":
        return None
    plain = png.header[9] == RGB and png.transparent is None
    with _as_file(path, None if png.whole else (MAGIC, *png.picture)) as source:
        return array if _decode_into(source, name, array, plain) else None


@contextmanager
def _as_file(path: Path, pieces: Iterable[bytes | memoryview] | None) -> Iterator[str]:
    """An ASCII name that every library can open: of the file itself, or of a new in-memory file with these pieces."""
    descriptor = os.open(path, os.O_RDONLY) if pieces is None else os.memfd_create("picture")
    try:
        if pieces is not None:
            with open(descriptor, "wb", PIECE, closefd=False) as file:
                file.writelines(pieces)
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)


def _decode_into(source: str, name: str, array: Array, plain: bool) -> bool:
    """Have OpenCV decode a PNG into an array; `plain` means RGB, which it can output in this order. False where the
    picture has another shape or type, or cannot be decoded."""
    import cv2

    how = cv2.IMREAD_COLOR_RGB | cv2.IMREAD_ANYDEPTH | cv2.IMREAD_IGNORE_ORIENTATION
    end = array.reshape(-1).view(np.uint8)[-UNLIKELY:]
    mark = np.frombuffer(os.urandom(UNLIKELY), np.uint8)
    end[:] = mark  # for a header that it cannot read, OpenCV reports nothing and leaves the array unchanged
    failure = damaged(name, "PNG")
    with codec(failure):
        found = cv2.imread(source, array, how if plain else cv2.IMREAD_UNCHANGED)
    if found is None:
        raise failure
    if found.ctypes.data != array.ctypes.data or found.shape != array.shape or bool((end == mark).all()):
        return False
    if not plain:
        with codec(failure):
            swap_channels(array, array)
    return True


def write_png(file: IO[bytes], array: Array, rate: float | None, name: str, pixel: Pixel | None = None) -> None:
    """Writes (H, W), (H, W, 1), (H, W, 3) or (H, W, 4) of uint8 or uint16, with the size of a `pixel`."""
    import cv2

    if array.dtype.name not in ("uint8", "uint16"):
        others = ".tif or .npy" if array.dtype.name in TIFF_TYPES else ".npy"
        raise InputError(f"{name} cannot hold {array.dtype.name}; convert to uint8 or uint16, or save as {others}.")
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in IMAGE_CHANNELS):
        raise InputError(
            f"{name} cannot hold shape {array.shape}; a PNG is (H, W) or (H, W, C) with C = 1, 3 or 4: save as .npy."
        )
    failure = InputError(f"{name} cannot be written as PNG at shape {array.shape}; save as .npy.")
    with codec(failure):
        success, encoded = cv2.imencode(".png", swap_channels(np.ascontiguousarray(array)))
    if not success:
        raise failure
    size = pixel_size.png_size(pixel)
    file.write(encoded.data[:HEADER_END])
    if size:
        file.write(make_chunk(b"pHYs", size))
    file.write(encoded.data[HEADER_END:])
