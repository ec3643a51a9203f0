"""Planes of values with two axes of different units, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from PySide6.QtWidgets import QWidget

from app.models.pictures.display import Display
from app.models.pictures.plane import Plane
from app.models.results.marks import Marked
from app.models.results.origin import Origin
from app.models.results.view_data import ViewData
from app.views.charts.cell_view import CellView
from app.views.charts.heat_area import HeatArea, limits

COLOURS = "viridis"
"""The default colour map."""


class HeatView(CellView):
    """A CellView whose areas paint one plane each, with common ranges, levels and colours."""

    aspect = 3.0

    def __init__(self, display: Display, parent: QWidget | None = None) -> None:
        super().__init__(lambda plane, parent: HeatArea(plane, display, parent), parent=parent, plane=Plane())
        self.display: Display = display
        display.set_colormap(COLOURS)

    def put(self, key: str, drawn: ViewData, origin: Origin) -> None:
        self.plane.set_limits(*limits(drawn))
        super().put(key, drawn, origin)

    def start_over(self, drawn: ViewData | None) -> None:
        self.plane.set_cursor(None)
        if drawn is not None:
            self.level(drawn)
            self.plane.set_limits(*limits(drawn))
        self.plane.fit()

    def set_marks(self, marked: Mapping[str, Marked]) -> None:
        """Mark positions over the planes of results."""
        for key, cell in self.cells.items():
            cast(HeatArea, cell.area).show_marks(marked.get(key, Marked((), "")))

    def level(self, drawn: ViewData) -> None:
        self.display.set_figures(drawn.statistics, drawn.levels)
