"""The window's side of an engine on another machine: jobs and answers survive every loss of the connection."""

from __future__ import annotations

import secrets
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from queue import SimpleQueue
from typing import Any

from gpu_ops.engine.about import segments_of_request
from gpu_ops.engine.messages import (
    Answer,
    CancelRequest,
    Failed,
    Finished,
    OwnVariants,
    Progress,
    Ready,
    Request,
    RunUpdate,
    Stepped,
)
from gpu_ops.engine.segments import SegmentPool
from gpu_ops.engine.shared import SharedArray
from gpu_ops.errors import DeviceError, DeviceMemoryError, plain
from gpu_ops.filters import FILTERS
from gpu_ops.input_kinds import Spans
from gpu_ops.remote.codec import decoded, encoded
from gpu_ops.remote.destination import Destination
from gpu_ops.remote.line import Line
from gpu_ops.remote.mirrors import Mirror, Mirrors
from gpu_ops.remote.naming import named_here, named_there
from gpu_ops.remote.news import Arrived, LinkState, Stage
from gpu_ops.remote.ssh import Reached, Refused, reach
from gpu_ops.remote.store import SENT
from gpu_ops.remote.uploads import Gone, Uploads
from gpu_ops.remote.wire import DATA, MESSAGE, NOTE, Frame, WireError, note

PAUSES = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds before each attempt to connect again; the last one is repeated."""
RETRY = 300.0
"""Seconds without a connection after which waiting jobs fail."""
MOST_LOST = 3
"""How many engines may end with a job before it is to blame."""


@dataclass(eq=False)
class _Job:
    request: Any
    reads: tuple[str, ...]
    sent: bool = False
    lost: int = 0


class RemoteClient:
    """Sends jobs to an engine that ssh starts on another machine. The answers are those of EngineClient, with the
    segments of the caller's `pool` and with devices that begin with the host's label; besides, `on_answer` is called
    with a LinkState and with Arrived. It is called from threads of this client, never after `close`.

    A lost connection is made anew, and everything goes on where it was, because the engine waits there for a while. If
    it did not, its unanswered jobs begin again on a new one; results that have not come whole stay as they are.
    `asking` are the variables of a program that asks the questions of ssh.
    """

    def __init__(
        self,
        to: Destination,
        on_answer: Callable[..., None],
        pool: SegmentPool,
        asking: Mapping[str, str] | None = None,
    ) -> None:
        self.to, self._on_answer, self._pool, self._asking = to, on_answer, pool, asking
        self._lock = threading.RLock()
        self._jobs: dict[int, _Job] = {}
        self._uploads = Uploads(pool)
        self._session = ""
        self._line = Line(self._take)
        self._mirrors = Mirrors(pool, lambda frame: self._line.send(frame), self._on_changed)
        self._to_send: SimpleQueue[tuple[Line, int] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._untold: Mapping[str, Any] = {}
        self._closed = False
        pool.watch_free(self._forget)
        FILTERS.watchers.append(self._send_own)
        self._sender = threading.Thread(target=self._send_all, name="remote-sender", daemon=True)
        self._sender.start()

    @property
    def label(self) -> str:
        """What the names of its devices begin with."""
        return self.to.label

    def start(self) -> None:
        """Connect, if there is no connection. Returns at once."""
        with self._lock:
            if self._closed or (self._thread is not None and self._thread.is_alive()):
                return
            self._thread = threading.Thread(target=self._keep_connected, name="remote-connection", daemon=True)
            self._thread.start()

    def submit(self, request: Request) -> None:
        """Queue a request. It never raises: errors are reported by Failed."""
        if isinstance(request, CancelRequest):
            self.cancel(request.job)
            return
        try:
            reads = tuple(self._held(name) for name in segments_of_request(request))
        except KeyError:
            self._answer(Failed(request.job, "The array is no longer in memory; load it again."))
            return
        with self._lock:
            self._jobs[request.job] = _Job(request, reads)
            self._to_send.put((self._line, request.job))
        self.start()

    def _held(self, name: str) -> str:
        self._pool.hold(name)
        return name

    def cancel(self, job: int, kill: bool = True) -> None:
        """Stop a job. Unless the engine there may have to be killed for it, it ends here at once, so that the next one
        need not wait for an answer; so does one that waits here, or while there is no connection."""
        with self._lock:
            known = self._jobs.get(job)
            if known is None:
                return
            line, at_once = self._line, not kill or not known.sent or not self._line.connected
        if known.sent:
            line.send(Frame(MESSAGE, encoded(CancelRequest(job))) if kill else note("cancel", job=job))
        if at_once:
            self._finish(Finished(job, cancelled=True))

    def look(self, segment: str, view: Spans = (), pixels: int = 0) -> None:
        """A pane shows this array, or its part in `view`, on so many pixels: that comes before the values of others."""
        self._mirrors.look(segment, view, pixels)

    def mirror(self, segment: str) -> Mirror | None:
        """What is here of an array of this host; None for any other segment."""
        return self._mirrors.get(segment)

    def whole(self, segment: str, then: Callable[[bool], None]) -> None:
        """Call `then(True)` once all is here, `then(False)` if they never come. It neither waits nor uses the pool."""
        self._mirrors.whole(segment, then)

    def close(self) -> None:
        """Say goodbye: the engine there ends. A second call does nothing."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            line, thread = self._line, self._thread
        line.send(note("goodbye"))
        line.flush(1.0)
        line.close()
        self._to_send.put(None)
        self._pool.unwatch(self._forget)
        FILTERS.watchers.remove(self._send_own)
        self._uploads.give_up()
        if thread is not None and thread is not threading.current_thread():
            thread.join(2.0)
        with self._lock:
            jobs, self._jobs = list(self._jobs.values()), {}
        for job in jobs:
            self._settle(job)

    # ---------------------------------------------------------------- the connection

    def _keep_connected(self) -> None:
        """Connect, and again whenever the connection is lost, until there is no hope or the client is closed."""
        attempt, since, begun, faults, fault = 0, time.monotonic(), False, 0, ""
        while not self._closed:
            self._say("lost" if begun else "connecting", fault)
            time.sleep(PAUSES[min(attempt, len(PAUSES) - 1)] if begun else 0.0)
            try:
                self._session = self._session or secrets.token_hex(8)
                reached = reach(self.to, self._session, self._line.seen, self._asking)
                if self._closed:
                    reached.connection.end()
                    reached.connection.close()
                    return
                if not begun or not reached.begun:
                    self._begin_anew(begun)
                begun, attempt, fault = True, 0, ""
                self._converse(reached)
                since = time.monotonic()
            except (DeviceError, OSError) as error:
                attempt += 1
                over = time.monotonic() - since > RETRY
                if isinstance(error, Refused) or not begun or over:
                    self._fail(str(error))
                    return
            except Exception as error:
                traceback.print_exc()
                faults, why = faults + 1, plain(error, 160).rstrip(".")
                if faults == MOST_LOST:
                    self._fail(f"{self.label} failed {MOST_LOST} times ({why}); install the same Kernelscope on both.")
                    return
                fault = f"What it sent was not understood ({why}); a new engine begins there."
                self._session = ""  # the present engine would send the same again

    def _converse(self, reached: Reached) -> None:
        """Exchange frames until the connection is lost. Raises Exception for a frame that is not understood."""
        self._say("ready")
        seen = int(reached.hello.get("seen", 0)) if reached.begun else 0
        try:
            self._line.converse(reached.connection, reached.decoder, seen)
        except (DeviceError, OSError) as error:  # not those of a connection
            raise RuntimeError(str(error)) from error

    def _begin_anew(self, ended: bool) -> None:
        """The engine there is new: it gets all jobs, and has no arrays of one before it, if one has `ended`."""
        with self._lock:
            self._line.close()
            self._line = Line(self._take)
            for job in self._jobs.values():
                job.lost += ended and job.sent
                job.sent = False
            to_blame = [number for number, job in self._jobs.items() if job.lost >= MOST_LOST]
            jobs = [number for number in self._jobs if number not in to_blame]
        self._mirrors.lose()
        self._uploads.give_up()
        self._send_own()
        for number in to_blame:
            sentence = f"The engine on {self.label} ended {MOST_LOST} times with this job; choose another device."
            self._finish(Failed(number, sentence, kind="engine"))
        for number in jobs:
            self._to_send.put((self._line, number))

    def _fail(self, sentence: str) -> None:
        """There is no connection, and none will come by itself: every job fails; the next one tries again."""
        with self._lock:
            numbers, self._session = list(self._jobs), ""
            self._thread = None
        self._say("failed", sentence)
        for number in numbers:
            self._finish(Failed(number, sentence, kind="engine"))

    def _say(self, stage: Stage, sentence: str = "") -> None:
        self._answer(LinkState(self.label, stage, sentence))

    # ---------------------------------------------------------------- from here to there

    def _send_own(self) -> None:
        self._line.send(Frame(MESSAGE, encoded(OwnVariants(FILTERS.own))))

    def _send_all(self) -> None:
        """Send jobs in order, each after the inputs that the host does not have."""
        while (item := self._to_send.get()) is not None:
            line, number = item
            with self._lock:
                job = self._jobs.get(number)
            if job is None or line is not self._line or job.sent:
                continue
            try:
                with self._holding(job.reads):  # a cancelled job releases them while they travel
                    self._send_job(line, job)
            except Gone:
                pass  # it is queued for the new engine
            except DeviceError as error:
                self._finish(Failed(number, f"{str(error).rstrip('.')}.", kind="device"))
            except Exception as error:
                traceback.print_exc()
                sentence = f"The job could not be sent to {self.label} ({plain(error, 160).rstrip('.')})"
                self._finish(Failed(number, f"{sentence}; run it again, or choose another device.", kind="engine"))

    @contextmanager
    def _holding(self, segments: tuple[str, ...]) -> Iterator[None]:
        held = [self._held(segment) for segment in segments]
        try:
            yield
        finally:
            for segment in held:
                self._pool.release(segment)

    def _send_job(self, line: Line, job: _Job) -> None:
        """Raises Gone, DeviceError for an input that is lost, WireError for one that cannot travel."""
        arrays: dict[str, SharedArray] = {}

        def named(value: Any) -> Any:
            if not isinstance(value, SharedArray):
                return named_there(value)
            known = self._mirrors.get(value.segment)
            if known is not None and not known.lost:
                return SharedArray(known.there.segment, value.shape, value.dtype)
            if known is not None and known.step:
                raise DeviceError(f"The engine on {self.label} has lost this input; load it again")
            name = self._uploads.name(value)
            arrays[name] = value
            return SharedArray(name, value.shape, value.dtype)

        frame = Frame(MESSAGE, encoded(job.request, named))
        self._uploads.send(line, arrays, partial(self._tell_sending, job.request.job))
        with self._lock:  # no new engine begins between the two
            if job.request.job not in self._jobs:  # cancelled meanwhile
                return
            job.sent = line.send(frame)
        if not job.sent:
            raise Gone

    def _tell_sending(self, job: int, percent: int) -> None:
        with self._lock:
            if job in self._jobs:
                self._answer(Progress(job, f"{percent} % of the input is sent to {self.label}"))

    def _forget(self, segment: str) -> None:
        """A segment has no holder any more; the pool calls this."""
        self._mirrors.forget(segment)
        if (name := self._uploads.forget(segment)) is not None:
            self._line.send(note("unused", segment=name))

    # ---------------------------------------------------------------- from there to here

    def _take(self, frame: Frame) -> None:
        """A frame of the host."""
        if frame.kind == MESSAGE:
            self._take_message(frame)
        elif frame.kind == DATA:
            self._mirrors.receive(frame.content(), frame.buffer)
        elif frame.kind == NOTE:
            content = frame.content()
            if content.get("is") == "missing":
                self._uploads.answer(int(content["number"]), [str(name) for name in content["names"]])
            elif content.get("is") == "fault":
                raise WireError(str(content["sentence"]))
            elif content.get("is") in ("sent", "gone"):
                self._mirrors.sent(int(content["number"]), content["is"] == "gone")

    def _take_message(self, frame: Frame) -> None:
        here: dict[str, str] = {}

        def named(value: Any) -> Any:
            if not isinstance(value, SharedArray):
                return named_here(value, self.label)
            if value.segment.startswith(SENT):
                return SharedArray(self._uploads.segment(value.segment), value.shape, value.dtype)
            taken = self._mirrors.take(value)
            here[value.segment] = taken.segment
            return taken

        try:
            answer: Answer = decoded(frame.head, named)
        except DeviceMemoryError as error:
            self._refuse(frame, str(error))
            return
        if isinstance(answer, Stepped):
            for there, segment in list(here.items()):
                if there not in answer.segments:  # of the input that the steps began with
                    self._mirrors.give_back(segment)
                    del here[there]
            answer = Stepped(answer.job, answer.input, tuple(here[s] for s in answer.segments))
        with self._lock:
            known = isinstance(answer, Ready) or answer.job in self._jobs
            if isinstance(answer, RunUpdate):
                self._untold = answer.provenance or self._untold
                if known and self._untold:  # the job that it came with may have been cancelled
                    answer, self._untold = replace(answer, provenance=self._untold), {}
        if not known:
            for segment in here.values():
                self._pool.release(segment)
        elif isinstance(answer, Failed):
            words = f"{self.label}: {answer.sentence}" if answer.nonfinite is None else answer.sentence
            self._finish(replace(answer, sentence=words))  # whose disk, memory or file it is
        elif isinstance(answer, Finished):
            self._finish(answer)
        else:
            self._answer(answer)

    def _refuse(self, frame: Frame, sentence: str) -> None:
        """There is no memory for the arrays of an answer: end its job."""
        job = getattr(decoded(frame.head), "job", 0)
        self.cancel(job, kill=False)
        self._finish(Failed(job, sentence, kind="device"))

    def _on_changed(self, mirror: Mirror) -> None:
        self._answer(Arrived(self.label, mirror.here.segment, mirror.step, mirror.lost))

    def _finish(self, answer: Finished | Failed) -> None:
        """Pass on the last answer of a job, once."""
        with self._lock:
            job = self._jobs.pop(answer.job, None)
        if job is not None:
            self._settle(job)
            self._answer(answer)

    def _settle(self, job: _Job) -> None:
        for name in job.reads:
            self._pool.release(name)

    def _answer(self, answer: Any) -> None:
        if not self._closed:
            try:
                self._on_answer(answer)
            except Exception:
                traceback.print_exc()  # an error in the caller's code must not prevent later answers
