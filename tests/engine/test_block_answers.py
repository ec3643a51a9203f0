"""How the engine answers a request for one block step by step."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from gpu_ops import from_array
from gpu_ops.devices.kernel_source import read_source
from gpu_ops.engine import xrays
from gpu_ops.engine.about import activity
from gpu_ops.engine.kernel_messages import BlockAnswer, BlockRequest
from gpu_ops.errors import KernelError, LimitReached
from gpu_ops.types import Pick

FILE = "mean2d/3_shared.cu"
TEXT = read_source(FILE)
RACY = TEXT.replace("__syncthreads();", "", 1)
ENDLESS = TEXT.replace("__syncthreads();", "__syncthreads(); while (x != nullptr) if (y == nullptr) break;", 1)


class Channel:
    """What a job needs of the engine, without a process: answers are kept."""

    def __init__(self) -> None:
        self.answers: list[Any] = []
        self.whole = from_array(np.arange(24 * 40, dtype=np.float32).reshape(24, 40))

    def input(self, shared: Any) -> Any:
        return self.whole

    def middle(self, whole: Any) -> tuple[Any, tuple[int, ...]]:
        return whole, ()

    def announce(self, text: str) -> None:
        pass

    def send(self, answer: Any) -> None:
        self.answers.append(pickle.loads(pickle.dumps(answer)))


def answered(text: str = TEXT, **more: Any) -> BlockAnswer:
    channel, edits = Channel(), {FILE: text} if text != TEXT else {}
    params = {"window": 3, "border": "reflect"}
    request = BlockRequest(7, None, "mean2d", params, Pick("shared", "sim", {}, edits), "sm_75", **more)  # type: ignore[arg-type]
    assert activity(request) == "recorded a block of shared of mean2d"
    xrays.answer_block(channel, request)  # type: ignore[arg-type]
    (answer,) = channel.answers
    assert answer.job == 7
    return answer  # type: ignore[no-any-return]


def test_the_block_in_the_middle_writes_its_part_of_the_result() -> None:
    answer = answered()
    run = answer.content.run
    assert answer.text == TEXT
    assert answer.content.other is None
    assert run.place == tuple(extent // 2 for extent in run.grid)
    (y,) = run.buffers
    values, written = y.cells.at(run.steps)
    x = np.pad(Channel().whole.array.astype(np.float64), 1, "symmetric")
    means = sum(x[i : i + 24, j : j + 40] for i in range(3) for j in range(3)).reshape(-1) / 9
    assert written.any()
    np.testing.assert_allclose(values.astype(np.uint32).view(np.float32)[written], means[written], rtol=1e-6)


def test_a_missing_barrier_is_seen_in_another_order() -> None:
    answer = answered(RACY, place=(0, 0, 0), other=True)
    assert answer.text == RACY
    assert answer.content.other is not None
    assert "have no barrier in between" in answer.content.outcome
    assert "other values in y" in answer.content.outcome


def test_a_block_that_there_is_not_is_a_sentence() -> None:
    with pytest.raises(KernelError, match="there is no block"):
        answered(place=(99, 0, 0))


@pytest.mark.thorough
def test_an_endless_kernel_ends_with_its_first_steps() -> None:
    try:
        ended = answered(ENDLESS).content.run.ended
    except LimitReached as error:
        ended = str(error)
    assert "steps are recorded" in ended or "had not ended" in ended or "seconds" in ended
