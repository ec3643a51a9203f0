"""How the engine answers a request for timelines."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpu_ops.engine import panel_jobs, xrays
from gpu_ops.engine.about import activity
from gpu_ops.engine.messages import TimelinesRequest
from gpu_ops.errors import DeviceError, DeviceLost, ParamError
from gpu_ops.explaining import blocked
from gpu_ops.explaining import timeline as timelines
from gpu_ops.explaining.spans import Rates, Timeline, timelines_json, traces
from gpu_ops.explaining.timeline import TimelineJob
from gpu_ops.filters import FILTERS
from gpu_ops.io import from_array, sample
from gpu_ops.plan import Execution, Span
from gpu_ops.progress import Cancelled, listening
from gpu_ops.types import Pick

PARAMS = {"work": "mean2d-naive"}


class Channel:
    """What a job needs of the engine, without a process: answers are kept."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.answers: list[Any] = []
        self.whole = from_array(np.zeros((48, 64), np.uint8))

    def input(self, shared: Any) -> Any:
        return self.whole

    def announce(self, text: str) -> None:
        self.said.append(text)

    def send(self, answer: Any) -> None:
        self.answers.append(answer)


def request(*picks: Pick, **how: Any) -> TimelinesRequest:
    return TimelinesRequest(4, None, "transfer2d", PARAMS, picks, **how)  # type: ignore[arg-type]


def answer(*picks: Pick, **how: Any) -> Any:
    channel = Channel()
    panel_jobs._timelines(channel, request(*picks, **how))  # type: ignore[arg-type]
    (found,) = channel.answers
    assert found.job == 4
    return found


def test_all_picks_have_their_timelines_by_one_model_of_queues() -> None:
    streams = Pick("streams", "sim", {"chunks": 4, "streams": 4})
    found = answer(Pick("pinned", "sim"), streams)
    assert list(found.timelines) == ["pinned", "streams"] and not found.reasons
    today = found.timelines["streams"]
    assert (today.basis, today.unit, today.elapsed, today.rates) == ("order", "steps", 6, None)
    assert answer(streams, copy_engines=1, in_order=True).timelines["streams"].elapsed == 12
    predicted = answer(streams, rates=Rates(1e9, 1e9, 1e9)).timelines["streams"]
    assert predicted.basis == "predicted" and predicted.rates == Rates(1e9, 1e9, 1e9)
    assert len(set(traces(found.timelines.values())["traceEvents"][k]["pid"] for k in (0, -1))) == 2
    assert [one["variant"] for one in timelines_json(found.timelines.values())["timelines"]] == ["pinned", "streams"]


def test_what_runs_is_named_by_its_title() -> None:
    channel, pick = Channel(), Pick("pinned", "sim")
    panel_jobs._timelines(channel, request(pick))  # type: ignore[arg-type]
    assert channel.said == ["planning 3 pinned on sim"]
    naive, image = Pick("naive", "sim"), from_array(np.zeros((8, 64), np.uint8))
    asked = SimpleNamespace(filter="mean2d", architecture="sm_75", params={"window": 3, "border": "zero"}, pick=naive)
    xrays._simulate(channel, asked, naive, image)  # type: ignore[arg-type]
    assert channel.said[1:] == ["simulating 1 naive on sm_75"]


def test_one_that_has_none_leaves_the_others_theirs() -> None:
    found = answer(Pick("pinned", "sim"), Pick("streams", "sim", {"chunks": 64}))
    assert list(found.timelines) == ["pinned"]
    assert "64 chunks need as many rows, this input has 48" in found.reasons["streams"]
    assert activity(request(Pick("pinned", "sim"))) == "drew timelines of transfer2d"


def test_a_lost_device_is_no_reason_of_one_variant(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(*_: Any) -> Any:
        raise DeviceLost("The device is gone.")

    monkeypatch.setattr(panel_jobs, "any_timeline", lost)
    with pytest.raises(DeviceLost):
        answer(Pick("pinned", "sim"))


class Slow:
    """A device whose plans take so many seconds, which counts their executions."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.traced, self.plain = seconds, 0, 0

    def execute(self, plan: Any, trace: bool = False) -> Execution:
        self.traced, self.plain = self.traced + trace, self.plain + (not trace)
        place = self.seconds * (1 + 0.1 * self.traced)
        return Execution(place, (Span("step", 0.0, place, 0, 0),) if trace else ())


@pytest.mark.parametrize("seconds, runs", [(1e-3, timelines.REPEATS), (0.1, 4), (3.0, 1)])
def test_a_long_plan_runs_fewer_times(seconds: float, runs: int) -> None:
    device = Slow(seconds)
    spans, elapsed, count = timelines._measured(device, None)  # type: ignore[arg-type]
    assert (count, device.plain, device.traced) == (runs, runs, runs + 1)
    assert spans[0].end == pytest.approx(seconds * (1 + 0.1 * (2 + runs // 2))), "the median after the first"
    assert seconds < elapsed < seconds * (1 + 0.1 * (runs + 2))


def test_launch_blocking_on_a_gpu_is_measured_in_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[TimelineJob] = []

    def measured(of: TimelineJob) -> Any:
        asked.append(of)
        return Timeline("transfer2d", "pinned", "cuda:0", "measured", (), 1.0, 7, launch_blocking=True)

    monkeypatch.setattr(blocked, "blocked_timeline", measured)
    monkeypatch.delenv(blocked.BLOCKING, raising=False)
    found = answer(Pick("pinned", "cuda:0"), launch_blocking=True)
    assert found.timelines["pinned"].launch_blocking and asked[0].device == "cuda:0"
    simulated = answer(Pick("streams", "sim", {"chunks": 4, "streams": 4}), launch_blocking=True)
    assert len(asked) == 1 and simulated.timelines["streams"].elapsed > 6, "a simulated GPU has the model of it"


@pytest.mark.thorough  # two processes that load the product
def test_that_process_answers_or_says_why_not() -> None:
    mean, signal = FILTERS.find("mean1d"), sample("noise", length=64)
    found = blocked.blocked_timeline(TimelineJob(mean, mean.variant("serial"), "cpu", signal, {}, {}))
    assert found.launch_blocking and found.basis == "measured" and found.elapsed > 0
    with pytest.raises(ParamError, match="window must be an integer from 3"):
        blocked.blocked_timeline(TimelineJob(mean, mean.variant("serial"), "cpu", signal, {"window": 4}, {}))


def test_a_process_that_dies_is_an_error_and_one_that_is_cancelled_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    mean, signal = FILTERS.find("mean1d"), sample("noise", length=64)
    job = TimelineJob(mean, mean.variant("serial"), "cpu", signal, {}, {})
    monkeypatch.setattr(blocked, "SERVE", "raise SystemExit(3)")
    with pytest.raises(DeviceError, match="ended with code 3 and no answer"):
        blocked.blocked_timeline(job)
    monkeypatch.setattr(blocked, "SERVE", "import time; time.sleep(600)")
    with pytest.raises(Cancelled), listening(lambda: True):
        blocked.blocked_timeline(job)
