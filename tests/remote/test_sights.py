"""What travels of a large result: what its pane shows first and at once, nothing twice, and nothing that is not wanted
any more."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from remote_machines import Window, wait_until

from gpu_ops.engine.messages import Finished, RunRequest, RunUpdate
from gpu_ops.engine.segments import SegmentPool
from gpu_ops.engine.shared import SharedArray, SharedInput, SharedResult, Statistics
from gpu_ops.input_kinds import Spans
from gpu_ops.output_kinds import Form
from gpu_ops.remote import sending
from gpu_ops.remote.codec import encoded
from gpu_ops.remote.destination import Destination
from gpu_ops.remote.host import Host
from gpu_ops.remote.line import Line
from gpu_ops.remote.mirrors import EXACT, Mirror, Mirrors
from gpu_ops.remote.sending import PART, Sending, frames_of
from gpu_ops.remote.turns import turn
from gpu_ops.remote.wire import DATA, MESSAGE, NOTE, Frame, WireError
from gpu_ops.report.rows import Row

Open = Callable[[Destination], Window]
ROUND_TRIP, RATE = 0.05, 2.5e6
"""Seconds, and bytes per second, of the link that the figures of these tests are for."""
VALUES = np.random.default_rng(0).integers(0, 200, (1000, 1200)).astype(np.uint8)
VIEW: Spans = ((400, 700), (100, 500))
INSIDE = np.s_[400:700, 100:500]
THERE_ARRAY = SharedArray("kernelscope-1-1", VALUES.shape, "uint8")


@dataclass
class Here:
    """The window's side of one array, and what it has asked for."""

    posted: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.pool = SegmentPool()
        self.mirrors = Mirrors(self.pool, lambda frame: self.posted.append(frame.content()), lambda mirror: None)

    def take(self, *frames: Frame) -> Mirror:
        self.receive(*frames)
        found = self.mirrors.get(self.mirrors.take(THERE_ARRAY).segment)
        assert found is not None
        return found

    def receive(self, *frames: Frame) -> None:
        for frame in frames:
            self.mirrors.receive(frame.content(), frame.buffer)

    def answers(self) -> list[Frame]:
        """The frames that answer the newest question."""
        asked = self.posted[-1]
        assert asked["is"] == "send"
        return list(frames_of(asked["segment"], VALUES, asked["cells"], asked["number"], asked["spans"]))


@pytest.fixture
def here() -> Iterator[Here]:
    made = Here()
    yield made
    made.pool.close()


def _sight(cells: int, spans: Spans = ()) -> list[Frame]:
    return list(frames_of(THERE_ARRAY.segment, VALUES, cells, spans=spans))


def test_the_part_in_view_is_sharp_and_the_rest_is_coarse(here: Here) -> None:
    mirror = here.take(*_sight(5000), *_sight(200_000, VIEW))
    assert (mirror.step, mirror.spans) == (1, VIEW)
    error = abs(mirror.array.astype(int) - VALUES)
    assert error[INSIDE].max() <= 1 and error.max() > 50  # one byte has 254 levels
    here.mirrors.look(mirror.here.segment, ((450, 600), (150, 400)), 60_000)
    assert not here.posted  # inside of what is here
    here.mirrors.look(mirror.here.segment, ((600, 900), (100, 500)), 200_000)
    here.receive(*here.answers())
    assert abs(mirror.array[600:900, 100:500].astype(int) - VALUES[600:900, 100:500]).max() <= 1
    here.mirrors.look(mirror.here.segment, (), 200_000)
    assert here.posted[-1]["spans"] == []  # all of it has only been seen from afar


def test_a_sight_that_came_whole_is_not_asked_for_again(here: Here) -> None:
    mirror = here.take(*_sight(200_000))
    here.mirrors.look(mirror.here.segment, (), 200_000)
    assert not here.posted
    here.mirrors.look(mirror.here.segment, (), 700_000)  # the pane has become larger
    here.mirrors.look(mirror.here.segment, (), 700_000)
    assert [asked["cells"] for asked in here.posted] == [700_000]


def test_a_sight_and_values_may_arrive_mixed(here: Here) -> None:
    mirror = here.take(*_sight(5000))
    here.mirrors.look(mirror.here.segment)
    first, *rest = here.answers()
    come: list[bool] = []
    here.mirrors.whole(mirror.here.segment, come.append)
    values = here.answers()
    here.receive(first, *values[:3])
    assert rest and mirror.arrived == 3 * PART and mirror.arrived % VALUES.shape[1]  # in the middle of a row
    here.receive(*rest)
    rows = 3 * PART // VALUES.shape[1]
    np.testing.assert_array_equal(mirror.array[:rows], VALUES[:rows])
    here.receive(*values[3:])
    here.mirrors.sent(here.posted[-1]["number"])
    assert come == [True] and mirror.step == EXACT
    np.testing.assert_array_equal(mirror.array, VALUES)


def test_another_view_takes_the_place_of_the_one_before(here: Here) -> None:
    mirror = here.take(*_sight(5000))
    here.mirrors.look(mirror.here.segment, VIEW, 200_000)
    late = here.answers()
    here.mirrors.look(mirror.here.segment, ((0, 300), (0, 400)), 200_000)
    assert [note["is"] for note in here.posted] == ["send", "stop", "send"]
    assert here.posted[1]["number"] == here.posted[0]["number"]
    here.receive(*here.answers(), *late)
    assert mirror.spans == ((0, 300), (0, 400))


@pytest.mark.parametrize("spans", [[[900, 1001], [0, 9]], [[5, 5], [0, 9]], [[-3, 4], [0, 9]]])
def test_cells_of_no_part_are_refused(here: Here, spans: list[list[int]]) -> None:
    mirror = here.take(*_sight(5000))
    here.mirrors.look(mirror.here.segment, ((0, 9), (0, 9)), 100)
    (frame,) = here.answers()
    wrong = frame.head.replace(b"[[0, 9], [0, 9]]", str(spans).encode())
    assert wrong != frame.head
    with pytest.raises(WireError, match="cells are of no part"):
        here.receive(replace(frame, head=wrong))


class Sent(Line):
    """A line that keeps what is sent, and lets values through one by one."""

    def __init__(self) -> None:
        super().__init__(lambda frame: None)
        self.frames: list[Frame] = []

    def send(self, frame: Frame, patient: bool = False) -> bool:
        self.frames.append(frame)
        return True

    @property
    def cells(self) -> list[bool]:
        """Whether each part of an array was one of its cells."""
        return ["cells" in frame.content() for frame in self.frames if frame.kind == DATA]


def test_values_make_way_for_the_first_result_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "GIVE_WAY", 30.0)
    pool, line = SegmentPool(), Sent()
    shared = SharedArray(pool.take(VALUES.nbytes), VALUES.shape, "uint8")
    pool.array(shared, writeable=True)[:] = VALUES
    host = Sending(line, pool)
    host.show(VALUES.shape, VIEW, 90_000)
    host.ask(1, shared, 0, ())
    host.ask(2, shared, 5000, ())
    wait_until(lambda: len(line.frames) >= 2)
    time.sleep(0.1)
    assert line.cells == [True]  # a sight does not wait for a run
    host.with_answer(shared)
    wait_until(lambda: line.frames[-1].kind == NOTE and line.frames[-1].content()["number"] == 1)
    around = next(f.content() for f in line.frames[2:] if "cells" in f.content())
    assert around["spans"] == [] and around["step"] == 6  # 40,000 cells of all
    assert line.cells.count(False) == -(-VALUES.nbytes // PART)
    assert [f.content()["spans"] for f in line.frames if "cells" in f.content()][-1] == [list(s) for s in VIEW]
    host.close()
    pool.close()


def test_a_change_takes_one_round_trip_and_one_pane_of_bytes(fake: Destination, open_window: Open) -> None:
    """A figure that no load of this machine changes: what the link needs for a change of a parameter."""
    window = open_window(fake)
    input, client = window.noise(1500), window.talk.client
    window.image(window.run(input, 3, variant="opencv"))
    pixels, sent, received = 500 * 500, list[Frame](), list[Frame]()
    line = client._line
    send, take = line.send, line._take

    def sending_(frame: Frame, patient: bool = False) -> bool:
        sent.append(frame)
        return send(frame, patient)

    def taking(frame: Frame) -> None:
        received.append(frame)
        take(frame)

    line.send, line._take = sending_, taking  # type: ignore[method-assign]
    update = next(u for u in window.run(input, 5, variant="opencv", pixels=pixels) if u.outputs)
    segment = update.outputs["image"].array.segment
    client.look(segment, (), pixels)
    mirror = client.mirror(segment)
    assert mirror is not None and mirror.shows((), pixels) and mirror.step == 3
    questions = [f.kind for f in sent if f.kind in (MESSAGE, NOTE) and b'"missing?"' not in f.head]
    seconds = ROUND_TRIP + sum(f.nbytes for f in (*sent, *received)) / RATE
    print(f"the link needs {seconds:.3f} s for {sum(f.nbytes for f in received):,} bytes")
    assert questions == [MESSAGE]  # its answer has all that the pane shows
    assert seconds < 0.2


def _update(job: int, array: SharedArray, **more: Any) -> RunUpdate:
    result = SharedResult("image", array, Form(array.shape, array.dtype, ()), "", "", None)
    row = Row("mean2d", "scipy", "cpu", {}, {}, array.shape, "uint8", "stream")
    return RunUpdate(job, 0, "computed", row, {"image": result}, **more)


def test_only_runs_with_results_say_what_is_shown(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    shown, passed = list[Any](), list[Any]()
    monkeypatch.setattr(host._sending, "show", lambda *what: shown.append(what))
    monkeypatch.setattr(host._turns, "submit", passed.append)
    statistics = Statistics(0, 0, 0.0, {}, (1,), 0, 0)
    input = SharedInput("image", THERE_ARRAY, "yx", "n", {}, None, True, statistics)
    run = RunRequest(1, 0, input, "mean2d", {}, (), view=VIEW, pixels=9)
    host._take(Frame(MESSAGE, encoded(run)))
    host._take(Frame(MESSAGE, encoded(replace(run, job=2, outputs=False))))  # a point of a sweep
    assert shown == [(VALUES.shape, VIEW, 9)] and [request.job for request in passed] == [1, 2]


def test_results_of_a_cancelled_run_do_not_travel(host: Host) -> None:
    line = host._line = host._sending._line = Sent()
    pool = host._client.pool
    arrays = [SharedArray(pool.take(VALUES.nbytes), VALUES.shape, "uint8") for _ in range(2)]
    host._running |= {1, 2}
    host._cancel(1, kill=False)
    host._hear(_update(1, arrays[0], provenance={"machine": "x"}))
    assert [frame.kind for frame in line.frames] == [MESSAGE] and b'"machine"' in line.frames[0].head
    assert not pool._segments[arrays[0].segment].holders
    host._hear(Finished(1, cancelled=True))
    host._hear(_update(2, arrays[1]))
    assert any(frame.kind == DATA for frame in line.frames) and pool._segments[arrays[1].segment].holders
    assert host._running == {2} and not host._unwanted


def test_a_stopped_job_ends_at_once_and_what_it_told_is_kept(fake: Destination, open_window: Open) -> None:
    window = open_window(fake)
    client, input = window.talk.client, window.noise(64)
    window.image(window.run(input))  # its machine is known by then
    request = window.request(input)
    with turn("cpu", lambda before: None):  # it waits there for its turn
        client.submit(request)
        wait_until(lambda: request.job in client._jobs and client._jobs[request.job].sent)
        client.cancel(request.job, kill=False)
        assert request.job not in client._jobs
    about = {"remote": "gpu-host", "devices": {"cpu": {"name": "its processor"}}}
    client._take(Frame(MESSAGE, encoded(replace(_update(request.job, THERE_ARRAY, provenance=about), outputs={}))))
    updates = window.run(input)
    assert [update.provenance.get("devices") for update in updates[:1]] == [{"gpu-host/cpu": {"name": "its processor"}}]
    assert not any(update.provenance for update in window.run(input))
