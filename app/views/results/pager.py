"""Pages of panes, and the buttons that turn them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QToolButton, QWidget

from app.views.boxes import in_row
from app.views.labels import named
from app.views.parts import number

MOST = 6
"""The most panes on a page: more would be too small to be useful."""


class Pager(QWidget):
    """Decides which results are visible and turns to the others; hidden where all fit. The first `pinned` panes, such
    as the input's, are on every page.

    `turned`: another page is visible.
    """

    turned = Signal()

    def __init__(self, parent: QWidget | None = None, pinned: int = 1) -> None:
        super().__init__(parent)
        self.setObjectName("panePager")
        self._pinned = pinned
        self.page = 0
        self._keys: list[str] = []
        self._wanted = True
        self.before = self._button(Qt.ArrowType.LeftArrow, "panesBefore", self.tr("Previous results"))
        self.words = named(QLabel(self), "panePage")
        self.after = self._button(Qt.ArrowType.RightArrow, "panesAfter", self.tr("Next results"))
        self.before.clicked.connect(lambda: self.turn(-1))
        self.after.clicked.connect(lambda: self.turn(1))
        in_row(self.before, self.words, self.after, on=self, gap=self.fontMetrics().averageCharWidth() // 2)
        self.hide()

    def _button(self, arrow: Qt.ArrowType, name: str, title: str) -> QToolButton:
        button = named(QToolButton(self), name, title=title, tip=title)
        button.setArrowType(arrow)
        button.setAutoRaise(True)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        return button

    @property
    def pages(self) -> int:
        """The number of pages."""
        turned = len(self._keys) - self._pinned
        return max(1, -(-turned // (MOST - self._pinned))) if len(self._keys) > MOST else 1

    def set_pinned(self, pinned: int) -> None:
        """Set how many of the first panes are on every page."""
        self._pinned = pinned

    def set_keys(self, keys: Sequence[str]) -> None:
        """Set all panes, in order; the page stays if it still exists."""
        self._keys = list(keys)
        self.page = min(self.page, self.pages - 1)
        self._describe()

    def in_sight(self) -> list[str]:
        """The keys of the panes on this page, with the pinned ones first."""
        if self.pages == 1:
            return list(self._keys)
        first, most = self._first(), MOST - self._pinned
        return [*self._keys[: self._pinned], *self._keys[first : first + most]]

    def _first(self) -> int:
        """The place of the page's first pane after the pinned ones."""
        return self._pinned + self.page * (MOST - self._pinned)

    def set_wanted(self, wanted: bool) -> None:
        """Show or hide the pager: a comparison of two panes has no pages."""
        self._wanted = wanted
        self._describe()

    def turn(self, pages: int) -> None:
        """Turn so many pages forward, or back if below 0, within the existing ones."""
        page = min(max(self.page + pages, 0), self.pages - 1)
        if page != self.page:
            self.page = page
            self._describe()
            self.turned.emit()

    def _describe(self) -> None:
        first, results = self._first() + 1 - self._pinned, len(self._keys) - self._pinned
        last = min(first + MOST - self._pinned - 1, results)
        text = self.tr("results {first}–{last} of {count}")
        self.words.setText(text.format(first=number(first), last=number(last), count=number(results)))
        self.before.setEnabled(self.page > 0)
        self.after.setEnabled(self.page < self.pages - 1)
        self.setVisible(self.pages > 1 and self._wanted)
