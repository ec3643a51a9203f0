"""PNG, JPEG and BMP images, every bit depth kept. Headers and checksums are checked before anything is decoded.

imageio decodes what it keeps as stored: 8 bits a channel without a palette. OpenCV decodes the rest: 16-bit colour,
palettes, transparent colours, and images so large that imageio's reader refuses them.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from gpu_ops.errors import InputError
from gpu_ops.io.inputs import IMAGE_CHANNELS, Array, check_limit
from gpu_ops.io.pieces import read_whole
from gpu_ops.progress import finite

PNG_MAGIC = b"\x89PNG\r\n\x1a\n"
# Channels by the header's colour type: gray, RGB, palette, gray with alpha (read as RGBA), RGBA.
PNG_CHANNELS = {0: 1, 2: 3, 3: 3, 4: 4, 6: 4}
PNG_PLAIN = (0, 2, 6)
# The markers that start a JPEG frame and hold its size: C0 to CF but for tables (C4), extension (C8), arithmetic (CC).
JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
IMAGEIO_PIXELS = 1 << 26
"""More pixels than this may be taken for an attack by imageio's reader; the limit on samples was checked before."""
JPEG_BARE = frozenset((0x01, *range(0xD0, 0xD9)))


def read_png(path: Path, name: str, limit: int) -> Array:
    """(H, W), (H, W, 3) or (H, W, 4) as uint8, or uint16 for 16-bit files; gray with alpha becomes RGBA."""
    data = read_whole(path)
    chunks = dict(_png_chunks(data, name))
    header = chunks.get(b"IHDR", b"")
    if len(header) != 13 or header[9] not in PNG_CHANNELS:
        raise _damaged(name, "PNG")
    width, height = struct.unpack(">II", header[:8])
    channels = PNG_CHANNELS[header[9]]
    if b"tRNS" in chunks and channels == 3:
        channels = 4
    check_limit(name, width * height * channels, limit)
    plain = header[8] == 8 and header[9] in PNG_PLAIN and b"tRNS" not in chunks
    return _decode(data, name, "PNG", plain and width * height <= IMAGEIO_PIXELS)


def _png_chunks(data: bytes, name: str) -> Iterator[tuple[bytes, bytes]]:
    """(type, content) of each chunk; its checksum finds every flipped bit and its length every missing byte."""
    place, kind = len(PNG_MAGIC), b""
    while kind != b"IEND":
        if place + 12 > len(data):
            raise InputError(f"{name} is cut short: its last part is missing; copy or save it again.")
        length, kind = struct.unpack_from(">I4s", data, place)
        end = place + 8 + length
        if end + 4 > len(data):
            raise InputError(f"{name} is cut short: {end + 4 - len(data)} bytes are missing; copy or save it again.")
        if zlib.crc32(memoryview(data)[place + 4 : end]) != struct.unpack_from(">I", data, end)[0]:
            raise _damaged(name, "PNG")
        yield kind, b"" if kind == b"IDAT" else data[place + 8 : end]
        place = end + 4


def read_jpeg(path: Path, name: str, limit: int) -> Array:
    """(H, W) or (H, W, 3) as uint8, as stored: a rotation noted in the file is not applied."""
    data = read_whole(path)
    try:
        height, width, channels = _jpeg_size(data)
    except (IndexError, struct.error, ValueError):
        raise _damaged(name, "JPEG") from None
    check_limit(name, height * width * (1 if channels == 1 else 3), limit)
    # Inside compressed data a marker cannot occur by chance, so the last scan must be followed by the end marker.
    if data.rfind(b"\xff\xd9") < data.rfind(b"\xff\xda"):
        raise InputError(f"{name} is cut short: its end is missing; copy or save it again.")
    return _decode(data, name, "JPEG", channels in (1, 3) and height * width <= IMAGEIO_PIXELS)


def _jpeg_size(data: bytes) -> tuple[int, int, int]:
    place = 2
    while True:
        if data[place] != 0xFF:
            raise ValueError
        marker = data[place + 1]
        if marker in JPEG_FRAMES:
            height, width, channels = struct.unpack_from(">HHB", data, place + 5)
            return height, width, channels
        if marker == 0xFF:
            place += 1
        elif marker in JPEG_BARE:
            place += 2
        else:
            place += 2 + int(struct.unpack_from(">H", data, place + 2)[0])


def read_bmp(path: Path, name: str, limit: int) -> Array:
    """(H, W), (H, W, 3) or (H, W, 4) as uint8; a palette of grays gives (H, W)."""
    data = read_whole(path)
    try:
        (header,) = struct.unpack_from("<I", data, 14)
        old = header == 12
        width, height, _, bits = struct.unpack_from("<HHHH" if old else "<iiHH", data, 18)
    except struct.error:
        raise InputError(f"{name} is cut short: its header is incomplete; copy or save it again.") from None
    channels = 4 if bits == 32 else 3
    if bits <= 8:
        step = 3 if old else 4
        palette = np.frombuffer(data[14 + header : 14 + header + step * 2**bits], np.uint8)
        palette = palette[: palette.size // step * step].reshape(-1, step)[:, :3]
        channels = 1 if bool((palette == palette[:, :1]).all()) else 3
    check_limit(name, abs(width * height) * channels, limit)
    return _decode(data, name, "BMP", bits == 24 and abs(width * height) <= IMAGEIO_PIXELS)


def _decode(data: bytes, name: str, format: str, plain: bool) -> Array:
    """Decoded by imageio where it keeps the image as stored, which `plain` says, otherwise by OpenCV."""
    with finite():
        array = _decode_imageio(data, format) if plain else _decode_opencv(data)
    if array is None:
        raise _damaged(name, format)
    return array


def _decode_imageio(data: bytes, format: str) -> Array | None:
    import imageio.v3 as imageio

    try:
        return np.asarray(imageio.imread(data, extension=f".{format.lower()}"))
    except (OSError, ValueError, SyntaxError):  # what its readers raise for damaged files
        return None


def _decode_opencv(data: bytes) -> Array | None:
    import cv2

    log = cv2.utils.logging
    level = log.getLogLevel()
    log.setLogLevel(log.LOG_LEVEL_SILENT)
    try:
        array = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    except cv2.error:
        array = None
    finally:
        log.setLogLevel(level)
    return None if array is None else _swap_channels(array)


def _swap_channels(array: Array) -> Array:
    """Blue, green, red to red, green, blue or back; alpha stays last. Gray is left as it is."""
    import cv2

    if array.ndim == 2 or array.shape[2] == 1:
        return array
    return cv2.cvtColor(array, cv2.COLOR_BGR2RGB if array.shape[2] == 3 else cv2.COLOR_BGRA2RGBA)


def _damaged(name: str, format: str) -> InputError:
    return InputError(f"{name} is a damaged {format} file; copy it again or save it anew.")


def write_png(file: IO[bytes], array: Array, rate: float | None, name: str) -> None:
    """Writes (H, W), (H, W, 1), (H, W, 3) or (H, W, 4) of uint8 or uint16."""
    import cv2

    if array.dtype.name not in ("uint8", "uint16"):
        raise InputError(f"{name} cannot hold {array.dtype.name}; convert to uint8 or uint16, or save as .npy.")
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in IMAGE_CHANNELS):
        raise InputError(
            f"{name} cannot hold shape {array.shape}; a PNG is (H, W) or (H, W, C) with C = 1, 3 or 4: save as .npy."
        )
    try:
        with finite():
            done, encoded = cv2.imencode(".png", _swap_channels(np.ascontiguousarray(array)))
    except cv2.error:
        done = False
    if not done:
        raise InputError(f"{name} cannot be written as PNG at shape {array.shape}; save as .npy.")
    file.write(encoded.data)
