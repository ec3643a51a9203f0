"""Judges claims: by the recorded reports, by one report, or by runs made here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from gpu_ops.errors import ParamError
from gpu_ops.explaining.law_counts import recorded_steps
from gpu_ops.filters import FILTERS
from gpu_ops.io import sample
from gpu_ops.report.files import read_report
from gpu_ops.report.kernel_age import has_older_kernels
from gpu_ops.report.machines import machine_parts
from gpu_ops.report.provenance import machine
from gpu_ops.report.rows import Report, Row
from gpu_ops.run_key import items_of
from gpu_ops.running.runner import default_picks, run_experiment
from gpu_ops.types import SOURCE_TITLES, Claim, Error, Experiment, Filter, Pick, Run, Work

RECORDED = Path(__file__).resolve().parent.parent.parent / "resources" / "recorded"


@dataclass(frozen=True)
class Judgement:
    """A claim with its result, whether it is true (None: undecided), where the runs come from, and their machine, ""
    without one."""

    claim: Claim
    result: str
    holds: bool | None
    where: str
    machine: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The judgement as `kernelscope claims --json` writes it; times in seconds."""
        return {
            "id": self.claim.id,
            "source": self.claim.source,
            "source_title": SOURCE_TITLES[self.claim.source],
            "claim": self.claim.text,
            "published": self.claim.published,
            "prediction": self.claim.prediction,
            "basis": self.claim.basis,
            "found": self.result,
            "holds": self.holds,
            "where": self.where,
            "machine": self.machine,
            "figures_s": dict(self.claim.figures),
        }


def recorded_reports() -> dict[str, Report]:
    """Reports shipped with the product, by file name. Each is read once, and again when it changes; the returned
    reports are shared and must not be modified."""
    return {path.name: _recorded(path, path.stat().st_mtime_ns) for path in sorted(RECORDED.glob("*.json"))}


@lru_cache(maxsize=256)
def _recorded(path: Path, changed: int) -> Report:
    """The report in a file; `changed` is the file's modification time, for the cache."""
    return read_report(path)


def judge_by_reports(claims: Iterable[Claim], reports: Mapping[str, Report]) -> list[Judgement]:
    """Judge each claim by a report that decides it; of several, the one with the most runs of its experiment counts.
    Counted claims need no report."""
    return [_judge(claim, reports) for claim in claims]


def _judge(claim: Claim, reports: Mapping[str, Report]) -> Judgement:
    if "laws" in claim.experiment:
        return Judgement(claim, *claim.judge(recorded_steps()), "counted on a simulated GPU")
    best = Judgement(claim, *claim.judge({}), "counted" if claim.basis == "counted" else "not measured yet")
    most = (False, 0)
    for name, report in reports.items() if claim.basis == "measured" else ():
        rows = matching_rows(claim, report.rows)
        result, holds = claim.judge({r.variant: run_of(r) for r in rows})
        if (holds is not None, len(rows)) > most:
            most = (holds is not None, len(rows))
            own = machine_parts(report.provenance)
            best = Judgement(claim, result, holds, f"recorded: {own} ({name})", own)
    return best


def judge_by_measurement(filters: Sequence[Filter], devices: Sequence[str]) -> list[Judgement]:
    """Judge each claim by runs made now on this machine; claims with the same experiment share its runs."""
    runs: dict[str, dict[str, Run]] = {}
    judgements, here = [], machine_parts(machine(devices, with_roofs=False))
    for filter in filters:
        counted: dict[tuple[str, int, int], int] = {}
        for claim in filter.claims:
            if "laws" in claim.experiment:
                from gpu_ops.explaining.laws import count_laws  # imports the simulated GPU

                counted = counted or count_laws([filter])
                judgements.append(Judgement(claim, *claim.judge(counted), "counted on a simulated GPU"))
                continue
            key = json.dumps(claim.experiment, sort_keys=True)
            if claim.basis == "measured" and key not in runs:
                runs[key] = _run(filter, claim, devices)
            by_rule = claim.basis == "counted"
            where = "counted" if by_rule else f"measured here on {', '.join(devices)}"
            judgements.append(Judgement(claim, *claim.judge(runs.get(key, {})), where, "" if by_rule else here))
    return judgements


def _run(filter: Filter, claim: Claim, devices: Sequence[str]) -> dict[str, Run]:
    options = dict(claim.experiment["sample"])
    input = sample(options.pop("id"), **options)
    picks = [replace(p, knobs=_knobs(filter, p.variant, claim)) for p in default_picks(filter, devices)]
    experiment = Experiment(filter.id, input, claim.experiment["params"], tuple(picks), protocol="careful")
    return {run.pick.variant: run for run in run_experiment(experiment)}


def _knobs(filter: Filter, variant: str, claim: Claim) -> dict[str, Any]:
    """A variant's knobs: the claim's value where the variant has the knob and accepts the value, else the default."""
    values, knobs = claim.experiment["knobs"], {}
    for knob in filter.variant(variant).knobs:
        try:
            knobs[knob.name] = knob.check(values.get(knob.name, knob.default))
        except ParamError:
            knobs[knob.name] = knob.default
    return knobs


def matching_rows(claim: Claim, rows: Iterable[Row]) -> list[Row]:
    """The rows of the claim's experiment, each with the claim's knobs as far as its variant has them; a row without
    knobs matches any. Of several rows of a variant on one device the first counts; rows of edited kernels do not, nor
    those of kernels that have changed since."""
    experiment = claim.experiment
    filter = FILTERS.find(experiment["filter"])
    ids = {v.id for v in filter.variants}
    sample_options = experiment["sample"]

    def matches(r: Row) -> bool:
        same_input = r.input.get("generator") == sample_options["id"] and all(
            r.input.get(k) == v for k, v in sample_options.items() if k != "id"
        )
        if (
            r.filter != experiment["filter"]
            or r.key.param_items != items_of(experiment["params"])
            or r.variant not in ids
        ):
            return False
        knobs = _knobs(filter, r.variant, claim)
        current_variants = not r.edits and not has_older_kernels(r)
        return bool(same_input and r.ok and current_variants and all(knobs.get(k) == v for k, v in r.knobs.items()))

    first: dict[tuple[str, str], Row] = {}
    for r in rows:
        if matches(r):
            first.setdefault((r.variant, r.device), r)
    return list(first.values())


def run_of(r: Row) -> Run:
    """A run from a report's row, without its outputs."""
    errors = {}
    if r.error_max is not None and r.tolerance is not None:
        errors = {"output": Error(r.error_max, 0.0, (), 1.0, r.tolerance)}
    return Run(
        pick=Pick(r.variant, r.device, r.knobs),
        filter=r.filter,
        params=r.params,
        shape=r.shape,
        dtype=r.dtype,
        stage="timed",
        outputs={},
        work=Work(0, r.bytes, 0),
        errors=errors,
        ok=r.ok,
        timings=r.stages,
        source_hash=r.source_hash,
    )
