"""How much room the panels have: as many letters as before when these grow."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QDockWidget, QMainWindow

USUAL = 44
"""Width and height of panels, in letters."""
WIDEST, HIGHEST = 0.4, 0.5
"""Shares of the window that panels take by themselves."""
SETTLED_MS = 100


class DockSizes(QObject):
    """Sizes the panels beside and below the centre. Where there is too little room for them to grow with the letters,
    they still have their old sizes when the letters have theirs again."""

    def __init__(self, window: QMainWindow, beside: QDockWidget, below: QDockWidget) -> None:
        super().__init__(window)
        self._window, self._beside, self._below = window, beside, below
        self._unit = self._letter()
        self._wanted = (USUAL * self._unit, USUAL * self._unit)
        self._given = (0, 0)
        # What is in the panels hears of the letters later than the window, and then has other least sizes.
        self._later = QTimer(self, singleShot=True, interval=SETTLED_MS)
        self._later.timeout.connect(self._follow)
        window.installEventFilter(self)
        self._resize()

    def _letter(self) -> int:
        return self._window.fontMetrics().averageCharWidth()

    def reset(self) -> None:
        """The sizes there are at first."""
        self._wanted = (USUAL * self._unit, USUAL * self._unit)
        self._resize()

    def _present(self) -> tuple[int, int]:
        return self._beside.width(), self._below.height()

    def _resize(self) -> None:
        window, (width, height) = self._window, self._wanted
        width, height = min(width, round(WIDEST * window.width())), min(height, round(HIGHEST * window.height()))
        window.resizeDocks([self._beside], [width], Qt.Orientation.Horizontal)
        window.resizeDocks([self._below], [height], Qt.Orientation.Vertical)

    def _follow(self) -> None:
        self._resize()
        QTimer.singleShot(SETTLED_MS, self, self._note)

    def _note(self) -> None:
        self._given = self._present()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.FontChange and self._letter() != self._unit:
            if self._present() != self._given:  # a person, or the window's size, has changed them since
                self._wanted = self._present()
            ratio, self._unit = self._letter() / self._unit, self._letter()
            self._wanted = (round(self._wanted[0] * ratio), round(self._wanted[1] * ratio))
            self._later.start()
        return False
