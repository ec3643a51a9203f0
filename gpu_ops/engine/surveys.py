"""Inspects files while a job runs: decoders run in a separate process, so no run needs to stop for them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue

from gpu_ops.engine.messages import Answer, Progress, Surveyed, SurveyRequest
from gpu_ops.errors import plain
from gpu_ops.io import survey
from gpu_ops.progress import Cancelled, listening

PARTS = 1000
Attempt = Callable[[SurveyRequest, Callable[[], None]], None]


class Surveys:
    """Does surveys one after the other, in a separate thread. `attempt(request, work)` does the work of a request and
    sends its last answer; `send` sends another one."""

    def __init__(self, attempt: Attempt, send: Callable[[Answer], None]) -> None:
        self._attempt, self._send = attempt, send
        self._waiting: SimpleQueue[SurveyRequest] = SimpleQueue()
        self._wanted: set[int] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def take(self, request: SurveyRequest) -> None:
        """Queue this request."""
        with self._lock:
            self._wanted.add(request.job)
        self._waiting.put(request)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="surveys", daemon=True)
            self._thread.start()

    def drop(self, job: int) -> bool:
        """Cancel a survey. Returns False for a job that is not one."""
        with self._lock:
            known = job in self._wanted
            self._wanted.discard(job)
        return known

    def _work(self) -> None:
        while True:
            request = self._waiting.get()
            try:
                self._attempt(request, lambda request=request: self._look(request))  # type: ignore[misc]
            except OSError:  # the window is gone
                return
            self.drop(request.job)

    def _look(self, request: SurveyRequest) -> None:
        text = f"reading {plain(request.path)}"

        def stop() -> bool:
            return request.job not in self._wanted

        def report(part: float) -> None:
            self._send(Progress(request.job, text, int(PARTS * part), PARTS))

        if stop():
            raise Cancelled
        self._send(Progress(request.job, text))
        with listening(stop, report):
            found = survey(request.path, **request.choices)
        self._send(Surveyed(request.job, found))
