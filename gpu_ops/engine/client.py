"""The window's side: jobs go to an engine process one at a time, and every job is answered, even if the engine dies."""

from __future__ import annotations

import atexit
import itertools
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
from typing import Any

from gpu_ops.engine.about import activity, segments_of_answer, segments_of_request
from gpu_ops.engine.child import PATIENCE, Child, EarlyChild
from gpu_ops.engine.client_jobs import ClientJob, ConcurrentJobs
from gpu_ops.engine.messages import (
    PROTOCOL,
    Answer,
    CancelRequest,
    Failed,
    Finished,
    OwnVariants,
    Ready,
    Request,
    SegmentGrant,
    SegmentRelease,
    SegmentRequest,
    SurveyRequest,
)
from gpu_ops.engine.segments import SegmentPool, clean_stale
from gpu_ops.errors import DeviceMemoryError
from gpu_ops.filters import FILTERS

CANCEL_GRACE = 0.5
STOP_GRACE = 0.5


class EngineClient:
    """Sends jobs to an engine process. The client starts the process when a job first needs it, and starts a new one if
    it dies, hangs or must be killed.

    The answers to a job are its results – Progress, Loaded, RunUpdate, DoctorAnswer – and then exactly one Finished or
    Failed. Ready is sent whenever an engine has started. Failed with job 0 says that an engine did not start while no
    job waited. The client calls `on_answer` from its own thread, never after `close`.

    The client holds the segments in Loaded and RunUpdate for the caller, who releases them to the pool. It also holds
    them, and the segments that a request reads, until the job is answered. `close` closes the client's own pool, but
    not a `pool` from the caller. Surveys run concurrently with other jobs, and have no deadline here: decoders have
    their own.

    In seconds, `deadline` is the longest time that a running job may send nothing, `start_deadline` the longest start
    of an engine, and `cancel_grace` the time that a cancelled job has to stop before its process is killed. `early` is
    an engine's process that starts already.
    """

    def __init__(
        self,
        on_answer: Callable[[Answer], None],
        pool: SegmentPool | None = None,
        deadline: float = 60.0,
        start_deadline: float = 60.0,
        cancel_grace: float = CANCEL_GRACE,
        early: EarlyChild | None = None,
    ) -> None:
        self.pool = SegmentPool() if pool is None else pool
        self._owns_pool = pool is None
        self._on_answer = on_answer
        self._deadline, self._start_deadline, self._cancel_grace = deadline, start_deadline, cancel_grace
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False
        # Everything below belongs to the client's thread; other threads reach it only through `_events`.
        self._events: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._child: Child | None = None
        self._early = early
        self._ready = False
        self._has_answered = False
        self._start_by = 0.0
        self._waiting: deque[ClientJob] = deque()
        self._job: ClientJob | None = None
        self._concurrent = ConcurrentJobs(self._send, self._settle, self._answer)
        self._open_jobs = 0

    @property
    def running(self) -> bool:
        """Whether an engine process exists and is ready."""
        return self._ready

    @property
    def busy(self) -> bool:
        """Whether a submitted job is not answered yet."""
        with self._lock:
            return self._open_jobs > 0

    @property
    def pid(self) -> int | None:
        """The engine's process number, or None without an engine."""
        child = self._child
        return child.pid if child else None

    def next_job(self) -> int:
        """A number for a new job, in ascending order from 1."""
        return next(self._numbers)

    def start(self) -> None:
        """Start the engine, so that the first job does not have to wait for it. Returns at once."""
        self._post(self._spawn)

    def submit(self, request: Request) -> None:
        """Queue a request. It never raises: errors are reported by Failed. After `close` it does nothing."""
        if isinstance(request, CancelRequest):
            self.cancel(request.job)
            return
        try:
            job = ClientJob(request, tuple(self._hold(segments_of_request(request))))
        except KeyError:
            sentence = "The array is no longer in memory; load it again."
            self._post(lambda: self._answer(Failed(request.job, sentence)))
            return
        with self._lock:
            self._open_jobs += 1
        if not self._post(lambda: self._queue(job)):
            self._settle(job)

    def cancel(self, job: int, kill: bool = True) -> None:
        """Stop a running or waiting job; an unknown or answered job is ignored. `kill` says whether to end the engine
        if the job does not stop in time; otherwise the job may finish."""
        self._post(lambda: self._cancel(job, kill))

    def close(self) -> None:
        """End the engine: ask it to stop, terminate it half a second later, then kill it. A second call does
        nothing."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            thread = self._thread
        atexit.unregister(self.close)
        if thread is not None:
            self._events.put(lambda: None)  # wakes the thread, which then sees `_closed`
            if thread is not threading.current_thread():
                thread.join(2 * STOP_GRACE + 3 * PATIENCE)
        if self._owns_pool:
            self.pool.close()

    def __enter__(self) -> EngineClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _post(self, event: Callable[[], None]) -> bool:
        """Let the client's thread call `event`. Returns False if the client is closed."""
        with self._lock:
            if self._closed:
                return False
            if self._thread is None:
                self.pool.watch(self._send_release)
                FILTERS.watchers.append(self._watch_own)
                atexit.register(self.close)  # before multiprocessing's own handler, which would wait for the child
                self._thread = threading.Thread(target=self._watch, name="engine-client", daemon=True)
                self._thread.start()
            self._events.put(event)
            return True

    def _hold(self, names: Iterator[str]) -> Iterator[str]:
        for name in names:
            self.pool.hold(name)
            yield name

    def _send_release(self, segment: str) -> None:
        self._events.put(lambda: self._send(SegmentRelease(segment)))

    def _watch_own(self) -> None:
        self._events.put(self._send_own)

    # The client's thread

    def _watch(self) -> None:
        """Handle events as they arrive, and timeouts in between."""
        clean_stale()
        try:
            while not self._closed:
                try:
                    event = self._events.get(timeout=self._timeout())
                except Empty:
                    event = self._on_timeout
                self._handle(event)
        finally:
            self._stop()

    def _handle(self, event: Callable[[], None]) -> None:
        try:
            event()
        except Exception:
            # A bug, or a message that this version does not know: another engine takes the other jobs.
            traceback.print_exc()
            self._on_end("was not understood")

    def _timeout(self) -> float | None:
        """Seconds until the next deadline, or None."""
        due = [self._start_by] if self._child and not self._ready else []
        if self._job:
            due += [self._job.next_look(self._deadline)]
            due += [] if self._job.cancel_by is None else [self._job.cancel_by]
        return max(min(due) - time.monotonic(), 0.0) if due else None

    def _on_timeout(self) -> None:
        now = time.monotonic()
        if self._child and not self._ready and now >= self._start_by:
            self._end_child()
            self._fail_start(f"did not start within {self._start_deadline:g} s")
        elif self._job and self._job.cancel_by is not None and now >= self._job.cancel_by:
            self._end_child()
            self._finish(Finished(self._job.request.job, cancelled=True))
            self._spawn()
        elif self._job and self._job.is_stuck(self._deadline, self.pid):
            self._end_child()
            self._fail_job(f"said nothing for {self._job.patience(self._deadline):g} s and was stopped")
            self._spawn()

    def _spawn(self) -> None:
        if self._child or self._closed:
            return
        self._has_answered = False
        self._start_by = time.monotonic() + self._start_deadline
        early, self._early = self._early, None
        try:
            self._child = early.take(self._hear) if early else Child(self._hear)
        except Exception as error:  # of the system, or a failed assertion of multiprocessing
            self._fail_start(f"cannot be started ({error})")

    def _end_child(self, grace: float = 0.0) -> str:
        """End the process and ignore its last messages. Returns how it ended."""
        child, self._child, self._ready = self._child, None, False
        return child.end(grace) if child else ""

    def _hear(self, child: Child, message: Any) -> None:
        """Called in the child's thread."""
        self._events.put(lambda: self._receive(child, message))

    def _receive(self, child: Child, message: Any) -> None:
        if child is not self._child:
            return
        if message is None:
            self._on_end()
        elif isinstance(message, Ready):
            self._on_ready(message)
        elif self._concurrent.handle(message):
            self._has_answered = True
        elif self._job is None:
            pass
        elif isinstance(message, SegmentRequest):
            self._job.note_life(child.pid)
            child.send(self._grant(self._job, message))
        elif message.job == self._job.request.job:
            self._job.note_life(child.pid)
            self._on_message(self._job, message)

    def _on_ready(self, ready: Ready) -> None:
        if ready.protocol != PROTOCOL:
            self._end_child()
            self._fail_start(f"speaks protocol {ready.protocol}, the window {PROTOCOL}: it was updated meanwhile")
            return
        self._ready = True
        if FILTERS.own:  # a new engine has none
            self._send_own()
        self._answer(ready)
        self._concurrent.begin_all()
        self._next()

    def _on_message(self, job: ClientJob, message: Answer) -> None:
        if isinstance(message, Finished | Failed):
            self._has_answered = True
            self._finish(message)
            self._next()
            return
        for name in segments_of_answer(message):
            self.pool.hold(name)  # for the caller, who may release it while the engine verifies what is in it
        self._answer(message)

    def _grant(self, job: ClientJob, request: SegmentRequest) -> SegmentGrant:
        try:
            name = self.pool.take(request.nbytes)
        except DeviceMemoryError as error:
            return SegmentGrant(request.ticket, "", str(error))
        job.segments.append(name)
        return SegmentGrant(request.ticket, name)

    def _on_end(self, fault: str = "") -> None:
        """The process has ended by itself or from outside; or it is ended now because of this fault."""
        was_ready, job = self._ready, self._job
        how = self._end_child(0.0 if fault else STOP_GRACE)
        how = fault or how
        if not was_ready:
            self._fail_start(f"{how} before it was ready")
            return
        if job and job.cancel_by is not None:
            self._finish(Finished(job.request.job, cancelled=True))
        elif job and (job.at_work or job.sent > 1):
            self._fail_job(how)
        elif job:  # the engine died before it read the job, so the job is not to blame
            job.release(self.pool)
            self._waiting.appendleft(job)
            self._job = None
        self._concurrent.lose(how)
        # An idle engine that never answered might die again and again.
        if job or self._waiting or self._concurrent or self._has_answered:
            self._spawn()

    def _fail_start(self, how: str) -> None:
        """Fail every waiting job; the next job tries again."""
        sentence = f"The engine {how}; start the program again."
        numbers = [job.request.job for job in self._waiting] or ([] if self._concurrent else [0])
        while self._waiting:
            self._settle(self._waiting.popleft())
        self._concurrent.fail_all(sentence)
        for number in numbers:
            self._answer(Failed(number, sentence, kind="engine"))

    def _queue(self, job: ClientJob) -> None:
        if isinstance(job.request, SurveyRequest):
            self._concurrent.add(job, self._ready)
            self._spawn()
        else:
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
            self._send(job.request)

    def _send(self, message: Any) -> None:
        if self._child:
            self._child.send(message)

    def _send_own(self) -> None:
        if self._ready:
            self._send(OwnVariants(FILTERS.own))

    def _cancel(self, number: int, kill: bool) -> None:
        if self._job and self._job.request.job == number:
            if kill and self._job.cancel_by is None:
                self._job.cancel_by = time.monotonic() + self._cancel_grace
            self._send(CancelRequest(number))
            return
        if self._concurrent.cancel(number):
            return
        for job in self._waiting:
            if job.request.job == number:
                self._waiting.remove(job)
                self._settle(job)
                self._answer(Finished(number, cancelled=True))
                return

    def _fail_job(self, how: str) -> None:
        if self._job:
            sentence = f"The engine {how} while it {activity(self._job.request)}; the next run starts it anew."
            self._finish(Failed(self._job.request.job, sentence, kind="engine"))

    def _finish(self, answer: Finished | Failed) -> None:
        """Send the last answer to the running job."""
        job, self._job = self._job, None
        if job:
            self._settle(job)
            self._answer(answer)

    def _settle(self, job: ClientJob) -> None:
        job.release(self.pool)
        for name in job.reads:
            self.pool.release(name)
        with self._lock:
            self._open_jobs -= 1

    def _answer(self, answer: Answer) -> None:
        if not self._closed:
            try:
                self._on_answer(answer)
            except Exception:
                traceback.print_exc()  # an error in the caller's code must not prevent later answers

    def _stop(self) -> None:
        self.pool.unwatch(self._send_release)
        FILTERS.watchers.remove(self._watch_own)
        self._send(None)
        self._end_child(STOP_GRACE)
        while not self._events.empty():
            self._events.get_nowait()()  # requests after `close` are never sent, but their segments must be released
        for job in ([self._job] if self._job else []) + [*self._waiting]:
            self._settle(job)
        self._concurrent.drop_all()
