"""Work in a background thread, where the latest request wins."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from PySide6.QtCore import QObject, QRunnable, QThreadPool, Signal, Slot

HANDOVER = 0.001
"""Seconds until a thread that works in the background hands the interpreter over to one that waits for it. Python's own
5 ms, several times a frame, are what a window's thread loses most to them."""
Work = Callable[[Callable[[], bool]], Any]
urgent_pool = QThreadPool()
"""For short work that a picture waits for: it does not queue behind the levels of large images."""


class _Relay(QObject):
    """The receiver of all workers' results, never deleted: a worker may emit at any time, even when its owner is
    gone."""

    done = Signal(object, object, object)


_relay = _Relay()


class _Job(QRunnable):
    def __init__(self, work: Work) -> None:
        super().__init__()
        self.stopped = threading.Event()
        self._work = work

    def run(self) -> None:
        result, error = None, None
        try:
            result = self._work(self.stopped.is_set)
        except Exception as exception:  # the owner shows it; a worker must not end silently
            error = exception
        with suppress(RuntimeError):  # the program is ending and no receiver is left
            _relay.done.emit(self.stopped, result, error)


class Background(QObject):
    """Runs one piece of work at a time for its owner. Starting the next one stops the running one and drops its result.
    `finished(result)` and `failed(sentence)` come in the thread of this object. `urgent` work is short."""

    finished = Signal(object)
    failed = Signal(str)

    def __init__(self, parent: QObject | None = None, urgent: bool = False) -> None:
        super().__init__(parent)
        self._pool = urgent_pool if urgent else QThreadPool.globalInstance()
        self._latest: threading.Event | None = None
        _relay.done.connect(self._on_done)

    @property
    def busy(self) -> bool:
        return self._latest is not None

    def start(self, work: Work) -> None:
        """Run `work(stop)` in the thread pool; it should return early once `stop()` is True."""
        self.cancel()
        job = _Job(work)
        self._latest = job.stopped
        sys.setswitchinterval(HANDOVER)
        self._pool.start(job)

    def cancel(self) -> None:
        """Stop the running work and drop its result."""
        if self._latest is not None:
            self._latest.set()
            self._latest = None

    @Slot(object, object, object)
    def _on_done(self, token: object, result: object, error: object) -> None:
        if token is not self._latest:
            return
        self._latest = None
        if error is None:
            self.finished.emit(result)
        else:
            self.failed.emit(str(error))
