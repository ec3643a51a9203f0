"""The table of a region's statistics: a row for the input and for each result."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import QAbstractTableModel, QCoreApplication, QEvent, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QPalette, QResizeEvent
from PySide6.QtWidgets import QApplication, QHeaderView, QTableView, QWidget

from app.base.nesting import bounded
from app.base.numbers import copied
from app.base.theme import mix
from app.base.tips import tip_text
from app.base.translate import QT_TRANSLATE_NOOP
from app.models.pictures.region_figures import FigureRow, Figures
from app.views.charts.frame import FAINT
from app.views.headers import Header
from app.views.parts import number
from app.views.results.reading import with_unit

Index = QModelIndex | QPersistentModelIndex
NAMES = 30
"""The number of letters for a name in a narrow table."""
WHOLE_DIGITS = 9
"""The maximum number of digits of integers in the table; a file has all digits."""
NONE = "–"
"""Shown instead of an undefined value."""


class Column(NamedTuple):
    """A statistic: its name in files, its title and its meaning; `counted` ones have no unit. Its column is about
    `letters` wide."""

    name: str
    title: str
    tip: str
    read: Callable[[Figures], float | None]
    counted: bool = False
    letters: int = 11


_N = QT_TRANSLATE_NOOP
COLUMNS = (
    Column("count", _N("Region", "Values"), _N("Region", "Number of values in the region"), lambda f: f.count, True, 9),
    Column("mean", _N("Region", "Mean"), _N("Region", "The mean of the finite values"), lambda f: f.mean, letters=12),
    Column(
        "deviation",
        _N("Region", "Deviation"),
        _N("Region", "The population standard deviation of the values (divided by their number)"),
        lambda f: f.deviation,
    ),
    Column("min", _N("Region", "Min"), _N("Region", "The lowest finite value"), lambda f: f.low),
    Column(
        "median",
        _N("Region", "Median"),
        _N("Region", "The median of the finite values"),
        lambda f: f.median,
        letters=11,
    ),
    Column("max", _N("Region", "Max"), _N("Region", "The highest finite value"), lambda f: f.high),
    Column("nan", _N("Region", "NaN"), _N("Region", "Number of values that are NaN"), lambda f: f.nan, True, 6),
    Column("infinite", _N("Region", "Inf"), _N("Region", "Number of infinite values"), lambda f: f.infinite, True, 7),
    Column(
        "rms_to_input",
        _N("Region", "RMS diff."),
        _N("Region", "The root mean square of the result minus the input"),
        lambda f: f.rms_difference,
    ),
)


def _tr(text: str) -> str:
    return QCoreApplication.translate("Region", text)


def row_title(row: FigureRow) -> str:
    """The name of a result, and of its channel if it has several."""
    text = f"{row.title}, {row.channel}" if row.channel else row.title
    return text if row.current else _tr("{title} (earlier setting)").format(title=text)


class RegionModel(QAbstractTableModel):
    """The statistics as text."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows: tuple[FigureRow, ...] = ()
        self._widget = parent

    def show_rows(self, rows: Sequence[FigureRow]) -> None:
        """Show these rows; the selection stays if the rows have the same names."""
        same = [row_title(r) for r in rows] == [row_title(r) for r in self.rows]
        if same:
            self.rows = tuple(rows)
            if rows:
                self.dataChanged.emit(self.index(0, 0), self.index(len(rows) - 1, len(COLUMNS) - 1))
            return
        self.beginResetModel()
        self.rows = tuple(rows)
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802
        return 0 if parent.isValid() else len(COLUMNS)

    def text(self, row: int, column: int) -> str:
        """A statistic as text."""
        shown, figure = self.rows[row], COLUMNS[column]
        value = figure.read(shown.figures)
        if value is None or math.isnan(value):
            return NONE
        if figure.counted:
            return number(value)
        whole = isinstance(value, int) and abs(value) < 10**WHOLE_DIGITS
        return with_unit(number(value if whole else float(f"{value:.5g}")), shown.unit)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.DisplayRole:
            return self.text(index.row(), index.column())
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role == Qt.ItemDataRole.ForegroundRole and not self.rows[index.row()].current:
            palette = self._widget.palette()
            text, ground = palette.color(QPalette.ColorRole.Text), palette.color(QPalette.ColorRole.Base)
            return mix(ground, text, 1.5 * FAINT)
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: N802
        across = orientation == Qt.Orientation.Horizontal
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip_text(_tr(COLUMNS[section].tip) if across else row_title(self.rows[section]))
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        return _tr(COLUMNS[section].title) if across else row_title(self.rows[section])

    def as_text(self) -> str:
        """The table as shown, for the clipboard, its columns separated by tabs."""
        lines = ["\t".join(["", *(_tr(column.title) for column in COLUMNS)])]
        for place, row in enumerate(self.rows):
            lines.append("\t".join([row_title(row), *(self.text(place, c) for c in range(len(COLUMNS)))]))
        return copied("\n".join(lines) + "\n")

    def as_csv(self, place: dict[str, float]) -> str:
        """The statistics with all digits, for other programs; each row includes the `place` of the region."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["result", "channel", "unit", "current", *place, *(column.name for column in COLUMNS)])
        for row in self.rows:
            values = [column.read(row.figures) for column in COLUMNS]
            texts = ["" if value is None or math.isnan(value) else repr(value) for value in values]
            start = [row.title, row.channel, row.unit, "yes" if row.current else "no"]
            writer.writerow([*start, *(repr(value) for value in place.values()), *texts])
        return out.getvalue()


class RegionTable(QTableView):
    """Shows a RegionModel; it scrolls if there is too little space."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("regionTable")
        self.figures = RegionModel(self)
        self.setModel(self.figures)
        self.setAccessibleName(_tr("Statistics of the region"))
        self.setEditTriggers(QTableView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.setAlternatingRowColors(True)
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setVerticalHeader(Header(Qt.Orientation.Vertical, self, ", "))  # the channel's name is at the end
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self._fit_letters()

    def _fit_letters(self) -> None:
        """Give columns a fixed width, which stays constant while the values change, and rows their height."""
        letter = self.fontMetrics().averageCharWidth()
        self.horizontalHeader().setMinimumSectionSize(6 * letter)
        for place, column in enumerate(COLUMNS):
            self.setColumnWidth(place, column.letters * letter)
        self.verticalHeader().setDefaultSectionSize(round(1.5 * self.fontMetrics().height()))
        self._fit_names()

    def _fit_names(self) -> None:
        """Give the names the width that the statistics do not need, and in a narrow table a minimum width."""
        free = self.width() - self.horizontalHeader().length() - self.verticalScrollBar().sizeHint().width()
        self.verticalHeader().setMaximumWidth(max(NAMES * self.fontMetrics().averageCharWidth(), free))

    @bounded
    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        self._fit_names()
        super().resizeEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """The copy shortcut copies the whole table."""
        if event.matches(QKeySequence.StandardKey.Copy):
            QApplication.clipboard().setText(self.figures.as_text())
        else:
            super().keyPressEvent(event)

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit_letters()
