"""The row of an edited kernel: what it is, and what can be done with it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QPushButton, QToolButton, QWidget

from app.base.theme import colours_of, inked
from app.views.boxes import in_column
from app.views.flow import FlowLayout
from app.views.labels import named, sentence_label


class EditBar(QWidget):
    """Buttons for the kernel that is being edited. `wanted(what)`: "run", "check", "save", "open", "template",
    "shipped", "undo", "redo" or "remove"."""

    wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("xray.edit.bar")
        self.about = sentence_label("xray.edit.about", self)
        self.run = self._button(
            "run", self.tr("Run edited kernel"), self.tr("Add the edited kernel to the results and run it")
        )
        self.check = self._button(
            "check", self.tr("Check contract"), self.tr("Compare the edited kernel with the reference in every case")
        )
        self.save = self._button("save", self.tr("Save as .cu…"), self.tr("Save the edited kernel to a file"))
        self.more = named(
            QToolButton(self), "xray.edit.more", title=self.tr("More"), tip=self.tr("Open, template, undo, redo")
        )
        self.more.setText(self.tr("More"))
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.menu = QMenu(self.more)
        self.actions_by_id = {id: self._action(id, text) for id, text in self._entries()}
        self.more.setMenu(self.menu)
        buttons = QWidget(self)
        flow = FlowLayout(buttons, self.fontMetrics().averageCharWidth())  # they are as wide as the panel at first
        flow.setContentsMargins(0, 0, 0, 0)
        for button in (self.run, self.check, self.save, self.more):
            flow.addWidget(button)
        in_column(buttons, self.about, on=self)

    def _entries(self) -> tuple[tuple[str, str], ...]:
        return (
            ("undo", self.tr("Undo")),
            ("redo", self.tr("Redo")),
            ("shipped", self.tr("Back to the shipped text")),
            ("open", self.tr("Open a .cu…")),
            ("template", self.tr("New variant from a template")),
            ("remove", self.tr("Remove the edited kernel from the results")),
        )

    def _button(self, id: str, text: str, tip: str) -> QPushButton:
        button = named(QPushButton(text, self), f"xray.edit.{id}", tip=tip)
        button.clicked.connect(partial(self.wanted.emit, id))
        return button

    def _action(self, id: str, text: str) -> QAction:
        action = QAction(text, self)
        action.setObjectName(f"xray.edit.{id}")
        action.triggered.connect(partial(self.wanted.emit, id))
        self.menu.addAction(action)
        return action

    def show_state(self, text: str, role: str, able: dict[str, bool]) -> None:
        """Show a sentence about the edited kernel, "ok", "error" or "" in its colour, and what can be done."""
        colours = colours_of(self.palette())
        inks = {"ok": colours.ok.colour, "error": colours.error.colour}
        self.about.setText(text)
        self.about.setPalette(inked(self.about.palette(), inks.get(role, colours.muted)))
        parts: dict[str, QPushButton | QAction] = {"run": self.run, "check": self.check, "save": self.save}
        for id, part in (parts | self.actions_by_id).items():
            part.setEnabled(able.get(id, True))
