"""Lines of a figure from the times of a report: throughput over the varied quantity, relative to that at one value."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from gpu_ops.run_key import RunKey, differences, items_of
from gpu_ops.types import Found, Series, Timed

MOST_NOTES = 3


@dataclass(frozen=True)
class Over:
    """The varied quantity: `name` is that of a knob or "size", `value(time)` its value, None if a time has none.
    `points(time)` is the size of the job."""

    name: str
    value: Callable[[Timed], float | None]
    points: Callable[[Timed], int]

    @property
    def by_size(self) -> bool:
        """Whether the inputs have different sizes."""
        return self.name == "size"


def knob_value(name: str) -> Callable[[Timed], float | None]:
    """The value of a knob, None if a variant does not have it."""

    def value(time: Timed) -> float | None:
        found = time.knobs.get(name)
        return float(found) if isinstance(found, int) and not isinstance(found, bool) else None

    return value


def shortest_times(times: Iterable[Timed], value: Callable[[Timed], float | None]) -> dict[float, Timed]:
    """The shortest of the times at each value, by increasing value."""
    best: dict[float, Timed] = {}
    for time in times:
        x = value(time)
        if x is not None and (x not in best or time.seconds < best[x].seconds):
            best[x] = time
    return dict(sorted(best.items()))


Line = Mapping[float, Timed]
"""Times by the varied quantity."""


def job_of(time: Timed) -> Hashable:
    """The key of comparable times: they differ in variant and knobs only."""
    return time.filter, items_of(time.params), time.shape, time.dtype, time.mode


def fullest(lines: Iterable[Line], points: Callable[[Timed], int]) -> list[Line]:
    """For each filter the lines of one job: the one with the most points on lines, and of several the largest."""
    jobs: dict[str, dict[Hashable, list[Line]]] = {}
    for line in lines:
        first = next(iter(line.values()))
        jobs.setdefault(first.filter, {}).setdefault(job_of(first), []).append(line)

    def rank(own: Sequence[Line]) -> tuple[int, int]:
        return sum(map(len, own)), points(next(iter(own[0].values())))

    return [line for by_job in jobs.values() for line in max(by_job.values(), key=rank)]


def relative(times: Sequence[Timed], over: Over, base: float) -> Found:
    """A line for each variant and setting of its other knobs: its throughput in points per second, relative to that at
    the value `base`. A line without a time there is omitted and named; a single value is no line."""
    groups: dict[Hashable, list[Timed]] = {}
    for time in times:
        groups.setdefault((_key(time, over), () if over.by_size else time.shape), []).append(time)
    lines = [line for group in groups.values() if len(line := shortest_times(group, over.value)) > 1]
    complete: list[Line] = [line for line in lines if base in line]
    drawn = complete if over.by_size else fullest(complete, over.points)
    series = [_series(name, line, over, base) for name, line in zip(_names(drawn, over), drawn, strict=True)]
    without = [line for line in lines if base not in line]
    notes = [f"{name} has no time at {over.name} {base:g}, so it is not drawn." for name in _names(without, over)]
    rest = f"{len(notes) - MOST_NOTES} more lines are not drawn for the same reason."
    return Found(tuple(series), (*notes[:MOST_NOTES], *([rest] if notes[MOST_NOTES:] else [])))


def _series(name: str, line: Line, over: Over, base: float) -> Series:
    rates = {x: over.points(time) / time.seconds for x, time in line.items()}
    ys, first = tuple(rate / rates[base] for rate in rates.values()), next(iter(line.values()))
    text = f"kernel times of {first.filter} {first.variant}"
    return Series(name, "measured", tuple(rates), ys, text=text, filter=first.filter, variant=first.variant)


def _key(time: Timed, over: Over) -> RunKey:
    """The common key of a line's times; filter, type and timing count as parameters, because titles include them."""
    params = {**time.params, "filter": time.filter, "type": time.dtype, "timing": time.mode}
    knobs = {name: value for name, value in time.knobs.items() if name != over.name}
    return RunKey.of(time.filter, time.variant, time.device, params, knobs)


def _names(lines: Iterable[Line], over: Over) -> list[str]:
    """The variants' titles, with what distinguishes lines of one variant."""
    firsts = [next(iter(line.values())) for line in lines]
    keys = [_key(time, over) for time in firsts]
    labels: dict[RunKey, str] = {}
    for variant in dict.fromkeys(key.variant for key in keys):
        own = [key for key in keys if key.variant == variant]
        for key, differing in zip(own, differences(own), strict=True):
            labels[key] = ", ".join(f"{name} {value}" for name, value in differing.items())
    return [", ".join(part for part in (t.title, labels[k]) if part) for t, k in zip(firsts, keys, strict=True)]
