"""How a command watches the child process that works on a user's kernel: which pieces of work it begins, and when each
must end."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection

from gpu_ops.errors import LimitReached
from gpu_ops.processes import limit_memory

GRACE = 1.0
"""Seconds beyond a limit in which the child should report it by itself: its message names the line."""


class Watch:
    """What the child has begun, and when that must end."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.what, self._seconds, self._end = "The kernel", 0.0, 0.0

    def listen(self) -> bool:
        """Wait for the child's next message; False where it has ended. Raises LimitReached."""
        if not self._connection.poll(max(self._end - time.monotonic(), 0.0) if self._end else None):
            raise LimitReached(f"{self._seconds:g} s", "--deadline", self.what)
        try:
            message = self._connection.recv()
        except (EOFError, OSError):
            return False
        self._end = 0.0
        if message is not None:
            self.what, self._seconds = message
            self._end = time.monotonic() + self._seconds + GRACE
        return True


# In the child

_watcher: Connection | None = None


def be_watched(connection: Connection) -> None:
    """Report the pieces of work of this process from now on, and end it when the command is gone."""
    global _watcher
    _watcher = connection
    threading.Thread(target=_end_with, args=(connection,), daemon=True).start()


def _end_with(connection: Connection) -> None:
    with suppress(EOFError, OSError):
        connection.recv()
    os._exit(1)


@contextmanager
def piece(what: str, seconds: float, nbytes: int = 0) -> Iterator[None]:
    """Inside, the command that watches this process ends it after so many seconds; it may allocate `nbytes` from now on
    (0: no limit). Nothing changes in a process that nobody watches."""
    if _watcher is None:
        yield
        return
    limit_memory(nbytes)
    _watcher.send((what, seconds))
    try:
        yield
    finally:
        _watcher.send(None)
