"""run with --output-dir: many files through one filter, each with one verified variant, to one file each.

A file that fails does not stop the others. The report beside the results has a row for each file, and a later call with
--resume goes on with it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gpu_ops.cli import stopping, streams
from gpu_ops.cli.bands import device_bytes
from gpu_ops.cli.batch_files import Item, find_files, items
from gpu_ops.cli.batch_resume import SCHEMA, earlier_rows, is_done, result_facts, stamp
from gpu_ops.cli.inputs import (
    check_flags,
    check_knobs,
    checked_values,
    flag_values,
    knobs_of,
    make_job,
    preset,
    todays_ids,
)
from gpu_ops.cli.measure import BAD_INPUT, FAILURE_CODES, FINE, WRONG, last_runs, one_each
from gpu_ops.cli.outputs import check_held, saving_of
from gpu_ops.cli.tables import align, seconds
from gpu_ops.devices import device_statuses, open_device
from gpu_ops.errors import DeviceLost, InputError, KernelFault, KernelscopeError, ParamError, plain
from gpu_ops.filters import FILTERS, find_filter
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.io import save_result
from gpu_ops.io.steps.mapping import held
from gpu_ops.measuring.about import about_run
from gpu_ops.measuring.file_lock import locked
from gpu_ops.measuring.provenance import machine
from gpu_ops.measuring.report import row, target_of, write_report
from gpu_ops.measuring.runner import default_picks, run_experiment
from gpu_ops.output_kinds import OUTPUT_KINDS, ViewKind
from gpu_ops.types import Experiment, Filter, Input, Pick
from gpu_ops.version import __version__

REPORT = "kernelscope-batch.json"
WRITE_S = 2.0
"""Seconds between two writes of the report: what a crash can lose."""
STOPPED = 130
CHECKS = ("full", "sample", "off")
FORMAT_RULE = "png of uint8 and uint16 images, wav of floating sound with a rate, csv of tables and bars, else npy"
VARIANT_RULE = "the last of the filter's own variants that takes the input, on the first GPU, else on the CPU"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of a batch."""
    formats = list(dict.fromkeys(s.removeprefix(".") for kind in OUTPUT_KINDS.values() for s in kind.formats))
    group = parser.add_argument_group(
        "many files",
        "With --output-dir each file of --input (several names, a folder, or a quoted pattern such as 'in/*.png') "
        f"gives one result there, by one variant (default: {VARIANT_RULE}). Exit code: 0 all right, 3 a result was "
        "wrong, 2 a file failed, 4 a device failed, 130 stopped; Ctrl-C ends after the present file.",
    )
    group.add_argument("--output-dir", metavar="FOLDER", help="save a result of each input here, under the same name")
    group.add_argument("--format", choices=formats, help=f"of the results (default: {FORMAT_RULE})")
    group.add_argument("--resume", action="store_true", help="leave out files whose result is there as it was made")
    group.add_argument("--checks", choices=CHECKS, default="full", help="compare all of each result, a sample, nothing")


def check_use(args: argparse.Namespace) -> None:
    """Raises ParamError for flags that need --output-dir, or do not go with it."""
    if args.output_dir is None:
        for name, unset in (("format", None), ("resume", False), ("checks", "full")):
            if getattr(args, name) != unset:
                raise ParamError(f"--{name} is for many files; name their folder with --output-dir, or leave it out.")
        return
    if args.input is None:
        raise ParamError("--output-dir needs files to work on; name them with --input, such as --input 'in/*.png'.")
    for name in ("output", "kernel", "memory", "frames"):
        if getattr(args, name):
            raise ParamError(f"--{name} is for one input, and --output-dir for many; leave one of them out.")
    if len(args.variant) > 1:
        raise ParamError("--output-dir saves the results of one variant; name one with --variant, or none.")


@dataclass
class _Batch:
    """The rows so far. `command` is the hash of everything but the files that decides the results."""

    args: argparse.Namespace
    target: Path
    command: str
    provenance: dict[str, Any]
    earlier: Mapping[str, Mapping[str, Any]]
    rows: list[dict[str, Any]] = field(default_factory=list)
    codes: list[int] = field(default_factory=list)
    written: float = 0.0

    def add(self, row: dict[str, Any], code: int) -> None:
        self.rows.append(row)
        self.codes.append(code)
        if time.perf_counter() - self.written > WRITE_S:
            self.write(complete=False)

    def write(self, complete: bool) -> None:
        write_report(self.target, self.content(complete))
        self.written = time.perf_counter()

    def content(self, complete: bool) -> dict[str, Any]:
        """The report. Of files that this call has not come to it keeps the earlier rows."""
        done = {row["name"] for row in self.rows}
        waiting = [] if complete else [dict(row) for name, row in self.earlier.items() if name not in done]
        facts = {"version": __version__, "filter": self.args.filter, "flags": _flags(self.args)}
        head = {"schema": SCHEMA, "provenance": self.provenance, "command": {**facts, "hash": self.command}}
        return {**head, "complete": complete, "files": [*self.rows, *waiting]}


def run(args: argparse.Namespace) -> int:
    """Run the filter on every file and return the exit code."""
    _check_flags(args)
    devices = _devices(args)
    found = find_files(args.input)
    folder = _made(args.output_dir)
    to_file = args.json not in (None, "-")
    report = Path(args.json) if to_file else folder / REPORT
    target = target_of(report)
    began = time.perf_counter()
    with locked(folder.resolve() / "kernelscope-batch", folder, "another --output-dir"), locked(target):
        command = hashlib.sha256(json.dumps(_flags(args), sort_keys=True).encode()).hexdigest()
        batch = _Batch(args, target, command, machine(devices, False), earlier_rows(target) if args.resume else {})
        batch.write(complete=False)  # a report that cannot be written is said before anything is computed
        stopped = _work(batch, items(found, folder), devices)
        batch.write(complete=not stopped)
        if args.json == "-":
            print(json.dumps(batch.content(not stopped), indent=1))
        else:
            _print(batch, len(found), report, time.perf_counter() - began)
    return STOPPED if stopped else _exit_code(batch)


def _work(batch: _Batch, todo: Sequence[Item], devices: Sequence[str]) -> bool:
    """Work on the files one by one; whether a person stopped it before the end."""
    with _stoppable() as stop:
        for place, item in enumerate(todo, start=1):
            earlier = batch.earlier.get(item.name)
            if earlier is not None and _is_done(batch, earlier, item):
                batch.add({**earlier, "skipped": True}, FINE)
                verdict = "done before"
            else:
                try:
                    row, code = _one(batch, item, devices)
                except KeyboardInterrupt:
                    return True
                batch.add(row, code)
                verdict = f"{row['status']}, {seconds(row['seconds'])}"
                verdict += f", {row['sentence']}" if row["sentence"] else f", {plain(row['output'])}"
            streams.say(f"{place}/{len(todo)} {plain(item.file, 60)}: {verdict}")
            if stop.asked and place < len(todo):
                return True
    return False


def _one(batch: _Batch, item: Item, devices: Sequence[str]) -> tuple[dict[str, Any], int]:
    """The row of one file, and the exit code that it asks for."""
    began, code = time.perf_counter(), FINE
    row: dict[str, Any] = {"name": item.name, "file": str(item.file), "status": "failed", "sentence": "", "output": ""}
    row |= {"command": batch.command, **stamp(item.file)}
    try:
        if item.fault:
            raise InputError(item.fault)
        code = _compute(batch, item, devices, row)
    except (KernelFault, DeviceLost):  # the process cannot use the device any more: no file can go on
        raise
    except MemoryError:
        row["sentence"], code = "the machine has too little memory for it", BAD_INPUT
    except OSError as error:
        row["sentence"], code = f"the system cannot do this ({error.strerror or plain(error)})", BAD_INPUT
    except KernelscopeError as error:
        row["sentence"], code = str(error), error.exit_code
    row["seconds"] = round(time.perf_counter() - began, 6)
    return row, code


def _compute(batch: _Batch, item: Item, devices: Sequence[str], told: dict[str, Any]) -> int:
    """Load, run, verify and save one file. Adds to the row what is known so far, and returns the exit code."""
    args = argparse.Namespace(**{**vars(batch.args), "input": str(item.file)})
    input, filter, values, params = make_job(args)
    told |= {"sha256": input.origin.get("hash", ""), "kind": input.kind, "dtype": input.array.dtype.name}
    told |= {"shape": list(input.array.shape), "filter": filter.id}
    pick = _pick(args, filter, input, values, params, devices)
    told |= {"variant": pick.variant, "device": pick.device, "params": _all_params(filter, params)}
    told["knobs"] = {**{k.name: k.default for k in filter.variant(pick.variant).knobs}, **pick.knobs}
    memory = device_bytes(args)
    experiment = Experiment(filter.id, input, params, (pick,), protocol="none", checks=args.checks, memory=memory)
    result = last_runs(run_experiment(experiment))[-1]
    told_row = row(result, experiment, with_roofs=False)
    told |= {"error_max": told_row.to_json()["error_max"], "notes": list(told_row.notes)}
    if result.failure:
        told["sentence"] = result.failure
        return FAILURE_CODES[result.failure_kind]
    if result.ok is False:
        told |= {"status": "wrong", "sentence": "the result is not within the tolerance, so nothing is saved"}
        return WRONG
    output = filter.given(dict(result.params))[0]
    array, form = result.outputs[output.id], result.forms[output.id]
    rate = input.rate if output.of_kind.heard else None
    suffix = f".{args.format}" if args.format else default_suffix(output.kind, form.dtype, rate, args.map)
    path = item.path(suffix)
    check_held(path, output.kind, array, saving_of(args))
    saving = saving_of(args, about_run(told_row, batch.provenance, output.id), input.facts.pixel)
    told["mapping"] = save_result(path, output.kind, array, form, output.unit, rate, saving=saving)
    told |= {"output": str(path), "status": "right" if result.ok else "unverified", **result_facts(path)}
    return FINE


def default_suffix(kind: ViewKind, dtype: str, rate: float | None, map: str = "none") -> str:
    """The ending of a result where none is asked for, by FORMAT_RULE; with a mapping the first format that has one."""
    formats = OUTPUT_KINDS[kind].formats
    if kind == "image":
        return ".png" if map != "none" or held(".png", dtype) else ".npy"
    if kind == "signal":
        sound = map != "none" or (rate is not None and held(".wav", dtype))
        return ".wav" if sound else ".npy"
    return ".csv" if formats[0] == ".csv" else ".npy" if ".npy" in formats else formats[0]


def _pick(
    args: argparse.Namespace,
    filter: Filter,
    input: Input,
    values: Mapping[str, Any],
    params: Mapping[str, Any],
    devices: Sequence[str],
) -> Pick:
    """The variant that runs, by VARIANT_RULE where none is named. Raises ParamError."""
    picks = []
    for pick in default_picks(filter, devices, todays_ids(args, filter, args.variant, input.meta, values)):
        try:
            picks.append(replace(pick, knobs=knobs_of(filter.variant(pick.variant), values)))
        except ParamError:  # a variant that does not take a knob's value is no choice, unless it is named
            if args.variant:
                raise
    if not args.variant:
        picks = list(one_each(filter, Experiment(filter.id, input, params, tuple(picks))))
    for device in devices:
        for pick in picks:
            if pick.device == device:
                return pick
    names = ", ".join(v.id for v in filter.variants)
    raise ParamError(f"No variant of {filter.id} takes this on {', '.join(devices)}; name one of {names} and a device.")


# What is asked for


def _check_flags(args: argparse.Namespace) -> None:
    """Raises ParamError for flags that no filter of the family takes, before any file is read."""
    filters = [f for f in FILTERS if args.filter in (f.id, f.family)]
    if not filters:
        find_filter(args.filter)  # raises, and names the filters
    errors = []
    for filter in filters:
        try:
            values = {**preset(args, filter), **flag_values(args)}
            for param in filter.params:
                param.check(values.get(param.name, param.default))
            check_knobs(filter, values)
            check_flags(args, filter, [filter.variant(id) for id in args.variant] or filter.variants)
        except ParamError as error:
            errors.append(error)
    if len(errors) == len(filters):
        raise errors[0]
    saving_of(args, {})


def _devices(args: argparse.Namespace) -> list[str]:
    """The devices to choose from, GPUs first; a simulated one only where it is named."""
    names = args.device or [s.name for s in device_statuses() if s.available and s.kind != "sim"]
    for name in names:
        open_device(name)  # raises where it is not available
    return sorted(dict.fromkeys(names), key=lambda name: name == "cpu")


UNDECIDED = ("command", "draw", "input", "output", "output_dir", "json", "resume", "sample", "frames", "kernel")
LIMITS = ("memory", "device_memory", "deadline")
"""Of all arguments, those that decide no result of a file."""


def _flags(args: argparse.Namespace) -> dict[str, Any]:
    """Everything on the command line that decides the results, beside the files."""
    given = {k: v for k, v in vars(args).items() if k not in (*UNDECIDED, *LIMITS) and v not in (None, [])}
    return {**{k: v for k, v in given.items() if not k.startswith("param_")}, **flag_values(args)}


def _all_params(filter: Filter, given: Mapping[str, Any]) -> dict[str, Any]:
    return {**{p.name: p.default for p in filter.params}, **given}


def _is_done(batch: _Batch, earlier: Mapping[str, Any], item: Item) -> bool:
    """Whether the result of an earlier row is there, and what this command would make."""
    filters = [f for f in FILTERS if f.id == earlier.get("filter")]
    if not filters or earlier.get("command") != batch.command:
        return False
    return is_done(earlier, item, _all_params(filters[0], checked_values(batch.args, filters[0])[1]))


def _made(folder: str) -> Path:
    """The folder of the results, made where it is missing. Raises InputError."""
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no folder name"
        raise InputError(f"{plain(folder)} cannot be the folder of the results ({reason}); name another one.") from None
    return path


# Stopping


class _Stop:
    """Whether a person asked for an end."""

    asked = False


@contextmanager
def _stoppable() -> Iterator[_Stop]:
    """Inside, the first Ctrl-C or SIGTERM asks for an end after the present file, and the second stops at once."""
    stop = _Stop()

    def ask(number: int, frame: object) -> None:
        if stop.asked:
            raise KeyboardInterrupt
        stop.asked = True
        streams.say("It ends after this file; press Ctrl-C again to stop at once.")

    with stopping.handled(ask, stopping.CTRL_C, stopping.TERMINATION):
        yield stop


# What is said at the end


def _print(batch: _Batch, count: int, report: Path, took: float) -> None:
    lines = [["file", "size", "variant", "verdict", "time", "result"]]
    for one in batch.rows:
        size = INPUT_KINDS[find_filter(one["filter"]).accepts].size_text(tuple(one["shape"])) if "shape" in one else ""
        size = f"{size} {one.get('dtype', '')}"
        variant = f"{one['variant']} on {one['device']}" if one.get("variant") else ""
        verdict = "done before" if one.get("skipped") else one["status"].replace("wrong", "WRONG")
        time_text = "" if one.get("skipped") else seconds(one["seconds"])
        result = plain(os.path.basename(one["output"]) or one["sentence"])
        result += f" ({one['mapping']})" if one.get("mapping") else ""
        lines.append([plain(Path(one["file"]).name, 40), size.strip(), variant, verdict, time_text, result])
    print(align(lines, frozenset({4})))
    tally = {"done before": sum(bool(one.get("skipped")) for one in batch.rows)}
    for status in ("right", "unverified", "wrong", "failed"):
        tally[status] = sum(one["status"] == status and not one.get("skipped") for one in batch.rows)
    tally["not reached"] = count - len(batch.rows)
    words = ", ".join(f"{number} {name}" for name, number in tally.items() if number)
    print(f"{count} files in {seconds(took)}: {words}. Report: {plain(report)}")


def _exit_code(batch: _Batch) -> int:
    """A wrong result counts most, then a device that failed, then a file."""
    return WRONG if WRONG in batch.codes else max(batch.codes, default=FINE)
