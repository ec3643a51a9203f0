"""Rows of reports: the result of one run in the schema kernelscope-report/1, as typed fields.

A row is created from a run, or read from JSON that `report.check` has checked. It keeps keys that this version does not
know, only to write them again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

from gpu_ops.device_names import device_kind, is_simulated
from gpu_ops.filters import FILTERS
from gpu_ops.html import VERDICTS, table
from gpu_ops.input_kinds import Shape
from gpu_ops.io.steps.samples import with_width_first
from gpu_ops.params import with_current_names
from gpu_ops.report.row_kinds import (
    ALWAYS,
    BOUND,
    COUNTED,
    COUNTS,
    ERROR,
    ERRORS,
    FAILURE,
    FILLED,
    FINDINGS,
    NUMBER,
    OBJECT,
    QUALITIES,
    ROOF,
    SENTENCE,
    SHAPE,
    SPEEDUP,
    STAGES,
    TEXT,
    TEXT_OR_NULL,
    TEXTS,
    VALUES,
    VERDICT,
    Bound,
    ErrorSize,
    Fact,
    Roof,
    Speedup,
    fact,
    without,
)
from gpu_ops.run_key import Items, RunKey, items_of, with_tuples
from gpu_ops.task import Meta
from gpu_ops.types import Experiment, Filter, Quality, Run, Timing

SCHEMA = "kernelscope-report"
MAJOR = 2


class Comparable(NamedTuple):
    """What comparable rows have in common: they differ only in variant, device and knobs."""

    filter: str
    params: Items
    shape: Shape
    dtype: str
    mode: str


@dataclass(frozen=True)
class Row:
    """The result of one run. Times are seconds, `gbps` is 1e9 bytes per second, `share` is of the roof, and errors are
    relative to the reference's scale: infinite where an output is NaN and the reference is not, None where nothing was
    checked.

    `clock` is "" where nothing was timed, `edits` the hash of edited kernel files. `findings` have kind, severity,
    file, line, count, block, thread, detail and text; with `counters` and `printed` they come from a simulated GPU.
    `quality` is that of outputs whose noise-free original is known. `others` are keys of a newer version.
    """

    filter: str = fact(TEXT, "the filter's id")
    variant: str = fact(TEXT, "the variant's id")
    device: str = fact(TEXT, "cpu, cuda:0 … or sim:ARCHITECTURE")
    params: Mapping[str, Any] = fact(VALUES, "the filter's parameters")
    knobs: Mapping[str, Any] = fact(VALUES, "the variant's knobs")
    shape: Shape = fact(SHAPE, "the input's shape, rows first", unit="samples")
    dtype: str = fact(TEXT, "the input's sample type")
    mode: str = fact(TEXT, "the state of the caches between samples: stream, cold or hot")
    stages: Mapping[str, Timing] = fact(STAGES, "the times of each stage", factory=dict, unit="s", needed=True)
    edits: str = fact(TEXT_OR_NULL, "the hash of edited kernel files", default="", written=FILLED)
    clock: str = fact(TEXT_OR_NULL, "the clock of the kernel's time; null where nothing was timed", default="")
    input: Mapping[str, Any] = fact(OBJECT, "where the input came from, with its hash or seed and steps", factory=dict)
    protocol: str = fact(TEXT_OR_NULL, "how it was timed: none, quick or careful", default="", written=FILLED)
    checks: str = fact(TEXT_OR_NULL, "how much was verified: full, sample or off", default="", written=FILLED)
    errors: Mapping[str, ErrorSize] = fact(ERRORS, "the error of each output, in its unit", factory=dict)
    error_max: float | None = fact(ERROR, "the largest error, relative to its scale", default=None, needed=True)
    tolerance: float | None = fact(ERROR, "the largest error that is allowed", default=None, needed=True)
    ok: bool | None = fact(VERDICT, "whether the outputs are right; null where unverified", default=None, needed=True)
    notes: tuple[str, ...] = fact(TEXTS, "notes on the run", default=(), needed=True)
    failure: str = fact(SENTENCE, "why there is no result", default="", needed=True)
    failure_kind: str = fact(FAILURE, "the kind of failure", default="", needed=True)
    bytes: int = fact(NUMBER, "the minimum that the job reads and writes", default=0, unit="B", needed=True)
    source_hash: str = fact(TEXT, "the hash of the kernel's code and headers", default="", needed=True)
    counters: Mapping[str, Any] = fact(COUNTS, "what a simulated GPU counted", factory=dict, written=COUNTED)
    counted_shape: Shape = fact(SHAPE, "the part that was counted; [] for all", default=(), written=FILLED)
    findings: tuple[Mapping[str, Any], ...] = fact(FINDINGS, "faults that it found", default=(), written=COUNTED)
    printed: tuple[str, ...] = fact(TEXTS, "what the kernel printed", default=(), written=COUNTED)
    gbps: float | None = fact(NUMBER, "bytes over the kernel's time", default=None, unit="GB/s", written=FILLED)
    share: float | None = fact(NUMBER, "the share of the roof", default=None, written=FILLED)
    roof: Roof | None = fact(ROOF, "the bandwidth of a plain copy or read", default=None, unit="B/s", written=FILLED)
    share_same_size: float | None = fact(NUMBER, "the share at this size", default=None, written=FILLED)
    share_peak: float | None = fact(NUMBER, "the share of the data sheet's peak", default=None, written=FILLED)
    bound: Bound | None = fact(
        BOUND, "the memory that holds the buffers, and a launch", default=None, unit="B/s, s", written=FILLED
    )
    share_bound: float | None = fact(
        NUMBER, "the shortest time by its bound, over its time", default=None, written=FILLED
    )
    flag: str = fact(TEXT, "why the share is implausible", default="", written=FILLED)
    speedup: Speedup | None = fact(SPEEDUP, "times as fast as another row, by stage", default=None, written=FILLED)
    quality: Mapping[str, Quality] = fact(QUALITIES, "SNR, PSNR and SSIM", factory=dict, unit="dB", written=FILLED)
    others: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, run: Run, experiment: Experiment) -> Row:
        """The row of a run. It has a bandwidth but no share: the roofs are given for all runs of a report."""
        key, kernel = run.key, run.timings.get("kernel")
        return cls(
            filter=key.filter,
            variant=key.variant,
            device=key.device,
            params=with_tuples(run.params),
            knobs=with_tuples(run.pick.knobs),
            shape=tuple(run.shape),
            dtype=run.dtype,
            mode=experiment.mode,
            stages={name: _without_samples(name, timing) for name, timing in run.timings.items()},
            edits=key.edits,
            clock=kernel.clock if kernel else "simulated" if is_simulated(key.device) else "",
            input=dict(experiment.input.origin),
            protocol=experiment.protocol,
            checks=experiment.checks,
            errors={name: ErrorSize(_number(e.max), _number(e.rms)) for name, e in run.errors.items()},
            error_max=_number(max((e.relative for e in run.errors.values()), default=math.nan)),
            tolerance=_number(max((e.tolerance for e in run.errors.values()), default=math.nan)),
            ok=run.ok,
            notes=tuple(run.notes),
            failure=run.failure,
            failure_kind=run.failure_kind,
            bytes=run.work.bytes,
            source_hash=run.source_hash,
            counters=dict(run.counters),
            counted_shape=tuple(run.counted_shape),
            findings=tuple({**vars(f), "text": str(f)} for f in run.findings),
            printed=tuple(run.printed),
            gbps=run.work.bytes / kernel.median / 1e9 if kernel else None,
            quality=dict(run.quality),
        )

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Row:
        """A row of a checked report; fields that an older report does not have are empty."""
        row = {**row, **_todays(row)}
        values = {name: fact.kind.read(row[name]) for name, fact in FACTS.items() if row.get(name) is not None}
        return cls(**values, others=without(row, FACTS))

    def to_json(self) -> dict[str, Any]:
        """The row in the form of a report."""
        counted = bool(self.simulated or self.counters or self.findings or self.printed)
        content = {}
        for name, (kind, _, _, written, _) in FACTS.items():
            value = getattr(self, name)
            if written == ALWAYS or (counted if written == COUNTED else value not in (None, "", {}, ())):
                content[name] = kind.write(value)
        return {**content, **self.others}

    # ---------------------------------------------------------------- derived from the fields

    @cached_property
    def key(self) -> RunKey:
        """The key of the row's run."""
        return RunKey.of(self.filter, self.variant, self.device, self.params, self.knobs, self.edits)

    @property
    def counted(self) -> Shape:
        """The shape of the input, or of the part of it, whose work was counted."""
        return self.counted_shape or self.shape

    @cached_property
    def job(self) -> Comparable:
        filter = _filter(self.filter)
        defaults = {p.name: p.default for p in filter.params} if filter else {}  # also of those that it got later
        items = items_of({**defaults, **self.params})
        return Comparable(self.filter, items, self.shape, self.dtype, self.mode)

    @cached_property
    def measurement(self) -> Hashable:
        """Equal for two rows of the same measurement, of which a report needs only one."""
        origin = json.dumps(self.input, sort_keys=True)
        return self.key, self.shape, self.dtype, origin, self.mode, self.protocol, self.source_hash

    @property
    def on_cpu(self) -> bool:
        """Whether a processor ran it, of this machine or of another one."""
        return device_kind(self.device) == "cpu"

    @property
    def shares(self) -> tuple[float | None, ...]:
        """Of the copy or read roof, of the data sheet's peak, and of the bound."""
        return self.share, self.share_peak, self.share_bound

    @property
    def shortest(self) -> float | None:
        """The shortest kernel time in seconds that its bound allows; None where it has none."""
        return self.bound.seconds(self.bytes) if self.bound is not None and "kernel" in self.stages else None

    @property
    def simulated(self) -> bool:
        """Whether a simulated GPU ran it: such a run has counts and no time."""
        kernel = self.stages.get("kernel")
        return is_simulated(self.device) or self.clock == "simulated" or bool(kernel and kernel.clock == "simulated")

    @property
    def end_to_end(self) -> bool:
        """Whether its steps include the copies from and to host memory."""
        return any(self.filter == filter.id and filter.end_to_end for filter in FILTERS)

    @property
    def faulty(self) -> bool:
        """Whether a simulated GPU found an error: then the result is wrong, whatever its values."""
        return any(f.get("severity") == "error" for f in self.findings)

    def seconds(self, stage: str) -> float | None:
        """The median of a stage, None where it was not timed."""
        timing = self.stages.get(stage)
        return timing.median if timing else None

    def is_comparable(self, stage: str) -> bool:
        """Whether this stage has a reliable time."""
        timing = self.stages.get(stage)
        return timing is not None and not timing.doubt


FACTS: Mapping[str, Fact] = {f.name: f.metadata["fact"] for f in fields(Row) if f.metadata}
"""The declaration of each field of a row, in the order of reports."""


@dataclass(frozen=True)
class Report:
    """Rows and their provenance: the machine, versions, flags, source and time; also, as JSON, the theoretical
    occupancy of kernels at the points of a sweep."""

    provenance: Mapping[str, Any]
    rows: tuple[Row, ...]
    occupancy: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Report:
        """A report from checked JSON; other keys are ignored."""
        rows = tuple(map(Row.from_json, content["runs"]))
        if content.get("schema") == f"{SCHEMA}/1":
            rows = tuple(replace(row, input=with_width_first(row.input)) for row in rows)
        return cls(content["provenance"], rows, tuple(content.get("occupancy", ())))

    def _repr_html_(self) -> str:
        """The display in a notebook: a table with a row for each run."""
        stages = tuple(dict.fromkeys(stage for row in self.rows for stage in row.stages))
        headings = ("filter", "variant", "device", *(f"{stage} [ms]" for stage in stages), "GB/s", "error", "result")
        cells = [
            (
                *(row.filter, row.variant, row.device),
                *("" if (t := row.seconds(stage)) is None else f"{t * 1e3:.4g}" for stage in stages),
                "" if row.gbps is None else f"{row.gbps:.4g}",
                "" if row.error_max is None else f"{row.error_max:.2g}",
                row.failure or VERDICTS[row.ok],
            )
            for row in self.rows
        ]
        return table(headings, cells)

    def to_json(self) -> dict[str, Any]:
        """The whole report, in the schema of this version."""
        content = report_json(self.provenance, (row.to_json() for row in self.rows))
        return content | ({"occupancy": list(self.occupancy)} if self.occupancy else {})


def report_json(provenance: Mapping[str, Any], runs: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """A report of rows that are JSON already."""
    return {"schema": f"{SCHEMA}/{MAJOR}", "provenance": dict(provenance), "runs": list(runs)}


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _filter(id: str) -> Filter | None:
    """The filter of a row; None where this version has none of that name."""
    return next((f for f in FILTERS if f.id == id), None)


def _todays(row: Mapping[str, Any]) -> dict[str, Any]:
    """The variant and the knobs of a row by their names in this version: for a renamed variant the one that ran, with
    its own knobs."""
    filter = _filter(row["filter"])
    if filter is None:
        return {"variant": row["variant"]}
    meta = Meta(filter.accepts, tuple(row["shape"]), row["dtype"])
    id = filter.today(row["variant"], meta, with_tuples(row["params"]), row["knobs"])
    variant = next((v for v in filter.all_variants if v.id == id), None)
    if variant is None:
        return {"variant": id}
    knobs = with_current_names(variant.knobs, row["knobs"])
    if id != row["variant"]:
        knobs = {k.name: knobs[k.name] for k in variant.knobs if k.name in knobs}
    return {"variant": id, "knobs": knobs}


def _without_samples(name: str, t: Timing) -> Timing:
    """A timing under its name in the row, without its samples."""
    return Timing(name, t.clock, t.median, t.q1, t.q3, t.min, t.n, t.stop, t.mode, doubt=t.doubt)
