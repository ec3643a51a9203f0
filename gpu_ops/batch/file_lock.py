"""One writer at a time: a process locks a report from reading it until it has been replaced."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gpu_ops.errors import ReportError, plain
from gpu_ops.io.part_files import hold


@contextmanager
def locked(path: Path, named: Path | None = None, other: str = "another file for --json") -> Iterator[None]:
    """Lock `path` for this process while the block runs. The lock is a file next to it, removed at the end; the
    operating system releases it when a process dies. Readers need no lock, because a writer replaces the file as a
    whole.

    Raises ReportError at once if another process holds the lock, or if no file can be created there; the message calls
    it `named` and proposes the `other`.
    """
    beside, name = path.with_name(f".{path.name}.lock"), plain(named or path)
    try:
        handle = hold(beside, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        sentence = f"{name} cannot be written ({error.strerror}); choose {other}."
        if isinstance(error, BlockingIOError | PermissionError) and beside.exists():
            sentence = f"Another Kernelscope is writing {name} now; wait for it, or choose {other}."
        raise ReportError(sentence) from error
    try:
        yield
    finally:
        _release(handle, beside)


def _release(handle: int, beside: Path) -> None:
    if sys.platform == "win32":  # Windows cannot remove an open file, so another writer's lock file stays
        os.close(handle)
        with suppress(OSError):
            beside.unlink()
        return
    with suppress(OSError):
        beside.unlink()
    os.close(handle)
