"""The bar above curves that says how their channels lie, and which of them are shown."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QSignalBlocker, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QSizePolicy, QWidget

from app.models.lanes import ChannelChoice
from app.views.results.choice_button import ChoiceButton

LONGEST = 24
"""Letters of the longest name that the list has room for."""


class ChannelBar(QWidget):
    """Sets a ChannelChoice, and shows it; hidden where there is one channel only. Keys while `keys` is focused: S
    stacks, the up and down arrows go through the channels."""

    def __init__(self, choice: ChannelChoice, keys: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("channelBar")
        self.choice = choice
        unit = self.fontMetrics().averageCharWidth()
        self.label = QLabel(self.tr("Channels"), self)
        self.list = QComboBox(self)
        self.list.setObjectName("channelList")
        self.list.setAccessibleName(self.tr("Channels"))
        self.list.setToolTip(self.tr("Show all channels or one (keys ↑ and ↓ while the curves are focused)"))
        self.list.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.list.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.label.setBuddy(self.list)
        row = QHBoxLayout(self)
        row.setContentsMargins(unit, 0, unit, 0)
        row.setSpacing(unit)
        row.addWidget(self.label)
        row.addWidget(self.list)
        row.addSpacing(unit)
        self.overlaid, self.stacked = self._button(self.tr("Overlaid"), False), self._button(self.tr("Stacked"), True)
        self.overlaid.setToolTip(self.tr("All channels in one plot (key S while the curves are focused)"))
        self.stacked.setToolTip(self.tr("A lane and an axis for each channel (key S while the curves are focused)"))
        row.addWidget(self.overlaid)
        row.addSpacing(-unit // 2)
        row.addWidget(self.stacked)
        row.addStretch(1)
        self.list.activated.connect(lambda place: choice.show_only(place - 1 if place else None))
        choice.changed.connect(self.refresh)
        for key, act in (
            (Qt.Key.Key_S, lambda: choice.show_all(not choice.stacked)),
            (Qt.Key.Key_Down, lambda: choice.step(1)),
            (Qt.Key.Key_Up, lambda: choice.step(-1)),
        ):
            shortcut = QShortcut(QKeySequence(key), keys)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(act)
        self._names: tuple[str, ...] = ()
        self._offered = False
        self.refresh()

    def _button(self, title: str, stacked: bool) -> ChoiceButton:
        button = ChoiceButton(self)
        button.setText(title)
        button.setAccessibleName(title)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.clicked.connect(lambda: self._stack(stacked))
        return button

    def _stack(self, stacked: bool) -> None:
        self.choice.show_all(stacked)
        self.refresh()  # a click on the checked button leaves it checked

    def set_offered(self, offered: bool) -> None:
        """Whether the curves have several channels."""
        self._offered = offered
        self.setVisible(offered and len(self.choice.names) > 1)

    def refresh(self) -> None:
        """Show the choice."""
        choice, translate = self.choice, QCoreApplication.translate
        if choice.names != self._names:
            self._names = choice.names
            with QSignalBlocker(self.list):
                self.list.clear()
                self.list.addItem(translate("ChannelBar", "All {count}").format(count=len(choice.names)))
                self.list.addItems(list(choice.names))
            longest = max((len(name) for name in choice.names), default=0)
            self.list.setMinimumContentsLength(min(max(longest, 8), LONGEST))
        self.list.setCurrentIndex(0 if choice.only is None else choice.only + 1)
        for button, stacked in ((self.overlaid, False), (self.stacked, True)):
            button.setChecked(choice.only is None and choice.stacked == stacked)
        self.setVisible(self._offered and len(choice.names) > 1)
