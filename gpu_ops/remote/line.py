"""Frames in order and each once, over connections that come and go: those that the other side has not acknowledged are
sent again on the next connection."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from gpu_ops.remote.wire import HELLO, Decoder, Frame, WireError, note

WINDOW = 192 << 10
"""The most unacknowledged bytes of arrays: a new message waits for no more than these, 0.08 s at 20 Mbit/s."""
TOLD = 16 << 10
"""Received bytes after which they are acknowledged at once; fewer are with the next frame, or after PAUSE seconds."""
PAUSE = 0.1
PULSE = 2.0
"""Seconds without a frame, after which a side says that it is still there."""
SILENCE = 12.0
"""Seconds without any frame, after which a connection counts as lost."""
PIECE = 1 << 16
PATIENCE = 5.0
"""Seconds until a thread has noticed that its connection has ended; a system may be slow to say so."""


@dataclass(eq=False)
class Connection:
    """Two descriptors, how to end whatever they lead to, and how to release them once nobody uses them."""

    reads: int
    writes: int
    end: Callable[[], None] = lambda: None
    close: Callable[[], None] = lambda: None

    def read(self) -> bytes:
        """The next bytes, b"" at the end."""
        try:
            return os.read(self.reads, PIECE)
        except OSError:
            return b""

    def write(self, data: bytes) -> None:
        """Write all of it. Raises OSError where nobody reads any more."""
        left = memoryview(data)
        while left:
            left = left[os.write(self.writes, left) :]


class Line:
    """One side. `take(frame)` gets every numbered frame of the other side in order, in the thread that called
    `converse`. Any thread may call `send`."""

    def __init__(self, take: Callable[[Frame], None]) -> None:
        self._take = take
        self._changed = threading.Condition()
        self._taking = threading.Lock()  # an old connection's reader may still be at it when the next one begins
        self._kept: deque[Frame] = deque()
        self._kept_bytes = 0
        self._last = 0
        self._seen = 0
        self._untold = 0
        self._connection: Connection | None = None
        self._heard = 0.0
        self._closed = False

    @property
    def seen(self) -> int:
        """The number of the last frame that was received."""
        return self._seen

    @property
    def connected(self) -> bool:
        return self._connection is not None

    def send(self, frame: Frame, patient: bool = False) -> bool:
        """Queue a frame; `patient` ones wait until there is room. Returns False after `close`."""
        with self._changed:
            while patient and self._kept_bytes > WINDOW and not self._closed:
                self._changed.wait()
            if self._closed:
                return False
            self._last += 1
            self._kept.append(replace(frame, number=self._last))
            self._kept_bytes += frame.nbytes
            self._changed.notify_all()
        return True

    def flush(self, seconds: float) -> None:
        """Wait until the other side has acknowledged everything, at most so long."""
        until = time.monotonic() + seconds
        with self._changed:
            while self._kept and self.connected and (left := until - time.monotonic()) > 0:
                self._changed.wait(left)

    def close(self) -> None:
        """End the connection and let nobody wait any more."""
        with self._changed:
            self._closed = True
            connection, self._connection = self._connection, None
            self._changed.notify_all()
        if connection:
            connection.end()

    def drop(self, connection: Connection | None = None) -> None:
        """This connection, or the present one, is lost."""
        with self._changed:
            connection = connection or self._connection
            if connection is self._connection:
                self._connection = None
                self._changed.notify_all()
        if connection:
            connection.end()

    def converse(self, connection: Connection, decoder: Decoder, theirs: int) -> None:
        """Exchange frames over a connection whose hello has been read, until it is lost; the other side has seen
        `theirs` frames. A connection before it is dropped. Raises WireError for what is no protocol."""
        self.drop()
        with self._changed:
            if self._closed:
                connection.end()
                connection.close()
                return
            self._forget(theirs)
            self._connection, self._heard, self._untold = connection, time.monotonic(), 0
        writer = threading.Thread(target=self._write, args=(connection,), name="wire-writer", daemon=True)
        writer.start()
        try:
            self._read(connection, decoder)
        finally:
            self.drop(connection)
            writer.join(PATIENCE)
            if not writer.is_alive():
                connection.close()

    def _read(self, connection: Connection, decoder: Decoder) -> None:
        data = b""  # frames may have come together with the hello
        while self._connection is connection:
            for frame in decoder.add(data):
                self._receive(frame)
            data = connection.read()
            if not data:
                return
            self._heard = time.monotonic()

    def _receive(self, frame: Frame) -> None:
        with self._changed:
            self._forget(frame.seen)
        with self._taking:
            if frame.number == 0 or frame.number <= self._seen:
                return
            if frame.number != self._seen + 1:
                raise WireError(f"frame {frame.number} came after frame {self._seen}")
            self._take(frame)
            with self._changed:
                self._seen = frame.number
                self._untold += frame.nbytes
                self._changed.notify_all()

    def _forget(self, seen: int) -> None:
        """The other side has these frames. Raises WireError for frames that were never sent."""
        if seen > self._last:
            raise WireError(f"frame {seen} was acknowledged, and {self._last} is the last one")
        while self._kept and self._kept[0].number <= seen:
            self._kept_bytes -= self._kept.popleft().nbytes
            self._changed.notify_all()

    def _write(self, connection: Connection) -> None:
        """Write what is queued and acknowledge what has come."""
        written = 0
        try:
            with suppress(OSError):
                while True:
                    data, written = self._next(connection, written)
                    if not data:
                        break
                    connection.write(data)
        finally:
            self.drop(connection)  # a connection without a writer is none

    def _next(self, connection: Connection, written: int) -> tuple[bytes, int]:
        """The next bytes to write, b"" at the end, and the number of the last frame that was written."""
        pulse = time.monotonic() + PULSE
        with self._changed:
            while self._connection is connection:
                now = time.monotonic()
                if now - self._heard > SILENCE:
                    break
                if self._kept and self._kept[-1].number > written:
                    place = max(written + 1 - self._kept[0].number, 0)
                    frame = self._kept[place]
                    self._untold = 0
                    return frame.bytes(self._seen), frame.number
                if self._untold >= TOLD or now >= pulse:
                    self._untold = 0
                    return note("pulse").bytes(self._seen), written
                if not self._changed.wait(PAUSE if self._untold else pulse - now) and self._untold:
                    self._untold = TOLD  # a pause: acknowledge what there is
        return b"", written


def read_hello(connection: Connection, decoder: Decoder) -> Frame:
    """The first frame of the other side; later ones stay in the decoder. Raises WireError."""
    data = b""  # it may have come together with what was read before
    while True:
        for frame in decoder.add(data):
            if frame.kind != HELLO:
                raise WireError("the first frame is no hello")
            return frame
        data = connection.read()
        if not data:
            raise WireError("the connection ended before the first frame")
