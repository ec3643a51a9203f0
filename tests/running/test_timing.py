"""When sampling stops and what is said of the samples, with a clock made for the purpose."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from gpu_ops.running.timing import (
    CAREFUL,
    QUICK,
    STABLE_WITHIN,
    WARM_UP_CALLS,
    Series,
    compare,
    iqr_over_median,
    measure_interleaved,
    once,
    stdev_over_mean,
    warm_up,
)
from gpu_ops.types import Timing


class Clock:
    """Time that passes only when a sampler takes some."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class FakeSampler:
    clock = "wall"
    mode = "stream"

    def __init__(self, clock: Clock, seconds: itertools.cycle[float] | float) -> None:
        self._clock = clock
        self._seconds = seconds
        self.calls = 0

    def sample(self) -> float:
        self.calls += 1
        seconds = self._seconds if isinstance(self._seconds, float) else next(self._seconds)
        self._clock.now += seconds
        return seconds


def _measure(seconds, rule, deadline=None):  # type: ignore[no-untyped-def]
    clock = Clock()
    samplers = {i: FakeSampler(clock, s) for i, s in enumerate(seconds)}
    return dict(measure_interleaved(samplers, rule, deadline=deadline, now=clock)), samplers, clock


def test_a_steady_series_stops_as_soon_as_the_rule_allows() -> None:
    found, _, _ = _measure([0.001], QUICK)
    assert found[0].n == QUICK.fewest
    assert found[0].stop == "IQR/median < 2 %"
    assert found[0].median == found[0].q1 == found[0].q3 == found[0].min == 0.001


def test_careful_wants_half_a_second() -> None:
    found, _, _ = _measure([0.01], CAREFUL)
    assert found[0].n * 0.01 >= CAREFUL.least_seconds
    assert found[0].stop == "stdev/mean < 0.5 %"


def test_the_cap_wins_over_the_number_of_samples_but_three_are_taken() -> None:
    found, _, _ = _measure([10.0], CAREFUL)
    assert found[0].n == 3
    assert found[0].stop == "cap of 15 s"
    found, _, _ = _measure([20.0], CAREFUL)
    assert found[0].n == 3


def test_a_restless_series_ends_at_the_cap_or_the_most_samples() -> None:
    found, _, _ = _measure([itertools.cycle([0.01, 0.02, 0.03])], QUICK)
    assert found[0].stop == "cap of 0.4 s"
    found, _, _ = _measure([itertools.cycle([0.0001, 0.0002, 0.0003])], QUICK)
    assert (found[0].n, found[0].stop) == (QUICK.most, "200 samples")


def test_a_wide_but_stable_series_stops_when_its_median_stands() -> None:
    found, _, _ = _measure([itertools.cycle([0.009, 0.01, 0.011, 0.010])], CAREFUL)
    assert found[0].stop == "median stable"
    assert found[0].median == pytest.approx(0.01)


def test_warm_up_takes_three_calls_and_25_ms() -> None:
    clock = Clock()
    slow = FakeSampler(clock, 1.0)
    warm_up(slow, clock)
    assert slow.calls == 3
    fast = FakeSampler(clock, 0.001)
    warm_up(fast, clock)
    assert 25 <= fast.calls <= 26


def test_series_are_interleaved() -> None:
    clock, order = Clock(), []

    class Noting(FakeSampler):
        def sample(self) -> float:
            order.append(self)
            return super().sample()

    samplers = {i: Noting(clock, 0.05) for i in range(2)}
    list(measure_interleaved(samplers, QUICK, now=clock))
    switches = sum(a is not b for a, b in itertools.pairwise(order))
    assert switches > 3


def test_the_deadline_keeps_what_has_three_samples_and_drops_the_rest() -> None:
    found, _, _ = _measure([0.5], CAREFUL, deadline=3.1)
    assert found[0].stop == "budget"
    assert found[0].n >= 3
    found, _, _ = _measure([2.0], CAREFUL, deadline=1.0)
    assert found == {}


def test_statistics_are_those_of_the_samples() -> None:
    series = Series(QUICK, samples=[4.0, 1.0, 2.0, 3.0, 5.0])
    timing = series.timing("kernel", "wall", "because")
    assert (timing.q1, timing.median, timing.q3, timing.min, timing.n) == (2.0, 3.0, 4.0, 1.0, 5)
    assert timing.samples == (4.0, 1.0, 2.0, 3.0, 5.0)
    with pytest.raises(ValueError, match="no samples"):
        Series(QUICK).timing("kernel", "wall", "")


def _timing(q1: float, median: float, q3: float) -> Timing:
    return Timing("kernel", "wall", median, q1, q3, q1, 30, "")


@pytest.mark.parametrize(
    "a, b, said",
    [
        ((1.0, 1.1, 1.2), (1.3, 1.4, 1.5), "faster"),
        ((1.3, 1.4, 1.5), (1.0, 1.1, 1.2), "slower"),
        ((1.0, 1.1, 1.35), (1.3, 1.4, 1.5), "same"),
        ((1.3, 1.4, 1.5), (1.0, 1.1, 1.35), "same"),  # slower by the medians, and the quartiles overlap
        ((1.0, 1.1, 1.3), (1.3, 1.4, 1.5), "same"),  # the quartiles touch
        ((1.3, 1.4, 1.5), (1.0, 1.1, 1.3), "same"),
        ((49.0, 49.0, 49.0), (50.0, 50.0, 50.0), "same"),  # 2 % and no more
        ((48.9, 48.9, 48.9), (50.0, 50.0, 50.0), "faster"),
        ((1.000, 1.001, 1.002), (1.010, 1.011, 1.012), "same"),
    ],
)
def test_faster_means_disjoint_quartiles_and_two_percent(a, b, said) -> None:  # type: ignore[no-untyped-def]
    assert compare(_timing(*a), _timing(*b)) == said


@pytest.mark.parametrize("better", [True, False])
def test_what_is_in_doubt_is_unsure(better: bool) -> None:
    sure, doubted = _timing(1.0, 1.0, 1.0), replace(_timing(9.0, 9.0, 9.0), doubt="busy")
    assert compare(*((sure, doubted) if better else (doubted, sure))) == "unsure"


@pytest.mark.parametrize("halves", [(1.0, 2.0), (2.0, 1.0)])
def test_a_median_that_moves_either_way_is_not_stable(halves: tuple[float, float]) -> None:
    """Neither a series that becomes slower nor one that becomes faster ends before it has settled."""
    first, second = halves
    steady = [1.0, 1.5] * 50
    assert Series._stable(np.array(steady))
    assert not Series._stable(np.array([first] * 50 + [second] * 50))
    assert Series._stable(np.array([1.0] * 50 + [1.0 + STABLE_WITHIN] * 50))
    assert not Series._stable(np.array([1.0] * 50 + [1.0 + 2 * STABLE_WITHIN] * 50))


def test_every_round_has_an_order_of_its_own() -> None:
    clock, order = Clock(), list[int]()

    class Noting(FakeSampler):
        def sample(self) -> float:
            order.append(samplers.index(self))
            return super().sample()

    samplers = [Noting(clock, 0.1) for _ in range(3)]
    rule = replace(QUICK, cap_seconds=99.0, spread_below=0.0)
    list(measure_interleaved(dict(enumerate(samplers)), rule, now=clock, seed=1))
    first = 3 * (WARM_UP_CALLS + 1)
    rounds = [tuple(order[k : k + 3]) for k in range(first, len(order), 3)]
    assert len(rounds) == rule.most - 1 and all(sorted(turn) == [0, 1, 2] for turn in rounds)
    assert len(set(rounds)) > 3


def test_three_samples_are_taken_whatever_the_clock_says() -> None:
    for count, reason in ((0, None), (2, None), (3, "cap of 0.4 s")):
        assert Series(QUICK, [1.0] * count, spent=99.0).stop_reason() == reason


def test_a_rule_is_asked_at_its_bounds() -> None:
    rule = replace(QUICK, fewest=10, most=20, least_seconds=1.0)
    assert Series(rule, [1.0] * 10, spent=0.0).stop_reason() is None, "too short"
    assert Series(replace(rule, cap_seconds=9.0), [1.0] * 10, spent=1.0).stop_reason() == rule.spread_name
    assert Series(replace(rule, cap_seconds=9.0), [1.0] * 11, spent=1.0).stop_reason() is None, "every fifth"
    assert Series(replace(rule, cap_seconds=9.0), [1.0] * 20, spent=0.0).stop_reason() == "20 samples"


def test_spreads_are_relative_and_a_single_sample_has_none() -> None:
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    assert iqr_over_median(values) == 2 / 3 and iqr_over_median(np.zeros(5)) == 0
    assert stdev_over_mean(values) == pytest.approx(np.sqrt(2.5) / 3)
    assert stdev_over_mean(np.array([7.0])) == 0 and stdev_over_mean(np.zeros(5)) == 0


def test_progress_is_told_about_once_a_second() -> None:
    clock, events = Clock(), list[float]()
    samplers = {i: FakeSampler(clock, itertools.cycle([0.2, 0.4])) for i in range(2)}
    list(measure_interleaved(samplers, replace(QUICK, cap_seconds=6.0), now=clock, report=events.append))
    assert 8 <= len(events) <= 14 and events == sorted(events) and 0 < events[0] < 0.3 and 0.8 < events[-1] <= 1


def test_something_that_happens_once() -> None:
    timing = once("compile", 0.25)
    assert (timing.median, timing.n, timing.clock) == (0.25, 1, "wall")


def test_the_order_does_not_depend_on_the_machine() -> None:
    first = [key for key, _ in measure_interleaved(_three(), QUICK, seed=7)]
    assert first == [key for key, _ in measure_interleaved(_three(), QUICK, seed=7)]


def _three() -> dict[int, FakeSampler]:
    clock = Clock()
    return {i: FakeSampler(clock, 0.01) for i in range(3)}


def test_samples_are_kept_as_they_came() -> None:
    values = np.random.default_rng(0).random(7)
    series = Series(QUICK, samples=list(values))
    assert series.timing("kernel", "wall", "").samples == tuple(values)
