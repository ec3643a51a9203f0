"""Letter keys of pictures, wherever the focus is."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QWidget

PLAIN = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier)


class Letters:
    """Sends letters that nothing else has taken to the widgets in `place` that say `takes_letters`, until one of them
    takes it."""

    def __init__(self, place: QWidget) -> None:
        self._place, self._sending = place, False

    def send(self, event: QKeyEvent) -> bool:
        """Whether a picture has taken the key. One that takes none passes it on to its parents, and so to here."""
        if self._sending or not event.text().isalpha() or event.modifiers() not in PLAIN:
            return False
        self._sending = True
        try:
            for picture in self._place.findChildren(QWidget):
                if getattr(picture, "takes_letters", False) and picture.isVisible():
                    event.setAccepted(False)
                    if QApplication.sendEvent(picture, event) and event.isAccepted():
                        return True
        finally:
            self._sending = False
        event.setAccepted(False)
        return False
