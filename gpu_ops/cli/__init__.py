"""The command line: list, run, bench, sweep, xray, claims, compile, doctor.

Exit codes: 0 fine, 2 bad arguments or input, 3 a result was wrong, 4 a device is not available.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from gpu_ops.errors import KernelFault, KernelscopeError, shortened
from gpu_ops.progress import left_behind

MOST = 2000
"""Letters of a message."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    try:
        from gpu_ops.cli.parser import parse

        args = parse(list(sys.argv[1:] if argv is None else argv))
        return int(args.command(args))
    except KernelFault as error:
        print(f"kernelscope: {error}", file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(error.exit_code)  # the driver's own clean-up would only fail as well
    except KernelscopeError as error:
        print(f"kernelscope: {shortened(str(error), MOST)}", file=sys.stderr)
        return _end(error.exit_code)
    except KeyboardInterrupt:
        print("kernelscope: stopped", file=sys.stderr)
        return _end(130)
    except BrokenPipeError:
        # Whoever read our output has gone; nothing more can be said, and Python must not try at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _end(code: int) -> int:
    """The exit code. Where a compilation goes on that nobody waits for any more the process ends here, with it."""
    if left_behind():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code
