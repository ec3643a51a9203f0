"""One writer at a time: a file that a process reads, completes and replaces is its own until it is done."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gpu_ops.errors import ReportError, plain

if sys.platform == "win32":
    import msvcrt

    def _take(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _take(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold `path` for this process while the block runs. The lock is on a file beside it, which is gone afterwards;
    the system lets go of it when a process dies. Readers need none: the file is only ever replaced as a whole.

    Raises ReportError at once when another process holds it, and when no file can be made there.
    """
    beside = path.with_name(f".{path.name}.lock")
    try:
        handle = _held(beside)
    except (BlockingIOError, PermissionError) as error:
        if not beside.exists():
            raise _unwritable(path, error) from error
        raise ReportError(
            f"{plain(path)} is written by another Kernelscope at this moment; wait for it, or choose another file "
            "for --json."
        ) from error
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        yield
    finally:
        _let_go(handle, beside)


def _unwritable(path: Path, error: OSError) -> ReportError:
    return ReportError(f"{plain(path)} cannot be written ({error.strerror}); choose another file for --json.")


def _held(beside: Path) -> int:
    """The open lock file, locked. Whoever held it before may have removed it in the meantime: then a new one."""
    while True:
        handle = os.open(beside, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _take(handle)
            if _is(handle, beside):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _is(handle: int, beside: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(beside))
    except FileNotFoundError:
        return False


def _let_go(handle: int, beside: Path) -> None:
    if sys.platform == "win32":  # an open file cannot be removed there; one that is open elsewhere stays
        os.close(handle)
        with suppress(OSError):
            beside.unlink()
        return
    with suppress(OSError):
        beside.unlink()
    os.close(handle)
