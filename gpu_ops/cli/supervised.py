"""A command with a user's kernel runs in a child process. The command itself only watches: where the child exceeds its
time or crashes, it ends the child and reports that in one sentence."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import Any

from gpu_ops.cli import guarded
from gpu_ops.cli import main as command
from gpu_ops.errors import STOPPED, KernelError, LimitReached
from gpu_ops.processes import limit_memory, safe_path

GRACE = 1.0
"""Seconds beyond a limit in which the child should report it by itself: its message names the line."""
WITH_KERNELS = ("run", "xray")


def main(argv: Sequence[str], draw: Callable[[Any, str], None] | None = None) -> int:
    """As `gpu_ops.cli.main`; a command that names a kernel file runs in a child process."""
    if argv and argv[0] in WITH_KERNELS and any(a.startswith("--k") or a.endswith(".cu") for a in argv[1:]):
        return guarded(lambda: _supervise(list(argv)))
    return command(argv, draw)


def _supervise(argv: list[str]) -> int:
    """The exit code of the child. Raises LimitReached, KernelError."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, argv), daemon=True)
    with safe_path():
        process.start()
    theirs.close()
    watch = _Watch(ours)
    try:
        while watch.listen():
            pass
        process.join(GRACE)
    except LimitReached:
        process.kill()
        raise
    except KeyboardInterrupt:  # the child prints that it was stopped
        process.terminate()
        process.join(2 * GRACE)
        process.kill()
        return STOPPED
    finally:
        ours.close()
    process.kill()
    process.join()
    code = process.exitcode or 0
    if code < 0:
        raise KernelError(
            f"{watch.what} ended its process by {_signal_name(-code)}. Look for very large arrays, tables and output."
        )
    return code


class _Watch:
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


def _signal_name(number: int) -> str:
    with suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"


# In the child

_watcher: Connection | None = None


def _serve(connection: Connection, argv: list[str]) -> None:
    global _watcher
    _watcher = connection
    threading.Thread(target=_end_with, args=(connection,), daemon=True).start()
    raise SystemExit(command(argv))


def _end_with(connection: Connection) -> None:
    """End this process when the command is gone."""
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
