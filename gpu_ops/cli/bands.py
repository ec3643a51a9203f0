"""run on a file that takes much of the memory, or more than there is: band after band, from file to file."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from typing import Any

from gpu_ops.cli import frames, outputs, streams
from gpu_ops.cli.inputs import checked_values, flag_values, make_picks, say_notes
from gpu_ops.cli.limits import positive
from gpu_ops.devices import open_device
from gpu_ops.errors import KernelscopeError, ParamError, plain
from gpu_ops.filters import find_filter
from gpu_ops.host import free_memory
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.io import save_result
from gpu_ops.io.files import LIMIT
from gpu_ops.io.opening import FRAME, RATE, SERIES
from gpu_ops.io.results import check_held
from gpu_ops.io.row_writer import check_rows_target
from gpu_ops.io.rows import SMALL, Rows, open_rows
from gpu_ops.measuring.about import about_input, about_machine
from gpu_ops.measuring.bands import in_words, whole_reason
from gpu_ops.measuring.file_bands import InBands, Job, check_bands, merge_bands, write_bands
from gpu_ops.measuring.one_part import Wanted
from gpu_ops.measuring.provenance import machine
from gpu_ops.task import Task
from gpu_ops.types import Filter, Pick

MIB = 1 << 20
SHARE = 4
"""One part in so many of the free memory is for a run, where no flag says otherwise: what takes more goes in bands."""
EXPANDED = 64
"""Bytes of memory that one of a file can take, with its type converted, its result and the reference."""


def add_arguments(group: argparse._ArgumentGroup) -> None:
    """The flag that limits the memory on a device."""
    group.add_argument(
        "--device-memory",
        type=positive,
        metavar="MIB",
        help="memory that a variant may take on its device; more goes in bands (default: all that is free)",
    )


def device_bytes(args: argparse.Namespace) -> int | None:
    """What --device-memory allows; None for all that is free."""
    return None if args.device_memory is None else int(args.device_memory * MIB)


def source_of(args: argparse.Namespace) -> Rows | None:
    """The input of the flags where it goes in bands: a file of which the whole would take more memory than --memory or
    than is free, or that holds more values than are loaded at once; and one of which the whole would take more than a
    quarter of what is free, where bands do all that the flags ask for. None of all others."""
    if args.frames is not None:
        return None
    source = _open(args)
    if source is None:
        if args.memory is not None:
            raise ParamError("--memory limits a kernel, or NPY, TIFF and WAV files in bands; leave it out here.")
        return None
    job = _job(args, source, Pick("", "cpu"), "")
    if job.needed > (free_memory() if args.memory is None else job.memory):
        return source
    if args.memory is None and job.needed > job.memory and _does_all(args, source):
        return source
    too_many = args.limit is None and source.size > LIMIT
    return source if too_many and not whole_reason(job.filter, job.task) else None


def _does_all(args: argparse.Namespace, source: Rows) -> bool:
    """Whether bands give all that the flags ask for: one result of one variant, in a format that is written row by
    row, of values that they take."""
    if len(args.variant) > 1 or len(args.device) > 1 or (args.limit is not None and source.size > args.limit):
        return False
    try:
        _check_flags(args, source)
        filter = find_filter(args.filter, source.kind)
        targets = outputs.targets(filter, checked_values(args, filter)[1], args.output)
        job = _job(args, source, _pick(args, filter, source), next(iter(targets), ""))
        check_bands(job)
        if filter.locality.kind == "mergeable":
            return _takes(filter, job.wanted.pick, job.task)
        forms = {o.id: o.form(job.task) for o in filter.given(job.task.params)}
        for output, path in targets.items():
            check_rows_target(path, forms[output].shape)
        return len(targets) == 1 and _takes(filter, job.wanted.pick, job.task)
    except KernelscopeError:  # as a whole it works, or says better what is wrong
        return False


def _open(args: argparse.Namespace) -> Rows | None:
    """The rows of the input of the flags; None where it has none, and of small files that nothing limits."""
    flags = flag_values(args)
    if args.input is None or flags.get("project", "none") != "none":
        return None
    small = min(SMALL, free_memory() // SHARE // EXPANDED)
    if args.memory is None and (not os.path.exists(args.input) or os.path.getsize(args.input) < small):
        return None
    frame, rate = FRAME.check(flags.get("frame", 0)), RATE.check(flags.get("rate", 0.0))
    series = SERIES.check(flags.get("series", SERIES.default))
    return open_rows(args.input, args.kind, int(frame), float(rate), int(series))  # type: ignore[arg-type]


def run_over(args: argparse.Namespace, source: Rows) -> int:
    """Run one variant over the file in bands and write its result."""
    _check_flags(args, source)
    say_notes(args, {"steps": source.steps})
    filter = find_filter(args.filter, source.kind)
    _, params = checked_values(args, filter)
    targets = outputs.targets(filter, params, args.output)
    job = _job(args, source, _pick(args, filter, source), next(iter(targets), ""))
    merges = filter.locality.kind == "mergeable"
    if not merges and len(targets) != 1 and not whole_reason(filter, job.task):
        raise ParamError(
            f"{source.name} does not fit in memory and goes in bands, which write one file; name it with one --output."
        )
    try:
        if merges:
            done = merge_bands(job, _say)
        else:
            about = {**_about(job), "output": job.wanted.output}
            done = write_bands(job, next(iter(targets.values()), ""), _say, about)
    finally:
        frames.end_line()
    if merges:
        _save(job, done, targets, args)
    _tell(job, done, targets, "" if args.memory else ", a quarter of what is free (--memory MIB allows more)")
    return 0


def _check_flags(args: argparse.Namespace, source: Rows) -> None:
    """Raises ParamError for flags that need the whole input."""
    flags = flag_values(args)
    for flag, given in (
        ("--step", bool(args.step)),
        ("--noise", "noise" in flags or "noise_seed" in flags),
        ("--json", args.json is not None),
        ("--map", args.map != "none" and find_filter(args.filter, source.kind).locality.kind != "mergeable"),
    ):
        if given:
            raise ParamError(f"{source.name} does not fit in memory and goes in bands, without {flag}; leave it out.")


def _job(args: argparse.Namespace, source: Rows, pick: Pick, output: str) -> Job:
    filter = find_filter(args.filter, source.kind)
    _, params = checked_values(args, filter)
    memory = free_memory() // SHARE if args.memory is None else int(args.memory * MIB)
    wanted, nonfinite = Wanted(filter.id, params, pick, output), args.nonfinite or "refuse"
    return Job(source, wanted, memory, args.dtype, nonfinite, device_bytes(args))


def _pick(args: argparse.Namespace, filter: Filter, source: Rows) -> Pick:
    """The one variant that is named, or the last of the filter's own that takes the input."""
    values, _ = checked_values(args, filter)
    task = _job(args, source, Pick("", "cpu"), "").task
    picks = make_picks(args, filter, task.meta, values)
    if args.variant and len(picks) > 1:
        names = ", ".join(f"{p.variant} on {p.device}" for p in picks)
        raise ParamError(f"{source.name} goes in bands by one variant, not by {names}; name one, and one --device.")
    fitting = [pick for pick in picks if args.variant or _takes(filter, pick, task)]
    if not fitting:
        raise ParamError(f"No variant of {filter.id} takes {source.name}; name one with --variant to see why.")
    return fitting[-1]


def _takes(filter: Filter, pick: Pick, task: Task) -> bool:
    variant = filter.variant(pick.variant)
    knobs = {**{k.name: k.default for k in variant.knobs}, **pick.knobs}
    return not variant.library and not variant.refusal(
        Task.of(task.meta, task.params, knobs, open_device(pick.device).limits)
    )


def _about(job: Job) -> dict[str, Any]:
    """The facts about a result, but for its parts. Raises OSError."""
    pick = job.wanted.pick
    about: dict[str, Any] = {**about_input(job.source.origin), "filter": job.filter.id}
    about |= {"parameters": dict(job.task.params), "variant": pick.variant, "device": pick.device}
    about |= {"knobs": dict(pick.knobs)} if pick.knobs else {}
    return about | about_machine(machine([pick.device], with_roofs=False))


def _save(job: Job, done: InBands, targets: Mapping[str, str], args: argparse.Namespace) -> None:
    """Write the outputs of merged parts."""
    run, source = done.last, job.source
    declared = {o.id: o for o in job.filter.outputs}
    about = {**_about(job), "parts": in_words(job.task, done.bands, done.rows)}
    for name, path in targets.items():
        output, array = declared[name], run.outputs[name]
        saving = outputs.saving_of(args, {**about, "output": name})
        check_held(path, output.kind, array, saving)
        save_result(path, output.kind, array, run.forms[name], output.unit, source.rate, saving=saving)
        streams.say(f"{plain(path)} holds {name} of {run.pick.variant} on {run.pick.device}")


def _tell(job: Job, done: InBands, targets: Mapping[str, str], default: str) -> None:
    pick, source = done.last.pick, job.source
    size = INPUT_KINDS[source.kind].size_text(done.shape)
    files: Sequence[str] = list(targets.values()) if job.filter.locality.kind != "mergeable" else []
    what = f"{plain(files[0])} holds the output {job.wanted.output}" if files else f"{job.filter.id}"
    how = in_words(job.task, done.bands, done.rows)
    checked = "the first and the last were" if done.bands > 1 else "it was"
    print(
        f"{what} of {source.name}, {size} {done.dtype}, by {pick.variant} on {pick.device} in {how}, because "
        f"the whole needs {job.needed:,} bytes and {job.memory:,} may be used{default}; {checked} compared with the "
        "reference"
    )
    for note in done.last.notes:
        print(f"the last band ran {note}")
    if not files and (text := outputs.describe([done.last])):
        print(text)


def _say(done: int, total: int) -> None:
    frames.say_part("band", done, total)
