"""What the default lane tries of many cases: each choice once, or some a day. The thorough lane tries others, and of
long lists some a day as well; the full lane tries the rest. The tests of some folders take turns as well."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from functools import cache
from itertools import product
from pathlib import Path
from random import Random
from typing import Any
from zlib import crc32

import pytest

from gpu_ops.filters import FILTERS
from gpu_ops.types import Filter, Variant

TESTS = Path(__file__).parent
DAY = "KERNELSCOPE_TEST_DAY"
"""The variable of the environment that says which day it is, as a number: one for all processes of the tests, even
around midnight."""
UNASKED: set[str] = set()
"""Lanes whose tests are not made, once pytest has begun: thousands that this run would leave out."""
TURNS = {
    4: "batch cli engine explaining gui io lessons notebook own_kernels remote report sim",
    3: "devices filters running test_adding test_hostile_folder test_loop_cache",
    1: """devices/test_kernel_source filters/test_accesses filters/test_ranges filters/test_wrong gui/test_panels
    gui/test_window running/test_contract running/test_verify sim/test_contract sim/test_counters sim/test_findings
    sim/test_queues sim/test_refusals sim/test_shared_memory sim/test_textures""",
}
"""In how many days a run of all tests tries each test of a folder, or of a module, once. Every day it tries those that
say whether results and findings are right, and what all modules are held to."""
DAYS = {name: days for days, names in TURNS.items() for name in names.split()}
STRIDE = 389
"""Places between two values that have their turn one after the other: neighbours are much alike. A prime, so that it
comes to all of them."""


def unasked(expression: str) -> set[str]:
    """The lanes that pytest's -m does not ask for."""
    return set() if "full" in expression else {"full"} if "thorough" in expression else {"full", "thorough"}


def few(values: Iterable[Any], *usual: Any, more: int | None = None) -> list[Any]:
    """The values of a parametrisation, of which only the usual ones are tried by default. The thorough lane tries
    `more` of the others a day, or all where it is None; the full lane tries the rest."""
    values = list(values)
    missing = [value for value in usual if value not in values]
    assert not missing, f"{missing} are none of the values"
    others = [value for value in values if value not in usual]
    marks = iter(_marks(len(others), 0, more))
    return [value if value in usual else pytest.param(*_tuple(value), marks=next(marks)) for value in values]


def each_once(*axes: Sequence[Any]) -> list[Any]:
    """All combinations of some choices. By default as many are tried as the longest axis has choices, each choice at
    least once."""
    longest = max(map(len, axes))
    diagonal = {tuple(k % len(axis) for axis in axes) for k in range(longest)}
    places = product(*(range(len(axis)) for axis in axes))
    combined = [(place, tuple(axis[k] for k, axis in zip(place, axes, strict=True))) for place in places]
    return [values if place in diagonal else _thorough(values) for place, values in combined]


def daily_subset(values: Sequence[Any], count: int, name: Callable[[Any], str], more: int | None = None) -> list[Any]:
    """The values of a parametrisation (tuples for several parameters), of which the default lane tries `count` a day
    and the thorough lane `more` of the others, or all where it is None: other ones tomorrow, so that all have their
    turn. The full lane tries the rest. The name of a test says which value it tried, and that test can be run on any
    day."""
    marked = list(zip(values, _marks(len(values), count, more), strict=True))
    asked = [(value, marks) for value, marks in marked if not any(mark.name in UNASKED for mark in marks)]
    return [pytest.param(*_tuple(value), id=name(value), marks=marks) for value, marks in asked or marked[:1]]


def choices_today(count: int, *axes: Iterable[Any]) -> list[Any]:
    """All combinations of some choices, as a parametrisation, of which the default lane tries `count` a day."""
    return daily_subset(
        list(product(*axes)), count, lambda values: "-".join(getattr(v, "__name__", str(v)) for v in values)
    )


def variants_today(pairs: Sequence[tuple[Filter, Variant]], count: int, more: int | None = None) -> list[Any]:
    """Filters with their variants, as a parametrisation, of which the default lane tries `count` a day, and the
    thorough one `more` of the others."""
    return daily_subset(pairs, count, lambda pair: f"{pair[0].id}-{pair[1].id}", more)


def of_one_kind(filter: Filter, variant: Variant) -> bool:
    """Whether the default lane has a variant that its family offers for signals and for images: they share their
    kernels or loops, so it tries one of them, in turns."""
    family = [f for f in FILTERS if f.family == filter.family and variant.id in {v.id for v in f.variants}]
    ids = [v.id for f in FILTERS if f.family == filter.family for v in f.variants]
    return family.index(filter) == list(dict.fromkeys(ids)).index(variant.id) % len(family)


def take_turns(items: Iterable[pytest.Item]) -> None:
    """Tests that have their turn on another day are in the full lane today. Of each module the default lane tries an
    equal share a day, and so does the thorough lane of its own tests. The mark `turns` says the days of a test."""
    places: Counter[Any] = Counter()
    for item in items:
        if not item.get_closest_marker("full"):
            mark = item.get_closest_marker("turns")
            days = mark.args[0] if mark else _days(item.path)
            group = item.path, days, item.get_closest_marker("thorough") is None
            if not _has_turn(places[group] + crc32(item.path.name.encode()), days):
                item.add_marker(pytest.mark.full)
            places[group] += 1


@cache
def _days(path: Path) -> int:
    """In how many days a test of this file has its turn once."""
    name = path.relative_to(TESTS).with_suffix("")
    return DAYS.get(name.as_posix(), DAYS.get(name.parent.as_posix(), 1))


def _has_turn(place: int, days: int) -> bool:
    """Whether a place has its turn today, as it has once in so many days. Which one is drawn anew each time, so that
    lists that take turns by the day as well do not keep in step."""
    times, day = divmod(_day(), days)
    return (place + _first(times, days)) % days == day


@cache
def _first(times: int, days: int) -> int:
    return Random(times).randrange(days)


def _day() -> int:
    return int(os.environ.get(DAY, date.today().toordinal()))


def _marks(length: int, count: int, more: int | None) -> list[tuple[pytest.MarkDecorator, ...]]:
    """The marks of so many values, of which `count` have their turn in the default lane and `more` in the thorough."""
    chosen, next = _turn(length, count), _turn(length, length if more is None else more)
    return [() if k in chosen else (pytest.mark.thorough if k in next else pytest.mark.full,) for k in range(length)]


def _turn(length: int, count: int) -> set[int]:
    """The places among so many whose turn it is today, where `count` have it each day."""
    first = _day() * count
    return {(first + k) * STRIDE % length for k in range(min(count, length))}


def _thorough(value: Any) -> Any:
    return pytest.param(*_tuple(value), marks=pytest.mark.thorough)


def _tuple(value: Any) -> tuple[Any, ...]:
    return value if type(value) is tuple else (value,)  # a named one is a single value
