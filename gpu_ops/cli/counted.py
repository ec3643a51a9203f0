"""A sweep on a simulated GPU: counters over sizes, parameters and knobs, with no time and no GPU."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

from gpu_ops.cli import tables
from gpu_ops.cli.inputs import make_experiment
from gpu_ops.cli.measure import emit, exit_code, job_title
from gpu_ops.counters import CATALOGUE, counter_name, value_of
from gpu_ops.errors import ParamError, plain
from gpu_ops.filters import FILTERS
from gpu_ops.params import nearest
from gpu_ops.report.files import row
from gpu_ops.report.provenance import machine
from gpu_ops.report.rows import Report, Row
from gpu_ops.report.sweeps import counts_of, swept_counters
from gpu_ops.running.runner import last_runs, run_experiment

Point = Mapping[str, str]


def sweep(args: argparse.Namespace, points: Sequence[Point]) -> int:
    """Run the kernels at every point on a simulated GPU, and print a table for each counter. Results are verified.
    Raises ParamError for an unknown counter."""
    _check(args.counter)
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
            table = _table(id, points, rows)
            print(f"\n{counter_name(id)}\n{table}" if table else f"\n{counter_name(id)}: none")
        notes = tables.footnotes(found)
        print(f"\n{notes}" if notes else "", end="\n" if notes else "")
    return exit_code(found, explicit=bool(args.variant))


def _check(ids: Sequence[str]) -> None:
    known = [counter.id for counter in CATALOGUE]
    for id in ids:
        if id not in known:
            raise ParamError(
                f"--counter {plain(id, 60)!r} is no counter{nearest(id, known)}; choose from {', '.join(known)}."
            )


def _table(id: str, points: Sequence[Point], rows: Mapping[int, Sequence[Row]]) -> str:
    """The values of a counter: a line for each point, a column for each variant and device; "" where it has none."""
    columns = list(dict.fromkeys((one.variant, one.device) for own in rows.values() for one in own))
    several = len({device for _, device in columns}) > 1
    names = [f"{variant} on {device}" if several else variant for variant, device in columns]
    axes = list(points[0])
    lines = [[*axes, *names]]
    for place, point in enumerate(points):
        values = {(one.variant, one.device): _value(id, one) for one in rows[place]}
        lines.append([*(point[axis] for axis in axes), *(values.get(column, "") for column in columns)])
    filled = any(cell for line in lines[1:] for cell in line[len(axes) :])
    return tables.align_filled(lines, {*axes, *names}) if filled else ""


def _value(id: str, row: Row) -> str:
    """A count of a right result; a wrong one's work is not compared."""
    if row.ok is False or row.failure:
        return tables.verdict(row)
    value = value_of(id, counts_of(row))
    hint = next(counter.hint for counter in CATALOGUE if counter.id == id)
    return "" if value is None else tables.value_text(value, hint)
