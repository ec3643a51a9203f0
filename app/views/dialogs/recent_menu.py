"""The menu of recent files."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from app.base.tips import set_tip
from app.models.settings import Settings


class RecentMenu(QObject):
    """Lists the newest files above "Clear the list", rebuilt whenever the menu opens, because files come and go."""

    def __init__(self, menu: QMenu, clear: QAction, settings: Settings, open_file: Callable[[str], None]) -> None:
        super().__init__(menu)
        self._menu, self._clear, self._settings, self._open = menu, clear, settings, open_file
        self.actions: list[QAction] = []
        self._line = menu.insertSeparator(clear)
        menu.aboutToShow.connect(self.fill)
        self.fill()

    def add(self, path: str) -> None:
        """Add a file that was opened."""
        self._settings.add_recent(path)
        self.fill()

    def forget(self) -> None:
        """Forget every file."""
        self._settings.clear_recent()
        self.fill()

    def fill(self) -> None:
        """Make an entry for each file; one that cannot be opened is disabled and says why."""
        self._settings.refresh()
        for old in self.actions:
            self._menu.removeAction(old)
            old.deleteLater()
        self.actions = [self._entry(number, path) for number, path in enumerate(self._settings.recent, start=1)]
        self._menu.insertActions(self._line, self.actions)
        self._line.setVisible(bool(self.actions))
        self._clear.setEnabled(bool(self.actions))

    def _entry(self, number: int, path: str) -> QAction:
        name = Path(path).name.replace("&", "&&")
        why = self._reason(path)
        # Ten is 1&0: a digit underlined for each of the first ten entries, no two the same.
        digits = f"&{number}" if number < 10 else "1&0" if number == 10 else str(number)
        action = QAction(f"{digits}  {name}" + (f"  ({why})" if why else ""), self._menu)
        action.setObjectName(f"action.recent.{number}")
        action.setData(path)
        action.setEnabled(not why)
        action.setStatusTip(why or path)
        set_tip(action, f"{path}: {why}" if why else path)
        action.triggered.connect(partial(self._chosen, path))
        return action

    def _chosen(self, path: str, _checked: bool = False) -> None:
        self._open(path)

    def _reason(self, path: str) -> str:
        if not os.path.exists(path):
            return self.tr("no longer exists")
        return "" if os.access(path, os.R_OK) else self.tr("no permission to read")
