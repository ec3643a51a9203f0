"""A search line that hides the rows of a list that do not match."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget

from app.views.boxes import in_column
from app.views.labels import named


class _Line(QLineEdit):
    left = Signal()

    def event(self, event: QEvent) -> bool:
        """Let Esc close the search before it cancels a run."""
        if isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            if event.type() == QEvent.Type.KeyPress:
                self.left.emit()
            event.accept()
            return True
        return super().event(event)


class RowFinder(QWidget):
    """Hidden until the user searches; Esc shows all rows again. `typed(text)`: the search text changed."""

    typed = Signal(str)

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.line = _Line(self)
        self.line.setPlaceholderText(title)
        self.line.setAccessibleName(title)
        self.line.setClearButtonEnabled(True)
        self._nothing = named(QLabel(self), "nothing")
        self._nothing.setTextFormat(Qt.TextFormat.PlainText)
        self._nothing.setWordWrap(True)
        self._nothing.hide()
        in_column(self.line, self._nothing, on=self)
        self.line.textChanged.connect(self.typed)
        self.line.left.connect(self.leave)
        self.hide()

    def present(self) -> None:
        """Start a search."""
        self.show()
        self.line.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.line.selectAll()

    def leave(self) -> None:
        """End the search."""
        self.line.clear()
        self.hide()

    def show_count(self, count: int) -> None:
        """Take the number of matching rows."""
        self._nothing.setText(self.tr("Nothing matches “{typed}”.").format(typed=self.line.text().strip()))
        self._nothing.setVisible(not count)
