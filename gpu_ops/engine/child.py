"""The window's handle of the engine's process: starting it, sending without blocking, and reliably ending it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any

from gpu_ops.processes import importing, safe_path, without_main

FORKS = sys.platform == "linux"
"""Whether a child can be a copy of this process; on macOS, system libraries do not survive that."""
NICENESS = 5
PATIENCE = 5.0
"""Seconds to wait for operations that the system completes at once, unless a driver hangs."""


class Child:
    """One engine process. A thread of the child calls `receive(child, message)`; the last message is None: the process
    has closed the connection. With `warm` the process prepares for the first run of a window while no job waits.
    A `copied` one has all that this process has imported, which is safe only before there are threads, Qt and CUDA.
    Raises OSError if the system cannot start a process."""

    def __init__(self, receive: Callable[[Child, Any], None], warm: bool = False, copied: bool = False) -> None:
        context: Any = multiprocessing.get_context("fork" if copied else "spawn")
        self._connection, theirs = context.Pipe()
        # A copy must close its copy of our end: it would never notice that this process is gone.
        about = (theirs, warm, self._connection) if copied else (theirs, warm)
        self._process = context.Process(target=_serve, args=about, name="kernelscope-engine", daemon=True)
        try:
            if copied:
                self._process.start()
            else:
                with safe_path(), without_main():
                    self._process.start()
        except BaseException:
            self._connection.close()
            raise
        finally:
            theirs.close()
        self.pid = self._process.pid
        self._outgoing: SimpleQueue[Any] = SimpleQueue()
        # Each thread waits for one thing only, so that a child that stops in the middle of a message blocks no other
        # thread.
        self._threads = [
            threading.Thread(target=self._read, args=(receive,), name="engine-reader", daemon=True),
            threading.Thread(target=self._write, name="engine-writer", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def send(self, message: Any) -> None:
        """Queue a message. Messages to a dead child are dropped."""
        self._outgoing.put((message,))

    def end(self, grace: float = 0.0) -> str:
        """Wait `grace` seconds for the process to end, then kill it. Returns how it ended, as part of a sentence."""
        process = self._process
        process.join(grace)
        ended_by_itself = not process.is_alive()
        if not ended_by_itself and grace:
            process.terminate()
            process.join(grace)
        if process.is_alive():
            process.kill()
            process.join(PATIENCE)
        self._outgoing.put(None)
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(PATIENCE)
        if any(thread.is_alive() for thread in self._threads) or process.is_alive():
            return "could not be ended"  # the system blocks the process, and with it these threads
        self._connection.close()
        code = process.exitcode or 0
        process.close()
        return _how(code) if ended_by_itself else "was stopped"

    def _read(self, receive: Callable[[Child, Any], None]) -> None:
        # Anything unreadable, such as half a message, ends the conversation.
        with suppress(Exception):
            while (message := self._connection.recv()) is not None:
                receive(self, message)
        receive(self, None)

    def _write(self) -> None:
        with suppress(OSError, ValueError):
            while (item := self._outgoing.get()) is not None:
                self._connection.send(item[0])


class EarlyChild:
    """A child that is started before its client: it loads its modules on another core while this process does. It keeps
    the messages until a client takes it. Raises OSError if the system cannot start a process."""

    def __init__(self, copied: bool = False) -> None:
        self._lock, self._kept = threading.Lock(), list[Any]()
        self._to: Callable[[Child, Any], None] = lambda _child, message: self._kept.append(message)
        self.child = Child(self._receive, warm=True, copied=copied)

    def _receive(self, child: Child, message: Any) -> None:
        with self._lock:
            self._to(child, message)

    def take(self, receive: Callable[[Child, Any], None]) -> Child:
        """Call `receive` with every message so far, and with those to come."""
        with self._lock:
            for message in self._kept:
                receive(self.child, message)
            self._to = receive
        return self.child


def _how(code: int) -> str:
    if code >= 0:
        return f"ended with code {code}"
    with suppress(ValueError):
        return f"was killed by signal {-code} ({signal.Signals(-code).name})"
    return f"was killed by signal {-code}"


def _serve(connection: Connection, warm: bool, parents: Connection | None = None) -> None:
    """The child's main; `parents` is the other end of the connection, where the child has a copy of it. The import is
    here so that only the child loads the code that computes; the window, which starts at the same time, goes first."""
    if parents is not None:
        parents.close()
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    with importing():
        from gpu_ops.engine.server import serve

    serve(connection, warm)
