"""The files of a batch as rows, of which there may be many: a row is small, and rows change in groups."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from PySide6.QtCore import QAbstractTableModel, QCoreApplication, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.base.numbers import NONE, seconds
from app.base.numbers import count as counted
from app.base.tips import tip_text
from app.base.translate import QT_TRANSLATE_NOOP
from gpu_ops import BatchEvent

STATES = {
    "running": QT_TRANSLATE_NOOP("BatchTable", "running"),
    "right": QT_TRANSLATE_NOOP("BatchTable", "right"),
    "unverified": QT_TRANSLATE_NOOP("BatchTable", "unverified"),
    "wrong": QT_TRANSLATE_NOOP("BatchTable", "wrong"),
    "failed": QT_TRANSLATE_NOOP("BatchTable", "failed"),
    "done before": QT_TRANSLATE_NOOP("BatchTable", "done before"),
    "not finished": QT_TRANSLATE_NOOP("BatchTable", "not finished"),
}
FAILED = ("wrong", "failed")
COLUMNS = (
    QT_TRANSLATE_NOOP("BatchTable", "File"),
    QT_TRANSLATE_NOOP("BatchTable", "State"),
    QT_TRANSLATE_NOOP("BatchTable", "Time"),
    QT_TRANSLATE_NOOP("BatchTable", "Result or error"),
)
Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()
DISPLAY = Qt.ItemDataRole.DisplayRole


class FileRow(NamedTuple):
    """A file, what became of it, its seconds, its result, and the first sentence about it."""

    file: str
    state: str
    seconds: float | None = None
    output: str = ""
    sentence: str = ""


class BatchTable(QAbstractTableModel):
    """The files that have begun, in the order of their beginning, or those `only_failed`. `tally` counts states, `last`
    is the row that ended last, -1 before one has."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[FileRow] = []
        self.tally = Counter[str]()
        self.only_failed, self.last = False, -1
        self._failed: list[int] = []
        self._places: dict[str, int] = {}
        self._folder = ""

    def clear(self, folder: str = "") -> None:
        """Forget all rows; names of files are relative to the `folder`."""
        self.beginResetModel()
        self._folder, self.last = folder, -1
        self.rows, self._failed, self._places, self.tally = [], [], {}, Counter()
        self.endResetModel()

    def show_only_failed(self, only: bool) -> None:
        """Show the files that have no right result, or all."""
        self.beginResetModel()
        self.only_failed = only
        self.endResetModel()

    def take(self, events: Iterable[BatchEvent]) -> None:
        """Take in what has happened to files; the views are notified once about all of it."""
        self._put({row.file: row for event in events if (row := _row_of(event)) is not None})

    def leave(self) -> None:
        """The batch has ended: files that have begun and have no outcome are not finished."""
        open_rows = (row for row in self.rows if row.state == "running")
        self._put({row.file: row._replace(state="not finished") for row in open_rows})

    def _put(self, rows: dict[str, FileRow]) -> None:
        new = [row for file, row in rows.items() if file not in self._places]
        changed = sorted(self._places[file] for file in rows if file in self._places)
        self._insert(len(self.rows), len(new), shown=not self.only_failed)
        self._places |= {row.file: place for place, row in enumerate(new, start=len(self.rows))}
        self.rows += new
        if new and not self.only_failed:
            self.endInsertRows()
        failed = [self._places[file] for file, row in rows.items() if row.state in FAILED]
        self._insert(len(self._failed), len(failed), shown=self.only_failed)
        for file, row in rows.items():
            self.rows[self._places[file]] = row
            if row.state == "running":
                continue
            self.tally[row.state] += 1
            self.last = self.last if row.state == "not finished" else self._places[file]
        self._failed += failed
        if failed and self.only_failed:
            self.endInsertRows()
        elif changed and not self.only_failed:
            self.dataChanged.emit(self.index(changed[0], 0), self.index(changed[-1], len(COLUMNS) - 1))

    def _insert(self, first: int, count: int, shown: bool) -> None:
        if count and shown:
            self.beginInsertRows(NOWHERE, first, first + count - 1)

    def row_at(self, place: int) -> FileRow:
        """What a row of the view shows."""
        return self.rows[self._failed[place] if self.only_failed else place]

    def state_words(self, state: str) -> str:
        """A state in the user's language."""
        return _tr(STATES[state])

    # What the view asks for

    def rowCount(self, parent: Index = NOWHERE) -> int:  # noqa: N802
        return 0 if parent.isValid() else len(self._failed if self.only_failed else self.rows)

    def columnCount(self, parent: Index = NOWHERE) -> int:  # noqa: N802
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> Any:  # noqa: N802
        if role == DISPLAY and orientation == Qt.Orientation.Horizontal:
            return _tr(COLUMNS[section])
        return super().headerData(section, orientation, role)

    def data(self, index: Index, role: int = DISPLAY) -> Any:
        if role not in (DISPLAY, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.TextAlignmentRole):
            return None
        row, column = self.row_at(index.row()), index.column()
        if role == Qt.ItemDataRole.TextAlignmentRole:
            right = Qt.AlignmentFlag.AlignRight if column == 2 else Qt.AlignmentFlag.AlignLeft
            return right | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip_text("\n".join(filter(None, (row.file, row.output, row.sentence))))
        name = os.path.basename(row.file)
        output = "" if row.state in FAILED else os.path.basename(row.output)
        done = ": ".join(filter(None, (output, row.sentence.replace(row.file, name))))
        time = NONE if row.seconds is None else seconds(row.seconds, 3)
        return (os.path.relpath(row.file, self._folder or None), _tr(STATES[row.state]), time, done)[column]


def _row_of(event: BatchEvent) -> FileRow | None:
    """The row that an event is about; None for one about the whole batch."""
    row = event.row
    if event.what == "started":
        return FileRow(str(row["file"]), "running")
    if event.what == "within":
        text = _tr("{done} of {count} parts").format(done=counted(row["done"]), count=counted(row["count"]))
        return FileRow(str(row["file"]), "running", None, "", text)
    if event.what not in ("done", "failed"):
        return None
    if row.get("skipped"):
        return FileRow(row["file"], "done before", None, row["output"])
    sentence = row["sentence"] or _frames_of(row)
    return FileRow(row["file"], row["status"], row["seconds"], row["output"], sentence)


def _frames_of(row: Mapping[str, Any]) -> str:
    """How many frames of a stack have a result; "" for what is no stack."""
    if row.get("of_frames"):
        return _tr("1 of {count} frames").format(count=counted(row["of_frames"]))
    notes = row.get("notes") or [""]
    return str(notes[0]) if row.get("frames") else ""


def _tr(text: str) -> str:
    return QCoreApplication.translate("BatchTable", text)
