"""Connects the start page and the hints with the window."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Slot

from app.models.hints import HINTS, Hints
from app.views.start.hint_line import HintLine
from app.views.window.window_parts import WindowParts


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

    def _used(self, id: str, _checked: bool = False) -> None:
        self.hints.end(id)
