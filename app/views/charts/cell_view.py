"""Results side by side, each in its own cell, with one range and one cursor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QSize
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from app.models.pictures.display import Display
from app.models.pictures.layer import State
from app.models.pictures.plane import Plane
from app.models.results.entry import Entry
from app.models.results.origin import Origin
from app.models.results.view_data import ViewData
from app.views.boxes import in_column
from app.views.charts.cell import Cell
from app.views.charts.plot_area import Plot, ranges
from app.views.charts.table_area import TableArea
from app.views.pictures.panes import PaneGrid
from app.views.results.pager import Pager
from app.views.results.tiles import Tiles
from gpu_ops.types import Filter

ASPECT = 1.7
"""Width over height of figures and tables."""


class CellView(QWidget):
    """Cells by key. `make(plane, parent)` creates the area of a cell; `plot` draws it and is None where there is no
    axis. All areas have one range and one cursor: those of `plane`. Cells are created once and reused."""

    grid: PaneGrid | None = None
    display: Display | None = None
    aspect = ASPECT

    def __init__(
        self,
        make: Callable[[Plane, QWidget], QWidget],
        plot: Plot | None = None,
        parent: QWidget | None = None,
        plane: Plane | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("cellView")
        self.plane = plane or Plane(upward=False)
        self.plane.setParent(self)
        self._make, self._plot, self._scale = make, plot, ""
        self.pager = Pager(self, pinned=0)
        self.pager.title_of = lambda key: self.cells[key].title.text()
        self._tiles = Tiles[Cell](self._new_cell, Cell.clear, self.pager, self._best_aspect, 26, self, self._content)
        self.cells = self._tiles.tiles
        in_column(self.pager, (self._tiles, 1), on=self, gap=self.fontMetrics().averageCharWidth() // 2)

    @property
    def widget(self) -> QWidget:
        return self

    @property
    def sheet(self) -> QWidget:
        return self._tiles.sheet

    def sizeHint(self) -> QSize:
        unit = self.fontMetrics().averageCharWidth()
        return QSize(unit * 80, unit * 50)

    # What is shown

    @property
    def walk(self) -> Sequence[str]:
        return list(self.cells)

    @property
    def alone(self) -> str:
        return self.pager.alone

    def show_alone(self, key: str) -> None:
        self.pager.show_alone(key)

    def arrange(self, keys: Sequence[str], titles: Mapping[str, str], filter: Filter) -> None:
        self._tiles.set_keys(keys, "cell")
        for key in keys:
            self.cells[key].set_title(titles[key])

    def _new_cell(self, parent: QWidget) -> Cell:
        return Cell(self._make(self.plane, self), self.plane, parent)

    def _content(self) -> int:
        """The width of the widest table in pixels; 0 for figures, which have any width."""
        areas = [cell.area for cell in self.cells.values()]
        return max((area.content_width() for area in areas if isinstance(area, TableArea)), default=0)

    def _best_aspect(self) -> float:
        return self._plot.aspect if self._plot else self.aspect

    def put(self, key: str, drawn: ViewData, origin: Origin) -> None:
        self.cells[key].show_drawn(drawn, self._scale, origin)
        self._limit()
        self._tiles.arrange()

    def set_scale(self, scale: str) -> None:
        self._scale = scale

    def _limit(self) -> None:
        """Give all cells one range, so that differences are visible."""
        shown = [cell.drawn for cell in self.cells.values() if cell.drawn is not None]
        if self._plot is not None and shown:
            self.plane.set_limits(*ranges(self._plot, shown, self._scale))

    def start_over(self, drawn: ViewData | None) -> None:
        self.plane.set_cursor(None)
        self.plane.fit()

    def level(self, drawn: ViewData) -> None:
        """Nothing to do: the limits follow the drawn values."""

    def follow(self, drawn: ViewData) -> None:
        """Nothing to do: cells do not show an input."""

    def forget(self, key: str) -> None:
        self.cells[key].clear()

    def set_state(self, key: str, state: State | None, text: str, current: bool) -> None:
        self.cells[key].set_state(state, text, current)

    def set_note(self, key: str, text: str) -> None:
        """Nothing to do: each cell has its own line below it."""

    def state(self, key: str) -> State | None:
        return self.cells[key].state

    def show_findings(self, key: str, entry: Entry) -> None:
        bar = self.cells[key].findings
        bar.show_findings(entry.findings, entry.printed)
        bar.setEnabled(entry.current)

    # Navigation

    def fit(self) -> None:
        self.plane.fit()

    def zoom(self, factor: float) -> None:
        self.plane.zoom(factor)

    def one_to_one(self) -> None:
        self.plane.one_to_one()

    def value_text(self, key: str) -> str:
        return self.cells[key].area.value_text()

    def picture(self) -> QImage | None:
        return self.sheet.grab().toImage() if any(cell.drawn for cell in self.cells.values()) else None
