"""run over parts of its input: every frame of a stack, or bands of a file that takes much of the memory or exceeds
it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from gpu_ops.batch.all_frames import Wanted, merge_frames, write_frames
from gpu_ops.batch.choosing import takes
from gpu_ops.batch.file_bands import (
    FileRun,
    check_ability,
    check_as_a_whole,
    goes_in_bands,
    merge_bands,
    open_large,
    quarter,
    write_bands,
)
from gpu_ops.cli import outputs, streams
from gpu_ops.cli.inputs import checked_values, flag_values, make_picks, read_input, reading_of, say_notes
from gpu_ops.cli.limits import positive
from gpu_ops.errors import KernelscopeError, ParamError, plain
from gpu_ops.filters import FILTERS
from gpu_ops.filters.kit.bands import in_words, whole_reason
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.io.rows import Rows, check_frames_target
from gpu_ops.running.parts import Report
from gpu_ops.types import Experiment, Filter, Input, Pick

MIB = 1 << 20


def add_arguments(group: argparse._ActionsContainer) -> None:
    """The flag that limits the memory on a device."""
    group.add_argument(
        "--device-memory",
        type=positive,
        metavar="MIB",
        help="memory that a variant may use on its device; larger inputs go in bands, which take as much pinned memory "
        "of a GPU's host (default: all free memory)",
    )


def device_bytes(args: argparse.Namespace) -> int | None:
    """The memory of --device-memory; None for all that is free."""
    return None if args.device_memory is None else int(args.device_memory * MIB)


def file_bytes(args: argparse.Namespace) -> int | None:
    """The memory of --memory; None without the flag."""
    return None if args.memory is None else int(args.memory * MIB)


@contextmanager
def _showing(what: str) -> Iterator[Report]:
    """Shows the present part on a terminal, in place of the previous one, and clears the line at the end."""
    try:
        yield lambda done, total: streams.rewrite(f"{what} {done + 1} of {total}")
    finally:
        streams.rewrite("")


def _only(args: argparse.Namespace, picks: Sequence[Pick], several: str, none: str) -> Pick:
    """The last pick, or the named one. Raises ParamError that begins with `several` or is `none`."""
    if args.variant and len(picks) > 1:
        names = ", ".join(f"{p.variant} on {p.device}" for p in picks)
        raise ParamError(f"{several} {names}; name one, and one --device.")
    if not picks:
        raise ParamError(none)
    return picks[-1]


# Frames


def check_frames(args: argparse.Namespace) -> None:
    """Raises ParamError for flags that are not allowed with --frames."""
    if args.frames is None:
        return
    for name in ("param_frame", "param_project", "kernel", "json", "memory", "device_memory"):
        if getattr(args, name) is not None:
            flag = name.removeprefix("param_").replace("_", "-")
            raise ParamError(f"--frames {args.frames} runs over every frame of a stack; leave --{flag} out.")
    if args.input is None:
        raise ParamError(f"--frames {args.frames} reads a stack; name it with --input.")
    if args.frames == "all" and len(args.output) != 1:
        raise ParamError("--frames all reads a stack and writes one file; name them with --input and one --output.")


def run_frames(args: argparse.Namespace, experiment: Experiment, targets: Mapping[str, str]) -> int:
    """Run the experiment's pick over all frames and write the results of one output, or merge them."""
    input, count, name = experiment.input, experiment.input.facts.frames, experiment.filter
    if count < 2:
        raise ParamError(f"{input.name} is one picture and no stack of frames; leave --frames out.")
    none = f"No variant of {name} takes frames of {input.name}; name one with --variant."
    pick = _only(args, experiment.picks, f"--frames {args.frames} runs one variant, not", none)

    def read(frame: int) -> Input:
        return read_input(args, {"frame": str(frame)})

    if args.frames == "merged":
        with _showing("frame") as report:
            run, last = merge_frames(read, count, Wanted(name, experiment.params, pick, ""), report)
        choices = {**input.origin.get("choices", {}), "frames": f"all {count:,}, merged"}
        whole = replace(input, origin={**input.origin, "choices": choices})
        outputs.save_all(targets, [run], replace(last, input=whole), outputs.saving_of(args))
        what, checked, text = f"{name} of all {count} frames of {input.name}", True, outputs.describe([run])
    else:
        ((output, path),) = targets.items()
        check_frames_target(path, FILTERS.find(name).output(output).kind)
        with _showing("frame") as report:
            written = write_frames(read, count, Wanted(name, experiment.params, pick, output), path, report)
        size = INPUT_KINDS[input.kind].size_text(written.shape[1:])
        what = (
            f"{plain(path)} holds the output {output} for {count:,} frames of {input.name}, {size} {written.dtype} each"
        )
        checked, text = written.checked, ""
    verdict = "compared with the reference" if checked else "not checked"
    print(f"{what}, by {pick.variant} on {pick.device}; frame 0 was {verdict}", *([text] if text else []), sep="\n")
    return 0


# Bands


def source_of(args: argparse.Namespace) -> Rows | None:
    """The input of the flags if it is processed in bands: a file that needs more memory than --memory or than is free,
    or that has more values than are loaded at once; also a file that needs more than a quarter of the free memory,
    where bands do everything that the flags ask for. None for all others."""
    if args.frames is not None:
        return None
    whole = args.memory is None
    source = None if args.input is None else open_large(args.input, reading_of(args), always=not whole)
    if source is None:
        if not whole:
            raise ParamError("--memory limits a kernel, or NPY, TIFF and WAV files in bands; leave it out here.")
        return None
    job = _job(args, source, Pick("", "cpu"), "")
    return source if goes_in_bands(job, not whole, args.limit, partial(_does_all, args, source)) else None


def _does_all(args: argparse.Namespace, source: Rows) -> bool:
    """Whether bands do everything that the flags ask for: one result of one variant, in a format that is written row by
    row, of a type that bands support."""
    if len(args.variant) > 1 or len(args.device) > 1:
        return False
    try:
        return check_ability(*_prepared(args, source), args.limit)
    except KernelscopeError:  # as a whole it works, or fails with a better message
        return False


def run_bands(args: argparse.Namespace, source: Rows) -> int:
    """Run one variant over the file in bands and write its result."""
    say_notes(args, {"steps": source.steps})
    job, targets = _prepared(args, source)
    with _showing("band") as report:
        if job.merges:
            done = merge_bands(job, report)
        else:
            done = write_bands(job, next(iter(targets.values()), ""), report, job.about)
    how = in_words(job.task, done.bands, done.rows)
    for name, path in targets.items() if job.merges else ():
        saving = outputs.saving_of(args, {**job.about, "parts": how, "output": name})
        outputs.save_one(path, done.last, name, saving, source.rate, name)
    target = plain(next(iter(targets.values()), ""))
    what = job.filter.id if job.merges else f"{target} holds the output {job.wanted.output}"
    size, pick = INPUT_KINDS[source.kind].size_text(done.shape), done.last.pick
    default = "" if args.memory else ", a quarter of what is free (--memory MIB allows more)"
    checked = "the first and the last were" if done.bands > 1 else "it was"
    print(
        f"{what} of {source.name}, {size} {done.dtype}, by {pick.variant} on {pick.device} in {how}, because "
        f"the whole needs {job.needed:,} bytes and {job.memory:,} may be used{default}; {checked} compared with the "
        "reference"
    )
    for note in done.last.notes:
        print(f"the last band ran {note}")
    if job.merges and (text := outputs.describe([done.last])):
        print(text)
    return 0


def _prepared(args: argparse.Namespace, source: Rows) -> tuple[FileRun, dict[str, str]]:
    """The banded run, and the files of its outputs. Raises ParamError for flags that need the whole input."""
    flags = flag_values(args)
    given = {"--step": bool(args.step), "--noise": "noise" in flags or "noise_seed" in flags}
    given |= {"--json": args.json is not None, "--map": args.map != "none"}
    check_as_a_whole(_job(args, source, Pick("", "cpu"), ""), given)
    filter = FILTERS.find(args.filter, source.kind)
    targets = outputs.targets(filter, checked_values(args, filter)[1], args.output)
    job = _job(args, source, _pick(args, filter, source), next(iter(targets), ""))
    if not job.merges and len(targets) != 1 and not whole_reason(filter, job.task):
        raise ParamError(
            f"{source.name} does not fit in memory and goes in bands, which write one file; name it with one --output."
        )
    return job, targets


def _job(args: argparse.Namespace, source: Rows, pick: Pick, output: str) -> FileRun:
    filter = FILTERS.find(args.filter, source.kind)
    wanted = Wanted(filter.id, checked_values(args, filter)[1], pick, output)
    memory = file_bytes(args) or quarter()
    return FileRun(source, wanted, memory, args.dtype, args.nonfinite or "refuse", device_bytes(args))


def _pick(args: argparse.Namespace, filter: Filter, source: Rows) -> Pick:
    """The one named variant, or the last of the filter's own that supports the input."""
    values, params = checked_values(args, filter)
    meta = _job(args, source, Pick("", "cpu"), "").task.meta
    fitting = [p for p in make_picks(args, filter, meta, values) if args.variant or takes(filter, p, meta, params)]
    none = f"No variant of {filter.id} takes {source.name}; name one with --variant to see why."
    return _only(args, fitting, f"{source.name} goes in bands by one variant, not by", none)
