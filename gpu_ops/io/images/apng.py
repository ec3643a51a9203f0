"""Animated PNG: frames that are drawn over one another, by the PNG specification, third edition, sections 11.3 and 13.

Each frame is a rectangle with the header, the palette and the transparency of the whole file. It is decoded as a
separate PNG, so that every bit depth is decoded as in a single picture.

Pillow's compositing is not used: it keeps 8 of 16 bits, and ignores the opacity of the frame below: half transparent
pixels, and pixels over a cleared part, are wrong.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.errors import InputError, counted
from gpu_ops.input_kinds import IMAGE
from gpu_ops.io.images import png, stored
from gpu_ops.io.images.frame_axes import of_series
from gpu_ops.io.images.jpeg_bmp import EXIF, check_dense
from gpu_ops.io.images.orientation import find_orientation, turn_upright
from gpu_ops.io.images.pixel_size import png_pixel
from gpu_ops.io.inputs import Array, check_limit
from gpu_ops.io.known import kept_stack
from gpu_ops.io.opening import Decoded, Opening, Survey
from gpu_ops.io.pieces import read_whole
from gpu_ops.io.stacks import Stack, decode_stack, single
from gpu_ops.progress import advance
from gpu_ops.types import Facts

CONTROL, FRAME, DATA, PIXELS = b"acTL", b"fcTL", b"fdAT", b"IDAT"
CONTROL_BYTES = 8
KEEP, CLEAR, RESTORE = 0, 1, 2
"""The disposal of a frame's rectangle before the next frame is drawn."""
REPLACE, OVER = 0, 1
"""How a frame is drawn: its values replace the previous ones, or both are blended by their opacity."""
MOST_BEFORE = 1000
"""The most chunks before the picture that are searched for an animation."""


def read_png(opening: Opening) -> Decoded:
    """As png.read_png; of an animation one frame as it is shown, or a projection of all. If a frame leaves a part of
    the canvas empty, all frames have alpha."""
    stack = _open(opening)
    if stack is None and opening.choices.get("kind") == "stack":
        raise InputError(f"{opening.name} is a PNG image, which holds no stack; leave the kind out.")
    return decode_stack(single(png.read_png(opening)) if stack is None else stack, opening)


def look_png(opening: Opening) -> Survey:
    """Size and type, and for an animation its frames and whether the still picture is one of them."""
    stack = _open(opening)
    if stack is None:
        decoded = png.read_png(opening).array
        return Survey("a PNG image", (("size", f"{IMAGE.size_text(decoded.shape, ' × ')}, {decoded.dtype}"),))
    facts = [("size", f"{IMAGE.size_text(stack.shape, ' × ')}, {stack.dtype}"), ("frames", f"{stack.facts.frames}")]
    if stack.has_separate_still:
        facts.append(("still picture", "separate from the frames; it is not read"))
    return Survey("a PNG image", tuple(facts), stack.facts.frames)


def _open(opening: Opening) -> ApngStack | None:
    """The frames of a PNG, None if it is not an animation. Raises InputError for a damaged one, OSError."""
    if not _is_animated(opening.path):
        return None
    how = ("apng", opening.limit)
    stack: Stack = kept_stack([opening.path], how, lambda: ApngStack(read_whole(opening.path), *opening[1:3]))
    assert isinstance(stack, ApngStack)
    return stack


def _is_animated(path: Path) -> bool:
    """Whether a chunk before the picture announces frames; the picture itself is not read."""
    with open(path, "rb") as file:
        file.seek(len(png.MAGIC))
        for _ in range(MOST_BEFORE):
            length, kind = struct.unpack(">I4s", file.read(8).ljust(8, b"\0"))
            if kind in (CONTROL, PIXELS, bytes(4)):
                return bool(kind == CONTROL) and length == CONTROL_BYTES
            file.seek(length + 4, 1)
    return False


@dataclass(frozen=True)
class _Frame:
    """A rectangle of the canvas, its disposal and blending, and its compressed pixels."""

    width: int
    height: int
    left: int
    top: int
    dispose: int
    blend: int
    pieces: list[memoryview] = field(default_factory=list)

    @property
    def part(self) -> tuple[slice, slice]:
        return slice(self.top, self.top + self.height), slice(self.left, self.left + self.width)

    def covers(self, other: _Frame) -> bool:
        return all(a.start <= b.start and a.stop >= b.stop for a, b in zip(self.part, other.part, strict=True))


class _Parts(NamedTuple):
    """The content of the chunks: the header, the chunks of palette and transparency, the frames, the bytes of a still
    picture that is not a frame, and the chunk of the pixel size."""

    header: bytes
    shared: tuple[bytes, ...]
    transparent: bytes | None
    frames: list[_Frame]
    still: int | None
    orientation: int
    pixel: bytes


class ApngStack:
    """The frames of an animation in memory, as they are shown. Each one depends on the previous ones, so a step back
    begins at the start. `has_separate_still` says that the still picture is no frame."""

    def __init__(self, data: bytes, name: str, limit: int) -> None:
        self._name = name
        self._parts = parts = _scan(data, name)
        self.has_separate_still = parts.still is not None
        width, height, self._depth, self._colour = struct.unpack(">IIBB", parts.header[:10])
        channels = png.CHANNELS[self._colour]
        if parts.transparent is not None or _leaves_holes(parts.frames, width, height):
            channels = 4
        check_limit(name, width * height * channels, limit)
        if parts.still is not None:
            row = width * self._depth * png.SAMPLES[self._colour]
            check_dense(data[: parts.still], name, width, height, height * row // 8 // png.DEFLATED)
        self._canvas_shape = (height, width, *((channels,) if channels > 1 else ()))
        self.dtype = np.dtype(np.uint16 if self._depth == 16 else np.uint8)
        turned = parts.orientation >= 5
        frames = len(parts.frames)
        axes = of_series([("T", frames)], frames, (0.0, 0.0))
        self.facts = Facts(frames, png_pixel(parts.pixel, turned), frame_axes=axes)
        self.steps = self._find_steps(channels)
        self.shape = (*(self._canvas_shape[1::-1] if turned else self._canvas_shape[:2]), *self._canvas_shape[2:])
        self._at, self._canvas, self._before = -1, np.empty(0, self.dtype), np.empty(0, self.dtype)

    def _find_steps(self, channels: int) -> tuple[dict[str, Any], ...]:
        gray = self._colour in (png.GRAY, png.GRAY_ALPHA)
        steps = [stored.PALETTE] if self._colour == png.PALETTE else []
        steps += [stored.stretch_step(self._depth)] if gray and self._depth < 8 else []
        steps += [stored.GRAY_ALPHA] if gray and channels == 4 else []
        orientation = self._parts.orientation
        return (*steps, *([{"step": "upright", "orientation": orientation}] if orientation > 1 else []))

    def read(self, frame: int) -> Array:
        """One frame as `shape`, `dtype`."""
        if frame < self._at or self._at < 0:
            self._at, self._canvas = -1, np.zeros(self._canvas_shape, self.dtype)
        start = self._at
        for next in range(start + 1, frame + 1):
            if next > start + 1:
                advance(next - start - 1, frame - start)
            self._draw(next)
        return np.ascontiguousarray(turn_upright(self._canvas.copy(), self._parts.orientation))

    def _draw(self, index: int) -> None:
        """Dispose of the frame on the canvas, and draw the next. The index is updated last, so that after a frame that
        cannot be drawn the canvas is redrawn from the start."""
        frames, found = self._parts.frames, self._decode(self._parts.frames[index])
        self._at, place = -1, self._at
        if place >= 0:
            self._put_away(frames[place], first=place == 0)
        frame = frames[index]
        self._before = self._canvas[frame.part].copy() if frame.dispose == RESTORE else self._before
        area = self._canvas[frame.part]
        if frame.blend == OVER and found.ndim == 3 and found.shape[2] == 4:
            found = _over(found, area)
        area[...] = found
        self._at = index

    def _put_away(self, frame: _Frame, first: bool) -> None:
        if frame.dispose == CLEAR or (frame.dispose == RESTORE and first):
            self._canvas[frame.part] = 0
        elif frame.dispose == RESTORE:
            self._canvas[frame.part] = self._before

    def _decode(self, frame: _Frame) -> Array:
        """The values of a frame's rectangle, with as many channels as the canvas."""
        header = struct.pack(">II", frame.width, frame.height) + self._parts.header[8:]
        chunks = [
            png.make_chunk(b"IHDR", header),
            *self._parts.shared,
            png.make_chunk(PIXELS, *frame.pieces),
            png.make_chunk(b"IEND"),
        ]
        single = b"".join((png.MAGIC, *chunks))
        found = png.decode_png(single, self._name, frame.width * frame.height * 4).array
        channels = self._canvas_shape[2] if len(self._canvas_shape) == 3 else 1
        if channels == 4 and found.shape[2:] != (4,):
            found = self._with_alpha(found)
        if found.dtype != self.dtype or found.shape[2:] != self._canvas_shape[2:]:
            raise _damaged(self._name)
        return found

    def _with_alpha(self, found: Array) -> Array:
        """Gray or RGB with an opaque alpha added."""
        top = 2 ** (8 * self.dtype.itemsize) - 1
        alpha = np.full((*found.shape[:2], 1), top, self.dtype)
        if found.ndim == 2:
            found = np.repeat(found[..., None], 3, axis=2)
        return np.concatenate((found, alpha), axis=2)


def _leaves_holes(frames: list[_Frame], width: int, height: int) -> bool:
    """Whether frames without transparency leave a part of the canvas empty: the first does not fill it, or a part that
    is cleared after a frame is not covered by the next one."""
    if (frames[0].width, frames[0].height) != (width, height):
        return True
    clearing = [f.dispose == CLEAR or (k == 0 and f.dispose == RESTORE) for k, f in enumerate(frames)]
    return any(
        clears and not next.covers(frame) for clears, frame, next in zip(clearing, frames, frames[1:], strict=False)
    )


def _over(front: Array, back: Array) -> Array:
    """RGBA over RGBA, each colour weighted by its opacity, as in section 13.16 of the specification."""
    top = np.iinfo(front.dtype).max
    alpha = front[..., 3:]
    if ((alpha == 0) | (alpha == top)).all():
        return np.where(alpha == 0, back, front)
    a, b = alpha / top, back[..., 3:] / top
    both = a + b * (1 - a)
    weighed = front[..., :3] * a + back[..., :3] * (b * (1 - a))
    colours = np.where(both > 0, weighed / np.where(both > 0, both, 1), back[..., :3])
    result: Array = np.rint(np.concatenate((colours, both * top), axis=2)).astype(front.dtype)
    return result


def _scan(data: bytes, name: str) -> _Parts:
    """The parts of an animation. Raises InputError unless all of its frames are there, in order and inside the
    canvas."""
    kept: dict[bytes, bytes] = {}
    frames: list[_Frame] = []
    still, number = 0, 0
    for kind, chunk in png.chunks(data, name):
        content = chunk[8:-4]
        if kind in (FRAME, DATA):
            if len(content) < 4 or int.from_bytes(content[:4], "big") != number or (kind == DATA and not frames):
                raise _damaged(name)
            number += 1
        if kind == FRAME:
            frames.append(_control(content, kept.get(b"IHDR", b""), name))
        elif kind == DATA:
            frames[-1].pieces.append(content[4:])
        elif kind == PIXELS and frames:
            frames[-1].pieces.append(content)
        elif kind == PIXELS:
            still += len(content)
        elif kind in (b"IHDR", b"PLTE", b"tRNS", b"eXIf", CONTROL):
            if kind in kept:
                raise _damaged(name)
            kept[kind] = bytes(content)
        elif kind == b"pHYs":
            kept[kind] = bytes(content)
        elif kind[:1].isupper() and kind != b"IEND":  # an unknown critical chunk
            raise _damaged(name)
    header = kept.get(b"IHDR", b"")
    if len(header) != 13 or header[9] not in png.CHANNELS or len(kept.get(CONTROL, b"")) != CONTROL_BYTES or not frames:
        raise _damaged(name)
    said = int.from_bytes(kept[CONTROL][:4], "big")
    if len(frames) < said or not all(frame.pieces for frame in frames):
        has = sum(bool(frame.pieces) for frame in frames)
        raise InputError(f"{name} is cut short: it says {counted(said, 'frame')} and has {has}; copy or save it again.")
    if len(frames) > said:
        raise _damaged(name)
    shared = tuple(png.make_chunk(kind, kept[kind]) for kind in (b"PLTE", b"tRNS") if kind in kept)
    orientation = find_orientation(kept.get(b"eXIf", b"").removeprefix(EXIF))
    return _Parts(header, shared, kept.get(b"tRNS"), frames, still or None, orientation, kept.get(b"pHYs", b""))


def _control(content: memoryview, header: bytes, name: str) -> _Frame:
    """The frame that a control chunk describes."""
    if len(content) != 26 or len(header) != 13:
        raise _damaged(name)
    width, height, left, top = struct.unpack(">IIII", content[4:20])
    whole_width, whole_height = struct.unpack(">II", header[:8])
    dispose, blend = content[24], content[25]
    inside = 0 < width <= whole_width - left and 0 < height <= whole_height - top
    if not inside or dispose > RESTORE or blend > OVER:
        raise _damaged(name)
    return _Frame(width, height, left, top, dispose, blend)


def _damaged(name: str) -> InputError:
    return InputError(f"{name} is a damaged animated PNG file; copy or save it again.")
