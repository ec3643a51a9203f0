"""The client of an engine whose messages nobody understands."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import pytest

from app import main
from gpu_ops.devices.status import DeviceStatus
from gpu_ops.engine import child as children
from gpu_ops.engine import client as clients
from gpu_ops.engine.client import EngineClient
from gpu_ops.engine.client_jobs import EarlyAnswers
from gpu_ops.engine.messages import (
    PROTOCOL,
    Answer,
    Failed,
    Finished,
    Progress,
    Ready,
    SampleRequest,
    SegmentGrant,
    SegmentRequest,
    Stepped,
    SurveyRequest,
)
from gpu_ops.engine.segments import SegmentPool

READY = Ready(PROTOCOL, (DeviceStatus("cpu", "Xeon", True),))


class FakeChild:
    """An engine's process that says what the test wants."""

    pid = 1
    made: SimpleQueue[FakeChild] = SimpleQueue()
    first: Any = READY

    def __init__(self, receive: Callable[[FakeChild, Any], None]) -> None:
        self.say = lambda message: receive(self, message)
        self.asked: SimpleQueue[Any] = SimpleQueue()
        self.granted: SimpleQueue[str] = SimpleQueue()
        FakeChild.made.put(self)
        self.say(FakeChild.first)

    def send(self, message: Any) -> None:
        if isinstance(message, SampleRequest):
            self.asked.put(message.job)
        elif isinstance(message, SegmentGrant):
            self.granted.put(message.segment)

    def end(self, grace: float = 0.0) -> str:
        return "was stopped"


class Answers:
    def __init__(self) -> None:
        self.all: list[Answer] = []
        self._new = threading.Condition()

    def take(self, answer: Answer) -> None:
        with self._new:
            self.all.append(answer)
            self._new.notify_all()

    def last(self, job: int) -> Answer:
        """The last answer to a job, once it is there."""

        def found() -> list[Answer]:
            return [a for a in self.all if isinstance(a, Finished | Failed) and a.job == job]

        with self._new:
            assert self._new.wait_for(found, timeout=20), f"job {job} waits for ever"
        return found()[-1]


@pytest.fixture
def answers() -> Answers:
    return Answers()


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch, answers: Answers) -> Iterator[EngineClient]:
    monkeypatch.setattr(clients, "Child", FakeChild)
    monkeypatch.setattr(FakeChild, "made", SimpleQueue())
    with EngineClient(answers.take) as client:
        yield client


def asked(job: int) -> FakeChild:
    """The next engine, once it has been asked for this job."""
    child = FakeChild.made.get(timeout=20)
    assert child.asked.get(timeout=20) == job
    return child


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("nonsense", ["?", object(), 7], ids=["text", "object", "number"])
def test_the_jobs_behind_a_message_that_nobody_understands_go_on(
    client: EngineClient, answers: Answers, nonsense: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second, survey = (client.next_job() for _ in range(3))
    client.submit(SampleRequest(first, "camera", {}))
    client.submit(SampleRequest(second, "camera", {}))
    client.submit(SurveyRequest(survey, "a.csv", {}))
    one = asked(first)
    one.say(Progress(first, "working"))
    one.say(nonsense)
    failed = answers.last(first)
    assert isinstance(failed, Failed) and "was not understood" in failed.sentence
    other = asked(second)
    for job in (second, survey):
        other.say(Finished(job))
        assert isinstance(answers.last(job), Finished)
    assert not client.busy and "Traceback" in capsys.readouterr().err


def test_an_engine_that_says_nonsense_at_once_fails_all_jobs(
    monkeypatch: pytest.MonkeyPatch, client: EngineClient, answers: Answers, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(FakeChild, "first", Ready(None, None))  # type: ignore[arg-type]
    monkeypatch.setattr(EngineClient, "_on_ready", lambda self, ready: 1 / 0)
    jobs = [client.next_job() for _ in range(2)]
    for job in jobs:
        client.submit(SampleRequest(job, "camera", {}))
    for job in jobs:
        assert isinstance(answers.last(job), Failed)
    assert not client.busy


@pytest.mark.parametrize("own", [True, False])
def test_a_client_removes_its_own_segments_and_leaves_those_of_a_given_pool(
    monkeypatch: pytest.MonkeyPatch, own: bool
) -> None:
    monkeypatch.setattr(clients, "Child", FakeChild)
    with closing(SegmentPool()) as pool:
        client = EngineClient(lambda answer: None, pool=None if own else pool)
        client.pool.take(1)
        client.close()
        assert bool(client.pool.nbytes) != own


def test_a_segment_gets_no_other_content_while_its_job_goes_on(client: EngineClient, answers: Answers) -> None:
    """The engine verifies a result in the segment in which the window has it, and may have released it."""
    job = client.next_job()
    client.submit(SampleRequest(job, "camera", {}))
    child = asked(job)
    child.say(SegmentRequest(1, 5000))
    segment = child.granted.get(timeout=20)
    child.say(Stepped(job, None, (segment,)))  # type: ignore[arg-type]
    child.say(SegmentRequest(2, 9000))  # answered once the window has the first one
    assert child.granted.get(timeout=20) != segment
    client.pool.release(segment)
    child.say(SegmentRequest(3, 5000))
    assert child.granted.get(timeout=20) != segment
    child.say(Finished(job))
    assert isinstance(answers.last(job), Finished)
    assert segment in {client.pool.take(5000) for _ in range(3)}


def test_answers_before_the_window_are_kept_in_order() -> None:
    early, found = EarlyAnswers(), list[object]()
    early(Progress(1, "first"))
    early(Progress(1, "second"))
    early.pass_on(found.append)
    early(Progress(1, "third"))
    assert [answer.text for answer in found if isinstance(answer, Progress)] == ["first", "second", "third"]


def test_an_engine_that_started_early_answers_the_window() -> None:
    early, found = EarlyAnswers(), SimpleQueue[object]()
    with EngineClient(early) as client:
        client.start()
        early.pass_on(found.put)
        assert isinstance(found.get(timeout=60), Ready)


def test_a_process_that_was_started_before_its_client_says_everything_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages are kept until a client takes the process, and no second one is started."""
    monkeypatch.setattr(children, "Child", lambda receive, warm, copied: FakeChild(receive) if warm else None)
    early = children.EarlyChild()
    answers: SimpleQueue[Answer] = SimpleQueue()
    with closing(EngineClient(answers.put, early=early)) as client:
        client.start()
        assert answers.get(timeout=60) == READY
        job = client.next_job()
        client.submit(SampleRequest(job, "camera"))
        assert early.child.asked.get(timeout=60) == job
        early.child.say(Finished(job))
        assert answers.get(timeout=60) == Finished(job)
    assert FakeChild.made.get_nowait() is early.child and FakeChild.made.empty()


@pytest.mark.parametrize("copied", [False, True])
def test_no_engine_is_started_early_where_no_window_opens(monkeypatch: pytest.MonkeyPatch, copied: bool) -> None:
    """A copy is started once the command line is known to be right; other processes at once, on another core."""
    started, ended = list[bool](), list[str]()
    child = SimpleNamespace(end=lambda: ended.append("child"))
    monkeypatch.setattr(children, "EarlyChild", lambda copied: started.append(copied) or SimpleNamespace(child=child))
    monkeypatch.setattr(children, "FORKS", copied)
    monkeypatch.setattr(main.threading, "active_count", lambda: 1)
    monkeypatch.delitem(sys.modules, "PySide6.QtCore", raising=False)
    monkeypatch.setattr("gpu_ops.screen_fault", lambda: "")
    monkeypatch.setattr(main, "open_window", lambda args, early, opened: 7 if early.child is child else 1)
    for arguments in (["--help"], ["list"], ["run", "mean", "--help"]):
        main.main(arguments)
        assert started == []
    assert main.main(["--sample", "nothing"]) == 2
    unused = 0 if copied else 1
    assert (len(started), len(ended)) == (unused, unused), "a process that nobody uses is ended"
    assert main.main(["--sample", "camera"]) == 7
    assert (started, len(ended)) == ([copied] * (unused + 1), unused)
    monkeypatch.setattr("gpu_ops.screen_fault", lambda: "There is no display")
    monkeypatch.setattr(main, "open_window", lambda args, early, opened: 7 if early is None else 1)
    assert main.main([]) == 7 and len(started) == unused + 1


@pytest.mark.parametrize(("threads", "qt"), [(2, False), (1, True)])
def test_a_process_with_threads_or_qt_is_not_copied(monkeypatch: pytest.MonkeyPatch, threads: int, qt: bool) -> None:
    started: list[bool] = []
    monkeypatch.setattr(children, "EarlyChild", started.append)
    monkeypatch.setattr(children, "FORKS", True)
    monkeypatch.setattr("gpu_ops.screen_fault", lambda: "")
    monkeypatch.setattr(main, "open_window", lambda args, early, opened: 0)
    monkeypatch.setattr(main.threading, "active_count", lambda: threads)
    monkeypatch.delitem(sys.modules, "PySide6.QtCore", raising=False)
    if qt:
        monkeypatch.setitem(sys.modules, "PySide6.QtCore", SimpleNamespace())
    main.main(["--sample", "camera"])
    assert started == [False]
