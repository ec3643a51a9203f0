"""The hints in the status bar, and when the start page is shown."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QCoreApplication, QObject, Signal, Slot
from PySide6.QtWidgets import QToolButton, QWidget

from app.models.hints import HINTS, Hints
from app.views.boxes import in_row
from app.views.labels import named
from app.views.parts import ElidedLabel
from app.views.window.window_parts import WindowParts

LETTERS = 64
PLACES = ("start", "xray")
"""The docks that hints speak of."""


class HintLine(QWidget):
    """Shows the present hint in the status bar, where it moves nothing else.
    `wanted(id)`: the user wants to do what it says."""

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


class Starting(QObject):
    """Shows the start page where nothing is open, and hints once the first picture is there: neither is created while
    the window opens."""

    def __init__(self, parts: WindowParts, hints: Hints) -> None:
        super().__init__(parts.window)
        self._parts, self.hints = parts, hints
        self.line: HintLine | None = None
        parts.docks.action_wanted.connect(self._do)
        parts.context.controller.settled.connect(self._begin)
        for hint in HINTS:
            parts.actions[hint.id].triggered.connect(partial(self._used, hint.id))
        for place in PLACES:
            parts.docks.places[place].visibilityChanged.connect(self._look)
        for changed in (parts.pictures.view_changed, parts.full_screen.changed):
            changed.connect(self._look)
        self.hints.changed.connect(self._begin)

    @Slot()
    def _begin(self) -> None:
        """Something was done: nothing is open, or the first picture is there."""
        if self._parts.context.session.input is None:
            self._parts.docks.show("start")
        elif self.line is None and self.hints.present is not None:
            self.line = HintLine(self.hints, self._parts.window)
            self.line.wanted.connect(self._do)
            bar = self._parts.window.statusBar()
            bar.insertWidget(1, self.line)
            self.line.refresh()

    @Slot(str)
    def _do(self, id: str) -> None:
        action = self._parts.actions[id]
        if action.isEnabled():
            action.trigger()
        else:
            self.hints.end(id)

    @Slot()
    def _look(self) -> None:
        """End the hints whose subject is in front, however it got there: by a tab, a double click or a lesson."""
        grid, docks = self._parts.pictures.view.grid, self._parts.docks
        shown = {place: not docks.places[place].visibleRegion().isEmpty() for place in PLACES}
        shown["compare_swipe"] = grid is not None and grid.mode == "swipe"
        shown["full_screen"] = self._parts.full_screen.active
        for id in [id for id, is_shown in shown.items() if is_shown]:
            self.hints.end(id)

    def _used(self, id: str, _checked: bool = False) -> None:
        self.hints.end(id)
