"""A button with a menu that selects the counters by which simulated rows are compared."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from app.base.terms import counter_help, counter_name
from app.base.theme import boxes
from app.base.tips import set_tip
from app.views.labels import named

MOST = 6
"""The maximum number of counters at once: more bars are unreadable."""


class CounterMenu(QPushButton):
    """Shows `explaining` counters until the user chooses others. `changed`: `counters` changed."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        named(self, "ladder_counter", self.tr("Counted work"))
        self._menu = QMenu(self)
        self._menu.setStyle(boxes())
        self._menu.setToolTipsVisible(True)
        self.setMenu(self._menu)
        self._explaining: tuple[str, ...] = ()
        self._known: tuple[str, ...] = ()
        self._chosen: tuple[str, ...] = ()
        self._default = QAction(self.tr("&Those that explain this ladder"), self)
        self._default.triggered.connect(lambda: self.choose(()))
        self._say()

    @property
    def counters(self) -> tuple[str, ...]:
        """The counters to show, in the order of the list."""
        chosen = tuple(id for id in self._known if id in self._chosen)
        return chosen or self._explaining

    @property
    def entries(self) -> list[QAction]:
        """The entry of each counter, by its data."""
        return [action for action in self._menu.actions() if action.isCheckable()]

    def offer(self, known: Sequence[str], explaining: Sequence[str]) -> None:
        """Offer these counters; chosen ones stay chosen if they are offered."""
        if (tuple(known), tuple(explaining)) != (self._known, self._explaining):
            self._known, self._explaining = tuple(known), tuple(explaining)
            self._menu.clear()
            self._menu.addAction(self._default)
            self._menu.addSeparator()
            for id in self._known:
                action = self._menu.addAction(counter_name(id))
                action.setCheckable(True)
                action.setData(id)
                set_tip(action, counter_help(id))
                action.toggled.connect(self._toggled)
            self._say()

    def choose(self, ids: Sequence[str]) -> None:
        """Show these counters; () for those that explain the ladder."""
        self._chosen = tuple(ids)[:MOST]
        self._say()
        self.changed.emit()

    def _toggled(self) -> None:
        self.choose(tuple(str(action.data()) for action in self.entries if action.isChecked()))

    def _say(self) -> None:
        """Check what is shown, show the number, and disable further ones at the maximum."""
        shown = self.counters
        for action in self.entries:
            action.blockSignals(True)
            action.setChecked(action.data() in shown)
            action.setEnabled(action.isChecked() or len(shown) < MOST)
            action.blockSignals(False)
        self._default.setEnabled(bool(self._chosen))
        text = self.tr("{shown} of {all} counters")
        self.setText(text.format(shown=len(shown), all=len(self._known)))
        tip = self.tr("The counters that compare simulated rows, {most} at most; they say nothing about time")
        set_tip(self, tip.format(most=MOST))
