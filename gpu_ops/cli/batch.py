"""run with --output-dir: many files through one filter, each with one verified variant, into one file each."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event
from typing import Any

from gpu_ops.batch.choosing import family, for_one
from gpu_ops.batch.files import DONE, Item
from gpu_ops.batch.run import Batch, Pace
from gpu_ops.batch.spec import FORMAT_RULE, VARIANT_RULE, BatchSpec
from gpu_ops.cli import stopping, streams
from gpu_ops.cli.inputs import check_flags, flag_values, reading_of
from gpu_ops.cli.outputs import saving_of
from gpu_ops.cli.parts import device_bytes, file_bytes
from gpu_ops.cli.tables import align, seconds
from gpu_ops.device_names import device_host
from gpu_ops.errors import STOPPED, KernelError, ParamError, counted, plain
from gpu_ops.filters import FILTERS
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.output_kinds import OUTPUT_KINDS
from gpu_ops.own_kernels.checking import usual_device, variant_to_replace
from gpu_ops.own_kernels.sources import read_kernel, with_own_name

CHECKS = ("full", "sample", "off")
NONE = (("gpus", None), ("scheduler", None))
PRINT_S = 5.0
"""Seconds between two lines about the progress of many files."""
TABLE = 1000
"""Files of which the final table has all; of more it has those without a right result."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of a batch."""
    formats = list(dict.fromkeys(s.removeprefix(".") for kind in OUTPUT_KINDS.values() for s in kind.formats))
    group = parser.add_argument_group(
        "many files",
        "With --output-dir each file of --input (several names, a folder, or a quoted pattern such as 'in/*.png') "
        f"gives one result there, by one variant (default: {VARIANT_RULE}). Exit code: 0 all right, 3 a result was "
        "wrong, 2 a file failed, 4 a device failed, 130 stopped; Ctrl-C ends after the files at work.",
    )
    group.add_argument("--output-dir", metavar="FOLDER", help="save the result of each input here, under the same name")
    group.add_argument("--format", choices=formats, help=f"of the results (default: {FORMAT_RULE})")
    group.add_argument("--resume", action="store_true", help="leave out files whose result exists and is unchanged")
    group.add_argument(
        "--checks", choices=CHECKS, default="full", help="verify each result in full, in a sample, or not at all"
    )
    group.add_argument(
        "--workers", type=int, default=1, metavar="N", help="processes that share the files (default 1, without Dask)"
    )
    group.add_argument("--gpus", metavar="all|0,1", help="one worker for each of these GPUs of this machine")
    group.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="the workers of a Dask scheduler, such as tcp://host:8786, share the files",
    )


def check_use(args: argparse.Namespace) -> None:
    """Raises ParamError for flags that need --output-dir, or are not allowed with it."""
    if args.output_dir is None:
        for name, unset in (("format", None), ("resume", False), ("checks", "full"), ("workers", 1), *NONE):
            if getattr(args, name) != unset:
                raise ParamError(f"--{name} is for many files; name their folder with --output-dir, or leave it out.")
        return
    if args.input is None:
        raise ParamError("--output-dir needs files to work on; name them with --input, such as --input 'in/*.png'.")
    if args.frames == "merged":
        raise ParamError("--frames merged is for one input; with --output-dir take --frames all, or leave it out.")
    if args.remote or any(map(device_host, args.device)):
        raise ParamError(
            "--output-dir works with devices of this machine; leave --remote and devices of other machines out, or "
            "start it there: ssh USER@HOST kernelscope run."
        )
    if args.output:
        raise ParamError("--output is for one input, and --output-dir for many; leave one of them out.")
    if len(args.variant) > 1:
        raise ParamError("--output-dir saves the results of one variant; name one with --variant, or none.")


def run(args: argparse.Namespace) -> int:
    """Run the filter on every file and return the exit code."""
    began, spec = time.perf_counter(), _spec(args)
    batch = Batch(spec, streams.say)
    count, printed = len(batch.files), began
    batch.within = _Within(args.frames == "all")
    try:
        with _stoppable() as stop, closing(batch.run(stop.is_set)) as done:
            for place, one in enumerate(done, start=1):
                for sentence in one.said:
                    streams.say(sentence)
                row, verdict = one.row, "done before"
                if not row.get("skipped"):
                    verdict = f"{row['status']}, {seconds(row['seconds'])}, {row['sentence'] or plain(row['output'])}"
                streams.say(f"{place}/{count} {plain(row['file'], 60)}: {verdict}")
                if (now := time.perf_counter()) - printed > PRINT_S:
                    printed = now
                    streams.say(pace_words(batch.pace))
    except KeyboardInterrupt:
        pass  # the report has the finished files
    except KernelError as error:
        for file in spec.edits:
            error.args = tuple(with_own_name(text, file, Path(args.kernel).name) for text in error.args)
        raise
    if args.json == "-":
        print(json.dumps(batch.content(), indent=1))
    else:
        _print(batch, time.perf_counter() - began)
    return batch.exit_code if batch.complete else STOPPED


class _Within:
    """Says every PRINT_S how far a file is that is processed in frames or bands."""

    def __init__(self, frames: bool) -> None:
        self._what, self._again = "frame" if frames else "band", time.perf_counter() + PRINT_S

    def __call__(self, item: Item, done: int, count: int) -> None:
        if (now := time.perf_counter()) > self._again:
            self._again = now + PRINT_S
            streams.say(f"{plain(str(item.file), 60)}: {done:,} of {counted(count, self._what)}")


def pace_words(pace: Pace) -> str:
    """How far a batch is: "120 of 10,000 files, 34.1 a second, 4 min 50 s left"."""
    words = f"{pace.done:,} of {counted(pace.count, 'file')}"
    if pace.left is None:
        return words
    minutes, rest = divmod(round(pace.left), 60)
    return f"{words}, {pace.rate:.3g} a second, {f'{minutes:,} min ' if minutes else ''}{rest} s left"


def _spec(args: argparse.Namespace) -> BatchSpec:
    """The batch that the flags describe. Raises ParamError for flags that no filter of the family has."""
    named, devices, edits = args.variant, args.device, dict[str, str]()
    if args.kernel is not None:
        filters = family(args.filter)
        if len(filters) > 1:
            names = ", ".join(f.id for f in filters)
            raise ParamError(f"--kernel replaces a kernel of one filter; name one of {names}, not {args.filter}.")
        variant = variant_to_replace(filters[0], next(iter(named), None))
        named, edits = [variant.id], {variant.kernels[0]: read_kernel(args.kernel)}
        devices = devices or ([] if args.gpus or args.scheduler else [usual_device()])
    for_one(family(args.filter), lambda f: check_flags(args, f, [f.variant(id) for id in named] or f.variants))
    return BatchSpec(
        inputs=args.input,
        output_dir=args.output_dir,
        filter=args.filter,
        values=flag_values(args),
        preset=getattr(args, "preset", None),
        variant=named[0] if named else None,
        devices=devices,
        reading=reading_of(args),
        saving=saving_of(args, {}),
        format=args.format,
        checks=args.checks,
        memory=file_bytes(args),
        device_memory=device_bytes(args),
        report=None if args.json == "-" else args.json,
        resume=args.resume,
        frames=args.frames == "all",
        workers=args.workers,
        gpus=args.gpus,
        scheduler=args.scheduler,
        edits=edits,
        deadline=args.deadline,
    )


@contextmanager
def _stoppable() -> Iterator[Event]:
    """Inside the block, the first Ctrl-C or SIGTERM stops after the files at work, and the second at once."""
    stop = Event()

    def ask(number: int, frame: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        streams.say("It ends after the files at work; press Ctrl-C again to stop at once.")

    with stopping.handled(ask, stopping.CTRL_C, stopping.TERMINATION):
        yield stop


def _print(batch: Batch, took: float) -> None:
    count = len(batch.files)
    lines = [["file", "size", "variant", "verdict", "time", "result"]]
    for one in batch.rows:
        if count > TABLE and one["status"] in DONE:
            continue
        variant = f"{one['variant']} on {one['device']}" if one.get("variant") else ""
        verdict = "done before" if one.get("skipped") else one["status"].replace("wrong", "WRONG")
        time_text = "" if one.get("skipped") else seconds(one["seconds"])
        result = plain(os.path.basename(one["output"]) or one["sentence"])
        result += f" ({one['mapping']})" if one.get("mapping") else ""
        lines.append([plain(Path(one["file"]).name, 40), _size(one), variant, verdict, time_text, result])
    if len(lines) > 1 or count <= TABLE:
        print(align(lines, frozenset({4})))
    left_out = sum("of_frames" in one for one in batch.rows)
    if left_out and "frame" not in batch.spec.reading.values:
        print(f"Of {counted(left_out, 'stack')} the first frame was taken; --frames all takes all frames.")
    states = ("done before", "right", "unverified", "wrong", "failed")
    tally = {name: batch.tally[name] for name in states} | {"not reached": count - batch.pace.done}
    words = ", ".join(f"{number} {name}" for name, number in tally.items() if number)
    print(f"{counted(count, 'file')} in {seconds(took)}: {words}. Report: {plain(batch.report)}")


def _size(row: Mapping[str, Any]) -> str:
    """What a file has, and how much of it was taken: "1 of 5 frames, 128 x 128 uint16"; "" if it was not read."""
    if "shape" not in row:
        return ""
    size = INPUT_KINDS[FILTERS.find(row["filter"]).accepts].size_text(tuple(row["shape"]))
    frames = f"{row['frames']:,} frames of " if "frames" in row else ""
    frames = f"1 of {row['of_frames']:,} frames, " if "of_frames" in row else frames
    return f"{frames}{size} {row.get('dtype', '')}".strip()
