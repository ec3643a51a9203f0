"""The command line: list, run, bench, sweep, xray, claims, compile, doctor.

Exit codes: 0 fine, 2 bad arguments or input, 3 a result was wrong, 4 a device is not available.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Sequence

from gpu_ops.cli import streams
from gpu_ops.errors import KernelFault, KernelscopeError, plain, shortened
from gpu_ops.progress import has_abandoned_calls

FINE, BAD_INPUT, STOPPED = 0, 2, 130
NOT_WRITTEN = "Standard output cannot be written ({}); lead it to a place with room."
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
MOST = 2000
"""Letters of a message."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    if sys.stdout is None:
        streams.say("Standard output is closed; lead it to a file or a terminal, or to /dev/null.")
        return BAD_INPUT

    def command() -> int:
        from gpu_ops.cli.parser import parse

        args = parse(list(sys.argv[1:] if argv is None else argv))
        return int(args.command(args))

    return guarded(command)


def guarded(work: Callable[[], int]) -> int:
    """The exit code that `work` returns, once all output is written. Whatever a person, a file or the machine does
    wrong in it is said in a sentence."""
    streams.prepare()
    code = _written(_worked(work))
    if has_abandoned_calls():  # ending the process also ends an abandoned compilation
        os._exit(code)
    return code


def _written(code: int) -> int:
    """The exit code once all output is written: a command whose answer is lost did not go well."""
    fault = streams.fault_of_output()
    if not fault:
        return code
    streams.say(NOT_WRITTEN.format(fault))
    return code or BAD_INPUT


def _worked(work: Callable[[], int]) -> int:
    try:
        return work()
    except SystemExit as left:  # argparse has said why
        return left.code if isinstance(left.code, int) else FINE
    except KernelFault as error:
        streams.say(error)
        _written(error.exit_code)
        os._exit(error.exit_code)  # the driver's own clean-up would only fail as well
    except KernelscopeError as error:
        streams.say(shortened(str(error), MOST))
        return error.exit_code
    except KeyboardInterrupt:
        streams.say("stopped")
        return STOPPED
    except MemoryError:
        streams.say("This needs more memory than there is; choose a smaller input, such as --size 512x512.")
        return BAD_INPUT
    except BrokenPipeError:
        return FINE  # whoever read our output has enough
    except OSError as error:
        streams.say(_refused(error))
        return BAD_INPUT


def _refused(error: OSError) -> str:
    """What the system refused. Only what has no name of its own is written without one: standard output."""
    reason = error.strerror or plain(error)
    if error.filename is None and error.errno in NO_ROOM:
        return NOT_WRITTEN.format(reason)
    what = plain(error.filename) if error.filename else "The system"
    return f"{what} does not do what is asked ({reason}); check names, permissions, disk and memory."
