"""Two cursors on curves, and the legend that hides curves and brings them to the front."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.models.curves.curve import Trace
from app.models.curves.stroke import input_stroke
from app.views.curves.signal_legend import LegendEntry
from app.views.curves.signal_pane import SignalPane, distance_text
from gpu_ops.input_kinds import time_axis


@pytest.fixture
def pane(qtbot: QtBot) -> SignalPane:
    made = SignalPane()
    qtbot.addWidget(made)
    made.resize(900, 500)
    axis, t = time_axis(1000.0), np.arange(2000.0)
    made.set_curves(
        [
            Trace(name, samples, axis, True, "", input_stroke(), key, "mV", title=name)
            for key, name, samples in (("a", "first", t), ("b", "second", -2 * t))
        ]
    )
    made.show()
    qtbot.waitExposed(made)
    return made


def entries(pane: SignalPane) -> list[LegendEntry]:
    return [entry for entry in pane.findChildren(LegendEntry) if entry.isVisible()]


def ends(pane: SignalPane) -> tuple[float, float]:
    QApplication.processEvents()
    return tuple(pane.plot.box.viewRange()[1])


def test_a_second_cursor_measures_time_rate_and_height(qtbot: QtBot, pane: SignalPane) -> None:
    pane.set_cursor(0.5)
    qtbot.keyClick(pane.plot, Qt.Key.Key_M)
    assert pane.plot.measured.isVisible() and pane.plot.measured.value() == 0.5
    pane.set_cursor(0.75)
    texts = pane.status.text().split("   ")
    assert texts == ["time 0.75 s", "Δt 0.25 s (4 Hz)", "first 750 mV (Δy 250 mV)", "second −1500 mV (Δy −500 mV)"]
    pane.set_cursor(0.5)
    qtbot.keyClick(pane.plot, Qt.Key.Key_M)
    assert not pane.plot.measured.isVisible() and "Δ" not in pane.status.text()
    at = pane.plot.frame().box.center().toPoint()
    qtbot.mouseMove(pane.plot.viewport(), at)
    qtbot.mouseClick(pane.plot.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, at)
    assert pane.mark_x == pane.cursor_x is not None
    pane.start_over()
    assert pane.mark_x is None and not pane.plot.measured.isVisible()


def test_distances_of_any_axis() -> None:
    assert distance_text(-0.02, ("time", "s")) == "Δt −0.02 s (50 Hz)" and distance_text(0.0, ("time", "s")) == "Δt 0 s"
    assert distance_text(12.5, ("frequency", "Hz")) == "Δf 12.5 Hz"
    assert distance_text(12.0, ("sample", "")) == "Δ 12 sample"


def test_a_click_on_the_line_hides_a_curve_and_shows_it_again(qtbot: QtBot, pane: SignalPane) -> None:
    first, second = entries(pane)
    whole = ends(pane)
    for hidden in (True, False):
        qtbot.mouseClick(second, Qt.MouseButton.LeftButton, pos=QPoint(4, second.height() // 2))
        assert [curve.key for curve in pane.plot.shown] == (["a"] if hidden else ["a", "b"])
        assert second.isVisible() and second.label.isEnabled() != hidden
        assert (ends(pane)[0] > -1000) == hidden, "y follows what is drawn"
    assert ends(pane) == whole
    first.setFocus()
    qtbot.keyClick(first, Qt.Key.Key_Space)
    qtbot.mouseClick(second, Qt.MouseButton.LeftButton, pos=QPoint(4, second.height() // 2))
    assert not pane.plot.shown and pane.plot.hint == "All curves are hidden; click one in the legend"
    assert second.accessibleName() == "second · hidden"
    qtbot.keyClick(first, Qt.Key.Key_Return)
    assert [curve.key for curve in pane.plot.shown] == ["a"], "what is brought to the front is drawn"


def test_a_click_on_the_name_brings_it_to_the_front(qtbot: QtBot, pane: SignalPane) -> None:
    first, _ = entries(pane)
    heights = lambda: [item.zValue() for item in pane.items[:2]]  # noqa: E731
    assert heights() == [0, 0]
    qtbot.mouseClick(first.label, Qt.MouseButton.LeftButton)
    assert heights()[0] > heights()[1]
    pane.set_curves(
        [Trace("first", np.ones(9), time_axis(1.0), True, key="c"), Trace("x", np.ones(9), time_axis(1.0), key="a")]
    )
    assert heights()[1] > heights()[0], "it is the result that is in front, not its place"
