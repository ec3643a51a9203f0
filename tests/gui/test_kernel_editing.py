"""Editing a kernel in the X-ray panel, as a student does it, on a simulated GPU."""

from __future__ import annotations

from typing import Any

import pytest
from fake_engine import act
from live import PATIENCE, live_window, real_engine
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest

from gpu_ops.devices.kernel_source import read_source

CTRL = Qt.KeyboardModifier.ControlModifier
FILE = "mean2d/1_naive.cu"
pytestmark = pytest.mark.thorough


@pytest.fixture
def window(qtbot) -> Any:
    """A window with the X-ray of the naive mean of an image."""
    with real_engine() as engine, live_window(qtbot, engine, "sim", ("naive",)) as window:
        window.controller.open_sample("camera")
        act(window, "xray")
        window.context.xray.choose("naive")
        shown(qtbot, window)
        yield window


def shown(qtbot, window) -> None:
    """Wait for the X-ray of the present text."""
    ray = window.context.xray
    qtbot.waitUntil(lambda: not ray.pausing and ray.state in ("shown", "failed"), timeout=PATIENCE)


def edit(qtbot, window) -> Any:
    """Press Edit. Returns the editor."""
    QTest.mouseClick(window.xray_panel.edit, Qt.MouseButton.LeftButton)
    shown(qtbot, window)
    return window.xray_panel.code.editor


def paste(editor, text: str) -> None:
    """Replace the whole text as a paste does."""
    editor.selectAll()
    editor.insertPlainText(text)


def line_of(editor, part: str) -> int:
    return next(n for n, line in enumerate(editor.toPlainText().split("\n"), 1) if part in line)


def test_errors_come_at_their_lines_and_go_with_them(qtbot, window) -> None:
    editor, panel = edit(qtbot, window), window.xray_panel
    assert editor.toPlainText() == read_source(FILE) and panel.code.files[:2] == (FILE, "include/mean.cuh")
    row = line_of(editor, "A sum = 0;")
    assert editor.cell(line_of(editor, "sum +="))[0], "the counts of the shipped kernel are beside the same lines"
    editor.go_to(row)
    QTest.keyClick(editor, Qt.Key.Key_End)
    QTest.keyClick(editor, Qt.Key.Key_Backspace)
    shown(qtbot, window)
    ray = window.context.xray
    assert ray.state == "failed" and "edited 1_naive.cu:" in ray.reason and FILE not in ray.reason
    assert editor.mark(row + 1) and [p.line for p in ray.problems][:1] == [row + 1]
    assert "expected a" in panel.code.problems.item(0).text()
    editor.go_to(1)
    place = panel.code.problems.visualItemRect(panel.code.problems.item(0)).center()
    QTest.mouseClick(panel.code.problems.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert editor.textCursor().blockNumber() == row and editor.hasFocus()
    editor.go_to(row)
    QTest.keyClick(editor, Qt.Key.Key_End)
    QTest.keyClicks(editor, ";")
    shown(qtbot, window)
    assert ray.state == "shown" and not panel.code.problems.isVisible() and not editor.mark(row + 1)
    assert not ray.edits, "the shipped text is no edit"


def test_an_edit_is_compared_with_the_shipped_kernel_and_taken_back(qtbot, window) -> None:
    editor, panel, ray = edit(qtbot, window), window.xray_panel, window.context.xray
    shipped, before = editor.toPlainText(), ray.content["totals"]["global_load_sectors"]
    paste(editor, shipped.replace("taps[v * window + u] * ", "(A)1 * "))
    shown(qtbot, window)
    assert ray.content["totals"]["global_load_sectors"] < before
    assert panel.title.text().startswith("1 naive, edited: ")
    report = panel.report.toPlainText()
    assert "What the edit changes against 1 naive as shipped" in report and "Global loads fall" in report
    panel.tabs.setCurrentWidget(panel.comparison)
    shown(qtbot, window)
    text = panel.comparison.text.toPlainText()
    assert "A: 1 naive\nB: 1 naive, edited" in text
    assert "sum += (A)1 * (A)x" in text and f"--- {FILE}" in text and "+++ edited 1_naive.cu" in text
    QTest.keyClick(editor, Qt.Key.Key_Z, CTRL)
    shown(qtbot, window)
    assert editor.toPlainText() == shipped and not ray.edits
    panel.edit_bar.actions_by_id["redo"].trigger()
    shown(qtbot, window)
    assert "(A)1 * " in editor.toPlainText() and ray.edits
    QTest.mouseClick(panel.edit, Qt.MouseButton.LeftButton)
    shown(qtbot, window)
    assert panel.source.toPlainText() + "\n" == shipped and panel.title.text().startswith("1 naive: ")
    editor = edit(qtbot, window)
    assert "(A)1 * " in editor.toPlainText(), "the edited text is still there"
    panel.edit_bar.actions_by_id["shipped"].trigger()
    shown(qtbot, window)
    assert editor.toPlainText() == shipped
    QTest.keyClick(editor, Qt.Key.Key_Z, CTRL)
    assert "(A)1 * " in editor.toPlainText(), "undone as well"


def test_a_header_can_be_edited(qtbot, window) -> None:
    edit(qtbot, window)
    panel, ray = window.xray_panel, window.context.xray
    panel.code.bar.setCurrentIndex(1)
    header = panel.code.editor
    header.moveCursor(QTextCursor.MoveOperation.End)
    QTest.keyClicks(header, "int int x;")
    shown(qtbot, window)
    assert ray.state == "failed" and "edited mean.cuh:" in ray.reason
    assert ray.problems[0].file == "include/mean.cuh" and "●" in panel.code.bar.tabText(1)
