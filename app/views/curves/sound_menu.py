"""The menu of signals to play."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu

from app.controllers.playback import INPUT, Playback


class SoundMenu(QObject):
    """Checks "Play" while something plays, and lists the input and every result below it.

    `titles` gives the titles of variants. The entries are rebuilt whenever the menu opens.
    """

    def __init__(self, menu: QMenu, play: QAction, playback: Playback, titles: Callable[[], Mapping[str, str]]) -> None:
        super().__init__(menu)
        self._menu, self._play, self._playback, self._titles = menu, play, playback, titles
        self.actions: list[QAction] = []
        self._group = QActionGroup(self)
        menu.addSeparator()
        menu.aboutToShow.connect(self.fill)
        playback.changed.connect(self._mark)
        self._mark()

    def _mark(self) -> None:
        self._play.setEnabled(bool(self._playback.choices))
        self._play.setChecked(self._playback.playing)
        for action in self.actions:
            action.setChecked(action.data() == self._playback.chosen)

    def fill(self) -> None:
        """Make an entry for each signal that can be played."""
        for old in self.actions:
            self._menu.removeAction(old)
            old.deleteLater()
        self.actions = [self._entry(number, key) for number, key in enumerate(self._playback.choices, start=1)]
        self._menu.addActions(self.actions)
        self._mark()

    def _entry(self, number: int, key: str) -> QAction:
        title = self.tr("Input") if key == INPUT else self._titles().get(key, key)
        # Each of the first nine has its own digit as mnemonic.
        action = QAction(f"{'&' if number < 10 else ''}{number}  {title.replace('&', '&&')}", self._menu)
        action.setObjectName(f"action.hear.{key}")
        action.setData(key)
        action.setCheckable(True)
        action.setStatusTip(self.tr("Play this signal"))
        self._group.addAction(action)
        action.triggered.connect(partial(self._choose, key))
        return action

    def _choose(self, key: str, _checked: bool = False) -> None:
        self._playback.choose(key)
