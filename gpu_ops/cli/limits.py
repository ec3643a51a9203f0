"""What somebody's kernel may take, as the flags say it, and the word that it takes long."""

from __future__ import annotations

import argparse
import sys
from contextlib import AbstractContextManager

from gpu_ops.progress import Limit, limited


def watched() -> bool:
    """Whether a person looks on."""
    return sys.stderr.isatty()


def within_limits(args: argparse.Namespace, what: str) -> AbstractContextManager[Limit]:
    """Inside, `what` may take as long and as much memory as the flags say; after two seconds one line tells so, where a
    person looks on."""
    limits = f"{args.deadline:g} s (--deadline) and {args.memory:g} MiB more memory (--memory)"

    def long() -> None:
        if watched():
            print(f"{what}: still at work; it may take {limits}.", file=sys.stderr, flush=True)

    return limited(Limit(args.deadline, int(args.memory * (1 << 20)), long))
