"""A large picture reaches the window before its statistics are computed, and they follow in any case."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from gpu_ops import from_array
from gpu_ops.engine import jobs
from gpu_ops.engine.messages import RunRequest, RunUpdate
from gpu_ops.engine.shared import SharedArray, SharedInput, Statistics
from gpu_ops.engine.statistics import statistics
from gpu_ops.progress import listening
from gpu_ops.types import Input, Pick

LARGE, SMALL = (2048, 2048), (2047, 2048)


class Channel:
    """What a job needs of its channel; the answers and each computation of statistics are noted in their order."""

    def __init__(self, input: Input) -> None:
        self.seen: list[Any] = []
        self._input, self.stopped = input, False

    def input(self, _shared: object) -> Input:
        return self._input

    def share(self, array: np.ndarray) -> SharedArray:
        return SharedArray(f"segment{len(self.seen)}", array.shape, array.dtype.name)

    def allocating(self, _devices: object) -> Any:
        return nullcontext()

    def pin(self, *_: object) -> None:
        pass

    def progress(self, *_: object) -> None:
        pass

    announce = progress

    def provenance(self, *_: object) -> dict[str, str]:
        return {"host": "this one"}

    def should_stop(self) -> bool:
        return self.stopped

    def send(self, answer: RunUpdate) -> None:
        self.seen.append(answer)
        self.stopped |= self.stop_early and bool(answer.outputs)

    stop_early = False


def answers(monkeypatch: pytest.MonkeyPatch, array: np.ndarray, filter: str = "mean2d", stop: bool = False) -> list[Any]:
    """What a run of one variant sends, with "statistics" wherever some are computed."""
    channel = Channel(from_array(array, kind="image"))
    channel.stop_early = stop

    def counted(values: np.ndarray) -> Statistics:
        channel.seen.append("statistics")
        return statistics(values)

    monkeypatch.setattr(jobs, "statistics", counted)
    shared = SharedInput("image", SharedArray("input", array.shape, array.dtype.name), "yx", "", {}, None, True, None)  # type: ignore[arg-type]
    request = RunRequest(1, 1, shared, filter, {}, (Pick("serial", "cpu"),), protocol="none", checks="off")
    with listening(channel.should_stop):
        jobs._run(channel, request)  # type: ignore[arg-type]
    return channel.seen


def floats(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(0).random(shape, np.float32)


def test_a_large_picture_is_sent_before_its_statistics(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = answers(monkeypatch, floats(LARGE))
    early, between, late = seen[:3]
    assert between == "statistics"
    (first,), (second,) = (one.outputs.values() for one in (early, late))
    assert (first.summarised, first.statistics, first.text) == (False, None, "")
    assert second.summarised and second.statistics.finite == 2048 * 2048 and second.text
    assert (first.array, first.form) == (second.array, second.form), "the pixels are sent once"
    assert early.provenance and not late.provenance and early.row == late.row
    assert all(not one.outputs for one in seen[3:])


@pytest.mark.parametrize(
    ("shape", "filter"), [(SMALL, "mean2d"), (LARGE, "fft2d"), (LARGE, "scan2d")]
)
def test_others_are_sent_with_theirs(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...], filter: str
) -> None:
    """A small one, and those that are not shown in the input's levels, which no picture could be painted without."""
    seen = answers(monkeypatch, floats(shape), filter)
    assert seen[0] == "statistics"
    assert all(result.summarised for one in seen if isinstance(one, RunUpdate) for result in one.outputs.values())


def test_statistics_follow_a_picture_that_is_shown_although_the_run_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = answers(monkeypatch, floats(LARGE), stop=True)
    (last,) = [one for one in seen if isinstance(one, RunUpdate) and one.outputs][-1].outputs.values()
    assert last.summarised and last.statistics.finite == 2048 * 2048
