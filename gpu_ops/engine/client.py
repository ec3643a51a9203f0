"""The window's side: jobs go to an engine process one at a time, and whatever happens to it they are answered."""

from __future__ import annotations

import atexit
import itertools
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

from gpu_ops.engine.child import PATIENCE, Child
from gpu_ops.engine.messages import (
    PROTOCOL,
    Answer,
    CancelRequest,
    Failed,
    Finished,
    Ready,
    Request,
    SegmentGone,
    SegmentGranted,
    SegmentWanted,
    doing,
    segments_given,
    segments_read,
)
from gpu_ops.engine.segments import SegmentPool, clean_stale
from gpu_ops.errors import DeviceMemoryError

CANCEL_GRACE = 0.5
STOP_GRACE = 0.5


@dataclass
class _Job:
    """A request with the segments it reads, and those made for its answers that have not been handed over."""

    request: Request
    reads: tuple[str, ...]
    granted: list[str] = field(default_factory=list)
    begun: bool = False
    sent: int = 0
    last_word: float = 0.0
    cancel_by: float | None = None


class EngineClient:
    """Jobs for an engine process, which is started when first needed and anew when it dies, hangs or must be killed.

    Each job is answered by what it gives – Progress, Loaded, RunUpdate, DoctorAnswer – and then by exactly one
    Finished or Failed. Ready comes whenever an engine has started. Failed with job 0 is about an engine that does not
    start while no job waits for it. `on_answer` is called from a thread of the client's, never after `close`.

    Segments named in Loaded and RunUpdate are held for the caller, who releases them to the pool; those a request
    reads are held until it is answered. A pool that is given stays open at `close`; the client's own does not.

    `deadline` is the longest silence, in seconds, of a job at work; `start_deadline` that of an engine that starts;
    `cancel_grace` how long a cancelled job may take to stop before its process is killed.
    """

    def __init__(
        self,
        on_answer: Callable[[Answer], None],
        pool: SegmentPool | None = None,
        deadline: float = 60.0,
        start_deadline: float = 60.0,
        cancel_grace: float = CANCEL_GRACE,
    ) -> None:
        self.pool = SegmentPool() if pool is None else pool
        self._owns_pool = pool is None
        self._on_answer = on_answer
        self._deadline, self._start_deadline, self._cancel_grace = deadline, start_deadline, cancel_grace
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False
        # Everything below belongs to the client's thread, which learns of the world through `_events` alone.
        self._events: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._child: Child | None = None
        self._ready = False
        self._proven = False
        self._start_by = 0.0
        self._waiting: deque[_Job] = deque()
        self._job: _Job | None = None
        self._unfinished = 0

    @property
    def running(self) -> bool:
        """Whether an engine process is there and ready."""
        return self._ready

    @property
    def busy(self) -> bool:
        """Whether jobs have been submitted that are not answered yet."""
        with self._lock:
            return self._unfinished > 0

    @property
    def pid(self) -> int | None:
        """The engine's process number, or None while there is none."""
        child = self._child
        return child.pid if child else None

    def next_job(self) -> int:
        """A number for a new job; they grow from 1."""
        return next(self._numbers)

    def start(self) -> None:
        """Start the engine, so that the first job need not wait for it. Returns at once."""
        self._post(self._spawn)

    def submit(self, request: Request) -> None:
        """Queue a request. Raises nothing: what is wrong with it comes as Failed. After `close` nothing happens."""
        if isinstance(request, CancelRequest):
            self.cancel(request.job)
            return
        try:
            job = _Job(request, tuple(self._held(segments_read(request))))
        except KeyError:
            sentence = "The array is no longer in memory; load it again."
            self._post(lambda: self._tell(Failed(request.job, sentence)))
            return
        with self._lock:
            self._unfinished += 1
        if not self._post(lambda: self._queue(job)):
            self._done(job)

    def cancel(self, job: int, kill: bool = True) -> None:
        """Stop a job, at work or waiting. One that is unknown, or answered, is left alone. `kill` says whether the
        engine is ended when the job does not stop in time; otherwise it may finish what it is at."""
        self._post(lambda: self._cancel(job, kill))

    def close(self) -> None:
        """End the engine: ask it, terminate it half a second later, then kill it. Closing again does nothing."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            thread = self._thread
        atexit.unregister(self.close)
        if thread is not None:
            self._events.put(lambda: None)  # wakes it; it sees that it is to end
            if thread is not threading.current_thread():
                thread.join(2 * STOP_GRACE + 3 * PATIENCE)
        if self._owns_pool:
            self.pool.close()

    def __enter__(self) -> EngineClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _post(self, event: Callable[[], None]) -> bool:
        """Have the client's thread do something, unless the client is closed."""
        with self._lock:
            if self._closed:
                return False
            if self._thread is None:
                self.pool.watch(self._gone)
                atexit.register(self.close)  # before multiprocessing's own handler, which would wait for the child
                self._thread = threading.Thread(target=self._watch, name="engine-client", daemon=True)
                self._thread.start()
            self._events.put(event)
            return True

    def _held(self, names: Iterator[str]) -> Iterator[str]:
        for name in names:
            self.pool.hold(name)
            yield name

    def _gone(self, segment: str) -> None:
        self._events.put(lambda: self._say(SegmentGone(segment)))

    # The client's thread.

    def _watch(self) -> None:
        """Take events as they come; when there are none, look at the clock."""
        clean_stale()
        try:
            while not self._closed:
                try:
                    event = self._events.get(timeout=self._patience())
                except Empty:
                    event = self._on_time
                self._take(event)
        finally:
            self._stop()

    def _take(self, event: Callable[[], None]) -> None:
        try:
            event()
        except Exception:
            # A mistake of ours, or words that no engine of this version says: the next job starts afresh.
            traceback.print_exc()
            self._end_child()
            self._fail_job("was not understood")

    def _patience(self) -> float | None:
        """Seconds until something is overdue, or None."""
        due = []
        if self._child and not self._ready:
            due.append(self._start_by)
        if self._job:
            due.append(self._job.last_word + self._deadline)
            if self._job.cancel_by is not None:
                due.append(self._job.cancel_by)
        return max(min(due) - time.monotonic(), 0.0) if due else None

    def _on_time(self) -> None:
        now = time.monotonic()
        if self._child and not self._ready and now >= self._start_by:
            self._end_child()
            self._not_started(f"did not start within {self._start_deadline:g} s")
        elif self._job and self._job.cancel_by is not None and now >= self._job.cancel_by:
            self._end_child()
            self._finish(Finished(self._job.request.job, cancelled=True))
            self._spawn()
        elif self._job and now >= self._job.last_word + self._deadline:
            self._end_child()
            self._fail_job(f"said nothing for {self._deadline:g} s and was stopped")
            self._spawn()

    def _spawn(self) -> None:
        if self._child or self._closed:
            return
        self._proven = False
        self._start_by = time.monotonic() + self._start_deadline
        try:
            self._child = Child(lambda child, message: self._events.put(lambda: self._hear(child, message)))
        except Exception as error:  # of the system, or of multiprocessing, which asserts
            self._not_started(f"cannot be started ({error})")

    def _end_child(self, grace: float = 0.0) -> str:
        """End the process; what it still says is not heard. Returns how it ended."""
        child, self._child, self._ready = self._child, None, False
        return child.end(grace) if child else ""

    def _hear(self, child: Child, message: Any) -> None:
        if child is not self._child:
            return
        if message is None:
            self._hung_up()
        elif isinstance(message, Ready):
            self._on_ready(message)
        elif self._job is None:
            pass
        elif isinstance(message, SegmentWanted):
            self._heard(self._job)
            child.send(self._grant(self._job, message))
        elif message.job == self._job.request.job:
            self._heard(self._job)
            self._on_message(self._job, message)

    @staticmethod
    def _heard(job: _Job) -> None:
        job.begun, job.last_word = True, time.monotonic()

    def _on_ready(self, ready: Ready) -> None:
        if ready.protocol != PROTOCOL:
            self._end_child()
            self._not_started(f"speaks protocol {ready.protocol}, the window {PROTOCOL}: it was updated meanwhile")
            return
        self._ready = True
        self._tell(ready)
        self._next()

    def _on_message(self, job: _Job, message: Answer) -> None:
        if isinstance(message, Finished | Failed):
            self._proven = True
            self._finish(message)
            self._next()
            return
        for name in segments_given(message):
            job.granted.remove(name)  # the caller's from here on
        self._tell(message)

    def _grant(self, job: _Job, wanted: SegmentWanted) -> SegmentGranted:
        try:
            name = self.pool.take(wanted.nbytes)
        except DeviceMemoryError as error:
            return SegmentGranted(wanted.ticket, "", str(error))
        job.granted.append(name)
        return SegmentGranted(wanted.ticket, name)

    def _hung_up(self) -> None:
        """The process ended by itself, or from outside."""
        was_ready, job = self._ready, self._job
        how = self._end_child(STOP_GRACE)
        if not was_ready:
            self._not_started(f"{how} before it was ready")
            return
        if job and job.cancel_by is not None:
            self._finish(Finished(job.request.job, cancelled=True))
        elif job and (job.begun or job.sent > 1):
            self._fail_job(how)
        elif job:  # it died before it looked at the job, of something else
            self._give_back(job)
            self._waiting.appendleft(job)
            self._job = None
        if job or self._waiting or self._proven:  # else it might die again and again
            self._spawn()

    def _not_started(self, how: str) -> None:
        """Fail every job that waits; the next one tries again."""
        failed = [job.request.job for job in self._waiting] or [0]
        for job in self._waiting:
            self._done(job)
        self._waiting.clear()
        for number in failed:
            self._tell(Failed(number, f"The engine {how}; start the program again.", kind="engine"))

    def _queue(self, job: _Job) -> None:
        self._waiting.append(job)
        self._next()

    def _next(self) -> None:
        if self._job or not self._waiting:
            return
        if self._child is None:
            self._spawn()
        elif self._ready:
            job = self._job = self._waiting.popleft()
            job.sent, job.last_word = job.sent + 1, time.monotonic()
            self._say(job.request)

    def _say(self, message: Any) -> None:
        if self._child:
            self._child.send(message)

    def _cancel(self, number: int, kill: bool) -> None:
        if self._job and self._job.request.job == number:
            if kill and self._job.cancel_by is None:
                self._job.cancel_by = time.monotonic() + self._cancel_grace
            self._say(CancelRequest(number))
            return
        for job in self._waiting:
            if job.request.job == number:
                self._waiting.remove(job)
                self._done(job)
                self._tell(Finished(number, cancelled=True))
                return

    def _fail_job(self, how: str) -> None:
        if self._job:
            sentence = f"The engine {how} while it {doing(self._job.request)}; the next run starts it anew."
            self._finish(Failed(self._job.request.job, sentence, kind="engine"))

    def _finish(self, answer: Finished | Failed) -> None:
        """The last word on the job at work."""
        job, self._job = self._job, None
        if job:
            self._done(job)
            self._tell(answer)

    def _done(self, job: _Job) -> None:
        self._give_back(job)
        for name in job.reads:
            self.pool.release(name)
        with self._lock:
            self._unfinished -= 1

    def _give_back(self, job: _Job) -> None:
        while job.granted:
            self.pool.release(job.granted.pop())

    def _tell(self, answer: Answer) -> None:
        if not self._closed:
            try:
                self._on_answer(answer)
            except Exception:
                traceback.print_exc()  # the caller's mistake must not stop the engine's answers

    def _stop(self) -> None:
        self.pool.unwatch(self._gone)
        self._say(None)
        self._end_child(STOP_GRACE)
        with suppress(Empty):
            while True:
                self._events.get_nowait()()  # requests that came too late to be begun, but hold segments
        for job in [self._job, *self._waiting]:
            if job:
                self._done(job)
