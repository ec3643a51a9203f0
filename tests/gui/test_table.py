"""The table of results: sorted by figures, copied, written to files."""

from __future__ import annotations

import json
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QApplication
from result_rows import TITLES, row, rows, show_rows

from app.models.experiment.slot import RowSlot
from app.models.results.results import Results
from app.views.timing.result_table import ResultTable

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")  # menus and tool tips, offscreen


@pytest.fixture
def results(qapp) -> Results:
    results = Results()
    show_rows(results, rows(), TITLES)
    results.put(
        row("opencv", "cpu", None, failure="No such size.", failure_kind="unsupported", ok=None, error_max=None)
    )
    results.set_baseline(RowSlot("serial", "cpu"))
    return results


@pytest.fixture
def table(results: Results, qtbot, tmp_path) -> ResultTable:
    asked: list[tuple[str, str, str]] = []

    def choose(*question: str) -> str:
        asked.append(question)  # type: ignore[arg-type]
        return str(tmp_path / question[1])

    view = ResultTable(results, choose=choose)
    view.asked = asked
    qtbot.addWidget(view)
    view.resize(1200, 400)
    with qtbot.waitActive(view):
        view.show()
        view.activateWindow()
    return view


def column(table: ResultTable, id: str) -> int:
    return next(i for i, c in enumerate(table.table_model.columns) if c.id == id)


def cells(table: ResultTable, id: str) -> list[Any]:
    place = column(table, id)
    return [table.sorter.index(r, place).data() for r in range(table.sorter.rowCount())]


def click_heading(qtbot, table: ResultTable, id: str) -> None:
    header = table.horizontalHeader()
    place = column(table, id)
    where = QPoint(header.sectionViewportPosition(place) + header.sectionSize(place) // 2, header.height() // 2)
    qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=where)


def test_it_shows_the_rows_as_declared(table: ResultTable) -> None:
    assert cells(table, "variant") == ["CPU, one core", "CPU, all cores", "1 naive", "3 constant + shared", "opencv"]
    assert cells(table, "kernel") == ["29 ms", "1.67 ms", "58.5 µs", "52 µs", ""]
    assert cells(table, "speedup")[:2] == ["×1", "×17.4"]
    assert cells(table, "verdict") == ["✓ right"] * 4 + ["▲ unsupported"]
    assert cells(table, "notes")[4] == "No such size."
    heading = table.sorter.headerData(column(table, "speedup"), Qt.Orientation.Horizontal)
    assert heading == "× CPU, one core, CPU"


def test_headings_sort_by_figures_and_blanks_stay_last(table: ResultTable, qtbot) -> None:
    click_heading(qtbot, table, "kernel")
    assert cells(table, "kernel") == ["52 µs", "58.5 µs", "1.67 ms", "29 ms", ""]
    click_heading(qtbot, table, "kernel")
    assert cells(table, "kernel") == ["29 ms", "1.67 ms", "58.5 µs", "52 µs", ""]
    table.order_action.trigger()
    assert cells(table, "variant")[0] == "CPU, one core" and cells(table, "variant")[-1] == "opencv"


def test_numbers_stand_to_the_right(table: ResultTable) -> None:
    role = Qt.ItemDataRole.TextAlignmentRole
    assert table.sorter.index(0, column(table, "kernel")).data(role) & Qt.AlignmentFlag.AlignRight
    assert table.sorter.index(0, column(table, "variant")).data(role) & Qt.AlignmentFlag.AlignLeft


def test_copying_the_selected_rows(table: ResultTable, qtbot) -> None:
    first = table.visualRect(table.sorter.index(0, 0)).center()
    third = table.visualRect(table.sorter.index(2, 0)).center()
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=first)
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, third)
    qtbot.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    lines = QGuiApplication.clipboard().text().splitlines()
    assert len(lines) == 3 and lines[0].startswith("variant\tdevice\tkernel")
    assert [line.split("\t")[0] for line in lines[1:]] == ["CPU, one core", "1 naive"]
    assert len({line.count("\t") for line in lines}) == 1


def test_exporting(table: ResultTable, results: Results, qtbot, tmp_path) -> None:
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(5, 5), table.mapToGlobal(QPoint(5, 5)))
    QApplication.sendEvent(table.viewport(), event)
    assert table.menu.isVisible()
    with qtbot.waitSignal(table.exported) as events:
        table.csv_action.trigger()
    table.menu.close()
    assert events.args == [str(tmp_path / "results.csv")]
    text = (tmp_path / "results.csv").read_text()
    assert text.endswith(results.to_csv()) and text.startswith("# filter: mean1d\n# parameter window: 5\n")
    table.json_action.trigger()
    assert len(json.loads((tmp_path / "results.json").read_text())["runs"]) == 5
    assert [q[1] for q in table.asked] == ["results.csv", "results.json"]


def test_a_file_that_cannot_be_written_is_said(results: Results, qtbot, tmp_path) -> None:
    table = ResultTable(results, choose=lambda *question: str(tmp_path / "nowhere" / "a.csv"))
    qtbot.addWidget(table)
    with qtbot.waitSignal(table.failed) as events:
        table.export("csv")
    assert "cannot be written" in events.args[0]
    silent = ResultTable(results, choose=lambda *question: "")
    qtbot.addWidget(silent)
    with qtbot.assertNotEmitted(silent.exported), qtbot.assertNotEmitted(silent.failed):
        silent.export("csv")


def test_it_follows_its_model(table: ResultTable, results: Results) -> None:
    results.put(row("serial", "cpu", 0.058))
    assert cells(table, "speedup")[:2] == ["×1", "×34.7"]
    results.mark_stale([RowSlot("parallel", "cpu")])
    assert cells(table, "state")[1] == "stale"
    results.set_baseline(RowSlot("naive", "cuda:0"))
    assert cells(table, "speedup")[2] == "×1"
    results.clear()
    assert table.sorter.rowCount() == 0
