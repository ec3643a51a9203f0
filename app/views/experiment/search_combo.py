"""A combo box with search: typed letters choose the best match."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, Qt, QTimer, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QComboBox, QWidget

from app.base.nesting import bounded
from app.base.tips import show_tip
from app.models.search import matches

WORDS = Qt.ItemDataRole.UserRole + 1
"""The role of an item's other search words."""
ENABLED = Qt.ItemFlag.ItemIsEnabled
FLAGS = Qt.ItemDataRole.UserRole - 1
"""The role under which Qt's standard items keep their flags. The items themselves are not accessed: PySide may keep an
item's wrapper after the item is deleted, and use it for another object at the same address."""


def disable(combo: QComboBox, place: int) -> None:
    """Make an item of a combo box unselectable."""
    combo.setItemData(place, Qt.ItemFlag.NoItemFlags.value, FLAGS)


class SearchCombo(QComboBox):
    """Typed letters choose, after a pause, the best match, wherever they occur in an item's text or words; a note says
    if there is none. Headings, which are disabled, are skipped."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._typed = ""
        self._pause = QTimer(self, singleShot=True, interval=QApplication.keyboardInputInterval())
        self._pause.timeout.connect(self._choose)

    @bounded
    def event(self, event: QEvent) -> bool:
        """Letters are for the search, not for the window's keys."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self._takes(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if not self._takes(event):
            super().keyPressEvent(event)
            return
        self._typed += event.text()
        self._pause.start()

    def _takes(self, event: QKeyEvent) -> bool:
        letter = event.text()
        held = event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
        return not held and letter.isprintable() and bool(letter.strip() or (letter and self._typed))

    @Slot()
    def _choose(self) -> None:
        typed, self._typed = self._typed, ""
        places = [k for k in range(self.count()) if self.model().flags(self.model().index(k, 0)) & ENABLED]
        fitting = matches(typed, places, self.itemText, lambda place: str(self.itemData(place, WORDS) or ""))
        if not fitting:
            note = self.tr("Nothing matches “{typed}”.").format(typed=typed)
            show_tip(self.mapToGlobal(QPoint(0, self.height())), note, self)
        elif fitting[0] != self.currentIndex():
            self.setCurrentIndex(fitting[0])
            self.activated.emit(fitting[0])
