"""run, bench and sweep: experiments from flags, runs to tables and reports."""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gpu_ops.cli import bands, frames, occupied, outputs, streams, tables
from gpu_ops.cli.inputs import check_flags, flag_values, knobs_of, make_experiment, make_job, read_input, read_kernel
from gpu_ops.cli.limits import within_limits
from gpu_ops.device_names import is_simulated
from gpu_ops.devices import device_statuses, open_device
from gpu_ops.devices.offline import OfflineDevice
from gpu_ops.errors import ParamError, ReportError, shortened
from gpu_ops.filters import find_filter
from gpu_ops.io.steps import title_of
from gpu_ops.measuring.contract import SIMULATED_WORK, check_case, covering_cases
from gpu_ops.measuring.declared import make_plan
from gpu_ops.measuring.file_lock import locked
from gpu_ops.measuring.machines import same_machine
from gpu_ops.measuring.provenance import machine
from gpu_ops.measuring.report import read_report, row, target_of, write_report
from gpu_ops.measuring.rows import Report, Row, report_json
from gpu_ops.measuring.runner import default_picks, planned_run, run_experiment
from gpu_ops.measuring.standing import with_speedups
from gpu_ops.measuring.verify import full_meta
from gpu_ops.run_key import RunKey, items_of
from gpu_ops.task import Task
from gpu_ops.types import Claim, Experiment, Filter, Pick, Run, Variant

FINE, BAD_INPUT, WRONG, UNAVAILABLE = 0, 2, 3, 4
MANY = 5
"""From so many names on their number is told."""
FAILURE_CODES = {"unsupported": BAD_INPUT, "kernel": BAD_INPUT, "memory": UNAVAILABLE}


def run(args: argparse.Namespace) -> int:
    """Run a filter once per variant, verify, print the errors and save one result."""
    frames.check_frames(args)
    if args.kernel is not None:
        return _run_kernel(args)
    source = bands.source_of(args)
    if source is not None:
        return bands.run_over(args, source)
    experiment = make_experiment(args, protocol="none", memory=bands.device_bytes(args))
    filter = find_filter(experiment.filter, experiment.input.kind)
    if not args.variant:
        experiment = replace(experiment, picks=one_each(filter, experiment))
    targets = outputs.targets(filter, experiment.params, args.output)
    if args.frames is not None:
        return frames.run_over(args, experiment, targets)
    runs = last_runs(run_experiment(experiment))
    outputs.save_all(targets, runs, experiment, outputs.saving_of(args))
    rows = [row(r, experiment) for r in runs]
    _print_runs(args, experiment, rows, outputs.describe(runs))
    return _exit_code(rows, explicit=bool(args.variant))


def one_each(filter: Filter, experiment: Experiment) -> tuple[Pick, ...]:
    """For each device the last of the filter's own variants that supports the input: the top of the ladder there."""
    best: dict[str, Pick] = {}
    for pick in experiment.picks:
        variant = filter.variant(pick.variant)
        limits = open_device(pick.device).limits
        defaults = {p.name: p.default for p in filter.params}
        knobs = {**{k.name: k.default for k in variant.knobs}, **pick.knobs}
        task = Task.of(full_meta(experiment.input), {**defaults, **experiment.params}, knobs, limits)
        if variant.library or variant.refusal(task):
            continue
        best[pick.device] = pick
    return tuple(best.values())


def last_runs(runs: Iterable[Run]) -> list[Run]:
    """The last run of each pick, in the order of their first runs."""
    last: dict[RunKey, Run] = {}
    for one in runs:
        last[one.key] = one
    return list(last.values())


def _print_runs(args: argparse.Namespace, experiment: Experiment, rows: Sequence[Row], description: str) -> None:
    if args.json:
        devices = list(dict.fromkeys(p.device for p in experiment.picks))
        emit(args.json, Report(machine(devices, with_roofs=False), tuple(rows)).to_json())
    if args.json == "-":
        return
    print(_title(experiment))
    heading = ["variant", "device", "largest error", "allowed", "verdict"]
    lines = [heading]
    for name, r in zip(tables.names(rows), rows, strict=True):
        allowed = "" if r.tolerance is None else f"{r.tolerance:.2g}"
        lines.append([name, r.device, tables.error_text(r), allowed, tables.verdict(r)])
    print(tables.align(lines, frozenset({2, 3})))
    for text in (tables.footnotes(rows), tables.quality_table(rows), description):
        if text:
            print(text)
    print("Errors are relative to the largest magnitude in the input and the reference; of integers, to their range.")


def _title(experiment: Experiment) -> str:
    shape = " x ".join(map(str, experiment.input.array.shape))
    knobs = {k: v for pick in experiment.picks for k, v in pick.knobs.items()}
    values = ", ".join(f"{k} {v}" for k, v in {**experiment.params, **knobs}.items())
    what = f"{experiment.filter} of {title_of(experiment.input)}, {shape} {experiment.input.array.dtype.name}"
    return f"{what}; {values}" if values else what


def _exit_code(rows: Sequence[Row], explicit: bool) -> int:
    """A wrong result counts most. An unsupported task is an error only where a person names the variant
    (`explicit`)."""
    if any(r.ok is False for r in rows):
        return WRONG
    kinds = [r.failure_kind for r in rows if r.failure_kind]
    return max((FAILURE_CODES[kind] for kind in kinds if explicit or kind != "unsupported"), default=FINE)


def _run_kernel(args: argparse.Namespace) -> int:
    """Compile a user's kernel in a variant's place, check its launch, and test it with the filter's whole contract."""
    for name in ("variant", "device"):
        if len(set(getattr(args, name))) > 1:
            raise ParamError(f"--kernel takes the place of one variant on one device; give --{name} one name.")
    input, filter, values, params = make_job(args)
    variant = _variant_to_replace(filter, args.variant)
    check_flags(args, filter, [variant])
    edits = {variant.kernels[0]: read_kernel(args.kernel)}
    pick = Pick(variant.id, "cpu", knobs_of(variant, values), edits)  # checked before a device is opened
    experiment = Experiment(filter.id, input, params, (pick,), protocol="none")
    with within_limits(args, f"compiling {args.kernel}"):
        _check_offline(filter, variant, experiment)
    has_gpu = any(s.kind == "cuda" and s.available for s in device_statuses())
    device = args.device[0] if args.device else "cuda:0" if has_gpu else "sim"
    limits = open_device(device).limits
    cases = covering_cases(filter, variant, limits, most_work=SIMULATED_WORK if is_simulated(device) else None)
    wrong: list[str] = []
    count = 0
    for count, case in enumerate(cases, start=1):
        with within_limits(args, f"case {count} of {len(cases)} on {device} ({case})") as limit:
            result = check_case(filter, variant, case, device, edits)
        if limit.reached:  # the next cases would take too long as well
            wrong.append(f"{case}: {result.failure or _why_wrong(result)}")
            break
        if result.failure:
            wrong.append(f"{case}: {result.failure}")
        elif not result.ok:
            wrong.append(f"{case}: {_why_wrong(result)}")
    right = f"{count - len(wrong)} of {count} cases right"
    right += f"; {len(cases) - count} more did not run" if count < len(cases) else ""
    print(f"{args.kernel} in the place of {filter.id} {variant.id} on {device}: {right}")
    for text in wrong[:10]:
        print(f"  {shortened(text)}")
    if wrong:
        return WRONG
    final = replace(experiment, picks=(replace(pick, device=device),), memory=bands.device_bytes(args))
    with within_limits(args, f"{experiment.input.name} on {device}"):
        runs = last_runs(run_experiment(final))
    outputs.save_all(outputs.targets(filter, final.params, args.output), runs, final, outputs.saving_of(args))
    rows = [row(r, final) for r in runs]
    _print_runs(args, final, rows, outputs.describe(runs))
    return _exit_code(rows, explicit=True)


def _why_wrong(result: Run) -> str:
    """The first fault that a simulated GPU saw, or the error of the result."""
    if result.findings:
        return str(result.findings[0])
    worst = max(result.errors.values(), key=lambda e: e.relative)
    if worst.ok:
        return "; ".join(result.notes)
    return f"error {worst.relative:.2g} at {worst.worst}, allowed {worst.tolerance:.2g}"


def _variant_to_replace(filter: Filter, names: Sequence[str]) -> Variant:
    """The variant whose first kernel file is replaced: the one of --variant, or the first one with a kernel."""
    with_kernels = [v for v in filter.variants if v.kernels]
    variant = filter.variant(names[0]) if names else with_kernels[0]
    if not variant.kernels:
        choices = ", ".join(v.id for v in with_kernels)
        raise ParamError(f"{variant.id} has no kernel to replace; name one of {choices} with --variant.")
    return variant


def _check_offline(filter: Filter, variant: Variant, experiment: Experiment) -> None:
    """Check name, arguments, block and compilation, which needs no GPU. Raises ParamError for an input or parameters
    that the variant does not take."""
    (pick,) = experiment.picks
    device = OfflineDevice("sm_75", pick.edits)
    params = {**{p.name: p.default for p in filter.params}, **experiment.params}
    knobs = {**{k.name: k.default for k in variant.knobs}, **pick.knobs}
    if reason := variant.refusal(Task.of(experiment.input.meta, params, knobs)):  # whatever the device's limits are
        raise ParamError(f"{filter.id} {variant.id} does not take {title_of(experiment.input)}: {reason}.")
    task = Task.of(experiment.input.meta, params, knobs, device.limits)
    device.check(make_plan(filter, variant, device, task.on(experiment.input.array)))


@dataclass
class _Bench:
    """The rows so far, written to the report after every new one."""

    args: argparse.Namespace
    provenance: dict[str, Any]
    rows: list[Row] = field(default_factory=list)
    deadline: float | None = None
    occupancy: list[dict[str, Any]] = field(default_factory=list)

    def write(self) -> None:
        if self.args.json and self.args.json != "-":
            write_report(self.args.json, self.content())

    def content(self) -> dict[str, Any]:
        content = Report(self.provenance, tuple(with_speedups(self.rows, self.args.baseline))).to_json()
        return content | ({"occupancy": self.occupancy} if self.occupancy else {})

    def measure(self, experiment: Experiment) -> list[Row]:
        """The rows of one experiment: those that the report has already, and new ones for the rest."""
        done = {r.measurement for r in self.rows}
        measurements = [_measurement_of(experiment, pick) for pick in experiment.picks]
        picks = dict(zip(measurements, experiment.picks, strict=True))
        missing = [pick for measurement, pick in picks.items() if measurement not in done]
        if missing:
            for one in run_experiment(replace(experiment, picks=tuple(missing)), self.deadline):
                if one.stage == "timed" or one.failure or one.ok is False:
                    self.rows.append(row(one, experiment))
                    self.write()
        by_measurement = {r.measurement: r for r in with_speedups(self.rows, self.args.baseline)}
        return [by_measurement[measurement] for measurement in measurements if measurement in by_measurement]


def _measurement_of(experiment: Experiment, pick: Pick) -> Hashable:
    """The identity of a row's measurement before it is measured, from the same code as the row's own."""
    return Row.of(planned_run(experiment, pick), experiment).measurement


def bench(args: argparse.Namespace) -> int:
    """Time every variant of one filter on one input."""
    experiment = _bench_experiment(args, {})
    return _measure(args, [experiment], explicit=bool(args.variant))


def sweep(args: argparse.Namespace) -> int:
    """Time every variant over the product of the values of --over, with the occupancy of its kernels beside."""
    axes: dict[str, list[str]] = {}
    flags = {**flag_values(args), **({"dtype": args.dtype} if args.dtype else {})}
    for name, values in map(_axis, args.over):
        if name in axes or name in flags:
            raise ParamError(f"{name} is given twice; give all of its values in one --over {name}=V1,V2,…")
        axes[name] = values
    points = [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
    found = occupied.places(args, points)
    if found and not _runs_here(args, axes):
        names = list(dict.fromkeys(p.variant for p in found))
        what = ", ".join(names) if len(names) < MANY else f"any of the {len(names)} variants"
        streams.say(f"Nothing here runs {what}, so there are no times; occupancy needs no GPU.")
        if args.json:
            emit(args.json, report_json(machine([]), ()) | {"occupancy": [p.to_json() for p in found]})
        if args.json != "-":
            print(occupied.tables(found, (), {}))
        return FINE
    return _measure(args, [_bench_experiment(args, point) for point in points], bool(args.variant), found)


def _runs_here(args: argparse.Namespace, axes: Iterable[str]) -> bool:
    """Whether variants run here that take all knobs of a sweep."""
    devices = args.device or [s.name for s in device_statuses() if s.available and s.kind != "sim"]
    filter = find_filter(args.filter, read_input(args).kind)
    picks = default_picks(filter, devices, args.variant)
    knobs = {k.name for v in filter.variants for k in v.knobs}
    return bool(picks) and knobs & set(axes) <= {k.name for p in picks for k in filter.variant(p.variant).knobs}


def _axis(text: str) -> tuple[str, list[str]]:
    name, _, values = text.partition("=")
    items = [v for v in values.split(",") if v]
    if not name or not items:
        raise ParamError(f"--over {text!r} is not NAME=V1,V2,…, such as --over window=3,5,9.")
    return name.replace("-", "_"), items


def _bench_experiment(args: argparse.Namespace, point: dict[str, str]) -> Experiment:
    protocol = "quick" if args.quick else "careful"
    experiment = make_experiment(args, point, protocol=protocol, mode=args.mode)
    find_filter(experiment.filter).variant(args.baseline)  # raises, and names the variants
    return experiment


def _measure(
    args: argparse.Namespace, experiments: Sequence[Experiment], explicit: bool, found: Sequence[occupied.Place] = ()
) -> int:
    """Time all experiments, with the report locked from the first read to the last write."""
    to_file = args.json not in (None, "-")
    with locked(target_of(args.json)) if to_file else nullcontext():
        return _measure_all(args, experiments, explicit, found)


def _measure_all(
    args: argparse.Namespace, experiments: Sequence[Experiment], explicit: bool, found: Sequence[occupied.Place]
) -> int:
    devices = list(dict.fromkeys(p.device for e in experiments for p in e.picks))
    deadline = time.perf_counter() + args.budget if args.budget is not None else None
    earlier = _earlier(args)  # before roofs are measured, which takes seconds
    bench = _resume(args, earlier, machine(devices), deadline)
    bench.occupancy = [place.to_json() for place in found]
    all_rows: list[Row] = []
    complete = True
    for experiment in experiments:
        if deadline is not None and time.perf_counter() >= deadline:
            complete = False
            break
        rows = bench.measure(experiment)
        all_rows += rows
        complete = complete and len(rows) == len(experiment.picks)
        if args.json != "-":
            _print_bench(args, experiment, rows)
    bench.provenance["devices_after"] = {name: open_device(name).describe() for name in devices}
    bench.write()
    if args.json == "-":
        print(json.dumps(bench.content(), indent=1))
    elif found:
        print(f"\n{occupied.tables(found, all_rows, occupied.measured_architectures(args))}")
    if not complete:
        how = (
            f"call again with --json {args.json} to go on"
            if args.json not in (None, "-")
            else "give --json FILE to resume"
        )
        streams.say(f"The budget of {args.budget:g} s ended before every row was measured; {how}.")
    return _exit_code(all_rows, explicit)


def _earlier(args: argparse.Namespace) -> Report | None:
    """The report that the file holds already, if there is one."""
    return read_report(args.json) if args.json not in (None, "-") and Path(args.json).exists() else None


def _resume(
    args: argparse.Namespace, earlier: Report | None, provenance: dict[str, Any], deadline: float | None
) -> _Bench:
    """A bench that goes on with the rows of an earlier report of the same machine, if there is one."""
    bench = _Bench(args, provenance, deadline=deadline)
    if earlier is not None:
        if not same_machine(earlier.provenance, provenance):
            raise ReportError(f"{args.json} was measured on another machine; choose another file for --json.")
        bench.rows = list(earlier.rows)
        history = [*earlier.provenance.get("earlier", []), _short(earlier.provenance)]
        bench.provenance = {**provenance, "earlier": history}
    return bench


def _short(provenance: Mapping[str, Any]) -> dict[str, Any]:
    return {k: provenance.get(k) for k in ("time", "commit", "clean", "source_tree")}


def _print_bench(args: argparse.Namespace, experiment: Experiment, rows: Sequence[Row]) -> None:
    filter = find_filter(experiment.filter, experiment.input.kind)
    print(f"\n{_title(experiment)}; {experiment.mode} timing")
    print(tables.bench_table(rows, _claim_for(filter, rows), args.baseline))
    bars = tables.fair_table(rows)
    print(f"\nFive bars\n{bars}" if bars else "", end="\n" if bars else "")
    notes = tables.footnotes(rows)
    print(f"\n{notes}" if notes else "", end="\n" if notes else "")


def _claim_for(filter: Filter, rows: Sequence[Row]) -> Claim | None:
    """The claim with published figures whose experiment this is."""
    for claim in filter.claims:
        if not claim.figures:
            continue
        sample = claim.experiment["sample"]
        alike = [
            r
            for r in rows
            if r.key.param_items == items_of(claim.experiment["params"])
            and r.dtype == sample.get("dtype")
            and r.shape == (sample.get("length"),)
        ]
        if alike:
            return claim
    return None


def emit(target: str, content: dict[str, Any]) -> None:
    """JSON to standard output or, in one step, to a file."""
    if target == "-":
        print(json.dumps(content, indent=1))
    else:
        with locked(target_of(target)):
            write_report(target, content)
