"""Rows compared with one another: speed-ups, the bars of the fair comparison, and libraries that are faster than all
kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from gpu_ops.errors import KernelscopeError
from gpu_ops.filters import FILTERS
from gpu_ops.report.row_kinds import Speedup
from gpu_ops.report.rows import Comparable, Row
from gpu_ops.run_key import differences
from gpu_ops.running.timing import compare
from gpu_ops.stages import END_TO_END
from gpu_ops.types import Timing

STAGES = ("kernel", *END_TO_END)
"""The stages whose times are compared with the time of the baseline's kernel."""


def speedup(base: Row, row: Row, stage: str = "kernel") -> float | None:
    """The baseline's kernel time divided by this row's time of a stage. None where either was not timed or is not
    reliable, where their jobs differ, and where one of them was simulated."""
    if (
        base.job != row.job
        or base.simulated
        or row.simulated
        or not (base.is_comparable("kernel") and row.is_comparable(stage))
    ):
        return None
    return base.stages["kernel"].median / row.stages[stage].median


def with_speedups(rows: Sequence[Row], baseline: str) -> list[Row]:
    """Rows with `speedup` against the baseline variant of the same job, kernel against kernel and end to end; none
    where one of the times is not reliable. Of several settings of the baseline the last counts, and is named."""
    bases: dict[Comparable, list[Row]] = {}
    for row in rows:
        if row.variant == baseline and row.is_comparable("kernel"):
            bases.setdefault(row.job, []).append(row)
    return [_with_speedup(r, bases[r.job]) if r.job in bases and "kernel" in r.stages else r for r in rows]


def _with_speedup(row: Row, bases: Sequence[Row]) -> Row:
    base = bases[-1]
    ratios = {stage: ratio for stage in STAGES if (ratio := speedup(base, row, stage)) is not None}
    settings = ", ".join(f"{name} {value}" for name, value in differences([one.key for one in bases])[-1].items())
    against = f"{base.variant} ({settings})" if settings else base.variant
    return replace(row, speedup=Speedup(f"{against} on {base.device}", ratios))


class FairBar(NamedTuple):
    """One bar of the fair comparison: the index of its row, and that row's timing of `stage`; both are None where
    nothing was measured."""

    id: str
    stage: str
    place: int | None = None
    timing: Timing | None = None


_BARS: tuple[tuple[str, str, Callable[[Row], bool]], ...] = (
    ("cpu_one", "kernel", lambda row: row.on_cpu and row.variant == "serial"),
    ("cpu_best", "kernel", lambda row: row.on_cpu),
    ("gpu_kernel", "kernel", lambda row: not row.on_cpu),
    ("gpu_pageable", "elapsed", lambda row: not row.on_cpu),
    ("gpu_pinned", "elapsed_pinned", lambda row: not row.on_cpu),
    ("gpu_streamed", "elapsed_streamed", lambda row: not row.on_cpu),
)
"""One core of the CPU, the best of the CPU, the GPU's kernel alone, and the GPU with copies from and to host memory:
pageable, pinned, or pinned with chunks that overlap."""


def fair_bars(rows: Sequence[Row]) -> tuple[FairBar, ...]:
    """The fair comparison of rows of one job on one machine: for each bar the fastest row that is right. There is none
    of transfers, whose time has their copies in it."""
    if any(row.end_to_end for row in rows):
        return ()
    return tuple(_best(id, stage, rows, fits) for id, stage, fits in _BARS)


def _best(id: str, stage: str, rows: Sequence[Row], fits: Callable[[Row], bool]) -> FairBar:
    timed = [
        (row.stages[stage].median, place)
        for place, row in enumerate(rows)
        if fits(row) and {"kernel", stage} <= row.stages.keys() and row.ok is not False and not row.simulated
    ]
    if not timed:
        return FairBar(id, stage)
    place = min(timed)[1]
    return FairBar(id, stage, place, rows[place].stages[stage])


class Lead(NamedTuple):
    """A library that is faster than every other variant of a job on a device: the indices of its row and of the fastest
    of the others, and how many times as long that one takes."""

    library: int
    other: int
    ratio: float


def library_of(row: Row) -> str:
    """The library that a row's variant calls; "" for kernels and compiled loops, and for unknown variants."""
    try:
        return FILTERS.find(row.filter).variant(row.variant).library
    except KernelscopeError:
        return ""


def library_leads(rows: Sequence[Row]) -> tuple[Lead, ...]:
    """The libraries that are faster than all kernels and compiled loops of the same job on the same device, by their
    kernel times: quartile ranges are disjoint, and medians differ by more than 2 %."""
    groups: dict[tuple[Comparable, str], tuple[list[int], list[int]]] = {}
    for place, row in enumerate(rows):
        if row.is_comparable("kernel") and row.ok is not False and not row.simulated:
            groups.setdefault((row.job, row.device), ([], []))[bool(library_of(row))].append(place)
    found = []
    for others, libraries in groups.values():
        if not others or not libraries:
            continue
        library, other = (min(places, key=lambda k: rows[k].stages["kernel"].median) for places in (libraries, others))
        fastest, next_one = (rows[place].stages["kernel"] for place in (library, other))
        if compare(fastest, next_one) == "faster":
            found.append(Lead(library, other, next_one.median / fastest.median))
    return tuple(found)
