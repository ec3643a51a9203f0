"""Several files dropped together, opened one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal


class FileList(QObject):
    """Paths, and the index of the open one. The caller opens the files and reports `opened` or `failed`.

    `changed`: `paths` or `place` changed; `place` is -1 until one of the files is open.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.paths: tuple[str, ...] = ()
        self.place = -1
        self._next = -1
        self._step = 1

    @property
    def waiting(self) -> bool:
        """Whether one of the files is being opened."""
        return self._next >= 0

    def start(self, paths: Sequence[str]) -> str:
        """Take these paths; returns the one to open first."""
        self.paths, self.place, self._next, self._step = tuple(paths), -1, 0, 1
        self.changed.emit()
        return self.paths[0]

    def go(self, step: int) -> str:
        """The path to open next (1) or before (-1), counted from the last request; "" beyond the ends of the list."""
        place = (self._next if self.waiting else self.place) + step
        if not 0 <= place < len(self.paths):
            return ""
        self._next, self._step = place, step
        return self.paths[place]

    def instead(self, path: str) -> None:
        """Another file than the requested one is being opened; the requested one remains untried."""
        self._next, self._step = (self.paths.index(path), 1) if path in self.paths else (-1, 1)

    def opened(self, path: str) -> None:
        """A file is open now; one that is not in the list ends the list."""
        if self.waiting and self.paths[self._next] == path:
            self.place, self._next = self._next, -1
        elif path in self.paths:
            self.place = self.paths.index(path)
        else:
            self.paths, self.place, self._next = (), -1, -1
        self.changed.emit()

    def failed(self) -> str:
        """The requested file cannot be opened and leaves the list; returns the next one to try, or ""."""
        bad = self._next
        self.paths = self.paths[:bad] + self.paths[bad + 1 :]
        self.place -= self.place > bad
        place = bad if self._step > 0 else bad - 1
        self._next = place if 0 <= place < len(self.paths) and place != self.place else -1
        self.changed.emit()
        return self.paths[self._next] if self.waiting else ""

    def can_go(self, step: int) -> bool:
        """Whether there is a file in that direction."""
        return bool(self.paths) and 0 <= self.place + step < len(self.paths)
