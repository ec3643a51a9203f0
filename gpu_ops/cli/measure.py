"""run: an experiment from flags, its results to files and tables; a user's kernel in place of a variant's."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gpu_ops.batch.choosing import best_per_device, knobs_of, with_defaults
from gpu_ops.batch.file_lock import locked
from gpu_ops.cli import outputs, parts, tables
from gpu_ops.cli.inputs import check_flags, current_ids, make_experiment, make_job
from gpu_ops.cli.limits import within_limits
from gpu_ops.cli.remote import flags
from gpu_ops.device_names import is_simulated
from gpu_ops.devices.offline import OfflineDevice
from gpu_ops.errors import FAILURE_CODES, FINE, WRONG, KernelError, ParamError, plain, shortened
from gpu_ops.filters import FILTERS
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.io.steps.apply import title_of
from gpu_ops.own_kernels.checking import hold, usual_device, variant_to_replace
from gpu_ops.own_kernels.sources import read_kernel, with_own_name
from gpu_ops.params import Values
from gpu_ops.report.files import row, target_of, write_report
from gpu_ops.report.provenance import machine
from gpu_ops.report.rows import Report, Row
from gpu_ops.running.declared import make_plan
from gpu_ops.running.runner import last_runs, run_experiment
from gpu_ops.running.verify import full_meta
from gpu_ops.task import Task
from gpu_ops.types import Experiment, Filter, Pick, Variant


def run(args: argparse.Namespace) -> int:
    """Run a filter once per variant, verify, print the errors and save one result."""
    if (to := flags.destination(args)) is not None:
        from gpu_ops.cli.remote.running import run_there

        there = run_there(args, to)
        _print_runs(args, there.experiment, there.rows, outputs.describe(there.runs), there.provenance)
        return exit_code(there.rows, explicit=bool(args.variant))
    parts.check_frames(args)
    if args.kernel is not None:
        return _run_kernel(args)
    source = parts.source_of(args)
    if source is not None:
        return parts.run_bands(args, source)
    experiment = make_experiment(args, protocol="none", memory=parts.device_bytes(args))
    filter = FILTERS.find(experiment.filter, experiment.input.kind)
    if not args.variant:
        experiment = replace(
            experiment, picks=best_per_device(filter, experiment.picks, full_meta(experiment.input), experiment.params)
        )
    targets = outputs.targets(filter, experiment.params, args.output)
    if args.frames is not None:
        return parts.run_frames(args, experiment, targets)
    places = [(pick.variant, pick.device) for pick in experiment.picks]
    runs = sorted(
        last_runs(run_experiment(experiment)), key=lambda run: places.index((run.pick.variant, run.pick.device))
    )
    outputs.save_all(targets, runs, experiment, outputs.saving_of(args))
    rows = [row(r, experiment) for r in runs]
    _print_runs(args, experiment, rows, outputs.describe(runs))
    return exit_code(rows, explicit=bool(args.variant))


def _print_runs(
    args: argparse.Namespace,
    experiment: Experiment,
    rows: Sequence[Row],
    description: str,
    where: Mapping[str, Any] | None = None,
) -> None:
    """Print the rows, or write them as JSON; `where` is the provenance of runs on another machine."""
    if args.json:
        devices = list(dict.fromkeys(p.device for p in experiment.picks))
        emit(args.json, Report(where or machine(devices, with_roofs=False), tuple(rows)).to_json())
    if args.json == "-":
        return
    print(title(experiment))
    heading = ["variant", "device", "largest error", "allowed", "verdict"]
    lines = [heading]
    for name, r in zip(tables.names(rows), rows, strict=True):
        allowed = "" if r.tolerance is None else f"{r.tolerance:.2g}"
        lines.append([name, r.device, tables.error_text(r), allowed, tables.verdict(r)])
    print(tables.align_filled(lines, {"largest error", "allowed"}))
    for text in (tables.footnotes(rows), tables.quality_table(rows), description):
        if text:
            print(text)
    if any(r.error_max is not None for r in rows):
        print(
            "Errors are relative to the largest magnitude in the input and the reference; of integers, to their range,"
            " where half a level may be the rounding of the result."
        )


def title(experiment: Experiment) -> str:
    """The filter, the input, its size and type, and the values of parameters and knobs, in one line."""
    input, knobs = experiment.input, {k: v for pick in experiment.picks for k, v in pick.knobs.items()}
    size = INPUT_KINDS[input.kind].size_text(input.array.shape)
    what = f"{title_of(input)}, {size} {input.array.dtype.name}"
    return job_title(experiment.filter, what, {**experiment.params, **knobs})


def job_title(filter: str, what: str, values: Values) -> str:
    """A filter, its input, and the values of its parameters, in one line."""
    words = ", ".join(f"{name} {value}" for name, value in values.items())
    return f"{filter} of {what}; {words}" if words else f"{filter} of {what}"


def exit_code(rows: Sequence[Row], explicit: bool) -> int:
    """A wrong result takes precedence. An unsupported task is an error only where the user names the variant
    (`explicit`)."""
    if any(r.ok is False for r in rows):
        return WRONG
    kinds = [r.failure_kind for r in rows if r.failure_kind]
    return max((FAILURE_CODES[kind] for kind in kinds if explicit or kind != "unsupported"), default=FINE)


def _run_kernel(args: argparse.Namespace) -> int:
    """Compile a user's kernel in place of a variant's, check its launch, and test it with the filter's whole
    contract."""
    for name in ("variant", "device"):
        if len(set(getattr(args, name))) > 1:
            raise ParamError(f"--kernel replaces the kernel of one variant on one device; give --{name} one name.")
    input, filter, values, params = make_job(args)
    variant = variant_to_replace(filter, next(iter(current_ids(args, filter, args.variant, input.meta, values)), None))
    check_flags(args, filter, [variant])
    edits = {variant.kernels[0]: read_kernel(args.kernel)}
    pick = Pick(variant.id, "cpu", knobs_of(variant, values), edits)  # checked before a device is opened
    experiment = Experiment(filter.id, input, params, (pick,), protocol="none")

    def own_name(text: object) -> str:
        return with_own_name(text, variant.kernels[0], Path(args.kernel).name)

    try:
        with within_limits(args, f"compiling {plain(args.kernel)}"):
            _check_offline(filter, variant, experiment)
    except KernelError as error:
        error.args = tuple(map(own_name, error.args))
        raise
    device = args.device[0] if args.device else usual_device()
    held = hold(filter, variant, edits, device, lambda what: within_limits(args, what, is_simulated(device)))
    print(f"{plain(args.kernel)} instead of {filter.id} {variant.id} on {device}: {held.summary}")
    for text in held.wrong[:10]:
        print(f"  {shortened(own_name(text))}")
    if held.wrong:
        return WRONG
    final = replace(experiment, picks=(replace(pick, device=device),), memory=parts.device_bytes(args))
    with within_limits(args, f"{experiment.input.name} on {device}", is_simulated(device)):
        runs = last_runs(run_experiment(final))
    outputs.save_all(outputs.targets(filter, final.params, args.output), runs, final, outputs.saving_of(args))
    rows = [row(r, final) for r in runs]
    _print_runs(args, final, rows, outputs.describe(runs))
    return exit_code(rows, explicit=True)


def _check_offline(filter: Filter, variant: Variant, experiment: Experiment) -> None:
    """Check name, arguments, block and compilation, which needs no GPU. Raises ParamError for an input or parameters
    that the variant does not support."""
    (pick,) = experiment.picks
    device = OfflineDevice("sm_75", pick.edits)
    params = with_defaults(filter, experiment.params)
    knobs = {**{k.name: k.default for k in variant.knobs}, **pick.knobs}
    if reason := variant.refusal(Task.of(experiment.input.meta, params, knobs)):  # independent of the device's limits
        raise ParamError(f"{filter.id} {variant.id} does not take {title_of(experiment.input)}: {reason}.")
    task = Task.of(experiment.input.meta, params, knobs, device.limits)
    device.check(make_plan(filter, variant, device, task.on(experiment.input.array), pick.edits))


def emit(target: str, content: dict[str, Any]) -> None:
    """Write JSON to standard output or, atomically, to a file."""
    if target == "-":
        print(json.dumps(content, indent=1))
    else:
        with locked(target_of(target)):
            write_report(target, content)
