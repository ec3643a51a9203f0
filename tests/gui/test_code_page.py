"""The PTX and the SASS of a kernel in the X-ray panel, linked with its source both ways."""

from __future__ import annotations

from typing import Any

import pytest
from fake_engine import FakeEngine, act
from PySide6.QtCore import QPoint, Qt, QUrl
from xray_answers import FILE, answer, asked, content, plain, show, window_with

from app.models.xray.code import CodeRow, CodeText
from app.views.xray.code_page import MARK, CodePage
from app.views.xray.panel import XRayPanel
from app.views.xray.profile_view import ProfileView
from gpu_ops.devices.status import DeviceStatus
from gpu_ops.explaining.profiler.comparing import OTHER

SIM = (DeviceStatus("sim", "simulated GPU", True),)
CONTROL = {"label": "", "stall": 2, "yield": True, "barriers": "0 3 w1", "live": {"GPR": 7}}
LINES = {"LDG": 2, "FADD": 3, "STG": 4}


def coded(missing: str = "") -> dict[str, Any]:
    """An answer with code: line 4 is inlined into by line 9 of a header, line 5 stores; 40 instructions of no line."""
    places = [[], [["mean.cuh", 9], [FILE, 4]], [[FILE, 4]], [[FILE, 5]]]
    ptx = [[1, "{", 0], [2, "ld.global.f32", 1], [3, "add.f32", 2], [4, "st.global.f32", 3]]
    texts = ["LDG", *["NOP"] * 40, "FADD", "STG"]
    sass = [{**CONTROL, "address": 16 * n, "text": t, "ptx": LINES.get(t, 1)} for n, t in enumerate(texts)]
    code = {"architecture": "sm_75", "missing": missing, "places": places, "ptx": ptx, "sass": [] if missing else sass}
    answer = content()
    return {**answer, "kernels": [{**answer["kernels"][0], "code": code}]}


@pytest.fixture
def panel(qtbot) -> XRayPanel:
    engine = FakeEngine()
    window = window_with(qtbot, engine, SIM)
    show(qtbot, window, engine, coded())
    found = window.findChild(XRayPanel, "xrayPanel")
    assert found is not None
    return found


def marked(page: CodePage) -> list[str]:
    """The instructions that are marked, by what the table shows."""
    last = page.model.columnCount() - 1
    texts = [str(page.model.index(row, last).data()) for row in range(page.model.rowCount())]
    colours = [page.model.index(row, last).data(Qt.ItemDataRole.BackgroundRole) for row in range(len(texts))]
    assert [t.startswith(MARK) for t in texts] == [c is not None for c in colours]
    return [text.removeprefix(MARK) for text in texts if text.startswith(MARK)]


def test_the_code_of_the_line_at_the_cursor_is_marked_and_scrolled_to(qtbot, panel: XRayPanel) -> None:
    ptx, sass = panel.codes
    panel.tabs.setCurrentWidget(sass)
    panel.files.go_to(FILE, 4)
    assert marked(ptx) == ["ld.global.f32", "add.f32"] and marked(sass) == ["LDG", "FADD"]
    panel.files.go_to(FILE, 5)
    assert marked(ptx) == ["st.global.f32"] and marked(sass) == ["STG"]
    seen = sass.table.visualRect(sass.model.index(42, 0))
    assert seen.isValid() and sass.table.viewport().rect().contains(seen.center())
    panel.files.go_to(FILE, 1)
    assert marked(ptx) == marked(sass) == []


def test_a_click_on_an_instruction_goes_to_its_source_and_stays_there(qtbot, panel: XRayPanel) -> None:
    ptx, sass = panel.codes
    panel.tabs.setCurrentWidget(sass)
    panel.files.go_to(FILE, 1)
    sass.table.scrollToTop()
    qtbot.wait(1)
    place = sass.table.visualRect(sass.model.index(0, 0)).center()
    qtbot.mouseClick(sass.table.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(place))
    assert panel.source.textCursor().blockNumber() + 1 == 4, "the header is not among the files, so its caller is shown"
    assert sass.table.currentIndex().row() == 0 and sass.table.verticalScrollBar().value() == 0
    assert marked(sass) == ["LDG", "FADD"] and marked(ptx) == ["ld.global.f32", "add.f32"]


def test_each_column_says_what_it_is(panel: XRayPanel) -> None:
    _, sass = panel.codes
    row = [sass.model.index(0, column).data() for column in range(sass.model.columnCount())]
    assert row[:4] == ["0000 ", "2y ", "0 3 w1", "7 "], "a number is not joined to the column on its right"
    heads = [sass.model.headerData(n, Qt.Orientation.Horizontal) for n in range(5)]
    assert heads == ["Address ", "Stall ", "Barriers", "Live ", "Instruction"]
    assert all(sass.model.headerData(n, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole) for n in range(5))
    tip = sass.model.index(0, 4).data(Qt.ItemDataRole.ToolTipRole)
    assert tip == f"mean.cuh:9 ← {FILE}:4\nlive registers: 7"


def test_a_page_that_is_turned_to_shows_the_marked_lines(qtbot, panel: XRayPanel) -> None:
    """The lines were marked while the page was hidden and had no height."""
    ptx, _ = panel.codes
    code = CodeText("ptx", None)
    code.rows = [CodeRow((str(row), "nop"), ((FILE, row),)) for row in range(400)]
    ptx.show_code(code)
    panel.tabs.setCurrentIndex(0)
    ptx.mark((FILE, 350))
    panel.tabs.setCurrentWidget(ptx)
    row = ptx.model.index(350, 0)
    qtbot.waitUntil(lambda: ptx.table.viewport().rect().intersects(ptx.table.visualRect(row)))


def test_without_machine_code_its_page_says_why(qtbot) -> None:
    engine = FakeEngine()
    window = window_with(qtbot, engine, SIM)
    show(qtbot, window, engine, coded("Machine code needs nvdisasm; install it."))
    panel = window.findChild(XRayPanel, "xrayPanel")
    ptx, sass = panel.codes
    panel.tabs.setCurrentWidget(sass)
    assert sass.sentence.text() == "Machine code needs nvdisasm; install it." and not sass.table.isVisible()
    panel.tabs.setCurrentWidget(ptx)
    assert ptx.table.isVisible() and ptx.model.rowCount() == 4


PROFILED = {
    **{"kernel": "k", "source": "k.ncu-rep", "notes": ["The profile is of another card."]},
    "totals": [{"file": "", "line": 0, "counter": "sectors", "simulated": 900, "profiled": None, "why": ""}],
    "lines": [
        {"file": FILE, "line": 5, "counter": "sectors", "simulated": 12, "profiled": 14.0, "why": "<merged>"},
        {"file": FILE, "line": 4, "counter": "sectors", "simulated": 12, "profiled": 12.0, "why": ""},
    ],
}


def test_a_dropped_profile_is_asked_for_and_shown_with_links_to_its_lines(qtbot, tmp_path) -> None:
    engine = FakeEngine()
    window = window_with(qtbot, engine, SIM)
    show(qtbot, window, engine, coded())
    panel = window.findChild(XRayPanel, "xrayPanel")
    assert window.docks.open([str(tmp_path / "k.ncu-rep")]) and not window.docks.open(["a.png"])
    qtbot.waitUntil(lambda: asked(engine)[-1].profile == str(tmp_path / "k.ncu-rep"))
    answer(engine, {**coded(), "profiles": [PROFILED]})
    assert panel.profile.isVisible() and panel.profile.file.text() == "k.ncu-rep"
    text = plain(panel.profile.text.toPlainText())
    assert "The profile is of another card." in text and "<merged>" in text
    lines = [line for line in text.splitlines() if line.strip()]
    place = lines.index("3_shared.cu:5")
    assert lines[place + 1 : place + 3] == ["sectors", "12"] and lines[place + 3].startswith("14 ")
    assert lines[place - 1] == "Lines whose counts differ" and lines[place + 4] == "<merged>"
    assert lines[lines.index("In all") + 3].startswith("–") and "1 of 2 counts of lines are equal." in lines
    assert lines.index("Lines with equal counts") + 1 == lines.index("3_shared.cu:4")
    panel.profile.text.anchorClicked.emit(QUrl("#0"))
    assert panel.source.textCursor().blockNumber() + 1 == 5
    panel.profile.close_button.click()
    qtbot.waitUntil(lambda: asked(engine)[-1].profile == "")
    assert not panel.tabs.isTabVisible(panel.tabs.indexOf(panel.profile))


def test_a_second_profile_never_has_the_counts_of_the_first(qtbot, tmp_path) -> None:
    engine = FakeEngine()
    window = window_with(qtbot, engine, SIM)
    show(qtbot, window, engine, coded())
    view = window.findChild(XRayPanel, "xrayPanel").profile
    first, second = str(tmp_path / "k.ncu-rep"), str(tmp_path / "second.csv")
    window.docks.open([first])
    qtbot.waitUntil(lambda: asked(engine)[-1].profile == first)
    assert view.text.toPlainText() == "Reading the profile…"
    answer(engine, {**coded(), "profiles": [PROFILED]})
    assert "<merged>" in view.text.toPlainText()
    window.docks.open([first])  # profiled once more
    qtbot.waitUntil(lambda: len([one for one in asked(engine) if one.profile == first]) == 2)
    window.xray_panel.show_profile(second)
    assert view.file.text() == "second.csv" and view.text.toPlainText() == "Reading the profile…"
    answer(engine, {**coded(), "profiles": [PROFILED]})  # to the request for the first, which was stopped
    assert view.text.toPlainText() == "Reading the profile…"
    qtbot.waitUntil(lambda: asked(engine)[-1].profile == second)
    answer(engine, {**coded(), "profile_reason": "second.csv is no table."})
    assert view.text.toPlainText() == "second.csv is no table."


def test_a_reason_is_read_without_scrolling_sideways(qtbot) -> None:
    view = ProfileView()
    qtbot.addWidget(view)
    view.resize(60 * view.fontMetrics().averageCharWidth(), 400)
    view.show()
    line = {**PROFILED["lines"][0], "why": OTHER}
    view.show_content({"profiles": [{**PROFILED, "lines": [line]}]}, "k", "k.ncu-rep", view.palette())
    assert OTHER in view.text.toPlainText() and view.text.horizontalScrollBar().maximum() == 0


def test_a_profile_that_cannot_be_compared_says_why(qtbot) -> None:
    engine = FakeEngine()
    window = window_with(qtbot, engine, SIM)
    show(qtbot, window, engine)
    panel = window.findChild(XRayPanel, "xrayPanel")
    panel.editing.choose = lambda title, kinds: ["/other.csv"] if "*.ncu-rep *.csv" in kinds else []
    act(window, "open_profile")
    qtbot.waitUntil(lambda: asked(engine)[-1].profile.endswith("other.csv"))
    answer(engine, {**coded(), "profile_reason": "other.csv is of j & k; choose another."})
    assert panel.profile.text.toPlainText() == "other.csv is of j & k; choose another."
