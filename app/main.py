"""The `kernelscope` command: a command of the engine, or the window. Nothing heavy is imported before it is needed."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

COMMANDS = ("list", "run", "bench", "sweep", "claims", "compile", "doctor", "xray")
WINDOW_BENCH = "window-bench"
APT_LINE = (
    "sudo apt install libegl1 libgl1 libxkbcommon0 libfontconfig1 libdbus-1-3 libxcb-cursor0 libxcb-icccm4"
    " libxcb-keysyms1"
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command of the engine, or open the window. Returns the exit code."""
    args = list(sys.argv[1:] if argv is None else argv)
    if args and args[0] == WINDOW_BENCH:
        from app.benchmark import main as window_bench

        return window_bench(args[1:])
    if args and (args[0] in COMMANDS or args[0] == "--version"):
        from gpu_ops.cli import main as command

        return command(args)
    return open_window(_parse(args))


def gui() -> int:
    """The window, for desktop launchers."""
    return main()


def _parse(args: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="kernelscope",
        description="Opens the window, on a file when one is given. Commands: "
        + ", ".join((*COMMANDS, WINDOW_BENCH))
        + ".",
    )
    parser.add_argument("file", nargs="?", help="an image or a signal")
    parser.add_argument("--sample", help="open this sample instead of a file (kernelscope list names them)")
    parser.add_argument("--filter", help="a filter's id or family")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the filter")
    parser.add_argument("--variant", nargs="+", default=[], metavar="ID", help="tick these variants")
    parser.add_argument("--device", help="where kernels run: cuda:N, sim or sim:sm_90")
    parser.add_argument("--measure", action="store_true", help="measure once the input is there")
    parser.add_argument(
        "--screenshot", metavar="FILE.png", help="draw the window into a file when all is done, and exit"
    )
    parser.add_argument("--size", metavar="WxH", help="size of the window")
    parser.add_argument("--scheme", choices=("system", "light", "dark"), help="colours")
    parser.add_argument("--presenter", action="store_true", help="large type")
    return parser.parse_args(args)


def open_window(args: argparse.Namespace) -> int:
    """Open the window and stay until it closes. What is missing is said in a sentence."""
    if args.screenshot:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    elif _no_display():
        print(
            "kernelscope: there is no display here; draw into a file with --screenshot FILE.png, or use a command: "
            + ", ".join(COMMANDS),
            file=sys.stderr,
        )
        return 4
    try:
        from app.window import show
    except ImportError as error:
        if "PySide6" not in str(error) and ".so" not in str(error):
            raise
        print(f"kernelscope: Qt cannot start: {error}. On Debian or Ubuntu: {APT_LINE}", file=sys.stderr)
        return 4
    return show(args)


def _no_display() -> bool:
    if sys.platform != "linux" or os.environ.get("QT_QPA_PLATFORM"):
        return False
    return not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


if __name__ == "__main__":
    sys.exit(main())
