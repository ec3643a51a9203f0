"""The results as a table that can be sorted, copied and exported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
    QTimer,
    Signal,
    Slot,
)
from PySide6.QtGui import QAction, QContextMenuEvent, QGuiApplication, QKeyEvent, QKeySequence, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QFileDialog, QMenu, QTableView, QWidget

from app.base.nesting import bounded
from app.base.numbers import copied, number, percent, relative_error, seconds, times
from app.base.terms import stage_column, stage_tip
from app.base.theme import boxes, colours_of
from app.base.tips import tip_text
from app.models.experiment.slot import RowSlot
from app.models.results.entry import Entry
from app.models.results.quality import gain, quality_text
from app.models.results.results import Results
from app.models.results.rungs import explaining_ids
from app.views.picture_file import write_text
from app.views.timing.row_text import (
    change_of,
    change_text,
    details,
    device_name,
    figure_text,
    recorded_text,
    speedup_heading,
    speedup_text,
    state_text,
    translate,
    verdict,
    verdict_role,
)
from gpu_ops import KernelscopeError
from gpu_ops.report.bounds import bound_note

Index = QModelIndex | QPersistentModelIndex
SORT = Qt.ItemDataRole.UserRole
COUNTED = "counted"
QUALITY = "quality"
CHANGE = "change"
Chooser = Callable[[str, str, str], str]
"""Asks for a file to save: title, proposed name, filter. An empty answer means none."""


@dataclass(frozen=True)
class Column:
    """One column: its heading, its sort value, the text of that, and whether it is a number."""

    id: str
    heading: str
    value: Callable[[Entry, Results], Any]
    text: Callable[[Any], str]
    number: bool = True


def _stage(name: str, figure: str = "median") -> Callable[[Entry, Results], Any]:
    return lambda entry, results: getattr(entry.stage(name), figure, None)


def _row(name: str) -> Callable[[Entry, Results], Any]:
    return lambda entry, results: getattr(entry.timed, name) if entry.stage("kernel") else None


def _counted(entry: Entry, results: Results) -> Any:
    """The counter that explains most about a simulated row; its tool tip lists the others."""
    id = next(iter(explaining_ids(results.entries())), "")
    value = entry.counted(id)
    return None if value is None else [value, figure_text(id, value)]


def _change(entry: Entry, results: Results) -> Any:
    """The ratio of the time to the pinned one, and its text."""
    found = change_of(entry, results)
    return None if found is None else [found.ratio, change_text(found)]


def _error(entry: Entry, results: Results) -> float | None:
    return entry.row.error_max if entry.row else None


def _quality(entry: Entry, results: Results) -> Any:
    """How much closer the first output is to the noise-free original, and the text of that."""
    found = next(iter(entry.row.quality.values()), None) if entry.row and entry.current else None
    return None if found is None or not quality_text(found) else [gain(found), quality_text(found)]


def _state(entry: Entry, results: Results) -> str:
    return " · ".join(w for w in (state_text(entry), recorded_text(entry)) if w)


def _notes(entry: Entry, results: Results) -> str:
    if entry.row is None:
        return ""
    remarks = [entry.failure, entry.doubt("kernel"), *entry.row.notes, entry.row.flag, bound_note(entry.row)]
    return "; ".join(text for text in remarks if text)


def _align(column: Column) -> Qt.AlignmentFlag:
    if column.id == "verdict":  # centred, away from the number on its left
        return Qt.AlignmentFlag.AlignCenter
    side = Qt.AlignmentFlag.AlignRight if column.number else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter


def columns() -> tuple[Column, ...]:
    """The columns with headings in the user's language; the model adds the baseline to the speed-up's."""
    return (
        Column(
            "variant", translate("Rows", "variant"), lambda e, r: f"◉ {e.name}" if e.recorded else e.name, str, False
        ),
        Column("device", translate("Rows", "device"), lambda e, r: device_name(e.device), str, False),
        Column("kernel", stage_column("kernel"), _stage("kernel"), seconds),
        Column("q1", translate("Rows", "quartile 1"), _stage("kernel", "q1"), seconds),
        Column("q3", translate("Rows", "quartile 3"), _stage("kernel", "q3"), seconds),
        Column("n", translate("Rows", "n"), _stage("kernel", "n"), partial(number, digits=9)),
        Column("gbps", translate("Rows", "GB/s"), _row("gbps"), number),
        Column("share", translate("Rows", "of roof"), _row("share"), percent),
        Column("peak", translate("Rows", "of peak"), _row("share_peak"), percent),
        Column("bound", translate("Rows", "of bound"), _row("share_bound"), percent),
        Column("speedup", "", lambda e, r: r.speedup(e.slot), times),
        Column(CHANGE, translate("Rows", "vs pinned"), _change, lambda found: str(found[1])),
        Column("elapsed", stage_column("elapsed"), _stage("elapsed"), seconds),
        Column("pinned", stage_column("elapsed_pinned"), _stage("elapsed_pinned"), seconds),
        Column("streamed", stage_column("elapsed_streamed"), _stage("elapsed_streamed"), seconds),
        Column(COUNTED, translate("Rows", "counted work"), _counted, lambda counted: str(counted[1])),
        Column(QUALITY, translate("Rows", "quality"), _quality, lambda found: str(found[1])),
        Column("error", translate("Rows", "error"), _error, relative_error),
        Column("verdict", translate("Rows", "verdict"), lambda e, r: verdict(e), str, False),
        Column("state", translate("Rows", "state"), _state, str, False),
        Column("notes", translate("Rows", "notes"), _notes, str, False),
    )


def _explained() -> dict[str, str]:
    """Explanations of headings, by column id."""
    return {
        "kernel": stage_tip("kernel"),
        "q1": translate("Rows", "A quarter of the timed samples took less time"),
        "q3": translate("Rows", "A quarter of the timed samples took more time"),
        "n": translate("Rows", "The number of timed samples"),
        "gbps": translate("Rows", "The minimum of bytes that the job must move, divided by the median time"),
        "share": translate("Rows", "The share of the device's measured copy bandwidth"),
        "peak": translate("Rows", "The share of the bandwidth that the data sheet of the device promises"),
        "bound": translate("Rows", "The shortest time that a launch and the buffers' memory allow, over the median"),
        "speedup": translate("Rows", "The speed relative to the baseline"),
        CHANGE: translate(
            "Rows", "How the time changed since it was pinned; faster or slower only where the quartiles do not overlap"
        ),
        "elapsed": stage_tip("elapsed"),
        "pinned": stage_tip("elapsed_pinned"),
        "streamed": stage_tip("elapsed_streamed"),
        COUNTED: translate("Rows", "The work that the simulated GPU counted; it has no times"),
        QUALITY: translate("Rows", "PSNR of images, SNR of signals, of input and result against the clean original"),
        "error": translate("Rows", "The largest difference from the reference, relative to the reference's scale"),
        "verdict": translate("Rows", "Whether every error is within the filter's tolerance"),
    }


class ResultModel(QAbstractTableModel):
    """The rows of Results as a Qt model."""

    def __init__(self, results: Results, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.results = results
        self.columns, self._explained = columns(), _explained()
        self._slots: tuple[RowSlot, ...] = results.slots()
        self._end_to_end = results.end_to_end
        self.colours = colours_of(QGuiApplication.palette())
        results.rows_reset.connect(self._reset)
        results.row_changed.connect(self._changed)
        results.baseline_changed.connect(self._baseline)
        results.pinned_changed.connect(self._reset)

    @Slot()
    def _reset(self) -> None:
        self.beginResetModel()
        self._slots, self._end_to_end = self.results.slots(), self.results.end_to_end
        self.endResetModel()

    @Slot(object)
    def _changed(self, slot: RowSlot) -> None:
        if self._end_to_end != self.results.end_to_end:
            self._end_to_end = self.results.end_to_end
            place = next(i for i, c in enumerate(self.columns) if c.id == "kernel")
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, place, place)
        # The changed row may be the baseline of all others.
        first = 0 if slot == self.results.baseline else self._slots.index(slot)
        last = len(self._slots) - 1 if slot == self.results.baseline else first
        self.dataChanged.emit(self.index(first, 0), self.index(last, len(self.columns) - 1))

    @Slot(object)
    def _baseline(self, slot: RowSlot | None) -> None:
        place = next(i for i, c in enumerate(self.columns) if c.id == "speedup")
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, place, place)
        if self._slots:
            self.dataChanged.emit(self.index(0, place), self.index(len(self._slots) - 1, place))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008
        return 0 if parent.isValid() else len(self._slots)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008
        return 0 if parent.isValid() else len(self.columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: N802
        if orientation == Qt.Orientation.Vertical:
            return section + 1 if role == Qt.ItemDataRole.DisplayRole else None
        column = self.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            if column.id == "kernel":
                return stage_column("kernel", self._end_to_end)
            return column.heading or speedup_heading(self.results)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _align(column)
        explained = self._explained.get(column.id) if role == Qt.ItemDataRole.ToolTipRole else None
        return explained and tip_text(explained)

    def entry(self, row: int) -> Entry:
        return self.results.entry(self._slots[row])

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        entry, column = self.entry(index.row()), self.columns[index.column()]
        if role in (Qt.ItemDataRole.DisplayRole, SORT):
            value = column.value(entry, self.results)
            if role == SORT:
                return value if value != "" else None
            text = "" if value is None else column.text(value)
            if column.id == "speedup" and entry.doubt("kernel"):
                return speedup_text(entry, self.results)
            marked = column.id == "verdict" and text
            return f"{verdict_role(entry, self.colours).symbol} {text}" if marked else text
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _align(column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip_text(details(entry, self.results))
        if role == Qt.ItemDataRole.ForegroundRole:
            if entry.state in ("stale", "running", "waiting"):
                return self.colours.muted
            if column.id == "verdict" and verdict(entry):
                return verdict_role(entry, self.colours).colour
        return None


class ResultSort(QSortFilterProxyModel):
    """Sorts by values, not by their texts; rows without a value stay at the end in both orders."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.setSortRole(SORT)

    def lessThan(self, left: Index, right: Index) -> bool:  # noqa: N802
        a, b = left.data(SORT), right.data(SORT)
        if a is None or b is None:
            missing_first = self.sortOrder() == Qt.SortOrder.DescendingOrder
            return (a is None) == missing_first and a is not b
        return bool(a < b)


def _ask(title: str, name: str, kinds: str) -> str:
    return QFileDialog.getSaveFileName(None, title, name, kinds)[0]


class ResultTable(QTableView):
    """The table with its menu. Signals report what was saved, or why saving failed."""

    exported = Signal(str)
    failed = Signal(str)

    def __init__(self, results: Results, parent: QWidget | None = None, choose: Chooser = _ask) -> None:
        super().__init__(parent)
        self.setObjectName("result_table")
        self.setAccessibleName(self.tr("Results"))
        self._results, self._choose = results, choose
        self.propose: Callable[[str], str] = lambda kind: f"results.{kind}"
        self.table_model = ResultModel(results, self)
        self.sorter = ResultSort(self)
        self.sorter.setSourceModel(self.table_model)
        self.setModel(self.sorter)
        self.setSortingEnabled(True)
        # Column -1 is the declared order.
        self.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.horizontalHeader().setSortIndicatorClearable(True)
        self.sorter.sort(-1)
        self.setAlternatingRowColors(True)
        self.setWordWrap(False)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.verticalHeader().hide()
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setStretchLastSection(True)
        self._build_menu()
        for signal in (self.table_model.modelReset, self.table_model.dataChanged, self.table_model.headerDataChanged):
            signal.connect(self._fit_later)
        self._fit_timer = QTimer(self, singleShot=True, interval=0)  # many changes at once, one pass over all cells
        self._fit_timer.timeout.connect(self._fit)
        self._fit()

    def _build_menu(self) -> None:
        self.menu = QMenu(self)
        self.menu.setStyle(boxes())
        self.copy_action = QAction(self.tr("&Copy selected rows"), self)
        self.copy_action.triggered.connect(self.copy)
        self.csv_action = QAction(self.tr("Export as C&SV…"), self)
        self.csv_action.triggered.connect(lambda: self.export("csv"))
        self.json_action = QAction(self.tr("Export as &JSON…"), self)
        self.json_action.triggered.connect(lambda: self.export("json"))
        self.order_action = QAction(self.tr("&Declared order"), self)
        self.order_action.triggered.connect(lambda: self.sortByColumn(-1, Qt.SortOrder.AscendingOrder))
        self.menu.addActions([self.copy_action, self.csv_action, self.json_action, self.order_action])

    @Slot()
    def _fit_later(self) -> None:
        if self.isVisible():
            self._fit_timer.start()

    @bounded
    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self._fit()

    @Slot()
    def _fit(self) -> None:
        """Make columns as wide as their texts; notes get the remaining width."""
        entries, ids = self._results.entries(), [c.id for c in self.table_model.columns]
        self.setColumnHidden(ids.index(COUNTED), not any(e.simulated for e in entries))
        self.setColumnHidden(ids.index(CHANGE), not self._results.has_pinned)
        self.setColumnHidden(ids.index(QUALITY), not any(e.row and e.row.quality for e in entries))
        self.resizeColumnsToContents()
        unit = self.fontMetrics().height()
        self.verticalHeader().setDefaultSectionSize(unit * 7 // 4)
        for place in range(len(self.table_model.columns) - 1):
            if not self.isColumnHidden(place):  # setting a width would show it again
                self.setColumnWidth(place, min(self.columnWidth(place) + unit, 24 * unit))

    def copy(self) -> None:
        """Copy the selected rows, or all if none is, with headings, as tab-separated text."""
        chosen = sorted({i.row() for i in self.selectionModel().selectedIndexes()})
        rows = chosen or range(self.sorter.rowCount())
        places = [c for c in range(self.sorter.columnCount()) if not self.isColumnHidden(c)]
        heading = [str(self.sorter.headerData(c, Qt.Orientation.Horizontal)) for c in places]
        lines = [heading, *([str(self.sorter.index(r, c).data()) for c in places] for r in rows)]
        QGuiApplication.clipboard().setText(copied("\n".join("\t".join(line) for line in lines) + "\n"))

    def export(self, kind: str) -> None:
        """Ask for a file and save all rows to it, in the C locale, with their metadata."""
        kinds = {"csv": self.tr("Comma-separated values (*.csv)"), "json": self.tr("Kernelscope report (*.json)")}
        path = self._choose(self.tr("Export results"), self.propose(kind), kinds[kind])
        if not path:
            return
        try:
            write_text(path, self._results.csv_file() if kind == "csv" else self._results.to_json())
        except KernelscopeError as error:
            self.failed.emit(str(error))
            return
        self.exported.emit(path)

    @bounded
    def event(self, event: QEvent) -> bool:
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.ShortcutOverride
            and event.matches(QKeySequence.StandardKey.Copy)
        ):
            event.accept()  # this widget's shortcut takes precedence over the window's
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802
        self.menu.popup(event.globalPos())

    @bounded
    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and hasattr(self, "table_model"):
            self.table_model.colours = colours_of(self.palette())
            self._fit()
            self.viewport().update()
