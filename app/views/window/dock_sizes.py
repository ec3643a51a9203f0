"""Sizes the panels: they keep their size in letters when the font grows, as far as they fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Slot
from PySide6.QtWidgets import QDockWidget, QMainWindow

from app.base.nesting import bounded

HIGHEST = 0.45
"""The largest share of the window's height that a panel above or below the pictures takes by default."""
SETTLED_MS = 100
TURNS = 4
"""How often sizes are requested again where a panel could not get its size yet."""


class DefaultSize(NamedTuple):
    """The initial size of a panel in letters, and the largest share of the window's width that it takes by default."""

    letters: int
    widest: float


class DockSizes(QObject):
    """Gives panels their `default` width, or height where the user has put one above or below the pictures. Panels that
    had to shrink return to their size when there is space again. Sizes that the user sets stay.
    """

    def __init__(self, window: QMainWindow, default: Mapping[QDockWidget, DefaultSize]) -> None:
        super().__init__(window)
        self._window, self._defaults = window, default
        self._unit = self._letter()
        self._wanted_sizes = self._first()
        self._last_sizes: dict[QDockWidget, int] = {}
        self._requested_sizes: dict[QDockWidget, int] = {}
        self._restored = False
        # The panels' content gets a new font later than the window and then changes its minimum sizes.
        self._turns = TURNS
        self._later = QTimer(self, singleShot=True, interval=SETTLED_MS)
        self._later.timeout.connect(self._follow)
        self._settled = QTimer(self, singleShot=True, interval=SETTLED_MS)
        self._settled.timeout.connect(self._note)
        window.installEventFilter(self)
        for dock in default:
            dock.toggleViewAction().toggled.connect(self._refit)
            dock.dockLocationChanged.connect(self._refit)

    def _letter(self) -> int:
        return self._window.fontMetrics().averageCharWidth()

    def _first(self) -> dict[QDockWidget, int]:
        return {dock: default.letters * self._unit for dock, default in self._defaults.items()}

    def reset(self) -> None:
        """Restore the initial sizes."""
        self._restored = False
        self._wanted_sizes = self._first()
        self._follow()

    def keep(self) -> None:
        """Keep the restored sizes of the panels."""
        self._restored = True
        if self._window.isVisible():
            self._settled.start()

    def _across(self, dock: QDockWidget) -> bool:
        sides = Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
        return self._window.dockWidgetArea(dock) in sides

    def _place(self, dock: QDockWidget) -> list[QDockWidget]:
        """The open panels that are tabs together with this one, itself included; none where it is not placed."""
        docks = [d for d in (dock, *self._window.tabifiedDockWidgets(dock)) if d in self._defaults]
        return [d for d in docks if d.toggleViewAction().isChecked() and not d.isFloating()]

    def _present(self) -> dict[QDockWidget, int]:
        """The sizes of the visible panels at the window's edges."""
        docks = [dock for dock in self._defaults if dock.isVisible() and not dock.isFloating()]
        return {dock: dock.width() if self._across(dock) else dock.height() for dock in docks}

    @Slot()
    def _refit(self) -> None:
        """Size the panels again: one was opened, closed or moved."""
        self._begin(0)

    def _begin(self, wait_ms: int) -> None:
        self._turns = TURNS
        self._later.start(wait_ms)

    @Slot()
    def _follow(self) -> None:
        window, self._requested_sizes = self._window, {}
        for dock in self._defaults:
            if (layout := dock.layout()) is not None:
                layout.invalidate()  # Qt keeps the minimum size that a panel had with the previous font
                layout.activate()
        if self._restored:
            return
        for dock in self._defaults:
            if place := self._place(dock):
                size = max(self._wanted_sizes[d] for d in place)
                if self._across(dock):
                    widest = max(self._defaults[d].widest for d in place)
                    most, way = round(widest * window.width()), Qt.Orientation.Horizontal
                else:
                    most, way = round(HIGHEST * window.height()), Qt.Orientation.Vertical
                self._requested_sizes[dock] = min(size, most)
                window.resizeDocks([dock], [self._requested_sizes[dock]], way)
        self._settled.start()

    @Slot()
    def _note(self) -> None:
        self._last_sizes = self._present()
        if (
            any(size != self._requested_sizes.get(dock, size) for dock, size in self._last_sizes.items())
            and self._turns
        ):
            self._turns -= 1
            self._later.start(SETTLED_MS)
        if self._restored:
            self._wanted_sizes |= self._last_sizes
            self._restored = False

    def _adopt_user_sizes(self) -> None:
        """Take sizes that differ from the last ones as set by the user."""
        if self._later.isActive() or self._settled.isActive():
            return
        for dock, size in self._present().items():
            if size != self._last_sizes.get(dock, size):
                self._wanted_sizes |= dict.fromkeys(self._place(dock), size)

    @bounded
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.FontChange and self._letter() != self._unit:
            self._adopt_user_sizes()
            ratio, self._unit = self._letter() / self._unit, self._letter()
            self._wanted_sizes = {dock: round(size * ratio) for dock, size in self._wanted_sizes.items()}
            self._begin(SETTLED_MS)
        elif event.type() == QEvent.Type.Show and not event.spontaneous():
            if self._restored:
                self._settled.start()
            else:
                self._follow()
        elif event.type() == QEvent.Type.Resize and self._window.isVisible():
            self._adopt_user_sizes()
            self._begin(0)
        return False
