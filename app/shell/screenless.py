"""Runs the window's experiment without a display: a table in the terminal, and the window's picture in a file."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from app.base.paths import DEFAULT_SAMPLE, is_session
from gpu_ops.cli import guarded, streams
from gpu_ops.errors import BAD_INPUT, STOPPED

if TYPE_CHECKING:
    from app.models.experiment.session import Session
    from app.models.results.results import Results

HOW = "for the window, start kernelscope on a desktop, or log in with ssh -X"
PLATFORM = "offscreen"
"""Qt's platform that draws into memory."""


def run(args: argparse.Namespace, reason: str) -> int:
    """Run the experiment of the command line, print its table, and draw the window into a file in the current folder.
    `reason` says why no window opens. Returns the exit code; where Qt cannot draw, only the table is printed."""
    from gpu_ops import window_fault

    os.environ["QT_QPA_PLATFORM"] = PLATFORM
    fault, path = window_fault(), picture_name(args)
    if fault:
        streams.say(f"{reason}, so the experiment runs without the window; {HOW}. There is no picture either: {fault}")
        return _without_qt(args)
    streams.say(f"{reason}, so the experiment runs without the window and saves a picture of it as {path}; {HOW}.")
    args.screenshot = path

    def shown() -> int:
        from app.shell.faults import quieten_qt
        from app.shell.window import show

        quieten_qt()
        code = show(args, report)
        if code == STOPPED:
            streams.say("stopped")
        return code

    return guarded(shown)


def picture_name(args: argparse.Namespace) -> str:
    """The name of the window's picture, after the input: "kernelscope-camera.png"."""
    stem = PurePath(args.file).stem if args.file else args.sample or DEFAULT_SAMPLE
    return f"kernelscope-{stem}.png"


def report(session: Session, results: Results) -> int:
    """Print the rows of the window's experiment as a table. Returns the exit code that follows from their verdicts."""
    from app.models.experiment.steps import title_with_steps
    from gpu_ops.cli import measure, tables
    from gpu_ops.input_kinds import INPUT_KINDS
    from gpu_ops.report.speedups import with_speedups

    rows = [entry.row for entry in results.entries() if entry.row is not None and not entry.recorded]
    if session.input is None or not rows:
        return BAD_INPUT  # the sentence with the reason has been printed already
    input, rows = session.input, with_speedups(rows, session.baseline)
    timed = [row for row in rows if not (row.simulated and row.counters)]
    size = INPUT_KINDS[input.kind].size_text(input.array.shape)
    what = f"{title_with_steps(input)}, {size} {input.array.dtype}"
    print(measure.job_title(session.filter.id, what, session.params))
    table = tables.bench_table(timed, None, session.baseline) if timed else ""
    print("\n\n".join(filter(None, (table, tables.counted_table(rows), tables.footnotes(rows)))))
    return measure.exit_code(rows, explicit=False)


def _without_qt(args: argparse.Namespace) -> int:
    """Time the same experiment by the command that needs no Qt. No row has the reference's time: the reference runs
    separately."""
    from gpu_ops import FILTERS
    from gpu_ops.cli import main as command
    from gpu_ops.types import REFERENCE

    if args.file and is_session(args.file):
        streams.say(f"{args.file} is a session, which only the window opens; name its input file.")
        return 4
    timed = [id for id in args.variant if id != REFERENCE]
    name = args.filter or FILTERS[0].family
    words = ["bench", name, "--quick"] if timed or not args.variant else ["run", name]
    words += _input_words(args)
    words += [word for step in args.step for word in ("--step", step)]
    words += [f"--{name.replace('_', '-')}={value}" for name, _, value in (text.partition("=") for text in args.set)]
    words += ["--variant", *(timed or args.variant)] if args.variant else []
    words += ["--device", args.device] if args.device else []
    return command(words)


def _input_words(args: argparse.Namespace) -> Sequence[str]:
    from gpu_ops.io.opening import CHOICES

    if not args.file:
        return ("--sample", args.sample or DEFAULT_SAMPLE)
    given = {param.name: getattr(args, param.name) for param in CHOICES}
    return ("--input", args.file, *(f"--{name}={value}" for name, value in given.items() if value is not None))
