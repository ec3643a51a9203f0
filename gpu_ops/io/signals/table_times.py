"""Which columns of a table are channels, which column has their times, and remarks about the others."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gpu_ops.errors import InputError, plain
from gpu_ops.io.inputs import Array, check_channels
from gpu_ops.io.opening import Opening
from gpu_ops.io.signals.cells import is_missing, unwrap_midnight
from gpu_ops.io.signals.columns import chosen_columns, chosen_rate, hertz
from gpu_ops.io.signals.stamps import even_step, is_count, is_counter, rate_of
from gpu_ops.io.signals.table_heading import NAMED, text
from gpu_ops.io.signals.table_layout import Layout
from gpu_ops.io.signals.units import TIMES, time_unit

FEWEST_TIMES = 3
"""From this many rows on, a column without a name may have the times of the others."""
SURE_OF_RATE = 0.01
"""The share by which two rates of one file may differ."""
KINDS = {"text": "words", "clock": "times of day", "stamp": "dates", "date": "dates"}
"""The kinds of columns that are not channels."""
HOURS = re.compile(r"\d+:\d+")
"""Matches a time of day that could be minutes and seconds."""
DATES = 1e8
"""Times in seconds above this are dates, counted from some year, not from a trigger."""


@dataclass(frozen=True)
class TablePlan:
    """Which columns are read: the `channels`, and the column of `times`, which may be one of them, with the length of
    its `unit` in seconds. `sure` says that its name or its cells identify it as times. `counters` number the samples
    and are left out. `chosen` says that the user named the channels."""

    channels: tuple[int, ...]
    times: int | None
    unit: float
    sure: bool
    counters: tuple[int, ...]
    chosen: bool

    @property
    def data_channels(self) -> tuple[int, ...]:
        """The channels without the column of times, unless it is chosen or the only one."""
        if self.chosen or len(self.channels) == 1:
            return self.channels
        return tuple(k for k in self.channels if k != self.times)


class Times(NamedTuple):
    """The channels, their rate in hertz, the time of the first sample in seconds, the steps to record, a line about the
    times, and the rate from the column of times."""

    channels: tuple[int, ...]
    rate: float | None
    start: float = 0.0
    steps: tuple[dict[str, Any], ...] = ()
    words: str = ""
    own: float | None = None


def make_plan(opening: Opening, layout: Layout) -> TablePlan:
    """The columns to read from a table. Raises InputError for too many channels, ParamError for a missing column."""
    chosen = chosen_columns(opening, layout.titles(), layout.labels(range(layout.columns)))
    numeric, named = layout.numeric, any(layout.names)
    times, unit, sure = _find_column(layout)
    open_to_all = [k for k in numeric if not sure or k != times]
    counters = [k for k in open_to_all if named and _counts(layout, k)]
    channels = chosen or [k for k in open_to_all if k not in counters] or open_to_all or list(layout.values)
    check_channels(len(channels), opening.name)
    left = tuple(k for k in counters if k not in channels and not chosen)
    return TablePlan(tuple(channels), times, unit, sure, left, bool(chosen))


def _counts(layout: Layout, column: int) -> bool:
    """Whether a column numbers the samples, by its name and its first values."""
    named = is_counter(layout.names[column]) or layout.units[column].casefold() == "sequence"
    return named and is_count(layout.read(column))


def _find_column(layout: Layout) -> tuple[int | None, float, bool]:
    """The column of times, the length of its unit in seconds, and whether it certainly has times."""
    names, units, numeric = layout.names, layout.units, layout.numeric
    for k in numeric:
        unit = time_unit(names[k], units[k])
        bare = names[k].strip().casefold() in TIMES  # may be a channel's unit
        if unit is not None and not (bare and even_step(layout.read(k)) is None):
            return k, unit, True
    for kind in ("stamp", "clock", "date"):
        for k, moments in layout.moments.items():
            if moments.kind == kind:
                return k, 1.0, True
    if len(numeric) > 1:
        first, step = numeric[0], even_step(layout.read(numeric[0]))
        unit, interval = TIMES.get(units[first].casefold()), layout.heading.interval
        alike = interval and step and abs(step - interval) <= SURE_OF_RATE * interval
        if unit is None and alike and (not names[first] or NAMED.fullmatch(names[first].strip().casefold())):
            unit = 1.0
        if unit is not None and step is not None and not _counts(layout, first):
            return first, unit, True
        if not any(names):
            return first, 1.0, False
    return None, 1.0, False


def find_times(opening: Opening, layout: Layout, plan: TablePlan, times: Array | None) -> Times:
    """The rate from the choices, from the column of times with these values, or from the lines above the numbers.
    Raises InputError where a column is named as times, and they are not even."""
    rate = chosen_rate(opening)
    if times is None or plan.times is None:
        return _by_heading(layout, plan.channels, rate, "")
    moments = layout.moments.get(plan.times)
    times = unwrap_midnight(times) if moments is not None and moments.kind == "clock" else times
    if not plan.sure and (len(times) < FEWEST_TIMES or even_step(times) is None):
        return _by_heading(layout, plan.channels, rate, "")
    if not plan.sure and is_count(times):
        return _by_heading(layout, plan.data_channels, rate, f"column {layout.titles()[plan.times]}: counts samples")
    own = _own_rate(opening, layout, plan, times, rate is not None)
    words = f"column {layout.titles()[plan.times]}: {hertz(own) if own else 'not even'}"
    begin = float(f"{times[0] * plan.unit:.12g}") if moments is None and np.isfinite(times[0]) else 0.0
    shown = f"{begin:.12g} s"
    if moments is not None:
        days = [layout.first(k) for k, m in layout.moments.items() if m.kind == "date" and m is not moments]
        shown = " ".join([*days, layout.first(plan.times)])
    step = {"step": "times", "column": layout.titles()[plan.times], "first": shown}
    start = begin if own and abs(begin) < DATES else 0.0
    return Times(
        plan.data_channels, rate or own, start, (step,) if plan.data_channels != (plan.times,) else (), words, own
    )


def _by_heading(layout: Layout, channels: tuple[int, ...], rate: float | None, words: str) -> Times:
    """The rate that the user chose, else the one that an instrument wrote above the numbers."""
    interval, start = layout.heading.interval, layout.heading.start or 0.0
    if interval is None or rate is not None:
        return Times(channels, rate, words=words)
    stated = float(f"{1 / interval:.12g}")
    step = {"step": "times", "column": "none", "interval": f"{interval:.12g} s", "first": f"{start:.12g} s"}
    return Times(channels, stated, start, (step,), f"{hertz(stated)} by the lines above the numbers")


def _own_rate(opening: Opening, layout: Layout, plan: TablePlan, times: Array, given: bool) -> float | None:
    """The rate in hertz from the times. Raises InputError where they are not even, and no rate was given."""
    assert plan.times is not None
    if len(times) < 2:
        return None
    rate = rate_of(times, plan.unit)
    if rate is None and plan.sure and not given and plan.times not in plan.channels:
        name, finite = plain(layout.titles()[plan.times], 40), np.isfinite(times)
        if not finite.all():
            line = layout.header + int(np.argmin(finite)) + 1
            raise InputError(f"{opening.name} has no time in line {line} of column {name!r}; {_advice()}.")
        steps = np.diff(times)
        odd = int(np.argmax(np.abs(steps - np.median(steps)))) + 1
        raise InputError(
            f"{opening.name} has times that are not evenly spaced: column {name!r} has {times[odd - 1]:.10g}, then "
            f"{times[odd]:.10g} in line {layout.header + odd + 1}; {_advice()}."
        )
    return rate


def _advice() -> str:
    return "resample it, or add --rate with the samples per second to count samples instead"


def doubts(layout: Layout) -> list[str]:
    """Remarks about lines that can be read in another way."""
    found = [f"{layout.doubt}: {layout.flags} reads it so"] if layout.doubt else []
    return [*found, *(f"{words}; --header chooses other lines" for words in layout.heading.notes)]


def left_out(layout: Layout, plan: TablePlan, found: Times) -> list[str]:
    """Remarks about columns that are not channels and not empty, and about times that are a guess."""
    titles, heading = layout.titles(), layout.heading
    remarks, guess = [], plan.times if not plan.sure and plan.times not in found.channels else None
    counts = guess is not None and is_count(layout.read(guess))
    if guess is not None and not counts:
        remarks.append(f"column {guess + 1} grows evenly and is taken as times in seconds")
    counters = [*([guess] if guess is not None and counts else []), *plan.counters]
    remarks += [f"column {plain(titles[k], 40)!r} counts the samples and is left out" for k in counters]
    for k in range(layout.columns):
        cells = [row[k] for row in layout.rows if len(row) == layout.columns and not is_missing(row[k])]
        kind = layout.moments[k].kind if k in layout.moments else "text"
        clock = kind == "date" and plan.times in layout.moments  # the date of the times of day
        if cells and not plan.chosen and not clock and k not in (*plan.channels, *plan.counters, plan.times):
            such = f"such as {plain(text(cells[0]), 20)!r}"
            remarks.append(f"column {plain(titles[k], 40)!r} is left out: it has {KINDS[kind]}, {such}")
    moments = None if plan.times is None else layout.moments.get(plan.times)
    if moments is not None and moments.kind == "clock" and HOURS.fullmatch(layout.first(k := plan.times or 0)):
        remarks.append(f"{layout.first(k)!r} in column {plain(titles[k], 40)!r} is taken as hours and minutes")
    stated = 1 / heading.interval if heading.interval else found.own
    if stated and found.own and abs(stated - found.own) > SURE_OF_RATE * found.own:
        remarks.append(f"the times give {hertz(found.own)}, and the lines above the numbers say {stated:,.10g} Hz")
    return remarks
