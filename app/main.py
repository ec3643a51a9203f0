"""The `kernelscope` command: an engine command or the window. Heavy modules are imported only when needed."""

from __future__ import annotations

import argparse
import os
import re
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from app.views.window.main_window import MainWindow
    from gpu_ops.engine.child import EarlyChild
    from gpu_ops.types import Filter

    Opened = Callable[[QApplication, MainWindow], None]

COMMANDS = (
    *("list", "run", "bench", "sweep", "compare", "check", "report", "claims", "figures", "tables", "compile"),
    *("doctor", "engine"),
    *("xray", "predict", "timeline", "transfers", "lesson", "lecture", "exercise", "explain"),
)
DRAWN = "figures", "timeline", "transfers", "lecture"
"""Commands that draw pictures."""
WINDOW_BENCH = "window-bench"
WINDOW_SIDES = 100, 16384
"""Pixels of a window's side."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command of the engine, or open the window. Returns the exit code."""
    from gpu_ops.cli import streams

    with streams.only_printable():
        return _run(list(sys.argv[1:] if argv is None else argv), watched=argv is None)


def _run(args: Sequence[str], opened: Opened | None = None, watched: bool = False) -> int:
    """With `watched`, a command with a user's kernel runs in a child process; `opened` is called with the application
    and its window before that is shown."""
    from gpu_ops.cli import guarded
    from gpu_ops.processes import importing

    if args and args[0] == WINDOW_BENCH:
        from app.shell.benchmark import main as window_bench

        return guarded(lambda: window_bench(args[1:], _run))
    if args and (args[0] in COMMANDS or args[0] == "--version"):
        from gpu_ops import cli
        from gpu_ops.cli.own import supervised

        command = supervised.main if watched else cli.main
        if args[0] not in DRAWN:
            return command(args)
        from app.shell.figure_picture import draw

        return command(args, draw)
    from gpu_ops.engine.child import FORKS

    copied = FORKS and threading.active_count() == 1 and "PySide6.QtCore" not in sys.modules
    parsed_args = list[argparse.Namespace]()
    early = None if copied else start_engine(args)

    def ask() -> int:
        parsed = _parse(args)
        with importing():
            _check(parsed)
        parsed_args.append(parsed)
        return 0

    code = guarded(ask)
    if not parsed_args and early is not None:
        early.child.end()
    if parsed_args and copied:  # with the filters that this process has imported by now
        early = start_engine(args, copied)
    return open_window(parsed_args[0], early, opened) if parsed_args else code


def start_engine(args: Sequence[str], copied: bool = False) -> EarlyChild | None:
    """Start the engine's process, on another core, before this one imports Qt: as a copy of this process, or else
    before this one imports the filters. None where no window opens, or the system has no process left: the window says
    why."""
    from gpu_ops import screen_fault

    if {"-h", "--help"} & set(args) or screen_fault():
        return None
    from gpu_ops.engine.child import EarlyChild
    from gpu_ops.processes import importing

    if copied:
        with importing():
            import gpu_ops.engine.about  # noqa: F401  # with the messages, which both processes need
    with suppress(OSError):
        return EarlyChild(copied)
    return None


def gui() -> int:
    """The window, for desktop launchers."""
    return main()


def _parse(args: Sequence[str]) -> argparse.Namespace:
    from gpu_ops.cli import streams

    parser = streams.Parser(
        prog="kernelscope",
        description="Opens the window, on a file when one is given. Commands: "
        + ", ".join((*COMMANDS, WINDOW_BENCH))
        + ".",
    )
    source = parser.add_mutually_exclusive_group()
    source.add_argument("file", nargs="?", help="an image, a signal, or a session (.kernelscope)")
    source.add_argument("--sample", help="open this sample instead of a file (kernelscope list names them)")
    _add_choices(parser)
    parser.add_argument(
        "--step",
        action="append",
        default=[],
        metavar="'ID NAME=VALUE …'",
        help="a step before the filter, such as 'crop start=10,20 shape=100,200'; several follow one another",
    )
    parser.add_argument("--filter", help="a filter's id or family")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the filter")
    parser.add_argument("--variant", nargs="+", action="extend", default=[], metavar="ID", help="tick these variants")
    parser.add_argument("--device", help="where kernels run: cuda:N, sim or sim:sm_90; cpu ticks only CPU variants")
    parser.add_argument("--remote", metavar="USER@HOST", help="use the GPUs of this machine too, which ssh reaches")
    parser.add_argument("--remote-command", metavar="COMMAND", default="", help="kernelscope there")
    parser.add_argument("--measure", action="store_true", help="measure once the input is loaded")
    parser.add_argument(
        "--screenshot", metavar="FILE.png", help="save a picture of the window when all is done, and exit"
    )
    parser.add_argument("--size", metavar="WxH", type=_size, help="size of the window")
    parser.add_argument("--scheme", choices=("system", "light", "dark"), help="colours")
    parser.add_argument("--presenter", action="store_true", help="large type")
    return parser.parse_args(args)


def _add_choices(parser: argparse.ArgumentParser) -> None:
    """Add the flags for how a file is read, as the engine's commands have them."""
    from gpu_ops.io.opening import CHOICES

    group = parser.add_argument_group("how the file is read")
    for param in CHOICES:
        group.add_argument(f"--{param.name}", metavar="VALUE", help=f"{param.help}: {param.allowed}")


def _is_session(args: argparse.Namespace) -> bool:
    from app.base.paths import is_session

    return args.file is not None and is_session(args.file)


def _check_choices(args: argparse.Namespace) -> None:
    """Check the reading choices. Raises ParamError for a bad value, and for any choice without a file."""
    from gpu_ops.errors import ParamError, plain
    from gpu_ops.io.opening import CHOICES

    for param in CHOICES:
        value = getattr(args, param.name)
        if value is not None:
            param.check(value)
            if args.file is None:
                raise ParamError(f"--{param.name} defines how a file is read; name the file as well.")
            if _is_session(args):
                raise ParamError(
                    f"--{param.name} defines how a file is read, and {plain(args.file)!r} is a session; leave it out."
                )


def _check_session(args: argparse.Namespace) -> None:
    """Raises ParamError for flags that the session file already sets."""
    from gpu_ops.errors import ParamError, plain

    given = {"step": args.step, "filter": args.filter, "set": args.set, "variant": args.variant, "device": args.device}
    for name, value in given.items():
        if value:
            raise ParamError(f"--{name} is set by the session {plain(args.file)!r} already; leave it out.")


def _check_steps(texts: Sequence[str], filters: Sequence[Filter]) -> None:
    """Check each step for the kinds of inputs that the filters take. Raises ParamError."""
    from gpu_ops import check_step, parse_step
    from gpu_ops.errors import ParamError

    for step in map(parse_step, texts):
        errors = []
        for kind in dict.fromkeys(f.accepts for f in filters):
            try:
                check_step(step, kind)
            except ParamError as error:
                errors.append(error)
            else:
                break
        else:
            raise errors[0]


def _size(text: str) -> str:
    """Check a window size and return it. Raises an error that argparse prints as a sentence."""
    low, high = WINDOW_SIDES
    match = re.fullmatch(r"([0-9]{1,5})x([0-9]{1,5})", text)
    if not match or not all(low <= int(side) <= high for side in match.groups()):
        raise argparse.ArgumentTypeError(f"must be WIDTHxHEIGHT, each from {low} to {high}, such as 1280x800")
    return text


def _check(args: argparse.Namespace) -> None:
    """Check every argument. Raises KernelscopeError for a name that does not exist."""
    from app.base.paths import DEFAULT_SAMPLE
    from gpu_ops import FILTERS, SAMPLES
    from gpu_ops.errors import ParamError, plain
    from gpu_ops.params import nearest

    if args.file is not None and not os.path.lexists(args.file) and not os.path.splitext(args.file)[1]:
        near, known = nearest(args.file, COMMANDS), ", ".join((*COMMANDS, WINDOW_BENCH))
        raise ParamError(f"{plain(args.file)!r} is neither a file nor a command{near}; commands are {known}.")
    path = args.screenshot
    if path is not None and (not path or (os.path.exists(path) and not os.path.isfile(path))):
        raise ParamError(f"--screenshot {plain(path)!r} is no file to draw into; name one that ends in .png.")
    _check_choices(args)
    if _is_session(args):
        _check_session(args)
    samples = [s.id for s in SAMPLES]
    if args.sample is not None and args.sample not in samples:
        near = nearest(args.sample, samples)
        raise ParamError(f"There is no sample {plain(args.sample, 60)!r}{near}; choose from {', '.join(samples)}.")
    # The window starts with the first filter, or its counterpart for another kind of input.
    name = FILTERS[0].family if args.filter is None else args.filter
    filters = FILTERS.named(name)
    if args.file is None:
        kind = next(s.kind for s in SAMPLES if s.id == (args.sample or DEFAULT_SAMPLE))
        filters = [f for f in filters if f.accepts == kind] or filters
    known_variants = {id for f in filters for id in (*(v.id for v in f.variants), *f.renamed)}
    for id in args.variant:
        if id not in known_variants:
            filters[0].variant(id)  # raises, naming what there is
    _check_values(args.set, filters)
    _check_steps(args.step, filters)


def _check_values(texts: Sequence[str], filters: Sequence[Filter]) -> None:
    """Check that each NAME=VALUE sets an existing parameter to an allowed value, and no parameter twice."""
    from gpu_ops.errors import ParamError, plain
    from gpu_ops.params import nearest

    known, seen = list(dict.fromkeys(p.name for f in filters for p in f.params)), set()
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise ParamError(f"--set {plain(text, 60)!r} is not NAME=VALUE, such as --set {known[0]}=5.")
        if name not in known:
            near, ids = nearest(name, known), " and ".join(f.id for f in filters)
            raise ParamError(
                f"--set {plain(name, 60)!r} names no parameter of {ids}{near}; there are {', '.join(known)}."
            )
        if name in seen:
            raise ParamError(f"--set gives {name} twice; give it once.")
        seen.add(name)
        next(p for f in filters for p in f.params if p.name == name).check(value)


def open_window(args: argparse.Namespace, child: EarlyChild | None = None, opened: Opened | None = None) -> int:
    """Open the window and run until it closes; without a display, run the same experiment in the terminal. If a library
    is missing, print one sentence about it. `child` is an engine that starts already; `opened` is called with the
    application and its window before that is shown."""
    from gpu_ops import screen_fault, window_fault
    from gpu_ops.processes import importing

    if args.screenshot is not None:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    reason = screen_fault()
    if reason:
        from app.shell.screenless import run

        return run(args, reason)
    fault = window_fault()
    if fault:
        print(f"kernelscope: {fault}", file=sys.stderr)
        return 4
    with importing():
        from gpu_ops.engine.client import EngineClient
        from gpu_ops.engine.client_jobs import EarlyAnswers

        early = EarlyAnswers()
        client = EngineClient(early, early=child)
        client.start()
        from app.base.qt_imports import skip_source_search

        skip_source_search()
        from app.shell.faults import quieten_qt
        from app.shell.window import show

    quieten_qt()
    return show(args, early=(client, early), opened=opened)


if __name__ == "__main__":
    sys.exit(main())
