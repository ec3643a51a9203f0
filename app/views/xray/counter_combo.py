"""The list of counters of a kernel, of which one is shown beside each line."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.base.terms import counter_help, counter_name
from app.base.tips import tip_text
from app.views.parts import Combo


class CounterCombo(Combo):
    """Lists counters by their names, with what each means as its tip."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.set_letters(8)

    @property
    def counter(self) -> str:
        """The id of the selected counter."""
        return str(self.currentData())

    def offer(self, ids: Sequence[str]) -> None:
        """List these counters."""
        self.clear()
        for place, id in enumerate(ids):
            self.addItem(counter_name(id), id)
            self.setItemData(place, tip_text(counter_help(id)), Qt.ItemDataRole.ToolTipRole)

    def select(self, id: str) -> None:
        """Select this counter if it is listed, else the first one."""
        self.setCurrentIndex(max(self.findData(id), 0))
