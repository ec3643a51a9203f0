"""Keeps the sessions of open windows in files, so that a crash loses nothing. No widgets."""

from __future__ import annotations

import secrets
from pathlib import Path

from PySide6.QtCore import QLockFile

from app.base.paths import SESSION
from gpu_ops import replacing
from gpu_ops.errors import InputError, plain

PREFIX = "unfinished-"


class Unfinished:
    """The present session of a window, in its own file in `folder`, which `end` removes. A file whose process no longer
    runs is from a crash. A lock next to each file shows whether its process still runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / f"{PREFIX}{secrets.token_hex(6)}{SESSION}"
        self._lock: QLockFile | None = None
        self._text = ""
        self._ended = False

    def keep(self, text: str) -> None:
        """Write the session unless it is unchanged. Raises InputError where it cannot be written."""
        if self._ended or text == self._text:
            return
        if self._lock is None:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(f"{plain(self.folder)} cannot be written ({error.strerror}).") from None
            lock = _lock(self.file)
            if not lock.tryLock(0):
                raise InputError(f"{plain(self.folder)} cannot be written; check its permissions.")
            self._lock = lock
        with replacing(self.file) as file:
            file.write(text.encode())
        self._text = text

    def end(self) -> None:
        """Remove the file: the window closes normally."""
        self._ended = True  # a last change may arrive later
        self.file.unlink(missing_ok=True)
        if self._lock is not None:
            self._lock.unlock()
            self._lock = None

    def left(self) -> list[Path]:
        """The files of processes that crashed, the newest first."""
        found = []
        for file in self.folder.glob(f"{PREFIX}*{SESSION}"):
            lock = _lock(file)
            if lock.tryLock(0):
                lock.unlock()
                found.append(file)
        return sorted(found, key=_time, reverse=True)

    def is_one(self, path: str) -> bool:
        """Whether a session file is one of these, not named by the user."""
        file = Path(path)
        return file.parent == self.folder and file.name.startswith(PREFIX)


def _lock(file: Path) -> QLockFile:
    lock = QLockFile(f"{file}.lock")
    lock.setStaleLockTime(0)  # only a process that has ended releases it
    return lock


def _time(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0
