"""Lines of a figure from the times of a report: throughput over what varies, of that at one value."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

from gpu_ops.run_key import RunKey, differences
from gpu_ops.types import Found, Series, Timed

MOST_NOTES = 3


@dataclass(frozen=True)
class Over:
    """What varies: `value(time)` is its value, None where a time has none, `name` that of a knob or "size". The lines
    of a knob are of one input each, and only those of the largest one count. `points(time)` are those of the job."""

    name: str
    value: Callable[[Timed], float | None]
    points: Callable[[Timed], int]

    @property
    def by_size(self) -> bool:
        """Whether the inputs vary in size."""
        return self.name == "size"


def knob_value(name: str) -> Callable[[Timed], float | None]:
    """The value of a knob, None where a variant does not have it."""

    def value(time: Timed) -> float | None:
        found = time.knobs.get(name)
        return float(found) if isinstance(found, int) and not isinstance(found, bool) else None

    return value


def largest_jobs(times: Iterable[Timed], points: Callable[[Timed], int]) -> list[Timed]:
    """The times of each filter's largest input."""
    kept: dict[str, list[Timed]] = {}
    for time in times:
        own = kept.setdefault(time.filter, [])
        if own and points(time) > points(own[0]):
            own.clear()
        if not own or points(time) == points(own[0]):
            own.append(time)
    return [time for own in kept.values() for time in own]


def quickest(times: Iterable[Timed], value: Callable[[Timed], float | None]) -> dict[float, Timed]:
    """The shortest of the times at each value, by growing value."""
    best: dict[float, Timed] = {}
    for time in times:
        x = value(time)
        if x is not None and (x not in best or time.seconds < best[x].seconds):
            best[x] = time
    return dict(sorted(best.items()))


def relative(times: Sequence[Timed], over: Over, base: float) -> Found:
    """A line for each variant with its other knobs: its throughput in points a second, of that at the value `base`. A
    line without a time there, or with no other one, is left out and named."""
    usable = [time for time in times if over.value(time) is not None]
    groups: dict[Hashable, list[Timed]] = {}
    for time in usable if over.by_size else largest_jobs(usable, over.points):
        groups.setdefault((_key(time, over), () if over.by_size else time.shape), []).append(time)
    series, notes = [], []
    names = _names([group[0] for group in groups.values()], over)
    for name, group in zip(names, groups.values(), strict=True):
        by_value = quickest(group, over.value)
        if base not in by_value or len(by_value) < 2:
            missing = f"at {over.name} {base:g}" if base not in by_value else f"at another {over.name} than {base:g}"
            notes.append(f"{name} has no time {missing}, so it is not drawn.")
            continue
        rates = {x: over.points(time) / time.seconds for x, time in by_value.items()}
        ys = tuple(rate / rates[base] for rate in rates.values())
        first = group[0]
        text = f"kernel times of {first.filter} {first.variant}"
        series.append(Series(name, "measured", tuple(rates), ys, text=text, filter=first.filter, variant=first.variant))
    return Found(tuple(series), tuple(notes[:MOST_NOTES] + _rest(notes)))


def _rest(notes: Sequence[str]) -> list[str]:
    return [f"{len(notes) - MOST_NOTES} more lines are not drawn for the same reasons."] if notes[MOST_NOTES:] else []


def _key(time: Timed, over: Over) -> RunKey:
    """What the times of a line have in common; filter, type and timing count as parameters, for names tell them."""
    params = {**time.params, "filter": time.filter, "type": time.dtype, "timing": time.mode}
    knobs = {name: value for name, value in time.knobs.items() if name != over.name}
    return RunKey.of(time.filter, time.variant, time.device, params, knobs)


def _names(firsts: Sequence[Timed], over: Over) -> list[str]:
    """The variants' titles, with what tells lines of one variant apart."""
    keys = [_key(time, over) for time in firsts]
    told: dict[RunKey, str] = {}
    for variant in dict.fromkeys(key.variant for key in keys):
        own = [key for key in keys if key.variant == variant]
        for key, apart in zip(own, differences(own), strict=True):
            told[key] = ", ".join(f"{name} {value}" for name, value in apart.items())
    return [", ".join(part for part in (t.title, told[k]) if part) for t, k in zip(firsts, keys, strict=True)]
