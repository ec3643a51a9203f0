"""The rows of a sweep, in the order of arrival."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QAbstractItemView, QTableWidget, QTableWidgetItem, QWidget

from app.base.numbers import NONE, count, percent, relative_error, seconds
from app.base.terms import stage_column
from app.base.tips import set_tip
from app.models.experiment.slot import RowSlot
from app.models.results.entry import Entry
from app.models.timing.occupancy import limiter_name
from app.models.timing.sweep import Sweep
from app.views.sweep.text import quantity, value_text
from app.views.timing.row_text import clock_name, device_name, verdict
from gpu_ops.devices.occupancy import LaunchOccupancy
from gpu_ops.report.rows import Row


class SweepTable(QTableWidget):
    """Shows a Sweep as a table."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(0, 0, parent)
        self.setObjectName("sweepTable")
        self.setAccessibleName(self.tr("Rows of the sweep"))
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setAlternatingRowColors(True)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        self.horizontalHeader().setStretchLastSection(True)

    def show_sweep(self, sweep: Sweep | None) -> None:
        """Show its rows, each once; existing ones stay."""
        name = quantity(sweep.varied) if sweep else ""
        time = stage_column("kernel", sweep is not None and sweep.filter.end_to_end)
        titles = [name, self.tr("variant"), self.tr("device"), time, self.tr("error")]
        rows = sweep.rows if sweep else []
        untimed = sweep.untimed() if sweep else ()
        known = sweep is not None and bool(sweep.occupied.variants)
        titles += [self.tr("occupancy"), self.tr("resident threads"), self.tr("limited by")] if known else []
        titles += [self.tr("quartiles"), self.tr("clock"), self.tr("verdict")]
        self.setColumnCount(len(titles))
        self.setHorizontalHeaderLabels(titles)
        self.setRowCount(len(rows) + len(untimed))
        names = sweep.names() if sweep else []
        for place, row in enumerate(rows):
            assert sweep is not None
            occupied = _occupied(sweep.occupied.at(row.variant, sweep.value(row))) if known else []
            texts = self._texts(sweep, row, names[place])
            self._fill(place, [*texts[:5], *occupied, *texts[5:]])
        for place, (variant, value) in enumerate(untimed, start=len(rows)):
            assert sweep is not None
            first = [value_text(sweep, value, with_unit=False), sweep.title(variant), sweep.occupied.architecture]
            self._fill(place, [*first, NONE, NONE, *_occupied(sweep.occupied.at(variant, value)), *[NONE] * 3])
        self.resizeColumnsToContents()

    def _fill(self, place: int, texts: Sequence[str]) -> None:
        for column, text in enumerate(texts):
            item = QTableWidgetItem(text)
            if column in (0, 3, 4) or text.endswith("%"):
                item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            set_tip(item, text)
            self.setItem(place, column, item)

    def _texts(self, sweep: Sweep, row: Row, name: str) -> list[str]:
        value, kernel = sweep.value(row), row.stages.get("kernel")
        entry = Entry(RowSlot(row.variant, row.device, row.key), row=row, state="fresh")
        quartiles = NONE
        if kernel:
            text = self.tr("{low} to {high}")
            quartiles = text.format(low=seconds(kernel.q1), high=seconds(kernel.q3))
        return [
            value_text(sweep, value, with_unit=False) if value is not None else NONE,
            name,
            device_name(row.device),
            seconds(kernel.median) if kernel else NONE,
            relative_error(row.error_max),
            quartiles,
            clock_name(kernel.clock) if kernel else NONE,
            verdict(entry),
        ]


def _occupied(held: LaunchOccupancy | None) -> list[str]:
    """Occupancy, threads and limiter; empty cells if unknown, as for the CPU."""
    if held is None:
        return [NONE] * 3
    text = QCoreApplication.translate("SweepTable", "{threads} of {most}")
    threads = text.format(threads=count(held.resident), most=count(held.most))
    return [percent(held.occupancy.share), threads, limiter_name(held.occupancy.limiter)]
