"""GIF and WebP: pictures of one frame or many, which Pillow decodes one after the other. Headers come before it."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gpu_ops import input_kinds
from gpu_ops.errors import InputError
from gpu_ops.io.codec import any_size, codec
from gpu_ops.io.images import stored
from gpu_ops.io.images.frame_axes import of_series
from gpu_ops.io.images.jpeg_bmp import EXIF, damaged
from gpu_ops.io.images.orientation import find_orientation, turn_upright
from gpu_ops.io.inputs import Array, check_limit
from gpu_ops.io.opening import Decoded, Opening, Survey
from gpu_ops.io.pieces import read_whole
from gpu_ops.io.stacks import decode_stack
from gpu_ops.progress import advance
from gpu_ops.types import Facts

GIF_MAGICS = (b"GIF87a", b"GIF89a")
GROWTH = 4096
"""The maximum number of pixels per byte of a GIF: a code of at least nine bits names a string in a table of 4096, whose
longest string has fewer pixels than that."""
SMALL = 1 << 24
"""Pixels that are decoded whatever the file's size: it takes little time."""
IMAGE, EXTENSION, CONTROL, END, FILLER = 0x2C, 0x21, 0xF9, 0x3B, 0x00
TABLE = 0x80
TRANSPARENT = 1
CLEARS = 2
"""Disposal methods from this number on: after the frame an earlier picture, or the empty one, is restored."""


def read_gif(opening: Opening) -> Decoded:
    """(H, W) where all colours of the palettes are gray, else (H, W, 3), or (H, W, 4) with transparency, as uint8."""
    return decode_stack(open_gif(opening), opening)


def look_gif(opening: Opening) -> Survey:
    return _look("a GIF image", open_gif(opening))


def read_webp(opening: Opening) -> Decoded:
    """(H, W, 3) or, with transparency, (H, W, 4) as uint8. Rotated upright if the file has an orientation."""
    return decode_stack(open_webp(opening), opening)


def look_webp(opening: Opening) -> Survey:
    return _look("a WebP image", open_webp(opening))


def _look(title: str, stack: PillowStack) -> Survey:
    facts = [("size", f"{input_kinds.IMAGE.size_text(stack.shape, ' × ')}, {stack.dtype}")]
    if stack.facts.frames > 1:
        facts.append(("frames", f"{stack.facts.frames}"))
    return Survey(title, tuple(facts), stack.facts.frames)


def open_gif(opening: Opening) -> PillowStack:
    """The frames of a GIF as they are shown, each drawn over the previous ones. Raises InputError for a damaged file,
    OSError."""
    path, name, limit, _ = opening
    data = read_whole(path)
    gif = _scan_gif(data, name)
    channels = 4 if gif.alpha else 1 if gif.gray else 3
    check_limit(name, gif.width * gif.height * channels, limit)
    _check_dense(data, gif.width * gif.height, name)
    form = _Form((gif.height, gif.width), channels, gif.frames, (stored.PALETTE,))
    return PillowStack(data, "GIF", form, name)


def open_webp(opening: Opening) -> PillowStack:
    """The frames of a WebP. Raises InputError for a damaged file, OSError."""
    from PIL import Image

    path, name, limit, _ = opening
    data = read_whole(path)
    missing = 8 + int.from_bytes(data[4:8], "little") - len(data)
    if missing > 0:
        raise InputError(f"{name} is cut short: {missing:,} bytes are missing; copy or save it again.")
    with codec(damaged(name, "WebP")), any_size(), Image.open(io.BytesIO(data), formats=["WEBP"]) as image:
        (width, height), alpha, frames = image.size, image.mode == "RGBA", int(getattr(image, "n_frames", 1))
        exif = image.info.get("exif", b"")
    orientation = find_orientation(exif.removeprefix(EXIF))
    check_limit(name, width * height * (4 if alpha else 3), limit)
    _check_dense(data, width * height, name)
    steps = ({"step": "upright", "orientation": orientation},) if orientation > 1 else ()
    return PillowStack(data, "WebP", _Form((height, width), 4 if alpha else 3, frames, steps, orientation), name)


def _check_dense(data: bytes, pixels: int, name: str) -> None:
    """Raises InputError for a picture with too many pixels for its bytes, which must be damaged: decoders would
    allocate it first."""
    if pixels > max(SMALL, len(data) * GROWTH):
        words = f"{len(data):,} bytes cannot hold {pixels:,} pixels"
        raise InputError(f"{name} is cut short: {words}; copy or save it again.")


@dataclass(frozen=True)
class _Form:
    """The facts of a header: (H, W) as stored, channels of the result, frames."""

    size: tuple[int, int]
    channels: int
    frames: int
    steps: tuple[dict[str, Any], ...] = ()
    orientation: int = 1


class PillowStack:
    """The frames of a picture in memory. Each one depends on the previous ones, so a step back decodes from the
    start."""

    def __init__(self, data: bytes, format: str, form: _Form, name: str) -> None:
        self._data, self._format, self._form = data, format, form
        self._damaged = damaged(name, format)
        self._image: Any = None
        self.steps = form.steps
        self.facts = Facts(form.frames, frame_axes=of_series([("T", form.frames)], form.frames, (0.0, 0.0)))
        self.dtype = np.dtype(np.uint8)
        height, width = form.size if form.orientation < 5 else form.size[::-1]
        self.shape = (height, width, *((form.channels,) if form.channels > 1 else ()))

    def read(self, frame: int) -> Array:
        """One frame as `shape` in uint8."""
        mode = "RGBA" if self._form.channels == 4 else "RGB"
        with self._decoding():
            if self._image is None or frame < self._image.tell():
                self._image = self._open()
            start = self._image.tell()
        for next in range(start, frame):
            if next > start:
                advance(next - start, frame - start)
            with self._decoding():
                self._image.seek(next + 1)
                self._image.load()
        with self._decoding():
            found = np.array(self._image.convert(mode))
        if found.shape[:2] != self._form.size:
            raise self._damaged
        found = found[..., 0] if self._form.channels == 1 else found
        return np.ascontiguousarray(turn_upright(found, self._form.orientation))

    def _open(self) -> Any:
        from PIL import Image

        return Image.open(io.BytesIO(self._data), formats=[self._format])

    @contextmanager
    def _decoding(self) -> Iterator[None]:
        with codec(self._damaged), any_size():
            yield


class _Gif(NamedTuple):
    width: int
    height: int
    frames: int
    gray: bool
    alpha: bool


def _scan_gif(data: bytes, name: str) -> _Gif:
    """The parts of a GIF. Raises InputError for a missing end, and for frames with too little data."""
    if len(data) < 13:
        raise _cut(name)
    width, height, flags = struct.unpack_from("<HHB", data, 6)
    gray, place = _table(data, 13, flags)
    frames, transparent, clears, first_transparent, flagged = 0, False, False, False, False
    while True:
        advance(place, len(data))
        if place >= len(data):
            raise _cut(name)
        kind, place = data[place], place + 1
        if kind == END:
            break
        if kind == EXTENSION:
            if data[place : place + 2] == bytes((CONTROL, 4)) and place + 3 <= len(data):
                flags = data[place + 2]
                flagged = bool(flags & TRANSPARENT)
                transparent, clears = transparent or flagged, clears or flags >> 2 & 7 >= CLEARS
            place = _skip(data, place + 1, name)
        elif kind == IMAGE:
            if place + 10 > len(data):
                raise _cut(name)
            left, top, wide, high, flags = struct.unpack_from("<HHHHB", data, place)
            table_gray, begin = _table(data, place + 9, flags)
            place = _skip(data, begin + 1, name)
            if not (wide and high and left + wide <= width and top + high <= height):
                raise damaged(name, "GIF")
            if wide * high > (place - begin) * GROWTH:
                raise _cut(name)
            gray, first_transparent = gray and table_gray, first_transparent or (not frames and flagged)
            frames, flagged = frames + 1, False
        elif kind != FILLER:
            raise damaged(name, "GIF")
    if not frames:
        raise damaged(name, "GIF")
    return _Gif(width, height, frames, gray, first_transparent or (transparent and clears))


def _table(data: bytes, place: int, flags: int) -> tuple[bool, int]:
    """Whether all colours of a palette are gray (true without a palette), and the offset after it."""
    if not flags & TABLE:
        return True, place
    end = place + 3 * 2 ** ((flags & 7) + 1)
    colours = np.frombuffer(data[place:end], np.uint8)
    return stored.is_gray(colours[: colours.size // 3 * 3].reshape(-1, 3)), end


def _skip(data: bytes, place: int, name: str) -> int:
    """The offset after a series of blocks; each starts with its length, and the last has length 0."""
    while place < len(data):
        length = data[place]
        place += 1 + length
        if not length:
            return place
    raise _cut(name)


def _cut(name: str) -> InputError:
    return InputError(f"{name} is cut short: its end is missing; copy or save it again.")
