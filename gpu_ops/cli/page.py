"""report: one HTML file about a filter on an input – pictures, times, counts, kernels, claims – or about a report."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gpu_ops.cli.inputs import current_ids, make_experiment
from gpu_ops.cli.measure import exit_code, title
from gpu_ops.device_names import is_simulated
from gpu_ops.errors import FINE, KernelscopeError, ParamError, counted, plain
from gpu_ops.explaining.comparison import sentences_json
from gpu_ops.explaining.judging import judge_by_reports, recorded_reports
from gpu_ops.explaining.page import Page, Picture, drawn_picture
from gpu_ops.explaining.page_kernels import Kernel, counted_kernels
from gpu_ops.explaining.page_predicted import Rung, predicted_picture
from gpu_ops.explaining.page_rows import PageRow, RowsOnPage
from gpu_ops.explaining.prediction.counting import count_launches
from gpu_ops.explaining.prediction.gpus import find_gpu
from gpu_ops.explaining.prediction.recorded import recorded_seconds
from gpu_ops.explaining.sentences import explain
from gpu_ops.explaining.xray import as_dict, xray
from gpu_ops.filters import FILTERS
from gpu_ops.html import drawn, drawn_output
from gpu_ops.io.steps.apply import title_of
from gpu_ops.params import check_values
from gpu_ops.report.about import about_rows
from gpu_ops.report.changes import pairs
from gpu_ops.report.files import read_report, row
from gpu_ops.report.machines import machine_name, machine_parts
from gpu_ops.report.provenance import machine
from gpu_ops.report.rows import Report, Row
from gpu_ops.running.affordable import affordable, cut_note, part_spans
from gpu_ops.running.runner import default_picks, last_runs, run_experiment
from gpu_ops.running.verify import full_meta
from gpu_ops.types import Experiment, Filter, Input, Run

PAGES = (".html", ".htm")
MOST_KERNELS = 6
"""The most variants whose kernels a report shows by itself."""
MOST_PICTURES = 8


def report(args: argparse.Namespace) -> int:
    """Write the file that --output names."""
    if Path(args.output).suffix.lower() not in PAGES:
        raise ParamError(f"--output {plain(args.output, 60)} must end in {' or '.join(PAGES)}, such as handout.html.")
    for name in args.predict:
        find_gpu(name)  # raises before anything runs
    if args.report is not None:
        page, code = _of_report(args), FINE
    else:
        page, code = _of_filter(args)
    page.write(args.output)
    print(f"{plain(args.output)}: {counted(Path(args.output).stat().st_size >> 10, 'KiB', 'KiB')}")
    return code


# ---------------------------------------------------------------- a report that there is


def _of_report(args: argparse.Namespace) -> Page:
    """The page of the rows of a report, compared with those of an earlier one."""
    if args.filter is not None:
        raise ParamError("--report shows the rows of a report, and a filter is run anew; leave one of the two out.")
    if args.predict:
        raise ParamError("--predict needs a filter, whose launches are counted; leave --report out.")
    found = read_report(args.report)
    before = read_report(args.against) if args.against is not None else None
    if not found.rows:
        raise ParamError(f"{plain(args.report)} has no rows; name a report of bench, sweep or run.")
    pinned = {id(p.after): p.before for p in pairs(before.rows, found.rows)} if before is not None else {}
    rows = [PageRow(row, pinned=pinned.get(id(row))) for row in found.rows]
    filters = [f for f in FILTERS if f.id in {row.filter for row in found.rows}]
    against = f"{plain(args.against)} ({machine_name(before.provenance)})" if before is not None else ""
    return Page(
        title=f"{', '.join(f.title for f in filters) or 'Results'}: {Path(plain(args.report)).stem}",
        lead=f"{counted(len(found.rows), 'row')} of {machine_parts(found.provenance)}.",
        facts=about_rows(found.rows, {}),
        provenance=_about(found.provenance),
        rows=RowsOnPage(rows, _baseline(found.rows, args.baseline), against, found.provenance),
        claims=[j.as_dict() for j in judge_by_reports([c for f in filters for c in f.claims], {args.report: found})],
    )


def _baseline(rows: Sequence[Row], variant: str) -> Row | None:
    """The row that speed-ups compare with: the last of that variant, if all rows are of one job."""
    if len({row.job for row in rows if not row.simulated}) > 1:
        return None
    return next((row for row in reversed(rows) if row.variant == variant and not row.simulated), None)


def _about(provenance: dict[str, Any] | Any) -> dict[str, Any]:
    """The facts about the machine and the program, in the order of a reader."""
    names = ("cpu", "threads", "devices", "system", "python", "version", "commit", "clean", "source_tree")
    facts = {name.replace("_", " "): provenance.get(name) for name in (*names, "libraries", "flags", "time")}
    return {name: value for name, value in facts.items() if value not in (None, "", {}, [])}


# ---------------------------------------------------------------- a filter on an input


def _of_filter(args: argparse.Namespace) -> tuple[Page, int]:
    """Run, time and count the variants, and X-ray their kernels. Returns the exit code as well."""
    if args.filter is None:
        raise ParamError("report needs a filter, such as kernelscope report mean --output mean.html, or --report FILE.")
    protocol = "careful" if args.careful else "quick"
    experiment = make_experiment(args, protocol=protocol)
    filter = FILTERS.find(experiment.filter, experiment.input.kind)
    (args.baseline,) = current_ids(args, filter, [args.baseline], experiment.input.meta, experiment.params)
    timed = tuple(pick for pick in experiment.picks if not is_simulated(pick.device))
    runs = last_runs(run_experiment(replace(experiment, picks=timed))) if timed else []
    rows = [row(run, experiment) for run in runs]
    part, _ = affordable(experiment.input)
    simulated = _simulated(args, filter, experiment, part)
    kernels = _kernels(args, filter, experiment, part, simulated)
    found = Report(_machine(rows, simulated), (*rows, *simulated))
    before = read_report(args.against) if args.against is not None else None
    pinned = {id(p.after): p.before for p in pairs(before.rows, found.rows)} if before is not None else {}
    page = Page(
        title=f"{filter.title} of {title_of(experiment.input)}",
        lead=filter.summary,
        facts={"job": title(experiment), **about_rows(found.rows, {})},
        provenance=_about(found.provenance),
        rows=RowsOnPage(
            [PageRow(one, pinned=pinned.get(id(one))) for one in found.rows],
            _baseline(rows, args.baseline),
            plain(args.against) if before is not None else "",
            found.provenance,
        ),
        pictures=_pictures(filter, experiment.input, runs),
        charts=_predicted(args, filter, experiment, simulated),
        kernels=kernels,
        claims=[j.as_dict() for j in judge_by_reports(filter.claims, recorded_reports())],
        part=cut_note(experiment.input, part_spans(experiment.input))
        if part is not experiment.input and simulated
        else "",
    )
    return page, exit_code(found.rows, explicit=bool(args.variant))


def _machine(rows: Sequence[Row], simulated: Sequence[Row]) -> dict[str, Any]:
    """The provenance: rooflines of devices that were timed, and a simulated GPU in addition."""
    timed = machine(list(dict.fromkeys(one.device for one in rows)))
    counted_on = machine(list(dict.fromkeys(one.device for one in simulated)), with_roofs=False)
    return timed | {"devices": {**timed["devices"], **counted_on["devices"]}}


def _pictures(filter: Filter, input: Input, runs: Sequence[Run]) -> list[Picture]:
    """The input, and each output of the first run that is right; then those of the other runs, as far as they fit."""
    rank = input.meta.of_kind.rank
    found = [drawn_picture(drawn(input.array, rank), "Input", f"{input.name}, {input.array.dtype.name}")]
    for run in runs:
        for output in (o for o in filter.outputs if o.id in run.outputs):
            html = drawn_output(run.outputs[output.id], run.forms[output.id], output)
            if html and run.ok is not False:
                name = filter.variant(run.pick.variant).title
                found.append(drawn_picture(html, name, f"{output.id} on {run.pick.device}"))
    return found[:MOST_PICTURES]


def _simulated(args: argparse.Namespace, filter: Filter, experiment: Experiment, part: Input) -> list[Row]:
    """Counted rows: of the kernels that are named, else of those that the filter shows first, on a simulated GPU."""
    names = (
        args.variant
        or [id for id in filter.picked if filter.variant(id).kernels]
        or [v.id for v in filter.variants if v.kernels and not v.library]
    )
    picks = [pick for pick in default_picks(filter, [args.gpu], names) if filter.variant(pick.variant).kernels]
    knobs = {pick.variant: pick.knobs for pick in experiment.picks}
    chosen = tuple(replace(pick, knobs=knobs.get(pick.variant, {})) for pick in picks[:MOST_KERNELS])
    if args.no_counts or not chosen or filter.end_to_end:
        return []
    counting = replace(experiment, input=part, picks=chosen, protocol="none", checks="sample", counted=True)
    return [row(run, counting, with_roofs=False) for run in last_runs(run_experiment(counting, again=False))]


def _predicted(args: argparse.Namespace, filter: Filter, experiment: Experiment, rows: Sequence[Row]) -> list[Picture]:
    """The times of the counted variants on the GPUs of --predict, on the whole input."""
    input, pictures = experiment.input, []
    for gpu in map(find_gpu, args.predict):
        rungs = []
        for one in rows:
            variant = filter.variant(one.variant)
            params = check_values(filter.params, experiment.params, filter.id)
            job = params, check_values(variant.knobs, one.knobs, variant.id)
            try:
                launches = count_launches(filter, variant, input, *job, gpu)
            except KernelscopeError as error:
                rungs.append(Rung(variant.title, reason=str(error)))
                continue
            recorded = recorded_seconds(filter.id, variant.id, *job, full_meta(input), gpu) if gpu.measured else None
            rungs.append(Rung(variant.title, launches, recorded))
        pictures.append(predicted_picture(rungs, gpu))
    return pictures


def _kernels(
    args: argparse.Namespace, filter: Filter, experiment: Experiment, part: Input, rows: Sequence[Row]
) -> list[Kernel]:
    """The kernels of the counted rows, each line with its counters."""
    kernels: list[Kernel] = []
    architecture = args.gpu.partition(":")[2] or "sm_75"
    for one in rows:
        if one.failure:
            continue
        try:
            variant, code = filter.variant(one.variant), args.code
            found = xray(filter, variant, part, experiment.params, one.knobs, architecture, code=code)
        except KernelscopeError:  # its row says why
            continue
        content = as_dict(found) | {"title": found.title, "idea": found.idea}
        content |= {"sentences": sentences_json(explain(found))}
        content |= {"sources": {f.file: f.text for k in found.kernels for f in k.files}}
        kernels += counted_kernels(content)
    return kernels
