"""Which job the engine gets next: the newest choice, its timing after a pause, simulated runs last – on an engine that
keeps what it was asked for."""

from __future__ import annotations

from typing import Any

import pytest
from test_session import shared

from app.controllers.queue import RunQueue
from app.models.experiment.job_kind import LIVE, MEASURE, SIMULATE, STEPS, SWEEP, TIME, XRAY
from app.models.experiment.session import Session
from app.models.experiment.slot import RowSlot
from app.models.results.results import Results
from gpu_ops.engine.messages import RunRequest, StepsRequest


class Asked:
    """An engine that answers nothing."""

    def __init__(self) -> None:
        self.jobs = 0
        self.requests: list[Any] = []
        self.cancelled: list[tuple[int, bool]] = []

    def next_job(self) -> int:
        self.jobs += 1
        return self.jobs

    def submit(self, request: Any) -> None:
        self.requests.append(request)

    def cancel(self, job: int, kill: bool = True) -> None:
        self.cancelled.append((job, kill))


class Bench:
    """A queue with an image, and CPU and simulated variants of the mean ticked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, device: str = "sim") -> None:
        self.engine, self.session, self.results = Asked(), Session(), Results()
        self.session.set_devices((device,))
        self.session.set_input(shared("image"))
        self.session.set_filter("mean2d")
        self.session.set_picks(("serial", "parallel", "naive", "constant"))
        self.results.declare([RowSlot(p.variant, p.device) for p in self.picks])
        self.queue = RunQueue(self.engine, self.session, self.results)  # type: ignore[arg-type]
        self.queue._quiet.setInterval(0)
        self.settled: list[str] = []
        self.queue.settled.connect(lambda: self.settled.append("settled"))

    @property
    def picks(self) -> list[Any]:
        return [self.session.shown.pick(v) for v in self.session.choice.picks]

    @property
    def last(self) -> Any:
        return self.engine.requests[-1]

    def kinds(self) -> list[Any]:
        return list(self.queue.jobs.values())

    def variants(self) -> list[tuple[str, ...]]:
        return [tuple(p.variant for p in r.picks) for r in self.engine.requests if isinstance(r, RunRequest)]

    def end(self, cancelled: bool = False) -> None:
        self.queue.end(self.last.job, cancelled)

    def done(self) -> None:
        """The run at work brings its results and ends."""
        for pick in self.last.picks:
            self.queue.note_result(pick.variant)
        self.end()


@pytest.fixture
def bench(qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(monkeypatch)


class TestOrder:
    def test_fast_picks_come_first_and_simulated_ones_one_by_one(self, bench: Bench, qtbot: Any) -> None:
        bench.queue.timed_after_pause = False
        bench.queue.run(LIVE)
        assert bench.queue.busy and bench.kinds() == [LIVE]
        for _ in range(3):
            bench.done()
        assert bench.variants() == [("serial", "parallel"), ("naive",), ("constant",)]
        assert bench.settled == ["settled"] and not bench.queue.busy

    def test_the_picture_is_timed_after_a_pause_and_before_simulated_picks_go_on(
        self, bench: Bench, qtbot: Any
    ) -> None:
        bench.queue.run(LIVE)
        bench.done()
        assert bench.kinds() == [SIMULATE]
        qtbot.waitUntil(lambda: bool(bench.engine.cancelled))
        assert bench.engine.cancelled == [(2, False)], "the simulated run stops, and the engine lives"
        bench.end(cancelled=True)
        assert bench.kinds() == [TIME] and bench.last.protocol == "quick"
        bench.done()
        bench.done()
        bench.done()
        assert bench.variants() == [
            *(("serial", "parallel"), ("naive",), ("serial", "parallel"), ("naive",), ("constant",)),
        ]
        assert bench.settled == ["settled"]

    def test_a_sweep_puts_the_timing_off(self, bench: Bench, qtbot: Any) -> None:
        bench.session.set_picks(("serial",))
        bench.queue.run(LIVE)
        bench.queue.submit(SWEEP, RunRequest(**{**vars(bench.last), "job": 99}))
        bench.queue.end(1)
        assert bench.queue._quiet.isActive()
        qtbot.wait(20)
        assert bench.kinds() == [SWEEP] and bench.queue._quiet.isActive(), "it waits for the sweep"
        bench.queue.end(99)
        qtbot.waitUntil(lambda: bench.kinds() == [TIME])

    def test_nothing_is_timed_where_nothing_has_a_clock(self, bench: Bench, qtbot: Any) -> None:
        bench.session.set_picks(("naive",))
        bench.queue.run(LIVE)
        assert bench.variants() == [("naive",)] and bench.kinds() == [SIMULATE]
        bench.done()
        assert not bench.queue.busy and bench.settled == ["settled"]

    def test_a_cancelled_run_is_not_timed(self, bench: Bench, qtbot: Any) -> None:
        bench.session.set_picks(("serial",))
        bench.queue.run(LIVE)
        bench.end(cancelled=True)
        assert not bench.queue.busy and bench.settled == ["settled"]

    def test_without_an_input_or_a_pick_nothing_runs(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        bench.session.set_picks(())
        bench.queue.run(LIVE)
        bench.session.set_picks(("serial",))
        bench.session.input = None
        bench.queue.run(LIVE)
        assert bench.engine.requests == [] and not bench.queue.busy


class TestGenerations:
    def test_a_new_choice_has_a_generation_of_its_own_and_its_timing_has_the_same(
        self, bench: Bench, qtbot: Any
    ) -> None:
        bench.session.set_picks(("serial",))
        bench.queue.run(LIVE)
        bench.done()
        qtbot.waitUntil(lambda: bench.kinds() == [TIME])
        bench.done()
        bench.queue.run(MEASURE)
        assert [r.generation for r in bench.engine.requests] == [1, 1, 2]
        assert [r.protocol for r in bench.engine.requests] == ["none", "quick", "careful"]
        assert [r.checks for r in bench.engine.requests] == ["sample", "sample", "full"]
        assert [r.roofs for r in bench.engine.requests] == [False, False, True]

    def test_simulated_runs_have_that_of_their_choice(self, bench: Bench) -> None:
        bench.queue.timed_after_pause = False
        bench.queue.run(LIVE)
        bench.done()
        bench.done()
        assert [r.generation for r in bench.engine.requests] == [1, 1, 1]

    def test_a_choice_that_waits_begins_its_generation_when_it_starts(self, bench: Bench) -> None:
        """Until then late results of the last run are shown."""
        bench.queue.run(LIVE)
        bench.queue.run(LIVE)
        assert bench.queue.generation == 1 and bench.queue.waiting
        bench.end(cancelled=True)
        assert bench.queue.generation == 2

    def test_another_input_and_other_steps_outdate_what_was_computed(self, bench: Bench) -> None:
        bench.queue.outdate()
        bench.queue.renew()
        bench.queue.run(LIVE)
        assert bench.last.generation == 3


class TestGivingWay:
    def test_only_the_newest_waits(self, bench: Bench) -> None:
        bench.queue.run(LIVE)
        bench.session.set_picks(("serial",))
        bench.queue.run(LIVE)
        bench.session.set_picks(("parallel",))
        bench.queue.run(LIVE)
        bench.end()
        assert bench.variants()[1:] == [("parallel",)]

    def test_a_live_run_first_shows_its_results(self, bench: Bench) -> None:
        bench.queue.run(LIVE)
        bench.queue.run(LIVE)
        assert bench.engine.cancelled == [] and bench.queue.unseen
        bench.queue.note_result(bench.session.shown.key("serial"))
        assert bench.engine.cancelled == [] and bench.queue.unseen
        bench.queue.note_result(bench.session.shown.key("parallel"))
        assert bench.engine.cancelled == [(1, False)] and not bench.queue.unseen

    def test_it_has_no_longer_than_its_patience(self, bench: Bench, qtbot: Any) -> None:
        bench.queue.run(LIVE)
        bench.queue.run(LIVE)
        bench.queue._overdue.start(0)
        qtbot.waitUntil(lambda: bench.engine.cancelled == [(1, False)])

    def test_a_measurement_gives_way_at_once(self, bench: Bench) -> None:
        bench.queue.run(MEASURE)
        bench.queue.run(LIVE)
        assert bench.engine.cancelled == [(1, False)]

    def test_a_sweep_gives_way_to_nothing(self, bench: Bench) -> None:
        bench.queue.submit(SWEEP, RunRequest(99, 0, bench.session.input, "mean2d", {}, ()))
        bench.queue.run(LIVE)
        assert bench.engine.cancelled == [] and bench.queue.waiting
        bench.queue.end(99)
        assert bench.kinds() == [LIVE]

    def test_an_xray_gives_way_to_a_run(self, bench: Bench) -> None:
        bench.queue.submit(XRAY, RunRequest(99, 0, bench.session.input, "mean2d", {}, ()))
        bench.queue.run(LIVE)
        assert bench.engine.cancelled == [(99, False)]

    def test_a_person_who_cancels_ends_all(self, bench: Bench, qtbot: Any) -> None:
        bench.queue.run(LIVE)
        bench.queue.run(MEASURE)
        bench.queue.cancel()
        assert bench.engine.cancelled[-1] == (1, True) and not bench.queue.waiting
        bench.end(cancelled=True)
        assert not bench.queue.busy and bench.settled == ["settled"]


class TestInputs:
    def test_a_run_goes_on_where_no_other_input_comes(self, bench: Bench) -> None:
        bench.queue.run(MEASURE)
        bench.queue.interrupt()
        assert bench.engine.cancelled == [(1, True)]
        bench.end(cancelled=True)
        assert bench.kinds() == [LIVE]

    def test_what_waits_for_timing_goes_on_as_well(self, bench: Bench) -> None:
        bench.session.set_picks(("serial",))
        bench.queue.run(LIVE)
        bench.done()
        assert bench.queue._quiet.isActive() and not bench.queue.jobs
        bench.queue.interrupt()
        assert not bench.queue._quiet.isActive()
        bench.queue._start_next()
        assert bench.kinds() == [LIVE]

    def test_nothing_goes_on_where_nothing_ran_or_another_input_came(self, bench: Bench) -> None:
        bench.queue.interrupt()
        bench.queue._start_next()
        assert bench.kinds() == []
        bench.queue.run(LIVE)
        bench.queue.interrupt()
        bench.queue.outdate()
        bench.end(cancelled=True)
        assert bench.kinds() == []

    def test_another_frame_stops_runs_and_keeps_the_engine(self, bench: Bench) -> None:
        bench.queue.run(LIVE)
        bench.queue.submit(SWEEP, RunRequest(99, 0, bench.session.input, "mean2d", {}, ()))
        bench.queue.stop_for_frame()
        assert bench.engine.cancelled == [(1, False)]

    def test_steps_come_before_the_run_that_needs_them(self, bench: Bench) -> None:
        bench.session.set_steps(({"step": "invert"},))
        bench.queue.run(LIVE)
        assert isinstance(bench.last, StepsRequest) and bench.kinds() == [STEPS]
        assert bench.queue.steps_request is bench.last and bench.queue.generation == 0
        assert [step["step"] for step in bench.last.steps] == ["invert"]
        bench.session.set_stepped(shared("image"), bench.session.steps)
        bench.end()
        assert bench.kinds() == [LIVE] and bench.queue.generation == 1


class TestRows:
    def test_rows_are_marked_while_they_run(self, bench: Bench) -> None:
        bench.queue.timed_after_pause = False
        states = lambda: {entry.variant: entry.state for entry in bench.results.entries()}  # noqa: E731
        bench.queue.run(LIVE)
        assert states() == {"serial": "running", "parallel": "running", "naive": "waiting", "constant": "waiting"}
        bench.done()
        assert states() == {"serial": "waiting", "parallel": "waiting", "naive": "running", "constant": "waiting"}


def test_a_pinned_result_waits_for_its_device(monkeypatch: pytest.MonkeyPatch, qapp: object) -> None:
    """It is neither run on another device nor does it hold up the others."""
    bench = Bench(monkeypatch, "cuda:0")
    bench.session.pin("naive")
    bench.session.set_param("window", 9)
    assert [p.params.get("window") for p in bench.queue.picks(LIVE) if p.variant == "naive"] == [None, 3]
    bench.session.set_devices(("sim",))
    assert [p.device for p in bench.queue.picks(LIVE) if p.variant == "naive"] == ["sim"] and not bench.queue.pins_lack
    bench.session.set_devices(("sim", "cuda:0"))
    assert bench.queue.pins_lack
