"""Sweeps, in which one quantity varies: which quantity it is in rows, its lines, and where two of them cross."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from gpu_ops.counters import value_of
from gpu_ops.device_names import device_kind
from gpu_ops.errors import ParamError
from gpu_ops.input_kinds import INPUT_KINDS, InputKind
from gpu_ops.io import crop, sample
from gpu_ops.params import Param
from gpu_ops.report.rows import Row
from gpu_ops.run_key import Items, RunKey, differences
from gpu_ops.stages import STAGES
from gpu_ops.types import Filter, Input, Timing

MOST_VALUES = 8
REACH = 32
"""Proposed values are at most this many times the default; a much longer window takes minutes on one core."""


SWEPT_COUNTERS = ("sectors_per_load", "bank_conflicts", "bytes_per_sample")
"""The counters that a sweep of every filter can show."""


class Varied(NamedTuple):
    """A quantity that may vary: a parameter or a knob by its name, or the "size" of the input, which is the number of
    samples of a signal and the side of an image, or of a square with as many pixels; the "width" of images that are
    all of one height; or an option of a sample as input, such as how many "distinct" values noise has."""

    kind: Literal["param", "knob", "size", "width", "input", "other"]
    name: str


SIZE = Varied("size", "size")
WIDTH = Varied("width", "width")
DISTINCT = Varied("input", "distinct")
"""The number of values that noise has, all equally likely: its entropy is log2 of that."""


def settings(row: Row) -> dict[Varied, Any]:
    """Everything that may differ between two rows of one variant, as plain values."""
    shape, rank = row.shape, _kind(row).rank
    elements = math.prod(shape[:rank])
    values: dict[Varied, Any] = {SIZE: math.isqrt(elements) if rank > 1 else elements}
    values |= {WIDTH: shape[1]} if rank > 1 else {}
    values |= {DISTINCT: row.input[DISTINCT.name]} if DISTINCT.name in row.input else {}
    values |= {Varied("param", name): value for name, value in row.params.items()}
    values |= {Varied("knob", name): value for name, value in row.knobs.items()}
    values[Varied("other", "channels")] = math.prod(shape[rank:])
    return values | {Varied("other", name): getattr(row, name) for name in ("filter", "dtype", "mode", "protocol")}


def _kind(row: Row) -> InputKind:
    from gpu_ops.filters import FILTERS

    return INPUT_KINDS[FILTERS.find(row.filter).accepts]


def _values(rows: Sequence[Row]) -> dict[Varied, list[Any]]:
    """The different values of every quantity, in the order of the rows; of size and width, only the one that varies."""
    by_quantity: dict[Varied, dict[Any, None]] = {}
    for row in rows:
        for quantity, value in settings(row).items():
            by_quantity.setdefault(quantity, {})[value] = None
    one_height = len({row.shape[0] for row in rows}) == 1
    by_quantity.pop(SIZE if one_height and len(by_quantity.get(WIDTH, ())) > 1 else WIDTH, None)
    return {quantity: list(values) for quantity, values in by_quantity.items()}


def find_varied(rows: Sequence[Row]) -> tuple[Varied, ...]:
    """The quantities that a sweep can be over: those with different integers in these rows."""
    by_quantity = _values(rows)
    return tuple(q for q, values in by_quantity.items() if q.kind != "other" and len(values) > 1 and _countable(values))


def _countable(values: Sequence[Any]) -> bool:
    return all(isinstance(v, int) and not isinstance(v, bool) and v > 0 for v in values)


@dataclass(frozen=True)
class Slice:
    """Rows in which only `varied` varies; `fixed` has their values of the quantities that vary in other rows."""

    varied: Varied
    fixed: Mapping[Varied, Any]
    rows: tuple[Row, ...]


def slices(rows: Sequence[Row]) -> tuple[Slice, ...]:
    """Every sweep over a single quantity in these rows; it varies for one variant at least. Rows of a variant that
    lacks one of the knobs belong to the sweeps at all values of that knob; a knob of which each variant has one value
    separates none."""
    settled = _one_in_each_variant(rows)
    several = {q: values for q, values in _values(rows).items() if len(values) > 1 and q not in settled}
    result = []
    for varied in find_varied(rows):
        others = {q: values for q, values in several.items() if q != varied}
        for chosen in itertools.product(*others.values()):
            fixed = dict(zip(others, chosen, strict=True))
            members = tuple(row for row in rows if _agrees(settings(row), fixed))
            if _sweeps(members, varied):
                result.append(Slice(varied, fixed, members))
    return tuple(result)


def _one_in_each_variant(rows: Sequence[Row]) -> set[Varied]:
    """The knobs that have one value in all rows of a variant."""
    values: dict[tuple[Varied, str], set[Any]] = {}
    for row in rows:
        for name, value in row.knobs.items():
            values.setdefault((Varied("knob", name), row.variant), set()).add(value)
    return {knob for knob, _ in values} - {knob for (knob, _), found in values.items() if len(found) > 1}


def _sweeps(rows: Iterable[Row], varied: Varied) -> bool:
    """Whether some variant ran at two or more values."""
    values: dict[RunKey, set[Any]] = {}
    for row in rows:
        values.setdefault(_without(row.key, varied), set()).add(settings(row).get(varied))
    return any(len(own - {None}) > 1 for own in values.values())


def _agrees(own: Mapping[Varied, Any], fixed: Mapping[Varied, Any]) -> bool:
    return all(own.get(q, value if q.kind == "knob" else None) == value for q, value in fixed.items())


@dataclass(frozen=True)
class Point:
    """A time at a value of what varies, in seconds; or a count, which has no spread."""

    value: int
    seconds: float
    q1: float
    q3: float


@dataclass(frozen=True)
class Line:
    """The times of one variant on a device, by growing value. `key` is what all its runs have in common: two settings
    of another knob, or an edited kernel, have a line of their own. `level` says that it does not depend on what varies:
    it was measured once and has the same point at every value. `differing` are its settings that differ from other
    lines of its variant, `machine` is that of a line that was recorded elsewhere."""

    key: RunKey
    clock: str
    points: tuple[Point, ...]
    level: bool = False
    differing: Items = ()
    machine: str = ""

    @property
    def variant(self) -> str:
        return self.key.variant

    @property
    def device(self) -> str:
        return self.key.device

    @property
    def cpu(self) -> bool:
        return device_kind(self.device) == "cpu"

    def at(self, value: int) -> float | None:
        """The time at a value, between two points on a straight line on logarithmic axes; None outside of them."""
        exact = next((point.seconds for point in self.points if point.value == value), None)
        for before, after in itertools.pairwise(self.points if exact is None else ()):
            if before.value < value < after.value:
                share = math.log(value / before.value) / math.log(after.value / before.value)
                return float(before.seconds * (after.seconds / before.seconds) ** share)
        return exact


def counts_of(row: Row) -> Mapping[str, int]:
    """What a simulated GPU counted, and the samples that it counted it for."""
    return {**row.counters, "samples": math.prod(row.shape)} if row.counters else {}


def swept_counters(filter: Filter) -> tuple[str, ...]:
    """The counters that a sweep of a filter can show, those that explain its kernels first."""
    return tuple(dict.fromkeys((*filter.shows, *SWEPT_COUNTERS)))


def figure_of(row: Row, shown: str) -> Timing | None:
    """What a sweep shows of a row: the time of a stage, for the CPU always that of computing, or as a timing without
    spread the value of a counter of a simulated row. None where there is none, and for a wrong result."""
    if row.ok is False:
        return None
    if shown in STAGES:
        return None if row.simulated else row.stages.get("kernel" if row.on_cpu else shown)
    value = value_of(shown, counts_of(row)) if row.simulated else None
    return Timing(shown, "simulated", *(value,) * 4, 1, "") if value else None


def sweep_lines(
    rows: Iterable[Row], varied: Varied, shown: str = "kernel", others: Iterable[int] = (), machine: str = ""
) -> tuple[Line, ...]:
    """The lines over what varies, in the order of the rows, of a stage's times or of a counter; rows that do not have
    that are left out. `others` are values in addition to those of the rows, at which level lines have points as well.
    `machine` recorded the rows."""
    rows = [row for row in rows if row.simulated == (shown not in STAGES)]
    values = sorted({*others, *(v for row in rows if (v := settings(row).get(varied)) is not None)})
    by_key: dict[RunKey, dict[int | None, Row]] = {}
    differing: dict[RunKey, Items] = {}
    for row, own in zip(rows, differing_settings(rows, varied), strict=True):
        if figure_of(row, shown) is not None:
            key = _without(row.key, varied)
            by_key.setdefault(key, {})[settings(row).get(varied)] = row
            differing[key] = own
    return tuple(
        replace(_line(key, by_value, values, shown), differing=differing[key], machine=machine)
        for key, by_value in by_key.items()
    )


def differing_settings(rows: Sequence[Row], varied: Varied) -> list[Items]:
    """For each row the parameters, knobs and edits in which its line differs from other lines of its variant and
    device; () where there is one line."""
    keys = [_without(row.key, varied) for row in rows]
    groups: dict[tuple[str, str], dict[RunKey, None]] = {}
    for key in keys:
        groups.setdefault((key.variant, key.device), {})[key] = None
    differing: dict[RunKey, Items] = {}
    for members in groups.values():
        differing |= {key: tuple(own.items()) for key, own in zip(members, differences(list(members)), strict=True)}
    return [differing[key] for key in keys]


def _without(key: RunKey, varied: Varied) -> RunKey:
    """A key without the varied parameter or knob."""
    if varied.kind == "param":
        return replace(key, param_items=tuple(item for item in key.param_items if item[0] != varied.name))
    if varied.kind == "knob":
        return replace(key, knob_items=tuple(item for item in key.knob_items if item[0] != varied.name))
    return key


def _line(key: RunKey, by_value: Mapping[int | None, Row], values: Sequence[int], shown: str) -> Line:
    figures = {value: figure for value, row in by_value.items() if (figure := figure_of(row, shown)) is not None}

    def point(value: int, timing: Timing) -> Point:
        return Point(value, timing.median, timing.q1, timing.q3)

    clock = next(iter(figures.values())).clock
    if None in figures:
        return Line(key, clock, tuple(point(v, figures[None]) for v in values), level=True)
    measured = sorted(((v, timing) for v, timing in figures.items() if v is not None), key=lambda pair: pair[0])
    return Line(key, clock, tuple(point(*pair) for pair in measured))


@dataclass(frozen=True)
class Crossing:
    """From about `value` on `faster` takes less time than `slower`; the lines cross there at about `seconds`."""

    value: float
    seconds: float
    faster: Line
    slower: Line


@dataclass(frozen=True)
class BreakEven:
    """A GPU variant against the best CPU variant at each value. Without crossings one of them is faster throughout:
    `gpu_faster` says whether that is the GPU, None where they have no value in common."""

    gpu: Line
    crossings: tuple[Crossing, ...]
    gpu_faster: bool | None


def break_even(lines: Sequence[Line]) -> tuple[BreakEven, ...]:
    """Each GPU line against the fastest of the CPU lines at each of its values between theirs; () without CPU lines."""
    cpu = [line for line in lines if line.cpu]
    return tuple(_against(line, cpu) for line in lines if not line.cpu) if cpu else ()


def _against(gpu: Line, cpu: Sequence[Line]) -> BreakEven:
    common = []
    for own in gpu.points:
        there = [(time, place) for place, line in enumerate(cpu) if (time := line.at(own.value)) is not None]
        if there:
            seconds, place = min(there)
            common.append((own, seconds, cpu[place]))
    crossings = []
    for (before, cpu_before, best), (after, cpu_after, next_best) in itertools.pairwise(common):
        wins = before.seconds < cpu_before, after.seconds < cpu_after
        if wins[0] != wins[1]:
            value, seconds = _intersection(before, cpu_before, after, cpu_after)
            pair = (gpu, best) if wins[1] else (next_best, gpu)
            crossings.append(Crossing(value, seconds, *pair))
    return BreakEven(gpu, tuple(crossings), common[0][0].seconds < common[0][1] if common else None)


def _intersection(before: Point, cpu_before: float, after: Point, cpu_after: float) -> tuple[float, float]:
    """The value and the time at which two lines intersect; both are straight on logarithmic axes."""
    ahead, behind = math.log(before.seconds / cpu_before), math.log(after.seconds / cpu_after)
    share = ahead / (ahead - behind)
    value = before.value * (after.value / before.value) ** share
    return value, before.seconds * (after.seconds / before.seconds) ** share


def proposed_values(param: Param, most: int = MOST_VALUES) -> tuple[int, ...]:
    """Allowed integers of a parameter or knob for a sweep: its own list, or each about twice the previous one, or
    farther apart where there would be more than `most`; () for a parameter that is not an integer."""
    if param.sweep:
        return param.sweep
    if param.choices:
        return tuple(sorted(c for c in param.choices if isinstance(c, int) and not isinstance(c, bool) and c > 0))
    if not isinstance(param.default, int) or isinstance(param.default, bool):
        return ()
    step = int(param.step or 1)
    low = int(param.low) if param.low is not None else min(param.default, 1)
    first = low if low > 0 else low + step * (-low // step + 1)
    far = REACH * max(first, param.default)
    last = min(far, int(param.high)) if param.high is not None else far
    return _doublings(first, last, most, lambda value: first + (value - first) // step * step)


def proposed_sizes(largest: int, most: int = MOST_VALUES) -> tuple[int, ...]:
    """At most `most` powers of two up to `largest`; each four times the previous one where `largest` is 16384 or
    more."""
    top = 1 << (max(largest, 1).bit_length() - 1)
    factor = 2 if top <= 1 << 13 else 4
    sizes = [top // factor**k for k in range(most) if top // factor**k >= min(16, top)]
    return tuple(sorted(sizes))


def _doublings(first: int, last: int, most: int, allowed: Callable[[int], int]) -> tuple[int, ...]:
    factor = 2
    while first * factor**most <= last:
        factor *= 2
    return tuple(dict.fromkeys(allowed(first * factor**k) for k in range(most) if first * factor**k <= last))


def resized(input: Input, size: int, noise: bool = False) -> Input:
    """The middle `size` × `size` pixels of an image or the first `size` samples of a signal; or noise of that size with
    as many channels and the same type. Raises ParamError when the input is smaller than that, or of a kind that has
    no size to vary."""
    kind = input.meta.of_kind
    if not kind.largest_noise:
        raise ParamError(f"The size of a {kind.id} does not vary; use an image or a signal.")
    if noise:
        return sample("noise", **kind.noise(size), channels=input.meta.channels, dtype=input.array.dtype.name)
    extents = kind.spatial(input.array.shape)
    if size < 1 or size > min(extents):
        raise ParamError(
            f"size must be from 1 to {min(extents):,} for {input.name}, not {size:,}; noise may be larger."
        )
    middle = kind.middle(input.array.shape, (size,) * kind.rank) if kind.rank > 1 else (slice(0, size),)
    return crop(input, [cut.start for cut in middle], [size] * kind.rank)


def noise_of(input: Input, distinct: int) -> Input:
    """Noise of so many values in the shape and the type of the input. Raises ParamError for more than the type has."""
    kind, shape = input.meta.of_kind, input.array.shape
    sides = kind.spatial(shape)
    extent = {"size": "x".join(map(str, reversed(sides)))} if kind.rank > 1 else {"length": sides[0]}
    options = {"channels": input.meta.channels, "dtype": input.array.dtype.name, "distinct": distinct}
    return sample("levels_image" if kind.rank > 1 else "levels", **extent, **options)
