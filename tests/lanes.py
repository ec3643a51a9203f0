"""What the default lane tries of many cases: each choice once. The thorough lane tries all others."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from itertools import product
from typing import Any

import pytest

from gpu_ops.filters import FILTERS
from gpu_ops.types import Filter, Variant

DAY = "KERNELSCOPE_TEST_DAY"
"""The variable of the environment that says which day it is, as a number: one for all processes of the tests, even
around midnight."""
STRIDE = 389
"""Places between two values that have their turn one after the other: neighbours are much alike. A prime, so that it
comes to all of them."""


def few(values: Iterable[Any], *usual: Any) -> list[Any]:
    """The values of a parametrisation, of which only the usual ones are tried by default."""
    values = list(values)
    missing = [value for value in usual if value not in values]
    assert not missing, f"{missing} are none of the values"
    return [value if value in usual else _thorough(value) for value in values]


def each_once(*axes: Sequence[Any]) -> list[Any]:
    """All combinations of some choices. By default as many are tried as the longest axis has choices, each choice at
    least once."""
    longest = max(map(len, axes))
    diagonal = {tuple(k % len(axis) for axis in axes) for k in range(longest)}
    places = product(*(range(len(axis)) for axis in axes))
    combined = [(place, tuple(axis[k] for k, axis in zip(place, axes, strict=True))) for place in places]
    return [values if place in diagonal else _thorough(values) for place, values in combined]


def todays(values: Sequence[Any], count: int, name: Callable[[Any], str]) -> list[Any]:
    """The values of a parametrisation (tuples for several parameters), of which the default lane tries `count` a day:
    other ones tomorrow, so that all have their turn. The name of a test says which value it tried, and that test can be
    run on any day."""
    first = int(os.environ.get(DAY, date.today().toordinal())) * count
    chosen = {(first + k) * STRIDE % len(values) for k in range(count)}
    marks = [() if place in chosen else (pytest.mark.thorough,) for place in range(len(values))]
    return [pytest.param(*_tuple(value), id=name(value), marks=m) for value, m in zip(values, marks, strict=True)]


def variants_today(pairs: Sequence[tuple[Filter, Variant]], count: int) -> list[Any]:
    """Filters with their variants, as a parametrisation, of which the default lane tries `count` a day."""
    return todays(pairs, count, lambda pair: f"{pair[0].id}-{pair[1].id}")


def of_one_kind(filter: Filter, variant: Variant) -> bool:
    """Whether the default lane has a variant that its family offers for signals and for images: they share their
    kernels or loops, so it tries one of them, in turns."""
    family = [f for f in FILTERS if f.family == filter.family and variant.id in {v.id for v in f.variants}]
    ids = [v.id for f in FILTERS if f.family == filter.family for v in f.variants]
    return family.index(filter) == list(dict.fromkeys(ids)).index(variant.id) % len(family)


def _thorough(value: Any) -> Any:
    return pytest.param(*_tuple(value), marks=pytest.mark.thorough)


def _tuple(value: Any) -> tuple[Any, ...]:
    return value if type(value) is tuple else (value,)  # a named one is a single value
