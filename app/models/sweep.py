"""A sweep: what may vary, the runs that a list of values asks for, and the rows they gave."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

from app.models.apart import BETWEEN, settings_text
from app.models.job_cells import job_cells
from gpu_ops.errors import ParamError
from gpu_ops.input_kinds import INPUT_KINDS, InputKind
from gpu_ops.measuring.machines import device_model
from gpu_ops.measuring.rows import Row
from gpu_ops.measuring.sweeps import (
    SIZE,
    BreakEven,
    Line,
    Varied,
    break_even,
    proposed_sizes,
    proposed_values,
    settings,
    settings_apart,
    slices,
    sweep_lines,
)
from gpu_ops.params import Param
from gpu_ops.run_key import Items
from gpu_ops.task import Meta, Task
from gpu_ops.types import Filter, Pick

Where = Literal["", "middle", "noise"]
"""For sizes: of what. The middle of an image and the beginning of a signal count as the same."""
MOST_POINTS = 32
CSV_COLUMNS = (
    *("filter", "variant", "device", "clock", "kernel_s", "q1_s", "q3_s", "min_s", "n", "gbps"),
    *("error_max", "tolerance", "ok", "failure", "shape", "dtype", "params", "knobs"),
    *("input", "input_hash", "mode", "protocol", "machine"),
)
"""They follow what varies, which is empty for a variant that does not depend on it. Where kernels were edited, the hash
of the edits comes last."""


@dataclass(frozen=True)
class Option:
    """Something that may vary, with values to begin with."""

    varied: Varied
    proposed: tuple[int, ...]
    where: Where = ""
    help: str = ""


@dataclass(frozen=True)
class Planned:
    """One run of a sweep."""

    value: int
    params: Mapping[str, Any]
    picks: tuple[Pick, ...]
    size: int | None = None


@dataclass
class Sweep:
    """Rows over what varies. `held` is what does not and may be asked for; `machine` made a recorded sweep;
    `failures` are values that gave no rows, with the reason; `uncounted` variants were left out, having no time."""

    filter: Filter
    varied: Varied
    where: Where = ""
    held: Mapping[Varied, Any] = field(default_factory=dict)
    machine: str = ""
    rows: list[Row] = field(default_factory=list)
    failures: dict[int, str] = field(default_factory=dict)
    uncounted: tuple[str, ...] = ()

    @property
    def kind(self) -> InputKind:
        """That of the inputs."""
        return INPUT_KINDS[self.filter.accepts]

    def put(self, row: Row) -> None:
        """A row has come."""
        self.rows.append(row)

    def value(self, row: Row) -> int | None:
        """What varies, in this row; None where its variant does not have it."""
        value: int | None = settings(row).get(self.varied)
        return value

    def title(self, variant: str) -> str:
        return next((v.title for v in self.filter.variants if v.id == variant), variant)

    def name(self, line: Line) -> str:
        """The title of a line's variant, and what tells it from other lines of that variant."""
        return _named(self.title(line.variant), line.apart)

    def names(self) -> list[str]:
        """What each row is called, as its line is."""
        apart = settings_apart(self.rows, self.varied)
        return [_named(self.title(row.variant), own) for row, own in zip(self.rows, apart, strict=True)]

    def lines(self) -> tuple[Line, ...]:
        """A line for every variant that was timed, in the filter's order."""
        order = [v.id for v in self.filter.variants]
        known = [line for line in sweep_lines(self.rows, self.varied) if line.variant in order]
        return tuple(sorted(known, key=lambda line: (order.index(line.variant), line.device)))

    def place(self, line: Line) -> int:
        """The variant's place among the filter's: lines look by it, whichever others there are."""
        return [v.id for v in self.filter.variants].index(line.variant)

    def break_even(self) -> tuple[BreakEven, ...]:
        return break_even(self.lines())

    def without_time(self) -> tuple[str, ...]:
        """Titles of the variants that only a simulated GPU ran: what it counts is no time."""
        there = [self.title(row.variant) for row in self.rows if row.simulated]
        return tuple(dict.fromkeys([*self.uncounted, *there]))

    def to_csv(self, provenance: Mapping[str, Any] = MappingProxyType({})) -> str:
        """The rows in the C locale: what varies first, then seconds, with one heading line. `provenance` says what the
        devices of a sweep made here are."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        columns = (*CSV_COLUMNS, *(["edits"] if any(row.edits for row in self.rows) else []))
        writer.writerow([self.varied.name, *columns])
        for row in self.rows:
            told = row.to_json()
            kernel = told["stages"].get("kernel", {})
            cells = {**told, **kernel, "kernel_s": kernel.get("median_s")}
            cells |= job_cells(row) | {"machine": self.machine or device_model(provenance, row.device)}
            found = [self.value(row), *(cells.get(name) for name in columns)]
            writer.writerow(["" if value is None else value for value in found])
        return text.getvalue()


def _named(title: str, apart: Items) -> str:
    return BETWEEN.join(text for text in (title, settings_text(dict(apart), BETWEEN)) if text)


def options(filter: Filter, meta: Meta) -> tuple[Option, ...]:
    """What may vary for an input: its size, whole-number parameters, and knobs of any variant."""
    found: list[Option] = []
    if meta.of_kind.largest_noise:
        found.append(Option(SIZE, proposed_sizes(min(meta.of_kind.spatial(meta.shape))), "middle"))
        found.append(Option(SIZE, proposed_sizes(meta.of_kind.largest_noise), "noise"))
    knobs = {knob.name: knob for v in reversed(filter.variants) for knob in v.knobs}
    for param in filter.params:
        found.append(Option(Varied("param", param.name), proposed_values(param), help=param.help))
    for name, knob in knobs.items():
        found.append(Option(Varied("knob", name), proposed_values(knob), help=knob.help))
    return tuple(option for option in found if len(option.proposed) > 1 or option.varied == SIZE)


def parsed(text: str) -> tuple[int, ...]:
    """The whole numbers of a list such as "4, 8, 16", each once, in growing order. Raises ParamError."""
    words = text.replace(",", " ").replace(";", " ").split()
    values = sorted({int(word) for word in words if word.isdecimal()})
    bad = [word for word in words if not word.isdecimal() or not int(word)]
    if bad or len(values) < 2 or len(values) > MOST_POINTS:
        wrong = f"{bad[0]} is none" if bad else f"there are {len(values)}"
        allowed = f"2 to {MOST_POINTS} different whole numbers above 0, such as 4, 8, 16"
        raise ParamError(f"A sweep takes {allowed}; {wrong}.")
    return tuple(values)


def planned(
    filter: Filter, option: Option, values: Sequence[int], params: Mapping[str, Any], picks: Iterable[Pick], meta: Meta
) -> tuple[Planned, ...]:
    """A run for every value, each as the session would make it but for what varies. A variant without the knob that
    varies runs at the first value only. Raises ParamError for values that are not allowed."""
    picks = tuple(picks)
    if not picks:
        raise ParamError("No variant with a time is ticked; tick one that runs on the CPU or a GPU.")
    if option.varied.kind == "knob":
        return _over_knob(filter, option.varied.name, values, params, picks)
    if option.varied == SIZE:
        sizes = [_sized(meta, value, option.where) for value in values]
        for size in sizes:
            filter.check(Task.of(size, params))
        return tuple(Planned(value, params, picks, value) for value in values)
    param = next(p for p in filter.params if p.name == option.varied.name)
    chosen = [{**params, param.name: param.check(value)} for value in values]
    for one in chosen:
        filter.check(Task.of(meta, one))
    return tuple(Planned(value, one, picks) for value, one in zip(values, chosen, strict=True))


def _sized(meta: Meta, value: int, where: Where) -> Meta:
    axes = meta.of_kind.rank
    largest = min(meta.shape[:axes])
    if where == "middle" and value > largest:
        raise ParamError(f"size must be from 1 to {largest} for this input, not {value}; noise may be larger.")
    return replace(meta, shape=(value,) * axes + tuple(meta.shape[axes:]))


def _over_knob(
    filter: Filter, name: str, values: Sequence[int], params: Mapping[str, Any], picks: Sequence[Pick]
) -> tuple[Planned, ...]:
    knobs = {p.variant: next((k for k in filter.variant(p.variant).knobs if k.name == name), None) for p in picks}
    if not any(knobs.values()):
        having = ", ".join(v.title for v in filter.variants if any(k.name == name for k in v.knobs))
        raise ParamError(f"No variant that is ticked and has a time has the knob {name}; those that have it: {having}.")
    found = []
    for value in values:
        own = tuple(p for p in picks if _allows(knobs[p.variant], value))
        if not own:
            next(knob for knob in knobs.values() if knob).check(value)  # raises, naming what is allowed
        own = tuple(replace(p, knobs={**p.knobs, name: value}) for p in own)
        others = tuple(p for p in picks if knobs[p.variant] is None) if value == values[0] else ()
        found.append(Planned(value, params, others + own))
    return tuple(found)


def _allows(knob: Param | None, value: int) -> bool:
    if knob is None:
        return False
    try:
        knob.check(value)
    except ParamError:
        return False
    return True


def recorded_sweeps(filter: Filter, rows: Iterable[Row], machine: str) -> tuple[Sweep, ...]:
    """Every sweep over one quantity among a report's rows of this filter."""
    own = [row for row in rows if row.filter == filter.id]
    return tuple(
        Sweep(filter, found.varied, held=found.held, machine=machine, rows=list(found.rows)) for found in slices(own)
    )
