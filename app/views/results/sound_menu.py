"""The menu of what can be heard."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu

from app.controllers.playback import INPUT, Playback


class SoundMenu(QObject):
    """Marks "Play" while something plays, and offers below it the input and each result there is.

    `titles` gives what a variant is called. The entries are made anew whenever the menu opens.
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
        """One entry for each signal that can be heard."""
        for old in self.actions:
            self._menu.removeAction(old)
            old.deleteLater()
        self.actions = [self._entry(number, key) for number, key in enumerate(self._playback.choices, start=1)]
        self._menu.addActions(self.actions)
        self._mark()

    def _entry(self, number: int, key: str) -> QAction:
        title = self.tr("Input") if key == INPUT else self._titles().get(key, key)
        # A digit underlined for each of the first nine, no two the same.
        action = QAction(f"{'&' if number < 10 else ''}{number}  {title.replace('&', '&&')}", self._menu)
        action.setObjectName(f"action.hear.{key}")
        action.setData(key)
        action.setCheckable(True)
        action.setStatusTip(self.tr("Hear this one"))
        self._group.addAction(action)
        action.triggered.connect(partial(self._chosen, key))
        return action

    def _chosen(self, key: str, _checked: bool = False) -> None:
        self._playback.choose(key)
