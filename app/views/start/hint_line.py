"""The line of a hint in the status bar, which moves nothing else when it comes or goes."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Signal, Slot
from PySide6.QtWidgets import QToolButton, QWidget

from app.models.hints import Hints
from app.views.boxes import in_row
from app.views.labels import named
from app.views.parts import ElidedLabel

LETTERS = 64


class HintLine(QWidget):
    """Shows the present hint. `wanted(id)`: the user wants to do what it says."""

    wanted = Signal(str)

    def __init__(self, hints: Hints, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("hint")
        self._hints = hints
        self.text = ElidedLabel("", self)
        self.text.setObjectName("hint.text")
        self.text.letters = LETTERS
        tip = self.tr("Do what the hint says")
        self.show_button = named(QToolButton(self), "hint.show", self.tr("Show me"), tip)
        self.show_button.setText(self.tr("Show me"))
        tip = self.tr("Dismiss this hint; Help, Hints shows all of them again")
        self.dismiss_button = named(QToolButton(self), "hint.dismiss", self.tr("Dismiss the hint"), tip)
        self.dismiss_button.setText("×")
        in_row((self.text, 1), self.show_button, self.dismiss_button, on=self)
        self.show_button.clicked.connect(self._want)
        self.dismiss_button.clicked.connect(self._dismiss)
        hints.changed.connect(self.refresh)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Show the present hint, or nothing."""
        hint = self._hints.present
        if hint is not None:
            self.text.setText(QCoreApplication.translate("Hints", hint.text))
        self.setVisible(hint is not None)

    @Slot()
    def _want(self) -> None:
        if (hint := self._hints.present) is not None:
            self.wanted.emit(hint.id)

    @Slot()
    def _dismiss(self) -> None:
        if (hint := self._hints.present) is not None:
            self._hints.end(hint.id)
