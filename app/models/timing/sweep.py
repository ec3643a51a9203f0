"""A sweep: what may vary, the runs for a list of values, and their rows."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from app.models.experiment.job_cells import job_cells
from app.models.results.row_differences import BETWEEN, settings_text
from app.models.timing.sweep_occupancy import CSV_COLUMNS as OCCUPANCY_COLUMNS
from app.models.timing.sweep_occupancy import Occupied, picks_with_knob
from gpu_ops.counters import counted_in
from gpu_ops.device_names import is_simulated
from gpu_ops.errors import ParamError
from gpu_ops.input_kinds import INPUT_KINDS, InputKind
from gpu_ops.params import Param, Values
from gpu_ops.report.about import about_rows
from gpu_ops.report.kernel_age import OLDER, has_older_kernels
from gpu_ops.report.machines import device_model
from gpu_ops.report.rows import Row, report_json
from gpu_ops.report.sweeps import (
    DISTINCT,
    SIZE,
    BreakEven,
    Line,
    Varied,
    break_even,
    counts_of,
    differing_settings,
    proposed_sizes,
    proposed_values,
    settings,
    slices,
    sweep_lines,
    swept_counters,
)
from gpu_ops.run_key import Items, RunKey
from gpu_ops.stages import END_TO_END, STAGES
from gpu_ops.task import Meta, Task
from gpu_ops.types import Filter, Pick

Where = Literal["", "middle", "noise"]
"""For a sweep over sizes: what the inputs are. "middle" also means the beginning of a signal."""
MOST_POINTS = 32
SHOWN_STAGES = ("kernel", *END_TO_END)
"""The stages that a sweep can show."""
OF_KERNELS = "cuda"
"""The device of an occupancy line, which is computed: any GPU of the architecture."""
LEVELS, MOST_DISTINCT = (1, 2, 4, 16, 64, 256, 4096, 65536), 1 << 16
"""The proposed number of noise levels, and the largest one."""
CSV_COLUMNS = (
    *("filter", "variant", "device", "clock", "kernel_s", "q1_s", "q3_s", "min_s", "n", "gbps"),
    *("error_max", "tolerance", "ok", "failure", "shape", "dtype", "params", "knobs"),
    *("input", "input_hash", "mode", "protocol", "machine"),
)
"""The first column, before these, is what varies; it is empty for a variant that does not depend on it. With edited
kernels the hash of the edits is the last column; where recorded kernels have changed since, a column marks their
rows."""


@dataclass(frozen=True)
class Option:
    """Something that may vary, with proposed values."""

    varied: Varied
    proposed: tuple[int, ...]
    where: Where = ""
    help: str = ""


@dataclass(frozen=True)
class SweepRun:
    """One run of a sweep."""

    value: int
    params: Mapping[str, Any]
    picks: tuple[Pick, ...]
    size: int | None = None
    distinct: int | None = None
    occupancy_for: tuple[Pick, ...] = ()


@dataclass
class Sweep:
    """Rows over what varies, and where a knob varies how full its blocks make a multiprocessor (`occupied`). `fixed`
    are settings of other quantities; `machine` made a recorded sweep; `failures` are the values without rows, with the
    reason; `uncounted` variants were left out because they have no time. Lines are of `shown`, a stage or a counter.
    `ghosts` are recorded GPU rows by machine, of which those of `ghost` are drawn as well; where there are none,
    `for_ghosts` are the parameters and the type with which there would be."""

    filter: Filter
    varied: Varied
    where: Where = ""
    fixed: Mapping[Varied, Any] = field(default_factory=dict)
    machine: str = ""
    rows: list[Row] = field(default_factory=list)
    failures: dict[int, str] = field(default_factory=dict)
    uncounted: tuple[str, ...] = ()
    occupied: Occupied = field(default_factory=Occupied)
    shown: str = "kernel"
    ghosts: Mapping[str, tuple[Row, ...]] = field(default_factory=dict)
    ghost: str = ""
    for_ghosts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> InputKind:
        """The kind of the inputs."""
        return INPUT_KINDS[self.filter.accepts]

    def put(self, row: Row) -> None:
        """Add a row."""
        self.rows.append(row)

    def older(self) -> tuple[str, ...]:
        """The variants of a recorded sweep whose kernels have changed since."""
        return tuple(dict.fromkeys(row.variant for row in self.rows if self._age(row)))

    def _age(self, row: Row) -> dict[str, str]:
        """The remark in a file about a recorded row whose kernels have changed since."""
        return {"age": OLDER} if self.machine and has_older_kernels(row) else {}

    def value(self, row: Row) -> int | None:
        """The row's value of the varying quantity; None where its variant does not depend on it."""
        value: int | None = settings(row).get(self.varied)
        return value

    def title(self, variant: str) -> str:
        return next((v.title for v in self.filter.variants if v.id == variant), variant)

    def name(self, line: Line) -> str:
        """The title of a line's variant, and what distinguishes it from the variant's other lines."""
        name = _full_name(self.title(line.variant), line.differing)
        return f"{name} (◉ {line.machine})" if line.machine else name

    def names(self) -> list[str]:
        """The name of each row, the same as its line's."""
        differing = differing_settings(self.rows, self.varied)
        return [_full_name(self.title(row.variant), own) for row, own in zip(self.rows, differing, strict=True)]

    def lines(self) -> tuple[Line, ...]:
        """A line for every variant that was timed, in the filter's order."""
        order = [v.id for v in self.filter.variants]
        lines = sweep_lines(self.rows, self.varied, self.shown, self.occupied.values())
        ghosts = sweep_lines(_keyless(self.ghosts.get(self.ghost, ())), self.varied, self.shown, machine=self.ghost)
        lines = tuple(line for line in (*lines, *ghosts) if line.variant in order)
        return tuple(sorted(lines, key=lambda line: (order.index(line.variant), line.device)))

    def occupied_lines(self) -> tuple[Line, ...]:
        """A line without points for every variant whose occupancy is known, in the filter's order."""
        own = [v.id for v in self.filter.variants if v.id in self.occupied.variants]
        return tuple(Line(RunKey.of(self.filter.id, id, OF_KERNELS, {}, {}), "", ()) for id in own)

    def place(self, line: Line) -> int:
        """The index of a line's variant in the filter, which alone decides the line's look."""
        return [v.id for v in self.filter.variants].index(line.variant)

    def break_even(self) -> tuple[BreakEven, ...]:
        return break_even(self.lines())

    @property
    def counts(self) -> bool:
        """Whether a counter is shown, and not a time."""
        return self.shown not in STAGES

    def figures(self) -> tuple[str, ...]:
        """What can be shown: the stages that GPU rows have, and the counters that explain simulated ones."""
        timed = [*self.rows, *(row for rows in self.ghosts.values() for row in rows)]
        stages = [stage for stage in SHOWN_STAGES if any(stage in row.stages for row in timed if not row.simulated)]
        counted = counted_in(counts_of(row) for row in self.rows if row.simulated)
        return (*stages, *(id for id in swept_counters(self.filter) if id in counted))

    def without_time(self) -> tuple[str, ...]:
        """Titles of the variants that only a simulated GPU ran: it counts and has no times. Of a sweep of counters
        those that it did not run."""
        if self.counts:
            return self.uncounted
        simulated = [self.title(row.variant) for row in self.rows if row.simulated]
        return tuple(dict.fromkeys([*self.uncounted, *simulated]))

    def untimed(self) -> tuple[tuple[str, int], ...]:
        """Variants and values for which only the occupancy is known."""
        there = {(row.variant, self.value(row)) for row in self.rows}
        lines = (
            (line.variant, value) for line in self.occupied_lines() for value, _ in self.occupied.points(line.variant)
        )
        return tuple(place for place in lines if place not in there)

    def facts(self, provenance: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
        """What the rows share: input, filter, parameters, and the machine."""
        return {**about_rows(self.rows, provenance, self.machine), "varied": self.varied.name}

    def to_json(self, provenance: Mapping[str, Any] = MappingProxyType({})) -> str:
        """A report of the rows, with the facts that they share."""
        machine = {"machine": self.machine} if self.machine else {}
        content = report_json(
            {} if machine else provenance, ({**row.to_json(), **machine, **self._age(row)} for row in self.rows)
        )
        own = [
            {self.varied.name: value, "variant": line.variant, **self.occupied.cells(line.variant, value)}
            for line in self.occupied_lines()
            for value, _ in self.occupied.points(line.variant)
        ]
        content |= {"occupancy": own} if own else {}
        return json.dumps({**content, "about": self.facts(provenance)}, indent=1, allow_nan=False) + "\n"

    def to_csv(self, provenance: Mapping[str, Any] = MappingProxyType({})) -> str:
        """The rows in the C locale: what varies first, then seconds, with one header line. `provenance` names the
        devices of a sweep made here."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        columns = (*CSV_COLUMNS, *(["edits"] if any(row.edits for row in self.rows) else []))
        columns += ("age",) if self.older() else ()
        columns += OCCUPANCY_COLUMNS if self.occupied.variants else ()
        writer.writerow([self.varied.name, *columns])
        for row in self.rows:
            content = row.to_json()
            kernel = content["stages"].get("kernel", {})
            cells = {**content, **kernel, **self._age(row), "kernel_s": kernel.get("median_s")}
            cells |= job_cells(row) | {"machine": self.machine or device_model(provenance, row.device)}
            cells |= self.occupied.cells(row.variant, self.value(row))
            writer.writerow(_filled([self.value(row), *(cells.get(name) for name in columns)]))
        for variant, value in self.untimed():
            cells = {"filter": self.filter.id, "variant": variant, **self.occupied.cells(variant, value)}
            writer.writerow(_filled([value, *(cells.get(name) for name in columns)]))
        return text.getvalue()


def _keyless(rows: Iterable[Row]) -> list[Row]:
    """Rows without their knobs, so that those of one variant are one line."""
    return [replace(row, knobs={}) for row in rows]


def _filled(cells: Sequence[Any]) -> list[Any]:
    return ["" if value is None else value for value in cells]


def _full_name(title: str, differing: Items) -> str:
    return BETWEEN.join(text for text in (title, settings_text(dict(differing), BETWEEN)) if text)


def options(filter: Filter, meta: Meta, params: Values) -> tuple[Option, ...]:
    """What may vary for an input with these parameters: its size, integer parameters that apply, and the knobs of all
    variants. Values that do not suit the filter are not proposed."""
    result: list[Option] = []
    if meta.of_kind.largest_noise:
        places: tuple[tuple[int, Where], ...] = (
            (min(meta.of_kind.spatial(meta.shape)), "middle"),
            (meta.of_kind.largest_noise, "noise"),
        )
        for largest, where in places:
            sizes = proposed_sizes(largest)
            suit = tuple(n for n in sizes if _suits(filter, _sized(meta, n, where), params))
            result.append(Option(SIZE, suit, where))
    if filter.contended:
        most = 256 if np.dtype(meta.dtype).itemsize == 1 else MOST_DISTINCT
        result.append(Option(DISTINCT, tuple(v for v in LEVELS if v <= most)))
    knobs = {knob.name: knob for v in reversed(filter.variants) for knob in v.knobs}
    for param in (p for p in filter.params if p.matters(params)):
        values = (v for v in proposed_values(param) if _suits(filter, meta, {**params, param.name: v}))
        result.append(Option(Varied("param", param.name), tuple(values), help=param.help))
    for name, knob in knobs.items():
        result.append(Option(Varied("knob", name), proposed_values(knob), help=knob.help))
    return tuple(option for option in result if len(option.proposed) > 1 or option.varied == SIZE)


def _suits(filter: Filter, meta: Meta, params: Values) -> bool:
    try:
        filter.check(Task.of(meta, params))
    except ParamError:
        return False
    return True


def parse_values(text: str) -> tuple[int, ...]:
    """The whole numbers of a list such as "4, 8, 16", each once, in ascending order. Raises ParamError."""
    words = text.replace(",", " ").replace(";", " ").split()
    values = sorted({int(word) for word in words if word.isdecimal()})
    bad = [word for word in words if not word.isdecimal() or not int(word)]
    if bad or len(values) < 2 or len(values) > MOST_POINTS:
        wrong = f"{bad[0]} is not one" if bad else f"the list has {len(values)}"
        allowed = f"2 to {MOST_POINTS} different whole numbers above 0, such as 4, 8, 16"
        raise ParamError(f"A sweep takes {allowed}; {wrong}.")
    return tuple(values)


def plan_runs(
    filter: Filter,
    option: Option,
    values: Sequence[int],
    params: Mapping[str, Any],
    picks: Iterable[Pick],
    meta: Meta,
    ticked: Iterable[Pick] = (),
) -> tuple[SweepRun, ...]:
    """A run for every value, with everything else as the session has it. A variant without the knob that varies runs at
    the first value only. Where a knob varies, the occupancy of all `ticked` variants that take it is asked for as well,
    timed or not. Raises ParamError for values that are not allowed."""
    picks = tuple(picks)
    if option.varied.kind == "knob":
        held = picks_with_knob(filter, option.varied.name, ticked)
        if picks or held:
            return _over_knob(filter, option.varied.name, values, params, picks, held)
    if not picks:
        raise ParamError("No ticked variant can be timed; tick one that runs on the CPU or a GPU.")
    if all(is_simulated(pick.device) for pick in picks):
        _check_part(option, values, meta)
    if option.varied == SIZE:
        sizes = [_sized(meta, value, option.where) for value in values]
        for size in sizes:
            filter.check(Task.of(size, params))
        return tuple(SweepRun(value, params, picks, value) for value in values)
    if option.varied == DISTINCT:
        return tuple(SweepRun(value, params, picks, distinct=_levels(meta, value)) for value in values)
    param = next(p for p in filter.params if p.name == option.varied.name)
    chosen = [{**params, param.name: param.check(value)} for value in values]
    for one in chosen:
        filter.check(Task.of(meta, one))
    return tuple(SweepRun(value, one, picks) for value, one in zip(values, chosen, strict=True))


def _check_part(option: Option, values: Sequence[int], meta: Meta) -> None:
    """Raises ParamError for a size of which a simulated GPU would only count a part."""
    part = meta.of_kind.part
    if option.varied == SIZE and part and max(values) > min(part):
        raise ParamError(f"A simulated GPU counts up to size {min(part)}; {max(values)} is more, so leave it out.")


def _levels(meta: Meta, value: int) -> int:
    """Check that noise of that type can have this many levels."""
    kind = np.dtype(meta.dtype)
    most = int(np.iinfo(kind).max) + 1 if kind.kind == "u" else MOST_DISTINCT
    if value > most:
        raise ParamError(f"{meta.dtype} noise has 1 to {most} distinct values, not {value}.")
    return value


def _sized(meta: Meta, value: int, where: Where) -> Meta:
    axes = meta.of_kind.rank
    largest = min(meta.shape[:axes])
    if where == "middle" and value > largest:
        raise ParamError(f"The size must be from 1 to {largest} for this input, not {value}; noise may be larger.")
    return replace(meta, shape=(value,) * axes + tuple(meta.shape[axes:]))


def _over_knob(
    filter: Filter,
    name: str,
    values: Sequence[int],
    params: Mapping[str, Any],
    picks: Sequence[Pick],
    held: Sequence[Pick],
) -> tuple[SweepRun, ...]:
    knobs = {
        p.variant: next((k for k in filter.variant(p.variant).knobs if k.name == name), None) for p in (*picks, *held)
    }
    if not any(knobs.values()):
        titles = ", ".join(v.title for v in filter.variants if any(k.name == name for k in v.knobs))
        raise ParamError(f"No ticked variant that can be timed has the knob {name}; tick one of: {titles}.")
    runs = []
    for value in values:
        own, full = (
            tuple(replace(p, knobs={**p.knobs, name: value}) for p in some if _allows(knobs[p.variant], value))
            for some in (picks, held)
        )
        if not own and not full:
            next(knob for knob in knobs.values() if knob).check(value)  # raises, naming what is allowed
        others = tuple(p for p in picks if knobs[p.variant] is None) if value == values[0] else ()
        runs.append(SweepRun(value, params, others + own, occupancy_for=full))
    return tuple(runs)


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
        Sweep(filter, slice.varied, fixed=slice.fixed, machine=machine, rows=list(slice.rows)) for slice in slices(own)
    )
