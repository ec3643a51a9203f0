"""A device whose memory ends at the n-th allocation, for every n: one sentence, nothing stays allocated, and the next
run works."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

from gpu_ops import from_array
from gpu_ops.devices import open_device
from gpu_ops.errors import DeviceMemoryError
from gpu_ops.running.runner import run_experiment
from gpu_ops.types import Experiment, Pick, Run

IMAGE = from_array(np.random.default_rng(3).integers(0, 256, (12, 7)).astype(np.uint8))
KERNEL = Experiment("mean2d", IMAGE, {"window": 3}, (Pick("naive", "sim"),), "none")
BANDS = Experiment("mean2d", IMAGE, {"window": 3}, (Pick("naive", "sim"),), "none", memory=150)
STREAMS = Experiment("transfer2d", IMAGE, {}, (Pick("streams", "sim", {"chunks": 3, "streams": 2}),), "none")
MANAGED = Experiment("transfer2d", IMAGE, {}, (Pick("managed", "sim"),), "none")


def run(experiment: Experiment) -> Run:
    *_, last = run_experiment(experiment)
    return last


class Exhausted:
    """The memory of the simulated GPU, which is full at the `nth` allocation (from 0), or from it on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, on: bool) -> None:
        self.memory, self.on, self.nth, self.calls = open_device("sim")._memory, on, -1, 0
        self._empty = self.memory.empty
        monkeypatch.setattr(self.memory, "empty", self.empty)

    def empty(self, shape: Any, dtype: Any, *kind: Any) -> Any:
        self.calls += 1
        place = self.calls - 1
        if self.nth >= 0 and (place == self.nth or (self.on and place > self.nth)):
            raise DeviceMemoryError("This needs more bytes than the simulated GPU has. Use a smaller input.")
        return self._empty(shape, dtype, *kind)

    def fail_at(self, nth: int) -> None:
        self.nth, self.calls = nth, 0


CASES = {
    "whole": KERNEL,
    "bands": BANDS,
    "streams": STREAMS,
    "managed": MANAGED,
}


@pytest.mark.parametrize("on", [False, True], ids=["once", "from then on"])
@pytest.mark.parametrize(
    "experiment", [pytest.param(e, id=n, marks=() if n == "whole" else pytest.mark.thorough) for n, e in CASES.items()]
)
def test_it_is_said_nothing_stays_and_the_next_run_works(monkeypatch, experiment, on):
    expected = run(experiment)
    assert expected.ok, expected.failure
    gc.collect()
    exhausted = Exhausted(monkeypatch, on)
    used, nth, failures = exhausted.memory.used, 0, 0
    while True:
        exhausted.fail_at(nth)
        last = run(experiment)
        if last.failure:
            failures += 1
            assert last.failure_kind == "memory" and last.failure.count(". ") <= 2, last.failure
            assert "se a smaller input" in last.failure
        else:
            assert last.ok
        ended = exhausted.calls <= nth
        del last
        assert exhausted.memory.used == used, f"after allocation {nth}"
        exhausted.fail_at(-1)
        again = run(experiment)
        assert again.ok and all(np.array_equal(again.outputs[n], a) for n, a in expected.outputs.items())
        del again
        if ended:
            break
        nth += 1
    assert nth > 1 and (failures > 0 or not on)
