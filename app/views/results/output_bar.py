"""The buttons that choose the output and the scale of its values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QLabel, QMenu, QToolButton, QWidget

from app.base.theme import boxes
from app.views.flow import FlowLayout
from app.views.labels import named
from app.views.results.choice_button import ChoiceButton
from app.views.results.view_table import Scale


class Choice(NamedTuple):
    """One button of several."""

    id: str
    title: str
    tip: str = ""


def output_title(id: str) -> str:
    """The title of an output."""
    text = QCoreApplication.translate("Outputs", id).replace("_", " ")
    return text[:1].upper() + text[1:]


class Buttons(QWidget):
    """A group of buttons for several choices; hidden if there is only one. `chosen(id)`: the user chose."""

    chosen = Signal(str)

    def __init__(self, name: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.choices: tuple[Choice, ...] = ()
        self.present = ""
        """The id of the checked choice."""
        self._group = QButtonGroup(self)
        self._group.idClicked.connect(lambda place: self.chosen.emit(self.choices[place].id))
        row = FlowLayout(self, wide=True)
        row.setContentsMargins(0, 0, 0, 0)
        self._label = QLabel(title, self)
        self._label.setContentsMargins(0, 0, self.fontMetrics().averageCharWidth(), 0)
        row.addWidget(self._label)
        self._row = row
        self.hide()

    def offer(self, choices: Sequence[Choice], chosen: str) -> None:
        """Offer these choices, with one checked."""
        if tuple(choices) != self.choices:
            self.choices = tuple(choices)
            for button in self._group.buttons():
                self._group.removeButton(button)
                self._row.removeWidget(button)
                button.hide()
                button.deleteLater()
            for place, choice in enumerate(choices):
                self._add(place, choice)
        self.present = chosen
        for button in self._group.buttons():
            button.setChecked(self.choices[self._group.id(button)].id == chosen)
        self.setVisible(len(choices) > 1)

    def _add(self, place: int, choice: Choice) -> None:
        button = named(ChoiceButton(self), f"{self.objectName()}.{choice.id}", title=choice.title, tip=choice.tip)
        button.setText(choice.title.replace("&", "&&"))
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._group.addButton(button, place)
        self._row.addWidget(button)
        self._label.setMinimumHeight(button.sizeHint().height())  # vertically centred next to the buttons
        button.show()

    def button(self, id: str) -> ChoiceButton:
        """The button of an offered choice."""
        place = [choice.id for choice in self.choices].index(id)
        button = self._group.button(place)
        assert isinstance(button, ChoiceButton)
        return button


class OutputBar(QWidget):
    """The outputs of a filter and the scales of the present output; hidden where there is nothing to choose. `beside`
    has a menu, filled from elsewhere, of outputs for a pane next to the present one."""

    def __init__(self, output: Callable[[str], None], scale: Callable[[str], None], parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("outputBar")
        self.outputs = Buttons("output", self.tr("Output"), self)
        self.scales = Buttons("scale", self.tr("Scale"), self)
        self.outputs.chosen.connect(output)
        self.scales.chosen.connect(scale)
        unit = self.fontMetrics().averageCharWidth()
        row = FlowLayout(self, gap=2 * unit)
        row.setContentsMargins(unit, unit // 2, unit, 0)
        self.beside = named(QToolButton(self), "outputBeside", title=self.tr("Beside"))
        self.beside.setText(self.tr("Beside"))
        self.beside.setToolTip(self.tr("Show another output in a pane of its own, next to the present one"))
        self.beside.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.beside.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.menu = QMenu(self)
        self.menu.setStyle(boxes())
        self.beside.setMenu(self.menu)
        for widget in (self.outputs, self.beside, self.scales):
            row.addWidget(widget)
        self.hide()

    def offer(self, outputs: Sequence[str], output: str, scales: Sequence[Scale], scale: str) -> None:
        """Offer these outputs and scales, with one of each checked."""
        translate = QCoreApplication.translate
        self.outputs.offer([Choice(id, output_title(id)) for id in outputs], output)
        self.beside.setVisible(len(outputs) > 1)
        offered = [Choice(s.id, translate("Scales", s.title), translate("Scales", s.tip)) for s in scales]
        self.scales.offer(offered, scale)
        self.setVisible(len(outputs) > 1 or len(scales) > 1)
