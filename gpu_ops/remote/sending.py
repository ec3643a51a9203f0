"""The parts of arrays that an engine host sends: a small picture with every large result, and what the window asks
for."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from gpu_ops.engine.segments import SegmentPool
from gpu_ops.engine.shared import SharedArray
from gpu_ops.remote.cells import cells_of, real, step_for
from gpu_ops.remote.line import Line
from gpu_ops.remote.wire import DATA, Frame, headed, note

PART = 1 << 16
"""Bytes of an array in one frame: a message waits for no more than the frame that is being written."""
AT_ONCE = 160 << 10
"""Arrays up to so many bytes come whole with their answer; of larger ones as many cells, of one byte each."""
WORTH = 0.9
"""Compressed parts are sent where they are shorter than this share."""


def frames_of(name: str, array: np.ndarray[Any, Any], cells: int = 0, number: int = 0) -> Iterator[Frame]:
    """An array's bytes, or at most so many cells, in parts, in answer to the request of this `number`. Every frame says
    where it belongs."""
    about: dict[str, Any] = {"segment": name, "number": number}
    if cells:
        values = real(array)
        made = cells_of(values, step_for(values.shape, cells))
        about |= {"cells": made.codes.shape, "low": repr(made.low), "high": repr(made.high), "step": made.step}
        array = made.codes
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    for start in range(0, max(data.size, 1), PART):
        part = data[start : start + PART].tobytes()
        packed = zlib.compress(part, 1)
        short = len(packed) < WORTH * len(part)
        yield headed(DATA, packed if short else part, **about, start=start, packed=short)


def unpacked(content: dict[str, Any], buffer: bytes | memoryview) -> bytes:
    """The bytes of such a frame, at most PART. Raises zlib.error."""
    if not content.get("packed"):
        return bytes(buffer)
    unpacking = zlib.decompressobj()
    return unpacking.decompress(buffer, PART)


class Sending:
    """Sends what is asked for in a thread of its own, the newest request first, a part at a time."""

    def __init__(self, line: Line, pool: SegmentPool) -> None:
        self._line, self._pool = line, pool
        self._changed = threading.Condition()
        self._wanted: dict[int, Iterator[Frame]] = {}
        self._closed = False
        threading.Thread(target=self._work, name="wire-arrays", daemon=True).start()

    def with_answer(self, shared: SharedArray) -> None:
        """Send the first sight of an array, before the answer that names it."""
        array = self._pool.array(shared)
        for frame in frames_of(shared.segment, array, AT_ONCE if array.nbytes > AT_ONCE else 0):
            self._line.send(frame)

    def ask(self, number: int, shared: SharedArray, cells: int) -> None:
        """Send an array, or its cells. One that is gone is answered with its number."""
        try:
            array = self._pool.array(shared)
            self._pool.hold(shared.segment)
        except (KeyError, TypeError, ValueError):
            self._line.send(note("gone", number=number))
            return
        with self._changed:
            self._wanted[number] = self._held(shared.segment, frames_of(shared.segment, array, cells, number))
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

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._wanted and not self._closed:
                    self._changed.wait()
                if self._closed:
                    return
                number = max(self._wanted)
                frames = self._wanted[number]
            frame = next(frames, None)
            if frame is None:
                self.stop(number)
                self._line.send(note("sent", number=number))
            elif not self._line.send(frame, patient=True):
                return
