"""This machine's engine and another one as one: jobs go where their devices are, and arrays follow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest

from gpu_ops import parse_step
from gpu_ops.engine.client import EngineClient
from gpu_ops.engine.kernel_messages import (
    BlockRequest,
    CliffsRequest,
    PredictionRequest,
    TrafficRequest,
    XRayRequest,
)
from gpu_ops.engine.messages import (
    Failed,
    Finished,
    FramesRequest,
    Loaded,
    Ready,
    ResultRequest,
    RunRequest,
    RunUpdate,
    SampleRequest,
    SaveRequest,
    Stepped,
    StepsRequest,
)
from gpu_ops.engine.segments import SegmentPool
from gpu_ops.engine.shared import SharedInput
from gpu_ops.remote.destination import Destination
from gpu_ops.remote.engines import Engines
from gpu_ops.remote.naming import hosts_of
from gpu_ops.types import Pick

HERE, THERE = Pick("scipy", "cpu"), Pick("scipy", "gpu-host/cpu")


class Both:
    def __init__(self, to: Destination) -> None:
        self.answers: SimpleQueue[Any] = SimpleQueue()
        self.pool = SegmentPool()
        self.engines = Engines(self.answers.put, EngineClient(lambda a: self.engines.hear(a), self.pool))
        self.engines.start()
        self.engines.add(to)
        while len(self.until(Ready)[-1].devices) < 4:
            pass

    def until(self, *kinds: type) -> list[Any]:
        found: list[Any] = []
        while not found or not isinstance(found[-1], kinds):
            found.append(self.answers.get(timeout=60))
        return found

    def do(self, request: Any) -> list[Any]:
        self.engines.submit(request)
        return [a for a in self.until(Finished, Failed) if getattr(a, "job", 0) == request.job]

    def sample(self, size: str = "900x800") -> SharedInput:
        found = self.do(SampleRequest(self.engines.next_job(), "noise_image", {"size": size}))
        return next(a.input for a in found if isinstance(a, Loaded))

    def run(self, input: SharedInput, *picks: Pick) -> list[Any]:
        how = ("mean2d", {"window": 5}, picks, "none", "stream", "off")
        return self.do(RunRequest(self.engines.next_job(), 0, input, *how))

    def image(self, found: list[Any], device: str) -> Any:
        return next(
            u.outputs["image"] for u in found if isinstance(u, RunUpdate) and u.row.device == device and u.outputs
        )


@pytest.fixture
def both(fake: Destination) -> Iterator[Both]:
    made = Both(fake)
    yield made
    made.engines.close()
    made.pool.close()


def test_one_job_on_two_machines_has_one_end(both: Both) -> None:
    found = both.run(both.sample(), HERE, THERE)
    assert [type(a) for a in found].count(Finished) == 1 and isinstance(found[-1], Finished)
    assert {a.row.device for a in found if isinstance(a, RunUpdate)} == {"cpu", "gpu-host/cpu"}
    last = [a.provenance for a in found if isinstance(a, RunUpdate) and a.provenance][-1]
    assert {"cpu", "gpu-host/cpu"} <= set(last["devices"]) and last["hosts"]["gpu-host"]["remote"] == "gpu-host"
    assert both.answers.empty() and not both.engines.busy


def test_what_is_done_here_waits_for_all_values(both: Both, tmp_path: Path) -> None:
    found = both.run(both.sample(), HERE, THERE)
    here, there = both.image(found, "cpu"), both.image(found, "gpu-host/cpu")
    mirror = both.engines.mirror(there.array.segment)
    assert mirror is not None and mirror.step > 1  # so far a small picture
    path = tmp_path / "saved.npy"
    assert isinstance(both.do(SaveRequest(both.engines.next_job(), str(path), there, None))[-1], Finished)
    np.testing.assert_array_equal(np.load(path), both.pool.array(here.array))


def test_what_needs_no_device_is_done_where_the_values_are(both: Both) -> None:
    found = both.run(both.sample(), HERE, THERE)
    there = both.image(found, "gpu-host/cpu")
    made = both.do(ResultRequest(both.engines.next_job(), there, "mean", {}))
    input = next(a.input for a in made if isinstance(a, Loaded))
    mirror = both.engines.mirror(there.array.segment)
    assert mirror is not None and mirror.step > 1  # its values did not travel
    stepped = both.do(StepsRequest(both.engines.next_job(), input, (parse_step("crop start=10,20 shape=30,40"),)))
    assert isinstance(stepped[-1], Finished), stepped
    cut = next(a for a in stepped if isinstance(a, Stepped))
    expected = both.pool.array(both.image(found, "cpu").array)[10:40, 20:60]
    np.testing.assert_array_equal(both.pool.array(cut.input.array), expected)


def test_a_job_that_waits_for_values_is_cancelled(both: Both, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = both.image(both.run(both.sample(), THERE), "gpu-host/cpu")
    monkeypatch.setattr(both.engines, "whole", lambda segment, then: None)
    job = both.engines.next_job()
    both.engines.submit(SaveRequest(job, str(tmp_path / "x.npy"), there, None))
    both.engines.cancel(job)
    assert both.until(Finished)[-1] == Finished(job, cancelled=True)


def test_values_that_never_come_are_said(both: Both, tmp_path: Path) -> None:
    there = both.image(both.run(both.sample(), THERE), "gpu-host/cpu")
    both.engines._remotes["gpu-host"]._mirrors.lose()
    failed = both.do(SaveRequest(both.engines.next_job(), str(tmp_path / "x.npy"), there, None))[-1]
    assert isinstance(failed, Failed) and "has lost the values" in failed.sentence


def test_what_is_not_done_there_says_so(both: Both) -> None:
    input = both.sample("40x30")
    frames = FramesRequest(both.engines.next_job(), input, "mean2d", {}, THERE, "image", "x.npy", "t")
    assert "devices of this machine" in both.do(frames)[-1].sentence
    elsewhere = Pick("scipy", "other/cpu")
    assert "other is not connected" in both.run(input, elsewhere)[-1].sentence


def test_a_machine_that_is_left_takes_its_devices_along(both: Both) -> None:
    both.engines.remove("gpu-host")
    assert {d.name.partition("/")[0] for d in both.until(Ready)[-1].devices} == {"cpu", "cuda:0", "sim"}
    assert "not connected" in both.run(both.sample("40x30"), THERE)[-1].sentence


def test_no_segment_is_kept_longer_than_its_use(both: Both) -> None:
    input = both.sample()
    found = both.run(input, THERE)
    both.pool.release(both.image(found, "gpu-host/cpu").array.segment)
    both.pool.release(input.array.segment)
    assert not any(s.holders for s in both.pool._segments.values())


def test_kernels_are_explained_where_their_device_is() -> None:
    there: Any = (1, None, "mean2d", {}, Pick("naive", "gpu-host/sim"), "sm_75")
    many: Any = (*there[:4], (there[4],), there[5])
    for made in (XRayRequest, CliffsRequest, BlockRequest):
        assert hosts_of(made(*there)) == ("gpu-host",)
    for made in (PredictionRequest, TrafficRequest):
        assert hosts_of(made(*many)) == ("gpu-host",)
    assert hosts_of(XRayRequest(*there, profile="report.ncu-rep")) == ("",)  # it can only be read here
