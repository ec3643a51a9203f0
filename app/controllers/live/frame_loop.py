"""What frames of a stack and of live input have in common: each becomes the input, and their rate is counted."""

from __future__ import annotations

import time
from collections import deque

from PySide6.QtCore import QObject, Signal

from app.controllers.session import SessionController

SPAN = 1.5
"""Seconds over which the rate of shown frames is counted."""


class FrameLoop(QObject):
    """`changed`: the frame, what is done with it, or the rate. `message(kind, sentence, details, subject)` and
    `succeeded(subject)` are as in SessionController."""

    changed = Signal()
    message = Signal(str, str, str, str)
    succeeded = Signal(str)

    def __init__(self, controller: SessionController, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._controller, self._session, self._queue = controller, controller.session, controller.queue
        self._clock = time.monotonic
        self._shown: deque[float] = deque()

    def _count_shown(self) -> float:
        """A frame is on the screen. Returns the time."""
        now = self._clock()
        self._shown.append(now)
        while now - self._shown[0] > SPAN:
            self._shown.popleft()
        return now

    @property
    def _rate(self) -> float:
        """Frames per second that were shown lately, 0 for less than two."""
        return (len(self._shown) - 1) / max(self._shown[-1] - self._shown[0], 1e-9) if len(self._shown) > 1 else 0.0
