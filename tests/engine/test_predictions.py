"""How the engine answers a request for predicted times."""

from __future__ import annotations

import queue
from typing import Any

import pytest

from gpu_ops.devices.kernel_source import read_source
from gpu_ops.engine import edits, xrays
from gpu_ops.engine.about import activity, segments_of_request
from gpu_ops.engine.client import EngineClient
from gpu_ops.engine.kernel_messages import Counted, PredictionAnswer, PredictionRequest
from gpu_ops.engine.messages import Finished, Loaded, Progress, SampleRequest
from gpu_ops.errors import DeviceLost, ParamError
from gpu_ops.explaining.judging import recorded_reports
from gpu_ops.explaining.prediction.gpus import GPUS
from gpu_ops.explaining.prediction.model import predict
from gpu_ops.io import sample
from gpu_ops.progress import Cancelled, listening
from gpu_ops.types import Pick

PATIENCE = 60.0
"""Seconds; generous, for busy machines."""
PARAMS = {"window": 3, "border": "reflect"}
NAIVE, SHARED = Pick("naive", "cuda:0"), Pick("shared", "cuda:0")
FILE = "mean2d/1_naive.cu"


class Channel:
    """What a job needs of the engine, without a process: answers are kept."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.answers: list[Any] = []
        self.whole = sample("camera")

    def input(self, shared: Any) -> Any:
        return self.whole

    def announce(self, text: str) -> None:
        self.said.append(text)

    def send(self, answer: Any) -> None:
        self.answers.append(answer)


def request(*picks: Pick, gpu: str = "h100") -> PredictionRequest:
    return PredictionRequest(4, None, "mean2d", PARAMS, picks, gpu)  # type: ignore[arg-type]


def counted(*picks: Pick, gpu: str = "h100", channel: Channel | None = None) -> tuple[Counted, ...]:
    channel = channel or Channel()
    xrays.answer_prediction(channel, request(*picks, gpu=gpu))  # type: ignore[arg-type]
    (found,) = channel.answers
    assert (found.job, found.gpu, len(found.counted)) == (4, gpu, len(picks))
    return tuple(found.counted)


def test_each_pick_has_its_counts_and_what_was_recorded_of_it() -> None:
    channel = Channel()
    naive, shared = counted(NAIVE, SHARED, channel=channel)
    assert channel.said == [
        f"counting {title} for NVIDIA H100 80GB HBM3" for title in ("1 naive", "3 constant + shared")
    ]
    a, b = (predict(one.launches, GPUS["h100"]) for one in (naive, shared))
    assert a.terms["latency"] > b.terms["latency"] > 0, "shared memory is what the second has"
    rows = recorded_reports()["h100-samples-mean2d.json"].rows
    medians = [r.stages["kernel"].median for r in rows if (r.variant, r.shape) == ("naive", (512, 512))]
    assert naive.recorded in medians
    assert activity(request(NAIVE)) == "counted launches of mean2d for h100"


def test_another_gpu_has_no_recorded_time_of_this_one() -> None:
    (naive,) = counted(NAIVE, gpu="l4")
    assert naive.launches and naive.recorded is None


def test_one_that_cannot_be_counted_leaves_the_others_theirs() -> None:
    serial, naive, broken = counted(Pick("serial", "cpu"), NAIVE, Pick("naive", "sim", edits={FILE: "int x = ;"}))
    assert (
        not serial.launches and "serial has no kernel whose time could be predicted; choose from naive" in serial.reason
    )
    assert naive.launches and not naive.reason
    assert not broken.launches and "1_naive.cu" in broken.reason
    with pytest.raises(ParamError, match="choose from t4, a100"):
        counted(NAIVE, gpu="h900")


def test_an_edited_kernel_has_its_own_counts_within_the_limits_and_no_recorded_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = read_source(FILE)
    pick = Pick("naive", "sim", edits={FILE: text.replace("__restrict__", "", 1)})
    (edited,) = counted(pick)
    assert edited.launches and edited.recorded is None
    monkeypatch.setattr(edits, "SECONDS", 0.0)
    (late,) = counted(pick)
    assert not late.launches and late.reason.endswith("took more than 0 s.")


def test_a_lost_device_and_a_stop_end_the_whole_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: Any) -> Any:
        raise Cancelled

    with listening(stop), pytest.raises(Cancelled):
        counted(NAIVE)

    def lost(*_: Any) -> Any:
        raise DeviceLost("The device is gone.")

    monkeypatch.setattr(xrays, "count_launches", lost)
    with pytest.raises(DeviceLost):
        counted(NAIVE)


def test_the_engines_process_answers_and_can_be_stopped() -> None:
    answers: queue.Queue[Any] = queue.Queue()
    client = EngineClient(answers.put)

    def until(kind: type, job: int) -> Any:
        while True:
            answer = answers.get(timeout=PATIENCE)
            if isinstance(answer, kind) and answer.job == job:
                return answer
            assert not (isinstance(answer, Finished) and answer.job == job), "it ended before"

    try:
        job = client.next_job()
        client.submit(SampleRequest(job, "noise_image", {"size": "256x256"}))
        shared = until(Loaded, job).input
        asked = PredictionRequest(client.next_job(), shared, "mean2d", PARAMS, (NAIVE,), "h100")
        assert list(segments_of_request(asked)) == list(shared.segments)
        client.submit(asked)
        (naive,) = until(PredictionAnswer, asked.job).counted
        assert [one.kernel for one in naive.launches] == ["mean2d_naive"] and naive.launches[0].blocks > 1
        until(Finished, asked.job)
        many = PredictionRequest(client.next_job(), shared, "mean2d", PARAMS, (NAIVE, SHARED) * 500, "h100")
        client.submit(many)
        until(Progress, many.job)
        client.cancel(many.job, kill=False)
        assert until(Finished, many.job).cancelled
    finally:
        client.close()
