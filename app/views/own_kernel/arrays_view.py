"""The arrays after a launch: a table, a drawing of the chosen one, and the ways to keep it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QPushButton, QTableWidget, QTableWidgetItem, QWidget

from app.base.nesting import bounded
from app.base.numbers import MINUS, shown
from app.base.theme import colours_of
from app.views.boxes import in_column, in_row
from app.views.charts.chart import Numbers
from app.views.labels import named

MOST_POINTS, MOST_SIDE = 8000, 1000
"""Points of a curve, which keeps the extremes of more values, and rows and columns of a picture: of more, every second,
third and so on is drawn."""


class ArraysView(QWidget):
    """Shows arrays by name. `chosen`: another one is selected. `open_wanted`, `save_wanted`: open it as the input, or
    save it."""

    chosen = Signal(str)
    open_wanted = Signal(str)
    save_wanted = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.table = named(QTableWidget(0, 6, self), "own.arrays", self.tr("Arrays after the launch"))
        self.table.setHorizontalHeaderLabels(
            [
                self.tr("Array"),
                self.tr("Type"),
                self.tr("Shape"),
                self.tr("Min"),
                self.tr("Max"),
                self.tr("Values"),
            ]
        )
        self.table.verticalHeader().setVisible(False)
        self.table.setWordWrap(False)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.plot = pg.PlotWidget(self, axisItems={side: Numbers(side) for side in ("left", "bottom")})
        self.plot.setObjectName("own.plot")
        self.plot.setMenuEnabled(False)
        self.open_button = QPushButton(self.tr("Open as input"), self)
        self.save_button = QPushButton(self.tr("Save array…"), self)
        named(self.open_button, "own.open_array", tip=self.tr("Open the array as an image or a signal"))
        named(self.save_button, "own.save_array", tip=self.tr("Save the array as NPY"))
        in_column((self.table, 1), in_row(self.open_button, self.save_button, 1), (self.plot, 2), on=self)
        self.table.currentCellChanged.connect(self._choose)
        self.open_button.clicked.connect(lambda: self.open_wanted.emit(self.name))
        self.save_button.clicked.connect(lambda: self.save_wanted.emit(self.name))
        self._ink()

    @property
    def name(self) -> str:
        """The array that is selected; "" for none."""
        item = self.table.item(self.table.currentRow(), 0) if self.table.currentRow() >= 0 else None
        return str(item.data(Qt.ItemDataRole.UserRole)) if item else ""

    def show_arrays(self, arrays: Mapping[str, Mapping[str, Any]]) -> None:
        """Show the arrays of an answer; the first one that the kernel changed is selected."""
        self.table.blockSignals(True)
        self.table.setRowCount(len(arrays))
        for row, (name, about) in enumerate(arrays.items()):
            title = name if about["changed"] else self.tr("{name} (unchanged)").format(name=name)
            limits = ["" if about.get(end) is None else shown(float(about[end]), "g", 4) for end in ("min", "max")]
            shape, first = " × ".join(map(str, about["shape"])), ", ".join(_short(v) for v in about["first"])  # noqa: RUF001
            for column, text in enumerate((title, about["dtype"], shape, *limits, first)):
                item = QTableWidgetItem(text)
                item.setData(Qt.ItemDataRole.UserRole, name)
                self.table.setItem(row, column, item)
        changed = [place for place, about in enumerate(arrays.values()) if about["changed"]]
        self.table.setCurrentCell(changed[0] if changed else 0, 0)
        self.table.blockSignals(False)
        for button in (self.open_button, self.save_button):
            button.setEnabled(bool(arrays))
        self._choose()

    @Slot()
    @bounded
    def _choose(self, *_: int) -> None:
        self.chosen.emit(self.name)

    def draw(self, array: np.ndarray[Any, Any] | None) -> None:
        """Draw an array: a curve of one axis, a picture of two; of more axes, or of other values, nothing."""
        self.plot.clear()
        drawn = array is not None and array.dtype.kind in "buif" and array.ndim in (1, 2) and array.size > 0
        self.plot.setVisible(drawn)
        if not drawn or array is None:
            return
        self.plot.getViewBox().invertY(array.ndim == 2)
        self.plot.setAspectLocked(array.ndim == 2)
        if array.ndim == 1:
            pen = pg.mkPen(colours_of(self.palette()).series[0].colour)
            every = max(1, 2 * array.size // MOST_POINTS)
            values = np.asarray(array, np.float64)
            self.plot.setDownsampling(ds=every, auto=False, mode="peak")
            self.plot.plot(values, pen=pen, connect="finite")
        else:
            rows, columns = (slice(None, None, -(-extent // MOST_SIDE)) for extent in array.shape)
            image = pg.ImageItem(np.asarray(array[rows, columns], np.float64), axisOrder="row-major")
            image.setRect(0, 0, array.shape[1], array.shape[0])
            self.plot.addItem(image)
        self.plot.autoRange()

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "plot"):
            self._ink()
            self._choose()

    def _ink(self) -> None:
        palette = self.palette()
        self.plot.setBackground(palette.base().color())
        for side in ("left", "bottom"):
            axis = self.plot.getAxis(side)
            axis.setPen(palette.text().color())
            axis.setTextPen(palette.text().color())


def _short(value: Any) -> str:
    return shown(value, "g", 6) if isinstance(value, float) else str(value).replace("-", MINUS)
