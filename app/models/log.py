"""The log of events with their times, for bug reports."""

from __future__ import annotations

from collections import deque
from datetime import datetime

from PySide6.QtCore import QObject, Qt, Signal, Slot

LOG_LINES = 5000


class Log(QObject):
    """The newest LOG_LINES lines, in memory only. `added(text)` carries each entry, which may have several lines."""

    added = Signal(str)
    _entry = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lines: deque[str] = deque(maxlen=LOG_LINES)
        # The calling thread emits; the log's own thread stores the entry.
        self._entry.connect(self._take, Qt.ConnectionType.AutoConnection)

    def add(self, who: str, text: str, details: str = "") -> None:
        """Add an entry, from any thread. Details, such as a traceback, follow on indented lines."""
        now = datetime.now().isoformat(sep=" ", timespec="milliseconds")
        first, *rest = text.splitlines() or [""]
        lines = [f"{now}  {who}: {first}", *(f"    {line}" for line in (*rest, *details.splitlines()))]
        self._entry.emit("\n".join(lines))

    @Slot(str)
    def _take(self, entry: str) -> None:
        self._lines.extend(entry.split("\n"))
        self.added.emit(entry)

    def text(self) -> str:
        """The whole log."""
        return "\n".join(self._lines)
