"""The X-ray's comparison with another variant, and measured next to simulated values."""

from __future__ import annotations

from typing import Any

import pytest
from fake_engine import FakeEngine
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from result_rows import row
from xray_answers import answer, asked, content, plain, show, window_with

from app.controllers.engine_log import describe
from app.models.experiment.slot import RowSlot
from app.models.xray.drafts import Draft
from app.views.window.main_window import MainWindow
from app.views.window.session_link import view_of
from gpu_ops.devices.kernel_source import read_source
from gpu_ops.devices.status import DeviceStatus
from gpu_ops.engine.messages import Failed, Finished
from gpu_ops.lessons.lesson import TABS

H200 = DeviceStatus("cuda:0", "NVIDIA H200", True, architecture="sm_90")
SIM = DeviceStatus("sim", "simulated GPU", True)
COMPARE = 4
"""The place of the tab."""
ROWS = [
    {"counter": "global_load_threads", "before": 18.0, "after": 1.328, "ratio": 1.328 / 18},
    {"counter": "shared_load_threads", "before": 0.0, "after": 9.0, "ratio": None},
]


def compared(variant: str = "naive", **more: Any) -> dict[str, Any]:
    """An answer with a comparison."""
    before = {"variant": variant, "title": f"the {variant} <one>", "findings": []}
    sentences = [{"rule": "r", "text": "Global loads fall & fall.", "evidence": {}}]
    return content(comparison={"before": before, "unit": "pixel", "rows": ROWS, "sentences": sentences, **more})


@pytest.fixture
def engine(qapp) -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def window(qtbot, engine: FakeEngine) -> MainWindow:
    """A window on a GPU."""
    return window_with(qtbot, engine, (H200, SIM))


def go_to(window: MainWindow, place: int) -> None:
    """Click a tab."""
    QTest.mouseClick(window.xray_panel.tabs.buttons()[place], Qt.MouseButton.LeftButton)
    assert window.xray_panel.tabs.currentIndex() == place


def choose(window: MainWindow, place: int) -> None:
    """Choose what to compare with, by keys."""
    combo = window.xray_panel.comparison.variants
    combo.setFocus()
    QTest.keyClick(combo, Qt.Key.Key_Home)
    for _ in range(place):
        QTest.keyClick(combo, Qt.Key.Key_Down)
    assert combo.currentIndex() == place


def compare(qtbot, window: MainWindow, engine: FakeEngine) -> None:
    """Show what changed from the naive variant to the shared one."""
    show(qtbot, window, engine)
    go_to(window, COMPARE)
    choose(window, 1)
    answer(engine, compared())


# Comparing


def test_a_session_says_which_tab_is_in_front(qtbot, window, engine) -> None:
    """Also one that the window did not show before, and a tab of a profile, which no file keeps, changes nothing."""
    xray, panel = window.context.xray, window.xray_panel
    words = [name.replace("block_sizes", "blocks") for name in TABS]
    assert [button.text().lower() for button in panel.tabs.buttons()][: len(TABS)] == words
    show(qtbot, window, engine)
    go_to(window, COMPARE)
    assert view_of(window.parts).xray_tab == "compare"
    xray.show_tab("addresses")
    assert panel.tabs.currentWidget() is panel.accesses and view_of(window.parts).xray_tab == "addresses"
    panel.tabs.setCurrentWidget(panel.profile)
    xray.show_tab("addresses")
    assert panel.tabs.currentWidget() is panel.accesses
    xray.show_tab("")
    assert panel.tabs.currentWidget() is panel.accesses, "an older file names none"


def test_a_second_variant_is_looked_into_and_stands_beside_the_first(qtbot, window, engine) -> None:
    show(qtbot, window, engine)
    view = window.xray_panel.comparison
    go_to(window, COMPARE)
    there = [(view.variants.itemText(i), view.variants.itemData(i)) for i in range(view.variants.count())]
    assert [id for _, id in there] == ["", "naive", "constant", "rows", "packed", "ring"] and there[0][0] == "none"
    assert "Choose a variant" in view.text.toPlainText() and len(asked(engine)) == 1
    choose(window, 1)
    assert (asked(engine)[-1].pick.variant, asked(engine)[-1].against.variant) == ("shared", "naive")
    assert asked(engine)[-1].architecture == "sm_90" and "compared with naive" in describe(asked(engine)[-1])
    assert "not ready yet" in view.text.toPlainText()
    answer(engine, compared())
    text = view.text.toPlainText()
    for said in ("A: the naive <one>", "B: 3 constant + shared", "what it should bring", "Global loads fall & fall."):
        assert said in text
    assert (
        "\nper pixel\nA\nB\n" in text
        and "global loads of threads\n18\n1.33\n×0.0738" in text
        and "shared loads of threads\n0\n9\n" in text
    )
    assert not window.xray_panel.state.isVisible()


def test_only_one_is_simulated_while_nobody_looks_at_the_comparison(qtbot, window, engine) -> None:
    compare(qtbot, window, engine)
    assert [bool(r.against) for r in asked(engine)] == [False, True]
    go_to(window, 0)
    go_to(window, COMPARE)
    assert len(asked(engine)) == 2, "what is there is there"
    go_to(window, 0)
    window.controller.session.set_params({"window": 5, "border": "reflect"})
    engine.end()
    qtbot.waitUntil(lambda: len(asked(engine)) == 3)
    assert asked(engine)[-1].against is None
    answer(engine, content())
    go_to(window, COMPARE)
    assert len(asked(engine)) == 4 and asked(engine)[-1].against.variant == "naive"


def test_to_compare_with_none_simulates_nothing(qtbot, window, engine) -> None:
    compare(qtbot, window, engine)
    choose(window, 0)
    assert len(asked(engine)) == 2 and window.xray_panel._controller.state == "shown"
    assert "Choose a variant" in window.xray_panel.comparison.text.toPlainText()


def test_a_variant_is_not_compared_with_itself(qtbot, window, engine) -> None:
    compare(qtbot, window, engine)
    panel = window.xray_panel
    window.context.xray.choose("naive")
    assert panel.comparison.variants.findData("naive") == -1 and panel.comparison.variants.currentIndex() == 0
    assert (asked(engine)[-1].pick.variant, asked(engine)[-1].against) == ("naive", None)
    answer(engine, content("naive"))
    window.context.xray.choose("constant")
    assert panel.comparison.variants.currentData() == "naive", "what was chosen comes back"
    assert asked(engine)[-1].against.variant == "naive"
    window.controller.session.set_filter("mean1d")
    assert panel.comparison.variants.currentData() == ""


def test_another_choice_stops_a_comparison_at_work(qtbot, window, engine) -> None:
    show(qtbot, window, engine)
    go_to(window, COMPARE)
    choose(window, 1)
    cancelled: list[int] = []
    engine.cancel = lambda job, kill=True: cancelled.append(job)  # the engine's answer comes later
    choose(window, 2)
    assert cancelled and set(cancelled) == {asked(engine)[-1].job} and len(asked(engine)) == 2
    engine.answered.emit(Finished(cancelled[0], cancelled=True))
    qtbot.waitUntil(lambda: len(asked(engine)) == 3)
    assert asked(engine)[-1].against.variant == "constant"


def test_a_failure_is_not_tried_again_without_the_comparison(qtbot, window, engine) -> None:
    show(qtbot, window, engine)
    go_to(window, COMPARE)
    window.context.xray.choose("constant")
    answer(engine, content("constant"))
    choose(window, 1)
    window.context.xray.choose("shared")
    qtbot.waitUntil(lambda: asked(engine)[-1].pick.variant == "shared" and asked(engine)[-1].against is not None)
    engine.answered.emit(Failed(asked(engine)[-1].job, "The kernel does not compile."))
    count = len(asked(engine))
    go_to(window, 0)
    qtbot.wait(20)
    assert len(asked(engine)) == count and "does not compile" in window.xray_panel.state.text()


def test_why_there_is_no_comparison_is_said(qtbot, window, engine) -> None:
    show(qtbot, window, engine)
    go_to(window, COMPARE)
    choose(window, 1)
    before = {"variant": "naive", "title": "1 naive"}
    answer(engine, content(comparison={"before": before, "reason": "naive cannot do this: it is too small."}))
    assert "1 naive cannot be compared: naive cannot do this" in window.xray_panel.comparison.text.toPlainText()


def test_faults_of_the_other_are_told(qtbot, window, engine) -> None:
    show(qtbot, window, engine)
    go_to(window, COMPARE)
    choose(window, 1)
    findings = [{"severity": "error", "text": "k.cu:3: two threads write <y>"}]
    answer(engine, compared(before={"variant": "naive", "title": "1 naive", "findings": findings}))
    assert "two threads write <y>" in window.xray_panel.comparison.text.toPlainText()


# Edited kernels

EDITED_FILE, NAIVE_FILE = "mean2d/3_shared.cu", "mean2d/1_naive.cu"


def edited(*rows: dict[str, Any]) -> dict[str, Any]:
    """An answer about an edited kernel with these counters beside those of its own shipped one."""
    before = {"variant": "shared", "title": "3 constant + shared", "findings": []}
    return content(shipped={"before": before, "unit": "pixel", "rows": list(rows), "sentences": []})


def test_an_edited_kernel_is_set_beside_its_own_shipped_one_whatever_compare_has(qtbot, window, engine) -> None:
    compare(qtbot, window, engine)
    panel, ray = window.xray_panel, window.context.xray
    go_to(window, 0)
    ray.open_draft(Draft("mean2d", "shared").with_text(EDITED_FILE, read_source(EDITED_FILE) + "// mine\n"))
    qtbot.waitUntil(lambda: len(asked(engine)) == 3)
    assert asked(engine)[-1].pick.edits and asked(engine)[-1].against is None
    small = {"counter": "global_load_sectors", "before": 18.0, "after": 18.0002, "ratio": 18.0002 / 18}
    answer(engine, edited(small, {**small, "counter": "warp_instructions", "after": 18.0}))
    report = panel.report.toPlainText()
    said = (
        "What the edit changes against 3 constant + shared as shipped\n• global load sectors: 18 → 18.0002 per pixel\n"
    )
    assert said in report and "No counter changed" not in report and "warp instructions: " not in report
    go_to(window, COMPARE)
    assert asked(engine)[-1].against.variant == "naive" and "not ready yet" in panel.comparison.text.toPlainText()
    answer(engine, {**edited({**small, "after": 18.0}), "comparison": compared()["comparison"]})
    assert "A: the naive <one>" in panel.comparison.text.toPlainText()
    assert "as shipped\n• No counter changed.\n" in panel.report.toPlainText()
    ray.compare_with("shared")
    assert len(asked(engine)) == 4, "what the edit changes is known"
    assert "A: 3 constant + shared\nB: 3 constant + shared, edited" in panel.comparison.text.toPlainText()


def test_none_stays_chosen_while_an_edited_kernel_changes(qtbot, window, engine) -> None:
    show(qtbot, window, engine)
    panel, ray = window.xray_panel, window.context.xray
    go_to(window, COMPARE)
    mine = Draft("mean2d", "shared").with_text(EDITED_FILE, read_source(EDITED_FILE) + "// mine\n")
    ray.open_draft(mine)
    qtbot.waitUntil(lambda: len(asked(engine)) == 2)
    answer(engine, edited())
    assert (panel.comparison.variants.currentData(), ray.against) == ("shared", "shared")
    choose(window, 0)
    assert (panel.comparison.variants.currentText(), ray.against) == ("none", "")
    ray.drafts.set_text("mean2d", "shared", EDITED_FILE, mine.texts[EDITED_FILE] + "// more\n")
    qtbot.waitUntil(lambda: len(asked(engine)) == 3)
    answer(engine, edited())
    assert (panel.comparison.variants.currentText(), ray.against) == ("none", "")
    assert "Choose a variant" in panel.comparison.text.toPlainText()
    panel.edit.click()
    window.controller.session.set_filter("mean1d")
    window.controller.session.set_filter("mean2d")
    ray.edit(ray.drafts.of("mean2d", "shared"))
    assert ray.against == "shared"


def test_edit_opens_at_the_line_that_was_looked_at_and_says_why_the_run_failed(qtbot, window, engine) -> None:
    show(qtbot, window, engine)
    panel, ray, session = window.xray_panel, window.context.xray, window.controller.session
    panel.source.go_to(5)
    QTest.mouseClick(panel.edit, Qt.MouseButton.LeftButton)
    editor = panel.code.editor
    assert editor.textCursor().blockNumber() == 4 and window.focusWidget() is editor
    ray.choose("naive")
    panel.edit.click()
    ray.drafts.set_text("mean2d", "naive", NAIVE_FILE, read_source(NAIVE_FILE) + "// mine\n")
    ray.contract.show_result(ray.draft)
    assert "Run: " not in panel.edit_bar.about.text()
    failure = "edited 1_naive.cu:23: illegal address: " + "the thread reads beyond the end of x; " * 5
    slot = session.shown.slot(next(iter(session.shown.pins)))
    about = {"filter": "mean2d", "edits": ray.draft.hash, "failure": failure, "failure_kind": "kernel"}
    window.controller.results.put(row("naive", slot.device, None, **about), slot=slot)
    said = panel.edit_bar.about
    assert said.text().endswith(f"\nRun: {failure}")
    qtbot.waitUntil(lambda: said.height() >= said.heightForWidth(said.width()))
    ray.drafts.set_text("mean2d", "naive", NAIVE_FILE, read_source(NAIVE_FILE) + "// mended\n")
    assert "Run: " not in said.text(), "it was another text that failed"


# What was measured


def test_the_title_says_which_gpu_was_simulated_and_which_one_measured(qtbot, window, engine) -> None:
    show(qtbot, window, engine, content(architecture="sm_90"))
    said = "3 constant + shared: simulated for sm_90 on the centre 256 × 256 of photo (600 × 512)"
    assert plain(window.xray_panel.title.text()) == f"{said}; the times shown with it were measured on NVIDIA H200"
    window.controller.session.set_device("sim")
    engine.end()
    qtbot.waitUntil(lambda: len(asked(engine)) == 2)
    answer(engine, content(place=[], whole=[256, 256], architecture="sm_75"))
    said = "3 constant + shared: simulated for sm_75 on the whole of photo (256 × 256)"
    assert plain(window.xray_panel.title.text()) == said


def test_the_measured_time_stands_beside_with_its_clock(qtbot, window, engine) -> None:
    show(qtbot, window, engine)
    report, results = window.xray_panel.report, window.controller.results
    assert "Measured" not in report.toPlainText()
    results.put(row("shared", "cuda:0", 12.3e-6, filter="mean1d"))
    assert "Measured" not in report.toPlainText(), "it is of another filter"
    results.put(row("naive", "cuda:0", 45e-6, filter="mean2d"))
    assert "Measured" not in report.toPlainText(), "it is of another variant"
    results.put(row("shared", "cuda:0", 12.3e-6, filter="mean2d"))
    said = "Measured on NVIDIA H200: 12.3 µs per run (kernel, event clock, stream)."
    assert report.toPlainText().startswith(f"{said}\n")
    results.mark_stale([RowSlot("shared", "cuda:0")])
    assert report.toPlainText().startswith(f"{said} This belongs to an earlier setting.\n")


def test_what_is_measured_of_the_next_choice_does_not_stand_beside_the_last_one(qtbot, window, engine) -> None:
    show(qtbot, window, engine)
    report, session = window.xray_panel.report, window.controller.session
    window.controller.results.put(row("shared", "cuda:0", 12.3e-6, filter="mean2d"))
    assert "12.3" in report.toPlainText()
    session.set_params({"window": 5, "border": "reflect"})
    window.controller.results.put(row("shared", "cuda:0", 45.6e-6, filter="mean2d"))
    assert "Measured" not in report.toPlainText()
    engine.end()
    qtbot.waitUntil(lambda: len(asked(engine)) == 2)
    answer(engine, content())
    assert "45.6" in report.toPlainText()
