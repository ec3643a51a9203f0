"""A command with a user's kernel runs in a child process. The command itself only watches: where the child exceeds its
time or crashes, it ends the child and reports that in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gpu_ops.cli import guarded
from gpu_ops.cli import main as command
from gpu_ops.errors import STOPPED, KernelError
from gpu_ops.own_kernels import KERNEL_FILES
from gpu_ops.own_kernels.kernel_process import KernelProcess

WITH_KERNELS = ("run", "xray")
WORK = "gpu_ops.cli.own.supervised:work"
POLL = 0.2
"""Seconds between two looks: Windows reports Ctrl+C only between them."""


def main(argv: Sequence[str], draw: Callable[[Any, str], None] | None = None) -> int:
    """As `gpu_ops.cli.main`; a command that names a kernel file runs in a child process."""
    is_own = any(a.startswith("--k") or a.endswith(KERNEL_FILES) for a in argv[1:])
    is_batch = any(a.startswith("--output-d") for a in argv[1:])  # which has limits of its own, and its own end
    if argv and argv[0] in WITH_KERNELS and is_own and not is_batch:
        return guarded(lambda: _supervise(list(argv)))
    return command(argv, draw)


def _supervise(argv: list[str]) -> int:
    """The exit code of the child. Raises KernelError."""
    process = KernelProcess(WORK, as_command=True)
    try:
        process.start({"argv": argv}, "The kernel")
        while (outcome := process.poll(POLL)) is None:
            pass
    except KeyboardInterrupt:  # the child prints that it was stopped
        process.interrupt()
        return STOPPED
    finally:
        process.close()
    if outcome.result is None:
        raise KernelError(outcome.reason)
    return int(outcome.result["code"])


def work(request: dict[str, Any]) -> Any:
    """The work of the child."""
    raise SystemExit(command(request["argv"]))
