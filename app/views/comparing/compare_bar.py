"""The controls of panes: the mode of comparison, the two that are compared, and the pages."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QButtonGroup, QLabel, QSizePolicy, QToolButton, QWidget

from app.models.curves.stroke import PINNED
from app.models.pictures.comparing import MODES, Mode
from app.views.folding import Folding
from app.views.labels import named
from app.views.parts import Combo
from app.views.results.choice_button import ChoiceButton
from app.views.results.pager import Pager

LEAST, NAME = 7, 13
"""Letters of a name in the narrowest bar, and those that it should have beyond them: "threshold soft · pinned" is then
whole."""


class CompareBar(Folding):
    """Buttons for the modes in one row; in the other the pager, or the `first` and the `second` picture, and `hold`,
    which shows the second while it is pressed, or `keep`, which has its action from elsewhere and keeps a difference;
    where the names of the pictures would be cut, these are below.

    `mode_chosen(mode)` and `pair_chosen`: the user chose; `held(other)`: the button went down or up.
    """

    mode_chosen = Signal(str)
    pair_chosen = Signal()
    held = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.modes = QButtonGroup(self)
        texts = self.tr("Side by side"), self.tr("Swipe"), self.tr("Flicker"), self.tr("Difference")
        for index, text in enumerate(texts):
            button = named(ChoiceButton(self), f"mode{index}", title=text.replace("&", ""))
            button.setText(text)
            self.modes.addButton(button, index)
        self.modes.button(1).setToolTip(self.tr("Two results in one picture, with a divider to drag"))
        self.modes.button(2).setToolTip(self.tr("One result, and the other while Space is held"))
        self.modes.button(3).setToolTip(self.tr("The first picture minus the second, with colours for the sign"))
        self.modes.idClicked.connect(lambda index: self.mode_chosen.emit(MODES[index]))
        self.first = self._box("compareFirst", self.tr("First picture"))
        self.second = self._box("compareSecond", self.tr("Second picture"))
        self._and = QLabel(self.tr("and"), self)
        self.hold = named(QToolButton(self), "flickerHold", tip=self.tr("Hold to show the second picture"))
        self.hold.setText(self.tr("Other"))
        self.hold.pressed.connect(lambda: self.held.emit(True))
        self.hold.released.connect(lambda: self.held.emit(False))
        self.level = named(ChoiceButton(self), "swipeLevel", title=self.tr("Horizontal divider"))
        self.level.setText(self.tr("Horizontal"))
        self.level.setToolTip(self.tr("One picture above the other, with a divider that moves up and down"))
        self.keep = named(ChoiceButton(self), "keepDifference")
        self.options = named(ChoiceButton(self), "compareOptions", title=self.tr("Options"))
        self.options.setText(self.tr("Options"))
        self.options.setToolTip(self.tr("How differences are measured and coloured, and what their figures use"))
        self.pager, self._pair = Pager(self), Folding(self, wider=0)
        self._arrange()

    def _box(self, name: str, title: str) -> Combo:
        box = named(Combo(self), name, title=title, tip=title)
        box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        box.setMinimumWidth(self.fontMetrics().averageCharWidth() * LEAST)
        box.activated.connect(self.pair_chosen)
        return box

    def _arrange(self) -> None:
        unit = self.fontMetrics().averageCharWidth()
        self.set_space((unit, unit // 2, unit, 0), unit // 2)
        for button in self.modes.buttons():
            self.one.addWidget(button)
        self._pair.set_space((0, 0, 0, 0), unit // 2)
        for box, stretch in ((self.first, 1), (self._and, 0), (self.second, 1)):
            self._pair.one.addWidget(box, stretch)
        for button in (self.level, self.hold, self.keep):
            self._pair.two.addWidget(button)
        self._pair.two.addWidget(self.options)
        self._pair.two.addStretch(0)
        self.two.addWidget(self._pair, 1)
        self.one.addStretch(0)
        self.two.addStretch(0)
        self.two.addWidget(self.pager)

    def show_mode(self, mode: Mode) -> None:
        """Show the controls of a mode."""
        self.modes.button(MODES.index(mode)).setChecked(True)
        for widget in (self.first, self._and, self.second):
            widget.setVisible(mode != "side by side")
        self.level.setVisible(mode == "swipe")
        self.hold.setVisible(mode == "flicker")
        self.keep.setVisible(mode == "difference")
        self.pager.set_wanted(mode == "side by side")
        self._pair.wanted = 0 if mode == "side by side" else 2 * NAME * self.fontMetrics().averageCharWidth()
        self._and.setText(self.tr("minus") if mode == "difference" else self.tr("and"))

    def _fold(self) -> None:
        """The pair and its buttons are next to each other where all is in one row."""
        self.wanted = self._pair.wanted + min(row.minimumSize().width() for row in (self._pair.one, self._pair.two))
        super()._fold()

    def list_pairs(self, pictures: Sequence[tuple[str, str]]) -> None:
        """Offer these pictures, by key and title; the chosen ones stay where they are among them, until another result
        is pinned: it is then compared with the variant that it was pinned from."""
        keys = [key for key, _ in pictures]
        listed = {self.first.itemData(place) for place in range(self.first.count())}
        pinned = next((key for key in keys if PINNED in key and key not in listed), "")
        pair = (pinned, pinned.partition(PINNED)[0]) if pinned else ("", "")
        for box, new, default in ((self.first, pair[0], 0), (self.second, pair[1], 1)):
            selected = new if pair[1] in keys else box.currentData()
            with QSignalBlocker(box):
                box.clear()
                for key, title in pictures:
                    box.addItem(title, key)
                at = box.findData(selected)
                box.setCurrentIndex(at if at >= 0 else default if default < len(pictures) else -1)
