"""run --frames all: a filter over every frame of a stack, into one file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping

from gpu_ops.cli.inputs import read_input
from gpu_ops.errors import ParamError
from gpu_ops.measuring.all_frames import Wanted, check_target, write_frames
from gpu_ops.types import Experiment, Input


def check_frames(args: argparse.Namespace) -> None:
    """Raises ParamError for flags that do not go with --frames."""
    if args.frames is None:
        return
    for flag, given in (
        ("--frame", args.param_frame),
        ("--project", args.param_project),
        ("--kernel", args.kernel),
        ("--json", args.json),
        ("--memory", args.memory),
        ("--device-memory", args.device_memory),
    ):
        if given is not None:
            raise ParamError(f"--frames all runs over every frame and writes their results; leave {flag} out.")
    if args.input is None or len(args.output) != 1:
        raise ParamError("--frames all reads a stack and writes one file; name them with --input and one --output.")


def run_over(args: argparse.Namespace, experiment: Experiment, targets: Mapping[str, str]) -> int:
    """Run the experiment's pick over all frames and write the results of one output."""
    ((output, path),) = targets.items()
    input, count = experiment.input, experiment.input.facts.frames
    if count < 2:
        raise ParamError(f"{input.name} is one picture and no stack of frames; leave --frames out.")
    if args.variant and len(experiment.picks) > 1:
        names = ", ".join(f"{p.variant} on {p.device}" for p in experiment.picks)
        raise ParamError(f"--frames all writes the results of one variant, not of {names}; name one, and one --device.")
    if not experiment.picks:
        raise ParamError(f"No variant of {experiment.filter} takes frames of {input.name}; name one with --variant.")
    check_target(path, experiment.filter, output)
    pick = experiment.picks[-1]
    wanted = Wanted(experiment.filter, experiment.params, pick, output)

    def read(frame: int) -> Input:
        return read_input(args, {"frame": str(frame)})

    try:
        written = write_frames(read, count, wanted, path, _say_frame)
    finally:
        end_line()
    shape = " x ".join(map(str, written.shape))
    checked = "compared with the reference" if written.checked else "not checked"
    print(
        f"{path} holds the output {output} for {count} frames of {input.name}: {shape} {written.dtype}, by "
        f"{pick.variant} on {pick.device}; frame 0 was {checked}"
    )
    return 0


def _say_frame(done: int, total: int) -> None:
    say_part("frame", done, total)


def say_part(what: str, done: int, total: int) -> None:
    """Show the part at work on a terminal, over the last one."""
    if sys.stderr is not None and sys.stderr.isatty():
        print(f"\r{what} {done + 1} of {total}", end="", file=sys.stderr, flush=True)


def end_line() -> None:
    """Clear the line of `say_part`."""
    if sys.stderr is not None and sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)
