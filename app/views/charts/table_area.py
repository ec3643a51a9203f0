"""A table of values with the names of its rows and columns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QEvent, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QFont, QPalette
from PySide6.QtWidgets import QHeaderView, QLabel, QSizePolicy, QStackedLayout, QTableView, QWidget

from app.base.nesting import bounded
from app.base.theme import mix
from app.base.tips import tip_text
from app.models.pictures.plane import Plane
from app.models.results.view_data import ViewData
from app.views.charts.frame import FAINT
from app.views.labels import named
from app.views.results.reading import name_of, place_text, reading_text, values_text

Index = QModelIndex | QPersistentModelIndex


class Figures(QAbstractTableModel):
    """The cells of a result, (R,) or (R, C), as texts."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.drawn: ViewData | None = None
        self.values = np.zeros((0, 0))

    def show_drawn(self, drawn: ViewData | None) -> None:
        self.beginResetModel()
        self.drawn = drawn
        values = np.zeros((0, 0)) if drawn is None else drawn.values
        self.values = values.reshape(len(values), math.prod(values.shape[1:]))
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802
        return 0 if parent.isValid() else int(self.values.shape[0])

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802
        return 0 if parent.isValid() else int(self.values.shape[1])

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.DisplayRole and self.drawn is not None:
            return values_text(self.values[index.row(), index.column()], "")
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip_text(self.cell_text(index.row(), index.column()))
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: N802
        if role != Qt.ItemDataRole.DisplayRole or self.drawn is None:
            return None
        axes = self.drawn.form.axes
        if orientation == Qt.Orientation.Vertical:
            return place_text(axes[0], section)
        if len(axes) < 2:
            return self.drawn.unit or name_of(axes[0])
        return place_text(axes[1], section)

    def cell_text(self, row: int, column: int) -> str:
        """A cell with the names of its row and its column."""
        if self.drawn is None or not (0 <= row < self.rowCount() and 0 <= column < self.columnCount()):
            return ""
        axes = self.drawn.form.axes
        names = [place_text(axis, place) for axis, place in zip(axes, (row, column), strict=False)]
        return reading_text(", ".join(names), values_text(self.values[row, column], self.drawn.unit))


class TableArea(QWidget):
    """The table, or a text where there is none. Tables with the same Plane share the selected cell and the font
    size."""

    def __init__(self, plane: Plane, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("tableArea")
        self.plane = plane
        self.current = True
        self.model = Figures(self)
        self.table = named(QTableView(self), title=self.tr("Figures"))
        self.table.setModel(self.model)
        self.table.setEditTriggers(QTableView.EditTrigger.NoEditTriggers)
        self.table.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.table.setAlternatingRowColors(True)
        self.table.setFrameShape(QTableView.Shape.NoFrame)
        self.table.setTabKeyNavigation(False)
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.none = QLabel(self)
        self.none.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.none.setWordWrap(True)
        self.none.setTextFormat(Qt.TextFormat.PlainText)
        self.layers = QStackedLayout(self)
        self.layers.setContentsMargins(0, 0, 0, 0)
        self.layers.addWidget(self.none)
        self.layers.addWidget(self.table)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.table.selectionModel().currentChanged.connect(self._choose)
        plane.changed.connect(self._resize)
        plane.cursor_moved.connect(self._follow)
        self.set_missing("")

    def show_drawn(self, drawn: ViewData | None, scale: str, current: bool) -> None:
        """Show this table; `current` says whether it fits the present choice."""
        if drawn is not self.model.drawn:
            self.model.show_drawn(drawn)
        if drawn is not None and not self.model.rowCount():
            self.none.setText(self.tr("Nothing was found"))
        self.layers.setCurrentIndex(int(self.model.rowCount() > 0))
        self.current = current
        self._recolour()
        self._follow()

    def content_width(self) -> int:
        """The width in pixels that shows all columns; 0 without a table."""
        if not self.model.rowCount():
            return 0
        heads = self.table.verticalHeader().sizeHint().width() + self.table.horizontalHeader().length()
        return heads + self.table.verticalScrollBar().sizeHint().width()

    def set_missing(self, text: str) -> None:
        if self.model.drawn is None:
            self.none.setText(text or self.tr("No result yet"))

    def value_text(self) -> str:
        """The selected cell with the names of its row and column."""
        if self.plane.cursor is None:
            return ""
        row, column = self.plane.cursor
        return self.model.cell_text(int(row), int(column))

    def _choose(self, now: QModelIndex, _before: QModelIndex) -> None:
        if now.isValid():
            self.plane.set_cursor((now.row(), now.column()))

    def _follow(self) -> None:
        """Select the cell that another table selected."""
        if self.plane.cursor is not None:
            index = self.model.index(int(self.plane.cursor[0]), int(self.plane.cursor[1]))
            if index.isValid() and index != self.table.currentIndex():
                self.table.setCurrentIndex(index)

    def _resize(self) -> None:
        font = QFont(self.font())
        font.setPointSizeF(font.pointSizeF() * (self.plane.x.letters or 1.0))
        for part in (self.table, self.table.horizontalHeader(), self.table.verticalHeader()):
            part.setFont(font)

    def _recolour(self) -> None:
        """Draw a result of an earlier setting in a fainter colour."""
        own = self.palette()
        text, ground = own.color(QPalette.ColorRole.Text), own.color(QPalette.ColorRole.Base)
        faint = QPalette(own)
        faint.setColor(QPalette.ColorRole.Text, text if self.current else mix(ground, text, 1.5 * FAINT))
        self.table.setPalette(faint)

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "layers"):
            self._recolour()
