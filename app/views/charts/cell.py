"""A result in a frame of its own: name and verdict above, the value under the cursor below."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from app.models.pictures.layer import State
from app.models.pictures.plane import Plane
from app.models.results.origin import WHOLE, Origin
from app.models.results.view_data import ViewData
from app.views.boxes import in_column
from app.views.parts import ElidedLabel, MarkChip, StateChip, mark_size, mark_texts
from app.views.results.findings_bar import FindingsBar


class Area(Protocol):
    """A widget that shows one result."""

    def show_drawn(self, drawn: ViewData | None, scale: str, current: bool) -> None: ...
    def set_missing(self, text: str) -> None: ...
    def value_text(self) -> str: ...


class Cell(QWidget):
    """Title, verdict and findings above an area; below it the value under the cursor of its Plane, or a line about
    the result, and the mark of a simulated one."""

    def __init__(self, area: QWidget, plane: Plane, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("resultCell")
        self.area: Area = area  # type: ignore[assignment]  # a widget that is an Area as well
        area.setParent(self)
        self.drawn: ViewData | None = None
        self.state: State | None = None
        self.current, self.scale = True, ""
        self.title = ElidedLabel(parent=self)
        font = self.title.font()
        font.setBold(True)
        self.title.setFont(font)
        self.mark, self.chip, self.findings = MarkChip(self), StateChip(self), FindingsBar(self)
        self.status = ElidedLabel(parent=self, keep=": ")  # the value
        self.status.setObjectName("cellStatus")
        self._widget = area
        self._arrange()
        plane.cursor_moved.connect(self._show_value)

    def _arrange(self) -> None:
        unit = self.fontMetrics().averageCharWidth()
        head, foot = QHBoxLayout(), QHBoxLayout()
        for row in (head, foot):
            row.setContentsMargins(unit, 0, unit, 0)
            row.setSpacing(unit)
        head.addWidget(self.title, 1)
        head.addWidget(self.chip)
        self.title.setMinimumHeight(self.chip.sizeHint().height())  # the title does not jump when a verdict comes
        self.status.setMinimumHeight(mark_size(self, "x").height())
        foot.addWidget(self.status, 1)
        foot.addWidget(self.mark)
        self.setMinimumWidth(unit * 18)  # all cells have the same width, whatever their texts
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        in_column(
            head, self.findings, (self._widget, 1), foot, on=self, margins=(0, unit // 2, 0, unit // 2), gap=unit // 2
        )

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
        self._share_width()

    def clear(self) -> None:
        """Release the array, its verdict and its findings."""
        self.findings.show_findings((), ())
        self.show_drawn(None, self.scale)
        self.set_state(None, "", True)

    def _show_value(self) -> None:
        self.status.setText(self.area.value_text() or (self.drawn.text if self.drawn else ""))

    def _share_width(self) -> None:
        """Cut the marks before the name."""
        unit = self.fontMetrics().averageCharWidth()
        rest = self.width() - self.title.fontMetrics().horizontalAdvance(self.title.text()) - 4 * unit
        self.chip.setMaximumWidth(max(self.chip.least_width(), rest))
        self.mark.set_compact(self.width() < 2 * self.fontMetrics().horizontalAdvance(self.mark.text))

    def resizeEvent(self, event: QEvent) -> None:
        self._share_width()
