"""One writer at a time: a process holds a report from reading it to replacing it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gpu_ops.errors import ReportError, plain
from gpu_ops.io.part_files import is_same, lock


@contextmanager
def locked(path: Path, named: Path | None = None, other: str = "another file for --json") -> Iterator[None]:
    """Hold `path` for this process while the block runs. The lock is a file beside it, removed at the end; the system
    releases it when a process dies. Readers need no lock, because a writer replaces the file as a whole.

    Raises ReportError at once when another process holds it, and when no file can be made there; it calls it `named`
    and proposes the `other`.
    """
    beside = path.with_name(f".{path.name}.lock")
    try:
        handle = _acquire(beside)
    except (BlockingIOError, PermissionError) as error:
        if not beside.exists():
            raise _unwritable(named or path, other, error) from error
        raise ReportError(
            f"Another Kernelscope is writing {plain(named or path)} now; wait for it, or choose {other}."
        ) from error
    except OSError as error:
        raise _unwritable(named or path, other, error) from error
    try:
        yield
    finally:
        _release(handle, beside)


def _unwritable(path: Path, other: str, error: OSError) -> ReportError:
    return ReportError(f"{plain(path)} cannot be written ({error.strerror}); choose {other}.")


def _acquire(beside: Path) -> int:
    """Open and lock the file. Its last holder may have removed it in the meantime: then make a new one."""
    while True:
        handle = os.open(beside, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            lock(handle)
            if is_same(handle, beside):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _release(handle: int, beside: Path) -> None:
    if sys.platform == "win32":  # an open file cannot be removed there, so another writer's stays
        os.close(handle)
        with suppress(OSError):
            beside.unlink()
        return
    with suppress(OSError):
        beside.unlink()
    os.close(handle)
