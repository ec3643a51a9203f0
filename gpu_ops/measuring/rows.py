"""Rows of reports: the result of one run in the schema kernelscope-report/1, as typed fields.

A row is made from a run, or read from JSON that `report_check` has checked. It keeps keys that this version does not
know, only to write them back.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from gpu_ops.device_names import is_simulated
from gpu_ops.filters import FILTERS
from gpu_ops.html import VERDICTS, table
from gpu_ops.input_kinds import Shape
from gpu_ops.run_key import Items, RunKey, with_tuples
from gpu_ops.task import Meta
from gpu_ops.types import Closeness, Experiment, Quality, Run, Timing

SCHEMA = "kernelscope-report"
MAJOR = 1


class Job(NamedTuple):
    """What rows have in common that may be compared: they differ in variant, device and knobs only."""

    filter: str
    params: Items
    shape: Shape
    dtype: str
    mode: str


class Roof(NamedTuple):
    """The bandwidth that a row's is compared with, in bytes per second; `kind` is copy or read."""

    kind: str
    bytes_s: float


class ErrorSize(NamedTuple):
    """How far one output is off, in the reference's unit; None for NaN."""

    max: float | None
    rms: float | None


class Speedup(NamedTuple):
    """The kernel time of `against` ("serial on cpu") over this row's time of each stage."""

    against: str
    stages: Mapping[str, float]


@dataclass(frozen=True)
class Row:
    """The result of one run. Times are seconds, `gbps` is 1e9 bytes per second, `share` is of the roof, and errors are
    relative to the reference's scale: infinite where an output is not a number and should be, None where nothing was
    checked.

    `clock` is "" where nothing was timed, `edits` the hash of edited kernel files. `findings` hold kind, severity,
    file, line, count, block, thread, detail and text; with `counters` and `printed` they come from a simulated GPU.
    `quality` is that of outputs whose noise-free original is known. `others` are keys of a newer version.
    """

    filter: str
    variant: str
    device: str
    params: Mapping[str, Any]
    knobs: Mapping[str, Any]
    shape: Shape
    dtype: str
    mode: str
    stages: Mapping[str, Timing] = field(default_factory=dict)
    edits: str = ""
    clock: str = ""
    input: Mapping[str, Any] = field(default_factory=dict)
    protocol: str = ""
    checks: str = ""
    errors: Mapping[str, ErrorSize] = field(default_factory=dict)
    error_max: float | None = None
    tolerance: float | None = None
    ok: bool | None = None
    notes: tuple[str, ...] = ()
    failure: str = ""
    failure_kind: str = ""
    bytes: int = 0
    source_hash: str = ""
    counters: Mapping[str, Any] = field(default_factory=dict)
    findings: tuple[Mapping[str, Any], ...] = ()
    printed: tuple[str, ...] = ()
    gbps: float | None = None
    share: float | None = None
    roof: Roof | None = None
    share_same_size: float | None = None
    flag: str = ""
    speedup: Speedup | None = None
    quality: Mapping[str, Quality] = field(default_factory=dict)
    others: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, run: Run, experiment: Experiment) -> Row:
        """The row of a run. It has a bandwidth but no share: the runs of one report say what the roofs are."""
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
            findings=tuple({**vars(f), "text": str(f)} for f in run.findings),
            printed=tuple(run.printed),
            gbps=run.work.bytes / kernel.median / 1e9 if kernel else None,
            quality=dict(run.quality),
        )

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Row:
        """A row of a checked report; fields that an older report does not have are empty."""
        plain = {name: row[name] for name in _PLAIN if row.get(name) is not None}
        row = {**row, **_todays(row)}
        plain |= {"variant": row["variant"]}
        roof, speedup = row.get("roof"), row.get("speedup")
        return cls(
            **plain,
            params=with_tuples(row["params"]),
            knobs=with_tuples(row["knobs"]),
            shape=tuple(row["shape"]),
            stages={name: _timing(name, t) for name, t in row["stages"].items()},
            errors={k: ErrorSize(_parsed(e["max"]), _parsed(e["rms"])) for k, e in row.get("errors", {}).items()},
            error_max=_parsed(row["error_max"]),
            tolerance=_parsed(row["tolerance"]),
            notes=tuple(row["notes"]),
            findings=tuple(row.get("findings", ())),
            printed=tuple(row.get("printed", ())),
            roof=Roof(roof["kind"], roof["bytes_s"]) if roof else None,
            speedup=Speedup(speedup.get("against", ""), _without(speedup, ("against",))) if speedup else None,
            quality={k: _quality(q) for k, q in row.get("quality", {}).items()},
            others=_without(row, _KNOWN),
        )

    def to_json(self) -> dict[str, Any]:
        """The row as a report holds it."""
        content: dict[str, Any] = {
            "filter": self.filter,
            "variant": self.variant,
            "device": self.device,
            "clock": self.clock or None,
            "params": _lists(self.params),
            "knobs": _lists(self.knobs),
            **({"edits": self.edits} if self.edits else {}),
            "shape": list(self.shape),
            "dtype": self.dtype,
            "input": dict(self.input),
            "mode": self.mode,
            **({"protocol": self.protocol} if self.protocol else {}),
            **({"checks": self.checks} if self.checks else {}),
            "stages": {name: _stage(timing) for name, timing in self.stages.items()},
            "errors": {k: {"max": error_json(e.max), "rms": error_json(e.rms)} for k, e in self.errors.items()},
            "error_max": error_json(self.error_max),
            "tolerance": error_json(self.tolerance),
            "ok": self.ok,
            "notes": list(self.notes),
            "failure": self.failure,
            "failure_kind": self.failure_kind,
            "bytes": self.bytes,
            "source_hash": self.source_hash,
        }
        if self.simulated or self.counters or self.findings or self.printed:
            content |= {"counters": dict(self.counters), "findings": list(self.findings), "printed": list(self.printed)}
        measured: dict[str, Any] = {"gbps": self.gbps, "share": self.share, "roof": self.roof and self.roof._asdict()}
        measured |= {"share_same_size": self.share_same_size, "flag": self.flag or None}
        content |= {name: value for name, value in measured.items() if value is not None}
        if self.quality:
            content["quality"] = {name: _quality_json(q) for name, q in self.quality.items()}
        if self.speedup is not None:
            content["speedup"] = {"against": self.speedup.against, **self.speedup.stages}
        return {**content, **self.others}

    # ---------------------------------------------------------------- derived from the fields

    @cached_property
    def key(self) -> RunKey:
        """The key of the run."""
        return RunKey.of(self.filter, self.variant, self.device, self.params, self.knobs, self.edits)

    @cached_property
    def job(self) -> Job:
        return Job(self.filter, self.key.param_items, self.shape, self.dtype, self.mode)

    @cached_property
    def measurement(self) -> Hashable:
        """Equal in two rows of the same measurement, of which a report needs only one."""
        origin = json.dumps(self.input, sort_keys=True)
        return self.key, self.shape, self.dtype, origin, self.mode, self.protocol, self.source_hash

    @property
    def simulated(self) -> bool:
        """Whether a simulated GPU ran it: such a run has counts and no time."""
        kernel = self.stages.get("kernel")
        return is_simulated(self.device) or self.clock == "simulated" or bool(kernel and kernel.clock == "simulated")

    @property
    def faulty(self) -> bool:
        """Whether a simulated GPU found an error: then the result is wrong, whatever it looks like."""
        return any(f.get("severity") == "error" for f in self.findings)

    def seconds(self, stage: str) -> float | None:
        """The median of a stage, None where it was not timed."""
        timing = self.stages.get(stage)
        return timing.median if timing else None

    def is_comparable(self, stage: str) -> bool:
        """Whether this stage has a time that is not in doubt."""
        timing = self.stages.get(stage)
        return timing is not None and not timing.doubt


_PLAIN = (
    *("filter", "variant", "device", "dtype", "mode", "edits", "clock", "input", "protocol", "checks", "ok", "failure"),
    *("failure_kind", "bytes", "source_hash", "counters", "gbps", "share", "share_same_size", "flag"),
)
"""Fields that JSON holds unchanged; null stands for an empty one."""
_KNOWN = (
    *_PLAIN,
    *("params", "knobs", "shape", "stages", "errors", "error_max", "tolerance", "notes", "findings", "printed"),
    *("roof", "speedup", "quality"),
)


@dataclass(frozen=True)
class Report:
    """Rows and their provenance: the machine, versions, flags, source and time; as JSON the theoretical occupancy of
    kernels at the points of a sweep."""

    provenance: Mapping[str, Any]
    rows: tuple[Row, ...]
    occupancy: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Report:
        """A report from checked JSON; other keys are ignored."""
        return cls(
            content["provenance"], tuple(map(Row.from_json, content["runs"])), tuple(content.get("occupancy", ()))
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: a row for each run."""
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


def error_json(value: float | None) -> float | str | None:
    """JSON has no infinity: a word stands for it, and null for no error."""
    return "infinite" if value is not None and math.isinf(value) else value


def _parsed(value: float | str | None) -> float | None:
    return math.inf if isinstance(value, str) else value


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _todays(row: Mapping[str, Any]) -> dict[str, Any]:
    """The variant and the knobs of a row of the version before: of a renamed variant the one that ran, with the knobs
    that it has."""
    filter = next((f for f in FILTERS if f.id == row["filter"] and row["variant"] in f.renamed), None)
    if filter is None:
        return {"variant": row["variant"]}
    meta = Meta(filter.accepts, tuple(row["shape"]), row["dtype"])
    variant = filter.variant(filter.today(row["variant"], meta, with_tuples(row["params"]), row["knobs"]))
    knobs = {k.name: row["knobs"][k.name] for k in variant.knobs if k.name in row["knobs"]}
    return {"variant": variant.id, "knobs": knobs}


def _without_samples(name: str, t: Timing) -> Timing:
    """A timing under its name in the row, without its samples."""
    return Timing(name, t.clock, t.median, t.q1, t.q3, t.min, t.n, t.stop, t.mode, doubt=t.doubt)


def _timing(name: str, t: Mapping[str, Any]) -> Timing:
    median, q1, q3, least = (t[f"{figure}_s"] for figure in ("median", "q1", "q3", "min"))
    return Timing(name, t["clock"], median, q1, q3, least, t["n"], t["stop"], t["mode"], doubt=t.get("doubt", ""))


def _stage(t: Timing) -> dict[str, Any]:
    figures = {"median_s": t.median, "q1_s": t.q1, "q3_s": t.q3, "min_s": t.min}
    words = {"n": t.n, "stop": t.stop, "clock": t.clock, "mode": t.mode}
    return figures | words | ({"doubt": t.doubt} if t.doubt else {})


CLOSENESS = {"snr": "snr_db", "psnr": "psnr_db", "ssim": "ssim"}
"""The figures of a Closeness and their names in JSON."""


def _quality_json(quality: Quality) -> dict[str, Any]:
    """The closeness before and after, each with its figures."""
    sides = {"before": quality.before, "after": quality.after}
    return {
        name: {key: error_json(getattr(side, figure)) for figure, key in CLOSENESS.items()}
        for name, side in sides.items()
    }


def _quality(content: Mapping[str, Any]) -> Quality:
    before, after = (
        Closeness(**{figure: _parsed(content[name][key]) for figure, key in CLOSENESS.items()})
        for name in ("before", "after")
    )
    return Quality(before, after)


def _lists(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _list(value) for name, value in values.items()}


def _list(value: Any) -> Any:
    return [_list(v) for v in value] if isinstance(value, tuple) else value


def _without(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in set(names)}
