"""What happened, with times: the text that belongs into a report of a fault."""

from __future__ import annotations

from collections import deque
from datetime import datetime

from PySide6.QtCore import QObject, Qt, Signal, Slot

LOG_LINES = 5000


class Log(QObject):
    """The newest LOG_LINES lines, in memory only. `added(text)` tells of each entry, which may have several lines."""

    added = Signal(str)
    _told = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lines: deque[str] = deque(maxlen=LOG_LINES)
        # Emitted in the thread that tells, taken in the one the log lives in.
        self._told.connect(self._take, Qt.ConnectionType.AutoConnection)

    def add(self, who: str, text: str, details: str = "") -> None:
        """Say it, from any thread. Details, such as a traceback, follow on lines of their own, set in."""
        now = datetime.now().isoformat(sep=" ", timespec="milliseconds")
        first, *rest = text.splitlines() or [""]
        lines = [f"{now}  {who}: {first}", *(f"    {line}" for line in (*rest, *details.splitlines()))]
        self._told.emit("\n".join(lines))

    @Slot(str)
    def _take(self, entry: str) -> None:
        self._lines.extend(entry.split("\n"))
        self.added.emit(entry)

    def text(self) -> str:
        """All of it, a line each."""
        return "\n".join(self._lines)
