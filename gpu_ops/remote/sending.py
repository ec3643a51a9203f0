"""The parts of arrays that an engine host sends: with every large result as much as its pane can show, and what the
window asks for."""

from __future__ import annotations

import threading
import time
import traceback
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from gpu_ops.engine.segments import SegmentPool
from gpu_ops.engine.shared import SharedArray
from gpu_ops.input_kinds import Spans
from gpu_ops.remote.cells import cells_of, real, step_for
from gpu_ops.remote.line import Line
from gpu_ops.remote.wire import DATA, Frame, headed, note

PART = 1 << 16
"""Bytes of an array in one frame: a message waits for no more than the frame that is being written."""
AT_ONCE = 160 << 10
"""Arrays up to so many bytes come whole with their answer; of larger ones as many cells, of one byte each."""
FIRST = 256 << 10
"""The most cells that come with an answer, for a pane with as many pixels: 0.1 s at 20 Mbit/s."""
AROUND = 40 << 10
"""The cells of the whole that come besides those of a part that is in view."""
GIVE_WAY = 1.0
"""The most seconds that values wait for the first result of a run."""
WORTH = 0.9
"""Compressed parts are sent where they are shorter than this share."""


def frames_of(
    name: str, array: np.ndarray[Any, Any], cells: int = 0, number: int = 0, spans: Spans = ()
) -> Iterator[Frame]:
    """An array's bytes, or at most so many cells of its part in `spans`, in frames, in answer to the request of this
    `number`. Every frame says where it belongs."""
    about: dict[str, Any] = {"segment": name, "number": number}
    if cells:
        values = real(array)[cut(spans)]
        about["spans"] = spans
        made = cells_of(values, step_for(values.shape, cells))
        about |= {"cells": made.codes.shape, "low": repr(made.low), "high": repr(made.high), "step": made.step}
        array = made.codes
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    for start in range(0, max(data.size, 1), PART):
        part = data[start : start + PART].tobytes()
        packed = zlib.compress(part, 1)
        short = len(packed) < WORTH * len(part)
        yield headed(DATA, packed if short else part, **about, start=start, packed=short)


def cut(spans: Spans) -> tuple[slice, ...]:
    """The slices of an array's part from a first to before a last place along each of its first axes."""
    return tuple(slice(start, stop) for start, stop in spans)


def unpacked(content: dict[str, Any], buffer: bytes | memoryview) -> bytes:
    """The bytes of such a frame, at most PART. Raises zlib.error."""
    if not content.get("packed"):
        return bytes(buffer)
    unpacking = zlib.decompressobj()
    return unpacking.decompress(buffer, PART)


class Sending:
    """Sends what is asked for in a thread of its own, a part at a time: sights before values, and of each the newest
    request first."""

    def __init__(self, line: Line, pool: SegmentPool) -> None:
        self._line, self._pool = line, pool
        self._changed = threading.Condition()
        self._wanted: dict[int, tuple[bool, Iterator[Frame]]] = {}
        self._closed = False
        self._shape: tuple[int, ...] = ()
        self._view: Spans = ()
        self._pixels = 0
        self._values_from = 0.0
        threading.Thread(target=self._work, name="wire-arrays", daemon=True).start()

    def show(self, shape: tuple[int, ...], view: Spans, pixels: int) -> None:
        """A run begins: the window shows this part of arrays of an input's `shape`, and all of others, on so many
        pixels (0 where it does not say). Values that travel make way for its first result."""
        self._shape, self._view, self._pixels = shape, view, pixels
        self._values_from = time.monotonic() + GIVE_WAY

    def with_answer(self, shared: SharedArray) -> None:
        """Send the first sight of an array, before the answer that names it."""
        array = self._pool.array(shared)
        rank = len(self._view)
        view = self._view if array.shape[:rank] == self._shape[:rank] else ()
        if array.nbytes <= AT_ONCE:
            sights: tuple[tuple[int, Spans], ...] = ((0, ()),)
        else:
            around = ((AROUND, ()),) if view else ()
            sights = *around, (min(self._pixels, FIRST) or AT_ONCE, view)
        for cells, spans in sights:
            for frame in frames_of(shared.segment, array, cells, spans=spans):
                self._line.send(frame)
        with self._changed:
            self._values_from = 0.0
            self._changed.notify_all()

    def ask(self, number: int, shared: SharedArray, cells: int, spans: Spans) -> None:
        """Send an array, or the cells of its part in `spans`. One that is gone is answered with its number."""
        try:
            array = self._pool.array(shared)
            self._pool.hold(shared.segment)
        except (KeyError, TypeError, ValueError):
            self._line.send(note("gone", number=number))
            return
        with self._changed:
            frames = frames_of(shared.segment, array, cells, number, spans)
            self._wanted[number] = cells > 0, self._held(shared.segment, frames)
            self._changed.notify_all()

    def _held(self, segment: str, frames: Iterator[Frame]) -> Iterator[Frame]:
        try:
            yield from frames
        finally:
            self._pool.release(segment)

    def stop(self, number: int) -> None:
        """The window does not want this any more."""
        with self._changed:
            self._wanted.pop(number, None)

    def close(self) -> None:
        """Send nothing more."""
        with self._changed:
            self._closed = True
            self._wanted.clear()
            self._changed.notify_all()

    def _next(self) -> int:
        """The number of the request that is answered next, 0 for none."""
        values = time.monotonic() >= self._values_from
        return max(((sight, n) for n, (sight, _) in self._wanted.items() if sight or values), default=(False, 0))[1]

    def _work(self) -> None:
        while True:
            with self._changed:
                while not (number := self._next()) and not self._closed:
                    self._changed.wait(max(self._values_from - time.monotonic(), 0.0) if self._wanted else None)
                if self._closed:
                    return
                _, frames = self._wanted[number]
            try:
                frame = next(frames, None)
            except Exception:  # such as no memory for a smaller picture
                traceback.print_exc()
                self.stop(number)
                self._line.send(note("gone", number=number))
                continue
            if frame is None:
                self.stop(number)
                self._line.send(note("sent", number=number))
            elif not self._line.send(frame, patient=True):
                return
