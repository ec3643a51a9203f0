"""A command with a user's kernel runs in a child process. The command itself only watches: where the child exceeds its
time or crashes, it ends the child and reports that in one sentence."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from gpu_ops.cli import guarded
from gpu_ops.cli import main as command
from gpu_ops.errors import STOPPED, KernelError
from gpu_ops.own_kernels.watched import Watch, be_watched
from gpu_ops.processes import safe_path

WITH_KERNELS = ("run", "xray")
PATIENCE = 5.0
"""Seconds for the end of a child that has done its work or is asked to stop."""


def main(argv: Sequence[str], draw: Callable[[Any, str], None] | None = None) -> int:
    """As `gpu_ops.cli.main`; a command that names a kernel file runs in a child process."""
    if argv and argv[0] in WITH_KERNELS and any(a.startswith("--k") or a.endswith(".cu") for a in argv[1:]):
        return guarded(lambda: _supervise(list(argv)))
    return command(argv, draw)


def _supervise(argv: list[str]) -> int:
    """The exit code of the child. Raises LimitReached, KernelError."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, argv), daemon=True)
    with safe_path():
        process.start()
    theirs.close()
    watch = Watch(ours)
    try:
        while watch.listen():
            pass
        process.join(PATIENCE)
    except KeyboardInterrupt:  # the child prints that it was stopped
        process.terminate()
        process.join(PATIENCE)
        return STOPPED
    finally:
        process.kill()
        process.join()
        ours.close()
    code = process.exitcode or 0
    if code < 0:
        raise KernelError(
            f"{watch.what} ended its process by {_signal_name(-code)}. Look for very large arrays, tables and output."
        )
    return code


def _signal_name(number: int) -> str:
    with suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"


def _serve(connection: Connection, argv: list[str]) -> None:
    """The main of the child."""
    be_watched(connection)
    raise SystemExit(command(argv))
