"""Bands of an input: rows that are processed separately, together with the halo rows around them.

A band of an image is some of its rows in their full width, a band of a signal some of its samples. If a filter is
pointwise or has a halo, a band's own rows have the same result as in the whole: its halo ends at the edges of the
input, where the border rule applies as it does in the whole, and only with the border wrap it continues at the opposite
edge.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gpu_ops.task import MAIN, Task
from gpu_ops.types import Filter

NEIGHBOURS = {"image": "rows", "signal": "samples"}
"""The element of a band, by the kind of the input."""


class Band(NamedTuple):
    """The rows from `start` to `stop`, which need those from `low` to `high`. With the border wrap these may exceed the
    edges, and are taken from the opposite edge."""

    start: int
    stop: int
    low: int
    high: int

    @property
    def inner(self) -> slice:
        """The band's own rows within those that it needs."""
        return slice(self.start - self.low, self.stop - self.low)


def whole_reason(filter: Filter, task: Task) -> str | None:
    """The reason why a filter needs its whole input at once; None if bands suffice."""
    local = filter.locality
    if local.kind == "global":
        return "each value of its result depends on the whole input"
    if local.kind == "mergeable":
        return "no rule merges the results of parts" if local.merge is None else local.whole(task)
    extents = task.meta.of_kind.spatial(task.meta.shape)
    over = all(o.form(task).shape[: len(extents)] == extents for o in filter.given(task.params))
    return None if over else "its result has other positions than the input"


def reach(filter: Filter, task: Task) -> int:
    """The number of rows outside a band on which its result depends."""
    local = filter.locality
    return local.halo(task)[0] if local.kind == "halo" and local.halo is not None else 0


def wraps(task: Task) -> bool:
    """Whether rows beyond an edge are taken from the opposite edge."""
    return task.params.get("border") == "wrap"


def even(rows: int, count: int) -> list[int]:
    """The ends of `count` bands of equal numbers of rows; the last one has the remainder."""
    each = -(-rows // count)
    return [*range(each, rows, each), rows]


def split(filter: Filter, task: Task, rows: int, alike: bool = False) -> list[Band]:
    """Bands of `rows` rows, the last one with the remainder; `alike` as for `split_at`."""
    count = task.meta.shape[0]
    return split_at(filter, task, [*range(rows, count, rows), count], alike)


def split_at(filter: Filter, task: Task, stops: Sequence[int], alike: bool = False) -> list[Band]:
    """Bands that end before these rows. At an edge they include more rows from inside: a window may not exceed the axis
    that it slides over. If they are `alike`, all need the same number of rows, so that one plan serves them; results of
    parts that are merged would count some rows twice, so their bands are never `alike`."""
    count, halo = task.meta.shape[0], reach(filter, task)
    low, high = (-halo, count + halo) if wraps(task) else (0, count)
    own = max((stop - start for start, stop in zip((0, *stops), stops, strict=False)), default=1)
    is_alike = alike and filter.locality.kind != "mergeable"
    least = min(2 * halo + (own if is_alike else 1), high - low)
    bands = []
    for start, stop in zip((0, *stops), stops, strict=False):
        first = min(max(start - halo, low), high - least)
        bands.append(Band(start, stop, first, max(min(stop + halo, high), first + least)))
    return bands


def part_task(task: Task, rows: int) -> Task:
    """The task of this number of rows; extremes stay those of the whole."""
    return replace(task, metas={MAIN: replace(task.meta, shape=(rows, *task.meta.shape[1:]))}, arrays={})


def footprint(filter: Filter, task: Task, rows: int | None = None) -> int:
    """Bytes of the input and its outputs: of the whole, or of this number of rows."""
    part = task if rows is None else part_task(task, rows)
    forms = [output.form(part) for output in filter.given(part.params)]
    return part.meta.nbytes + sum(math.prod(form.shape) * np.dtype(form.dtype).itemsize for form in forms)


def rows_within(filter: Filter, task: Task, nbytes: int, share: int = 1, more: int = 0) -> int:
    """The maximum rows per band that fits: `share` times the bytes of its input and outputs, and `more` bytes per
    value, are at most `nbytes`. 0 if not even one row with its halo fits."""
    count, halo = task.meta.shape[0], reach(filter, task)
    first, second = (footprint(filter, task, rows) for rows in (1, 2))
    each = share * (second - first) + more * math.prod(task.meta.shape[1:])
    fit = int((nbytes - share * (2 * first - second)) // each)
    most = count + (2 * halo if wraps(task) else 0)
    return count if fit >= most else max(fit - 2 * halo, 0)


def narrowest(filter: Filter, task: Task, share: int = 1, more: int = 0) -> int:
    """Bytes for one row with its halo, computed as by `rows_within`."""
    count, halo = task.meta.shape[0], reach(filter, task)
    rows = 2 * halo + 1 if wraps(task) else min(2 * halo + 1, count)
    return share * footprint(filter, task, rows) + more * part_task(task, rows).meta.size


def in_words(task: Task, count: int, rows: int) -> str:
    """Such as "7 bands of 1,024 rows"."""
    what = NEIGHBOURS.get(task.meta.kind, "planes")
    return f"{count:,} bands of {rows:,} {what}" if count > 1 else f"one band of {rows:,} {what}"
