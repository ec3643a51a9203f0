"""The X-ray panel: when X-rays are requested, what it shows, and how they make way for other jobs."""

from __future__ import annotations

import re
from typing import Any

import pytest
from fake_engine import FakeEngine, act, make
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip
from xray_answers import FILE, LOADS, SOURCE, STORES, asked, content, plain, plain_line, show, window_with

from app.base.numbers import count
from app.base.theme import TEXT_CONTRAST, contrast, palette
from app.base.worker import Engine
from app.controllers.engine_log import describe
from app.controllers.look import Appearance
from app.controllers.session import SessionController
from app.models.experiment.session import Session
from app.models.results.results import Results
from app.models.settings import Settings
from app.models.xray.xray import SECTORS, KernelView
from app.views.dialogs.offers import palette_offers
from app.views.scrolled import Scrolled
from app.views.window.main_window import MainWindow
from app.views.xray.source_view import Gutter, heat
from gpu_ops import device_statuses, find_filter
from gpu_ops.counters import COUNTERS
from gpu_ops.devices.kernel_source import read_source
from gpu_ops.devices.status import DeviceStatus
from gpu_ops.engine.messages import Failed, Finished, Ready, RunRequest

PATIENCE = 120_000
SIM = DeviceStatus("sim", "simulated GPU", True)
REASON = next(s.reason for s in device_statuses() if s.kind == "sim")


@pytest.fixture
def engine(qapp) -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def window(qtbot, engine: FakeEngine) -> MainWindow:
    """A window whose kernels run simulated."""
    return window_with(qtbot, engine, (SIM,))


def test_what_is_simulated_is_the_gpu_that_is_chosen(qtbot, window, engine) -> None:
    engine.devices = (DeviceStatus("cuda:0", "H200", True, architecture="sm_90"), SIM)
    engine.answered.emit(Ready(1, engine.devices))
    engine.end()
    window.controller.session.set_device("cuda:0")
    engine.end()
    act(window, "xray")
    qtbot.waitUntil(lambda: bool(asked(engine)))
    assert asked(engine)[-1].architecture == "sm_90"


def test_it_is_hidden_until_it_is_wanted_and_nothing_is_simulated_for_nobody(qtbot, window, engine) -> None:
    qtbot.wait(20)
    assert not window.xray_dock.isVisible() and asked(engine) == []
    QTest.keyClick(window, Qt.Key.Key_X, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert window.xray_dock.isVisible() and window.actions_by_id["xray"].isChecked()
    qtbot.waitUntil(lambda: len(asked(engine)) == 1)
    request = asked(engine)[0]
    assert (request.filter, request.pick.variant, request.architecture) == ("mean2d", "shared", "sm_75")
    logged = "X-ray of shared of mean2d window=3 border=reflect on a simulated sm_75; 600 × 512 uint8"
    assert describe(request) == logged
    window.xray_dock.close()
    assert not window.actions_by_id["xray"].isChecked()
    assert "X-ray" in [offer.name for offer in palette_offers(window.parts)]


def test_a_panel_that_opens_shows_a_ticked_variant_unless_another_was_chosen(qtbot, window, engine) -> None:
    session, xray = window.controller.session, window.context.xray
    assert xray.variant == "shared"
    session.set_picks(("serial", "naive"))
    act(window, "xray")
    assert xray.variant == "naive"
    session.set_picks(("serial", "constant"))
    assert xray.variant == "naive", "it does not change before the reader's eyes"
    act(window, "xray")
    xray.choose("shared")
    act(window, "xray")
    assert xray.variant == "shared", "the user's choice stays"


def test_where_the_panel_stays_is_kept_with_the_layout(qtbot, engine, tmp_path) -> None:
    path = tmp_path / "window.ini"
    first = make(qtbot, engine, Settings(path))
    act(first, "xray")
    first.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, first.xray_dock)
    first.close()
    second = make(qtbot, engine, Settings(path))
    assert second.xray_dock.isVisible() and second.actions_by_id["xray"].isChecked()
    assert second.dockWidgetArea(second.xray_dock) == Qt.DockWidgetArea.LeftDockWidgetArea
    act(second, "reset_layout")
    assert not second.xray_dock.isVisible() and not second.actions_by_id["xray"].isChecked()
    assert second.dockWidgetArea(second.xray_dock) == Qt.DockWidgetArea.RightDockWidgetArea


def test_numbers_stand_beside_the_lines_and_the_counter_is_chosen(qtbot, window, engine) -> None:
    show(qtbot, window, engine)
    panel, source = window.xray_panel, window.xray_panel.source
    assert source.toPlainText() + "\n" == SOURCE
    assert "simulated for sm_75 on the centre 256 × 256 of photo (600 × 512)" in plain(panel.title.text())
    assert not panel.state.isVisible()
    assert panel.counters.currentData() == SECTORS
    assert [source.cell(line) for line in (3, 4, 5)] == [("", 0.0), ("12.5 k", 1.0), ("2.5 k", 0.2)]
    counters = [panel.counters.itemData(i) for i in range(panel.counters.count())]
    assert counters == [SECTORS, *(c.id for c in COUNTERS.values() if c.id in {**LOADS, **STORES} and c.hint != "best")]
    panel.counters.setFocus()
    QTest.keyClick(panel.counters, Qt.Key.Key_Down)
    assert panel.counters.currentData() == "warp_instructions"
    assert [source.cell(line) for line in (4, 5)] == [("", 0.0), ("80", 1.0)]


def test_the_source_stays_in_its_place_while_another_variant_is_simulated(qtbot, window, engine) -> None:
    show(qtbot, window, engine)
    panel, requests = window.xray_panel, len(asked(engine))
    window.resizeDocks([window.xray_dock], [430], Qt.Orientation.Horizontal)
    qtbot.wait(20)
    place = panel.texts.mapTo(panel, QPoint())
    window.context.xray.choose("naive")
    qtbot.waitUntil(lambda: len(asked(engine)) > requests)
    qtbot.wait(20)
    assert "belongs to an earlier setting" in panel.state.text() and panel.state.isVisible()
    assert panel.texts.mapTo(panel, QPoint()) == place


def test_without_global_memory_instructions_are_shown(qtbot, window, engine) -> None:
    answer = content(findings=[])
    counts = {"warp_instructions": 80, "constant_requests": 3}
    answer["kernels"][0]["files"][0]["lines"] = [plain_line(5, counts)]
    show(qtbot, window, engine, answer)
    assert window.xray_panel.counters.currentData() == "warp_instructions"
    assert window.xray_panel.source.textCursor().blockNumber() == 4, "the line with the most is shown first"
    assert window.xray_panel.source.mark(4) == "" and "none" in window.xray_panel.report.toPlainText()


@pytest.mark.qt_log_ignore("This plugin does not support", extend=True)
def test_a_line_tells_all_its_counters_to_mouse_and_keys(qtbot, window, engine) -> None:
    show(qtbot, window, engine)
    source = window.xray_panel.source
    tip = source.tip(4)
    assert f"{count(12500)} global load sectors; {count(6250)} ideal" in tip
    assert f"{count(2000)} global load requests" in tip
    assert "two threads write &lt;x&gt;" in tip, "the finding of a header stands at the line that uses it"
    assert source.tip(3) == ""
    source.go_to(4)
    place = source.cursorRect().center()
    assert source.line_at(place.y()) == 4 and source.line_at(source.viewport().height() - 1) == 0
    source.show_line(place.y(), source.mapToGlobal(QPoint(5, 5)))
    assert QToolTip.text() == tip
    source.show_line(source.viewport().height() - 1, source.mapToGlobal(QPoint(5, 5)))
    source.go_to(5)
    QTest.keyClick(source, Qt.Key.Key_Return)
    assert QToolTip.text() == source.tip(5) != tip


def test_findings_are_marked_listed_and_lead_to_their_line(qtbot, window, engine) -> None:
    show(qtbot, window, engine)
    panel, source = window.xray_panel, window.xray_panel.source
    assert [source.mark(line) for line in (3, 4, 5)] == ["", "✗", ""]
    text = panel.report.toPlainText()
    for said in ("two threads write <x>", "Loads touch twice", "44 registers", "340 bytes of shared", "here & there"):
        assert said in text
    assert "occupancy 50 %: 8 blocks, 16 of 32 warps per multiprocessor, limited by registers" in text
    assert "12.5 k\n12.5\n6.25 k\n×2" in text
    assert text.count("Findings") == 1, "errors have a heading of their own"
    assert source.textCursor().blockNumber() == 3, "what is wrong is shown first"
    source.go_to(1)
    panel.report.anchorClicked.emit(QUrl("#0-0-4"))
    assert source.textCursor().blockNumber() == 3 and 'href="#0-0-4"' in panel.report.toHtml()


def _press(panel, text: str) -> None:
    """Follow the link of a report with this text."""
    links = dict(re.findall(r'<a href="([^"]+)">(?:<span[^>]*>)?([^<]+)', panel.report.toHtml()))
    panel.report.anchorClicked.emit(QUrl(next(link for link, shown in links.items() if text in shown)))


def test_each_finding_says_how_to_mend_it_on_request(qtbot, window, engine) -> None:
    waste = {"rule": "load waste", "text": "Loads touch twice what they need."}
    unknown = {"rule": "no such rule", "text": "Something else."}
    show(qtbot, window, engine, content(filter="mean2d", sentences=[waste, unknown]))
    panel, tabs = window.xray_panel, window.xray_panel.tabs
    assert panel.report.toPlainText().count("How to mend") == 2, "a finding without advice has no link"
    assert "Put __syncthreads()" not in panel.report.toPlainText()
    _press(panel, "How to mend")
    text = panel.report.toPlainText()
    assert "Put __syncthreads()" in text and "neighbouring lanes" not in text, "only that one was asked for"
    assert not tabs.isTabVisible(tabs.indexOf(panel.example))
    _press(panel, "Show a shipped kernel that does this: Mean (image), 3 constant + shared")
    source = panel.example.source
    assert tabs.currentWidget() is panel.example
    assert source.toPlainText() + "\n" == read_source("mean2d/3_shared.cu")
    assert source.textCursor().block().text().strip() == "__syncthreads();"
    said = f"line {source.textCursor().blockNumber() + 1} of mean2d/3_shared.cu does it right."
    assert said in panel.example.about.text()
    assert panel.source.toPlainText() + "\n" == SOURCE, "the kernel stays where it is"
    tabs.setCurrentWidget(panel.report)
    _press(panel, "Hide advice")
    assert "Put __syncthreads()" not in panel.report.toPlainText()


def _of_two_files() -> dict[str, Any]:
    """The kernel's line 4 calls lines 2 and 3 of a header, where 60 of its 80 instructions are and all loads."""
    access = {"space": "global", "verb": "load", "bytes": 4, "buffer": "x", "itemsize": 4, "start": 0}
    trace = {"line": 2, "file": "mean.cuh", "block": [0, 0, 0], "warp": 0, "count": 1}
    inside = {**LOADS, "warp_instructions": 45}
    answer = content()
    kernel = answer["kernels"][0]
    call = {"line": 4, "counts": {"warp_instructions": 15}, "calls": {**LOADS, "warp_instructions": 60}}
    other = {"warp_instructions": 5, "global_store_sectors": 2500}
    kernel["files"] = [
        {"file": FILE, "lines": [{**call, "callees": [["mean.cuh", 2], ["mean.cuh", 3]]}, plain_line(5, other)]},
        {"file": "mean.cuh", "lines": [plain_line(2, inside), plain_line(3, {"warp_instructions": 15})]},
    ]
    kernel["accesses"] = [{**trace, "accesses": [{**access, "lanes": 1, "first": 0, "steps": []}]}]
    answer["sources"]["mean.cuh"] = "// a header\nint a;\nint b;\n" + "\n" * 5 + "int wrong;\n"
    return answer


def test_a_line_has_no_number_where_it_depends_on_which_thread_comes_first(qtbot, window, engine) -> None:
    """As in the terminal and in reports; its calls' share is unknown with it, and its colour says nothing."""
    answer = _of_two_files()
    for file in answer["kernels"][0]["files"]:
        for line in file["lines"]:
            for counts in (line["counts"], line.get("calls", {})):
                if "global_load_sectors" in counts:
                    counts["unsettled_requests"] = 1
    show(qtbot, window, engine, answer)
    source = window.xray_panel.source
    assert source.cell(2) == ("?", 0.0) and "global load sectors: unknown" in source.tip(2)
    assert "45 warp instructions" in source.tip(2)
    window.xray_panel.files.bar.setCurrentIndex(0)
    assert [source.cell(line) for line in (4, 5)] == [("» ?", 0.0), ("2.5 k", 1.0)]


def test_each_file_is_a_tab_with_its_share_and_counts_of_its_own(qtbot, window, engine) -> None:
    show(qtbot, window, engine, _of_two_files())
    panel = window.xray_panel
    bar, source = panel.files.bar, panel.source
    assert [plain(bar.tabText(n)) for n in range(bar.count())] == ["3_shared.cu  25 %", "mean.cuh  75 %"]
    assert bar.isVisible() and bar.currentIndex() == 1, "what is wrong is shown first"
    assert source.textCursor().blockNumber() == 8 and source.mark(9) == "✗"
    assert panel.counters.currentData() == SECTORS
    assert [source.cell(line) for line in (2, 3)] == [("12.5 k", 1.0), ("", 0.0)]
    bar.setCurrentIndex(0)
    assert source.toPlainText() + "\n" == SOURCE and source.mark(4) == "✗", "the line that calls it is marked as well"
    assert [source.cell(line) for line in (4, 5)] == [("» 12.5 k", 0.0), ("2.5 k", 0.2)]
    tip = source.tip(4)
    assert "15 warp instructions" in tip and "It calls mean.cuh:2, mean.cuh:3:" in tip
    assert tip.index("60 warp instructions") > tip.index("It calls")


def test_a_call_leads_to_the_header_and_back(qtbot, window, engine) -> None:
    show(qtbot, window, engine, _of_two_files())
    panel = window.xray_panel
    bar, source = panel.files.bar, panel.source

    def at() -> tuple[int, int]:
        return bar.currentIndex(), source.textCursor().blockNumber() + 1

    panel.files.go_to(FILE, 4)
    QTest.keyClick(source, Qt.Key.Key_F12)
    assert at() == (1, 2)
    menu = source.menu(2)
    back = {a.text(): a for a in menu.actions()}
    back["Back to 3_shared.cu:4"].trigger()
    assert at() == (0, 4)
    forth = {a.text(): a for a in source.menu(4).actions()}
    forth["Go to mean.cuh:3"].trigger()
    assert at() == (1, 3)
    bar.setCurrentIndex(0)
    assert at() == (0, 4), "each file keeps its line"
    gutter = source.findChild(Gutter)
    QTest.mouseClick(gutter, Qt.MouseButton.LeftButton, pos=QPoint(5, source.cursorRect().center().y()))
    assert at() == (1, 2)
    panel.files.go_to(FILE, 5)
    QTest.keyClick(source, Qt.Key.Key_F12)
    assert at() == (0, 5), "this one calls nothing"
    panel.report.anchorClicked.emit(QUrl("#0-1-9"))
    assert at() == (1, 9)


def test_the_addresses_are_those_of_the_headers_line(qtbot, window, engine) -> None:
    show(qtbot, window, engine, _of_two_files())
    panel = window.xray_panel
    panel.files.go_to("mean.cuh", 2)
    assert panel.accesses.warps.count() == 1
    panel.files.go_to("mean.cuh", 3)
    assert panel.accesses.warps.count() == 0
    panel.files.bar.setCurrentIndex(0)
    panel.files.go_to(FILE, 2)
    assert panel.accesses.warps.count() == 0, "the same number in another file is another line"


def test_one_file_needs_no_tabs(qtbot, window, engine) -> None:
    show(qtbot, window, engine)
    assert not window.xray_panel.files.bar.isVisible()


def test_a_selected_kernel_variant_is_looked_into_and_a_cpu_one_is_not(qtbot, window, engine) -> None:
    show(qtbot, window, engine)
    rows = window.panel.variants
    QTest.mouseClick(rows.row("serial"), Qt.MouseButton.LeftButton)
    qtbot.wait(10)
    assert len(asked(engine)) == 1
    QTest.mouseClick(rows.row("naive"), Qt.MouseButton.LeftButton)
    assert [r.pick.variant for r in asked(engine)] == ["shared", "naive"]
    panel = window.xray_panel
    assert panel.variants.currentData() == "naive" and "earlier setting" in panel.state.text()
    assert [panel.variants.itemData(i) for i in range(panel.variants.count())][:3] == ["naive", "constant", "shared"]


def test_it_gives_way_to_a_run_and_comes_after_it(qtbot, window, engine) -> None:
    act(window, "xray")
    qtbot.waitUntil(lambda: len(asked(engine)) == 1)
    cancelled: list[int] = []
    engine.cancel = lambda job, kill=True: cancelled.append(job)  # the engine's answer comes later
    window.controller.session.set_params({"window": 5, "border": "reflect"})
    qtbot.wait(20)
    assert set(cancelled) == {asked(engine)[0].job} and isinstance(engine.asked[-1], RunRequest)
    engine.answered.emit(Finished(cancelled[0], cancelled=True))
    qtbot.wait(20)
    assert len(asked(engine)) == 1 and "Waiting for the run to end" in window.xray_panel.state.text()
    while isinstance(engine.asked[-1], RunRequest):  # what runs at full speed, then one simulated pick after another
        engine.answered.emit(Finished(engine.asked[-1].job))
        window.controller.queue._quiet.stop()
        qtbot.wait(1)
    qtbot.waitUntil(lambda: len(asked(engine)) == 2)
    assert asked(engine)[1].params["window"] == 5


def test_a_failure_says_why_and_is_not_tried_again_unasked(qtbot, window, engine) -> None:
    act(window, "xray")
    qtbot.waitUntil(lambda: len(asked(engine)) == 1)
    engine.answered.emit(Failed(asked(engine)[0].job, "The kernel does not compile."))
    qtbot.wait(20)
    panel = window.xray_panel
    assert "does not compile" in panel.state.text() and len(asked(engine)) == 1 and not panel.source.isVisible()
    QTest.mouseClick(panel.again, Qt.MouseButton.LeftButton)
    assert len(asked(engine)) == 2


@pytest.mark.parametrize("scheme", [Qt.ColorScheme.Light, Qt.ColorScheme.Dark])
def test_numbers_are_readable_on_every_heat(scheme) -> None:
    ground = palette(scheme)
    shades = [heat(ground, share / 20) for share in range(21)]
    assert all(contrast(shade, ground.color(QPalette.ColorRole.Text)) >= TEXT_CONTRAST for shade in shades)
    steps = [contrast(shade, ground.color(QPalette.ColorRole.Base)) for shade in shades]
    assert steps == sorted(steps) and steps[-1] > 1.5


@pytest.mark.qt_log_ignore("This plugin does not support")
@pytest.mark.skipif(bool(REASON), reason=REASON or "the simulated GPU is there")
def test_the_engine_looks_into_what_is_clicked_and_is_stopped_by_a_click(qtbot, qapp) -> None:
    engine = Engine()
    try:
        controller = SessionController(engine, Session(), Results())
        window = MainWindow(controller, Appearance(QApplication.instance(), "light"))
        qtbot.addWidget(window)
        window.resize(1400, 900)
        window.show()
        controller.start()
        qtbot.waitUntil(lambda: bool(controller.session.device), timeout=PATIENCE)
        controller.session.set_device("sim")
        controller.open_sample("camera")
        act(window, "xray")
        panel = window.xray_panel
        ray = panel._controller
        qtbot.waitUntil(lambda: ray.state == "shown", timeout=PATIENCE)
        assert "for sm_75 on the centre 256 × 256 of camera (512 × 512)" in plain(panel.title.text())
        sources = dict(enumerate(panel.source.toPlainText().splitlines(), start=1))
        hottest = max(sources, key=lambda line: panel.source.cell(line)[1])
        assert "x[r * pitch" in sources[hottest], "the tile is what the kernel loads"
        assert panel.source.textCursor().blockNumber() + 1 == hottest and panel.accesses.warps.count() > 1
        panel.source.go_to(1)
        assert panel.accesses.warps.count() == 0, "the addresses are those of the line of the cursor"
        QTest.mouseClick(window.panel.variants.row("naive"), Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: ray.state == "shown" and ray.content["variant"] == "naive", timeout=PATIENCE)
        # Each of 256² threads asks for 9 pixels and 9 taps, and stores one pixel.
        assert ray.content["totals"]["global_load_threads"] == 2 * 9 * 256**2
        assert ray.content["totals"]["global_store_threads"] == 256**2
        events = {name for line in ray.content["kernels"][0]["lines"] for name in line["counts"]}
        assert events <= set(COUNTERS) and "registers per thread" in panel.report.toPlainText()
        assert find_filter("mean2d").variant("naive").title in panel.title.text()
        panel.tabs.setCurrentWidget(panel.comparison)
        panel.comparison.variants.setFocus()
        QTest.keyClicks(panel.comparison.variants, "3")
        qtbot.waitUntil(lambda: ray.state == "shown" and "comparison" in ray.content, timeout=PATIENCE)
        rows = {row["counter"]: row for row in ray.content["comparison"]["rows"]}
        assert rows["global_load_threads"]["after"] == 18 > rows["global_load_threads"]["before"]
        assert "Global loads rise" in panel.comparison.text.toPlainText()
        assert "A: 3 constant + shared" in panel.comparison.text.toPlainText()
        # Runs of a wide window would take long as well: only the X-ray is left to do.
        controller.session.set_picks(())
        controller.session.set_params({"window": 63, "border": "reflect"})
        qtbot.waitUntil(lambda: ray.state == "running" and window.status.button.isVisible(), timeout=PATIENCE)
        qtbot.waitUntil(lambda: "naive" in window.status.busy.text(), timeout=PATIENCE)
        child = engine.client.pid
        QTest.mouseClick(window.status.button, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: not controller.busy, timeout=PATIENCE)
        qtbot.wait(50)
        assert ray.state == "stopped" and engine.client.pid == child and ray.content["params"]["window"] == 3
    finally:
        engine.close()


def test_what_the_compiler_got_is_above_the_source_and_never_widens_the_panel(qtbot, window, engine) -> None:
    long = {f"NAME_{n}": "16,16,4" for n in range(40)}
    answer = content()
    sets = [{"N": 1024, "RADICES": "16,16,4", "T": "float"}, *({**long, "N": n} for n in range(5))]
    answer["kernels"][0]["defines"] = sets
    show(qtbot, window, engine, answer)
    files = window.xray_panel.files
    assert files.compiled[0].text() == "Compiled with: N=1024, RADICES=16,16,4, T=float"
    assert [label.text() for label in files.compiled[4:]] == ["… and with 2 other sets of defines"]
    cut = files.compiled[1]
    assert "NAME_39=16,16,4" in cut.text() and cut.shown_text().endswith("…")
    files.grab()
    assert "NAME_39=16,16,4" in cut.toolTip()
    assert all(label.isVisible() and label.height() >= label.fontMetrics().height() for label in files.compiled)
    before = window.xray_panel.minimumSizeHint().width()
    files.show_kernel(KernelView(content()["kernels"][0], content()["sources"], []))
    assert not any(label.isVisible() for label in files.compiled), "an answer without defines"
    assert window.xray_panel.minimumSizeHint().width() == before


def test_a_narrow_panel_folds_its_controls_and_never_scrolls_sideways(qtbot, window, engine) -> None:
    show(qtbot, window, engine)
    panel = window.xray_panel
    scrolled = panel.parentWidget().parentWidget()
    assert isinstance(scrolled, Scrolled)

    def beside() -> bool:
        """Whether the button is next to the sentence, not below it."""
        return panel.again.mapTo(panel, QPoint()).y() < panel.title.mapTo(panel, QPoint()).y() + panel.title.height()

    assert beside()
    narrow = 34 * panel.fontMetrics().averageCharWidth()  # that of a laptop's screen at 200 %
    scrolled.setFixedWidth(narrow)
    qtbot.waitUntil(lambda: scrolled.width() == narrow and not beside())
    qtbot.waitUntil(lambda: scrolled.horizontalScrollBar().maximum() == 0, timeout=5000)
    scrolled.setFixedWidth(3 * narrow)
    qtbot.waitUntil(beside)
