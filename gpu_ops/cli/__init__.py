"""The command line: list, run, bench, sweep, xray, claims, compile, doctor.

Exit codes: 0 fine, 2 bad arguments or input, 3 a result was wrong, 4 a device is not available.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from gpu_ops.errors import KernelFault, KernelscopeError


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    from gpu_ops.cli.parser import parse

    try:
        args = parse(list(sys.argv[1:] if argv is None else argv))
        return int(args.command(args))
    except KernelFault as error:
        print(f"kernelscope: {error}", file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(error.exit_code)  # the driver's own clean-up would only fail as well
    except KernelscopeError as error:
        print(f"kernelscope: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("kernelscope: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Whoever read our output has gone; nothing more can be said, and Python must not try at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
