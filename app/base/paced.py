"""Updates of what nobody reads at the rate of frames: tables, actions and remarks."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Slot

PACE_MS = 200
"""Milliseconds between two updates while frames follow one another."""


class Paced(QObject):
    """Calls `do` at each `ask`; while `hurried()`, at most every PACE_MS, and once more after the last."""

    def __init__(self, do: Callable[[], None], hurried: Callable[[], bool], parent: QObject) -> None:
        super().__init__(parent)
        self._do, self._hurried, self._asked = do, hurried, False
        self._rest = QTimer(self, singleShot=True, interval=PACE_MS)
        self._rest.timeout.connect(self._after)

    @Slot()
    def ask(self) -> None:
        """What `do` shows has changed."""
        if self._rest.isActive() and self._hurried():
            self._asked = True
            return
        self._asked = False
        if self._hurried():
            self._rest.start()
        self._do()

    @Slot()
    def _after(self) -> None:
        if self._asked:
            self.ask()
