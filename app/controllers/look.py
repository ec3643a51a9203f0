"""Light or dark, as the system or the user chooses, and large type for presentations."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QApplication

from app.base import theme

SCHEMES = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark}


class Appearance(QObject):
    """Applies the chosen look to the whole application and follows the system while the choice is "system"."""

    changed = Signal()

    def __init__(self, app: QApplication, choice: str = "system", presenter: bool = False) -> None:
        super().__init__(app)
        self._app = app
        self.choice, self.presenter = choice, presenter
        theme.connect_scheme(app, self._follow)

    @Slot(Qt.ColorScheme)
    def _follow(self, _scheme: Qt.ColorScheme) -> None:
        self._apply()

    def choose(self, choice: str) -> None:
        """One of system, light and dark."""
        self.choice = choice
        self._apply()

    def set_presenter(self, presenter: bool) -> None:
        """Large type on or off."""
        self.presenter = presenter
        self._apply()

    def _apply(self) -> None:
        scheme = SCHEMES.get(self.choice) or self._app.styleHints().colorScheme()
        theme.apply(self._app, scheme, self.presenter)
        self.changed.emit()
