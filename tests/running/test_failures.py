"""A variant that raises ends its own row: the others are computed, verified and timed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpu_ops.devices import cpu
from gpu_ops.errors import DeviceLost
from gpu_ops.filters import find_filter
from gpu_ops.running.runner import run_experiment
from gpu_ops.types import Experiment, Input, Pick, Run

SIGNAL = Input("signal", np.arange(97, dtype=np.float32), "t", "ramp", {})


class Failing:
    """NumPy, until it is used for the n-th time."""

    def __init__(self, calls: int, error: Exception) -> None:
        self.left, self.error = calls, error

    def __getattr__(self, name: str) -> Any:
        if name == "errstate":  # once a call of the variant
            self.left -= 1
            if self.left < 0:
                raise self.error
        return getattr(np, name)


def last(monkeypatch: pytest.MonkeyPatch, calls: int, error: Exception, protocol: Any) -> dict[str, Run]:
    """The last run of each variant, of which one raises after so many calls."""
    failing = Failing(calls, error)
    monkeypatch.setattr(cpu, "import_library", lambda name: failing)
    picks = tuple(Pick(v, "cpu") for v in ("serial", "numpy", "parallel"))
    every = run_experiment(Experiment("reduce1d", SIGNAL, {}, picks, protocol=protocol))
    return {run.pick.variant: run for run in every}


@pytest.mark.parametrize("calls", [0, 1, 9], ids=["computing", "warming up", "timing"])
@pytest.mark.parametrize("protocol", ["none", "quick"])
def test_the_others_go_on(monkeypatch: pytest.MonkeyPatch, calls: int, protocol: str) -> None:
    runs = last(monkeypatch, calls, RuntimeError("CUFFT_EXEC_FAILED"), protocol)
    for variant in ("serial", "parallel"):
        assert runs[variant].ok and not runs[variant].failure
        assert ("kernel" in runs[variant].timings) == (protocol == "quick")
    if protocol == "quick" or calls < 2:  # one run and one more
        assert runs["numpy"].failure == "numpy failed: RuntimeError CUFFT_EXEC_FAILED"
        assert runs["numpy"].failure_kind == "kernel" and "kernel" not in runs["numpy"].timings


def test_a_plan_that_cannot_be_made_again_for_timing_ends_its_own_row(monkeypatch: pytest.MonkeyPatch) -> None:
    filter, made = find_filter("reduce1d", "signal"), [0]
    plan = filter.variant("numpy").plan

    def once(device: Any, task: Any) -> Any:
        made[0] += 1
        if made[0] > 1:
            raise OSError("no handle is left")
        return plan(device, task)

    object.__setattr__(filter.variant("numpy"), "plan", once)
    try:
        picks = tuple(Pick(v, "cpu") for v in ("serial", "numpy"))
        runs = {r.pick.variant: r for r in run_experiment(Experiment(filter.id, SIGNAL, {}, picks, protocol="quick"))}
    finally:
        object.__setattr__(filter.variant("numpy"), "plan", plan)
    assert runs["serial"].ok and "kernel" in runs["serial"].timings
    assert runs["numpy"].failure == "numpy failed: OSError no handle is left"


def test_a_lost_device_ends_all(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DeviceLost):
        last(monkeypatch, 0, DeviceLost("The device is lost."), "none")
