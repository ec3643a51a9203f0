"""Two cursors on curves, and the legend that hides curves and brings them to the front."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.models.curves.curve import Trace
from app.models.curves.stroke import input_stroke, stroke_at
from app.views.curves.reading_box import reading_rows, readings_box
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


def test_values_that_the_line_has_no_room_for_are_in_a_box(qtbot: QtBot, pane: SignalPane) -> None:
    pane.set_cursor(0.5)
    assert pane.plot.readings == (), "two values fit below the plot"
    axis, t = time_axis(1000.0), np.arange(2000.0)
    made = [Trace(f"result {k}", k * t, axis, True, "", stroke_at(k), str(k), "mV") for k in range(1, 13)]
    pane.set_curves(made)
    pane.set_mark()
    pane.set_cursor(0.75)
    assert pane.status.shown_text() == "time 0.75 s   Δt 0.25 s (4 Hz)" and "result 12" in pane.status.text()
    found = [(row.name, row.value) for row in reading_rows(pane.plot.readings, pane.plot.frame())]
    assert found == [(f"result {k}", f"{750 * k} mV (Δy {250 * k} mV)") for k in range(1, 13)]
    frame = pane.plot.frame()
    left, right = (readings_box(pane.plot.readings, frame, frame.x(x)) for x in (1.75, 0.75))
    assert left.left() == frame.box.left() and right.right() == frame.box.right(), "it is away from the cursor"
    assert left.right() < frame.x(1.75) and right.left() > frame.x(0.75)
    pane.resize(900, 240)
    QApplication.processEvents()
    rows = reading_rows(pane.plot.readings, pane.plot.frame())
    assert rows[-1].name == "…" and 1 < len(rows) < 12, "what does not fit is not cut without a word"
    pane.resize(3000, 500)
    QApplication.processEvents()
    assert pane.plot.readings == ()


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
