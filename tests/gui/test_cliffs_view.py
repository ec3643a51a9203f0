"""The tab of cliffs: when it asks, what it shows, and what is said where there is nothing to show."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fake_engine import FakeEngine
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from xray_answers import THERE, content, show, window_with
from xray_answers import answer as answer_xray
from xray_answers import asked as asked_xrays

from app.base import theme
from app.controllers.engine_log import describe
from app.views.window.main_window import MainWindow
from app.views.xray.cliffs_view import CliffsView
from gpu_ops.devices.status import DeviceStatus
from gpu_ops.engine.kernel_messages import CliffsAnswer, CliffsRequest
from gpu_ops.engine.messages import Failed
from gpu_ops.explaining.cliffs.bank_conflicts import Conflicts, Layout, Tried
from gpu_ops.explaining.cliffs.occupancy_steps import Demand, sentences
from gpu_ops.explaining.cliffs.targets import Cliffs, Target, cliffs_dict
from gpu_ops.explaining.prediction.gpus import GPUS

SIM = DeviceStatus("sim", "simulated GPU", True)
DEMAND = Demand(256, 40, 4096)
GOOD = Tried(
    Layout("k.cu:4: tile[32][32 + 1] in place of tile[32][32]"), 64, 128, 0.0, DEMAND.on("sm_90"), DEMAND.on("sm_90")
)
BAD = Tried(Layout("k.cu:4: <swizzle>"), 64, 0, refused="its results differ")
FOUND = cliffs_dict(
    Cliffs(
        (
            Target("sm_90", (GPUS["h100"],), "k", DEMAND),
            Target("sm_100", (GPUS["b200"],), reason="NVRTC here does not compile for sm_100."),
        ),
        Conflicts(1056, 64, (GOOD, BAD), GOOD),
    )
)


@pytest.fixture
def engine(qapp) -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def window(qtbot, qapp, engine: FakeEngine) -> Iterator[MainWindow]:
    yield window_with(qtbot, engine, (SIM,))
    theme.apply(qapp, Qt.ColorScheme.Light)


def asked(engine: FakeEngine) -> list[CliffsRequest]:
    return [r for r in engine.asked if isinstance(r, CliffsRequest)]


def answer(engine: FakeEngine, found: dict[str, Any] = FOUND) -> None:
    engine.answered.emit(CliffsAnswer(asked(engine)[-1].job, found))
    engine.end()


def open_tab(qtbot, window: MainWindow, engine: FakeEngine, more: dict[str, Any] | None = None) -> CliffsView:
    show(qtbot, window, engine, more)
    return click(qtbot, window, engine)


def click(qtbot, window: MainWindow, engine: FakeEngine) -> CliffsView:
    tabs, view = window.xray_panel.tabs, window.xray_panel.cliffs
    QTest.mouseClick(tabs.button(view), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(asked(engine)))
    return view


def test_cliffs_are_asked_for_only_in_front_and_for_the_variant_of_the_xray(qtbot, window, engine) -> None:
    show(qtbot, window, engine)
    qtbot.wait(20)
    assert asked(engine) == []
    view = click(qtbot, window, engine)
    (request,) = asked(engine)
    assert (request.pick.variant, request.architecture) == ("shared", "sm_75") and not view.text.isVisible()
    assert describe(request).startswith("cliffs of shared of mean2d window=3 border=reflect on a simulated sm_75")
    assert view.state.text() == "Compiling for each GPU and trying layouts of shared memory…"
    answer(engine)
    assert not view.state.isVisible()
    window.controller.session.set_params({"window": 5, "border": "reflect"})
    engine.end()
    qtbot.waitUntil(lambda: len(asked(engine)) == 2)
    assert "The cliffs below belong to an earlier setting." in view.state.text()
    assert asked(engine)[-1].params["window"] == 5


@pytest.mark.parametrize("scheme", [Qt.ColorScheme.Light, Qt.ColorScheme.Dark])
def test_steps_and_layouts_are_shown_with_what_was_tried(qtbot, qapp, window, engine, scheme) -> None:
    theme.apply(qapp, scheme)
    view = open_tab(qtbot, window, engine)
    answer(engine)
    text = view.text.toPlainText()
    for sentence in (*FOUND["conflicts"]["texts"], *sentences("sm_90", DEMAND)):
        assert sentence in text
    assert "NVIDIA B200 (sm_100)\n• NVRTC here does not compile for sm_100." in text
    assert "+128" in text and "✓ proposed" in text and "– its results differ" in text and "<swizzle>" in text


def test_a_failure_is_a_sentence_and_can_be_tried_again(qtbot, window, engine) -> None:
    view = open_tab(qtbot, window, engine)
    engine.answered.emit(Failed(asked(engine)[-1].job, "The engine ended."))
    engine.end()
    assert view.state.text() == "There are no cliffs: The engine ended." and not view.text.isVisible()
    QTest.mouseClick(view.again, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(asked(engine)) == 2)
    answer(engine)
    assert view.text.isVisible() and not view.again.isVisible()


def test_an_export_has_the_cliffs_of_the_present_choice(qtbot, window, engine, tmp_path) -> None:
    open_tab(qtbot, window, engine)
    for known in (False, True):
        window.xray_panel.export(str(tmp_path / "x.json"), "json", {})
        found = json.loads((tmp_path / "x.json").read_text())
        assert ("cliffs" in found) is known
        if not known:
            answer(engine)
    assert found["cliffs"] == json.loads(json.dumps(FOUND)) and len(asked_xrays(engine)) == 1


def test_the_report_has_the_next_steps_and_the_lines_that_spill(qtbot, window, engine) -> None:
    found = content()
    found["kernels"][0] |= {
        "cliffs": {"texts": ["3 registers fewer per thread: 5 blocks instead of 4."]},
        "spills": [{"text": "mean2d/3_shared.cu:4: 8 bytes stored, 16 bytes loaded per thread"}],
    }
    open_tab(qtbot, window, engine, found)
    text = window.xray_panel.report.toPlainText()
    assert "3 registers fewer per thread" in text and "spilled at mean2d/3_shared.cu:4: 8 bytes stored" in text


def test_another_machines_gpu_is_looked_at_there(qtbot, engine, tmp_path) -> None:
    window = window_with(qtbot, engine, (THERE,))
    view = open_tab(qtbot, window, engine)
    assert asked_xrays(engine)[-1].pick.device == THERE.name and asked(engine)[-1].pick.device == "gpu-host/sim"
    assert asked(engine)[-1].architecture == "sm_90"
    answer(engine)
    for heading in ("Bank conflicts of shared memory", "Next steps of the occupancy"):
        assert f"{heading}, computed on gpu-host" in view.text.toPlainText()
    assert "), computed on gpu-host; the times shown" in window.xray_panel.title.text()
    window.xray_panel.export(str(tmp_path / "x.json"), "json", {})
    assert json.loads((tmp_path / "x.json").read_text())["computed"] == "computed on gpu-host"
    window.xray_panel.show_profile(str(tmp_path / "report.csv"))  # which is here
    qtbot.waitUntil(lambda: len(asked_xrays(engine)) == 2)
    answer_xray(engine, content(profile_reason="There is no such file."))
    assert "computed on this machine" in window.xray_panel.title.text()
