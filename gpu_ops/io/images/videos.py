"""Videos as stacks, if PyAV is installed. Frames are found by their time stamps, so that playing and seeking reach the
same frame."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from gpu_ops.errors import InputError
from gpu_ops.io.codec import codec
from gpu_ops.io.images.frame_axes import of_series
from gpu_ops.io.inputs import Array
from gpu_ops.io.known import kept_stack
from gpu_ops.io.opening import Decoded, Opening, Survey
from gpu_ops.io.stacks import decode_stack
from gpu_ops.progress import advance
from gpu_ops.types import Facts
from gpu_ops.version import install

SUFFIXES = (".mp4", ".avi", ".mov", ".mkv", ".webm")
MATROSKA = b"\x1a\x45\xdf\xa3"
QUICKTIME = (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot")
NEAR = 30
"""Frames at most this far ahead are reached by decoding; others by seeking to the previous key frame."""


def is_video(head: bytes) -> bool:
    """Whether the first bytes of a file are those of a video."""
    return head.startswith(MATROSKA) or head[4:8] in QUICKTIME or (head.startswith(b"RIFF") and head[8:12] == b"AVI ")


def read_video(opening: Opening) -> Decoded:
    """A frame (H, W) or (H, W, 3) of uint8, or of uint16 where a colour has more than 8 bits."""
    return decode_stack(_open(opening), opening)


def look_video(opening: Opening) -> Survey:
    """Size, number of frames, frames per second and codec of the video."""
    stack = _open(opening)
    height, width = stack.shape[:2]
    facts = (
        ("size", f"{width} × {height}, {stack.dtype}"),
        ("frames", f"{stack.facts.frames:,}"),
        ("rate", f"{stack.rate:.6g} frames a second"),
        ("code", stack.code),
    )
    return Survey("a video", facts, stack.facts.frames)


def _open(opening: Opening) -> VideoStack:
    path = opening.path
    stack = kept_stack([path], "video", lambda: VideoStack(opening))
    assert isinstance(stack, VideoStack)
    return stack


def _library(name: str) -> Any:
    try:
        import av
    except ImportError:
        raise InputError(
            f"{name} is a video, which the library PyAV reads; install it with: {install('formats')}."
        ) from None
    return av


class VideoStack:
    """A Stack of a video's first picture stream. The decoder stays open, so that the next frame costs one frame. Raises
    InputError for a damaged video, for one without a picture stream, and if PyAV is missing."""

    def __init__(self, opening: Opening) -> None:
        self._path, self._name = opening.path, opening.name
        self._av = _library(opening.name)
        self._damaged = InputError(f"{self._name} is a damaged video or no video; play it elsewhere, or save it again.")
        with codec(self._damaged):
            self._container = self._av.open(str(self._path))
            stream = self._start()
        if stream is None:
            raise InputError(f"{self._name} holds no pictures; choose a file with a video stream.")
        self._times = self._find_times()
        stream = self._container.streams.video[0]
        self._place, self._frames = -1, self._decoded()
        self._last: tuple[int, Array] = (-1, np.empty(0))
        self.rate = float(stream.average_rate or 0)
        self.code = f"{stream.codec_context.name}, {stream.codec_context.pix_fmt}"
        self.steps: tuple[dict[str, Any], ...] = ()
        count, base = len(self._times), float(stream.time_base or 0)
        interval = (self._times[-1] - self._times[0]) * base / (count - 1) if count > 1 else 0.0
        self.facts = Facts(frames=count, frame_axes=of_series([("T", count)], count, (interval, 0.0)))
        first = self.read(0)
        self.shape, self.dtype = first.shape, first.dtype

    def _start(self) -> Any:
        """The picture stream, decoded by several threads; None without one."""
        stream = next(iter(self._container.streams.video), None)
        if stream is not None:
            stream.thread_type = "AUTO"
        return stream

    def _find_times(self) -> list[int]:
        """The time stamp of each frame in order, from the packets, without decoding."""
        times: list[int] = []
        duration = max(1, self._container.size or 1)
        packets = self._container.demux(self._container.streams.video[0])
        while (packet := self._next(packets)) is not None:
            if packet.size and packet.pts is not None:
                times.append(packet.pts)
                advance(min(packet.pos or 0, duration), duration)
        if not times:
            raise self._damaged
        self._reopen()
        return sorted(set(times))

    def _reopen(self) -> None:
        with codec(self._damaged):
            self._container.close()
            self._container = self._av.open(str(self._path))
            self._start()

    def _next(self, items: Iterator[Any]) -> Any:
        """The next of the library's items, None after the last."""
        with codec(self._damaged):
            return next(items, None)

    def _decoded(self) -> Iterator[Any]:
        frames: Iterator[Any] = self._container.decode(self._container.streams.video[0])
        return frames

    def read(self, frame: int) -> Array:
        if self._last[0] != frame:
            self._last = frame, self._find(frame)
        return self._last[1].copy()

    def _find(self, frame: int) -> Array:
        """Decode up to the frame, after seeking where it is before the current one or far ahead."""
        wanted = self._times[frame]
        if not 0 <= frame - self._place <= NEAR:
            self._jump(wanted)
        for attempt in (self._jump_to_start, None):
            found = self._run_to(frame, wanted)
            if found is not None:
                return self._pixels(found)
            if attempt is not None:  # the index of some files points behind the frame
                attempt()
        raise InputError(
            f"{self._name} cannot be decoded up to frame {frame}; choose an earlier one, or save it again."
        )

    def _run_to(self, frame: int, wanted: int) -> Any:
        """The frame with the time `wanted`; None where the decoder has passed it already."""
        while (picture := self._next(self._frames)) is not None:
            if picture.pts is None:
                continue
            if picture.pts >= wanted:
                self._place = frame + 1
                return picture if picture.pts == wanted else None
            advance(0, 1)
        return None

    def _jump(self, time: int) -> None:
        with codec(self._damaged):
            self._container.seek(time, stream=self._container.streams.video[0])
        self._frames = self._decoded()

    def _jump_to_start(self) -> None:
        self._reopen()
        self._frames = self._decoded()

    def _pixels(self, picture: Any) -> Array:
        """The values of a decoded frame: in its own bit depth, rotated upright."""
        deep = max((part.bits for part in picture.format.components), default=8) > 8
        gray = len(picture.format.components) == 1 and not picture.format.name.startswith("pal")
        pixels = ("gray16le" if deep else "gray") if gray else ("rgb48le" if deep else "rgb24")
        with codec(self._damaged):
            values = np.ascontiguousarray(picture.to_ndarray(format=pixels))
        turns = 0
        with suppress(AttributeError, TypeError, ValueError):
            turns = round(float(picture.rotation) / 90) % 4
        return np.ascontiguousarray(np.rot90(values, turns)) if turns else values
