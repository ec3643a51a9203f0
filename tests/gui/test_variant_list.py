"""Ticks, baseline and knobs of a filter's variants."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QLabel

from app.views.experiment.variant_list import VariantList
from gpu_ops import FILTERS

MEAN1D, MEAN2D = (next(f for f in FILTERS if f.id == id) for id in ("mean1d", "mean2d"))
REASON = "CuPy cannot be imported; install kernelscope[cuda13]."

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")  # menus and tool tips, offscreen


@pytest.fixture
def variants(qtbot):
    view = VariantList()
    qtbot.addWidget(view)
    view.set_filter(MEAN2D, {v.id: "" if v.id not in ("cupyx", "torch", "cvcuda") else REASON for v in MEAN2D.variants})
    view.events = []
    view.picks_changed.connect(lambda ids: view.events.append(("picks", ids)))
    view.knobs_changed.connect(lambda id, values: view.events.append(("knobs", id, values)))
    view.baseline_changed.connect(lambda id: view.events.append(("baseline", id)))
    view.resize(420, 700)
    with qtbot.waitActive(view):
        view.show()
        view.activateWindow()
    return view


def click_tick(qtbot, variants: VariantList, id: str) -> None:
    tick = variants.row(id).tick
    qtbot.mouseClick(tick, Qt.MouseButton.LeftButton, pos=QPoint(5, tick.height() // 2))


def test_ticks_are_told_in_the_filters_order(variants, qtbot) -> None:
    click_tick(qtbot, variants, "shared")
    click_tick(qtbot, variants, "serial")
    assert variants.events == [("picks", ("shared",)), ("picks", ("serial", "shared"))]


def test_the_reason_is_visible_and_the_tick_is_not_usable(variants, qtbot) -> None:
    row = variants.row("cupyx")
    assert row.reason.isVisible() and REASON in row.reason.text()
    assert not row.tick.isEnabled()
    click_tick(qtbot, variants, "cupyx")
    variants.set_picks(["serial", "cupyx"])
    assert variants.picks() == ("serial",) and variants.events == []


def test_a_row_shows_title_idea_device_and_library(variants) -> None:
    row = variants.row("opencv")
    assert row.tick.text() == MEAN2D.variant("opencv").title
    assert row.idea.text() == MEAN2D.variant("opencv").idea and row.idea.wordWrap()
    assert row.chip.text() == "library · CPU"
    assert row.idea.font().pointSizeF() < row.tick.font().pointSizeF()
    assert MEAN2D.variant("opencv").idea in row.tick.accessibleDescription()


def test_keys_move_and_tick_and_reach_what_is_unavailable(variants, qtbot) -> None:
    ids = [v.id for v in MEAN2D.all_variants]
    variants.row(ids[0]).tick.setFocus()
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Down)
    assert variants.selected() == ids[1]
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Space)
    assert variants.events == [("picks", (ids[1],))]
    for _ in ids:
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Down)
    assert variants.selected() == ids[-1] == "reference"
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Up)
    assert variants.selected() == ids[-2] == "cvcuda"
    assert QApplication.focusWidget() is variants.row("cvcuda")


def test_the_baseline_by_combo(variants, qtbot) -> None:
    assert variants.baseline() == MEAN2D.variants[0].id
    variants.baseline_combo.setFocus()
    qtbot.keyClick(variants.baseline_combo, Qt.Key.Key_Down)
    second = MEAN2D.variants[1].id
    assert variants.events == [("baseline", second)]
    assert "baseline" in variants.row(second).chip.text()
    assert "baseline" not in variants.row(MEAN2D.variants[0].id).chip.text()


def test_the_baseline_by_context_menu(variants, qtbot) -> None:
    row = variants.row("naive")
    qtbot.mouseClick(row, Qt.MouseButton.LeftButton, pos=QPoint(row.width() // 2, row.height() - 4))
    assert variants.selected() == "naive"
    where = row.rect().center()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, where, row.mapToGlobal(where))
    QApplication.sendEvent(row, event)
    assert variants.menu.isVisible()
    variants.baseline_action.trigger()
    variants.only_action.trigger()
    variants.menu.close()
    assert variants.events == [("baseline", "naive"), ("picks", ("naive",))]
    assert variants.baseline_combo.currentData() == "naive"


def test_knobs_of_the_selected_variant(variants, qtbot) -> None:
    variants.row("shared").take_focus()
    form = variants.knobs_stack.currentWidget()
    assert variants.knobs_stack.isVisible() and form.objectName() == "knobs.shared"
    knob = MEAN2D.variant("shared").knobs[0]
    qtbot.keyClick(form.editor(knob.name).control(), Qt.Key.Key_Up)
    kind, id, values = variants.events[-1]
    assert (kind, id) == ("knobs", "shared") and values == variants.knobs("shared")
    assert values[knob.name] != knob.default
    variants.row("serial").take_focus()
    assert not variants.knobs_stack.isVisible()
    assert "no knobs" in variants.findChild(QLabel, "knob_title").text()


def test_setting_gives_no_signals(variants) -> None:
    variants.set_picks(["naive", "serial"])
    variants.set_baseline("naive")
    knob = MEAN2D.variant("naive").knobs[0]
    variants.set_knobs("naive", {knob.name: knob.default})
    assert variants.picks() == ("serial", "naive") and variants.baseline() == "naive"
    assert variants.events == []


def test_another_filter_keeps_what_fits(variants) -> None:
    variants.set_picks(["serial", "naive"])
    variants.set_baseline("naive")
    knob = next(k for k in MEAN2D.variant("naive").knobs if not k.choices)
    other = int(knob.low)
    variants.set_knobs("naive", {knob.name: other})
    variants.set_filter(MEAN1D, {})
    assert variants.picks() == ("serial", "naive") and variants.baseline() == "naive"
    assert variants.knobs("naive")[knob.name] == other
    assert variants.events == []


def test_another_device_changes_the_reasons_of_the_same_rows(variants) -> None:
    rows = {v.id: variants.row(v.id) for v in MEAN2D.variants}
    variants.set_picks(["serial", "naive"])
    variants.set_baseline("naive")
    variants.set_filter(MEAN2D, {"naive": REASON})
    assert {v.id: variants.row(v.id) for v in MEAN2D.variants} == rows
    naive, cupyx = rows["naive"], rows["cupyx"]
    assert REASON in naive.reason.text() and naive.reason.isVisible() and not naive.tick.isEnabled()
    assert REASON in naive.tick.accessibleDescription() and variants.picks() == ("serial",)
    assert not cupyx.reason.isVisible() and cupyx.tick.isEnabled() and REASON not in cupyx.tick.accessibleDescription()
    assert naive.focusPolicy() == Qt.FocusPolicy.StrongFocus and cupyx.focusPolicy() == Qt.FocusPolicy.NoFocus
    assert variants.baseline() == "naive" and variants.events == []
