"""A student at the window without a GPU: what shared memory saves, and what that is worth on GPUs that are not here."""

from __future__ import annotations

import re
from pathlib import Path

from fake_engine import act
from live import PATIENCE, live_window, pause, real_engine, settle
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QWidget
from pytestqt.qtbot import QtBot

from app.models.files.session_file import read_session
from app.views.window.html_report import page_of
from app.views.window.session_link import OFFERED, view_of
from app.views.xray.panel import XRayPanel
from app.views.xray.prediction_view import PredictionView, VariantTimes


def choose(combo: QComboBox, id: str) -> None:
    """Choose an entry with the keyboard."""
    combo.setFocus()
    while combo.currentData() != id:
        place = combo.findData(id)
        QTest.keyClick(combo, Qt.Key.Key_Down if combo.currentIndex() < place else Qt.Key.Key_Up)


def click_tab(panel: XRayPanel, page: QWidget) -> None:
    QTest.mouseClick(panel.tabs.button(page), Qt.MouseButton.LeftButton)
    assert panel.tabs.currentWidget() is page


def shown(part: VariantTimes) -> dict[str, tuple[float, float]]:
    """The bars of a variant: both ends, by the kind."""
    return {row.bar.bar.kind: (row.bar.bar.low, row.bar.bar.high) for row in part.rows if row.bar.isVisible()}


def test_a_student_sees_what_shared_memory_saves_and_is_worth_on_two_gpus(qtbot: QtBot, qapp, tmp_path: Path) -> None:
    with real_engine() as engine, live_window(qtbot, engine, "sim", ("constant", "shared")) as window:
        camera = next(a for a in window.parts.menus["file/samples"].actions() if a.objectName().endswith(".camera"))
        settle(qtbot, window.controller, camera.trigger)
        act(window, "xray")
        panel, xray = window.xray_panel, window.context.xray
        qtbot.waitUntil(lambda: xray.state == "shown", timeout=PATIENCE)
        choose(panel.variants, "shared")
        click_tab(panel, panel.comparison)
        choose(panel.comparison.variants, "constant")
        text = panel.comparison.text
        qtbot.waitUntil(lambda: "Global loads fall" in text.toPlainText(), timeout=PATIENCE)
        (saved,) = re.findall(
            r"Global loads fall from 9 to 1\.33 per pixel \(÷[\d.]+\), (\d+)% fewer", text.toPlainText()
        )
        assert int(saved) == round(100 * (1 - 34 * 10 / (32 * 8) / 9)), "of blocks of 32 × 8, with a halo of one pixel"
        click_tab(panel, panel.prediction)
        view = panel.prediction
        held(qtbot, view)
        choose(view.gpus, "t4")
        qtbot.waitUntil(lambda: view.controller.state == "shown", timeout=PATIENCE)
        assert "Tesla T4" in view.what.text() and view.what.text().endswith("roofs by its data sheet.")
        for part in view.variants:
            bars = shown(part)
            assert bars["predicted"][1] <= 1.6 * bars["predicted"][0] and "measured" not in bars and "most" in bars
        view.numbers.spins["bandwidth"].setValue(2.0)
        kept(qtbot, window, tmp_path)


def held(qtbot: QtBot, view: PredictionView) -> None:
    """On an H100 each variant has an interval, the limit that decides, and the recorded time inside."""
    qtbot.waitUntil(lambda: view.controller.state == "shown" and len(view.controller.jobs) == 2, timeout=PATIENCE)
    pause()
    assert "NVIDIA H100" in view.what.text()
    for part in view.variants:
        bars = shown(part)
        low, high = bars["predicted"]
        assert low < bars["measured"][1] < high <= 1.6 * low and "most" in bars, part.title.text()
    assert view.step.title.text() == "From 2 constant taps to 3 constant + shared"
    assert "saved" in shown(view.step)


def kept(qtbot: QtBot, window, folder: Path) -> None:
    """The GPU and its numbers are in a session and in a report."""
    file = folder / "t4.kernelscope"
    window.context.sessions.save(str(file), view_of(window.parts))
    assert read_session(str(file), OFFERED).choice.gpu == window.context.xray.gpu_choice
    html = page_of(window.parts).html()
    assert "Times predicted for Tesla T4" in html and "2 constant taps → 3 constant + shared" in html
    window.context.xray.choose_gpu(type(window.context.xray.gpu_choice)())
    view = window.xray_panel.prediction
    assert view.gpus.currentData() == "h100" and view.numbers.spins["bandwidth"].value() == 1.0
    window.context.sessions.open(str(file))
    qtbot.waitUntil(lambda: view.gpus.currentData() == "t4", timeout=PATIENCE)
    assert view.numbers.spins["bandwidth"].value() == 2.0
