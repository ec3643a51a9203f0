"""What nobody expected in a thread of the wire: the window gets a sentence, and later jobs are done."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest

from gpu_ops.engine.messages import DoctorRequest, Failed, Progress, TransfersRequest
from gpu_ops.engine.segments import SegmentPool
from gpu_ops.engine.shared import SharedArray
from gpu_ops.remote import client as client_module
from gpu_ops.remote import sending, turns
from gpu_ops.remote.client import MOST_LOST, RemoteClient
from gpu_ops.remote.codec import decoded, encoded
from gpu_ops.remote.destination import Destination
from gpu_ops.remote.host import Host
from gpu_ops.remote.line import Connection, Line
from gpu_ops.remote.news import LinkState
from gpu_ops.remote.sending import Sending
from gpu_ops.remote.ssh import Reached
from gpu_ops.remote.turns import MOST_OF_A_USER, Turns
from gpu_ops.remote.wire import LARGEST_BUFFER, LONGEST_HEAD, MESSAGE, NOTE, Decoder, Frame, WireError, note

PATIENCE = 20.0


class Planted(Exception):
    """An error that no code expects."""


def _connection(end: socket.socket) -> Connection:
    def stop() -> None:
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)

    return Connection(end.fileno(), end.fileno(), stop, end.close)


class There:
    """The other machine, in this process: an engine for each session, which takes jobs and answers nothing."""

    def __init__(self) -> None:
        self.jobs: SimpleQueue[int] = SimpleQueue()
        self.sessions: list[str] = []
        self.lines: list[Line] = []

    def reach(self, to: Destination, session: str, seen: int, asking: object = None) -> Reached:
        begun = session in self.sessions
        self.sessions += [] if begun else [session]
        self.lines += [] if begun else [Line(self._take)]
        ours, theirs = socket.socketpair()
        how = _connection(theirs), Decoder(), seen if begun else 0
        threading.Thread(target=self.lines[-1].converse, args=how, daemon=True).start()
        return Reached(_connection(ours), Decoder(), {"begun": begun, "seen": self.lines[-1].seen})

    def _take(self, frame: Frame) -> None:
        if frame.kind == MESSAGE and isinstance(message := decoded(frame.head), DoctorRequest):
            self.jobs.put(message.job)


class Window:
    def __init__(self, there: There) -> None:
        self.there, self.pool, self.answers = there, SegmentPool(), SimpleQueue[Any]()
        self.client = RemoteClient(Destination("gpu-host"), self.answers.put, self.pool)

    def until(self, kind: type, stage: str = "") -> Any:
        while not isinstance(found := self.answers.get(timeout=PATIENCE), kind) or getattr(found, "stage", "") != stage:
            pass
        return found


@pytest.fixture
def window(monkeypatch: pytest.MonkeyPatch) -> Iterator[Window]:
    there = There()
    monkeypatch.setattr(client_module, "reach", there.reach)
    monkeypatch.setattr(client_module, "PAUSES", (0.0,))
    made = Window(there)
    yield made
    made.client.close()
    made.pool.close()


def test_an_error_while_a_job_is_sent_is_its_end_and_not_that_of_others(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = window.client._send_job

    def send(line: Line, job: Any) -> None:
        if job.request.job == 1:
            raise Planted("no room")
        real(line, job)

    monkeypatch.setattr(window.client, "_send_job", send)
    window.client.submit(DoctorRequest(1))
    window.client.submit(DoctorRequest(2))
    failed = window.until(Failed)
    assert failed.job == 1 and "could not be sent to gpu-host (no room); run it again" in failed.sentence
    assert window.there.jobs.get(timeout=PATIENCE) == 2


def test_a_job_that_is_sent_as_a_new_engine_begins_is_sent_to_that_one(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.client.submit(DoctorRequest(1))
    assert window.there.jobs.get(timeout=PATIENCE) == 1
    begun, real = threading.Event(), window.client._uploads.send

    def send(line: Line, *rest: Any) -> None:
        if not begun.is_set():  # the connection's thread is faster
            begun.set()
            window.client._session = ""
            line.drop()
            window.until(LinkState, "ready")
            window.until(LinkState, "ready")
        real(line, *rest)

    monkeypatch.setattr(window.client._uploads, "send", send)
    window.client.submit(DoctorRequest(2))
    assert {window.there.jobs.get(timeout=PATIENCE), window.there.jobs.get(timeout=PATIENCE)} == {1, 2}


def test_what_is_not_understood_begins_a_new_engine_and_ends_clearly(window: Window) -> None:
    window.client.submit(DoctorRequest(1))
    for times in range(1, MOST_LOST):
        assert window.there.jobs.get(timeout=PATIENCE) == 1
        window.there.lines[-1].send(note("sent"))  # its number is missing
        assert "(number" in window.until(LinkState, "lost").sentence.replace("'", "")
        window.until(LinkState, "ready")
        assert len(window.there.sessions) == times + 1
    assert window.there.jobs.get(timeout=PATIENCE) == 1
    window.there.lines[-1].send(note("fault", sentence="a frame is odd"))
    sentence = window.until(LinkState, "failed").sentence
    assert f"failed {MOST_LOST} times (a frame is odd); install the same" in sentence
    assert window.until(Failed) == Failed(1, sentence, kind="engine")
    window.client.submit(DoctorRequest(2))  # tries again
    assert window.there.jobs.get(timeout=PATIENCE) == 2


def test_an_error_in_the_window_prevents_no_later_answer(window: Window) -> None:
    heard = list[Any]()

    def hear(answer: Any) -> None:
        heard.append(answer)
        raise Planted

    window.client._on_answer = hear
    window.client.submit(DoctorRequest(1))
    assert window.there.jobs.get(timeout=PATIENCE) == 1
    done = threading.Event()
    window.client._on_answer = lambda answer: done.set() if isinstance(answer, Progress) else hear(answer)
    window.there.lines[-1].send(Frame(MESSAGE, encoded(Progress(1, "half"))))
    assert done.wait(PATIENCE) and len(window.there.sessions) == 1 and heard


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_connection_whose_writer_fails_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def write(connection: Connection, written: int) -> tuple[bytes, int]:
        raise Planted

    line, (ours, theirs) = Line(lambda frame: None), socket.socketpair()
    monkeypatch.setattr(line, "_next", write)
    reader = threading.Thread(target=line.converse, args=(_connection(ours), Decoder(), 0), daemon=True)
    reader.start()
    reader.join(PATIENCE)
    theirs.close()
    assert not reader.is_alive() and not line.connected  # so it is made again


@pytest.mark.parametrize("size", [(LONGEST_HEAD + 1, 0), (0, LARGEST_BUFFER + 1)])
def test_a_frame_that_is_too_long_is_refused_where_it_is_made(size: tuple[int, int]) -> None:
    with pytest.raises(WireError, match="at most"):
        Frame(MESSAGE, bytes(size[0]), bytes(size[1]))


def _notes(line: Line) -> list[dict[str, Any]]:
    return [frame.content() for frame in line._kept if frame.kind == NOTE]


def test_an_engine_that_does_not_understand_says_so_and_ends(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    def submit(request: Any) -> None:
        raise Planted("no such thing")

    monkeypatch.setattr(host._turns, "submit", submit)
    host._take(Frame(MESSAGE, encoded(DoctorRequest(1))))
    assert _notes(host._line) == [{"is": "fault", "sentence": "no such thing"}] and host._over.is_set()
    host._take(Frame(NOTE, b"garbage"))  # nothing that follows is looked at
    assert len(_notes(host._line)) == 1


def test_an_answer_that_cannot_be_sent_is_the_end_of_its_job(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    def with_answer(shared: SharedArray) -> None:
        raise Planted("no memory")

    cancelled = list[int]()
    monkeypatch.setattr(host._client, "cancel", lambda job, kill: cancelled.append(job))
    monkeypatch.setattr(host._sending, "with_answer", with_answer)
    host._hear(Progress(1, SharedArray("kernelscope-1-1", (2,), "uint8")))  # type: ignore[arg-type]
    (frame,) = host._line._kept
    assert cancelled == [1]  # nobody waits for it any more
    answer = decoded(frame.head)
    assert isinstance(answer, Failed) and "could not be sent (no memory); run it again" in answer.sentence


def test_an_array_that_cannot_be_sent_is_gone_and_others_come(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, line, real = SegmentPool(), Line(lambda frame: None), sending.frames_of
    shared = SharedArray(pool.take(64), (64,), "uint8")

    def frames(name: str, array: Any, cells: int = 0, number: int = 0, spans: Any = ()) -> Iterator[Frame]:
        if number == 2:
            raise Planted
        yield from real(name, array, cells, number, spans)

    monkeypatch.setattr(sending, "frames_of", frames)
    np.copyto(pool.array(shared, writeable=True), 7)
    made = Sending(line, pool)
    made.ask(2, shared, 0, ())
    made.ask(1, shared, 0, ())
    with line._changed:
        assert line._changed.wait_for(lambda: len(_notes(line)) == 2, PATIENCE)
    assert {(n["is"], n["number"]) for n in _notes(line)} == {("gone", 2), ("sent", 1)}
    made.close()
    pool.close()


def _transfers(job: int) -> TransfersRequest:
    return TransfersRequest(job, "sizes", "cuda:0", None, "transfer", {})


@pytest.mark.parametrize(
    ("limit", "sentence"), [("many", f"^{MOST_OF_A_USER} is 'many' there; set a number"), ("", r"did not come \(odd\)")]
)
def test_a_job_whose_turn_cannot_come_does_not_hold_up_others(
    limit: str, sentence: str, own_folders: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MOST_OF_A_USER, limit)
    if not limit:

        def most() -> int:
            raise Planted("odd")

        monkeypatch.setattr(turns, "_most_of_a_user", most)
    passed, answers = SimpleQueue[Any](), SimpleQueue[Any]()
    queue = Turns(passed.put, answers.put)
    try:
        queue.submit(_transfers(1))
        failed = answers.get(timeout=PATIENCE)
        with pytest.raises(ValueError, match=sentence):
            raise ValueError(failed.sentence)
        monkeypatch.undo()
        monkeypatch.setenv(turns.FOLDER, str(turns._place()))
        queue.submit(_transfers(2))
        assert passed.get(timeout=PATIENCE).job == 2
        queue.end(2)
    finally:
        queue.close()
