"""Results of signals over each other, stacked, and as differences from one of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.models.curves.result_lanes import ResultLanes, curve_difference
from app.models.results.origin import WHOLE
from app.models.results.view_data import INPUT, ViewData
from app.views.curves.curve_view import CurveView
from gpu_ops import find_filter
from gpu_ops.output_kinds import Axis, Form

FILTER, KEYS = find_filter("mean1d"), (INPUT, "serial", "parallel")
TITLES = {INPUT: "ecg", "serial": "CPU, one core", "parallel": "CPU, all cores"}


def data(values: Any, start: float = 0.0, step: float = 0.5, unit: str = "mV") -> ViewData:
    array = np.asarray(values, np.float64)
    return ViewData(array, Form(array.shape, "float64", (Axis("time", "s", start, step),), ()), unit)


@pytest.fixture
def view(qtbot: QtBot) -> CurveView:
    made = CurveView()
    qtbot.addWidget(made.widget)
    made.widget.resize(800, 500)
    made.arrange(KEYS, TITLES, FILTER)
    for k, key in enumerate(KEYS):
        made.put(key, data(np.arange(100.0) + 10 * k), WHOLE)
    made.widget.show()
    qtbot.waitExposed(made.widget)
    return made


def test_what_is_exported_has_no_controls(view: CurveView) -> None:
    assert view.ways.isVisible() and not view.sheet.isAncestorOf(view.ways)


def drawn(view: CurveView) -> dict[str, list[float]]:
    """The first and the last value of each curve by its name."""
    return {c.name: [float(c.pyramid.array[k]) for k in (0, -1)] for c in view.pane.curves if c.drawn and c.pyramid}


def test_each_is_a_difference_from_the_chosen_one(qtbot: QtBot, view: CurveView) -> None:
    plain = drawn(view)
    assert plain == {"input": [0, 99], "CPU, one core": [10, 109], "CPU, all cores": [20, 119]}
    qtbot.mouseClick(view.ways.ways.button(2), Qt.MouseButton.LeftButton)
    assert drawn(view) == {"CPU, one core − input": [10, 10], "CPU, all cores − input": [20, 20]}
    assert view.ways.minus.isVisible()
    view.ways.minus.setCurrentIndex(view.ways.minus.findData("parallel"))
    view.ways.minus.activated.emit(2)
    assert drawn(view) == {"input − CPU, all cores": [-20, -20], "CPU, one core − CPU, all cores": [-10, -10]}
    view.put("serial", data(np.arange(60.0), unit="V"), WHOLE)
    assert drawn(view) == {"input − CPU, all cores": [-20, -20]}
    assert view.ways.words.text() == "1 of another length, rate or unit are left out"
    view.show_alone("serial")
    assert drawn(view) == {"CPU, one core": [0, 59]} and not view.ways.words.text(), "one alone is no difference"
    view.show_alone("")
    qtbot.mouseClick(view.ways.ways.button(0), Qt.MouseButton.LeftButton)
    assert len(drawn(view)) == 3 and not view.ways.minus.isVisible()


def test_each_has_a_lane_where_they_are_stacked(qtbot: QtBot, view: CurveView) -> None:
    qtbot.mouseClick(view.ways.ways.button(1), Qt.MouseButton.LeftButton)
    lanes = view.pane.lanes
    view.pane.plot.refresh()
    assert lanes.names == ("input", "CPU, one core", "CPU, all cores") and lanes.order == (0, 1, 2)
    assert lanes.limits[0][0] < 0 < lanes.limits[0][1] < 120 and lanes.limits[2][0] > 10
    qtbot.mouseClick(view.ways.ways.button(0), Qt.MouseButton.LeftButton)
    assert not lanes


def test_a_single_curve_has_nothing_to_choose(view: CurveView) -> None:
    assert view.ways.isVisible()
    view.arrange((INPUT,), TITLES, FILTER)
    assert not view.ways.isVisible() and list(drawn(view)) == ["input"]


def test_a_part_is_subtracted_in_its_own_place() -> None:
    whole, part = data(np.arange(10.0)), data([3.0, 4.5, 5.0], start=1.5)
    found = curve_difference(part, whole)
    assert found is not None and found.array.tolist() == [0, 0.5, 0] and found.form.axes[0].start == 1.5
    other = curve_difference(whole, part)
    assert other is not None and other.array.tolist() == [0, -0.5, 0] and other.form.axes[0].start == 1.5
    far = data([1.0], start=99.0)
    assert curve_difference(whole, far) is None and curve_difference(whole, data(np.arange(10.0), step=1.0)) is None
    lanes = ResultLanes()
    assert lanes.difference("a", part, whole) is lanes.difference("a", part, whole)
    with pytest.raises(ValueError, match="results are overlaid, stacked, difference, not beside"):
        lanes.lay("beside", "")  # type: ignore[arg-type]
