"""run --frames: a filter over every frame of a stack, into one file or one result."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import replace

from gpu_ops.cli import outputs, streams
from gpu_ops.cli.inputs import read_input
from gpu_ops.errors import ParamError, plain
from gpu_ops.input_kinds import INPUT_KINDS
from gpu_ops.measuring.all_frames import check_target, merge_frames, write_frames
from gpu_ops.measuring.one_part import Wanted
from gpu_ops.types import Experiment, Input, Pick


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
            raise ParamError(f"--frames {args.frames} runs over every frame of a stack; leave {flag} out.")
    if args.input is None:
        raise ParamError(f"--frames {args.frames} reads a stack; name it with --input.")
    if args.frames == "all" and len(args.output) != 1:
        raise ParamError("--frames all reads a stack and writes one file; name them with --input and one --output.")


def run_over(args: argparse.Namespace, experiment: Experiment, targets: Mapping[str, str]) -> int:
    """Run the experiment's pick over all frames and write the results of one output, or merge them."""
    input, count, pick = experiment.input, experiment.input.facts.frames, _pick(args, experiment)

    def read(frame: int) -> Input:
        return read_input(args, {"frame": str(frame)})

    if args.frames == "merged":
        return _merge(args, read, Wanted(experiment.filter, experiment.params, pick, ""), targets, experiment)
    ((output, path),) = targets.items()
    check_target(path, experiment.filter, output)
    wanted = Wanted(experiment.filter, experiment.params, pick, output)
    try:
        written = write_frames(read, count, wanted, path, _say_frame)
    finally:
        end_line()
    size = INPUT_KINDS[input.kind].size_text(written.shape[1:])
    checked = "compared with the reference" if written.checked else "not checked"
    print(
        f"{plain(path)} holds the output {output} for {count} frames of {input.name}, {size} {written.dtype} each, by "
        f"{pick.variant} on {pick.device}; frame 0 was {checked}"
    )
    return 0


def _pick(args: argparse.Namespace, experiment: Experiment) -> Pick:
    """The one variant that runs. Raises ParamError where there are several or none, or there is one frame."""
    input = experiment.input
    if input.facts.frames < 2:
        raise ParamError(f"{input.name} is one picture and no stack of frames; leave --frames out.")
    if args.variant and len(experiment.picks) > 1:
        names = ", ".join(f"{p.variant} on {p.device}" for p in experiment.picks)
        raise ParamError(f"--frames {args.frames} runs one variant, not {names}; name one, and one --device.")
    if not experiment.picks:
        raise ParamError(f"No variant of {experiment.filter} takes frames of {input.name}; name one with --variant.")
    return experiment.picks[-1]


def _merge(
    args: argparse.Namespace,
    read: Callable[[int], Input],
    wanted: Wanted,
    targets: Mapping[str, str],
    experiment: Experiment,
) -> int:
    """Merge the results of all frames, print them and write those that are named."""
    input, count, pick = experiment.input, experiment.input.facts.frames, wanted.pick
    try:
        run, last = merge_frames(read, count, wanted, _say_frame)
    finally:
        end_line()
    choices = {**input.origin.get("choices", {}), "frames": f"all {count}, merged"}
    whole = replace(input, origin={**input.origin, "choices": choices})
    outputs.save_all(targets, [run], replace(last, input=whole), outputs.saving_of(args))
    print(
        f"{wanted.filter} of all {count} frames of {input.name}, by {pick.variant} on {pick.device}; frame 0 was "
        "compared with the reference"
    )
    print(outputs.describe([run]))
    return 0


def _say_frame(done: int, total: int) -> None:
    say_part("frame", done, total)


def say_part(what: str, done: int, total: int) -> None:
    """Show the part at work on a terminal, over the last one."""
    streams.rewrite(f"{what} {done + 1} of {total}")


def end_line() -> None:
    """Clear the line of `say_part`."""
    streams.rewrite("")
