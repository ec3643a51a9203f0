"""Which panes are visible: how many at once, which are hidden, and the buttons that turn the pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLabel, QMenu, QToolButton, QWidget

from app.base.theme import boxes
from app.models.experiment.board import PANES
from app.views.boxes import in_row
from app.views.labels import named
from app.views.parts import number
from gpu_ops.types import REFERENCE

COUNTS = PANES[1:]
"""The panes at once that can be chosen."""
AUTOMATIC = (6, 4, 2)
"""The default number of simultaneous panes: the first one at which they are large enough, else the last."""


class Pager(QWidget):
    """Decides which panes are visible and turns to the others; its text shows the number of invisible ones. The first
    `pinned` panes, such as the input's, are on every page of more than one pane. A menu lists the numbers of
    simultaneous panes and their contents, by the names that `title_of` returns.

    The last panes, as many as are set with them, are differences, which are no results.

    `turned`: other panes are visible. `chosen(most)`: another number of panes was set, 0 for as many as are large
    enough. `reference_wanted`: the user wants a pane of the reference.
    """

    turned = Signal()
    chosen = Signal(int)
    reference_wanted = Signal()

    def __init__(self, parent: QWidget | None = None, pinned: int = 1) -> None:
        super().__init__(parent)
        self.setObjectName("panePager")
        self._pinned_wanted = pinned
        self.page, self.most = 0, AUTOMATIC[0]
        self._automatic = True
        self.title_of: Callable[[str], str] = str
        self.alone = ""
        """The only visible pane; "" for a page of several."""
        self._every: list[str] = []
        self._differences: set[str] = set()
        self._left_out: set[str] = set()
        self._wanted = True
        self.before = self._button(Qt.ArrowType.LeftArrow, "panesBefore", self.tr("Previous results"))
        self.words = named(QLabel(self), "panePage")
        self.after = self._button(Qt.ArrowType.RightArrow, "panesAfter", self.tr("Next results"))
        self.before.clicked.connect(lambda: self.turn(-1))
        self.after.clicked.connect(lambda: self.turn(1))
        self.menu = QMenu(self)
        self.menu.setStyle(boxes())
        self.menu.aboutToShow.connect(self.fill_menu)
        tip = self.tr("How many panes there are at once, and what they show")
        self.choose = named(QToolButton(self), "panesChoose", title=self.tr("Panes"), tip=tip)
        self.choose.setText(self.tr("Panes"))
        self.choose.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.choose.setMenu(self.menu)
        gap = self.fontMetrics().averageCharWidth() // 2
        in_row(self.before, self.words, self.after, self.choose, on=self, gap=gap)
        self.hide()

    def _button(self, arrow: Qt.ArrowType, name: str, title: str) -> QToolButton:
        button = named(QToolButton(self), name, title=title, tip=title)
        button.setArrowType(arrow)
        button.setAutoRaise(True)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        return button

    # Which panes

    @property
    def keys(self) -> list[str]:
        """The panes that are not hidden, in order."""
        return [key for key in self._every if key not in self._left_out]

    @property
    def _pinned(self) -> int:
        """How many of these are on every page: a page of one pane has no space for them."""
        first = self._every[: self._pinned_wanted]
        return sum(key not in self._left_out for key in first) if self.most > 1 else 0

    @property
    def pages(self) -> int:
        """The number of pages."""
        count, pinned = len(self.keys), self._pinned
        return max(1, -(-(count - pinned) // (self.most - pinned))) if count > self.most else 1

    def set_pinned(self, pinned: int) -> None:
        """Set the number of first panes that are on every page."""
        self._pinned_wanted = pinned

    def set_keys(self, keys: Sequence[str], differences: Sequence[str] = ()) -> None:
        """Set all panes, in order, and those of differences behind them; the page stays if it still exists."""
        self._every, self._differences = [*keys, *differences], set(differences)
        keys = self._every
        if keys:  # a view that is not visible has none, and shows the same ones again
            self._left_out &= set(keys)
        if not self.keys:
            self._left_out.clear()  # else nothing at all would be visible
        if self.alone not in self._every:
            self.alone = ""
        self._bound()

    def _bound(self) -> None:
        self.page = min(self.page, self.pages - 1)
        self._describe()

    def visible_keys(self) -> list[str]:
        """The keys of the visible panes, with the pinned ones first."""
        if self.alone:
            return [self.alone]
        keys, pinned = self.keys, self._pinned
        if self.pages == 1:
            return keys
        first = pinned + self.page * (self.most - pinned)
        return [*keys[:pinned], *keys[first : first + self.most - pinned]]

    # Choices

    def set_wanted(self, wanted: bool) -> None:
        """Show or hide the pager: a comparison of two panes has no pages."""
        self._wanted = wanted
        self._describe()

    def set_most(self, most: int) -> None:
        """Set the number of simultaneous panes, one of COUNTS; the first of the visible results stays visible."""
        if most not in COUNTS:
            raise ValueError(f"there are {', '.join(map(str, COUNTS))} panes at once, not {most}")
        self._automatic = False
        if self._take(most):
            self.turned.emit()
        self.chosen.emit(most)

    def set_automatic(self) -> None:
        """Have as many panes at once as are large enough again."""
        if not self._automatic:
            self._automatic = True
            self.turned.emit()
            self.chosen.emit(0)

    @property
    def wanted(self) -> int:
        """The chosen number of panes at once; 0 for as many as are large enough."""
        return 0 if self._automatic else self.most

    def set_default_count(self, large: Callable[[int], bool]) -> None:
        """Until the user chooses, show as many simultaneous panes as are `large` enough side by side."""
        if self._automatic and self.keys:
            self._take(next((n for n in AUTOMATIC if large(min(n, len(self.keys)))), AUTOMATIC[-1]))

    def _take(self, most: int) -> bool:
        if most == self.most:
            return False
        first = self._pinned + self.page * (self.most - self._pinned)
        self.most = most
        self.page = max(0, (first - self._pinned) // (most - self._pinned))
        self._bound()
        return True

    def leave_out(self, key: str, out: bool) -> None:
        """Hide a pane, or show it again; the last one stays visible."""
        if out and self.keys == [key]:
            return
        (self._left_out.add if out else self._left_out.discard)(key)
        self._bound()
        self.turned.emit()

    def show_every(self) -> None:
        """Show all panes."""
        self._left_out.clear()
        self._bound()
        self.turned.emit()

    def show_alone(self, key: str) -> None:
        """Show only this pane; "" shows a page of them again."""
        if key != self.alone and (not key or key in self._every):
            self.alone = key
            self._describe()
            self.turned.emit()

    def turn(self, pages: int) -> None:
        """Turn this number of pages forward, or back if negative, within the existing ones."""
        page = min(max(self.page + pages, 0), self.pages - 1)
        if page != self.page:
            self.page = page
            self._describe()
            self.turned.emit()

    # Text and the menu

    def _describe(self) -> None:
        hidden = len(self._every) - len(self.keys)
        texts = list(self._page_words()) if self.pages > 1 else []
        texts += [self.tr("{hidden} left out").format(hidden=number(hidden))] if hidden else []
        self.words.setText(" · ".join(texts))
        self.before.setEnabled(self.page > 0)
        self.after.setEnabled(self.page < self.pages - 1)
        for button in (self.before, self.after):
            button.setVisible(self.pages > 1)
        self.setVisible(len(self._every) > 1 and self._wanted and not self.alone)

    def _page_words(self) -> Iterator[str]:
        """Which results are on the page, and which differences."""
        first = self._pinned + self.page * (self.most - self._pinned)
        places = range(first, min(first + self.most - self._pinned, len(self.keys)))
        results = [n for n, key in enumerate(self.keys) if key not in self._differences][self._pinned :]
        differences = [n for n, key in enumerate(self.keys) if key in self._differences]
        names = (self.tr("result"), self.tr("results")), (self.tr("difference"), self.tr("differences"))
        for (one, several), every in zip(names, (results, differences), strict=True):
            seen = [place + 1 for place, n in enumerate(every) if n in places]
            if seen:
                count = {"first": number(seen[0]), "last": number(seen[-1]), "count": number(len(every))}
                text = self.tr("{first}–{last} of {count}") if len(seen) > 1 else self.tr("{first} of {count}")
                yield f"{several if len(seen) > 1 else one} {text.format(**count)}"

    @Slot()
    def fill_menu(self) -> None:
        """Offer the numbers of panes, and the panes themselves."""
        self.menu.clear()
        for count in COUNTS:
            text = self.tr("One pane at once") if count == 1 else self.tr("{count} panes at once")
            self._offer(text.format(count=number(count)), count == self.wanted).triggered.connect(
                partial(self._choose_most, count)
            )
        fitting = self._offer(self.tr("As many as are large enough"), self._automatic)
        fitting.triggered.connect(self.set_automatic)
        self.menu.addSeparator()
        for key in self._every:
            action = self._offer(self.title_of(key), key not in self._left_out)
            action.setObjectName(f"pane.{key}")
            action.setEnabled(self.keys != [key])
            action.toggled.connect(partial(self._choose_pane, key))
        self.menu.addSeparator()
        every = self.menu.addAction(self.tr("Show every pane"))
        every.setEnabled(bool(self._left_out))
        every.triggered.connect(self.show_every)
        if REFERENCE not in self._every:
            self.menu.addAction(self.tr("Show the reference too")).triggered.connect(self.reference_wanted)

    def _offer(self, text: str, checked: bool) -> QAction:
        action = self.menu.addAction(text.replace("&", "&&"))
        action.setCheckable(True)
        action.setChecked(checked)
        return action

    def _choose_most(self, count: int, _checked: bool = True) -> None:
        self.set_most(count)

    def _choose_pane(self, key: str, shown: bool) -> None:
        self.leave_out(key, not shown)
