"""The PTX or the machine code of a kernel as a table; the lines of one source line are marked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QEvent, QModelIndex, QPersistentModelIndex, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QFont, QPalette, QShowEvent
from PySide6.QtWidgets import QHeaderView, QTableView, QWidget

from app.base.nesting import bounded
from app.base.theme import colours_of, fixed_font, inked, mix
from app.base.tips import tip_text
from app.models.xray.code import CodeText, Column, Kind, Place
from app.views.boxes import in_column
from app.views.labels import named, sentence_label

SIZE = 0.9
"""The font size relative to the window's: code is wide."""
MARK = "▸ "
"""The sign before a marked line."""
TINT = 0.3
"""The share of the highlight colour behind a marked line."""
PADDING = 2
"""Additional letters of a column."""
Index = QModelIndex | QPersistentModelIndex


class CodeModel(QAbstractTableModel):
    """The rows of a CodeText; `marked` are those of a source line."""

    def __init__(self, code: CodeText, parent: QWidget) -> None:
        super().__init__(parent)
        self.code = code
        self.marked: frozenset[int] = frozenset()
        self._widget = parent

    def show_code(self, code: CodeText) -> None:
        """Show other code, without marks."""
        self.beginResetModel()
        self.code, self.marked = code, frozenset()
        self.endResetModel()

    def mark(self, rows: Iterable[int]) -> None:
        """Mark these rows and no others."""
        self.marked = frozenset(rows)
        if self.code.rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.code.rows) - 1, self.columnCount() - 1))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802
        return 0 if parent.isValid() else len(self.code.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008, N802
        return 0 if parent.isValid() else len(self.code.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row, column = self.code.rows[index.row()], self.code.columns[index.column()]
        last = index.column() == len(self.code.columns) - 1
        marked = index.row() in self.marked
        if role == Qt.ItemDataRole.DisplayRole:
            text = row.cells[index.column()]
            return f"{MARK if marked else ' ' * len(MARK)}{text}" if last else _apart(column, text)
        if role == Qt.ItemDataRole.TextAlignmentRole and column.number:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role == Qt.ItemDataRole.BackgroundRole and marked:
            palette = self._widget.palette()
            return mix(palette.color(QPalette.ColorRole.Base), palette.color(QPalette.ColorRole.Highlight), TINT)
        if role == Qt.ItemDataRole.ForegroundRole and not last:
            return colours_of(self._widget.palette()).muted
        if role == Qt.ItemDataRole.ToolTipRole:
            places = [f"{file}:{line}" for file, line in row.places]
            return tip_text("\n".join(text for text in (" ← ".join(places), row.about) if text))
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: N802
        if orientation == Qt.Orientation.Vertical:
            return None
        column = self.code.columns[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip_text(self.code.tr(column.tip))
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if column.number else Qt.AlignmentFlag.AlignLeft
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        return _apart(column, self.code.tr(column.title)) if role == Qt.ItemDataRole.DisplayRole else None


def _apart(column: Column, text: str) -> str:
    """The text of a cell, with a space after a number: the next column begins at once."""
    return f"{text} " if column.number else text


class CodePage(QWidget):
    """Shows the code of a kernel of one kind. `place_chosen(places)`: the user chose a line of the code; these are the
    source lines that it comes from, innermost first."""

    place_chosen = Signal(object)

    def __init__(self, kind: Kind, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(f"xray.{kind}")
        self.model = CodeModel(CodeText(kind, None), self)
        self.sentence = sentence_label(f"xray.{kind}.about", self, selectable=True)
        title = self.tr("PTX of the kernel") if kind == "ptx" else self.tr("Machine code of the kernel")
        self.table = named(QTableView(self), f"xray.{kind}.table", title=title)
        self.table.setModel(self.model)
        self.table.setEditTriggers(QTableView.EditTrigger.NoEditTriggers)
        self.table.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.table.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.table.setFrameShape(QTableView.Shape.NoFrame)
        self.table.setTabKeyNavigation(False)
        self.table.setWordWrap(False)
        self.table.setShowGrid(False)
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.table.setHorizontalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        self.table.selectionModel().currentRowChanged.connect(self._choose)
        gap = self.fontMetrics().averageCharWidth()
        in_column(self.sentence, (self.table, 1), on=self, margins=(0, gap, 0, 0))
        self._marking = False
        self.adapt()

    def show_code(self, code: CodeText) -> None:
        """Show this code; the same code stays where it is."""
        if code.rows != self.model.code.rows or code.sentence != self.model.code.sentence:
            self._marking = True
            self.model.show_code(code)
            self._marking = False
            self._fit()
        self.sentence.setText(code.sentence)
        self.table.setVisible(bool(code.rows))

    def mark(self, place: Place) -> None:
        """Mark the lines of a source line, and scroll to the first unless one of them is the current line."""
        rows = self.model.code.marked(place)
        self.model.mark(rows)
        if rows and self.table.currentIndex().row() not in rows:
            self._marking = True
            self.table.selectionModel().clear()
            self._marking = False
            self._show_marked()

    @Slot()
    def _show_marked(self) -> None:
        """Scroll to the first marked line."""
        if self.model.marked:
            first = self.model.index(min(self.model.marked), 0)
            self.table.scrollTo(first, QTableView.ScrollHint.PositionAtCenter)

    @bounded
    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        QTimer.singleShot(0, self, self._show_marked)  # a hidden table had no height to scroll in

    @Slot(object)
    def _choose(self, current: QModelIndex) -> None:
        if current.isValid() and not self._marking:
            places = self.model.code.rows[current.row()].places
            if places:
                self.place_chosen.emit(places)

    def _fit(self) -> None:
        """Give each column the width of its longest text: all letters are equally wide."""
        metrics = self.table.fontMetrics()
        letter = metrics.averageCharWidth()
        for place, column in enumerate(self.model.code.columns):
            texts = [self.model.code.tr(column.title), *(row.cells[place] for row in self.model.code.rows)]
            longest = max(texts, key=len)
            width = metrics.horizontalAdvance(_apart(column, longest)) + PADDING * letter
            width = max(width, self.table.horizontalHeader().sectionSizeHint(place))
            self.table.setColumnWidth(place, width + len(MARK) * letter * (place == len(self.model.code.columns) - 1))
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.verticalHeader().setDefaultSectionSize(metrics.lineSpacing() + 2)

    def adapt(self) -> None:
        """Adapt to the font size and the colours of the surroundings."""
        font = QFont(fixed_font())
        font.setPointSizeF(SIZE * self.font().pointSizeF())
        self.table.setFont(font)
        self.table.horizontalHeader().setFont(font)
        self.sentence.setPalette(inked(self.palette(), colours_of(self.palette()).muted))
        self._fit()

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "_marking"):
            self.adapt()
