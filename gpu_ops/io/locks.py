"""Locks of files, which the system releases when their process ends."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def lock(handle: int) -> None:
        """Lock an open file for this process alone. Raises OSError where another one has it."""
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def lock(handle: int) -> None:
        """Lock an open file for this process alone. Raises OSError where another one has it."""
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_same(handle: int, path: Path) -> bool:
    """Whether the open file is still the one of that name."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False


def hold(path: Path, flags: int, needed: bool = True) -> int:
    """Open a file with these flags of os.open and lock it for this process alone, so that nobody takes it for one that
    was left behind. Raises OSError where it cannot be opened and, if the lock is `needed`, where another process has it
    or the file system has no locks."""
    while True:
        handle = os.open(path, flags, 0o666)
        try:
            with suppress(*(() if needed else (OSError,))):
                lock(handle)
            if is_same(handle, path):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # it was removed before it was locked
