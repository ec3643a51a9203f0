"""Files that are written in the folders of their targets and replace them at the end. Files left by killed processes
are removed by the next process that writes to the same folder."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO

from gpu_ops.progress import finite

OLD = 60.0
"""Seconds without a write after which a file counts as abandoned, on systems without locks that show it."""
_tidied: set[Path] = set()
"""Folders from which this process has removed abandoned files."""


def part_of(path: str | os.PathLike[str], token: str) -> Path:
    """The temporary file in a target's folder, which replaces the target at the end."""
    return Path(os.path.realpath(path)).with_name(f".kernelscope-{token}.part")


@contextmanager
def growing(target: Path, token: str = "") -> Iterator[IO[bytes]]:
    """A new file that replaces the target at the end, once it is completely on the disk, or is removed after an error.
    It gets the permissions of the file that it replaces, else those of any new file. Raises OSError."""
    tidy(target.parent)
    part = part_of(target, token or secrets.token_hex(8))
    # Windows does not remove open files, so no lock is needed there.
    file = open(part, "xb", opener=None if sys.platform == "win32" else partial(hold, needed=False))  # noqa: SIM115
    try:
        with file:
            if sys.platform != "win32":
                with suppress(OSError):  # no file to replace, or the file system has no permissions
                    os.fchmod(file.fileno(), target.stat().st_mode & 0o777)
            yield file
            with finite():
                file.flush()
                os.fsync(file.fileno())  # a full disk may be reported only now
            if sys.platform != "win32":
                os.replace(part, target)  # while it is locked
        if sys.platform == "win32":
            os.replace(part, target)
    finally:
        with suppress(OSError):
            part.unlink()


@contextmanager
def growing_folder(target: Path) -> Iterator[Path]:
    """A new folder that replaces the target at the end, or is removed after an error: `growing` for a folder. A locked
    file next to it shows that it is in use. Raises OSError."""
    tidy(target.parent)
    part = part_of(target, secrets.token_hex(8))
    handle = hold(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, needed=False)
    new, old = _folders(part)
    try:
        new.mkdir()
        yield new
        if target.exists():
            os.replace(target, old)
        os.replace(new, target)
    finally:
        for folder in (new, old):
            shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)
        with suppress(OSError):
            part.unlink()


def _folders(part: Path) -> tuple[Path, Path]:
    """The new folder of a locked file, and the one that it replaces."""
    return part.with_suffix(".new"), part.with_suffix(".old")


def tidy(folder: Path, again: bool = False) -> None:
    """Remove the files of killed processes from a folder, once in this process unless `again` is set."""
    if folder in _tidied and not again:
        return
    _tidied.add(folder)
    with suppress(OSError):
        for path in folder.glob(".kernelscope-*.part"):
            with suppress(OSError):
                _remove_left(path)


def _remove_left(path: Path) -> None:
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode):
        return
    if sys.platform == "win32":  # an open file cannot be removed there
        if time.time() - found.st_mtime > OLD:
            path.unlink()
            _remove_folders(path)
        return
    handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    try:
        lock(handle)
        _remove_folders(path)
        path.unlink()
    finally:
        os.close(handle)


def _remove_folders(part: Path) -> None:
    for folder in _folders(part):
        shutil.rmtree(folder, ignore_errors=True)


if sys.platform == "win32":
    import msvcrt

    def lock(handle: int) -> None:
        """Lock an open file exclusively for this process. Raises OSError where another process has the lock."""
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def lock(handle: int) -> None:
        """Lock an open file for this process alone. Raises OSError where another one has it."""
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def hold(path: str | os.PathLike[str], flags: int, needed: bool = True) -> int:
    """Open a file with these flags of os.open and lock it exclusively, so that no process considers it abandoned.
    Raises OSError where it cannot be opened and, if the lock is `needed`, where another process has it or the file
    system has no locks."""
    while True:
        handle = os.open(path, flags, 0o666)
        try:
            with suppress(*(() if needed else (OSError,))):
                lock(handle)
            with suppress(FileNotFoundError):  # it was removed before the lock was taken
                if os.path.samestat(os.fstat(handle), os.stat(path)):
                    return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
