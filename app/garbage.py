"""Collects Python's garbage in the thread of the window alone.

Python collects in whichever thread has just made an object. Objects of Qt that are part of a cycle would then end in a
thread of the pool: a timer cannot be stopped from there, and the next time that it is due, Qt calls an object that is
gone. pyqtgraph.util.garbage_collector and http://pydev.blogspot.com/2014/03/should-python-garbage-collector-be.html
tell the same.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QTimer

INTERVAL_MS = 500


@contextmanager
def collected_here() -> Iterator[None]:
    """While the block runs, no thread collects by itself, and Qt's loop of this thread does it now and then."""
    timer = QTimer()
    timer.timeout.connect(collect)
    before = gc.isenabled()
    gc.disable()
    timer.start(INTERVAL_MS)
    try:
        yield
    finally:
        timer.stop()
        if before:
            gc.enable()


def collect() -> None:
    """Collect what Python would have collected by itself: the oldest generation whose count is above its threshold,
    and all younger ones."""
    over = [count > threshold > 0 for count, threshold in zip(gc.get_count(), gc.get_threshold(), strict=True)]
    due = over.index(False) if False in over else len(over)
    if due:
        gc.collect(due - 1)
