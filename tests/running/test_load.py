"""When a time cannot be trusted, and what follows from it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpu_ops.report.rows import Row
from gpu_ops.report.speedups import with_speedups
from gpu_ops.running import load
from gpu_ops.running.load import Others, ProcessorTime, doubt
from gpu_ops.running.timing import QUICK, Series, compare
from gpu_ops.types import Timing


def test_a_quiet_series_is_in_no_doubt() -> None:
    assert doubt([1.0, 1.01, 0.99, 1.02, 1.0], others=0.9) == ""  # others are busy, and disturb nothing
    assert doubt([1.0, 5.0]) == ""  # too few to tell


@pytest.mark.parametrize(
    "samples, others, words",
    [
        ([0.145, 3.0, 6.9, 7.1, 12.0], 0.0, "spread"),
        ([1.0, 2.0, 3.4], 0.0, "spread over 60% of their median"),
        ([0.145, 6.8, 6.9, 7.0, 7.1], 0.0, "fastest sample"),
        ([1.0, 1.2, 1.3, 1.5, 1.6], 0.6, "other programs used 60%"),
    ],
)
def test_why_a_time_is_worth_nothing(samples: list[float], others: float, words: str) -> None:
    assert words in doubt(samples, others)
    timing = Series(QUICK, samples).timing("kernel", "wall", "cap of 0.4 s", others=others)
    assert words in timing.doubt
    quiet = Series(QUICK, [9.0, 9.0, 9.0]).timing("kernel", "wall", "cap of 0.4 s")
    assert compare(timing, quiet) == "unsure" and compare(quiet, timing) == "unsure"


def test_the_processors_that_others_use(monkeypatch: pytest.MonkeyPatch) -> None:
    events = iter([ProcessorTime(100.0, 50.0, 10.0), ProcessorTime(140.0, 80.0, 20.0)])
    monkeypatch.setattr(load, "processor_time", lambda: next(events))
    monkeypatch.setattr(load.os, "cpu_count", lambda: 4)
    assert Others().share() == pytest.approx(0.5)


def test_nobody_knows_of_too_short_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    events = iter([ProcessorTime(100.0, 50.0, 10.0), ProcessorTime(100.2, 50.2, 10.0)])
    monkeypatch.setattr(load, "processor_time", lambda: next(events))
    monkeypatch.setattr(load.os, "cpu_count", lambda: 4)
    assert Others().share() is None
    monkeypatch.setattr(load, "processor_time", lambda: None)
    assert Others().share() is None


def test_a_time_in_doubt_has_no_speedup_and_is_no_baseline() -> None:
    def row(variant: str, median: float, doubt: str = "") -> Row:
        kernel = Timing("kernel", "wall", median, median, median, median, 3, "", doubt=doubt)
        return Row("mean2d", variant, "cpu", {}, {}, (9,), "uint8", "stream", {"kernel": kernel})

    good, doubted = row("parallel", 1.0), row("serial", 6.9, doubt="spread")
    assert all(r.speedup is None for r in with_speedups([good, doubted], "serial"))
    found = with_speedups([row("serial", 6.0), replace(doubted, variant="scipy"), good], "serial")
    assert found[2].speedup.stages["kernel"] == 6.0 and "kernel" not in found[1].speedup.stages
