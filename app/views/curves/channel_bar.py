"""The bar above curves that chooses their layout and which channels are shown."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QSignalBlocker, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QComboBox, QLabel, QSizePolicy, QWidget

from app.models.curves.lanes import ChannelChoice
from app.views.boxes import in_row
from app.views.labels import named
from app.views.parts import Combo, ElidedLabel
from app.views.results.choice_button import ChoiceButton

LONGEST = 24
"""Letters of the longest name that fits the list."""


class ChannelBar(QWidget):
    """Sets a ChannelChoice, and shows it; hidden for a single channel. Key S stacks; while `keys` is
    focused, the up and down arrows go through the channels."""

    def __init__(self, choice: ChannelChoice, keys: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("channelBar")
        self.choice = choice
        unit = self.fontMetrics().averageCharWidth()
        self.label = QLabel(self.tr("Channels"), self)
        self.list = Combo(self)
        self.list.setObjectName("channelList")
        self.list.setAccessibleName(self.tr("Channels"))
        self.list.setToolTip(self.tr("Show all channels or one (keys ↑ and ↓ while the curves are focused)"))
        self.list.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.list.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.label.setBuddy(self.list)
        row = in_row(self.label, self.list, on=self, margins=(unit, 0, unit, 0), gap=unit)
        row.addSpacing(unit)
        self.overlaid, self.stacked = self._button(self.tr("Overlaid"), False), self._button(self.tr("Stacked"), True)
        self.overlaid.setToolTip(self.tr("All channels in one plot (key S)"))
        self.stacked.setToolTip(self.tr("A lane and an axis for each channel (key S)"))
        row.addWidget(self.overlaid)
        row.addSpacing(-unit // 2)
        row.addWidget(self.stacked)
        self.words = named(ElidedLabel(parent=self), "channelWords")
        row.addWidget(self.words, 1)
        self.list.activated.connect(self._choose)
        choice.changed.connect(self.refresh)
        for key, act in (
            (Qt.Key.Key_S, lambda: choice.show_all(not choice.stacked)),
            (Qt.Key.Key_Down, lambda: choice.step(1)),
            (Qt.Key.Key_Up, lambda: choice.step(-1)),
        ):
            shortcut = QShortcut(QKeySequence(key), keys)
            shortcut.activated.connect(act)
            if key == Qt.Key.Key_S:  # two visible plots share one choice: either may take the key
                shortcut.activatedAmbiguously.connect(act)
            else:
                shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
        self._listed: tuple[object, ...] = ()
        self._offered = False
        self.refresh()

    def _button(self, title: str, stacked: bool) -> ChoiceButton:
        button = named(ChoiceButton(self), title=title)
        button.setText(title)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.clicked.connect(lambda: self._stack(stacked))
        return button

    def _stack(self, stacked: bool) -> None:
        self.choice.show_all(stacked)
        self.refresh()  # a click on the checked button leaves it checked

    def _choose(self, place: int) -> None:
        parts = self.choice.parts
        if place < len(parts):
            self.choice.show_from(parts[place].start)
        else:
            self.choice.show_only(place - len(parts))

    def set_offered(self, offered: bool) -> None:
        """Whether the curves have several channels."""
        self._offered = offered
        self.setVisible(offered and len(self.choice.names) > 1)

    def refresh(self) -> None:
        """Show the choice."""
        choice, parts = self.choice, self.choice.parts
        if (choice.names, len(parts)) != self._listed:
            self._listed = choice.names, len(parts)
            entries = [*self._groups(), *choice.names]
            with QSignalBlocker(self.list):
                self.list.clear()
                self.list.addItems(entries)
            longest = max((len(name) for name in entries), default=0)
            self.list.setMinimumContentsLength(min(max(longest, 8), LONGEST))
        alone = choice.only is not None
        if parts:
            self.list.setCurrentIndex(len(parts) + (choice.only or 0) if alone else parts.index(choice.part))
        self.words.setText(self._sentence() if len(parts) > 1 and not alone else "")
        for button, stacked in ((self.overlaid, False), (self.stacked, True)):
            button.setChecked(choice.only is None and choice.stacked == stacked)
        self.setVisible(self._offered and len(choice.names) > 1)

    def _groups(self) -> list[str]:
        """The groups of channels as texts, counted from 1."""
        translate, parts, count = QCoreApplication.translate, self.choice.parts, len(self.choice.names)
        if len(parts) < 2:
            return [translate("ChannelBar", "All {count}").format(count=count)] if parts else []
        text = translate("ChannelBar", "{first} to {last} of {count}")
        return [text.format(first=part.start + 1, last=part.stop, count=count) for part in parts]

    def _sentence(self) -> str:
        text = QCoreApplication.translate("ChannelBar", "{most} at a time; others in the list")
        return text.format(most=len(self.choice.part))
