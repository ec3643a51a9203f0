"""bench and sweep: variants timed over one input or many, with a report that grows and resumes."""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from gpu_ops.batch.choosing import devices_of
from gpu_ops.batch.file_lock import locked
from gpu_ops.cli import occupied, parts, streams, tables
from gpu_ops.cli.inputs import current_ids, flag_values, make_experiment, read_input
from gpu_ops.cli.measure import emit, exit_code, job_title, title
from gpu_ops.cli.remote.flags import destination
from gpu_ops.counters import CATALOGUE, counter_name
from gpu_ops.device_names import is_simulated
from gpu_ops.devices import open_device
from gpu_ops.errors import FINE, ParamError, ReportError, plain
from gpu_ops.filters import FILTERS
from gpu_ops.params import nearest
from gpu_ops.report.files import read_report, row, target_of, write_report
from gpu_ops.report.machines import same_machine
from gpu_ops.report.provenance import machine
from gpu_ops.report.rows import Report, Row, report_json
from gpu_ops.report.speedups import with_speedups
from gpu_ops.report.sweeps import swept_counters
from gpu_ops.run_key import items_of
from gpu_ops.running.precompile import compile_ahead
from gpu_ops.running.runner import default_picks, last_runs, planned_run, run_experiment
from gpu_ops.types import Claim, Experiment, Filter, Pick

MANY = 5
"""From so many names on, only their number is printed."""


class Place(Protocol):
    """Where rows are measured. `found` is what is known of it since `provenance`, {} where that was all."""

    found: Mapping[str, Any]

    def experiment(self, point: Mapping[str, str]) -> Experiment: ...

    def provenance(self, devices: Sequence[str]) -> dict[str, Any]: ...

    def prepare(self, work: Iterable[tuple[Experiment, Sequence[Pick]]]) -> None: ...

    def rows(self, experiment: Experiment, deadline: float | None) -> Iterable[Row]: ...

    def after(self, devices: Sequence[str]) -> dict[str, Any]: ...


class TimedHere:
    """This machine."""

    found: Mapping[str, Any] = {}

    def __init__(self, args: argparse.Namespace) -> None:
        self._args = args

    def experiment(self, point: Mapping[str, str]) -> Experiment:
        """The experiment of one point of a sweep, with every value checked."""
        args, protocol = self._args, "quick" if self._args.quick else "careful"
        experiment = make_experiment(args, point, protocol=protocol, mode=args.mode, memory=parts.device_bytes(args))
        filter = FILTERS.find(experiment.filter)
        (args.baseline,) = current_ids(args, filter, [args.baseline], experiment.input.meta, experiment.params)
        filter.variant(args.baseline)  # raises, and names the variants
        return experiment

    def provenance(self, devices: Sequence[str]) -> dict[str, Any]:
        """The machine, with the roofs of its devices, which takes seconds."""
        return machine(devices)

    def prepare(self, work: Iterable[tuple[Experiment, Sequence[Pick]]]) -> None:
        """Compile the kernels of all, several at once."""
        compile_ahead(work)

    def rows(self, experiment: Experiment, deadline: float | None) -> Iterator[Row]:
        """The row of each pick once it is timed, or has failed, until the deadline by time.perf_counter."""
        for one in run_experiment(experiment, deadline):
            if one.stage == "timed" or one.failure or one.ok is False:
                yield row(one, experiment)

    def after(self, devices: Sequence[str]) -> dict[str, Any]:
        """The state of the devices now."""
        return {name: open_device(name).describe() for name in devices}


@dataclass
class _Bench:
    """The rows so far, written to the report after every new one."""

    args: argparse.Namespace
    place: Place
    provenance: dict[str, Any]
    rows: list[Row] = field(default_factory=list)
    deadline: float | None = None
    occupancy: list[Mapping[str, Any]] = field(default_factory=list)

    def write(self) -> None:
        if self.args.json and self.args.json != "-":
            write_report(self.args.json, self.content())

    def content(self) -> dict[str, Any]:
        rows = tuple(with_speedups(self.rows, self.args.baseline))
        return Report(self.provenance, rows, tuple(self.occupancy)).to_json()

    def roofs(self) -> dict[str, Mapping[str, float]]:
        """The roofs of each device by their names in a report."""
        return {name: found["roofs"] for name, found in self.provenance["devices"].items() if "roofs" in found}

    def missing(self, experiment: Experiment) -> tuple[Pick, ...]:
        """The picks of an experiment whose rows the report does not have yet."""
        done = {r.measurement for r in self.rows}
        picks = {_measurement_of(experiment, pick): pick for pick in experiment.picks}
        return tuple(pick for measurement, pick in picks.items() if measurement not in done)

    def measure(self, experiment: Experiment) -> list[Row]:
        """The rows of one experiment: those in the report already, and new ones for the rest."""
        if missing := self.missing(experiment):
            for new in self.place.rows(replace(experiment, picks=missing), self.deadline):
                if found := self.place.found:
                    _check_same(self.args, self.provenance, found)
                    devices = {**self.provenance["devices"], **found["devices"]}
                    self.provenance = {**self.provenance, **found, "devices": devices}
                self.rows.append(new)
                self.write()
        measurements = [_measurement_of(experiment, pick) for pick in experiment.picks]
        by_measurement = {r.measurement: r for r in with_speedups(self.rows, self.args.baseline)}
        return [by_measurement[measurement] for measurement in measurements if measurement in by_measurement]


def _measurement_of(experiment: Experiment, pick: Pick) -> Hashable:
    """The identity of a row's measurement before it is measured, from the same code as that of the row."""
    return Row.of(planned_run(experiment, pick), experiment).measurement


def bench(args: argparse.Namespace) -> int:
    """Time every variant of one filter on one input."""
    with _place(args) as place:
        return _measure(args, place, [place.experiment({})], explicit=bool(args.variant))


@contextmanager
def _place(args: argparse.Namespace) -> Iterator[Place]:
    """The machine that the flags name."""
    if (to := destination(args)) is None:
        yield TimedHere(args)
        return
    from gpu_ops.cli.remote.timing import TimedThere
    from gpu_ops.remote.talk import Talk

    with Talk(to, streams.rewrite) as talk:
        yield TimedThere(args, talk)


def sweep(args: argparse.Namespace) -> int:
    """Time every variant over the product of the values of --over, with the occupancy of its kernels; on a
    simulated GPU count its work instead."""
    axes: dict[str, list[str]] = {}
    flags = {**flag_values(args), **({"dtype": args.dtype} if args.dtype else {})}
    for name, values in map(axis_of, args.over):
        if name in axes or name in flags:
            raise ParamError(f"{name} is given twice; give all of its values in one --over {name}=V1,V2,…")
        axes[name] = values
    points = [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
    if destination(args) is not None:
        with _place(args) as place:
            return _measure(args, place, [place.experiment(point) for point in points], bool(args.variant))
    if args.device and all(map(is_simulated, args.device)):
        return _sweep_counts(args, points)
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
    place = TimedHere(args)
    return _measure(args, place, [place.experiment(point) for point in points], bool(args.variant), found)


def _sweep_counts(args: argparse.Namespace, points: Sequence[Mapping[str, str]]) -> int:
    """Run the kernels at every point on a simulated GPU, and print a table for each counter. Results are verified.
    Raises ParamError for an unknown counter."""
    _check_counters(args.counter)
    for flag, default in (("mode", "stream"), ("quick", False), ("budget", None)):
        if getattr(args, flag) != default:
            raise ParamError(f"A simulated GPU counts and has no times; leave out --{flag}.")
    rows: dict[int, list[Row]] = {}
    for place, point in enumerate(points):
        experiment = make_experiment(args, point, protocol="none", checks="sample")
        runs = last_runs(run_experiment(experiment, again=False))
        rows[place] = [row(run, experiment, with_roofs=False) for run in runs]
    found = [one for own in rows.values() for one in own]
    if args.json:
        devices = list(dict.fromkeys(one.device for one in found))
        emit(args.json, Report(machine(devices, with_roofs=False), tuple(found)).to_json())
    if args.json != "-":
        filter = FILTERS.find(experiment.filter, experiment.input.kind)
        print(job_title(filter.id, experiment.input.name, {}), "– counted by a simulated GPU, which has no times")
        for id in args.counter or swept_counters(filter):
            table = tables.sweep_table(id, points, rows)
            print(f"\n{counter_name(id)}\n{table}" if table else f"\n{counter_name(id)}: none")
        notes = tables.footnotes(found)
        print(f"\n{notes}" if notes else "", end="\n" if notes else "")
    return exit_code(found, explicit=bool(args.variant))


def _check_counters(ids: Sequence[str]) -> None:
    known = [counter.id for counter in CATALOGUE]
    for id in ids:
        if id not in known:
            raise ParamError(
                f"--counter {plain(id, 60)!r} is no counter{nearest(id, known)}; choose from {', '.join(known)}."
            )


def _runs_here(args: argparse.Namespace, axes: Iterable[str]) -> bool:
    """Whether any variant that has all knobs of a sweep can run here."""
    devices = devices_of(args.device)
    filter = FILTERS.find(args.filter, read_input(args).kind)
    picks = default_picks(filter, devices, args.variant)
    knobs = {k.name for v in filter.variants for k in v.knobs}
    return bool(picks) and knobs & set(axes) <= {k.name for p in picks for k in filter.variant(p.variant).knobs}


def axis_of(text: str) -> tuple[str, list[str]]:
    """The name and the values of --over. Raises ParamError."""
    name, _, values = text.partition("=")
    items = [v for v in values.split(",") if v]
    if not name or not items:
        raise ParamError(f"--over {plain(text, 60)!r} is not NAME=V1,V2,…, such as --over window=3,5,9.")
    return name.replace("-", "_"), items


def _measure(
    args: argparse.Namespace,
    place: Place,
    experiments: Sequence[Experiment],
    explicit: bool,
    found: Sequence[occupied.Place] = (),
) -> int:
    """Time all experiments; the report is locked from the first read to the last write."""
    to_file = args.json not in (None, "-")
    with locked(target_of(args.json)) if to_file else nullcontext():
        return _measure_all(args, place, experiments, explicit, found)


def _measure_all(
    args: argparse.Namespace,
    place: Place,
    experiments: Sequence[Experiment],
    explicit: bool,
    found: Sequence[occupied.Place],
) -> int:
    devices = list(dict.fromkeys(p.device for e in experiments for p in e.picks))
    deadline = time.perf_counter() + args.budget if args.budget is not None else None
    earlier = _earlier(args)  # before roofs are measured, which takes seconds
    bench = _resume(_Bench(args, place, place.provenance(devices), deadline=deadline), earlier)
    places = [one.to_json() for one in found]
    bench.occupancy += [one for one in places if one not in bench.occupancy]
    all_rows: list[Row] = []
    complete = True
    if deadline is None:
        place.prepare((experiment, bench.missing(experiment)) for experiment in experiments)
    for experiment in experiments:
        if deadline is not None:
            if time.perf_counter() >= deadline:
                complete = False
                break
            place.prepare([(experiment, bench.missing(experiment))])  # rows before further kernels: this continues them
        rows = bench.measure(experiment)
        all_rows += rows
        complete = complete and len(rows) == len(experiment.picks)
        if args.json != "-" and rows:
            _print_bench(args, experiment, rows)
    if args.json != "-" and (roofs := bench.roofs()):
        print(f"\n{tables.roofs_block(roofs)}")
    if states := place.after(devices):
        bench.provenance["devices_after"] = states
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
    return exit_code(all_rows, explicit)


def _earlier(args: argparse.Namespace) -> Report | None:
    """The report that the file contains already, if any."""
    return read_report(args.json) if args.json not in (None, "-") and Path(args.json).exists() else None


def _resume(bench: _Bench, earlier: Report | None) -> _Bench:
    """A bench that continues the rows of an earlier report of the same machine, if there is one."""
    if earlier is not None:
        _check_same(bench.args, earlier.provenance, bench.provenance)
        bench.rows, bench.occupancy = list(earlier.rows), list(earlier.occupancy)
        history = list(earlier.provenance.get("earlier", []))
        history += [_short(earlier.provenance)] if earlier.rows else []  # else it was stopped before any
        whole = "cpu" in bench.provenance  # of another machine it comes with the first row
        bench.provenance = {**(bench.provenance if whole else earlier.provenance), "earlier": history}
    return bench


def _check_same(args: argparse.Namespace, earlier: Mapping[str, Any], provenance: Mapping[str, Any]) -> None:
    """Raises ReportError where rows of two machines would be in one report."""
    if not same_machine(earlier, provenance):
        raise ReportError(f"{args.json} was measured on another machine; choose another file for --json.")


def _short(provenance: Mapping[str, Any]) -> dict[str, Any]:
    return {k: provenance.get(k) for k in ("time", "commit", "clean", "source_tree")}


def _print_bench(args: argparse.Namespace, experiment: Experiment, rows: Sequence[Row]) -> None:
    filter = FILTERS.find(experiment.filter, experiment.input.kind)
    timing = "end to end by the wall clock" if filter.end_to_end else f"{experiment.mode} timing"
    print(f"\n{title(experiment)}; {timing}")
    print(tables.bench_table(rows, _claim_for(filter, rows), args.baseline))
    bars = tables.fair_table(rows)
    print(f"\nThe fair comparison\n{bars}" if bars else "", end="\n" if bars else "")
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
