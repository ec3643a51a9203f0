"""lecture: list the lectures, check a file of one, or write its handout."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from gpu_ops.cli.tables import align
from gpu_ops.errors import FINE, WRONG, ParamError, counted, plain
from gpu_ops.io import replacing
from gpu_ops.lessons.handout import handout
from gpu_ops.lessons.lecture import Lecture, check_lecture, read_lecture, shipped_lectures

ACTIONS = ("list", "check", "handout")
HANDOUTS = (".html", ".htm", ".pdf")


def add_lecture(commands: Any) -> None:
    """The command `lecture` with its three actions."""
    text = "list the lectures, check that every scene of one can be shown, or write its handout"
    parser = commands.add_parser("lecture", help=text, description=text)
    parser.add_argument("action", choices=ACTIONS, help="what to do")
    parser.add_argument("lecture", nargs="?", metavar="FILE", help="a file, or the name of a shipped lecture")
    parser.add_argument("--output", metavar="FILE", help="the handout, .html or .pdf (default: .html with its name)")
    parser.set_defaults(json=None, command=run)


def run(args: argparse.Namespace) -> int:
    """List, check or hand out. Exit code 3 where a scene cannot be shown."""
    if args.action == "list":
        rows = [(one.path.stem, f"{one.minutes} min", one.title) for one in shipped_lectures()]
        print(align([("name", "takes", "lecture"), *rows]))
        return FINE
    lecture = find_lecture(args.lecture)
    faults = check_lecture(lecture)
    if args.action == "check" or faults:
        print("\n".join(faults) or f"{lecture.path.stem}: right, {counted(len(lecture.scenes), 'scene')}")
        return WRONG if faults else FINE
    return _write(lecture, args)


def find_lecture(name: str | None) -> Lecture:
    """The shipped lecture with this name, or the one in this file. Raises ParamError that names the shipped ones."""
    shipped = {one.path.stem: one for one in shipped_lectures()}
    if name is None:
        raise ParamError(f"Name a lecture: {', '.join(shipped)}, or a file.")
    if name in shipped:
        return shipped[name]
    if not Path(name).exists():
        raise ParamError(f"There is no lecture {plain(name, 60)!r}; choose from {', '.join(shipped)}, or name a file.")
    return read_lecture(name)


def _write(lecture: Lecture, args: argparse.Namespace) -> int:
    path = Path(args.output or lecture.path.with_suffix(".html").name)
    if path.suffix.lower() not in HANDOUTS:
        raise ParamError(f"--output {plain(path, 60)} must end in .html or .pdf, such as handout.pdf.")
    if path.suffix.lower() == ".pdf":
        if args.draw is None:
            raise ParamError("The engine alone writes no PDF; call kernelscope, or name an .html file and print it.")
        args.draw(handout(lecture), str(path))
    else:
        with replacing(path) as file:
            file.write(handout(lecture).encode())
    print(f"{plain(path)}: {counted(path.stat().st_size >> 10, 'KiB', 'KiB')}")
    return FINE
