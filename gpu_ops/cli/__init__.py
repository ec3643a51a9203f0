"""The command line: list, run, bench, sweep, compare, report, xray, claims, figures, tables, compile, doctor.

Exit codes: 0 fine, 2 bad arguments or input, 3 a result was wrong, 4 a device is not available, 5 a comparison found
something slower.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from gpu_ops.cli import stopping, streams
from gpu_ops.errors import BAD_INPUT, FINE, STOPPED, WRONG, KernelFault, KernelscopeError, plain, shortened
from gpu_ops.processes import importing
from gpu_ops.progress import has_abandoned_calls

NOT_WRITTEN = "Standard output cannot be written ({}); redirect it to a file on a disk with free space."
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
MOST = 2000
"""The most letters of a message."""


def main(argv: Sequence[str] | None = None, draw: Callable[[Any, str], None] | None = None) -> int:
    """Run a command and return its exit code. `draw(figure, path)` draws a figure, if the caller has the window's
    libraries."""
    if sys.stdout is None:
        streams.say("Standard output is closed; redirect it to a file, a terminal or /dev/null.")
        return BAD_INPUT

    def command() -> int:
        given = list(sys.argv[1:] if argv is None else argv)
        if given[:1] == ["engine"]:  # at once: a window on another machine waits, and needs no other command
            from gpu_ops.cli.remote.serving import run

            return run(given[1:])
        with importing():
            from gpu_ops.cli.parser import parse

        args = parse(given)
        args.draw = draw
        return int(args.command(args))

    return guarded(command)


def guarded(work: Callable[[], int]) -> int:
    """Run `work`, write all output and return the exit code. An error of the user, a file or the machine becomes one
    sentence."""
    streams.prepare()
    with streams.only_printable(), stopping.handled(stopping.interrupt, stopping.TERMINATION):
        code = _write_out(_run(work))
    if has_abandoned_calls():  # an abandoned compilation may still run: it ends with the process
        os._exit(code)
    return code


def _write_out(code: int) -> int:
    """Write all output. Returns the exit code, or that of an error where output is lost."""
    fault = streams.fault_of_output()
    if not fault:
        return code
    streams.say(NOT_WRITTEN.format(fault))
    return code or BAD_INPUT


def _run(work: Callable[[], int]) -> int:
    try:
        return work()
    except SystemExit as exit:  # argparse has printed the reason
        return exit.code if isinstance(exit.code, int) else FINE
    except KernelFault as error:
        streams.say(error.sentence())
        _write_out(error.exit_code)
        os._exit(error.exit_code)  # the driver's own clean-up would only fail as well
    except KernelscopeError as error:
        streams.say(shortened(error.sentence(), MOST))
        return error.exit_code
    except KeyboardInterrupt:
        streams.say("stopped")
        return STOPPED
    except MemoryError:
        streams.say("The machine has too little memory for this; choose a smaller input, such as --size 512x512.")
        return BAD_INPUT
    except BrokenPipeError:
        return FINE  # the reader of the output has stopped reading
    except OSError as error:
        streams.say(_system_fault(error))
        return BAD_INPUT
    except Exception as error:
        return _mistake(error)


def _mistake(error: Exception) -> int:
    """Report the line of a mistake in a filter's code; mistakes in other code are raised with their traceback."""
    from gpu_ops.running.declared import error_location

    mistake = error_location(error)
    if not mistake:
        raise error
    streams.say(f"A filter has {mistake}.")
    return WRONG


def _system_fault(error: OSError) -> str:
    """A sentence about an error of the system. A failed write without a file name is one to standard output."""
    reason = error.strerror or plain(error)
    if error.filename is None and error.errno in NO_ROOM:
        return NOT_WRITTEN.format(reason)
    what = f"{plain(error.filename)} cannot be used" if error.filename else "The system cannot do this"
    return f"{what} ({reason}); check names, permissions, disk and memory."
