"""The limits of a user's kernel, from the flags, and a message if it takes long."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from gpu_ops.errors import KernelFault
from gpu_ops.own_kernels.kernel_process import MEBIBYTES, SECONDS, piece
from gpu_ops.progress import Limit

SHIPPED_SECONDS = 30.0
"""The default deadline of a shipped kernel."""


def has_reader() -> bool:
    """Whether standard error is a terminal."""
    return sys.stderr.isatty()


@contextmanager
def within_limits(args: argparse.Namespace, what: str, simulated: bool = True) -> Iterator[Limit]:
    """Inside the block, the flags limit the time and the memory of `what`; after two seconds a line on a terminal says
    so. A kernel that fails, or does not end, on a GPU ends the process: the error names `what`. `simulated` is as in
    `piece`."""
    mib, seconds = MEBIBYTES if args.memory is None else args.memory, _seconds(args)
    limits = f"{seconds:g} s (--deadline) and {mib:g} MiB more memory (--memory)"

    def long() -> None:
        if has_reader():
            print(f"{what}: still running; it may take {limits}.", file=sys.stderr, flush=True)

    try:
        with piece(what, seconds, mib, simulated=simulated, long=long) as limit:
            yield limit
    except KernelFault as fault:
        raise KernelFault(f"{what}: {fault}") from None


def _seconds(args: argparse.Namespace) -> float:
    """The deadline; timing with more samples takes longer."""
    is_own = args.kernel is not None or hasattr(args, "file")
    default = SECONDS if is_own and not getattr(args, "careful", False) else SHIPPED_SECONDS
    return default if args.deadline is None else float(args.deadline)


def positive(text: str) -> float:
    """A number above 0. Raises ValueError, which argparse reports as a sentence."""
    value = float(text)
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"{text} is not a number above 0 and below 1e9; give one, such as 30")
    return value


def add_limits(parser: argparse.ArgumentParser, what: str, more: str = "") -> argparse._ArgumentGroup:
    """The limits at which a user's kernel is stopped; the same flag limits the memory of a run in bands."""
    group = parser.add_argument_group(f"limits of {what}")
    group.add_argument(
        "--deadline",
        type=positive,
        metavar="SECONDS",
        help=f"time for compiling, and for the kernel on its device (default {SECONDS:g}; shipped kernels "
        f"{SHIPPED_SECONDS:g})",
    )
    group.add_argument(
        "--memory", type=positive, metavar="MIB", help=f"additional memory (default {MEBIBYTES:g}{more})"
    )
    return group
