"""JPEG and BMP images. Headers are checked before any decoder runs.

imageio decodes images that it leaves as stored: 8 bits per channel without a palette. OpenCV decodes palettes, and
images so large that imageio's reader refuses them. Pillow decodes CMYK, imagecodecs JPEG of 12 bits.
"""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from gpu_ops.errors import InputError
from gpu_ops.input_kinds import IMAGE_CHANNELS
from gpu_ops.io.codec import any_size, codec
from gpu_ops.io.images import stored
from gpu_ops.io.images.orientation import find_orientation, turn_upright
from gpu_ops.io.inputs import Array, check_limit
from gpu_ops.io.opening import Decoded, Opening
from gpu_ops.io.pieces import read_whole
from gpu_ops.progress import advance

# The markers that start a JPEG frame and contain its size: C0 to CF except tables (C4), extension (C8), arithmetic
# (CC).
JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
IMAGEIO_PIXELS = 1 << 26
"""imageio's reader refuses more pixels as an attack; the limit on values is checked before."""
JPEG_APP1, JPEG_APP14, JPEG_SCAN = 0xE1, 0xEE, 0xDA
JPEG_END = b"\xff\xd9"
JPEG_BARE = (b"\xff\x01", b"\xff\xd8")
JPEG_HUFFMAN = (0xC0, 0xC1, 0xC2)
JPEG_BITS = 8
"""The bits per sample that every decoder supports."""
JPEG_PIXELS = 1024
"""The maximum number of pixels per byte of a Huffman-coded JPEG: a bit for each block of 64 samples, and one
sample for every two pixels where the colours are stored as coarsely as possible."""
JPEG_NOTES = (*range(0xE1, 0xEE), 0xEF, 0xFE)
"""Segments that are not part of the picture: comments, and application data except two kinds that define the
colours."""
EXIF, ADOBE = b"Exif\0\0", b"Adobe"
JPEG_MARKER = re.compile(rb"\xff[\x01-\xcf\xd8-\xfe]")
"""Inside compressed data 0xFF is followed by 0 or a restart marker (D0 to D7); any number of 0xFF may precede it."""


def read_jpeg(opening: Opening) -> Decoded:
    """(H, W) or (H, W, 3) as uint8, or as uint16 where the file has more than 8 bits per sample, such as 0 to 4095 of
    12 bits; rotated upright if the file has an orientation; CMYK becomes RGB."""
    path, name, limit, _ = opening
    data = read_whole(path)
    frame, huffman, exif, adobe, rest = b"", False, b"", False, 0
    picture = [data[:2]]
    for marker, start, end in _jpeg_segments(data, name):
        if marker in JPEG_FRAMES and not frame:
            frame, huffman = data[start:end], marker in JPEG_HUFFMAN
        elif marker == JPEG_APP1 and data.startswith(EXIF, start) and not exif:
            exif = data[start + len(EXIF) : end]
        adobe = adobe or (marker == JPEG_APP14 and data.startswith(ADOBE, start))
        if marker == JPEG_SCAN:
            rest = rest or start - 4
        elif not rest and marker not in JPEG_NOTES:
            picture.append(data[start - 4 : end])
    if len(frame) < 6 or not rest:
        raise damaged(name, "JPEG")
    height, width, channels = struct.unpack_from(">HHB", frame, 1)
    check_limit(name, height * width * (1 if channels == 1 else 3), limit)
    # Inside compressed data a marker cannot occur by chance, so the last scan must be followed by the end marker.
    if data.rfind(JPEG_END) < data.rfind(b"\xff\xda"):
        raise InputError(f"{name} is cut short: its end is missing; copy or save it again.")
    check_dense(data, name, width, height, height * width // JPEG_PIXELS if huffman else 0)
    plain = channels in (1, 3) and height * width <= IMAGEIO_PIXELS
    image = b"".join((*picture, data[rest:]))
    orientation = find_orientation(exif)
    if frame[0] > JPEG_BITS:
        return upright(_decode_deep(image, name, (height, width), channels, frame[0]), orientation)
    if channels == 4:
        return upright(_decode_inks(image, name, (height, width), adobe), orientation, [stored.CMYK])
    return upright(decode(image, name, "JPEG", (height, width), plain), orientation)


def _jpeg_segments(data: bytes, name: str) -> Iterator[tuple[int, int, int]]:
    """(marker, start, end) of each segment's content. After the frame, compressed data may occur between segments."""
    place, after_frame = 2, False
    while True:
        advance(place, len(data))
        match = JPEG_MARKER.search(data, place)
        if match is None or match[0] == JPEG_END or match.end() + 2 > len(data):
            return
        if not after_frame and data[place : match.start()].strip(b"\xff"):
            raise damaged(name, "JPEG")
        marker, place = match[0][1], match.end()
        after_frame = after_frame or marker in JPEG_FRAMES
        if match[0] not in JPEG_BARE:
            length = int(struct.unpack_from(">H", data, place)[0])
            if length < 2:  # the length includes itself
                raise damaged(name, "JPEG")
            end = place + length
            yield marker, place + 2, end
            place = end


def read_bmp(opening: Opening) -> Decoded:
    """(H, W), (H, W, 3) or (H, W, 4) as uint8; a palette of grays gives (H, W)."""
    path, name, limit, _ = opening
    data = read_whole(path)
    try:
        (header,) = struct.unpack_from("<I", data, 14)
        old = header == 12
        width, height, _, bits = struct.unpack_from("<HHHH" if old else "<iiHH", data, 18)
    except struct.error:
        raise InputError(f"{name} is cut short: its header is incomplete; copy or save it again.") from None
    height = abs(height)  # with a negative height the rows begin at the top
    if width < 1 or height < 1:
        raise damaged(name, "BMP")
    channels = 4 if bits == 32 else 3
    if bits <= 8:
        step = 3 if old else 4
        palette = np.frombuffer(data[14 + header : 14 + header + step * 2**bits], np.uint8)
        palette = palette[: palette.size // step * step].reshape(-1, step)[:, :3]
        channels = 1 if bool((palette == palette[:, :1]).all()) else 3
    check_limit(name, width * height * channels, limit)
    array = decode(data, name, "BMP", (height, width), bits == 24 and width * height <= IMAGEIO_PIXELS)
    return Decoded(array, steps=(stored.PALETTE,) if bits <= 8 else ())


def check_dense(data: bytes, name: str, width: int, height: int, least: int) -> None:
    """Raises InputError below `least` bytes: decoders fill the missing part with black or gray and raise no error."""
    if len(data) < least:
        words = f"{len(data):,} bytes cannot hold {width} × {height} pixels"
        raise InputError(f"{name} is cut short: {words}; copy or save it again.")


def upright(array: Array, orientation: int, steps: list[dict[str, Any]] | None = None) -> Decoded:
    """The picture rotated upright, after other steps from the stored values to it."""
    turned = [] if orientation == 1 else [{"step": "upright", "orientation": orientation}]
    return Decoded(turn_upright(array, orientation), steps=(*(steps or ()), *turned))


def _decode_deep(data: bytes, name: str, shape: tuple[int, int], channels: int, bits: int) -> Array:
    """A JPEG of more than 8 bits per sample, decoded by imagecodecs. Raises InputError where that is missing."""
    failure = damaged(name, "JPEG")
    if channels not in (1, 3):
        raise InputError(f"{name} holds {channels} samples of {bits} bits per pixel; save it as gray or RGB.")
    try:
        with codec(failure):
            from imagecodecs import jpeg_decode

            array = np.asarray(jpeg_decode(data))
    except ImportError:
        raise InputError(
            f"{name} holds samples of {bits} bits, which needs the library imagecodecs; install the extra "
            "kernelscope[formats], or save it as PNG."
        ) from None
    if array.shape != (shape if channels == 1 else (*shape, 3)) or array.dtype != np.uint16:
        raise failure
    return array


def _decode_inks(data: bytes, name: str, shape: tuple[int, int], adobe: bool) -> Array:
    """RGB of a JPEG in CMYK. Files with Adobe's marker store inverted values, and Pillow treats every file as one of
    these."""
    failure = damaged(name, "JPEG")
    with codec(failure), any_size():
        from PIL import Image

        image = Image.open(io.BytesIO(data), formats=["JPEG"])
        inks = np.asarray(image, np.uint8) if image.mode == "CMYK" else np.empty(0, np.uint8)
    if inks.shape != (*shape, 4):
        raise failure
    return stored.from_cmyk(inks if adobe else ~inks)


def decode(data: bytes, name: str, format: str, shape: tuple[int, int], plain: bool) -> Array:
    """Decode with imageio where it leaves the image as stored (`plain`), otherwise with OpenCV. Raises InputError
    unless the result has the (H, W) of the file's header."""
    failure = damaged(name, format)
    with codec(failure):
        array = _decode_imageio(data, format) if plain else _decode_opencv(data)
    if array is None or array.shape[:2] != shape or array.shape[2:] not in ((), *((c,) for c in IMAGE_CHANNELS)):
        raise failure
    return array


def _decode_imageio(data: bytes, format: str) -> Array:
    import imageio.v3 as imageio

    return np.asarray(imageio.imread(data, extension=f".{format.lower()}"))


def _decode_opencv(data: bytes) -> Array | None:
    import cv2

    array = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    return None if array is None else swap_channels(array)


def swap_channels(array: Array, out: Array | None = None) -> Array:
    """Blue, green, red to red, green, blue or vice versa; alpha stays last. Gray stays unchanged. `out` may be the
    array."""
    import cv2

    if array.ndim == 2 or array.shape[2] == 1:
        return array
    return cv2.cvtColor(array, cv2.COLOR_BGR2RGB if array.shape[2] == 3 else cv2.COLOR_BGRA2RGBA, out)


def damaged(name: str, format: str) -> InputError:
    return InputError(f"{name} is a damaged {format} file; copy or save it again.")
