"""When to stop sampling, and the statistics of samples. Pure: clocks and randomness come from the caller."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import numpy as np

from gpu_ops.plan import Clock, Launch, Plan
from gpu_ops.progress import Cancelled, listening
from gpu_ops.running.load import doubt
from gpu_ops.types import Timing

Key = TypeVar("Key", bound=Hashable)


def check_stop(stop: Callable[[], bool] | None) -> None:
    """Raises Cancelled when `stop` returns true."""
    if stop is not None and stop():
        raise Cancelled


@dataclass(frozen=True)
class Rule:
    """When a series of samples ends. The cap in seconds wins, but never before three samples."""

    fewest: int
    most: int
    least_seconds: float
    cap_seconds: float
    spread: Callable[[np.ndarray], float]
    spread_below: float
    spread_name: str
    stable_after: int | None = None


def iqr_over_median(samples: np.ndarray) -> float:
    q1, median, q3 = np.percentile(samples, (25, 50, 75))
    return float((q3 - q1) / median) if median else 0.0


def stdev_over_mean(samples: np.ndarray) -> float:
    mean = samples.mean()
    return float(samples.std(ddof=1) / mean) if mean and len(samples) > 1 else 0.0


QUICK = Rule(20, 200, 0.0, 0.4, iqr_over_median, 0.02, "IQR/median < 2 %")
CAREFUL = Rule(30, 100_000, 0.5, 15.0, stdev_over_mean, 0.005, "stdev/mean < 0.5 %", 100)
TRANSFERS = Rule(10, 100, 0.0, 1.0, iqr_over_median, 0.05, "IQR/median < 5 %")
RULES = {"quick": QUICK, "careful": CAREFUL}
STABLE_WITHIN = 0.001
REPORT_EVERY = 1.0
"""Seconds between two reports of the progress of a measurement."""
ROTATION_BYTES = 256 << 20
"""Inputs and outputs rotate over at least this much, and over four times the last-level cache."""
MOST_COPIES = 64
WARM_UP_CALLS = 3
WARM_UP_SECONDS = 0.025
WARM_UP_CAP = 0.2


class Samples(Protocol):
    """The part of a sampler that the loop below needs."""

    @property
    def clock(self) -> Clock: ...

    @property
    def mode(self) -> str: ...

    def sample(self) -> float: ...


@dataclass
class Series:
    """Samples of one stage of one pick, in seconds, and the wall seconds spent on them."""

    rule: Rule
    samples: list[float] = field(default_factory=list)
    spent: float = 0.0

    def stop_reason(self) -> str | None:
        """Why sampling may end, or None."""
        n = len(self.samples)
        if n < 3:
            return None
        if self.spent >= self.rule.cap_seconds:
            return f"cap of {self.rule.cap_seconds:g} s"
        if n >= self.rule.most:
            return f"{n} samples"
        if n < self.rule.fewest or self.spent < self.rule.least_seconds or n % 5:
            return None
        values = np.asarray(self.samples)
        if self.rule.spread(values) < self.rule.spread_below:
            return self.rule.spread_name
        stable = self.rule.stable_after is not None and n >= self.rule.stable_after and self._stable(values)
        return "median stable" if stable else None

    @staticmethod
    def _stable(values: np.ndarray) -> bool:
        """Both halves agree on the median, so more samples would not move it."""
        half = len(values) // 2
        first, second = np.median(values[:half]), np.median(values[half:])
        return bool(abs(first - second) <= STABLE_WITHIN * max(first, second))

    def timing(self, stage: str, clock: Clock, stop: str, mode: str = "", others: float | None = None) -> Timing:
        """The statistics of the samples. `others` is the share of the processors that other programs used meanwhile.
        Raises ValueError without samples."""
        if not self.samples:
            raise ValueError(f"no samples of {stage}")
        q1, median, q3 = (float(v) for v in np.percentile(self.samples, (25, 50, 75)))
        low, n = min(self.samples), len(self.samples)
        why = doubt(self.samples, others)
        return Timing(stage, clock, median, q1, q3, low, n, stop, mode, tuple(self.samples), why)


def rotated(l2_bytes: int, nbytes: int) -> int:
    """The number of copies of an input of `nbytes`, and of an output of that size, through which timed calls rotate in
    the mode "stream". Copies of small inputs are too few to leave the cache."""
    total = max(4 * l2_bytes, ROTATION_BYTES)
    return min(-(-total // max(2 * nbytes, 1)), MOST_COPIES)


def warm_up(
    sampler: Samples, now: Callable[[], float] = time.perf_counter, stop: Callable[[], bool] | None = None
) -> None:
    """At least three calls and 25 ms, at most 200 ms once three are done."""
    start, calls = now(), 0
    while True:
        _sample(sampler, stop)
        calls += 1
        spent = now() - start
        if calls >= WARM_UP_CALLS and (spent >= WARM_UP_SECONDS or spent >= WARM_UP_CAP):
            return


def _sample(sampler: Samples, stop: Callable[[], bool] | None) -> float:
    """Take one sample; a long one calls `stop` in the middle as well."""
    check_stop(stop)
    with listening(stop):
        return sampler.sample()


def measure_interleaved(
    samplers: Mapping[Key, Samples],
    rule: Rule,
    stage: str = "kernel",
    deadline: float | None = None,
    seed: int = 0,
    now: Callable[[], float] = time.perf_counter,
    stop: Callable[[], bool] | None = None,
    report: Callable[[float], None] | None = None,
    others: Callable[[], float | None] | None = None,
    failed: Callable[[Key, Exception], bool] | None = None,
) -> Iterator[tuple[Key, Timing]]:
    """Take samples of all in rounds of random order; yield the timing of each as its series ends.

    At the deadline (in `now`'s seconds) series of three samples or more are yielded with stop "budget"; the rest are
    dropped. Raises Cancelled as soon as `stop`, called before every sample, is true. About once a second `report` gets
    the part of the time that is over, from 0 to 1: more often would disturb the measurement. `others` returns the share
    of the processors that other programs have used since the beginning. A sampler that raises is dropped where `failed`
    returns true for it; else the exception is passed on.
    """
    order = random.Random(seed)
    series = {key: Series(rule) for key in samplers}
    last_report = now()
    open_keys = list(samplers)
    while open_keys:
        order.shuffle(open_keys)
        for key in list(open_keys):
            if deadline is not None and now() >= deadline:
                yield from _at_deadline(samplers, series, open_keys, stage, others)
                return
            try:
                start = _take_sample(samplers[key], series[key], now, stop)
            except Exception as error:
                if failed is None or not failed(key, error):
                    raise
                open_keys.remove(key)
                continue
            if report is not None and start - last_report >= REPORT_EVERY:
                last_report = start
                report(_part_over(series, open_keys, rule))
            reason = series[key].stop_reason()
            if reason:
                open_keys.remove(key)
                sampler, load = samplers[key], others() if others is not None else None
                yield key, series[key].timing(stage, sampler.clock, reason, sampler.mode, load)


def _take_sample(sampler: Samples, series: Series, now: Callable[[], float], stop: Callable[[], bool] | None) -> float:
    """Add a sample to a series, the first one after a warm-up. Returns its start time."""
    if not series.samples:
        warm_up(sampler, now, stop)
    start = now()
    series.samples.append(_sample(sampler, stop))
    series.spent += now() - start
    return start


def _part_over(series: Mapping[Key, Series], open_keys: list[Key], rule: Rule) -> float:
    """The finished part: ended series count as 1, the others by their time limit."""
    over = len(series) - len(open_keys) + sum(min(series[key].spent / rule.cap_seconds, 1.0) for key in open_keys)
    return over / len(series)


def _at_deadline(
    samplers: Mapping[Key, Samples],
    series: Mapping[Key, Series],
    keys: list[Key],
    stage: str,
    others: Callable[[], float | None] | None,
) -> Iterator[tuple[Key, Timing]]:
    load = others() if others is not None else None
    for key in keys:
        if len(series[key].samples) >= 3:
            yield key, series[key].timing(stage, samplers[key].clock, "budget", samplers[key].mode, load)


def once(stage: str, seconds: float, clock: Clock = "wall") -> Timing:
    """A timing of a one-time operation, such as compiling."""
    return Timing(stage, clock, seconds, seconds, seconds, seconds, 1, "happens once", "", (seconds,))


def compile_timing(plan: Plan) -> dict[str, Timing]:
    """The time that the compilation of a plan's kernels took; nothing for a plan without any."""
    kernels = {id(s.kernel.compiled): s.kernel for s in plan.steps if isinstance(s, Launch)}
    return {"compile": once("compile", sum(k.compile_seconds for k in kernels.values()))} if kernels else {}


def compare(a: Timing, b: Timing) -> str:
    """How `a` compares with `b`: "faster" or "slower" only when the quartile ranges are disjoint and the medians differ
    by more than 2 %, otherwise "same"; "unsure" where one of them is not reliable."""
    if a.doubt or b.doubt:
        return "unsure"
    if abs(a.median - b.median) <= 0.02 * max(a.median, b.median):
        return "same"
    if a.q3 < b.q1:
        return "faster"
    return "slower" if a.q1 > b.q3 else "same"
