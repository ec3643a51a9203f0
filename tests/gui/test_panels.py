"""The list of panels, and the window that is made from it; the tables of what the engine is asked and answers."""

from __future__ import annotations

from collections import Counter
from typing import get_args

import pytest
from fake_engine import FakeEngine, act, make
from PySide6.QtWidgets import QLineEdit, QWidget

from app.controllers import engine_log, session
from app.views.window import docks
from app.views.window.main_window import MainWindow
from app.views.window.panel_spec import PanelSpec
from app.views.window.panels import BLOCK_STEPS, DOCKS, LESSONS, OWN_KERNEL, PANELS, START, SWEEP, TIMELINE, XRAY
from gpu_ops.engine.messages import Answer, CancelRequest, Request


@pytest.fixture
def window(qtbot, qapp) -> MainWindow:
    return make(qtbot, FakeEngine())


def test_every_panel_has_a_place_and_several_in_one_are_tabs() -> None:
    for ids in ([spec.id for spec in DOCKS], [spec.id for spec in PANELS]):
        assert len(ids) == len(set(ids))
    assert Counter(spec.dock for spec in PANELS).keys() == {spec.id for spec in DOCKS}
    assert {place for place, count in Counter(spec.dock for spec in PANELS).items() if count > 1} == {
        spec.id for spec in DOCKS if spec.tabs
    }
    assert all(spec.behind in {other.id for other in DOCKS} for spec in DOCKS if spec.behind)


def test_lazy_panels_are_made_when_somebody_looks_at_them(qtbot, window: MainWindow) -> None:
    names = {XRAY: "xrayPanel", SWEEP: "sweepPanel", TIMELINE: "timelinePanel", OWN_KERNEL: "ownKernelPanel"}
    names |= {LESSONS: "lessonPanel", START: "startPanel", BLOCK_STEPS: "blockStepsPanel"}
    assert {spec for spec in PANELS if spec.lazy} == set(names)
    assert not any(window.findChild(QWidget, name) for name in names.values())
    act(window, "xray")
    assert window.docks[XRAY].isVisible() and window.findChild(QWidget, "xrayPanel") is window.docks[XRAY]
    act(window, "sweep")
    assert window.docks[SWEEP].objectName() == "sweepPanel" and not window.docks[XRAY].isHidden()
    assert window.findChild(QWidget, "timelinePanel") is None
    window.timing_dock.close()
    act(window, "timeline")
    assert window.docks[TIMELINE].isVisible() and window.timing_dock.isVisible()


def test_a_line_in_the_list_is_a_panel_in_the_window(qtbot, qapp, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = PanelSpec("notes", "Notes", "timing", lambda context, parent: QLineEdit(parent))
    monkeypatch.setattr(docks, "PANELS", (*PANELS, notes))
    window = make(qtbot, FakeEngine())
    place = window.tabs.count() - 1
    assert window.tabs.tabText(place) == "Notes"
    window.docks.turn_to(notes)
    assert window.docks[notes].isVisible() and window.tabs.currentIndex() == place
    window.docks.offer(notes, False)
    assert not window.tabs.isTabVisible(place) and window.tabs.isTabVisible(0)
    window.docks.offer(notes, True)
    assert window.tabs.isTabVisible(place)


def test_every_answer_is_taken_and_every_request_is_told() -> None:
    assert session._OF_JOBS.keys() | session._OF_POINTS.keys() == set(get_args(Answer))
    assert engine_log._DESCRIPTIONS.keys() == set(get_args(Request)) - {CancelRequest}  # which is no job of its own
