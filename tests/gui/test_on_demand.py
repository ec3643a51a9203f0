"""In which order a panel's jobs run: after runs at full speed, before simulated ones, and never for nobody."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fake_engine import FakeEngine
from xray_answers import answer, asked, content

from app.controllers.session import SessionController
from app.controllers.xray import XRayController
from app.models.experiment.job_kind import LIVE, SIMULATE
from app.models.experiment.session import Session
from app.models.results.results import Results
from gpu_ops import from_array
from gpu_ops.devices.status import DeviceStatus
from gpu_ops.engine.messages import Finished, Ready, RunRequest, XRayAnswer


class SlowEngine(FakeEngine):
    """A job that is to stop ends only when the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.cancelled: list[int] = []

    def cancel(self, job: int, kill: bool = True) -> None:
        assert not kill
        self.cancelled.append(job)

    def stopped(self) -> None:
        """The last job that was to stop has ended."""
        self.answered.emit(Finished(self.cancelled[-1], cancelled=True))


class Bench:
    """The X-ray of an image whose runs have ended."""

    def __init__(self) -> None:
        self.engine = SlowEngine()
        self.controller = SessionController(self.engine, Session(), Results())
        self.controller.queue.timed_after_pause = False
        self.xray = XRayController(self.controller)
        self.engine.answered.emit(Ready(1, (DeviceStatus("sim", "simulated GPU", True),)))
        self.engine.show(from_array(np.zeros((40, 50), np.uint8)))
        self.engine.end()

    def answer(self) -> None:
        answer(self.engine, content())

    @property
    def asked(self) -> list[Any]:
        return asked(self.engine)

    def stops(self, number: int) -> bool:
        """Whether this request is the last job that was to stop."""
        return self.engine.cancelled[-1:] == [self.asked[number].job]


@pytest.fixture
def bench(qtbot: Any) -> Bench:
    return Bench()


def test_a_panel_that_is_hidden_stops_its_job_and_takes_no_answer(bench: Bench) -> None:
    bench.xray.watch(True)
    assert len(bench.asked) == 1 and bench.xray.state == "running" and not bench.engine.cancelled
    bench.xray.watch(False)
    assert bench.stops(0) and bench.xray.state == "empty"
    bench.engine.answered.emit(XRayAnswer(bench.asked[0].job, content()))
    assert bench.xray.content is None


def test_another_choice_stops_the_job_and_comes_once_it_has_ended(bench: Bench, qtbot: Any) -> None:
    bench.xray.watch(True)
    bench.xray.choose("naive")
    assert bench.stops(0) and bench.xray.state == "waiting" and len(bench.asked) == 1
    bench.engine.stopped()
    qtbot.waitUntil(lambda: len(bench.asked) == 2)
    assert bench.asked[1].pick.variant == "naive" and bench.xray.state == "running"


def test_the_choice_that_is_shown_already_stops_the_job_of_another(bench: Bench) -> None:
    first = bench.xray.variant
    bench.xray.watch(True)
    bench.answer()
    bench.xray.choose("naive")
    assert len(bench.asked) == 2 and bench.xray.state == "running"
    bench.xray.choose(first)
    assert bench.stops(1) and bench.xray.state == "shown"


def test_it_comes_before_what_is_left_on_a_simulated_gpu(bench: Bench, qtbot: Any) -> None:
    """And after what runs at full speed."""
    session, queue = bench.controller.session, bench.controller.queue
    session.set_picks(("serial", "naive"))
    assert list(queue.jobs.values()) == [LIVE]
    bench.xray.watch(True)
    qtbot.wait(20)
    assert bench.xray.state == "waiting" and not bench.asked
    bench.engine.answered.emit(Finished(bench.engine.asked[-1].job))
    simulated = bench.engine.asked[-1]
    assert isinstance(simulated, RunRequest) and list(queue.jobs.values()) == [SIMULATE]
    qtbot.waitUntil(lambda: len(bench.asked) == 1)
    assert bench.engine.cancelled == [simulated.job] and bench.xray.state == "running"
