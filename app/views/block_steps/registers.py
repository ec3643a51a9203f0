"""The registers of one thread after a step."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem, QWidget

from app.base.numbers import NONE, number
from app.models.xray.block_reader import BlockReader


class RegisterTable(QTableWidget):
    """One row for each register that the thread ever has: what it holds in the source, where that is known, its name in
    the PTX and its value; bold where the step has set it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(0, 3, parent)
        self.setObjectName("block.registers")
        self.setAccessibleName(self.tr("Registers of a lane"))
        self.setHorizontalHeaderLabels([self.tr("Value"), self.tr("Register"), self.tr("Holds")])
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(round(1.4 * self.fontMetrics().height()))
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.horizontalHeader().setStretchLastSection(True)
        self.setTabKeyNavigation(False)
        self._reader: BlockReader | None = None
        self._order: list[int] = []
        self._values: list[QTableWidgetItem] = []
        self._bold: set[int] = set()

    def show_step(self, reader: BlockReader | None, step: int, lane: int) -> None:
        """Show the registers of this thread."""
        if reader is not self._reader:
            self._reader = reader
            self._fill()
        if reader is None:
            return
        bits, known, changed = reader.registers_of(step, lane)
        for row, register in enumerate(self._order):
            item = self._values[row]
            text = self._text(register, bits[register]) if known[register] else NONE
            if item.text() != text:
                item.setText(text)
            if (register in changed) != (register in self._bold):
                font = item.font()
                font.setBold(register in changed)
                item.setFont(font)
        self._bold = changed

    def _text(self, register: int, bits: np.uint64) -> str:
        assert self._reader is not None
        run = self._reader.run
        value = run.value(register, np.array([bits], np.uint64))[0]
        kind, known = np.dtype(run.names[register].dtype), run.names[register].source
        if kind.kind == "b":
            return self.tr("true") if value else self.tr("false")
        if kind.kind in "iu":
            return (
                f"{int(value):#x}" if kind.itemsize == 8 and abs(int(value)) >= 1 << 32 and known != "" else str(value)
            )
        return number(float(value), 7)

    def _set_at(self, lines: tuple[int, ...]) -> str:
        """The lines that set a register."""
        shown = ", ".join(map(str, lines[:4])) + ("…" if len(lines) > 4 else "")
        return self.tr("(set at line {lines})").format(lines=shown) if lines else ""

    def _fill(self) -> None:
        """Registers with a known meaning first, then those of the PTX by name."""
        reader = self._reader
        names = reader.run.names if reader is not None else ()
        self._order = sorted(range(len(names)), key=lambda n: (not names[n].source, names[n].source, n))
        self._bold, self._values = set(), []
        self.setRowCount(len(self._order))
        for row, register in enumerate(self._order):
            texts = ("", names[register].name, names[register].source or self._set_at(names[register].lines))
            for column, text in enumerate(texts):
                item = QTableWidgetItem(text)
                if not column:
                    self._values.append(item)
                    item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                self.setItem(row, column, item)
        letter = self.fontMetrics().averageCharWidth()
        for column, letters in enumerate((18, 12)):
            self.setColumnWidth(column, letters * letter)
