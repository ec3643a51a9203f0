"""How much room the panels have: as many letters as before when these grow, and as there is room for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Slot
from PySide6.QtWidgets import QDockWidget, QMainWindow

HIGHEST = 0.45
"""The share of the window that a panel above or below the pictures takes by itself."""
SETTLED_MS = 100
TURNS = 4
"""So often sizes are asked for again where a panel could not have its own yet."""


class DefaultSize(NamedTuple):
    """The size of a panel at first, in letters, and the share of the window's width that it takes at most by itself."""

    letters: int
    widest: float


class DockSizes(QObject):
    """Sizes panels: so wide as is `usual` (or so high, where a person has put one above or below the pictures). Where
    there is too little room for that they still have their sizes when there is room again. A person's choice is kept.
    """

    def __init__(self, window: QMainWindow, usual: Mapping[QDockWidget, DefaultSize]) -> None:
        super().__init__(window)
        self._window, self._usual = window, usual
        self._unit = self._letter()
        self._wanted = self._first()
        self._given: dict[QDockWidget, int] = {}
        self._asked: dict[QDockWidget, int] = {}
        self._kept = False
        # What is in the panels hears of the letters later than the window, and then has other least sizes.
        self._turns = TURNS
        self._later = QTimer(self, singleShot=True, interval=SETTLED_MS)
        self._later.timeout.connect(self._follow)
        self._settled = QTimer(self, singleShot=True, interval=SETTLED_MS)
        self._settled.timeout.connect(self._note)
        window.installEventFilter(self)
        for dock in usual:
            dock.toggleViewAction().toggled.connect(self._refit)
            dock.dockLocationChanged.connect(self._refit)

    def _letter(self) -> int:
        return self._window.fontMetrics().averageCharWidth()

    def _first(self) -> dict[QDockWidget, int]:
        return {dock: usual.letters * self._unit for dock, usual in self._usual.items()}

    def reset(self) -> None:
        """The sizes there are at first, which a window has when it is shown."""
        self._kept = False
        self._wanted = self._first()
        self._follow()

    def keep(self) -> None:
        """The panels are as a person left them, before the window is shown: that is what is wanted."""
        self._kept = True

    def _across(self, dock: QDockWidget) -> bool:
        sides = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
        return self._window.dockWidgetArea(dock) in sides

    def _place(self, dock: QDockWidget) -> list[QDockWidget]:
        """The open panels that share a place as tabs, this one among them; none where it has no place."""
        there = [d for d in (dock, *self._window.tabifiedDockWidgets(dock)) if d in self._usual]
        return [d for d in there if d.toggleViewAction().isChecked() and not d.isFloating()]

    def _present(self) -> dict[QDockWidget, int]:
        """The sizes of the panels that are seen at the window's edges."""
        seen = [dock for dock in self._usual if dock.isVisible() and not dock.isFloating()]
        return {dock: dock.width() if self._across(dock) else dock.height() for dock in seen}

    @Slot()
    def _refit(self) -> None:
        """Other panels are open, or in other places."""
        self._begin(0)

    def _begin(self, wait_ms: int) -> None:
        self._turns = TURNS
        self._later.start(wait_ms)

    @Slot()
    def _follow(self) -> None:
        window, self._asked = self._window, {}
        if self._kept:
            return
        for dock in self._usual:
            if place := self._place(dock):
                wanted = max(self._wanted[d] for d in place)
                if self._across(dock):
                    widest = max(self._usual[d].widest for d in place)
                    most, way = round(widest * window.width()), Qt.Orientation.Horizontal
                else:
                    most, way = round(HIGHEST * window.height()), Qt.Orientation.Vertical
                self._asked[dock] = min(wanted, most)
                window.resizeDocks([dock], [self._asked[dock]], way)
        self._settled.start()

    @Slot()
    def _note(self) -> None:
        self._given = self._present()
        if any(size != self._asked.get(dock, size) for dock, size in self._given.items()) and self._turns:
            self._turns -= 1
            self._later.start(SETTLED_MS)
        if self._kept:
            self._wanted |= self._given
            self._kept = False

    def _heed(self) -> None:
        """Sizes that are not as they were given are a person's."""
        if self._later.isActive() or self._settled.isActive():
            return
        for dock, size in self._present().items():
            if size != self._given.get(dock, size):
                self._wanted |= dict.fromkeys(self._place(dock), size)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.FontChange and self._letter() != self._unit:
            self._heed()
            ratio, self._unit = self._letter() / self._unit, self._letter()
            self._wanted = {dock: round(size * ratio) for dock, size in self._wanted.items()}
            self._begin(SETTLED_MS)
        elif event.type() == QEvent.Type.Show and not event.spontaneous():
            if self._kept:
                self._settled.start()
            else:
                self._follow()
        elif event.type() == QEvent.Type.Resize and self._window.isVisible():
            self._heed()
            self._begin(0)
        return False
