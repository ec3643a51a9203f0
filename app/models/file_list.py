"""Several files that were given at once, looked at one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal


class FileList(QObject):
    """Paths, and the place of the one that is open. Opening is somebody else's work, who says how it ended.

    `changed` says that `paths` or `place` did; `place` is -1 until one of them is open.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.paths: tuple[str, ...] = ()
        self.place = -1
        self._wanted = -1
        self._step = 1

    @property
    def waiting(self) -> bool:
        """Whether one of them was asked for and neither came nor failed."""
        return self._wanted >= 0

    def start(self, paths: Sequence[str]) -> str:
        """Take these; returns the path to open first."""
        self.paths, self.place, self._wanted, self._step = tuple(paths), -1, 0, 1
        self.changed.emit()
        return self.paths[0]

    def go(self, step: int) -> str:
        """The path to open to go on (1) or back (-1), counted from the newest wish; "" at the end."""
        place = (self._wanted if self.waiting else self.place) + step
        if not 0 <= place < len(self.paths):
            return ""
        self._wanted, self._step = place, step
        return self.paths[place]

    def opened(self, path: str) -> None:
        """Something is open now; what is no file of these ends the list."""
        if self.waiting and self.paths[self._wanted] == path:
            self.place, self._wanted = self._wanted, -1
        elif path in self.paths:
            self.place = self.paths.index(path)
        else:
            self.paths, self.place, self._wanted = (), -1, -1
        self.changed.emit()

    def failed(self) -> str:
        """The one that was asked for cannot be opened and leaves the list; returns the next to try, or ""."""
        bad = self._wanted
        self.paths = self.paths[:bad] + self.paths[bad + 1 :]
        self.place -= self.place > bad
        place = bad if self._step > 0 else bad - 1
        self._wanted = place if 0 <= place < len(self.paths) and place != self.place else -1
        self.changed.emit()
        return self.paths[self._wanted] if self.waiting else ""

    def can_go(self, step: int) -> bool:
        """Whether there is a file that way."""
        return bool(self.paths) and 0 <= self.place + step < len(self.paths)
