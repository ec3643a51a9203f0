"""The first rows of a table as it would be read, with the chosen columns."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QFont, QPalette
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem, QWidget

from app.base.nesting import bounded
from app.base.theme import colours_of, mix
from app.base.tips import set_tip
from app.views.headers import Header

WIDEST = 22
"""The most letters of a column; a longer name or cell is cut, with the whole text in its tooltip."""
LEAST_LINES, MOST_LINES = 4, 10


class ImportTable(QTableWidget):
    """Shows a heading and rows. `clicked_place(place)` says that a heading was clicked, or a row where the choice is
    `by_rows`. Only `pickable` indices can be chosen. Without a choice all are read; else the others are faint."""

    clicked_place = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("importTable")
        self.setAccessibleName(self.tr("The first rows of the table"))
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header = Header(Qt.Orientation.Horizontal, self)
        header.setSectionsClickable(True)
        self.setHorizontalHeader(header)
        header.setHighlightSections(False)
        header.sectionClicked.connect(lambda place: self._clicked(place, False))
        self.cellClicked.connect(lambda row, _column: self._clicked(row, True))
        self._heading: tuple[str, ...] = ()
        self._rows: tuple[tuple[str, ...], ...] = ()
        self._chosen: tuple[int, ...] = ()
        self.pickable: tuple[int, ...] = ()
        self.by_rows = False

    def _clicked(self, place: int, by_rows: bool) -> None:
        if by_rows == self.by_rows and place in self.pickable:
            self.clicked_place.emit(place)

    def show_rows(
        self, heading: Sequence[str], rows: Sequence[Sequence[str]], pickable: Sequence[int] = (), by_rows: bool = False
    ) -> None:
        """Show these names and cells, and which columns or rows can be chosen; hidden without any."""
        before = self._heading, self._rows, self.pickable, self.by_rows
        self._heading, self._rows = tuple(heading), tuple(map(tuple, rows))
        self.pickable, self.by_rows = tuple(pickable), by_rows
        if before == (self._heading, self._rows, self.pickable, self.by_rows):
            return
        columns = max(len(heading), max(map(len, rows), default=0))
        self.clear()
        self.setColumnCount(columns)
        self.setRowCount(len(rows))
        for place in range(columns):
            for line, row in enumerate(rows):
                if place < len(row):
                    item = QTableWidgetItem(row[place])
                    set_tip(item, row[place])
                    self.setItem(line, place, item)
        self.setVisible(bool(columns))
        self._mark()
        self.resizeColumnsToContents()
        widest = WIDEST * self.fontMetrics().averageCharWidth()
        for place in range(columns):
            self.setColumnWidth(place, min(self.columnWidth(place), widest))
        self.updateGeometry()

    def choose(self, places: Sequence[int]) -> None:
        """Mark these columns as chosen; () where all are read."""
        if tuple(places) != self._chosen:
            self._chosen = tuple(places)
            self._mark()

    @property
    def chosen(self) -> tuple[int, ...]:
        return self._chosen

    def _mark(self) -> None:
        palette = self.palette()
        base, text = palette.color(QPalette.ColorRole.Base), palette.color(QPalette.ColorRole.Text)
        marked = mix(base, palette.color(QPalette.ColorRole.Highlight), 0.25)
        faint = colours_of(palette).muted
        for column in range(self.columnCount()):
            self._mark_header(column)
            for row in range(self.rowCount()):
                item, place = self.item(row, column), row if self.by_rows else column
                is_chosen = place in self._chosen
                if item is not None:
                    item.setBackground(marked if is_chosen else base)
                    usable = place in self.pickable or not self.pickable
                    item.setForeground(text if is_chosen or (usable and not self._chosen) else faint)

    def _mark_header(self, place: int) -> None:
        """The name of a column, with its number if columns are chosen by number, and a tick if it is chosen."""
        header, is_chosen = QTableWidgetItem(), place in self._chosen and not self.by_rows
        name = self._heading[place] if place < len(self._heading) else ""
        numbered = bool(self.pickable) and not self.by_rows and name.strip() != str(place + 1)
        title = f"{place + 1}  {name}".rstrip() if numbered else name
        header.setText(f"✓ {title}" if is_chosen else title)
        set_tip(header, self._tip(name, place, is_chosen))
        font = QFont(self.font())
        font.setBold(is_chosen)
        header.setFont(font)
        self.setHorizontalHeaderItem(place, header)

    def _tip(self, name: str, place: int, is_chosen: bool) -> str:
        if self.by_rows or not self.pickable:
            return name
        if place not in self.pickable:
            words = self.tr("no numbers in this column")
        else:
            words = self.tr("click to leave this column out") if is_chosen else self.tr("click to choose this column")
        return f"{name}: {words}" if name else words

    def _height(self, lines: int) -> int:
        """The height with so many rows."""
        line = self.verticalHeader().sectionSize(0) if self.rowCount() else self.fontMetrics().height() * 3 // 2
        frame = self.horizontalHeader().sizeHint().height() + self.horizontalScrollBar().sizeHint().height() + 4
        return frame + line * lines

    def sizeHint(self) -> QSize:  # noqa: N802
        """The height of its rows, within limits."""
        return QSize(super().sizeHint().width(), self._height(max(LEAST_LINES, min(self.rowCount(), MOST_LINES))))

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(super().minimumSizeHint().width(), self._height(LEAST_LINES))

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_chosen"):
            self._mark()
