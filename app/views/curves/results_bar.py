"""The bar above curves that chooses the arrangement of results in the plot."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QButtonGroup, QWidget

from app.models.curves.result_lanes import LAID, ResultLanes
from app.views.boxes import in_row
from app.views.labels import named
from app.views.parts import Combo, ElidedLabel
from app.views.results.choice_button import ChoiceButton


class ResultsBar(QWidget):
    """Sets a ResultLanes, and shows it; hidden where there is one result only. `words` say what a difference leaves
    out."""

    def __init__(self, lanes: ResultLanes, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("resultsBar")
        self._lanes = lanes
        unit = self.fontMetrics().averageCharWidth()
        self.ways = QButtonGroup(self)
        texts = self.tr("Overlaid"), self.tr("Stacked"), self.tr("Difference")
        names = self.tr("Results overlaid"), self.tr("Results stacked"), self.tr("Difference of results")
        tips = (
            self.tr("All in one plot"),
            self.tr("A lane and an axis for each"),
            self.tr("Each minus the one at right"),
        )
        for place, (text, name, tip) in enumerate(zip(texts, names, tips, strict=True)):
            button = named(ChoiceButton(self), f"results{place}", title=name, tip=tip)
            button.setText(text)
            self.ways.addButton(button, place)
        self.minus = named(Combo(self), "resultsMinus", title=self.tr("What is subtracted from the others"))
        self.words = named(ElidedLabel(parent=self), "resultsWords")
        self.ways.idClicked.connect(lambda _: self._choose())
        self.minus.activated.connect(self._choose)
        in_row(*self.ways.buttons(), self.minus, (self.words, 1), on=self, margins=(unit, 0, unit, 0), gap=unit // 2)
        lanes.changed.connect(self.refresh)
        self.offer({}, "")

    @Slot()
    def _choose(self) -> None:
        self._lanes.lay(LAID[self.ways.checkedId()], self.minus.currentData() or "")

    def offer(self, titles: Mapping[str, str], words: str) -> None:
        """Offer the results with these titles."""
        if [self.minus.itemData(k) for k in range(self.minus.count())] != list(titles):
            self.minus.clear()
            for key, title in titles.items():
                self.minus.addItem(title, key)
        for place, title in enumerate(titles.values()):
            self.minus.setItemText(place, title)
        self.words.setText(words)
        self.setVisible(len(titles) > 1)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Show the choice."""
        self.ways.button(LAID.index(self._lanes.laid)).setChecked(True)
        self.minus.setCurrentIndex(max(0, self.minus.findData(self._lanes.minus)))
        self.minus.setVisible(self._lanes.laid == "difference")
