"""A result in its own frame: name and verdict above, the value under the cursor below."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtWidgets import QSizePolicy, QWidget

from app.models.pictures.layer import State
from app.models.pictures.plane import Plane
from app.models.results.origin import WHOLE, Origin
from app.models.results.view_data import ViewData
from app.views.eliding import clauses
from app.views.parts import MarkChip, mark_size, mark_texts
from app.views.results.tiles import Tile


class Area(Protocol):
    """A widget that shows one result."""

    def show_drawn(self, drawn: ViewData | None, scale: str, current: bool) -> None: ...
    def set_missing(self, text: str) -> None: ...
    def value_text(self) -> str: ...


class Cell(Tile):
    """Title, verdict and findings above an area; below it the value under the cursor of its Plane, or a line about
    the result, and a mark if it was simulated."""

    def __init__(self, area: QWidget, plane: Plane, parent: QWidget | None = None) -> None:
        self.mark = MarkChip()
        super().__init__(area, parent, self.mark)
        self.setObjectName("resultCell")
        self.area: Area = area  # type: ignore[assignment]  # a widget that is an Area as well
        self.drawn: ViewData | None = None
        self.state: State | None = None
        self.current, self.scale = True, ""
        self._widget = area
        self.status.setMinimumHeight(mark_size(self, "x").height())
        self.setMinimumWidth(18 * self.fontMetrics().averageCharWidth())  # equal widths, whatever the texts
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        plane.cursor_moved.connect(self._show_value)

    def set_title(self, title: str) -> None:
        self.title.setText(title)
        self.setAccessibleName(title)
        self._widget.setAccessibleName(title)

    def show_drawn(self, drawn: ViewData | None, scale: str, origin: Origin = WHOLE) -> None:
        """Show a result, or none."""
        self.drawn, self.scale = drawn, scale
        self.mark.show_texts(*mark_texts(origin, None))
        self.refresh()

    def set_state(self, state: State | None, text: str, current: bool) -> None:
        """Set the verdict and whether the result fits the present choice."""
        self.state, self.current = state, current
        self.chip.show_state(state, text)
        self.area.set_missing(text if state == "failed" else "")
        self.refresh()

    def refresh(self) -> None:
        self.area.show_drawn(self.drawn, self.scale, self.current)
        self._show_value()
        self.share_width()

    def clear(self) -> None:
        """Release the array, its verdict and its findings."""
        self.findings.show_findings((), ())
        self.show_drawn(None, self.scale)
        self.set_state(None, "", True)

    def _show_value(self) -> None:
        value = self.area.value_text()
        self.status.set_texts(*((value,) if value else clauses(self.drawn.text if self.drawn else "")))

    def share_width(self) -> None:
        super().share_width()
        self.mark.fit(self.width() / 2)
