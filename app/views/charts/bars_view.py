"""Bars of each result side by side, with one common marked range."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.models.curves.marked import Marks
from app.models.results.origin import Origin
from app.models.results.view_data import ViewData
from app.views.charts.bars_area import BarsArea
from app.views.charts.bars_plot import BarsPlot
from app.views.charts.cell_view import CellView


class BarsView(CellView):
    """A CellView of bars. The marks belong to the present bars: other bars remove them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        self.marks, plot = Marks(), BarsPlot()

        super().__init__(lambda plane, parent: BarsArea(plot, plane, self.marks, parent), plot, parent)
        self.marks.setParent(self)
        self.marks.changed.connect(self._refresh)

    def first(self) -> ViewData | None:
        """The first result that is shown."""
        return next((cell.drawn for cell in self.cells.values() if cell.drawn is not None), None)

    def put(self, key: str, drawn: ViewData, origin: Origin) -> None:
        before = self.first()
        super().put(key, drawn, origin)
        if before is not None and (before.form.axes, before.form.shape) != (drawn.form.axes, drawn.form.shape):
            self.marks.clear()

    def forget(self, key: str) -> None:
        super().forget(key)
        if self.first() is None:
            self.marks.clear()

    def start_over(self, drawn: ViewData | None) -> None:
        self.marks.clear()
        super().start_over(drawn)

    def _refresh(self) -> None:
        """Say how many samples are marked."""
        for cell in self.cells.values():
            cell.refresh()
