"""The jobs of an engine in its client, and those that run concurrently with the current one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gpu_ops.engine.about import activity
from gpu_ops.engine.edits import SILENCE, has_edits
from gpu_ops.engine.messages import Answer, CancelRequest, Failed, Finished, Request
from gpu_ops.engine.segments import SegmentPool
from gpu_ops.processes import cpu_seconds, has_worked

AGAIN = 0.5
"""Seconds between two looks."""


@dataclass
class ClientJob:
    """A request, the segments that it reads, and the `segments` that its answers are in.
    `sent` counts how often it was sent to an engine; `cancel_by` is the time at which a cancelled job must have
    ended."""

    request: Request
    reads: tuple[str, ...]
    segments: list[str] = field(default_factory=list)
    at_work: bool = False
    sent: int = 0
    last_word: float = 0.0
    cancel_by: float | None = None
    cpu_then: float | None = None

    def note_life(self, pid: int | None) -> None:
        """The engine, process `pid`, has said something about it."""
        self.at_work, self.last_word = True, time.monotonic()
        self.cpu_then = cpu_seconds(pid) if pid is not None and has_edits(self.request) else None

    def release(self, pool: SegmentPool) -> None:
        """Release the segments that its answers are in."""
        while self.segments:
            pool.release(self.segments.pop())

    def patience(self, deadline: float) -> float:
        """The seconds that the engine may be silent at work on it. An edited kernel is the likely reason if it is."""
        return min(deadline, SILENCE) if has_edits(self.request) else deadline

    def next_look(self, deadline: float) -> float:
        """When to look whether the engine has been silent for too long."""
        end = self.last_word + self.patience(deadline)
        return max(end, time.monotonic() + AGAIN) if end < time.monotonic() else end

    def is_stuck(self, deadline: float, pid: int | None) -> bool:
        """Whether the engine, process `pid`, has been silent for too long. At work on an edited kernel it has the
        seconds for itself, as the kernel has: those that other programs take on a loaded machine do not count."""
        elapsed, seconds = time.monotonic() - self.last_word, self.patience(deadline)
        return elapsed >= seconds if pid is None else has_worked(pid, self.cpu_then, elapsed, seconds)


class EarlyAnswers:
    """Keeps the answers of an engine that is started before its window exists, until `pass_on` gives them to it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: list[Answer] = []
        self._to = self._kept.append

    def __call__(self, answer: Answer) -> None:
        with self._lock:
            self._to(answer)

    def pass_on(self, to: Callable[[Answer], None]) -> None:
        """Call `to` with every answer so far, and with those to come."""
        with self._lock:
            for answer in self._kept:
                to(answer)
            self._to = to


class ConcurrentJobs:
    """The jobs that run concurrently with the current one. `send` posts to the engine, `settle` ends a job, and
    `answer` calls the caller back."""

    def __init__(
        self, send: Callable[[Any], None], settle: Callable[[ClientJob], None], answer: Callable[[Answer], None]
    ) -> None:
        self._send, self._settle, self._answer = send, settle, answer
        self._jobs: dict[int, ClientJob] = {}

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def add(self, job: ClientJob, ready: bool) -> None:
        """Add a job, and send it if an engine is ready."""
        self._jobs[job.request.job] = job
        if ready:
            self._begin(job)

    def begin_all(self) -> None:
        """Another engine is ready: send it all jobs."""
        for job in self._jobs.values():
            self._begin(job)

    def _begin(self, job: ClientJob) -> None:
        job.sent += 1
        self._send(job.request)

    def handle(self, message: Answer) -> bool:
        """Pass on an answer to one of these jobs. Returns False for an answer to another job."""
        number = getattr(message, "job", 0)
        if number in self._jobs:
            if isinstance(message, Finished | Failed):
                self._settle(self._jobs.pop(number))
            self._answer(message)
            return True
        return False

    def cancel(self, number: int) -> bool:
        """End one of these jobs at once, whatever the engine still does for it. Returns False for another job."""
        if number not in self._jobs:
            return False
        self._send(CancelRequest(number))
        self.handle(Finished(number, cancelled=True))
        return True

    def lose(self, how: str) -> None:
        """The engine died. The next one gets the jobs, except those for which an engine has died before."""
        for number, job in list(self._jobs.items()):
            if job.sent > 1:
                sentence = f"The engine {how} while it {activity(job.request)}; the next run starts it anew."
                self.handle(Failed(number, sentence, kind="engine"))

    def fail_all(self, sentence: str) -> None:
        """No engine can be started: fail all jobs."""
        for number in list(self._jobs):
            self.handle(Failed(number, sentence, kind="engine"))

    def drop_all(self) -> None:
        """No caller waits for answers any more: drop all jobs."""
        while self._jobs:
            self._settle(self._jobs.popitem()[1])
